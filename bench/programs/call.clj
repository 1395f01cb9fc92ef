;; run @K@
(loop [i 0 acc 0] (if (< i 10000) (recur (inc i) (+ acc (tool/add {:n i}))) acc))
