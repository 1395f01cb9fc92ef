;; run @K@
(->> data/rows
     (filter (fn [row] (and (:active row) (> (:amount row) 100))))
     (group-by :dept)
     (map (fn [[dept members]] [dept (reduce + (map :amount members))]))
     (sort-by second >)
     first)
