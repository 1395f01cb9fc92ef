;; Read log lines with a regular expression; count by level and list the errors.
(ns tasks.log-levels
  (:require [clojure.string :as str]))

(def log-lines
  ["2024-03-01 10:00:01 [INFO] server: started on port 8080"
   "2024-03-01 10:00:05 [WARN] db: slow query (1532 ms)"
   "2024-03-01 10:01:13 [ERROR] api: timeout after 30 s"
   "garbage line"
   "2024-03-01 10:02:00 [INFO] api: GET /users 200"
   "2024-03-01 10:02:07 [ERROR] db: connection refused"])

(def line-re #"^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}) \[(\w+)\] (\w+): (.*)$")

(defn parse-line [line]
  (when-let [[_ date time level source message] (re-matches line-re line)]
    {:date date
     :time time
     :level (keyword (str/lower-case level))
     :source source
     :message message}))

(let [entries (keep parse-line log-lines)]
  {:total (count entries)
   :by-level (frequencies (map :level entries))
   :errors (->> entries
                (filter #(= :error (:level %)))
                (mapv (juxt :time :source :message)))})
