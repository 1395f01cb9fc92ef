;; Primes below 60 by sieve, and the prime factors of a few numbers.
(defn sieve [limit]
  (loop [candidates (range 2 limit), primes []]
    (if-let [p (first candidates)]
      (if (> (* p p) limit)
        (into primes candidates)
        (recur (remove #(zero? (mod % p)) candidates) (conj primes p)))
      primes)))

(defn factors [n]
  (loop [n n, d 2, acc []]
    (cond
      (= n 1)            acc
      (> (* d d) n)      (conj acc n)
      (zero? (rem n d))  (recur (quot n d) d (conj acc d))
      :else              (recur n (inc d) acc))))

{:primes (sieve 60)
 :factors (into {} (for [n [12 97 360 1001 65536]] [n (factors n)]))
 :lazy (take 8 (filter (fn [n] (not-any? #(zero? (mod n %)) (range 2 n)))
                       (iterate inc 2)))}
