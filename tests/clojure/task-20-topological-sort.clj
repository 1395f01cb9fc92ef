;; Order tasks so that each comes after what it depends on (Kahn); a cycle gives nil.
(require '[clojure.set :as set])

(def deps
  {:deploy #{:test :package}
   :package #{:compile}
   :test #{:compile :fixtures}
   :compile #{:fetch}
   :fixtures #{}
   :fetch #{}})

(defn topo-sort [g]
  (loop [g g, order []]
    (if (empty? g)
      order
      (let [ready (sort (for [[task ds] g :when (empty? ds)] task))]
        (when (seq ready)
          (recur (into {} (for [[task ds] g
                                :when (not (contains? (set ready) task))]
                            [task (set/difference ds (set ready))]))
                 (into order ready)))))))

[(topo-sort deps)
 (topo-sort {:a #{:b} :b #{:a}})]
