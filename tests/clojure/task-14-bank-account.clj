;; Apply transactions to an account; refuse what would overdraw it.
(defn apply-tx [{:keys [balance] :as account} {:keys [type amount] :as tx}]
  (case type
    :deposit  (-> account
                  (update :balance + amount)
                  (update :history conj tx))
    :withdraw (if (< balance amount)
                (update account :rejected (fnil conj []) (assoc tx :reason "insufficient funds"))
                (-> account
                    (update :balance - amount)
                    (update :history conj tx)))
    (throw (ex-info "Unknown transaction" {:tx tx}))))

(def transactions
  [{:type :deposit :amount 100}
   {:type :withdraw :amount 30}
   {:type :withdraw :amount 500}
   {:type :deposit :amount 20}])

(reduce apply-tx {:balance 0 :history []} transactions)
