;; Parse a small CSV text and total the sales by region.
(require '[clojure.string :as str])

(def csv "date,region,product,units,price
2024-01-05,North,Widget,10,2.50
2024-01-06,South,Widget,4,2.50
2024-01-06,North,Gadget,3,12.00
2024-01-09,West,Gizmo,7,4.25
2024-01-10,South,Gadget,1,12.00")

(defn parse-csv [text]
  (let [[header & rows] (map #(str/split % #",") (str/split-lines text))
        ks (map keyword header)]
    (map #(zipmap ks %) rows)))

(defn parse-row [row]
  (-> row
      (update :units #(Integer/parseInt %))
      (update :price #(Double/parseDouble %))))

(->> (parse-csv csv)
     (map parse-row)
     (group-by :region)
     (map (fn [[region rows]]
            [region {:units   (reduce + (map :units rows))
                     :revenue (reduce + (map #(* (:units %) (:price %)) rows))}]))
     (into (sorted-map)))
