;; Fill {{placeholders}}, convert cases and slugs with regex replacement.
(ns tasks.template
  (:require [clojure.string :as str]))

(defn render [template data]
  (str/replace template #"\{\{\s*(\w+)\s*\}\}"
               (fn [[whole k]]
                 (str (get data (keyword k) whole)))))

(defn kebab->camel [s]
  (str/replace s #"-(\w)" #(str/upper-case (second %))))

(defn camel->snake [s]
  (-> s
      (str/replace #"([a-z0-9])([A-Z])" "$1_$2")
      str/lower-case))

(defn slug [title]
  (-> title
      str/lower-case
      (str/replace #"[^a-z0-9]+" "-")
      (str/replace #"^-|-$" "")))

{:mail (render "Dear {{name}}, you owe {{ amount }} {{currency}}." {:name "Ann" :amount 12.5})
 :camel (kebab->camel "send-invoice-to-user")
 :snake (camel->snake "totalAmountDue2024Final")
 :slug (slug "  Hello, World: 10 Tips & Tricks! ")
 :masked (str/replace "card 4111-1111-1111-1234" #"\d{4}-(?=\d{4})" "****-")
 :swapped (str/replace "Doe, John; Roe, Jane" #"(\w+), (\w+)" "$2 $1")
 :title (str/join " " (map str/capitalize (str/split "the old man" #"\s+")))}
