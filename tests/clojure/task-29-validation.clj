;; Validate registrations and collect what is wrong with each.
(ns tasks.validation
  (:require [clojure.string :as str]))

(def rules
  [[:name  #(not (str/blank? %))                    "name is required"]
   [:email #(re-matches #".+@.+\..+" (or % ""))     "email is invalid"]
   [:age   #(and (int? %) (<= 18 % 120))            "age must be 18-120"]])

(defn validate [user]
  (let [errors (for [[field ok? message] rules
                     :when (not (ok? (get user field)))]
                 [field message])]
    (if (empty? errors) {:ok user} {:errors (into {} errors)})))

(defn register! [user]
  (let [{:keys [ok errors]} (validate user)]
    (if errors
      (throw (ex-info "Invalid user" {:type :validation :errors errors}))
      (assoc ok :id (str/lower-case (first (str/split (:email ok) #"@")))))))

(defn try-register [user]
  (try
    [:registered (register! user)]
    (catch clojure.lang.ExceptionInfo e
      [:failed (.getMessage e) (-> e ex-data :errors)])))

(mapv try-register [{:name "Ann" :email "Ann@x.org" :age 30}
                    {:name " " :email "bo@x" :age 17}
                    {:email "c@d.ef" :age "20"}])
