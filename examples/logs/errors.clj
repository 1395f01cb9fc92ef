;; Requests by path: how many, how many failed, the slowest.  ptc access.log -f errors.clj
(defn parse [line]
  (let [[_ ip time path status ms] (re-find #"^(\S+) \[(\S+)\] \"\w+ (\S+)\" (\d+) (\d+)ms" line)]
    {:ip ip :time time :path path :status (parse-long status) :ms (parse-long ms)}))

(->> (map parse rows)
     (group-by :path)
     (map (fn [[path requests]]
            {:path path
             :requests (count requests)
             :failed (count (filter #(>= (:status %) 500) requests))
             :slowest-ms (apply max (map :ms requests))}))
     (sort-by :failed >))
