;; Areas of shapes through a multimethod, with a default.
(defmulti area :shape)

(defmethod area :circle [{:keys [radius]}]
  (* Math/PI radius radius))

(defmethod area :rectangle [{:keys [width height]}]
  (* width height))

(defmethod area :triangle [{:keys [base height]}]
  (/ (* base height) 2.0))

(defmethod area :default [shape]
  (throw (IllegalArgumentException. (str "Unknown shape: " (:shape shape)))))

(def shapes
  [{:shape :circle :radius 2}
   {:shape :rectangle :width 3 :height 4}
   {:shape :triangle :base 5 :height 3}])

{:areas (map (juxt :shape #(format "%.2f" (double (area %)))) shapes)
 :total (Math/round (double (reduce + (map area shapes))))
 :unknown (try (area {:shape :blob})
               (catch IllegalArgumentException e (.getMessage e)))}
