/* SPDX-License-Identifier: MIT
 * Documentation of what is no function: special forms and constants.  The analyzer gives them their
 * meaning (analyze_*.c); the rows here are for doc, dir, the reference and the doctests only. */
#include "lisp/vm/builtin.h"

#define CORE(id, name_, usage_, doc_, examples_) \
    PTC_FORM(id, "clojure.core", name_, usage_, doc_, examples_)

/* -------------------------------------------------- definitions and bindings */

CORE(form_def, "def", "(def name doc? value)",
     "Names a value for the rest of the program and, in a session, for later programs. Gives the "
     "var. A run that fails defines nothing.",
     "(def rate 0.25) (* rate 8) => 2.0\n"
     "(def rate \"Share of the price.\" 0.25) => #'rate\n"
     "(def 5 1) !! invalid_form");
CORE(form_defn, "defn", "(defn name doc? [params] body...)",
     "Names a function. Several ([params] body...) parts take different numbers of arguments; & "
     "gathers the rest; parameters may be patterns.",
     "(defn square [x] (* x x)) (square 7) => 49\n"
     "(defn area ([r] (area r r)) ([a b] (* a b))) [(area 3) (area 2 4)] => [9 8]\n"
     "(defn total [{:keys [price n]}] (* price n)) (total {:price 3 :n 2}) => 6\n"
     "(defn f [x] x) (f) !! arity_error");
CORE(form_defn_private, "defn-", "(defn- name doc? [params] body...)",
     "The same as defn; nothing is private here.", "(defn- twice [x] (* 2 x)) (twice 4) => 8");
CORE(form_defonce, "defonce", "(defonce name value)",
     "Names a value unless the name has one already; then the value is not even computed.",
     "(defonce hits 1) (defonce hits (fail \"not run\")) hits => 1");
CORE(form_declare, "declare", "(declare name...)",
     "Lets functions use names that are defined later, as functions that call one another need.",
     "(declare later) (defn f [] (later)) (defn later [] :ok) (f) => :ok");
CORE(form_fn, "fn", "(fn name? [params] body...)",
     "A function. With a name it can call itself. #(+ % 1) is short for one; % or %1, %2 ... and "
     "%& are its parameters.",
     "((fn [x] (* x x)) 5) => 25\n(map #(* 2 %) [1 2 3]) => [2 4 6]\n"
     "((fn fact [n] (if (< n 2) 1 (* n (fact (dec n))))) 5) => 120\n((fn [x] x)) !! arity_error");
CORE(
    form_let, "let", "(let [name value ...] body...)",
    "Binds names for the body, each seen by those after it. A name may be a pattern: [a b & more], "
    "{:keys [a b] :or {a 1} :as all}, {a :key}.",
    "(let [a 2 b (* a 3)] (+ a b)) => 8\n"
    "(let [[x & more] [1 2 3] {:keys [k]} {:k 9}] [x more k]) => [1 [2 3] 9]\n"
    "(let [a] a) !! invalid_form");
CORE(form_letfn, "letfn", "(letfn [(name [params] body...) ...] body...)",
     "Names functions for the body; they may call one another.",
     "(letfn [(ev? [n] (or (zero? n) (od? (dec n)))) (od? [n] (and (pos? n) (ev? (dec n))))] "
     "(ev? 10)) => true");
CORE(form_loop, "loop", "(loop [name value ...] body...)",
     "Binds names as let does; recur in the body starts it again with new values.",
     "(loop [i 0 acc []] (if (< i 3) (recur (inc i) (conj acc i)) acc)) => [0 1 2]\n"
     "(loop [i] i) !! invalid_form");
CORE(form_recur, "recur", "(recur value...)",
     "Starts the innermost loop or function again with new values; it must be the last thing done.",
     "(loop [n 5 acc 1] (if (zero? n) acc (recur (dec n) (* acc n)))) => 120\n"
     "((fn [n] (if (> n 9) n (recur (* 2 n)))) 1) => 16\n"
     "(loop [i 0] (inc (recur i))) !! invalid_form");

CORE(form_with_precision, "with-precision", "(with-precision digits :rounding HALF_UP body...)",
     "The body, with the results of decimals rounded to this many digits; halves go up unless "
     ":rounding says otherwise.",
     "(with-precision 3 (/ 10M 3)) => 3.33M\n(with-precision 2 :rounding FLOOR (* 1M 1.29M)) => "
     "1.2M\n"
     "(with-precision 2 :rounding SIDEWAYS (/ 1M 3)) !! type_error\n(with-precision) !! "
     "invalid_form");

/* ------------------------------------------------------------- calls of methods */

CORE(form_dot, ".", "(. x method args...)", "The call (.method x args...).",
     "(. \"abc\" substring 1 2) => \"b\"\n(. \"abc\") !! invalid_form");
CORE(form_dots, "..", "(.. x (method args...) method)",
     "Calls methods one after the other, each on what the one before it gave.",
     "(.. \" abc \" trim (substring 1) toUpperCase) => \"BC\"\n(.. \"abc\") !! invalid_form");
CORE(form_memfn, "memfn", "(memfn method args...)", "The method as a function of its object.",
     "(map (memfn length) [\"a\" \"bc\"]) => [1 2]\n(memfn) !! invalid_form");
CORE(form_new, "new", "(new Class args...)", "The call (Class. args...).",
     "(ex-message (new Exception \"late\")) => \"late\"\n(new) !! invalid_form");

/* --------------------------------------------------------------- conditionals */

CORE(form_if, "if", "(if test then else?)",
     "One of two expressions. Only nil and false are false; without else the answer is then nil.",
     "(if (> 3 2) :yes :no) => :yes\n(if 0 1 2) => 1\n(if nil 1) => nil\n(if) !! invalid_form");
CORE(form_if_not, "if-not", "(if-not test then else?)", "As if, with the test turned round.",
     "(if-not (empty? [1]) :some :none) => :some");
CORE(form_if_let, "if-let", "(if-let [name value] then else?)",
     "Binds the value and takes the first branch when it is neither nil nor false.",
     "(if-let [x (get {:a 1} :a)] (inc x) 0) => 2\n(if-let [x (get {} :a)] x :none) => :none");
CORE(form_if_some, "if-some", "(if-some [name value] then else?)",
     "As if-let, but only nil counts as absent.",
     "(if-some [x (get {:a false} :a)] [x] :none) => [false]");
CORE(form_when, "when", "(when test body...)", "The body when the test holds, else nil.",
     "(when (> 3 2) :a :b) => :b\n(when false :a) => nil\n(when) !! invalid_form");
CORE(form_when_not, "when-not", "(when-not test body...)",
     "The body when the test does not hold, else nil.", "(when-not (seq []) :empty) => :empty");
CORE(form_when_let, "when-let", "(when-let [name value] body...)",
     "Binds the value and runs the body when it is neither nil nor false, else nil.",
     "(when-let [x (first [3])] (* x 2)) => 6\n(when-let [x (first [])] x) => nil");
CORE(form_when_some, "when-some", "(when-some [name value] body...)",
     "As when-let, but only nil counts as absent.",
     "(when-some [x (first [false])] [x]) => [false]");
CORE(form_when_first, "when-first", "(when-first [name coll] body...)",
     "The body with the first element, nil when there is none.",
     "(when-first [x [nil 2]] [x]) => [nil]\n(when-first [x []] x) => nil");
CORE(form_cond, "cond", "(cond test result ... :else result)",
     "The result of the first test that holds; nil when none does.",
     "(let [n 7] (cond (< n 5) :small (< n 10) :medium :else :large)) => :medium\n"
     "(cond false 1) => nil\n(cond true) !! invalid_form");
CORE(form_condp, "condp", "(condp pred value test result ... default?)",
     "The result of the first test for which (pred test value) holds, else the default or nil.",
     "(condp = 2 1 :one 2 :two :many) => :two\n"
     "(condp > 5 3 :above-5 9 :below-9 :other) => :below-9");
CORE(form_case, "case", "(case value constant result ... default?)",
     "The result beside the constant that equals the value; a list of constants stands for each of "
     "them. Without a match the default, or nil.",
     "(case :b :a 1 :b 2 0) => 2\n(case 5 (1 2) :low (4 5) :high) => :high\n(case 9 1 :a) => nil");
CORE(form_and, "and", "(and value...)",
     "The first value that is nil or false, else the last one; what follows is not computed.",
     "(and 1 2 3) => 3\n(and 1 nil (fail \"not run\")) => nil\n(and) => true");
CORE(form_or, "or", "(or value...)",
     "The first value that is neither nil nor false, else the last one.",
     "(or nil 2 (fail \"not run\")) => 2\n(or false nil) => nil\n(or) => nil");

/* ------------------------------------------------------------------ threading */

CORE(form_thread_first, "->", "(-> value form...)",
     "Puts the value in as first argument of the first form, its result into the next, and so on.",
     "(-> {:a 1} (assoc :b 2) (dissoc :a)) => {:b 2}\n(-> 5 inc (- 2)) => 4");
CORE(form_thread_last, "->>", "(->> value form...)", "As ->, but as the last argument.",
     "(->> (range 6) (filter odd?) (map #(* % %)) (reduce +)) => 35");
CORE(form_thread_as, "as->", "(as-> value name form...)",
     "Binds the value to a name that each form may use anywhere; each result is the next value.",
     "(as-> [1 2 3] x (map inc x) (reduce + x) (- x 1)) => 8");
CORE(form_thread_some, "some->", "(some-> value form...)", "As ->, but ends with nil at a nil.",
     "(some-> {:a {:b 2}} :a :b inc) => 3\n(some-> {:a nil} :a :b inc) => nil");
CORE(form_thread_some_last, "some->>", "(some->> value form...)",
     "As ->>, but ends with nil at a nil.",
     "(some->> [1 2] (map inc) (reduce +)) => 5\n(some->> nil (map inc)) => nil");
CORE(form_thread_cond, "cond->", "(cond-> value test form ...)",
     "Threads the value as -> does through the forms whose test holds.",
     "(cond-> {:a 1} true (assoc :b 2) false (assoc :c 3)) => {:a 1, :b 2}");
CORE(form_thread_cond_last, "cond->>", "(cond->> value test form ...)",
     "Threads the value as ->> does through the forms whose test holds.",
     "(cond->> [1 2 3] true (map inc) false (filter odd?)) => [2 3 4]");

/* ------------------------------------------------------------------ iteration */

CORE(
    form_for, "for", "(for [name coll ... :let [...] :when test :while test] body)",
    "One element for each combination, the last name moving fastest; :when leaves some out, :while "
    "ends a collection, :let binds.",
    "(for [x [1 2 3] :when (odd? x)] (* x 10)) => [10 30]\n"
    "(for [x [1 2] y [:a :b]] [x y]) => [[1 :a] [1 :b] [2 :a] [2 :b]]\n"
    "(for [x 5] x) !! type_error");
CORE(form_lazy_seq, "lazy-seq", "(lazy-seq body...)",
     "A sequence that the body computes when an element is asked for, and that is kept then: the "
     "body runs once. It gives a collection or nil, as a rule (cons x more) with another lazy-seq "
     "in more, so that the sequence need not end.",
     "(defn nat [n] (lazy-seq (cons n (nat (inc n))))) (take 3 (nat 5)) => [5 6 7]\n"
     "(defn fib [a b] (lazy-seq (cons a (fib b (+ a b))))) (nth (fib 0 1) 50) => 12586269025\n"
     "(first (lazy-seq nil)) => nil\n(first (lazy-seq 5)) !! type_error\n"
     "(defn nat [n] (lazy-seq (cons n (nat (inc n))))) (nat 0) !! value_error");
CORE(form_lazy_cat, "lazy-cat", "(lazy-cat & colls)",
     "The elements of all collections in turn; each expression is computed when its first element "
     "is asked for, so that it may use the sequence itself.",
     "(def fibs (lazy-cat [0 1] (map + fibs (rest fibs)))) (take 8 fibs) => [0 1 1 2 3 5 8 13]\n"
     "(first (lazy-cat [1] (fail \"not run\"))) => 1\n(lazy-cat) => []");
CORE(form_doseq, "doseq", "(doseq [name coll ...] body...)",
     "Runs the body for each element, for what it prints; nil. Bindings as in for.",
     "(doseq [x [1 2]] (println x)) => nil\n(doseq [x]) !! invalid_form");
CORE(form_dotimes, "dotimes", "(dotimes [name n] body...)",
     "Runs the body with 0, 1 ... n-1, for what it prints; nil.",
     "(dotimes [i 3] (println i)) => nil");

CORE(form_while, "while", "(while test body...)",
     "Runs the body as long as the test holds; nil. As values do not change, the test can only "
     "follow what the body defines.",
     "(while false (fail \"not run\")) => nil\n(while) !! invalid_form");

/* ------------------------------------------------------------------- the rest */

CORE(form_doto, "doto", "(doto value form...)",
     "Gives the value to each form as its first argument and answers with the value itself.",
     "(doto 5 (println)) => 5");
CORE(form_with_out_str, "with-out-str", "(with-out-str body...)",
     "What the body prints, as a string; nothing of it is printed.",
     "(with-out-str (println \"hi\") (println 1)) => \"hi\\n1\\n\"");

CORE(form_task, "task", "(task id expr)",
     "The value of the expression; with a journal, the value recorded under the id when there is "
     "one, so that a program run again does not repeat what it did.",
     "(task \"add\" (+ 1 2)) => 3\n(task [] 1) !! type_error\n(task \"add\") !! arity_error");

CORE(form_do, "do", "(do form...)", "Runs the forms in turn and gives the last.",
     "(do 1 2 3) => 3\n(do) => nil");
CORE(form_comment, "comment", "(comment form...)", "Nothing in it is run; nil.",
     "(comment (fail \"never\")) => nil");
CORE(form_quote, "quote", "(quote form)",
     "The form itself as data, not its value; 'form is short for it.",
     "'(a 1 :b) => [a 1 :b]\n(first '(x y)) => x");
CORE(form_try, "try", "(try body... (catch Exception e handler...) (finally form...))",
     "Runs the body; an error goes to the first catch that takes its class, finally runs in any "
     "case. Limits, return and fail cannot be caught.",
     "(try (/ 1 0) (catch Exception e :oops)) => :oops\n"
     "(try (throw (ex-info \"no\" {:id 1})) (catch Exception e (:id (ex-data e)))) => 1\n"
     "(try (/ 1 0) (finally nil)) !! arithmetic_error");
PTC_FORM(
    form_return, "ptc", "return", "(return value)",
    "Ends the program at once with this value, from any depth.",
    "(do (return 1) 2) => 1\n(reduce (fn [acc x] (if (> x 2) (return x) acc)) 0 [1 2 3 4]) => 3");
PTC_FORM(form_fail, "ptc", "fail", "(fail reason)",
         "Ends the program as failed, with a value that says why. No try catches it.",
         "(fail \"no data\") !! fail\n(when (empty? []) (fail {:missing \"rows\"})) !! fail");
CORE(form_ns, "ns", "(ns name (:require [namespace :as alias]))",
     "Accepted as in Clojure; the aliases then work. Nothing is loaded: all there is is there.",
     "(ns report (:require [clojure.string :as s])) (s/upper-case \"a\") => \"A\"");
CORE(form_require, "require", "(require '[namespace :as alias])",
     "Gives a known namespace another prefix; nil.",
     "(require '[clojure.string :as s]) (s/join \"-\" [1 2]) => \"1-2\"\n"
     "(require '[clojure.java.io :as io]) !! unbound_var");

CORE(form_use, "use", "(use '[namespace])", "The same as require.",
     "(use '[clojure.string :as s]) (s/join [1 2]) => \"12\"");
CORE(form_import, "import", "(import '[package Class])",
     "Accepted as in Java interop code: the classes there are need no import; nil.",
     "(import '[java.time LocalDate]) => nil");

/* ------------------------------------------------------------------ constants */

PTC_FORM(form_inf, "Double", "POSITIVE_INFINITY", "Double/POSITIVE_INFINITY",
         "The float above all numbers; also written ##Inf.",
         "(> Double/POSITIVE_INFINITY 1e308) => true");
PTC_FORM(form_minus_inf, "Double", "NEGATIVE_INFINITY", "Double/NEGATIVE_INFINITY",
         "The float below all numbers; also written ##-Inf.",
         "(< Double/NEGATIVE_INFINITY -1e308) => true");
PTC_FORM(form_nan, "Double", "NaN", "Double/NaN",
         "The float that is not a number and equals nothing; also written ##NaN.",
         "(= Double/NaN Double/NaN) => false");
PTC_FORM(form_pi, "Math", "PI", "Math/PI", "The circle's circumference over its diameter.",
         "(< 3.14159 Math/PI 3.1416) => true");
PTC_FORM(form_e, "Math", "E", "Math/E", "The base of the natural logarithm.",
         "(< 2.71828 Math/E 2.7183) => true");
PTC_FORM(form_long_max, "Long", "MAX_VALUE", "Long/MAX_VALUE",
         "The largest integer of 64 bits. Integers here go on beyond it.",
         "(inc Long/MAX_VALUE) => 9223372036854775808");
PTC_FORM(form_long_min, "Long", "MIN_VALUE", "Long/MIN_VALUE", "The smallest integer of 64 bits.",
         "Long/MIN_VALUE => -9223372036854775808");

CORE(form_catch, "catch", "(try body... (catch Class name body...))",
     "What is done in a try when its body fails with an error of this class; see try.",
     "(try (/ 1 0) (catch ArithmeticException e :no)) => :no");
CORE(form_finally, "finally", "(try body... (finally body...))",
     "What is done at the end of a try in any case; see try.",
     "(with-out-str (try 1 (finally (println \"end\")))) => \"end\\n\"");
CORE(form_rest, "&", "[a & more]",
     "In parameters and patterns: the name after it is bound to what is left.",
     "(let [[a & more] [1 2 3]] more) => [2 3]");
CORE(form_star_1, "*1", "*1", "The result of the program before this one in a session, or nil.",
     "*1 => nil");
CORE(form_star_2, "*2", "*2", "The result of the program before that of *1 in a session, or nil.",
     "*2 => nil");
CORE(form_star_3, "*3", "*3", "The result of the program before that of *2 in a session, or nil.",
     "*3 => nil");

PTC_BUILTIN_TABLE(ptc_lib_forms, form_def, form_defn, form_defn_private, form_defonce, form_declare,
                  form_fn, form_let, form_loop, form_with_precision, form_dot, form_dots,
                  form_memfn, form_new, form_recur, form_if, form_if_not, form_if_let, form_if_some,
                  form_when, form_when_not, form_when_let, form_when_some, form_when_first,
                  form_cond, form_condp, form_case, form_and, form_or, form_thread_first,
                  form_thread_last, form_thread_as, form_thread_some, form_thread_some_last,
                  form_thread_cond, form_thread_cond_last, form_for, form_lazy_seq, form_lazy_cat,
                  form_doseq, form_dotimes, form_do, form_comment, form_quote, form_try,
                  form_return, form_fail, form_ns, form_letfn, form_while, form_doto,
                  form_with_out_str, form_task, form_use, form_import, form_require, form_inf,
                  form_minus_inf, form_nan, form_pi, form_e, form_long_max, form_long_min,
                  form_catch, form_finally, form_rest, form_star_1, form_star_2, form_star_3);
