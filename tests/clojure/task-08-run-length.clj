;; Run-length encoding and decoding of a string.
(require '[clojure.string :as str])

(defn encode [s]
  (->> (partition-by identity s)
       (map (fn [run]
              (let [n (count run)]
                (if (= 1 n) (str (first run)) (str n (first run))))))
       (str/join)))

(defn decode [s]
  (->> (re-seq #"(\d*)(\D)" s)
       (mapcat (fn [[_ n c]]
                 (repeat (if (empty? n) 1 (Integer/parseInt n)) c)))
       (apply str)))

(for [s ["WWWWWWWWWWWWBWWWWWWWWWWWWBBBWWW" "abc" "aabbb" ""]]
  {:in s :encoded (encode s) :ok (= s (decode (encode s)))})
