;; Merge overlapping intervals.
(defn merge-intervals
  "Sorts the intervals and folds each into the last one when they touch."
  [intervals]
  (reduce
    (fn [acc [start end :as interval]]
      (let [[last-start last-end] (peek acc)]
        (if (and last-end (<= start last-end))
          (conj (pop acc) [last-start (max last-end end)])
          (conj acc interval))))
    []
    (sort intervals)))

(let [input [[8 10] [1 3] [2 6] [15 18] [17 20] [20 21] [30 31]]
      merged (merge-intervals input)]
  {:merged merged
   :covered (transduce (map (fn [[a b]] (- b a))) + merged)
   :empty (merge-intervals [])})
