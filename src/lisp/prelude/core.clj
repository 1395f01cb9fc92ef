;; SPDX-License-Identifier: MIT
;; Hierarchies of names: a map of :parents, :ancestors and :descendants, each from a name to a set.  Any map may be
;; given as one, so parts are taken only for what they are.  isa? is in C, since calls of multimethods ask it.

(defn part [h k]
  (let [m (when (map? h) (%lookup h k nil))]
    (when (map? m) m)))

(defn names-at [m tag]
  (let [names (when m (%lookup m tag nil))]
    (when (set? names) names)))

(defn names-in [h k tag] (not-empty (names-at (part (%hierarchy h) k) tag)))

(defn parents
  ([tag] (names-in nil :parents tag))
  ([h tag] (names-in h :parents tag)))

(defn ancestors
  ([tag] (names-in nil :ancestors tag))
  ([h tag] (names-in h :ancestors tag)))

(defn descendants
  ([tag] (names-in nil :descendants tag))
  ([h tag] (names-in h :descendants tag)))

(defn make-hierarchy [] {:parents {} :descendants {} :ancestors {}})

;; m, with target and all that m had for it added to the names of one tag.
(defn widened [m tag target targets]
  (%put m tag (into (conj (or (names-at m tag) #{}) target) (names-at targets target))))

;; The same for a tag and for everything that sources has for it.
(defn spread [m tag sources target]
  (reduce (fn [new x] (widened new x target m))
          (widened (or m {}) tag target m)
          (names-at sources tag)))

(defn derived [h tag parent]
  (let [up (part h :ancestors)
        down (part h :descendants)
        parents (or (part h :parents) {})]
    (-> (if (map? h) h {})
        (%put :parents (%put parents tag (conj (or (names-at parents tag) #{}) parent)))
        (%put :ancestors (spread up tag down parent))
        (%put :descendants (spread down parent up tag)))))

(defn checked-tags [i tag parent]
  (cond
    (not (or (keyword? tag) (symbol? tag) (class? tag))) (%refuse-argument i tag "a keyword or a type")
    (not (or (keyword? parent) (symbol? parent))) (%refuse-argument (inc i) parent "a keyword")))

(defn derive-in [h tag parent]
  (let [up (part h :ancestors)]
    (cond
      (contains? (names-at (part h :parents) tag) parent) h
      (= tag parent) (%refuse :assertion "a name cannot be its own parent")
      (contains? (names-at up parent) tag)
      (%refuse :exception "the second name is below the first already, so this would be a circle")
      (contains? (names-at up tag) parent) (%refuse :exception "the second name is above the first already")
      :else (derived h tag parent))))

(defn has-namespace [tag] (or (not (keyword? tag)) (some? (namespace tag))))

(defn derive
  ([tag parent]
   (checked-tags 0 tag parent)
   (when-not (and (has-namespace tag) (has-namespace parent))
     (%refuse :value "in the global hierarchy names have a namespace"
              "write ::dog, or give a hierarchy: (derive (make-hierarchy) :dog :animal)"))
   (%set-hierarchy (derive-in (%hierarchy nil) tag parent)))
  ([h tag parent]
   (checked-tags 1 tag parent)
   (when-not (map? h) (%refuse-argument 0 h "a map"))
   (derive-in h tag parent)))

;; All that was derived but one pair, derived again.
(defn derived-without [h tag parent]
  (reduce-kv (fn [new child parents]
               (reduce (fn [new x] (if (and (= child tag) (= x parent)) new (derived new child x)))
                       new (when (set? parents) parents)))
             (make-hierarchy) (part h :parents)))

(defn underive
  ([tag parent]
   (checked-tags 0 tag parent)
   (%set-hierarchy (derived-without (%hierarchy nil) tag parent)))
  ([h tag parent]
   (checked-tags 1 tag parent)
   (when-not (map? h) (%refuse-argument 0 h "a map"))
   (derived-without h tag parent)))

;; Priority queues: lib/seq/queue.c says what they are.

(defn checked-queue [q]
  (if (and (map? q) (sorted? q)) q (%refuse-argument 0 q "a priority queue, which (pq) makes")))

(defn pq-add [q item priority]
  (let [q (checked-queue q)]
    (%put q [priority (%pq-turn q priority)] item)))

(defn pq
  ([] (sorted-map))
  ([pairs]
   (reduce (fn [q pair]
             (if (and (sequential? pair) (= 2 (count pair)))
               (pq-add q (nth pair 0) (nth pair 1))
               (%refuse-part "an element" pair "a pair of item and priority")))
           (sorted-map) (%finite 0 pairs))))

(defn pq-peek [q]
  (when-let [[k item] (first (checked-queue q))]
    [item (nth k 0)]))

(defn pq-pop [q]
  (if-let [[k] (first (checked-queue q))] (dissoc q k) q))
