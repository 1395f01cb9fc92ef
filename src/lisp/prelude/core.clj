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

;; Pages.  A style says how a tool goes on: {:kind :cursor :key k :as p}, where the result has the value of the next
;; parameter p under k; {:kind :offset :as p}, {:kind :page :as p}; {:kind :last-id :as p}; {:kind :whole}, one page.

(defn spelled [k] (str/replace (str/lower-case (name k)) #"[-_]" ""))

;; The first key that is spelled like one of the names, which are in the order of preference.
(defn key-like [ks names]
  (let [ks (filterv (fn [k] (or (string? k) (keyword? k))) ks)]
    (some (fn [n] (some (fn [k] (when (= (spelled k) n) k)) ks)) names)))

(defn next-key [r]
  (when (map? r)
    (key-like (keys r) ["nextcursor" "nextpagetoken" "nexttoken" "next" "cursor"])))

(defn more-key [r] (when (map? r) (key-like (keys r) ["hasmore" "hasnext" "hasnextpage"])))

(defn nothing? [x] (or (nil? x) (= x "")))

;; Does the result say that it is the last?
(defn last-page? [r]
  (let [more (more-key r)]
    (and (some? more) (not (%lookup r more nil)))))

(defn no-next? [r]
  (let [k (next-key r)]
    (and (some? k) (nothing? (%lookup r k nil)))))

(defn rows-key [r tool]
  (let [ks (filterv (fn [k] (sequential? (%lookup r k nil))) (keys r))]
    (if (= 1 (count ks))
      (first ks)
      (or (key-like ks ["items" "data" "results" "rows" "records" "values"])
          (some (fn [k] (when (and (string? k) (str/ends-with? (spelled tool) (spelled k))) k)) ks)))))

(defn refuse-pages [tool why]
  (%refuse :value (str tool ": " why)
           "say it: (pages tool/name {...} {:items :rows :next :next_cursor :as :cursor}), keys of its result and the parameter that takes the next"))

(defn page-rows [tool r at]
  (let [rows (cond
               (sequential? at) (get-in r at)
               (some? at) (get r at)
               (map? r) (when-let [k (rows-key r tool)] (%lookup r k nil))
               :else r)]
    (cond
      (sequential? rows) rows
      (and (nil? rows) (or (some? at) (nil? r))) []
      :else (refuse-pages tool "which part of its result are the rows cannot be told"))))

;; next_cursor is given as cursor, nextPageToken as pageToken; the parameters of the tool decide when they are known.
(defn cursor-parameter [params k]
  (let [plain (str/replace (name k) #"^next[-_]?" "")]
    (cond
      (some? params) (key-like params [(spelled plain) (spelled k) "cursor" "pagetoken" "after"])
      (not= plain "") (str (str/lower-case (subs plain 0 1)) (subs plain 1)))))

(defn numbered-style [names]
  (let [offset (key-like names ["offset" "skip"])
        page (key-like names ["page" "pagenumber"])]
    (cond
      (some? offset) {:kind :offset :as offset}
      (some? page) {:kind :page :as page})))

(defn last-id-style [params r rows]
  (let [p (key-like params ["startingafter" "afterid"])]
    (when (and (some? p) (some? (more-key r)) (some? (get (last rows) :id))) {:kind :last-id :as p})))

(defn page-style [tool params args r rows options]
  (let [asked (get options :next)
        k (or asked (next-key r))
        p (or (get options :as) (when (some? k) (cursor-parameter params k)) asked)
        numbers (when (map? r) (filterv (fn [k] (integer? (%lookup r k nil))) (keys r)))
        url (and (nil? asked) (some? k) (str/includes? (str (%lookup r k nil)) "://"))]
    (cond
      (and (some? asked) (some? p)) {:kind :cursor :key k :as p}
      (or (last-page? r) (no-next? r)) {:kind :whole}
      (and (some? p) (not url)) {:kind :cursor :key k :as p}
      :else (or (numbered-style (or params (concat (keys args) numbers)))
                (last-id-style params r rows)
                (when (and (some? params) (nil? k) (nil? (more-key r))) {:kind :whole})
                (refuse-pages tool "how it goes on after its first page cannot be told")))))

(defn argument-key [args p] (or (key-like (keys args) [(spelled p)]) p))

(defn after-numbered [style args r rows]
  (let [k (argument-key args (get style :as))
        now (%lookup args k nil)]
    (cond
      (or (empty? rows) (last-page? r) (no-next? r)) nil
      (= (get style :kind) :offset) (%put args k (+ (if (integer? now) now 0) (count rows)))
      :else (let [said (when (map? r) (key-like (keys r) [(spelled k)]))
                  said (when (some? said) (%lookup r said nil))]
              (%put args k (inc (cond (integer? now) now (integer? said) said :else 1)))))))

;; The arguments for the page after this one; nil when it is the last.
(defn arguments-after [style args r rows]
  (let [kind (get style :kind)
        value (cond
                (= kind :cursor) (when-not (last-page? r) (get r (get style :key)))
                (= kind :last-id) (when-not (last-page? r) (get (last rows) :id)))]
    (cond
      (or (= kind :offset) (= kind :page)) (after-numbered style args r rows)
      (not (nothing? value)) (%put args (argument-key args (get style :as)) value))))

(defn checked-page-options [options]
  (let [known [:items :next :as :max-pages]
        most (get options :max-pages 100)
        other (when (map? options) (first (remove (fn [k] (some (fn [x] (= x (keyword k))) known)) (keys options))))]
    (cond
      (not (map? options)) (%refuse-argument 2 options "a map of options")
      (some? other) (%refuse :value (str "there is no option " (pr-str other)) "there are :items, :next, :as, :max-pages")
      (and (integer? most) (pos? most)) (assoc options :max-pages most)
      :else (%refuse-part "the option :max-pages" most "a positive integer"))))

(defn pages
  ([f] (pages f {} {}))
  ([f args] (pages f args {}))
  ([f args options]
   (let [options (checked-page-options options)
         [tool params] (%tool-about (%callable 0 f))
         params (or params (keys (get (get (meta f) :schema) "properties")))
         most (get options :max-pages)]
     (when-not (map? args) (%refuse-argument 1 args "a map, the arguments of the first page"))
     (loop [n 1 args args all [] style nil seen #{} before nil]
       (let [r (%page-call f args n (count all))
             rows (page-rows tool r (get options :items))
             style (or style (page-style tool params args r rows options))
             all (into all rows)
             then (arguments-after style args r rows)
             seen (conj seen args)]
         (cond
           (nil? then) all
           (contains? seen then)
           (%refuse :value (str tool ": page " n " goes on where an earlier page did, so it would never end"))
           (and (= rows before) (not= :cursor (get style :kind)))
           (%refuse :value (str tool ": page " n " has the rows of the page before it")
                    (str "does it take " (get style :as) " at all? Name how it goes on with :next and :as"))
           (>= n most)
           (%refuse :value (str tool ": there are more than " n " pages; they gave " (count all) " rows so far")
                    "ask for less with its arguments, or raise :max-pages")
           :else (recur (inc n) then all style seen rows)))))))

;; Tables: lists of maps.

;; What is found under a column, which is a keyword, a string or a path, or what a function gives.
(defn column-reader [i column]
  (cond
    (or (keyword? column) (string? column)) (fn [row] (get row column))
    (sequential? column) (fn [row] (get-in row column))
    :else (%callable i column)))

(defn group-sum [key value rows]
  (let [rows (if (string? rows) (%refuse-argument 2 rows "a collection of rows") (vec (%finite 2 rows)))
        value-of (column-reader 1 value)]
    (%check-key value rows)
    (when (or (keyword? value) (string? value) (sequential? value))
      (sum-by value rows)) ;; says what is wrong with the column as a whole
    (update-vals (group-by key rows) (fn [group] (sum-by value-of group)))))

(defn flat-name [outer k separator]
  (let [text (if (or (keyword? k) (string? k)) (name k) (str k))]
    (cond
      (nil? outer) k
      (keyword? outer) (keyword (str (name outer) separator text))
      :else (str (if (string? outer) outer (str outer)) separator text))))

(defn flat-into [self flat outer m separator depth]
  (if (> depth 100)
    (%refuse :value "the maps are nested deeper than 100")
    (reduce-kv (fn [flat k v]
                 (let [k (flat-name outer k separator)]
                   (if (and (map? v) (pos? (count v)))
                     (self self flat k v separator (inc depth))
                     (%put flat k v))))
               flat m)))

(defn flatten-keys
  ([x] (flatten-keys x "."))
  ([x separator]
   (cond
     (not (string? separator)) (%refuse-argument 1 separator "a string")
     (map? x) (flat-into flat-into {} nil x separator 0)
     (string? x) (%refuse-argument 0 x "a map or a collection of maps")
     :else (mapv (fn [row] (if (map? row) (flat-into flat-into {} nil row separator 0) row)) (%finite 0 x)))))

;; The columns of a row key: [name key ...], where key is what group-by takes.
(defn pivot-keys [row]
  (cond
    (map? row) (vec (seq row))
    (or (keyword? row) (string? row)) [[row row]]
    (and (sequential? row) (pos? (count row)) (every? (fn [k] (or (keyword? k) (string? k))) row))
    (mapv (fn [k] [k k]) row)
    :else (%refuse-argument 0 row "a column, columns such as [:a :b], or a map of names to functions")))

(defn pivot-names [values]
  (cond
    (empty? values) []
    (or (every? number? values) (every? string? values) (every? keyword? values)) (sort values)
    :else values))

(defn pivot-name [x]
  (cond
    (or (keyword? x) (string? x)) x
    (nil? x) "nil"
    :else (str x)))

(defn pivot
  ([row column value rows] (pivot row column value sum rows))
  ([row column value f rows]
   (let [ks (pivot-keys row)
         readers (mapv (fn [k] (column-reader 0 (nth k 1))) ks)
         rows (if (string? rows) (%refuse-argument 3 rows "a collection of rows") (vec (%finite 3 rows)))
         value-of (column-reader 2 value)
         f (%callable 3 f)
         columns (pivot-names (vec (distinct (keys (group-by column rows)))))]
     (run! (fn [k] (%check-key k rows)) (conj (mapv (fn [k] (nth k 1)) ks) column value))
     (when (> (count columns) 4096)
       (%refuse :value (str "the second column has " (count columns) " values, and at most 4096 become columns")
                "exchange the first two arguments, or group with group-by"))
     (mapv (fn [group]
             (let [of-row (nth group 1)
                   cells (update-vals (group-by column of-row) (fn [same] (f (mapv value-of same))))
                   start (reduce (fn [m i] (%put m (nth (nth ks i) 0) ((nth readers i) (nth of-row 0)))) {} (range (count ks)))]
               (reduce (fn [m c] (%put m (pivot-name c) (%lookup cells c nil))) start columns)))
           (group-by (fn [x] (mapv (fn [reader] (reader x)) readers)) rows)))))
