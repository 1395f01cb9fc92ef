;; Orders through transducers: filter, map, take, sum.
(def orders
  [{:id 1 :status :paid :total 120 :items ["pen" "ink"]}
   {:id 2 :status :open :total 80 :items ["ink"]}
   {:id 3 :status :paid :total 45 :items ["pad" "pen" "cap"]}
   {:id 4 :status :paid :total 300 :items []}
   {:id 5 :status :cancelled :total 10 :items ["cap"]}])

(def paid (filter (comp #{:paid} :status)))

(def big-paid-ids
  (comp paid
        (filter #(> (:total %) 100))
        (map :id)))

{:ids (into [] big-paid-ids orders)
 :sum (transduce (comp paid (map :total)) + 0 orders)
 :items (into #{} (comp paid (mapcat :items)) orders)
 :first-two (sequence (comp (map :id) (take 2)) orders)
 :deduped (into [] (comp (map #(quot % 3)) (dedupe)) (range 10))
 :chunks (into [] (partition-all 2) (map :id orders))
 :indexed (into {} (map-indexed (fn [i o] [(:id o) i])) orders)}
