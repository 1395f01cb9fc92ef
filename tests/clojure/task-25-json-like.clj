;; Reshape a nested API answer: keywordize keys, drop nils, index by id.
(ns tasks.json-like
  (:require [clojure.walk :as walk]))

(def response
  {"status" "ok"
   "users" [{"id" 1 "name" "Ann" "email" nil
             "address" {"city" "Oslo" "zip" nil}
             "tags" ["admin" "dev"]}
            {"id" 2 "name" "Bo" "email" "bo@x.org"
             "address" {"city" "Bergen" "zip" "5003"}
             "tags" []}]})

(defn strip-nils [form]
  (walk/postwalk
    (fn [x] (if (map? x)
              (into {} (remove (comp nil? val)) x)
              x))
    form))

(let [{:keys [status users]} (-> response walk/keywordize-keys strip-nils)
      by-id (into {} (map (juxt :id identity)) users)]
  {:status (keyword status)
   :by-id by-id
   :cities (mapv #(get-in % [:address :city]) users)
   :admins (for [{:keys [tags name]} users :when (some #{"admin"} tags)] name)
   :email-2 (get-in by-id [2 :email] "none")
   :email-1 (get-in by-id [1 :email] "none")})
