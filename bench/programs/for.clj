;; run @K@
(reduce + (range 1000000))
