;; Group words that are anagrams of one another.
(ns tasks.anagrams
  (:require [clojure.string :as string]))

(def words ["listen" "silent" "enlist" "google" "elgoog" "cat" "act" "tac" "dog" "Inlets"])

(defn signature [w]
  (->> w string/lower-case sort (apply str)))

(->> words
     (group-by signature)
     vals
     (filter #(> (count %) 1))
     (map sort)
     (sort-by (juxt (comp - count) first))
     vec)
