;; The working days between two dates.
(ns tasks.date-range
  (:import [java.time LocalDate DayOfWeek]
           [java.time.temporal ChronoUnit]))

(defn date-range [from to]
  (take-while #(not (.isAfter % to))
              (iterate #(.plusDays % 1) from)))

(def weekend #{DayOfWeek/SATURDAY DayOfWeek/SUNDAY})

(let [from (LocalDate/of 2024 2 26)
      to   (LocalDate/parse "2024-03-05")
      days (date-range from to)]
  {:days (count days)
   :working (mapv str (remove #(weekend (.getDayOfWeek %)) days))
   :between (.between ChronoUnit/DAYS from to)
   :leap (.isLeapYear from)})
