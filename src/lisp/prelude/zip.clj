;; SPDX-License-Identifier: MIT
;; clojure.zip: going about in a tree and changing it on the way.
;;
;; A location is [node path fns]: fns are branch?, children and make-node; the path is nil at the top, :end behind the
;; last node, else [lefts above parent rights changed]: siblings to the left, nodes above from the top, path of the
;; parent, siblings to the right, and whether anything was changed.  Programs can make such vectors themselves, so a
;; path is checked when it is come upon.  Functions whose names end in * are for the others: they move or give nil.

(defn path? [path]
  (or (nil? path)
      (and (vector? path) (= (count path) 5)
           (let [[lefts above parent rights] path]
             (and (vector? lefts) (vector? above) (seq above)
                  (or (nil? parent) (and (vector? parent) (= (count parent) 5)))
                  (or (nil? rights) (%finite? rights)))))))

(defn checked [path]
  (if (path? path) path (%refuse :type "this is not a location in a tree")))

(defn opened [loc]
  (if (and (vector? loc) (= (count loc) 3) (vector? (nth loc 2)) (= (count (nth loc 2)) 3))
    (let [path (nth loc 1)]
      (if (= path :end) (assoc loc 1 nil) (do (checked path) loc)))
    (%refuse-argument 0 loc "a location, as vector-zip or zipper gives it")))

(defn marked [path]
  (when path (assoc path 4 true)))

(defn branch* [loc]
  ((nth (nth loc 2) 0) (nth loc 0)))

(defn children* [loc]
  (let [kids ((nth (nth loc 2) 1) (nth loc 0))]
    (if (seqable? kids)
      (let [all (if (sequential? (%finite 0 kids)) kids (seq kids))]
        (when (seq all) all))
      (%refuse-part "what children gave" kids "a collection or nil"))))

(defn made [loc node kids]
  ((nth (nth loc 2) 2) node kids))

(defn changed [loc node]
  [node (marked (nth loc 1)) (nth loc 2)])

(defn down* [loc]
  (when (branch* loc)
    (when-let [kids (children* loc)]
      (let [[node path fns] loc
            above (if path (nth path 1) [])]
        [(first kids) [[] (conj above node) path (next kids) nil] fns]))))

(defn up* [loc]
  (let [[node path fns] loc]
    (when path
      (let [[lefts above parent rights change] path]
        (if change
          (let [whole (made loc (peek above) (seq (into (conj lefts node) rights)))]
            [whole (marked (checked parent)) fns])
          [(peek above) (checked parent) fns])))))

(defn right* [loc]
  (let [[node path fns] loc
        [lefts above parent rights change] path]
    (when (seq rights)
      [(first rights) [(conj lefts node) above parent (next rights) change] fns])))

(defn left* [loc]
  (let [[node path fns] loc
        [lefts above parent rights change] path]
    (when (seq lefts)
      [(peek lefts) [(pop lefts) above parent (cons node rights) change] fns])))

(defn rightmost* [loc]
  (let [[node path fns] loc
        [lefts above parent rights change] path]
    (if (seq rights)
      [(last rights) [(into (conj lefts node) (butlast rights)) above parent nil change] fns]
      loc)))

(defn deepest* [loc]
  (if-let [child (down* loc)] (recur (rightmost* child)) loc))

(defn above-top [loc]
  (if (nth loc 1) loc (%refuse :exception "this is the top of the tree")))

(defn with-children [loc]
  (if (branch* loc) loc (%refuse :exception "the node here is a leaf")))

(defn zipper [branch? children make-node root]
  [root nil [(%callable 0 branch?) (%callable 1 children) (%callable 2 make-node)]])

(defn zip-made [self node kids]
  (let [all (vec (%finite 2 kids))]
    (case (%kept self)
      0 (sequence all)
      1 all
      (if (map? node) (%put node :content (not-empty all)) (%refuse-part "the node" node "a map")))))

(defn seq-zip [root] [root nil [seq? identity (%function "zip-made" 0)]])

(defn vector-zip [root] [root nil [vector? seq (%function "zip-made" 1)]])

(defn xml-zip [root] [root nil [(complement string?) :content (%function "zip-made" 2)]])

(defn node [loc] (nth (opened loc) 0))

(defn branch? [loc] (boolean (branch* (opened loc))))

(defn children [loc] (children* (with-children (opened loc))))

(defn make-node [loc node kids] (made (opened loc) node kids))

(defn path [loc]
  (when-let [path (nth (opened loc) 1)] (nth path 1)))

(defn lefts [loc]
  (when-let [path (nth (opened loc) 1)] (seq (nth path 0))))

(defn rights [loc]
  (when-let [path (nth (opened loc) 1)] (seq (nth path 3))))

(defn down [loc] (down* (opened loc)))

(defn up [loc] (up* (opened loc)))

(defn left [loc] (left* (opened loc)))

(defn right [loc] (right* (opened loc)))

(defn leftmost [loc]
  (let [[node path fns] (opened loc)
        [lefts above parent rights change] path]
    (if (seq lefts)
      (let [others (seq (into (conj (subvec lefts 1) node) rights))]
        [(first lefts) [[] above parent others change] fns])
      [node path fns])))

(defn rightmost [loc] (rightmost* (opened loc)))

(defn prev [loc]
  (let [loc (opened loc)]
    (if-let [before (left* loc)] (deepest* before) (up* loc))))

(defn next [loc]
  (let [from (opened loc)]
    (if (= (nth loc 1) :end)
      loc
      (or (down* from)
          (right* from)
          (loop [at from]
            (if-let [above (up* at)]
              (or (right* above) (recur above))
              (assoc at 1 :end)))))))

(defn end? [loc]
  (do (opened loc) (= (nth loc 1) :end)))

(defn root [loc]
  (loop [at (opened loc)]
    (if-let [above (up* at)] (recur above) (nth at 0))))

(defn replace [loc node] (changed (opened loc) node))

(defn edit [loc f & args]
  (let [loc (opened loc)]
    (changed loc (apply (%callable 1 f) (nth loc 0) args))))

(defn insert-left [loc x]
  (let [[node [lefts above parent rights] fns] (above-top (opened loc))]
    [node [(conj lefts x) above parent rights true] fns]))

(defn insert-right [loc x]
  (let [[node [lefts above parent rights] fns] (above-top (opened loc))]
    [node [lefts above parent (cons x rights) true] fns]))

(defn insert-child [loc x]
  (let [loc (with-children (opened loc))]
    (changed loc (made loc (nth loc 0) (seq (into [x] (children* loc)))))))

(defn append-child [loc x]
  (let [loc (with-children (opened loc))]
    (changed loc (made loc (nth loc 0) (seq (conj (into [] (children* loc)) x))))))

(defn remove [loc]
  (let [loc (above-top (opened loc))
        [_ [lefts above parent rights] fns] loc]
    (if (seq lefts)
      (deepest* [(peek lefts) [(pop lefts) above parent rights true] fns])
      (let [whole (made loc (peek above) rights)]
        [whole (marked (checked parent)) fns]))))
