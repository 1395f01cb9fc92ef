;; SPDX-License-Identifier: MIT
;; Padding of texts.  Lengths count graphemes, as those of count and format do.

(defn text-of [s]
  (cond (string? s) s
        (or (number? s) (decimal? s)) (str s)
        :else (%refuse-argument 0 s "a string or a number")))

;; The first n characters of pad, over and over.
(defn filling [pad n]
  (cond
    (not (string? pad)) (%refuse-argument 2 pad "a string")
    (= pad "") (%refuse :value "the padding is empty" "give it at least one character, such as \"0\"")
    (pos? n) (str (.repeat pad (quot n (count pad))) (subs pad 0 (rem n (count pad))))
    :else ""))

(defn missing [text width]
  (if (integer? width) (- width (count text)) (%refuse-argument 1 width "an integer")))

(defn pad-left
  ([s width] (pad-left s width " "))
  ([s width pad]
   (let [text (text-of s)]
     (str (filling pad (missing text width)) text))))

(defn pad-right
  ([s width] (pad-right s width " "))
  ([s width pad]
   (let [text (text-of s)]
     (str text (filling pad (missing text width))))))
