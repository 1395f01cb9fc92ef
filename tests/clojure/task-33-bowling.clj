;; Score a game of bowling.
(defn frames [rolls]
  (loop [rolls rolls, n 1, out []]
    (if (or (> n 10) (empty? rolls))
      out
      (let [[a b c] rolls]
        (cond
          (= 10 a)       (recur (drop 1 rolls) (inc n) (conj out [a b c]))
          (= 10 (+ a b)) (recur (drop 2 rolls) (inc n) (conj out [a b c]))
          :else          (recur (drop 2 rolls) (inc n) (conj out [a b])))))))

(defn score [rolls]
  (->> rolls frames flatten (apply +)))

(let [game [10 7 3 9 0 10 0 8 8 2 0 6 10 10 10 8 1]]
  {:perfect (score (repeat 12 10))
   :zeros (score (repeat 20 0))
   :fives (score (repeat 21 5))
   :game (score game)
   :running (reductions + (map #(reduce + %) (frames game)))})
