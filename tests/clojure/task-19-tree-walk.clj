;; Sizes of a directory tree: total, deepest path, big files.
(def tree
  {:name "disk"
   :children [{:name "etc" :children [{:name "hosts" :size 12} {:name "passwd" :size 40}]}
              {:name "home" :children [{:name "ann" :children [{:name "a.txt" :size 300}
                                                               {:name "b.png" :size 9000}]}]}
              {:name "tmp" :children []}]})

(defn total-size [node]
  (if-let [children (:children node)]
    (reduce + (map total-size children))
    (:size node 0)))

(defn paths
  ([node] (paths "" node))
  ([prefix {:keys [name children]}]
   (let [path (str prefix "/" name)]
     (if (seq children)
       (mapcat #(paths path %) children)
       [path]))))

{:total (total-size tree)
 :paths (sort (paths tree))
 :files (->> (tree-seq :children :children tree)
             (remove :children)
             (sort-by :size >)
             (map :name))
 :dirs (count (filter :children (tree-seq map? :children tree)))}
