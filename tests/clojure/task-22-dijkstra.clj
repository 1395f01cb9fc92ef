;; Cheapest routes from one city, with a sorted set as priority queue.
(def roads
  {:a {:b 7 :c 9 :f 14}
   :b {:a 7 :c 10 :d 15}
   :c {:a 9 :b 10 :d 11 :f 2}
   :d {:b 15 :c 11 :e 6}
   :e {:d 6 :f 9}
   :f {:a 14 :c 2 :e 9}})

(defn dijkstra [graph source]
  (loop [queue (sorted-set [0 source])
         dist {source 0}]
    (if-let [[d node :as entry] (first queue)]
      (let [better (for [[n w] (graph node)
                         :let [nd (+ d w)]
                         :when (< nd (get dist n Integer/MAX_VALUE))]
                     [nd n])]
        (recur (into (disj queue entry) better)
               (into dist (map (fn [[nd n]] [n nd]) better))))
      dist)))

(into (sorted-map) (dijkstra roads :a))
