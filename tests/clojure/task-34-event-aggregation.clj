;; Sessions from click events: a gap of more than 30 minutes starts a new one.
(def events
  [{:user "u1" :minute 0 :page "/"} {:user "u2" :minute 3 :page "/"}
   {:user "u1" :minute 10 :page "/a"} {:user "u1" :minute 55 :page "/"}
   {:user "u2" :minute 20 :page "/b"} {:user "u1" :minute 60 :page "/buy"}
   {:user "u3" :minute 61 :page "/"}])

(defn sessions [evs]
  (reduce (fn [acc {:keys [minute] :as e}]
            (let [prev (-> acc peek peek)]
              (if (and prev (<= (- minute (:minute prev)) 30))
                (conj (pop acc) (conj (peek acc) e))
                (conj acc [e]))))
          []
          (sort-by :minute evs)))

(defn summarize [session]
  {:start (:minute (first session))
   :length (- (:minute (last session)) (:minute (first session)))
   :pages (mapv :page session)})

(reduce-kv (fn [m user evs]
             (assoc m user (mapv summarize (sessions evs))))
           {}
           (group-by :user events))
