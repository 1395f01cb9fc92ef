;; SPDX-License-Identifier: MIT
;; Relations, which are sets or sequences of maps; join is in C, since programs put large tables together with it.

(defn rows-of [rows]
  (if (or (map? rows) (string? rows))
    (%refuse-argument 0 rows "a set or sequence of maps")
    (%finite 0 rows)))

(defn row-of [row]
  (if (map? row) row (%refuse-part "a row of the relation" row "a map")))

(defn columns-of [columns]
  (if (or (nil? columns) (set? columns) (%finite? columns))
    columns
    (%refuse-argument 1 columns "a collection of keys")))

(defn project [rows columns]
  (let [rows (rows-of rows)
        columns (columns-of columns)]
    (into #{} (map (fn [row] (select-keys (row-of row) columns))) rows)))

(defn rename [rows names]
  (let [rows (rows-of rows)]
    (if (map? names)
      (into #{} (map (fn [row] (rename-keys (row-of row) names))) rows)
      (%refuse-argument 1 names "a map"))))

(defn index [rows columns]
  (let [rows (rows-of rows)
        columns (columns-of columns)]
    (reduce (fn [groups row]
              (let [part (select-keys (row-of row) columns)]
                (%put groups part (conj (%lookup groups part #{}) row))))
            {} rows)))
