;; Hand out ids from an atom and keep an index of todos in another.
(def next-id (atom 0))
(def todos (atom {}))

(defn add-todo! [title & {:keys [priority] :or {priority :normal}}]
  (let [id (swap! next-id inc)]
    (swap! todos assoc id {:id id :title title :priority priority :done? false})
    id))

(defn complete! [id]
  (swap! todos assoc-in [id :done?] true))

(add-todo! "buy milk")
(add-todo! "pay rent" :priority :high)
(add-todo! "call mum")
(complete! 2)

(let [{done true open false} (group-by :done? (vals @todos))]
  {:open (sort (map :title open))
   :done (map (juxt :id :priority) done)
   :next @next-id})
