;; Articles of which more pieces are ordered than there are: two servers, thirteen calls, three rows.
(->> (pmap #(:orders (shop/list_orders {:page %})) (range 6))
     (apply concat)
     (filter :open)
     (group-by :sku)
     (pmap (fn [[sku orders]]
             {:sku sku
              :ordered (sum-by :pieces orders)
              :stock (:pieces (stock/pieces {:sku sku}))}))
     (filter #(> (:ordered %) (:stock %)))
     (sort-by :sku))
