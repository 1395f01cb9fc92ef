;; Simple and weighted moving averages, and where the trend turns.
(def prices [10 11 13 12 14 18 17 15 16 20])

(defn average [xs]
  (double (/ (reduce + xs) (count xs))))

(defn moving-average [n xs]
  (map average (partition n 1 xs)))

(defn weighted [ws xs]
  (/ (reduce + (map * ws xs)) (double (reduce + ws))))

(let [ma (moving-average 4 prices)
      wma (mapv (partial weighted [1 2 3]) (partition 3 1 prices))
      ups (map < ma (rest ma))]
  {:ma (vec ma)
   :wma (map #(format "%.3f" %) wma)
   :rising (count (filter true? ups))
   :peak (apply max-key second (map-indexed vector prices))})
