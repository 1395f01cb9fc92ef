"""Expressions over the names that Clojure and ptc share, made at random from a seed; for tools/compare-clojure --random.

Every name has signatures: what it takes and what it gives.  An expression of a kind is a literal of that kind or a call that
gives one, so that most calls mean something; now and then an argument is of another kind on purpose.
"""
import random

# Kinds: i integer, n number, d float, b boolean, s string, k keyword, y symbol, v vector of integers, q sequence of integers,
# w sequence of strings, m map of keywords to integers, e set of integers, p predicate of one integer, f function of one integer,
# g function of two integers, x anything, r regex, u string of words, c a string that is a number, z vector of maps, t vector of vectors,
# h a small number, L endless sequence of integers, D java.time.LocalDate.  Names of locals have two letters.
SIGNATURES = """
+ n n > n | + i i i > i | - n n > n | - i > i | * n n > n | * i i > i | / d d > d | quot i i > i | rem i i > i | mod i i > i
inc i > i | dec n > n | max n n > n | min i i i > i | abs n > n | int d > i | long d > i | double i > d | float i > d | num i > n
bit-and i i > i | bit-or i i > i | bit-xor i i > i | bit-not i > i | bit-and-not i i > i | bit-shift-left h h > i
bit-shift-right i h > i | unsigned-bit-shift-right h h > i | bit-test i h > b | bit-set h h > i | bit-clear i h > i | bit-flip i h > i
unchecked-add i i > i | unchecked-inc i > i | unchecked-multiply i i > i | unchecked-negate i > i | +' i i > i | *' i i > i | inc' i > i
= x x > b | not= x x > b | == n n > b | < n n > b | > n n n > b | <= n n > b | >= n n > b | compare i i > i | compare s s > i
compare k k > i | identical? k k > b | zero? n > b | pos? n > b | neg? n > b | even? i > b | odd? i > b | number? x > b | integer? x > b
int? x > b | nat-int? x > b | pos-int? x > b | neg-int? x > b | float? x > b | double? d > b | rational? i > b | ratio? n > b
decimal? n > b | nil? x > b | some? x > b | true? x > b | false? x > b | boolean? x > b | string? s > b | keyword? x > b | symbol? x > b
ident? x > b | simple-keyword? k > b | qualified-keyword? k > b | vector? x > b | map? x > b | set? x > b | coll? x > b
sequential? x > b | associative? x > b | counted? v > b | fn? x > b | ifn? k > b | any? x > b | seqable? v > b | not x > b | boolean x > b
sorted? x > b | reversible? v > b | indexed? v > b | distinct? i i i > b | empty? v > b | every? p q > b | some p q > x | not-any? p q > b
not-every? p q > b | contains? m k > b | contains? e i > b | contains? v i > b | identity x > x | str x > s | str x x > s | str s i > s
name k > s | namespace k > s | keyword s > k | symbol s > y | subs s h > s | count q > i | count m > i | count u > i | count e > i
first q > x | second q > x | last q > x | rest q > q | next q > q | ffirst t > x | nfirst t > x | fnext t > x | nnext q > q | nth v h > x
nth v i i > x | get v i > x | get m k > x | get m k i > x | get e i > x | peek v > x | pop v > q | butlast q > q | reverse q > q | vec q > v
set q > e | seq q > q | seq m > x | into v q > v | into e q > e | into m m > m | conj v i > v | conj e i > e | conj m m > m | cons i q > q
concat q q > q | assoc m k i > m | assoc v 0 i > x | dissoc m k > m | disj e i > e | merge m m > m | merge-with g m m > m
select-keys m [k] > m | update m k inc > x | update m k (fnil inc 0) > m | keys m > x | vals m > x | find m k > x | zipmap [k k] q > m
get-in z [h k] > x | assoc-in m [k] i > m | update-in m [k] (fnil inc 0) > m | map f q > q | mapv f q > v | map g q q > q | filter p q > q
filterv p q > v | remove p q > q | keep f q > q | keep-indexed g q > q | map-indexed g q > q | mapcat (fn [a] [a a]) q > q | reduce g q > x
reduce g i q > i | reductions g q > q | reduce-kv (fn [a key val] (+ a val)) 0 m > i | apply g [i i] > i | apply max (cons 0 q) > i | take h q > q
drop h q > q | take-while p q > q | drop-while p q > q | take-last h q > q | drop-last h q > q | take-nth 2 q > q | partition 2 q > t
partition 2 1 q > t | partition 3 1 [9] q > t | partition-all 2 q > t | partition-by p q > t | split-at h q > t | split-with p q > t
group-by p q > x | frequencies q > x | distinct q > q | dedupe q > q | sort q > q | sort > q > q | sort-by - q > q | interleave q q > q
interpose i q > q | flatten t > q | range h > q | range h h > q | range h 9 2 > x | repeat h i > q | take h (iterate inc i) > q
take h (cycle v) > q | take h (repeat i) > q | list i i > q | vector i i > v | hash-map k i > m | hash-set i > e | sorted-set i i > e
sorted-map k i > m | array-map k i k i > m | subvec v 0 > v | rseq v > q | rand-int 1 > i | max-key - i i > i | min-key abs i i > i
some-> m k > x | -> i inc str > s | ->> q (map inc) (reduce +) > i | cond-> i b inc > i | comp f f > f | partial + i > f | complement p > p
constantly i > f | juxt f f > o | fnil f 0 > f | memoize f > f | every-pred p p > p | some-fn p p > p | apply str w > s
sequence (map inc) q > q | transduce (map inc) + q > i | transduce (filter even?) conj q > v | into [] (take 2) q > v | eduction (map inc) q > q
sequence (comp (filter odd?) (map inc)) q > q | into [] (partition-all 2) q > t | into #{} (map inc) q > e | into [] (distinct) q > v
into [] (dedupe) q > v | into [] (interpose 0) q > v | into [] (map-indexed vector) q > t | into [] cat t > v | completing + > g
clojure.string/upper-case s > s | clojure.string/lower-case s > s | clojure.string/capitalize s > s | clojure.string/trim s > s
clojure.string/triml s > s | clojure.string/trimr s > s | clojure.string/trim-newline s > s | clojure.string/blank? s > b
clojure.string/join s q > s | clojure.string/join q > s | clojure.string/split u #" " > w | clojure.string/split u #"[aeiou]" > w
clojure.string/split u #"" > w | clojure.string/split-lines u > w | clojure.string/replace u "a" s > s | clojure.string/replace u #"[a-c]" "x" > s
clojure.string/replace-first u "a" s > s | clojure.string/replace u #"(\\w)(\\w)" "$2$1" > s | clojure.string/includes? u s > b
clojure.string/starts-with? u s > b | clojure.string/ends-with? u s > b | clojure.string/index-of u s > x
clojure.string/last-index-of u s > x | clojure.string/reverse s > s | clojure.string/escape u {\\a "A"} > s | re-find r u > x | re-seq r u > x
re-matches r u > x | re-pattern s > r | parse-long c > x | parse-double c > x | parse-boolean c > x | format "%d-%s" i s > s
format "%5.2f|%-5s|%05d" d s h > s | format "%x %o %c" h h \\a > s | pr-str x > s | prn-str i s > s | print-str x > s | println-str s > s
clojure.set/union e e > e | clojure.set/intersection e e > e | clojure.set/difference e e > e | clojure.set/subset? e e > b
clojure.set/superset? e e > b | clojure.set/select p e > e | clojure.set/map-invert m > x | clojure.set/rename-keys m {:a :b} > m
clojure.set/index z [:a] > x | clojure.set/project z [:a] > x | clojure.set/join z z > x | clojure.walk/postwalk identity x > x
clojure.walk/keywordize-keys {s i} > m | clojure.walk/stringify-keys m > x | clojure.walk/prewalk identity x > x
clojure.data/diff m m > x | clojure.data/diff v v > x | Math/abs n > n | Math/max i i > i | Math/pow h h > d | Math/sqrt d > d | Math/floor d > d
Math/ceil d > d | Math/round d > i | Math/floorMod i h > i | Math/floorDiv i h > i | Math/signum d > d | Math/hypot d d > d
Long/toString i > s | Long/toBinaryString h > s | Long/parseLong c > x | Integer/toHexString h > s | Long/bitCount i > i
Double/parseDouble c > x | Character/isDigit \\a > b | Character/toUpperCase \\a > x | String/valueOf i > s | .toUpperCase s > s
.length s > i | .contains u s > b | .indexOf u s > i | .substring u 0 > s | .startsWith u s > b | boolean-array [true] > x
vec (map-indexed vector v) > t | mapv vector v v > t | map vector q w > t | apply map vector [v v] > t | run! identity q > x | doall q > q
dorun q > x | list* i q > q | nthrest q h > q | nthnext q h > q | replace {1 2} v > v | rand-nth [i] > i | shuffle [i] > v | empty v > v
empty m > m | not-empty v > x | bounded-count h q > i | update-keys m name > x | update-vals m inc > m | key (first {k i}) > x | val (first {k i}) > x
reduced? x > b | unreduced x > x | ensure-reduced i > o | transduce (halt-when neg?) + q > x | transduce (take-while even?) + 0 q > i
partition-all 2 1 q > t | split-at 1 v > t | clojure.math/floor-mod i h > i | clojure.math/cbrt d > d | trampoline f i > i | while false > x
if b i i > i | when b i > x | cond b i :else i > i | case i 0 :zero 1 :one :many > k | condp = i 1 :a 2 :b :c > k | let [a i] (* a a) > i
loop [a 0] (if (< a h) (recur (inc a)) a) > i | for [a q] (* 2 a) > q | for [a q :when (odd? a)] a > q | for [a v b v] (+ a b) > q
let [[a & b] q] [a b] > x | let [{:keys [a b] :or {b 0}} m] [a b] > x | and b x > x | or b x > x | if-let [a x] 1 2 > i | when-let [a x] a > x
if-not b 1 2 > i | doto v count > v | as-> i a (inc a) > i | some->> q (map inc) > q | cond->> q b (map inc) > q | ((juxt f f) i) > v
((comp f f) i) > i | ((partial + i) i) > i | (m k) > x | (k m) > x | (e i) > x | (v 0) > x | ((fnil f 0) nil) > i | ((complement p) i) > b
((every-pred p p) i) > b | ((some-fn p p) i) > x | ((comparator >) i i) > i | read-string "[1 :a \\"b\\"]" > x | str :a/b > s | name :a/b > s
namespace :a/b > s | clojure.pprint/cl-format nil "~d ~a ~s ~:d" i s k i > s | clojure.pprint/cl-format nil "~r|~:r|~@d|~x|~b|~o" i i i h h h > s
clojure.pprint/cl-format nil "~{~a~^, ~}" q > s | clojure.pprint/cl-format nil "~8,2f|~$|~6d|~6,'0d" d d i i > s
clojure.pprint/cl-format nil "~a ~:*~a ~[x~;y~:;z~] item~:p" i h > s | clojure.pprint/cl-format nil "~10a|~10@a|~(~a~)|~:(~a~)" s s u u > s
take h L > q | first L > i | second L > i | nth L h > i | first (drop h L) > i | some number? L > b | empty? L > b | zipmap [k k] L > m
let [[aa & bb] L] [aa (take 2 bb)] > x | reduce (fn [aa xx] (if (> aa 50) (reduced aa) (inc aa))) 0 L > i | transduce (take h) + L > i
into [] (take h) L > v | map vector L q > t | apply map vector [q L] > t | take h (partition 2 1 L) > t | take h (partition-all 3 L) > t
take h (for [aa q bb L] (+ aa bb)) > q | take h (for [aa L :when (odd? (inc (* 2 aa)))] aa) > q | first (for [aa L bb L] [aa bb]) > x
for [aa L :while (< aa -999999)] aa > q | for [aa [i i] bb L :while (< bb -999999)] bb > q | take h (mapcat (fn [aa] (take 2 L)) L) > q
map f L > L | map g L L > L | map-indexed g L > L | mapcat (fn [aa] [aa aa]) L > L | interleave L L > L | interpose i L > L | cons i L > L
take-nth 2 L > L | concat q L > L | rest L > L | drop h L > L | for [aa L] (inc aa) > L | for [aa L bb [1 2]] (- aa bb) > L | lazy-seq L > L
for [aa L :let [bb (* 2 aa)]] (- bb) > L | keep identity L > L | replace {1 2} L > L | map first (partition 2 L) > L | sequence (map inc) L > L
map (fn [aa] (apply + aa)) (partition-all 3 L) > L | tree-seq number? (fn [nn] [(inc nn)]) i > L | remove nil? L > L | lazy-cat q L > L
flatten (map vector L) > L | nthrest L h > L | iterate (fn [aa] (mod (inc aa) 7)) i > L | reductions max L > L | keep-indexed g L > L
str D > s | .getYear D > i | .getDayOfYear D > i | .lengthOfMonth D > i | .toEpochDay D > i | .getMonthValue D > i | .isLeapYear D > b
.isBefore D D > b | .isAfter D D > b | .between ChronoUnit/DAYS D D > i | .between ChronoUnit/MONTHS D D > i | str (.getDayOfWeek D) > s
str (.getMonth D) > s | str (Period/between D D) > s | .format D (DateTimeFormatter/ofPattern "dd.MM.yyyy") > s | str (.atTime D 10 30) > s
.plusDays D i > D | .minusDays D h > D | .plusMonths D h > D | .minusMonths D h > D | .plusWeeks D h > D | .plusYears D h > D | compare D D > i
.withDayOfMonth D 1 > D | .with D (TemporalAdjusters/lastDayOfMonth) > D | .with D (TemporalAdjusters/next DayOfWeek/MONDAY) > D | = D D > b
str (Duration/ofMinutes i) > s | .toHours (Duration/ofMinutes i) > i | str (.plusSeconds (Duration/ofHours h) i) > s | str (Instant/ofEpochSecond h) > s
str (.plusMinutes (LocalDateTime/of 2024 2 28 23 30) i) > s | str (LocalTime/ofSecondOfDay h) > s | str (YearMonth/of 2024 2) > s
clojure.math/sin d > d | clojure.math/cos d > d | clojure.math/atan d > d | clojure.math/exp h > d | clojure.math/log d > d | clojure.math/log10 d > d
clojure.math/log1p d > d | clojure.math/expm1 h > d | clojure.math/sinh h > d | clojure.math/tanh d > d | clojure.math/rint d > d | clojure.math/ulp d > d
clojure.math/signum d > d | clojure.math/to-degrees d > d | clojure.math/pow d h > d | clojure.math/hypot d d > d | clojure.math/atan2 d d > d
clojure.math/copy-sign d d > d | clojure.math/next-up d > d | clojure.math/scalb d h > d | clojure.math/get-exponent d > i | clojure.math/round d > i
clojure.math/floor-div i i > i | clojure.math/add-exact i i > i | clojure.math/ceil d > d | clojure.math/floor d > d | Math/cbrt d > d | Math/log10 d > d
Math/toRadians d > d | Math/rint d > d | Math/atan2 d d > d | Math/floorMod i i > i | Math/min d d > d | Integer/bitCount h > i | Integer/compare h h > i
Integer/toOctalString h > s | Integer/toString h 2 > s | Integer/signum h > i | Integer/parseInt c > x | Integer/parseInt c 16 > x | Long/compare i i > i
Long/highestOneBit i > i | Long/numberOfTrailingZeros i > i | Long/signum i > i | Long/toHexString i > s | Long/toOctalString i > s | Long/toString i 36 > s
Long/rotateLeft i h > i | Long/reverse i > i | Long/max i i > i | Double/isNaN d > b | Double/compare d d > i | Double/toString d > s | Double/isInfinite d > b
Boolean/parseBoolean s > b | Character/isLetter \\a > b | Character/digit \\7 10 > i | Character/getNumericValue \\7 > i | Character/isWhitespace \\space > b
.concat s s > s | .lastIndexOf u s > i | .replace u "a" "b" > s | vec (.split u " ") > w | .trim s > s | .isEmpty s > b | .equalsIgnoreCase s s > b
.endsWith u s > b | .toLowerCase u > s | .matches u "[a-z ]+" > b | String/join "," w > s | .compareTo i i > i | .equals s s > b
let [aa (atom i)] (swap! aa + i) (deref aa) > i | let [aa (volatile! i)] (vswap! aa inc) > i | deref (delay i) > i | swap-vals! (atom i) inc > v
compare-and-set! (atom 1) 1 i > b | reset-vals! (atom i) i > v | reset! (atom i) x > x | force (delay i) > i | realized? (delay 1) > b | force x > x
persistent! (conj! (transient v) i) > v | persistent! (assoc! (transient m) k i) > m | persistent! (dissoc! (transient m) k) > m
persistent! (disj! (transient e) i) > e | persistent! (pop! (transient [1 i])) > v | count (transient v) > i | subseq (sorted-set i i i) >= i > q
rsubseq (sorted-set i i i) <= i > q | subseq (sorted-map 1 i 2 i 3 i) > h > x | sorted-set-by > i i i > x | sorted-map-by > 1 i 2 i > x | into (sorted-map) m > x
into (sorted-set) q > x | first (sorted-set i i i) > i | rseq (sorted-map 1 i 2 i) > x | unchecked-dec i > i | unchecked-subtract i i > i | unchecked-int i > i
unchecked-byte i > i | unchecked-short i > i | unchecked-add-int h h > i | unchecked-long d > i | -' i i > i | dec' i > i | bigint i > i | biginteger i > i
try (quot i 0) (catch ArithmeticException ee :div) > x | try (throw (ex-info s {:a i})) (catch Exception ee [(ex-message ee) (ex-data ee)]) > x
try (Long/parseLong c) (catch NumberFormatException ee -1) > i | try i (finally 5) > i | try (assert b) i (catch AssertionError ee :no) > x
try x (catch NumberFormatException ee :nf) (catch ArithmeticException ee :ar) (catch NullPointerException ee :np) (catch ClassCastException ee :cc) (catch IllegalArgumentException ee :ia) (catch RuntimeException ee :rt) > x
try (throw (IllegalStateException. s)) (catch IllegalArgumentException ee :ia) (catch IllegalStateException ee (.getMessage ee)) > x | try (assert b s) (catch Exception ee :ex) (catch Error ee :er) > x
when-not b i > x | if-some [aa x] 1 2 > i | when-some [aa x] [aa] > x | when-first [aa q] aa > x | letfn [(ff [nn] (if (pos? nn) (ff (dec nn)) nn))] (ff h) > i
doseq [aa q] aa > x | dotimes [aa h] aa > x | with-out-str (print i s k) > s | with-out-str (println s i) > s | with-out-str (pr s) > s | lazy-cat q q > q
do i i > i | let [aa i bb (+ aa i)] (- aa bb) > i | let [{:strs [aa]} {"aa" i}] aa > i | let [[aa [bb]] [i v]] [aa bb] > x | let [[aa bb :as all] q] [aa all] > x
do (defmulti area :kk) (defmethod area :a [_] 1) (defmethod area :default [_] 0) (area {:kk k}) > i | do (defrecord Pt [px py]) (:px (->Pt i i)) > i
do (defrecord Pt [px py]) (into {} (assoc (->Pt i i) :pz i)) > x | do (defrecord Pt [px py]) (= (->Pt 1 h) (->Pt 1 h)) > b
do (defprotocol Sh (ar [_])) (extend-protocol Sh Long (ar [nn] (inc nn)) String (ar [ss] (count ss)) nil (ar [_] 0)) (ar x) > x
clojure.edn/read-string (pr-str m) > m | clojure.edn/read-string "{:a [1 2.5 \\"x\\"] :b #{1}}" > x | read-string (pr-str t) > t | read-string (pr-str s) > s
-> (zip/vector-zip t) zip/down zip/node > x | -> (zip/vector-zip [1 [2 i] 3]) zip/down zip/right zip/down (zip/edit inc) zip/root > x
-> (zip/vector-zip [i [2 3]]) zip/down (zip/insert-right i) zip/root > x | -> (zip/vector-zip [i [2 3]]) zip/next zip/next zip/next zip/remove zip/root > x
clojure.walk/postwalk-replace {1 2} x > x | clojure.walk/prewalk-replace {:a :z} m > x | clojure.walk/walk inc vec v > v | clojure.set/rename z {:a :b} > x
clojure.walk/postwalk (fn [xx] (if (number? xx) (inc xx) xx)) x > x | + 1.10M 2.205M > x | * 1.5M i > x | with-precision 3 (/ 10M 3M) > x | bigdec i > x
.setScale 2.345M 2 java.math.RoundingMode/HALF_UP > x | compare 1.0M 1.00M > i | str (- 1.5M 0.25M) > s | instance? String x > b | instance? Number x > b
map-entry? (first {k i}) > b | seq? x > b | list? '(1) > b | char? \\a > b | uuid? s > b | inst? x > b | special-symbol? 'if > b | qualified-symbol? y > b
simple-symbol? y > b | qualified-ident? k > b | let [mm (re-matcher r u)] (when (re-find mm) (re-groups mm)) > x | reduce-kv (fn [aa kk vv] (conj aa kk)) [] v > x
group-by count w > x | sort-by count w > w | sort w > w | frequencies w > x | sort-by :a z > z | map :a z > x | map (juxt :a :b) z > t | group-by :a z > x
apply merge-with + z > m | reduce merge z > x | apply merge z > x | clojure.string/split u r > w | clojure.string/split u #" " h > w | re-seq #"(.)(.)" u > x
clojure.string/replace u #"[a-z]+" clojure.string/upper-case > s | clojure.string/replace u #"(.)(.)" (fn [[_ aa bb]] (str bb aa)) > s
clojure.string/replace-first u #"[aeiou]" "*" > s | clojure.string/index-of u s h > x | clojure.string/last-index-of u s h > x | subs u 0 h > s
clojure.string/join ", " w > s | clojure.string/re-quote-replacement "$1" > s | format "%.3f" d > s | format "%,d" i > s | format "%+d" i > s | format "%8.2f|" d > s
format "%b %s" x s > s | format "%5d|%-5d|" i i > s | format "%s" k > s | format "%e" d > s | format "%10s|%-10s|" s s > s | format "%%%d" i > s | format "%X" h > s
Integer/parseInt "ff" 16 > i | char 97 > x | int \\a > i | map int u > q | compare v v > i | compare nil i > i | sort-by first t > t | sort t > t | sort-by second > t > t
conj q i > q | nth q h :none > x | assoc-in {} [k k] i > x | dissoc m k k > m | select-keys m [k k] > m | merge m nil > m | into {} (map (juxt identity inc)) q > x
into {} (map vector [k k] q) > m | mapv + v v > v | map + q q q > q | every? some? q > b | partition 2 2 nil q > t
max-key count s u > s | min-key count s u > s | apply max-key count (cons s w) > s | reduce conj () q > q | reduce str w > s | filter string? [i s k] > x | keep :a z > q
some #{i} q > x | some :a z > x | (:a m i) > i | (:a nil) > x | ('a {'a i}) > x | ((fn [& rr] (count rr)) i i) > i | ((fn ([] 0) ([xx] xx) ([xx & yy] yy)) i i) > x
map-indexed vector w > t | update {} :a (fnil conj []) i > x | update m :zz (fnil inc 0) > m | get-in {:a {:b i}} [:a :b] > i | get-in m [k :none] 5 > x | contains? (set w) s > b
distinct? q > b | apply distinct? (cons 1 v) > b | not-empty s > x | seq s > x | empty? s > b | boolean nil > b | identical? nil nil > b | name 'ab/cd > s | keyword "ab" "cd" > k
find v h > x | key (find {k i} k) > x | keys (sorted-map k i) > x | reverse s > x | reverse m > x | peek q > x | vec s > x | set s > x | last s > x | rest s > x | nth u h > x
run! identity [i] > x | doall (map inc q) > q | mapcat reverse t > q | apply concat t > q | apply mapv vector t > t | concat q s > x | iterate inc i > L | range > L | repeat i > L
take-while pos? (iterate dec h) > q | drop-while neg? q > q | take 3 (repeatedly (constantly i)) > q | repeatedly h (constantly i) > q | random-sample 1.0 q > q | rand-int 1 > i
eduction (filter odd?) (map inc) q > q | sequence (partition-by odd?) q > t | sequence (take-nth 2) q > q | sequence (keep-indexed g) q > q | sequence (drop-while odd?) q > q
sequence (interpose 0) q > q | sequence cat t > q | sequence (mapcat reverse) t > q | sequence (replace {1 2}) q > q | transduce (comp (map inc) (filter even?)) max 0 q > i
reduce (completing +) q > i | cat > o | range 0 1 0.25 > x | range 5 0 -2 > q | range h -3 -1 > q | vec (range i) > x | quot d d > d | rem d d > d | mod d h > d | rem i h > i
int (Math/floor d) > i | Math/round d > i | long d > i | double i > d | == 1 d > b | max d i > n | min-key identity i i > i | abs d > d
nat-int? i > b | parse-uuid s > x | update-vals m str > x | update-keys m str > x | mapv (fn [[kk vv]] [vv kk]) m > x | into [] m > x | reduce (fn [aa [kk vv]] (+ aa vv)) 0 m > i
"""


def signatures():
    for part in SIGNATURES.replace("\n", " | ").split(" | "):
        if ">" in part:
            call, _, kind = part.strip().rpartition(" > ")
            yield kind.strip(), call.strip()


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.by_kind = {}
        for kind, call in signatures():
            self.by_kind.setdefault(kind, []).append(call)
        self.all = [(kind, call) for kind, calls in self.by_kind.items() for call in calls]

    def pick(self, *items):
        return self.random.choice(items)

    def integer(self):
        return str(self.random.choice([0, 1, 2, 3, 5, 7, 10, -1, -2, -7, 12, 100, 255, 1000, -1000, 123456789,
                                       self.random.randrange(-50, 50)]))

    def literal(self, kind):
        many = lambda kind, most=5: " ".join(self.literal(kind) for _ in range(self.random.randrange(most)))
        if kind == "i":
            return self.integer()
        if kind == "h":
            return str(self.random.randrange(0, 8))
        if kind == "n":
            return self.pick(self.integer(), self.literal("d"))
        if kind == "d":
            return self.pick("0.0", "1.5", "-2.5", "3.14159", "100.0", "0.1", "1e10", "-0.75", "2.5", "1234.5678")
        if kind == "b":
            return self.pick("true", "false")
        if kind == "s":
            return self.pick('""', '"a"', '"abc"', '"Hello World"', '" x "', '"é"', '"a,b"', '"b"', '"12"')
        if kind == "u":
            return self.pick('"the quick brown fox"', '"a b  c"', '"banana"', '"line one\\nline two\\n"', '"x1y22z333"', '""', '"abc def"')
        if kind == "c":
            return self.pick('"12"', '"-7"', '"1.5"', '"abc"', '""', '"true"', '"1e3"', '" 5"', '"+4"')
        if kind == "k":
            return self.pick(":a", ":b", ":c", ":x/y", ":d")
        if kind == "y":
            return self.pick("'a", "'b/c")
        if kind == "r":
            return self.pick('#"\\d+"', '#"[a-z]+"', '#"(\\w)(\\w*)"', '#"a"', '#"x"')
        if kind == "v":
            return "[%s]" % many("i")
        if kind == "q":
            return self.pick("[%s]", "'(%s)", "(list %s)", "(seq [1 %s])") % many("i")
        if kind == "w":
            return "[%s]" % many("s")
        if kind == "m":
            keys = self.random.sample([":a", ":b", ":c", ":d"], self.random.randrange(4))
            return "{%s}" % " ".join("%s %s" % (k, self.integer()) for k in keys)
        if kind == "e":
            return "#{%s}" % " ".join(map(str, self.random.sample(range(-5, 10), self.random.randrange(5))))
        if kind == "z":
            return "[%s]" % many("m", 4)
        if kind == "t":
            return "[%s]" % many("v", 4)
        if kind == "p":
            return self.pick("even?", "odd?", "pos?", "neg?", "zero?", "#(> % 2)", "#{1 2 3}", "(fn [x] (< x 5))")
        if kind == "f":
            return self.pick("inc", "dec", "-", "#(* % %)", "(fn [x] (- 10 x))", "identity", "abs")
        if kind == "g":
            return self.pick("+", "-", "*", "max", "min", "(fn [a b] (- a b))", "#(+ %1 (* 2 %2))")
        if kind == "L":
            return self.pick("(range)", "(iterate inc 3)", "(cycle [1 2 3])", "(repeat 7)", "(map inc (range))",
                             "((fn nat [nn] (lazy-seq (cons nn (nat (inc nn))))) 0)")
        if kind == "D":
            return self.pick('(LocalDate/of 2024 2 29)', '(LocalDate/parse "2023-12-31")', "(LocalDate/of 2026 11 16)",
                             "(LocalDate/ofEpochDay 0)", '(LocalDate/parse "1999-01-01")', "(LocalDate/of 2000 1 31)")
        if kind == "x":
            return self.pick("nil", self.literal("i"), self.literal("s"), self.literal("k"), self.literal("v"), self.literal("m"),
                             self.literal("e"), self.literal("d"), self.literal("b"), self.literal("t"))
        return kind

    def of_kind(self, kind, depth):
        if depth <= 0 or self.random.random() < 0.45 or kind not in self.by_kind:
            return self.literal(kind)
        return self.call(self.random.choice(self.by_kind[kind]), depth)

    def call(self, template, depth):
        """Fills the letters of a signature that stand alone."""
        words, out = template.split(" "), []
        for place, word in enumerate(words):
            core = word.strip("()[]{}")
            if len(core) == 1 and core in "indbskyvqwmepfgxruczthLD" and not (place and words[place - 1].strip("([") in ("let", "loop")):
                kind = core
                if self.random.random() < 0.01:
                    kind = self.random.choice("insvmx")
                made = self.of_kind(kind, depth - 1)
                word = word.replace(core, made, 1) if len(word) > 1 else made
            out.append(word)
        text = " ".join(out)
        return text if text.startswith("((") or (text.startswith("(") and template[0] == "(") else "(%s)" % text

    def expression(self):
        kind, call = self.random.choice(self.all)
        while kind in ("f", "g", "p", "o", "r", "L", "D"):
            kind, call = self.random.choice(self.all)
        return self.call(call, 3)


def expressions(count, seed):
    maker, seen = Maker(seed), set()
    for _ in range(20 * count):
        if len(seen) >= count:
            break
        text = maker.expression()
        if text not in seen and len(text) < 300:
            seen.add(text)
            yield text
