;; run @K@
(->> (range 1000)
     (reduce (fn [totals i]
               (let [amount (mod (* i 37) 500)]
                 (if (and (not= 0 (mod i 3)) (> amount 100))
                   (let [dept (str "d" (mod (* i 7) 8))]
                     (assoc totals dept (+ amount (get totals dept 0))))
                   totals)))
             {})
     (sort-by second >)
     first
     vec)
