;; Rank players by score, then name; equal scores share a rank.
(def results
  [{:player "mia" :score 50} {:player "leo" :score 70} {:player "zoe" :score 50}
   {:player "mia" :score 45} {:player "leo" :score 10} {:player "eva" :score 95}
   {:player "zoe" :score 45} {:player "tim" :score 3}])

(defn totals [results]
  (reduce (fn [acc {:keys [player score]}]
            (update acc player (fnil + 0) score))
          {}
          results))

(defn rank [totals]
  (let [sorted (sort-by (juxt (comp - val) key) totals)
        better (fn [score] (count (filter #(> (val %) score) totals)))]
    (for [[player score] sorted]
      {:rank (inc (better score)) :player player :score score})))

(->> results totals rank (take 4) vec)
