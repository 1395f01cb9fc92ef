;; Shift letters by a key, leave everything else alone.
(defn shift-char [k c]
  (let [code (int c)]
    (cond
      (<= (int \a) code (int \z)) (char (+ (int \a) (mod (+ (- code (int \a)) k) 26)))
      (<= (int \A) code (int \Z)) (char (+ (int \A) (mod (+ (- code (int \A)) k) 26)))
      :else c)))

(defn caesar [k s]
  (apply str (map (partial shift-char k) s)))

(defn decipher [k s]
  (caesar (- k) s))

(let [message "Hello, World! xyz"
      secret (caesar 3 message)]
  {:secret secret
   :back (decipher 3 secret)
   :rot13 (->> message (caesar 13) (caesar 13))})
