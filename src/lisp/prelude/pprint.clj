;; SPDX-License-Identifier: MIT
;; clojure.pprint/print-table: rows as a table of text, each column as wide as its widest cell.

(defn padded [width s] (str (apply str (repeat (- width (%code-points s)) " ")) s))

(defn table-line [widths cells] (str (when (seq cells) "| ") (join " | " (map padded widths cells)) " |"))

(defn table-rule [widths]
  (str (when (seq widths) "|") (join "+" (map (fn [w] (apply str (repeat (+ w 2) "-"))) widths)) "|"))

(defn checked-rows [i rows]
  (mapv (fn [row] (if (map? row) row (%refuse-part "a row" row "a map"))) (%finite i rows)))

(defn print-lines [columns rows]
  (let [lines (into [(mapv str columns)] (map (fn [row] (mapv (fn [k] (str (get row k))) columns))) rows)
        widths (mapv (fn [i] (reduce (fn [w line] (max w (%code-points (nth line i)))) 0 lines))
                     (range (count columns)))]
    (println (join "\n" (into ["" (table-line widths (first lines)) (table-rule widths)]
                              (map (fn [line] (table-line widths line)))
                              (rest lines))))))

(defn print-table
  ([rows]
   (let [rows (checked-rows 0 rows)]
     (when (seq rows) (print-lines (keys (first rows)) rows))))
  ([columns rows]
   (let [rows (checked-rows 1 rows)]
     (when (seq rows) (print-lines (vec (%finite 0 columns)) rows)))))
