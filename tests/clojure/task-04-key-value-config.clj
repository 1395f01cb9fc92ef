;; Parse key=value lines with comments into a nested map of typed values.
(require '[clojure.string :as str])

(def config
  "# server settings
   server.host = localhost
   server.port=8080

   server.tls.enabled=true
   # limits
   limits.rate=2.5
   name = demo = test")

(defn parse-value [s]
  (cond
    (re-matches #"-?\d+" s)      (Long/parseLong s)
    (re-matches #"-?\d+\.\d+" s) (Double/parseDouble s)
    (= s "true")                 true
    (= s "false")                false
    :else                        s))

(->> (str/split-lines config)
     (map str/trim)
     (remove #(or (str/blank? %) (str/starts-with? % "#")))
     (map #(map str/trim (str/split % #"=" 2)))
     (reduce (fn [m [k v]]
               (assoc-in m (map keyword (str/split k #"\.")) (parse-value v)))
             {}))
