;; Stock movements: merge counts and warn where stock is low.
(def stock {:apples 10 :pears 4 :plums 0})
(def deliveries [{:apples 5 :plums 12} {:kiwis 3}])
(def orders [{:item :apples :qty 12} {:item :pears :qty 5} {:item :plums :qty 2} {:item :figs :qty 1}])

(defn fulfil [{:keys [stock] :as state} {:keys [item qty]}]
  (let [available (get stock item 0)]
    (if (>= available qty)
      (-> state
          (update-in [:stock item] - qty)
          (update :shipped conj [item qty]))
      (update state :back-orders conj {:item item :missing (- qty available)}))))

(let [start {:stock (apply merge-with + stock deliveries)
             :shipped []
             :back-orders []}
      end (reduce fulfil start orders)]
  (assoc end :low (->> (:stock end)
                       (filter (fn [[_ n]] (< n 5)))
                       (map key)
                       set)))
