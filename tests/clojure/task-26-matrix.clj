;; Transpose, multiply and the determinant of small matrices.
(defn transpose [m] (apply mapv vector m))

(defn dot [a b] (reduce + (map * a b)))

(defn mat-mul [a b]
  (let [cols (transpose b)]
    (mapv (fn [row] (mapv #(dot row %) cols)) a)))

(defn minor [m c]
  (mapv #(into (subvec % 0 c) (subvec % (inc c))) (rest m)))

(defn det [m]
  (if (= 1 (count m))
    (ffirst m)
    (reduce + (map-indexed (fn [c x] (* x (if (even? c) 1 -1) (det (minor m c))))
                           (first m)))))

(let [a [[1 2] [3 4] [5 6]]
      b [[1 0 2] [0 1 -1]]]
  {:t (transpose a)
   :ab (mat-mul a b)
   :det (det [[2 0 1] [1 3 2] [1 1 4]])
   :identity (vec (for [i (range 3)] (vec (for [j (range 3)] (if (= i j) 1 0)))))})
