;; Evaluate expressions in reverse Polish notation.
(require '[clojure.string :as str])

(def ops {"+" + "-" - "*" * "/" quot "^" (fn [a b] (reduce * (repeat b a)))})

(defn step [stack token]
  (if-let [op (ops token)]
    (let [[b a & more] stack]
      (when (nil? a)
        (throw (ex-info (str "Too few operands for " token) {:token token :stack stack})))
      (cons (op a b) more))
    (cons (Long/parseLong token) stack)))

(defn rpn [s]
  (let [result (reduce step '() (str/split s #" "))]
    (if (= 1 (count result))
      (first result)
      (throw (IllegalArgumentException. "Malformed expression")))))

(for [s ["3 4 +" "5 1 2 + 4 * + 3 -" "2 10 ^" "1 +" "1 2"]]
  (try
    (rpn s)
    (catch IllegalArgumentException e (str "error: " (.getMessage e)))
    (catch Exception e [(ex-message e) (:token (ex-data e))])))
