;; The five most common words of a text, ties in alphabetical order.
(ns tasks.word-count
  (:require [clojure.string :as str]))

(def text
  "The quick brown fox jumps over the lazy dog. The dog barks; the fox runs away!
   A quick-witted fox isn't lazy, is it? The dog is.")

(defn words [s]
  (re-seq #"[a-z']+" (str/lower-case s)))

(->> (words text)
     frequencies
     (sort-by (fn [[w n]] [(- n) w]))
     (take 5)
     (map (fn [[w n]] {:word w :count n})))
