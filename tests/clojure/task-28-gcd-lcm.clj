;; Greatest common divisor, least common multiple, and fractions in lowest terms.
(defn gcd
  ([a b] (if (zero? b) (Math/abs a) (recur b (mod a b))))
  ([a b & more] (reduce gcd (gcd a b) more)))

(defn lcm
  ([] 1)
  ([a] a)
  ([a b] (quot (Math/abs (* a b)) (gcd a b)))
  ([a b & more] (reduce lcm (lcm a b) more)))

(defn add-fractions [[n1 d1] [n2 d2]]
  (let [d (lcm d1 d2)
        n (+ (* n1 (quot d d1)) (* n2 (quot d d2)))
        g (gcd n d)]
    [(quot n g) (quot d g)]))

[(gcd 48 36) (gcd 17 5) (gcd 100 75 60) (lcm 4 6) (apply lcm (range 1 11)) (lcm)
 (add-fractions [1 6] [3 10])]
