;; Text histogram of exam scores in buckets of ten.
(require '[clojure.string :as str])

(def scores [55 62 71 78 79 83 85 88 91 94 67 72 100 58 76])

(defn bucket [n]
  (* 10 (quot n 10)))

(let [counts (frequencies (map bucket scores))]
  (->> (range 50 101 10)
       (map (fn [b]
              (let [n (get counts b 0)]
                (format "%3d | %s %d" b (apply str (repeat n "*")) n))))
       (str/join "\n")))
