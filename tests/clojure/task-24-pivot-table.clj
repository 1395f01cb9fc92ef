;; Pivot rows into quarter columns with row and column totals.
(def sales
  [["North" :q1 10] ["North" :q2 20] ["South" :q1 5] ["South" :q3 8]
   ["East" :q2 7] ["North" :q1 1] ["East" :q3 2]])

(def quarters (sort (distinct (map second sales))))

(def table
  (reduce (fn [m [region quarter amount]]
            (update-in m [region quarter] (fnil + 0) amount))
          {}
          sales))

(let [rows (into (sorted-map)
                 (for [[region cells] table]
                   [region (mapv #(get cells % 0) quarters)]))
      column-totals (apply mapv + (vals rows))]
  {:header (into ["region"] (map name) quarters)
   :rows (mapv (fn [[region row]] (conj (into [region] row) (apply + row))) rows)
   :totals (conj (into ["total"] column-totals) (reduce + column-totals))})
