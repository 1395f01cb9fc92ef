;; SPDX-License-Identifier: MIT
;; clojure.pprint/cl-format: the templates of Common Lisp, as far as programs use them.  A template is taken apart into
;; texts and directives; what stands between ~{ and ~}, ~[ and ~], ~( and ~) is written by the same function.
;;
;; w is what is being written: :tokens of the template, :out texts, the :column, :args and the :pos of the next one;
;; :next token; :left when ~^ ended a part.  d is a directive, its :values those of its parameters, nil where none is.

;; ------------------------------------------------------------------ templates

(defn token-of [[text params flags letter] index]
  (if (starts-with? text "~")
    {:index index :text text :params (lower-case params) :letter (lower-case letter)
     :colon (includes? flags ":") :at (includes? flags "@")}
    text))

;; The parameters of ~10,'0:d are 10 and '0; a line feed takes the blanks behind it along.
(defn tokens-of [template]
  (let [tokens (re-seq #"(?s)[^~]+|~((?:(?:[+-]\d*|\d+|'.|[vV#])?,?)*)([:@]*)(\n[ \t\n\r]*|.?)" template)]
    (mapv token-of tokens (range))))

(defn refuse-at [w d why]
  (let [before (map (fn [t] (if (map? t) (:text t) t)) (take (:index d) (:tokens w)))]
    (%refuse :value (str why ", at byte " (inc (count (.getBytes (join before)))) " of the template"))))

(defn next-arg [w d]
  (if (< (:pos w) (count (:args w)))
    (assoc w :pos (inc (:pos w)) :arg (nth (:args w) (:pos w)))
    (refuse-at w d "there is no argument left for this directive")))

(defn args-of [coll]
  (cond
    (nil? coll) []
    (or (sequential? coll) (map? coll) (set? coll)) (vec (%finite 0 coll))
    :else (%refuse-part "an argument of cl-format" coll "a collection")))

(defn number-of [x]
  (cond
    (or (nil? x) (integer? x)) x
    (and (string? x) (= 1 (count x))) (int x)
    :else (%refuse-argument 0 x "an integer")))

;; w with the values of the directive's parameters, which may be arguments (v), or how many of these are left (#).
(defn with-values [w d]
  (reduce (fn [w [_ text]]
            (let [w (if (= text "v") (next-arg w d) w)
                  n (cond
                      (= text "") nil
                      (= text "v") (number-of (:arg w))
                      (= text "#") (- (count (:args w)) (:pos w))
                      (starts-with? text "'") (int (subs text 1))
                      :else (or (parse-long text) 0))]
              (if (and n (> (abs n) 100000))
                (refuse-at w d "a parameter is too large")
                (assoc w :values (conj (:values w) n)))))
          (assoc w :values [])
          (if (= (:params d) "") [] (re-seq #"(?s),('.|[^',]*)" (str "," (:params d))))))

(defn value [w i otherwise]
  (let [x (get (:values w) i)]
    (if (nil? x) otherwise x)))

(defn emit [w text]
  (let [column (if (includes? text "\n")
                 (%code-points (last (split text #"\n" -1)))
                 (+ (:column w) (%code-points text)))]
    (assoc w :out (conj (:out w) text) :column column)))

(defn padding [code n] (if (and (pos? n) (not (neg? code))) (.repeat (char code) n) ""))

(defn padded-left [text width code] (str (padding code (- width (%code-points text))) text))

;; --------------------------------------------------------------------- numbers

(defn grouped [digits comma interval]
  (let [n (count digits)
        head (rem n interval)
        groups (map (fn [i] (subs digits i (+ i interval))) (range head n interval))]
    (join (char comma) (if (pos? head) (cons (subs digits 0 head) groups) groups))))

(defn radix-digits [n radix]
  (cond
    (= radix 10) (str n)
    (<= Long/MIN_VALUE n Long/MAX_VALUE) (Long/toString n radix)
    :else (%refuse :value "only integers of 64 bits have a radix other than 10")))

;; ~d ~b ~o ~x and ~radixr: the parameters from `from` on are width, padding, comma and interval.
(defn integer-text [w d x radix from]
  (let [whole (if (and (float? x) (< -9007199254740992 x 9007199254740992) (== x (Math/floor x))) (long x) x)
        interval (if (:colon d) (value w (+ from 3) 3) 0)
        text (if (integer? whole)
               (let [digits (replace-first (radix-digits whole radix) "-" "")
                     sign (cond (neg? whole) "-" (:at d) "+" :else "")]
                 (str sign (if (pos? interval) (grouped digits (value w (+ from 2) 44) interval) digits)))
               (print-str x))]
    (padded-left text (value w from 0) (value w (inc from) 32))))

(defn hundreds-words [n]
  (let [ones ["" "one" "two" "three" "four" "five" "six" "seven" "eight" "nine" "ten" "eleven" "twelve" "thirteen"
              "fourteen" "fifteen" "sixteen" "seventeen" "eighteen" "nineteen"]
        tens ["" "" "twenty" "thirty" "forty" "fifty" "sixty" "seventy" "eighty" "ninety"]
        left (rem n 100)
        hundreds (when (> n 99) (str (nth ones (quot n 100)) " hundred"))
        small (if (< left 20)
                (nth ones left)
                (join "-" (remove empty? [(nth tens (quot left 10)) (nth ones (rem left 10))])))]
    (join " " (remove empty? [hundreds small]))))

(defn cardinal-words [n]
  (let [scales ["" "thousand" "million" "billion" "trillion" "quadrillion" "quintillion" "sextillion" "septillion"
                "octillion" "nonillion" "decillion" "undecillion" "duodecillion" "tredecillion" "quattuordecillion"
                "quindecillion" "sexdecillion" "septendecillion" "octodecillion" "novemdecillion" "vigintillion"]]
    (loop [n n i 0 groups nil]
      (let [words (hundreds-words (rem n 1000))]
        (cond
          (pos? n) (recur (quot n 1000) (inc i)
                          (if (= words "") groups (cons (if (zero? i) words (str words " " (nth scales i))) groups)))
          (nil? groups) "zero"
          :else (join ", " groups))))))

(defn ordinal-words [words]
  (let [odd {"one" "first", "two" "second", "three" "third", "five" "fifth", "eight" "eighth", "nine" "ninth",
             "twelve" "twelfth"}
        [_ before word] (re-matches #"(.*[ -])?([a-z]+)" words)]
    (str before (or (get odd word)
                    (if (ends-with? word "y") (replace-first word #"y$" "ieth") (str word "th"))))))

(defn roman [n old]
  (first (reduce (fn [[text n] [size sign]] [(str text (.repeat sign (quot n size))) (rem n size)])
                 ["" n]
                 (remove (fn [[_ sign]] (and old (= 2 (count sign))))
                         [[1000 "M"] [900 "CM"] [500 "D"] [400 "CD"] [100 "C"] [90 "XC"] [50 "L"] [40 "XL"] [10 "X"]
                          [9 "IX"] [5 "V"] [4 "IV"] [1 "I"]]))))

(defn number-words [d x]
  (let [plain (if (integer? x) (abs x) (%refuse-part "an argument of ~r" x "an integer"))
        sign (if (neg? x) "-" "")]
    (cond
      (and (:at d) (< 0 x 4000)) (roman x (:colon d))
      (or (:at d) (> (count (str plain)) 66)) (str sign (grouped (str plain) 44 3))
      :else (str (if (neg? x) "minus " "")
                 (if (:colon d) (ordinal-words (cardinal-words plain)) (cardinal-words plain))))))

;; The number as a decimal, nil when it is not finite.
(defn decimal-of [x role]
  (cond
    (not (or (number? x) (decimal? x))) (%refuse-part role x "a number")
    (or (NaN? x) (infinite? x)) nil
    :else (let [n (bigdec x)
                digits (.precision n)]
            (if (> (max digits (abs (- digits (.scale n)))) 5000)
              (%refuse :value "the number has more than 5000 digits")
              n))))

(defn fixed-digits [n places]
  (let [text (.toPlainString (.setScale (abs n) places RoundingMode/HALF_UP))]
    (if (pos? places) text (str text "."))))

(defn fixed-text [w d x]
  (let [n (decimal-of x "an argument of ~f")]
    (if (nil? n)
      (print-str x)
      (let [width (value w 0 0)
            n (* n (bigdec (str "1E" (value w 2 0))))
            places (value w 1 (max 1 (.scale n)))
            sign (cond (neg? n) "-" (:at d) "+" :else "")
            text (str sign (fixed-digits n places))
            tight (and (< 0 width (count text)) (pos? places) (starts-with? (fixed-digits n places) "0"))
            text (if tight (replace-first text "0" "") text)]
        (if (and (< 0 width (count text)) (get (:values w) 3))
          (padding (get (:values w) 3) width)
          (padded-left text width (value w 4 32)))))))

(defn money-text [w d x]
  (let [n (decimal-of x "an argument of ~$")]
    (if (nil? n)
      (print-str x)
      (let [places (value w 0 2)
            sign (cond (neg? n) "-" (:at d) "+" :else "")
            digits (fixed-digits n places)
            text (padded-left digits (+ (value w 1 1) 1 places) 48)
            blanks (padding (value w 3 32) (- (value w 2 0) (count text) (count sign)))]
        (if (:colon d) (str sign blanks text) (str blanks sign text))))))

;; ------------------------------------------------------------------ directives

;; ~a and ~s: width, step of the padding, least padding, character.
(defn value-text [w d text]
  (let [width (value w 0 0)
        step (value w 1 1)
        least (value w 2 0)
        short (- width (%code-points text) least)
        blanks (padding (value w 3 32)
                        (if (and (pos? step) (pos? short)) (+ least (* step (quot (+ short step -1) step))) least))]
    (if (:at d) (str blanks text) (str text blanks))))

(defn character-text [d c]
  (let [named (when (or (:colon d) (:at d))
                (get {" " "Space", "\n" "Newline", "\t" "Tab", "\r" "Return", "\b" "Backspace"} c))]
    (cond
      (not (and (string? c) (= 1 (count c)))) (%refuse-part "an argument of ~c" c "a character")
      (:at d) (str "\\" (if named (lower-case named) c))
      :else (or named c))))

;; Directives that write one argument.
(defn argument-text [w d x]
  (let [radix (value w 0 nil)]
    (case (:letter d)
      "a" (value-text w d (print-str x))
      "s" (value-text w d (pr-str x))
      "d" (integer-text w d x 10 0)
      "b" (integer-text w d x 2 0)
      "o" (integer-text w d x 8 0)
      "x" (integer-text w d x 16 0)
      "f" (fixed-text w d x)
      "$" (money-text w d x)
      "c" (character-text d x)
      (cond
        (nil? radix) (number-words d x)
        (<= 2 radix 36) (integer-text w d x radix 1)
        :else (refuse-at w d "a radix is from 2 to 36")))))

;; ~t: to a column, or (@) so many columns on.
(defn tab-size [w d]
  (let [to (value w 0 1)
        step (value w 1 1)
        at (:column w)
        past (if (pos? step) (rem (+ at to) step) 0)]
    (cond
      (:at d) (+ to (if (pos? past) (- step past) 0))
      (< at to) (- to at)
      (pos? step) (- step (rem (- at to) step))
      :else 0)))

;; ~p: a plural ending for everything but 1; ~:p looks at the argument before.
(defn plural [w d]
  (let [w (next-arg (if (and (:colon d) (pos? (:pos w))) (assoc w :pos (dec (:pos w))) w) d)
        one (and (integer? (:arg w)) (= 1 (:arg w)))]
    (emit w (if (:at d) (if one "y" "ies") (if one "" "s")))))

;; ~*: forward, back (:) or to (@) an argument.
(defn go-to [w d]
  (let [n (value w 0 (if (:at d) 0 1))
        to (cond (:at d) n (:colon d) (- (:pos w) n) :else (+ (:pos w) n))]
    (if (<= 0 to (count (:args w))) (assoc w :pos to) (refuse-at w d "there is no such argument"))))

;; The part that a directive opens: where its :clauses begin and end, the :next token, whether the last clause is for
;; all :otherwise, and the :colon of what closes it.
(defn part-of [w d i]
  (let [open (:letter d)
        close (get {"{" "}", "[" "]", "(" ")"} open)]
    (loop [k i begin i clauses [] level 0 otherwise false]
      (let [t (get (:tokens w) k)
            letter (:letter t)]
        (cond
          (nil? t) (refuse-at w d "a part of the template is not closed")
          (string? t) (recur (inc k) begin clauses level otherwise)
          (and (= letter close) (zero? level))
          {:clauses (conj clauses [begin k]) :next (inc k) :otherwise otherwise :colon (:colon t)}
          (and (= letter ";") (zero? level)) (recur (inc k) (inc k) (conj clauses [begin k]) level (:colon t))
          (= letter open) (recur (inc k) begin clauses (inc level) otherwise)
          (= letter close) (recur (inc k) begin clauses (dec level) otherwise)
          :else (recur (inc k) begin clauses level otherwise))))))

;; Parts inside parts, written by the same function.
(defn inner [write w d from to]
  (if (< (:depth w) 40)
    (let [depth (:depth w)]
      (assoc (write write (assoc w :depth (inc depth)) from to) :depth depth))
    (refuse-at w d "its parts are nested too deep")))

;; The same with other arguments, from their beginning.
(defn inner-with [write w d from to args]
  (let [done (inner write (assoc w :args args :pos 0) d from to)]
    (assoc done :args (:args w) :pos (:pos w))))

;; ~{ ~}: the part for each of the arguments in a list, or (@) of those that are left; (:) each is a list of its own.
(defn repeated [write w d]
  (let [most (value w 0 nil)
        part (part-of w d (:next w))
        from (:next w)
        to (second (peek (:clauses part)))
        outer (if (:at d) w (next-arg w d))
        start (if (:at d) w (assoc outer :args (args-of (:arg outer)) :pos 0))]
    (loop [w start n 0]
      (if (or (and most (>= n most)) (:left w) (not (or (< (:pos w) (count (:args w))) (and (zero? n) (:colon part)))))
        (let [w (assoc w :next (:next part) :left false)]
          (if (:at d) w (assoc w :args (:args outer) :pos (:pos outer))))
        (let [one (if (:colon d) (next-arg w d) w)
              done (if (:colon d)
                     (assoc (inner-with write one d from to (args-of (:arg one))) :left false)
                     (inner write w d from to))]
          (if (and (= (:pos done) (:pos w)) (not (:left done)) (not (and (zero? n) (:colon part))))
            (refuse-at w d "the part between ~{ and ~} takes no argument")
            (recur done (inc n))))))))

;; ~[ ~]: the part with the number of the argument; (:) the first for false, (@) the only one unless it is false.
(defn chosen [write w d]
  (let [given (value w 0 nil)
        taken (if given w (next-arg w d))
        x (when-not given (:arg taken))
        part (part-of w d (:next w))
        clauses (:clauses part)
        n (cond
            (:colon d) (if x 1 0)
            (:at d) 0
            given given
            (integer? x) x
            :else (%refuse-argument 0 x "an integer"))
        [from to] (or (get clauses n) (when (:otherwise part) (peek clauses)))
        before (if (:at d) (assoc taken :pos (:pos w)) taken)]
    (cond
      (nil? from) (assoc taken :next (:next part))
      (and (:at d) (not x)) (assoc taken :next (:next part))
      :else (assoc (inner write before d from to) :next (:next part)))))

;; Letters of ASCII in another case: lower, (:) words with a capital, (@) what begins with one, (:@) upper.
(defn in-case [d text]
  (let [big (fn [s] (str/replace s #"[a-z]" upper-case))
        small (str/replace text #"[A-Z]+" lower-case)]
    (cond
      (and (:colon d) (:at d)) (big text)
      (:colon d) (str/replace small #"(?:[a-z0-9]|[^\x00-\x7f])+" (fn [s] (replace-first s #"^[a-z]" upper-case)))
      (:at d) (replace-first small #"^[\x00-\x20]*[a-z]" upper-case)
      :else small)))

(defn converted [write w d]
  (let [part (part-of w d (:next w))
        [from to] (peek (:clauses part))
        done (inner write (assoc w :out []) d (:next w) to)]
    (assoc done :out (conj (:out w) (in-case d (join (:out done)))) :next (:next part))))

;; ~?: another template, with its arguments in a list, or (@) with those that are left.
(defn indirect [write w d]
  (let [w (next-arg w d)
        template (:arg w)
        tokens (if (string? template) (tokens-of template) (%refuse-part "an argument of ~?" template "a string"))
        given (if (:at d) w (next-arg w d))
        sub (assoc given :tokens tokens)
        done (if (:at d)
               (inner write sub d 0 (count tokens))
               (inner-with write sub d 0 (count tokens) (args-of (:arg given))))]
    (assoc done :tokens (:tokens w) :next (:next w) :left false)))

(defn write-directive [write w d]
  (let [n (value w 0 1)
        letter (:letter d)]
    (case letter
      "%" (emit w (padding 10 n))
      "~" (emit w (padding 126 n))
      "|" (emit w (padding 12 n))
      "&" (emit w (padding 10 (if (zero? (:column w)) (dec n) n)))
      "t" (emit w (padding 32 (tab-size w d)))
      "p" (plural w d)
      "*" (go-to w d)
      "^" (assoc w :left (>= (:pos w) (count (:args w))))
      "?" (indirect write w d)
      "{" (repeated write w d)
      "[" (chosen write w d)
      "(" (converted write w d)
      "" (refuse-at w d "a directive has no letter")
      (cond
        (starts-with? letter "\n") (emit w (str (if (:at d) "\n" "") (if (:colon d) (subs letter 1) "")))
        (includes? "asdboxrf$c" letter) (let [w (next-arg w d)] (emit w (argument-text w d (:arg w))))
        :else (refuse-at w d (str "this directive is not one of ~a ~s ~d ~b ~o ~x ~r ~f ~$ ~c ~p ~t ~% "
                                  "~& ~~ ~* ~? ~^ ~{ ~[ ~("))))))

(defn write-part [write w from to]
  (loop [w (assoc w :next from)]
    (let [i (:next w)]
      (if (or (>= i to) (:left w))
        w
        (let [d (nth (:tokens w) i)
              w (assoc w :next (inc i))]
          (recur (if (string? d) (emit w d) (write-directive write (with-values w d) d))))))))

(defn cl-format [to template & args]
  (cond
    (not (string? template)) (%refuse-argument 1 template "a string")
    (not (or (nil? to) (boolean? to))) (%refuse-argument 0 to "nil for a string, or true to print"))
  (let [tokens (tokens-of template)
        w {:tokens tokens :out [] :column 0 :args (vec args) :pos 0 :depth 0}
        text (join (:out (write-part write-part w 0 (count tokens))))]
    (cond
      (not to) text
      (ends-with? text "\n") (println (subs text 0 (dec (count text))))
      :else (print text))))
