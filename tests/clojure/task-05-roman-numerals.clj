;; Roman numerals in both directions.
(def numerals
  [[1000 "M"] [900 "CM"] [500 "D"] [400 "CD"] [100 "C"] [90 "XC"]
   [50 "L"] [40 "XL"] [10 "X"] [9 "IX"] [5 "V"] [4 "IV"] [1 "I"]])

(defn to-roman [n]
  (loop [n n, [[v s] & more :as table] numerals, out ""]
    (cond
      (zero? n) out
      (>= n v)  (recur (- n v) table (str out s))
      :else     (recur n more out))))

(def digit {\I 1 \V 5 \X 10 \L 50 \C 100 \D 500 \M 1000})

(defn from-roman [s]
  (->> (map digit s)
       (partition-all 2 1)
       (map (fn [[a b]] (if (and b (< a b)) (- a) a)))
       (reduce +)))

(let [years [1 4 9 14 40 90 400 1984 1999 2024 3999]]
  {:romans (mapv to-roman years)
   :round-trip? (= years (map (comp from-roman to-roman) years))})
