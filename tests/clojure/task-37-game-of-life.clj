;; A glider on an endless board moves by one in four generations.
(defn neighbours [[x y]]
  (for [dx [-1 0 1] dy [-1 0 1]
        :when (not (and (zero? dx) (zero? dy)))]
    [(+ x dx) (+ y dy)]))

(defn step [alive]
  (set (for [[cell n] (frequencies (mapcat neighbours alive))
             :when (or (= n 3) (and (= n 2) (contains? alive cell)))]
         cell)))

(defn render [alive size]
  (mapv (fn [y]
          (apply str (map (fn [x] (if (alive [x y]) \# \.)) (range size))))
        (range size)))

(let [glider #{[1 0] [2 1] [0 2] [1 2] [2 2]}
      generations (iterate step glider)]
  {:after-4 (nth generations 4)
   :moved? (= (nth generations 4) (set (map (fn [[x y]] [(inc x) (inc y)]) glider)))
   :pictures (map #(render % 4) (take 2 generations))
   :sizes (map count (take 5 generations))})
