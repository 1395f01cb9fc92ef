;; Breadth-first search through a maze with a queue.
(def maze
  ["S.#....."
   "..#.###."
   ".##...#."
   "....#.#E"
   ".##.#..."])

(def cells
  (into {} (for [[r row] (map-indexed vector maze)
                 [c ch] (map-indexed vector row)
                 :when (not= ch \#)]
             [[r c] ch])))

(defn find-cell [ch] (some (fn [[pos c]] (when (= c ch) pos)) cells))

(defn neighbours [[r c]]
  (filter cells [[(dec r) c] [(inc r) c] [r (dec c)] [r (inc c)]]))

(defn bfs [start goal]
  (loop [queue (conj clojure.lang.PersistentQueue/EMPTY [start 0])
         seen #{start}]
    (when-let [[pos dist] (peek queue)]
      (if (= pos goal)
        {:steps dist :seen (count seen)}
        (let [nexts (remove seen (neighbours pos))]
          (recur (into (pop queue) (map #(vector % (inc dist)) nexts))
                 (into seen nexts)))))))

(bfs (find-cell \S) (find-cell \E))
