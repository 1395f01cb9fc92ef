;; Are the brackets of a string balanced?
(def pairs {\) \(, \] \[, \} \{})
(def openers (set (vals pairs)))

(defn balanced? [s]
  (empty?
   (reduce (fn [stack c]
             (cond
               (openers c)         (conj stack c)
               (contains? pairs c) (if (= (peek stack) (pairs c))
                                     (pop stack)
                                     (reduced [:unbalanced]))
               :else               stack))
           []
           s)))

(mapv (juxt identity balanced?)
      ["" "()" "([]{})" "(]" "(()" "fn(a[0], {b: 1})" "}{"])
