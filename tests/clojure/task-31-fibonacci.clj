;; Fibonacci three ways.
(def fib-memo
  (memoize (fn [n]
             (if (< n 2)
               n
               (+ (fib-memo (- n 1)) (fib-memo (- n 2)))))))

(def fibs
  (map first (iterate (fn [[a b]] [b (+ a b)]) [0 1])))

(defn fib-loop [n]
  (loop [i 0 a 0 b 1]
    (if (= i n)
      a
      (recur (inc i) b (+' a b)))))

{:memo (fib-memo 50)
 :first (take 12 fibs)
 :even-sum (->> fibs (take-while #(< % 4000000)) (filter even?) (reduce +))
 :big (str (fib-loop 100))}
