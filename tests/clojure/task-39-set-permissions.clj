;; Who may do what: roles, inherited permissions, differences of users.
(ns tasks.set-permissions
  (:require [clojure.set :as set]
            [clojure.string :refer [join]]))

(def roles
  {:viewer {:can #{:read}}
   :editor {:can #{:write :comment} :inherits [:viewer]}
   :admin  {:can #{:delete :grant} :inherits [:editor]}})

(defn permissions [role]
  (let [{:keys [can inherits]} (roles role)]
    (apply set/union can (map permissions inherits))))

(def users {"ann" [:admin] "bob" [:viewer :editor] "cyd" []})

(letfn [(user-perms [user] (reduce into #{} (map permissions (users user))))
        (may? [user perm] (contains? (user-perms user) perm))]
  {:matrix (into {} (map (fn [u] [u (user-perms u)])) (keys users))
   :only-ann (set/difference (user-perms "ann") (user-perms "bob"))
   :shared (set/intersection (user-perms "ann") (user-perms "bob"))
   :subset? (set/subset? (user-perms "bob") (user-perms "ann"))
   :who-writes (sort (filter #(may? % :write) (keys users)))
   :by-perm (set/map-invert {:r :read :w :write})
   :text (join ", " (map name (sort (user-perms "bob"))))})
