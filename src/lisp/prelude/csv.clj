;; SPDX-License-Identifier: MIT
;; CSV text to rows and back: what may be asked for, and how rows are put together.

(defn checked-options [options known]
  (cond
    (nil? options) {}
    (not (map? options)) (%refuse-argument 1 options "a map of options")
    :else (let [other (first (remove (fn [k] (some (fn [x] (= x (keyword k))) known)) (keys options)))]
            (if (nil? other)
              options
              (%refuse :value (str "there is no option " (pr-str other)) (str "there are " (join ", " known)))))))

(defn separator-of [options]
  (let [s (get options :separator)]
    (cond
      (nil? s) nil
      (and (string? s) (re-matches #"(?![\"\r\n])[\x00-\x7f]" s)) s
      :else (%refuse-part "the option :separator" s "one character such as \";\""))))

(defn parse
  ([text] (parse text nil))
  ([text options]
   (let [options (checked-options options [:header :separator])
         separator (separator-of options)]
     (cond
       (not (string? text)) (%refuse-argument 0 text "a string")
       (blank? text) []
       :else (%csv-rows text (get options :header true) separator)))))

(defn line [cells separator]
  (join separator (map (fn [x] (%csv-cell (if (coll? x) (json/generate-string x) x) separator)) cells)))

(defn lines-of-maps [rows options separator]
  (let [columns (or (get options :columns)
                    (distinct-by (fn [k] (%csv-cell k separator)) (into [] (comp (mapcat keys) (distinct)) rows)))]
    (into (if (get options :header true) [(line columns separator)] [])
          (map (fn [row] (line (map (fn [k] (get row k)) columns) separator)))
          rows)))

(defn checked-csv-rows [rows]
  (if (or (map? rows) (string? rows)) (%refuse-argument 0 rows "a collection of maps or vectors") (vec (%finite 0 rows))))

(defn generate
  ([rows] (generate rows nil))
  ([rows options]
   (let [options (checked-options options [:columns :header :separator])
         separator (or (separator-of options) ",")
         rows (checked-csv-rows rows)
         kind (if (map? (first rows)) map? sequential?)
         other (first (remove kind rows))]
     (cond
       (some? other) (%refuse-part "a row" other (if (= kind map?) "a map like the first" "a map or a vector"))
       (empty? rows) ""
       :else (str (join "\n" (if (= kind map?)
                               (lines-of-maps rows options separator)
                               (mapv (fn [row] (line row separator)) rows)))
                  "\n")))))
