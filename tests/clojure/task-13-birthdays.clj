;; Ages and next birthdays on a given day, sorted by who is next.
(ns tasks.birthdays
  (:import (java.time LocalDate Period)
           (java.time.temporal ChronoUnit)))

(def people [{:name "Ada" :born "1990-12-10"}
             {:name "Bob" :born "1985-06-20"}
             {:name "Cyd" :born "2001-02-28"}])

(defn next-birthday [^LocalDate born ^LocalDate today]
  (let [this-year (.withYear born (.getYear today))]
    (if (.isBefore this-year today)
      (.plusYears this-year 1)
      this-year)))

(let [today (LocalDate/parse "2024-06-15")]
  (->> people
       (map (fn [{:keys [name born]}]
              (let [b (LocalDate/parse born)
                    nb (next-birthday b today)]
                {:name name
                 :age (.getYears (Period/between b today))
                 :next (.toString nb)
                 :in-days (.until today nb ChronoUnit/DAYS)})))
       (sort-by :in-days)))
