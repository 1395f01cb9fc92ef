;; Parse numbers, with defaults where the text is no number.
(defn parse-int [s]
  (try
    (Integer/parseInt (clojure.string/trim s))
    (catch NumberFormatException _ nil)))

(defn safe-divide [a b]
  (try
    {:value (/ a b)}
    (catch ArithmeticException e
      {:error (.getMessage e)})
    (finally :done)))

{:parsed (map parse-int ["42" " 7 " "x1" "-3" "" "1.5"])
 :sum (reduce + (keep parse-int ["1" "two" "3"]))
 :divided [(safe-divide 10 2) (safe-divide 1 0)]
 :or-else (or (parse-int "nope") 0)
 :some (some-> "12" parse-int inc str)
 :none (some-> "zz" parse-int inc)}
