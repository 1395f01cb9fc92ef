;; SPDX-License-Identifier: MIT
;; clojure.data/diff: what only the first of two values holds, what only the second, what both do.  It goes into maps,
;; sets and sequences; nil means nothing, unless a nil is what differs.

(defn put-key [m k x] (%put (or m {}) k x))

(defn put-place [v i x]
  (loop [v (or v [])]
    (if (< (count v) i) (recur (conj v nil)) (conj v x))))

(defn diff-at [self put parts k x y depth]
  (let [[a b both] parts
        [only-x only-y same] (self x y (inc depth))
        agree (or (some? same) (and (nil? x) (nil? y)))]
    [(if (and agree (nil? only-x)) a (put a k only-x))
     (if (and agree (nil? only-y)) b (put b k only-y))
     (if agree (put both k same) both)]))

;; A hidden function, which no value holds, stands for a key that is not there.
(defn diff-maps [self a b depth]
  (let [parts (reduce-kv (fn [parts k x]
                           (let [y (%lookup b k %lookup)]
                             (if (= y %lookup)
                               (assoc parts 0 (put-key (nth parts 0) k x))
                               (diff-at self put-key parts k x y depth))))
                         [nil nil nil] a)]
    (reduce-kv (fn [parts k y]
                 (if (= (%lookup a k %lookup) %lookup) (assoc parts 1 (put-key (nth parts 1) k y)) parts))
               parts b)))

(defn diff-seqs [self a b depth]
  (let [na (count a)
        nb (count b)]
    (reduce (fn [parts i]
              (cond
                (>= i nb) (assoc parts 0 (put-place (nth parts 0) i (nth a i)))
                (>= i na) (assoc parts 1 (put-place (nth parts 1) i (nth b i)))
                :else (diff-at self put-place parts i (nth a i) (nth b i) depth)))
            [nil nil nil] (range (max na nb)))))

(defn diff-parts [a b depth]
  (cond
    (= a b) [nil nil a]
    (> depth 100) (%refuse :value "the values are nested deeper than 100")
    (and (map? a) (map? b)) (diff-maps diff-parts a b depth)
    (and (set? a) (set? b)) [(not-empty (difference a b)) (not-empty (difference b a))
                             (not-empty (intersection a b))]
    (and (%finite? a) (%finite? b)) (diff-seqs diff-parts (vec a) (vec b) depth)
    :else [a b nil]))

(defn diff [a b]
  (let [parts (diff-parts a b 0)]
    (if (and (map? a) (map? b) (or (some? (nth parts 0)) (some? (nth parts 1))))
      (seq parts)
      parts)))
