"""Expressions over the names that Clojure and ptc share, made at random from a seed; for script/compare-clojure --random.

Every name has signatures: what it takes and what it gives.  An expression of a kind is a literal of that kind or a call that
gives one, so that most calls mean something; now and then an argument is of another kind on purpose.
"""
import random

# Kinds: i integer, n number, d float, b boolean, s string, k keyword, y symbol, v vector of integers, q sequence of integers,
# w sequence of strings, m map of keywords to integers, e set of integers, p predicate of one integer, f function of one integer,
# g function of two integers, x anything, r regex, u string of words, c a string that is a number, z vector of maps, t vector of vectors.
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
            if len(core) == 1 and core in "indbskyvqwmepfgxruczth" and not (place and words[place - 1].strip("([") in ("let", "loop")):
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
        while kind in ("f", "g", "p", "o", "r"):
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
