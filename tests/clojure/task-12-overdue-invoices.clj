;; Days overdue and a late fee per invoice.
(import '(java.time LocalDate)
        '(java.time.temporal ChronoUnit)
        '(java.time.format DateTimeFormatter))

(def fmt (DateTimeFormatter/ofPattern "dd/MM/yyyy"))
(def today (LocalDate/of 2024 6 15))

(def invoices
  [{:id "INV-1" :due "01/06/2024" :amount 200.0}
   {:id "INV-2" :due "30/06/2024" :amount 80.0}
   {:id "INV-3" :due "16/04/2024" :amount 1000.0}])

(defn late-fee [days amount]
  (cond
    (<= days 0)  0.0
    (<= days 30) (* amount 0.02)
    :else        (* amount 0.05)))

(for [{:keys [id due amount]} invoices
      :let [due-date (LocalDate/parse due fmt)
            days (.between ChronoUnit/DAYS due-date today)]
      :when (pos? days)]
  {:id id
   :due (str due-date)
   :days days
   :fee (late-fee days amount)
   :pay-by (.format (.plusWeeks today 2) fmt)})
