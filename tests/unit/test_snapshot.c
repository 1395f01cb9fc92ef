/* SPDX-License-Identifier: MIT
 * test_snapshot.c - sessions as bytes: every kind of value comes back and behaves as before, equal sessions give equal
 * bytes, changed bytes are refused, and memory that runs out at any allocation loses nothing. */
#include "api_help.h"

#include "base/text/hmac.h"
#include "engine/snapshot/snapshot.h"
#include "lisp/vm/record.h"
#include "value/equal.h"

static const char key[] = "a key of the host, 32 bytes long";
enum { KEY = sizeof key - 1, ERROR = 200 };

typedef struct {
    char *bytes;
    size_t len;
} Snap;

static Snap snap(PtcSession *s)
{
    char error[ERROR] = "";
    Snap out = {0};
    PtcStatus status = ptc_session_snapshot(s, key, KEY, &out.bytes, &out.len, error, sizeof error);
    CHECK(status == PTC_OK);
    CHECK_STR(error, "");
    return out;
}

static void drop(Ptc *ptc, Snap *s)
{
    ptc_text_free(ptc, s->bytes, s->len);
    *s = (Snap){0};
}

static PtcSession *restore(Ptc *ptc, Snap from)
{
    char error[ERROR] = "";
    PtcSession *s = NULL;
    PtcStatus status =
        ptc_session_restore(ptc, key, KEY, from.bytes, from.len, &s, error, sizeof error);
    CHECK(status == PTC_OK && s);
    CHECK_STR(error, "");
    return s;
}

static bool same_bytes(Snap a, Snap b)
{
    return a.len == b.len && memcmp(a.bytes, b.bytes, a.len) == 0;
}

/* --------------------------------------------------------------------- every kind of value */

/* What the session defines, and a question about it that must have the same answer afterwards. */
static const struct {
    const char *defines, *asks;
} kinds[] = {
    {"(def a nil) (def b true) (def c false)", "[a b c]"},
    {"(def a 0) (def b -1) (def c 4611686018427387903) (def d -4611686018427387904)", "[a b c d]"},
    {"(def a 4611686018427387904) (def b -4611686018427387905) (def c (reduce * (range 1 60)))",
     "[a b c (- c) (inc a)]"},
    {"(def a 0.0) (def b -0.0) (def c 1e300) (def d 5e-324) (def e 0.1) (def f -2.5)",
     "[a b c d e f (/ 1 (+ a 1))]"},
    {"(def a ##NaN) (def b ##Inf) (def c ##-Inf)", "[a b c (NaN? a)]"},
    {"(def a \"\") (def b \"h\xc3\xa9llo \\n \\\"\xf0\x9f\x98\x80\\\"\")", "[a b (count b)]"},
    {"(def a :k) (def b :a/b) (def c 'sym) (def d '(if x (y :z)))", "[a b c d (first d)]"},
    {"(def a [1 [2 [3 [4]]]]) (def b '(1 2)) (def c []) (def d ())",
     "[a b c d (vector? b) (seq? b)]"},
    {"(def a (vec (range 33))) (def b (vec (range 5000)))",
     "[a (count b) (reduce + b) (nth b 4999)]"},
    {"(def a (vec (range 1100))) (def b (conj a :x)) (def c (assoc a 500 :y)) (def d (pop a))",
     "[(peek b) (nth c 500) (nth a 500) (count d) (= (pop b) a) (peek (conj d 7))]"},
    {"(def a (reductions conj [] (range 100)))", "[(count a) (last a) (map count (take 40 a))]"},
    {"(def a (rest (vec (range 50)))) (def b (subvec (vec (range 3000)) 100 2900))",
     "[a (count b) (first b) (peek b) (conj b 1)]"},
    {"(def a (range 10)) (def b (range 5 50 7)) (def c (cons 1 (cons 2 [3])))",
     "[a b c (count c)]"},
    {"(def a {}) (def b #{}) (def c {:a 1 \"b\" 2 nil 3}) (def d #{1 2 :x})",
     "[a b c d (:a c) (get c nil) (contains? d 2)]"},
    {"(def rows (mapv (fn [i] {:id i :name (str \"n\" i)}) (range 100)))",
     "[(count rows) (:name (nth rows 77)) (apply + (map :id rows))]"},
    {"(def a (into {} (map (fn [i] [i (* i i)]) (range 500)))) (def b (set (range 300)))",
     "[(count a) (get a 321) (get a -1) (contains? b 299) (contains? b 300) (take 3 a) (= b (set "
     "(range 300)))]"},
    {"(def a (into {} (map (fn [i] [i i]) (range 100)))) (def b (assoc a :old a)) (def c (dissoc b "
     "5 6)) (def d (assoc c 5 :back))",
     "[(count a) (count b) (= (:old b) a) (count c) (get c 5) (get c 7) (get d 5) (last d) (get a "
     "99) (get (:old b) 99)]"},
    {"(def vs (vec (reductions (fn [m i] (assoc m i (str i))) {} (range 200))))",
     "[(count vs) (map (fn [m] (count m)) (take-last 3 vs)) (get (nth vs 150) 149) (get (nth vs "
     "150) 150) (get (peek vs) 199)]"},
    {"(def a (sorted-map 3 :c 1 :a 2 :b)) (def b (sorted-set-by > 1 5 3)) (def c (sorted-map-by "
     "(fn "
     "[x y] (compare (str y) (str x))) 1 2 10 3 2 4)) (def d (sorted-set))",
     "[a b c d (assoc a 0 :z) (conj b 4) (assoc c 3 9) (first c) (get c 10) (conj d 1)]"},
    {"(def q (conj clojure.lang.PersistentQueue/EMPTY 1 2 3))", "[q (peek q) (pop q) (conj q 4)]"},
    {"(def a #\"a(b+)c\") (def b (re-pattern \"[0-9]+\"))",
     "[a (re-find a \"xabbcx\") (re-seq b \"1 22\")]"},
    {"(def a 12.50M) (def b {1.5M :x}) (def c -1E+30M) (def m RoundingMode/HALF_UP) (def k Long)",
     "[a (get b 1.50M) c (.setScale 2.5M 0 m) (instance? k 1) (+ a 1)]"},
    {"(def a (LocalDate/of 2024 2 29)) (def b (LocalDateTime/parse \"2024-05-01T10:20:30.5\")) "
     "(def "
     "c (Instant/parse \"2024-05-01T10:20:30Z\")) (def d (Duration/ofMillis 1500))",
     "[a b c d (.plusDays a 1) (.toMillis d)]"},
    {"(def a (Period/of 1 -2 3)) (def b (Period/ofDays 2147483647)) (def c {a :x})",
     "[a b (get c (Period/of 1 -2 3)) (.plus (LocalDate/of 2024 2 29) a) (.getMonths a)]"},
    {"(def a DayOfWeek/FRIDAY) (def b Month/MAY) (def c ChronoUnit/DAYS) (def d ZoneOffset/UTC)",
     "[a b c d (= a DayOfWeek/FRIDAY)]"},
    {"(def a (LocalTime/of 10 20 30)) (def b (OffsetDateTime/parse "
     "\"2024-05-01T10:20:30.5+02:00\")) "
     "(def c (ZonedDateTime/parse \"2024-05-01T10:20Z[UTC]\")) (def d (ZoneOffset/ofHours 2)) (def "
     "e "
     "(YearMonth/of 2024 2)) (def y (Year/of 2024)) (def p (Period/of 1 2 -3)) (def n "
     "(TemporalAdjusters/next DayOfWeek/MONDAY))",
     "[a b c d e y p (.toInstant b) (.atEndOfMonth e) (.with (LocalDate/of 2024 5 1) n) (= b "
     "(OffsetDateTime/parse \"2024-05-01T10:20:30.5+02:00\"))]"},
    {"(def a ChronoField/DAY_OF_WEEK) (def b IsoFields/QUARTER_OF_YEAR) (def c WeekFields/ISO) "
     "(def w "
     "DateTimeFormatter/ISO_WEEK_DATE) (def r DateTimeFormatter/RFC_1123_DATE_TIME)",
     "[(.get (LocalDate/of 2024 5 1) a) (.get (LocalDate/of 2024 5 1) b) c (.format (LocalDate/of "
     "2024 5 "
     "1) w) (.format (Instant/ofEpochSecond 0) r)]"},
    {"(def c (comparator >)) (def z (clojure.zip/vector-zip [1 [2]])) (def h (halt-when neg?))",
     "[(sort c [1 3 2]) (-> z clojure.zip/down clojure.zip/node) (into [] h [1 -2])]"},
    {"(def f (DateTimeFormatter/ofPattern \"dd.MM.yyyy\")) (def g DateTimeFormatter/ISO_INSTANT) "
     "(def h DateTimeFormatter/ISO_LOCAL_DATE)",
     "[(.format (LocalDate/of 2024 2 29) f) (.format (LocalDate/of 2024 2 29) h)]"},
    {"(def e (ex-info \"late\" {:days 3})) (def c (try (/ 1 0) (catch Exception x x))) (def t (try "
     "(throw (ex-info \"b\" {} e)) (catch Exception x x)))",
     "[(ex-message e) (ex-data e) (ex-message c) (ex-message (ex-cause t)) (map class [e c t])]"},
    {"(def e (IllegalStateException. \"x\")) (def n (try (inc nil) (catch Throwable x x)))",
     "[(class e) (str n) (try (throw e) (catch IllegalArgumentException x 1) (catch "
     "IllegalStateException x 2)) (try (throw n) (catch ClassCastException x 1) (catch "
     "NullPointerException x 2))]"},
    {"(def a (reduced 5))", "[(reduced? a) (unreduced a)]"},
    {"(defn g [x] (when x 1)) (defn task [x] (* 2 x)) (defn f [x] (task x)) (defn when [x] x) "
     "(defn "
     "h [x] (when x))",
     "[(f 4) (g 5) (h 7) (when 5 6)]"},
    {"(def a 1) (def v #'a) (defn f [x] (* 2 x)) (def w #'f)", "[v (w 21) (map w [1 2])]"},
    {"(def a inc) (def b str/upper-case) (def c [+ - /]) (def d Math/abs)",
     "[(a 1) (b \"x\") (map (fn [f] (f 6 3)) c) (d -2)]"},
    /* functions */
    {"(defn f \"doc of f\" [x & more] (+ x (count more))) (defn g ([] 0) ([x] x) ([x & r] (apply + "
     "x "
     "r)))",
     "[(f 1 2 3) (g) (g 1) (g 1 2 3) (:doc (meta #'f)) (str f)]"},
    {"(defn fact [n] (if (< n 2) 1 (* n (fact (dec n))))) (declare odd) (defn even [n] (if (= n 0) "
     "true (odd (dec n)))) (defn odd [n] (if (= n 0) false (even (dec n))))",
     "[(fact 20) (even 10) (odd 7)]"},
    {"(defn adder [n] (fn [x] (+ x n))) (def add5 (adder 5)) (def add7 (adder 7)) (def both [add5 "
     "add5])",
     "[(add5 1) (add7 1) (= (first both) (second both)) (= (first both) add5)]"},
    {"(def f (let [a 1 b {:x [1 2 3]}] (fn [y] (let [k (fn [z] (+ a y z))] (map k (:x b))))))",
     "(f 10)"},
    {"(def f #(+ % 1)) (def g #(apply str %2 %1 %&)) (def h (let [k 3] #(map (fn [x] (* x k %)) [1 "
     "2])))",
     "[(f 1) (g 1 2 3 4) (h 10)]"},
    {"(def k (#(fn [x] [x % %]) 9))", "(k 1)"},
    {"(def f (fn self ([n] (self n 1)) ([n acc] (if (< n 2) acc (self (dec n) (* acc n)))))) (def "
     "g "
     "(fn me ([] me) ([x] x))) (def h (g))",
     "[(f 10) ((g) 5) (h 6) (((h)) 7)]"},
    {"(def p (letfn [(ev? [n] (if (= n 0) true (od? (dec n)))) (od? [n] (if (= n 0) false (ev? "
     "(dec "
     "n))))] [ev? od?])) (def self (letfn [(f [n] (if (> n 3) n (f (inc n))))] f))",
     "[((first p) 10) ((second p) 7) (self 0)]"},
    {"(def f (fn [{:keys [a b] :or {b 2} :as m} [x & ys]] [a b m x ys]))", "(f {:a 1} [1 2 3])"},
    {"(defn f [n] (loop [i 0 acc []] (if (< i n) (recur (inc i) (conj acc (* i i))) acc))) (defn g "
     "[xs] (for [x xs :when (odd? x) y [1 2]] [x y]))",
     "[(f 5) (g [1 2 3])]"},
    {"(defn f [x] (try (/ 10 x) (catch ArithmeticException e :zero) (finally nil))) (def g (let [d "
     "0] (fn [] (try (/ 1 d) (catch Exception e (ex-message e))))))",
     "[(f 2) (f 0) (string? (g))]"},
    {"(defn f [x] {:pre [(number? x)] :post [(> % 0)]} (* x 2))",
     "[(f 2) (try (f -1) (catch Throwable e :no))]"},
    {"(defn setter [x] (def hidden x)) (defn getter [] hidden)", "[(setter 5) (getter)]"},
    {"(require '[clojure.string :as s :refer [upper-case]]) (defn f [x] (s/join \"-\" (map "
     "upper-case x)))",
     "[(f [\"a\" \"b\"]) (s/trim \" x \")]"},
    {"(defn f [xs] (map inc xs))|(def map 5) (def inc 7) (defn g [] [map inc])", "[(f [1 2]) (g)]"},
    {"(defn f [xs] (join xs))|(require '[clojure.set :refer [join union]])", "(f [1 2])"},
    {"(declare later) (defn f [] (later 1))|(def x 1)|(defn later [y] (+ x y))", "(f)"},
    {"(declare missing) (defn f [] (missing 1))", "(fn? f)"},
    {"(def v (reduce (fn [a _] (conj a a)) [] (range 40)))",
     "[(count v) (count (peek v)) (nth v 1)]"},
    {"(def v (reduce (fn [a _] (conj a a)) [] (range 1200)))",
     "[(count v) (count (peek v)) (nth v 1) (count (nth v 1100)) (count (peek (nth v 1100)))]"},
    {"(def m (reduce (fn [a i] (assoc a i a)) {} (range 300)))",
     "[(count m) (count (get m 299)) (get-in m [299 298 297 1]) (count (get (get m 299) 200))]"},
    {"(def c (rest (cycle [1 2 3]))) (def n (cons :a (repeat [1]))) (def e (cons 1 (range)))",
     "[(take 4 c) (take 3 n) (take 3 e) (take 3 (rest e))]"},
    {"(def f (#(fn [x] [x %]) 1)) (def g (#(fn ([] %) ([y] (+ y %2))) 1 2))", "[(f 2) (g) (g 3)]"},
    {"(defn f [] (count *1)) (defn g [] *2)", "[(fn? f) (fn? g)]"},
    {"(def a (partial + 1 2)) (def b (comp str inc)) (def c (complement even?)) (def d (constantly "
     "7)) (def e (juxt inc dec)) (def f (fnil + 10)) (def g (every-pred pos? odd?)) (def h "
     "(some-fn "
     "neg? :x))",
     "[(a 3) (b 1) (c 3) (d 1 2) (e 5) (f nil 1) (g 3) (h {:x 1}) ((comp a (let [k 2] #(* k %))) "
     "5)]"},
    {"(def calls 0) (def m (memoize (fn [x] (* x x)))) (def c (completing +))",
     "[(m 5) (m 5) (c 1 2) (c 9)]"},
    {"(def x1 (comp (map inc) (filter even?) (take 3))) (def x2 (partition-all 2)) (def x3 (map "
     "(fn [x] (* x 3)))) (def x4 (comp cat (distinct) (drop 1) (take-nth 2) (interpose :sep)))",
     "[(into [] x1 (range 20)) (into [] x2 (range 5)) (into [] x3 [1 2]) (into [] x4 [[1 2 2] [3 4 "
     "5 6]])]"},
    {"(def p (iterate inc 5)) (def r (map (fn [x] (* x x)) (range))) (def c (cycle [1 2 3])) (def "
     "rp "
     "(repeat :x)) (def ry (repeatedly (fn [] 4))) (def z (map vector (iterate inc 0) (iterate dec "
     "0))) (def pt (partition 2 (iterate inc 0))) (def cc (cons :a (iterate inc 1))) (def rd "
     "(reductions + (range)))",
     "[(take 3 p) (take 4 r) (take 5 c) (take 2 rp) (take 2 ry) (take 3 z) (take 2 pt) (take 3 cc) "
     "(take 4 (filter odd? r)) (take 4 rd)]"},
    {"(def table {:add (fn [a b] (+ a b)) :sub #(- %1 %2) :nested {:f [(partial * 2)]}})",
     "[((:add table) 1 2) ((:sub table) 1 2) ((first (get-in table [:nested :f])) 4)]"},
    {"(def a [1 2 3]) (def b [a a]) (def c [b b]) (def d {:c c :b b})", "[d (= (first b) a)]"},
    {"(def big (reduce (fn [a _] [a a]) :leaf (range 60)))",
     "(first (nth (iterate first big) 59))"},
    {"(def wide (vec (repeat 1000 (vec (range 1000)))))",
     "[(count wide) (reduce + (nth wide 999))]"},
    {"(def a (atom [1])) (def b a) (def v (volatile! :v)) (def m {a 1}) | (swap! a conj 2)",
     "[@a @b (= a b) (do (swap! b conj 3) @a) v (get m a) (vreset! v 1)]"},
    {"(def a (atom nil)) (reset! a {:me a :f (fn [] a)}) (def l (atom ())) (swap! l conj l)",
     "[a (= a (:me @a)) (= a ((:f @a))) (= l (first @l)) (count @l)]"},
    {"(def d (delay (+ 1 2))) (def e (let [k 5] (delay (* k k)))) (def f (delay 1)) | @f",
     "[(realized? d) @d @e (realized? e) f]"},
    {"(def c (let [n (atom 0)] (fn [] (swap! n inc)))) | (c)", "[(c) (c)]"},
    {"(defrecord P [x y]) (def p (->P 1 [2])) (defrecord E []) (def e (->E)) (def q (assoc p :z "
     "3))",
     "[p (= p (->P 1 [2])) (= p {:x 1 :y [2]}) (map->P {:x 5}) e (->E) (instance? P q) (dissoc q "
     ":x) "
     "(get {p 1} (->P 1 [2])) (class p) (->P 7 8)]"},
    {"(defrecord W [a b c d e f g h i j k l m n o p q r]) (def w (apply ->W (range 18)))",
     "[w (= w (apply ->W (range 18))) (:r (assoc w :r 0)) (instance? W (assoc w :s 1))]"},
    {"(defprotocol S (area [s]) (grow [s k])) (defrecord Sq [side] S (area [_] (* side side)) "
     "(grow "
     "[this k] (if (> side 100) this (recur k)))) (extend-protocol S Long (area [n] n) nil (area "
     "[_] "
     "0)) | (def x (->Sq 3))",
     "[(area x) (area 4) (area nil) (satisfies? S \"\") S area Sq (do (extend-type String S (area "
     "[s] (count s))) (area \"abc\"))]"},
    {"(defprotocol B (v [b])) (deftype T [a b] B (v [_] [a b])) (def t (->T 1 2)) (def r (let [n "
     "5] "
     "(reify B (v [_] n)))) (def m {t :t})",
     "[(v t) (v r) t (.-a t) (= t t) (get m t) (v (T. 3 4))]"},
    {"(derive ::sq ::shape) (defmulti area :k) (defmethod area ::shape [_] :shape) (defmethod area "
     ":default [x] [:other (:k x)]) | (defmethod area 5 five [x] (fn [] five)) (prefer-method area "
     "1 "
     "2)",
     "[(area {:k ::sq}) (area {:k 7}) (isa? ::sq ::shape) area (count (methods area)) (prefers "
     "area) "
     "(do (remove-method area :default) (try (area {:k 7}) (catch Exception e :none)))]"},
    {"(def k {[1 2] :v {:a 1} :m #{1} :s 1.5 :f}) (def s #{[1] {:b 2}})",
     "[(get k [1 2]) (get k {:a 1}) (get k #{1}) (get k 1.5) (contains? s {:b 2})]"},
    {"(def fs (mapv (fn [i] (fn [] i)) (range 30))) (def m (zipmap fs (range 30))) (def pair "
     "(letfn "
     "[(a [n] (b n)) (b [n] (a n))] [a b])) (def small {(pair 0) :a (pair 1) :b (fs 3) :c})",
     "[(map m fs) (small (pair 0)) (small (pair 1)) (small (fs 3))]"},
    {"(def text \"x\") (defn f [n] (str text n \"a;b\" ;comment\n \"c)\"))", "(f 1)"},
    {"(def deep (reduce (fn [a i] (list i a)) nil (range 3000)))", "(count (flatten deep))"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void answer(Ptc *ptc, PtcSession *s, const char *program, char out[TEXT])
{
    PtcOutcome *o = start(ptc, program, s, 0);
    PtcError e = first_error(o);
    if (!ptc_outcome_ok(o))
        printf("%s\n  %s\n", program, e.message);
    CHECK(ptc_outcome_ok(o));
    tell(o, out);
    ptc_outcome_free(o);
}

/* Snapshot, restore in another engine, snapshot again. */
static void test_kinds(void)
{
    char want[TEXT], got[TEXT];
    for (size_t i = 0; i < KINDS; i++) {
        Ptc *here = patient_engine(), *there = patient_engine();
        PtcSession *s = ptc_session_new(here);
        for (const char *at = kinds[i].defines, *end; at; at = end ? end + 1 : NULL) {
            char program[TEXT]; /* runs are separated by | */
            end = strchr(at, '|');
            snprintf(program, sizeof program, "%.*s", (int)(end ? end - at : (long)strlen(at)), at);
            answer(here, s, program, got);
        }
        Snap one = snap(s);
        PtcSession *t = restore(there, one);
        if (t) {
            Snap two = snap(t);
            if (check_count(same_bytes(one, two)))
                printf("not the same bytes: %s\n", kinds[i].defines);
            CHECK(ptc_session_count(s) == ptc_session_count(t));
            answer(here, s, kinds[i].asks, want);
            answer(there, t, kinds[i].asks, got);
            check_str("", (int)i, kinds[i].asks, got, want);
            drop(there, &two);
        }
        drop(here, &one);
        ptc_session_free(s);
        ptc_session_free(t);
        end_engine(here);
        end_engine(there);
    }
}

/* ------------------------------------------------------------------------ a large session */

/* All kinds once more, their names with a number each, until there are 1,000 bindings. */
static void define_many(Ptc *ptc, PtcSession *s)
{
    char program[400], got[TEXT];
    for (int i = 0; ptc_session_count(s) < 1000; i++) {
        static const char *const forms[] = {
            "(def b%d [%d :k \"text %d\" 1.5 nil])",
            "(def b%d (into {} (map (fn [i] [i %d]) (range 30))))",
            "(defn b%d [x] (+ x %d))",
            "(def b%d (let [k %d] (fn [x] (* k x))))",
            "(def b%d (partial + %d))",
            "(def b%d (sorted-map %d 1 2 3))",
            "(def b%d #\"a%d\")",
            "(def b%d (reduce * (range 1 (+ 20 (mod %d 30)))))",
            "(def b%d (set (range (mod %d 50))))",
            "(def b%d {:id %d :tags #{:a :b}})",
        };
        snprintf(program, sizeof program, forms[i % 10], i, i, i);
        answer(ptc, s, program, got);
    }
}

/* Functions have no equality: those are called. */
static bool same_binding(Ptc *ptc, PtcSession *s, PtcSession *t, const char *name, size_t len)
{
    PtcValue a = ptc_session_value(s, name, len), b = ptc_session_value(t, name, len);
    char program[80], x[TEXT], y[TEXT];
    if (ptc_value_type(a) == PTC_TYPE_FUNCTION) {
        snprintf(program, sizeof program, "(%.*s 17)", (int)len, name);
        answer(ptc, s, program, x);
        answer(t->ptc, t, program, y);
        return strcmp(x, y) == 0;
    }
    if (ptc_is_record(a, PTC_R_REGEX))
        return ptc_is_record(b, PTC_R_REGEX);
    ptc_engine_budget(ptc, &s->box->budget, 10000);
    return ptc_equal(&s->box->heap, a, b) && ptc_value_type(a) == ptc_value_type(b);
}

static void test_large(void)
{
    Ptc *ptc = patient_engine(), *other = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    define_many(ptc, s);
    Snap one = snap(s);
    PtcSession *t = restore(other, one);
    CHECK(ptc_session_count(t) == 1000);
    Snap two = snap(t);
    CHECK(same_bytes(one, two));
    for (size_t i = 0, len; i < 1000; i++) {
        size_t other_len;
        const char *name = ptc_session_name(s, i, &len), *too = ptc_session_name(t, i, &other_len);
        CHECK(len == other_len && memcmp(name, too, len) == 0);
    }
    for (size_t i = 0, len; i < 1000; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s", ptc_session_name(s, i, &len));
        CHECK(same_binding(ptc, s, t, name, len));
    }
    CHECK(ptc_session_bytes(t) < ptc_session_bytes(s) * 2);
    for (size_t i = 0; i < one.len; i += 97) { /* any byte flipped is refused */
        PtcSession *none = NULL;
        one.bytes[i] ^= 0x10;
        CHECK(ptc_session_restore(ptc, key, KEY, one.bytes, one.len, &none, NULL, 0) ==
                  PTC_BAD_DATA &&
              !none);
        one.bytes[i] ^= 0x10;
    }
    drop(ptc, &one);
    drop(other, &two);
    ptc_session_free(s);
    ptc_session_free(t);
    end_engine(ptc);
    end_engine(other);
}

/* Versions that share memory take little room in the snapshot and after it. */
static void test_sharing(void)
{
    static const char *const programs[] = {
        "(def v (vec (reductions conj [] (range 3000))))",
        "(def v (vec (reductions (fn [m i] (assoc m i i)) {} (range 1000))))",
        "(def v (mapv (fn [i] (assoc (vec (range 3000)) i :x)) (range 2)))",
        "(def v (let [b (vec (range 100000))] (mapv (fn [i] (assoc b i i)) (range 200))))",
        "(def v (let [b (vec (range 50000))] (vec (take 300 (iterate rest b)))))",
        "(def v (let [m (zipmap (range 5000) (range))] (mapv #(assoc m % :y) (range 100))))",
        "(def v (reduce (fn [a _] [a a a]) [1] (range 100)))",
    };
    char got[TEXT];
    PtcOptions options;
    PtcLimits limits = patient_limits();
    ptc_options_init(&options, sizeof options);
    options.limits = &limits;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        Ptc *ptc = ptc_new(&options);
        PtcSession *s = ptc_session_new(ptc);
        answer(ptc, s, programs[i], got);
        size_t bytes = ptc_session_bytes(s);
        Snap one = snap(s);
        PtcSession *t = restore(ptc, one);
        size_t times = i == 0 ? 8 : 2; /* tails of vectors are not shared */
        CHECK(one.len < bytes * times && ptc_session_bytes(t) < bytes * times);
        Snap two = snap(t);
        CHECK(same_bytes(one, two));
        EXPECT(ptc, t, "(count v)", i == 6 ? "3" : (answer(ptc, s, "(count v)", got), got));
        drop(ptc, &one);
        drop(ptc, &two);
        ptc_session_free(s);
        ptc_session_free(t);
        end_engine(ptc);
    }
}

/* ------------------------------------------------------------------------------- refusals */

static void expect_refusal(int line, Ptc *ptc, const void *k, size_t k_len, const void *bytes,
                           size_t len, PtcStatus status, const char *says)
{
    char error[ERROR] = "";
    PtcSession *s = NULL;
    PtcStatus got = ptc_session_restore(ptc, k, k_len, bytes, len, &s, error, sizeof error);
    if (check_count(got == status && !s && strstr(error, says)))
        printf("line %d: status %d, %s\n", line, got, error);
    ptc_session_free(s);
}
#define REFUSED(ptc, k, k_len, bytes, len, status, says) \
    expect_refusal(__LINE__, ptc, k, k_len, bytes, len, status, says)

static void test_refusals(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    char copy[4096];
    EXPECT(ptc, s, "(def x [1 2 {:a \"b\"}]) (defn f [y] (map (fn [z] [y z]) x)) (def g (f 1))",
           "#'g");
    Snap one = snap(s);
    CHECK(one.len < sizeof copy);
    for (size_t i = 0; i < one.len; i++)
        for (int bit = 0; bit < 8; bit++) {
            memcpy(copy, one.bytes, one.len);
            copy[i] ^= (char)(1 << bit);
            REFUSED(ptc, key, KEY, copy, one.len, PTC_BAD_DATA, "the key is wrong");
        }
    for (size_t n = 0; n < one.len; n++)
        REFUSED(ptc, key, KEY, one.bytes, n, PTC_BAD_DATA, "the key is wrong");
    memcpy(copy, one.bytes, one.len);
    REFUSED(ptc, key, KEY, copy, one.len + 1, PTC_BAD_DATA, "the key is wrong");
    REFUSED(ptc, "another key that is long enough", 31, one.bytes, one.len, PTC_BAD_DATA, "key");
    REFUSED(ptc, key, KEY - 1, one.bytes, one.len, PTC_BAD_DATA, "key");
    REFUSED(ptc, key, 15, one.bytes, one.len, PTC_BAD_ARGUMENT, "16 bytes");
    REFUSED(ptc, NULL, 32, one.bytes, one.len, PTC_BAD_ARGUMENT, "16 bytes");
    CHECK(ptc_session_snapshot(s, key, 15, &one.bytes, &one.len, NULL, 0) == PTC_BAD_ARGUMENT);
    CHECK(ptc_session_snapshot(NULL, key, KEY, &one.bytes, &one.len, NULL, 0) == PTC_BAD_ARGUMENT);
    drop(ptc, &one);
    ptc_session_free(s);
    end_engine(ptc);
}

/* A valid tag on bytes of no sense: the decoder is on its own. */
static void test_behind_the_tag(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc), *t;
    PtcWhy why;
    char copy[4096];
    uint64_t chance = 88172645463325252;
    size_t accepted = 0;
    EXPECT(ptc, s,
           "(def x [1 2 {:a \"b\"} 1.5 #\"r\" 99999999999999999999]) (def v (vec (range 70)))"
           "(defn f [y] (map (fn [z] [y z]) x)) (def g (f 1)) (def m (zipmap (range 20) (range)))"
           "(def h (letfn [(a [n] (b n)) (b [n] (a n))] a)) (def p (iterate inc 1)) (def k (map f))"
           "(def sm (sorted-map 1 2)) (def d (LocalDate/of 2024 1 1)) (def e (ex-info \"m\" {}))",
           "#'e");
    Snap one = snap(s);
    size_t len = one.len - PTC_SHA256_BYTES;
    CHECK(one.len < sizeof copy);
    for (size_t n = 0; n < len; n++) { /* cut at each length */
        t = NULL;
        CHECK(!ptc_snapshot_decode(ptc, one.bytes, n, &t, &why) && !t);
        CHECK(why.class == PTC_WHY_INVALID && why.text[0]);
    }
    for (int i = 0; i < 20000; i++) {
        memcpy(copy, one.bytes, len);
        for (int k = 0; k <= i % 3; k++)
            copy[8 + check_random(&chance) % (len - 8)] = (char)check_random(&chance);
        t = NULL;
        why.text[0] = 0;
        bool ok = ptc_snapshot_decode(ptc, copy, len, &t, &why);
        CHECK(ok == (t != NULL) && (ok || why.text[0]));
        accepted += ok;
        ptc_session_free(t);
    }
    CHECK(accepted > 100); /* such as a letter in a string */
    copy[7]++;
    CHECK(!ptc_snapshot_decode(ptc, copy, len, &t, &why));
    CHECK(strstr(why.text, "another version"));
    drop(ptc, &one);
    ptc_session_free(s);
    end_engine(ptc);
}

/* What cannot be stored is named, and nothing comes out. */
static void test_unstorable(void)
{
    static const struct {
        const char *program, *says;
    } cases[] = {
        {"(def ok 1) (def bad (->> 5 (fn [])))", "bad: it holds a function"},
        {"(def m (re-matcher #\"a\" \"a\"))", "m: it holds something"},
        {"(def inner {:a [1 {:f (let [y 2] (->> y (fn [x])))}]})", "inner: it holds a function"},
        {"(def leak nil) (into [] (comp (fn [p] (def leak p) p) (map inc)) [1]) 1", "leak: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Ptc *ptc = patient_engine();
        PtcSession *s = ptc_session_new(ptc);
        char error[ERROR] = "", got[TEXT];
        char *bytes = NULL;
        size_t len = 0;
        answer(ptc, s, cases[i].program, got);
        CHECK(ptc_session_forget(s, "*1", 2));
        CHECK(ptc_session_snapshot(s, key, KEY, &bytes, &len, error, sizeof error) ==
                  PTC_BAD_DATA &&
              !bytes);
        if (check_count(strstr(error, cases[i].says) != NULL))
            printf("%s: %s\n", cases[i].program, error);
        ptc_session_free(s);
        end_engine(ptc);
    }
}

static void test_limits(void)
{
    PtcOptions options;
    PtcLimits limits = patient_limits();
    ptc_options_init(&options, sizeof options);
    limits.session_bytes = 100 * 1024;
    options.limits = &limits;
    Ptc *large = patient_engine(), *small = ptc_new(&options);
    PtcSession *s = ptc_session_new(large);
    EXPECT(large, s, "(def v (mapv str (range 10000)))", "#'v");
    Snap one = snap(s);
    REFUSED(small, key, KEY, one.bytes, one.len, PTC_BAD_DATA, "session");
    drop(large, &one);
    EXPECT(large, s, "(def v (mapv str (range 1000)))", "#'v");
    one = snap(s);
    PtcSession *t = restore(small, one);
    EXPECT(small, t, "(count v)", "1000");
    CHECK(ptc_session_bytes(t) <= 100 * 1024);
    drop(large, &one);
    ptc_session_free(s);
    ptc_session_free(t);
    end_engine(large);
    end_engine(small);
}

/* -------------------------------------------------------------------------------- history */

static void test_history(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    EXPECT(ptc, s, "[*1 *2 *3]", "[nil nil nil]");
    EXPECT(ptc, s, "(def x 5) :two", ":two");
    EXPECT(ptc, s, "{:three *1}", "{:three :two}");
    Snap one = snap(s);
    PtcSession *t = restore(ptc, one);
    EXPECT(ptc, t, "[*1 *2 *3 x]", "[{:three :two} :two [nil nil nil] 5]");
    CHECK(ptc_session_count(t) == 1);
    drop(ptc, &one);
    ptc_session_free(t);
    CHECK(ptc_session_forget_all(s) == PTC_OK);
    one = snap(s);
    t = restore(ptc, one);
    CHECK(ptc_session_count(t) == 0);
    EXPECT(ptc, t, "*1", "nil");
    drop(ptc, &one);
    ptc_session_free(s);
    ptc_session_free(t);
    end_engine(ptc);
}

/* ------------------------------------------------------------------------ tools and journal */

/* `keys` is part of the answer: the journal is not among what is stored. */
static void ask_journal(Ptc *ptc, PtcSession *s, PtcValue journal, const char *program,
                        const char *want, const char *keys)
{
    PtcRun run = a_run(program, s, 0);
    PtcOutcome *o = NULL;
    char got[TEXT] = "";
    run.journal = journal;
    CHECK(ptc_eval(ptc, &run, &o) == PTC_OK);
    tell(o, got);
    CHECK_STR(got, want);
    PtcPayloadOptions options;
    ptc_payload_options_init(&options, sizeof options);
    options.session = s;
    const char *payload = ptc_outcome_payload(o, &options, NULL);
    CHECK(payload && strstr(payload, keys));
    ptc_outcome_free(o);
}

static void test_journal(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    PtcData *d = ptc_data_new(ptc, PTC_UNSET);
    PtcValue empty = ptc_make_map(d, NULL, 0);
    /* The first run fails: what its tasks did is kept all the same, its definitions are not. */
    ask_journal(ptc, s, empty, "(def y 1) (task \"two\" 2) (/ y 0)", "!arithmetic_error 1:26",
                "\"status\":\"error\"");
    ask_journal(ptc, s, empty, "(def z (task \"nil\" nil))", "#'z", "\"stored_keys\":[\"z\"]");
    CHECK(ptc_session_forget(s, "z", 1));
    EXPECT(ptc, s, "(def x (task \"one\" (vec (range 40))))", "#'x");
    EXPECT(ptc, s, "(task \"two\" :new)", "2");
    Snap one = snap(s);
    PtcSession *t = restore(ptc, one);
    Snap two = snap(t);
    CHECK(same_bytes(one, two) && ptc_session_count(t) == 1);
    EXPECT(ptc, t, "[(task \"two\" :new) (count (task \"one\" :new)) (task \"three\" 3)]",
           "[2 40 3]");
    EXPECT(ptc, t, "(task \"three\" :new)", "3");
    drop(ptc, &one);
    drop(ptc, &two);
    ptc_session_free(s);
    ptc_session_free(t);
    ptc_data_free(d);
    end_engine(ptc);
}

/* A tool that gives its own name. */
static PtcToolAnswer own_name(PtcToolCall *call, void *user)
{
    size_t len;
    (void)user;
    const char *name = ptc_call_name(call, &len);
    ptc_call_return(call, ptc_make_string(ptc_call_data(call), name, len));
    return PTC_TOOL_ANSWERED;
}

static PtcTools *make_tools(const char *const *names)
{
    PtcTools *tools = ptc_tools_new();
    for (; *names; names++) {
        PtcToolDef def;
        ptc_tool_def_init(&def, sizeof def);
        def.name = *names;
        def.name_len = strlen(*names);
        def.function = own_name;
        CHECK(ptc_tools_add(tools, &def, NULL, 0) == PTC_OK);
    }
    return tools;
}

static void ask_tools(Ptc *ptc, PtcSession *s, PtcTools *tools, const char *program,
                      const char *want)
{
    PtcRun run = a_run(program, s, 0);
    PtcOutcome *o = NULL;
    char got[TEXT] = "";
    run.tools = tools;
    CHECK(ptc_eval(ptc, &run, &o) == PTC_OK);
    tell(o, got);
    CHECK_STR(got, want);
    ptc_outcome_free(o);
}

/* Functions that call tools are stored without them, and find them by name in the run that calls. */
static void test_tools(void)
{
    static const char *const some[] = {"a", "b", NULL}, *const others[] = {"c", "b", "a", NULL};
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    PtcTools *tools = make_tools(some), *more = make_tools(others);
    ask_tools(ptc, s, tools,
              "(def t tool/b) (defn f [x] [x (tool/a {}) (map (fn [y] (tool/b {:y y})) [1])])"
              "(def g (comp str tool/a)) (f 1)",
              "[1 \"a\" [\"b\"]]");
    Snap one = snap(s);
    PtcSession *t = restore(ptc, one);
    Snap two = snap(t);
    CHECK(same_bytes(one, two));
    ask_tools(ptc, t, more, "[(t {}) (f 2) (g {})]", "[\"b\" [2 \"a\" [\"b\"]] \"a\"]");
    ask_tools(ptc, t, tools, "[(t {}) (f 2) (g {})]", "[\"b\" [2 \"a\" [\"b\"]] \"a\"]");
    ask_tools(ptc, t, NULL, "(f 2)", "!unknown_tool 1:16");
    drop(ptc, &one);
    drop(ptc, &two);
    ptc_session_free(s);
    ptc_session_free(t);
    ptc_tools_free(tools);
    ptc_tools_free(more);
    end_engine(ptc);
}

/* ---------------------------------------------------------------------------------- torture */

static const char torture_program[] =
    "(require '[clojure.string :as s]) (def v (vec (range 100))) (def m (zipmap (range 40) v))"
    "(defn f [x & r] (s/join \",\" (map (fn [y] [x y]) r))) (def g (let [k v] #(conj k %)))"
    "(def t (letfn [(a [n] (b n)) (b [n] (a n))] [a b])) (def r #\"a+\") (def p (iterate inc 1))"
    "(def sm (sorted-map 1 2 3 4)) (def b 99999999999999999999999) (def e (ex-info \"m\" {:a 1}))";

/* Fails the Nth allocation, for every N until all succeed. */
static void test_torture(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc), *t = NULL;
    char got[TEXT], *bytes = NULL;
    size_t len;
    answer(ptc, s, torture_program, got);
    Snap one = snap(s);
    PtcStatus status = PTC_NO_MEMORY;
    for (uint64_t n = 1; status != PTC_OK && n < 10000; n++) {
        char error[ERROR] = "";
        ptc_mem_fail_at(&ptc->mem, n);
        status = ptc_session_snapshot(s, key, KEY, &bytes, &len, error, sizeof error);
        ptc_mem_fail_at(&ptc->mem, 0);
        if (check_count(status == PTC_OK || (status == PTC_NO_MEMORY && !bytes)))
            printf("allocation %d: status %d, %s\n", (int)n, status, error);
    }
    CHECK(same_bytes(one, (Snap){bytes, len}));
    ptc_text_free(ptc, bytes, len);
    status = PTC_NO_MEMORY;
    for (uint64_t n = 1; status != PTC_OK && n < 10000; n++) {
        char error[ERROR] = "";
        ptc_mem_fail_at(&ptc->mem, n);
        status = ptc_session_restore(ptc, key, KEY, one.bytes, one.len, &t, error, sizeof error);
        ptc_mem_fail_at(&ptc->mem, 0);
        if (check_count(status == PTC_OK || (status == PTC_NO_MEMORY && !t)))
            printf("allocation %d: status %d, %s\n", (int)n, status, error);
    }
    Snap two = snap(t);
    CHECK(same_bytes(one, two));
    drop(ptc, &one);
    drop(ptc, &two);
    ptc_session_free(s);
    ptc_session_free(t);
    end_engine(ptc);
}

int main(void)
{
    test_kinds();
    test_large();
    test_sharing();
    test_refusals();
    test_behind_the_tag();
    test_unstorable();
    test_limits();
    test_history();
    test_journal();
    test_tools();
    test_torture();
    return check_done("test_snapshot");
}
