;; Invoice lines with discounts and tax, formatted.
(ns tasks.invoice-discounts
  (:require [clojure.string :as str]))

(def lines
  [{:sku "A-100" :qty 3 :price 19.99}
   {:sku "B-200" :qty 10 :price 4.5}
   {:sku "C-300" :qty 1 :price 249.0 :discount 0.1}])

(defn line-total [{:keys [qty price discount] :or {discount 0}}]
  (let [bulk (if (>= qty 10) 0.05 0)]
    (* qty price (- 1 discount) (- 1 bulk))))

(defn round2 [x]
  (/ (Math/round (* x 100.0)) 100.0))

(let [subtotal (reduce + (map line-total lines))
      tax (* subtotal 0.2)]
  {:lines (mapv #(format "%-8s %3d x %8.2f = %9.2f" (:sku %) (:qty %) (:price %) (line-total %)) lines)
   :subtotal (round2 subtotal)
   :tax (round2 tax)
   :total (format "%.2f EUR" (+ subtotal tax))})
