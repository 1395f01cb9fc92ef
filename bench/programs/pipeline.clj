;; run @K@
(let [rows (map (fn [i] {:id i
                         :dept (str "d" (mod (* i 7) 8))
                         :amount (mod (* i 37) 500)
                         :active (not= 0 (mod i 3))})
                (range 1000))]
  (->> rows
       (filter (fn [row] (and (:active row) (> (:amount row) 100))))
       (group-by :dept)
       (map (fn [[dept members]] [dept (reduce + (map :amount members))]))
       (sort-by second >)
       first))
