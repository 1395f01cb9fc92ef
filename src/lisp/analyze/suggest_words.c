/* SPDX-License-Identifier: MIT
 * Words that people and models bring from other languages, and names of Clojure for what is not here, with what to
 * write instead.  A hint names only what the writer of a program can do. */
#include "lisp/analyze/suggest.h"

#include <string.h>

#include "lisp/analyze/left_out.h"

#define NO_STATE "names and values do not change here: "
#define NO_FILES "programs cannot reach files: data comes as data/NAME or from tools"
#define NO_WAITING "programs cannot wait: a run has one fixed time"
#define NO_THREADS "use (pmap f coll) or (pcalls f g) to do several things at once"
#define NO_AGENTS "there are no agents: use an atom, changed with swap!"
#define NO_REFS \
    "there are no refs: use one atom, changed with swap!; a program that fails changes nothing"
#define NO_WATCHES \
    "atoms have no watches and validators: do what they would do in a function of yours"
#define NO_MACROS "there are no macros: write a function with defn"
#define NO_VARS "there are no dynamic vars: pass the value as an argument"

static const PtcInstead words[] = {
    /* state, threads, the world outside */
    {"set!", NO_STATE "use let or def, or keep an atom in the field of a deftype", true},
    {"setq", NO_STATE "use let or def: (def x 1)", true},
    {"setf", NO_STATE "use let, def or assoc", true},
    {"const", "bind names with let or def: (let [x 1] ...)", true},
    {"thread", NO_THREADS, true},
    {"go", NO_THREADS, true},
    {"async", NO_THREADS, true},
    {"Thread.", NO_THREADS, false},
    {"Thread/sleep", NO_WAITING "; to try a tool again, call it again in a loop", false},
    {"sleep", NO_WAITING "; to try a tool again, call it again in a loop", false},
    {"System/exit", "end the program with (return value) or (fail \"why\")", false},
    {"System/getenv", "programs see no environment: take the value from data/ or a tool", false},
    {"File.", NO_FILES, false},
    {"java.io.File.", NO_FILES, false},
    {"open", NO_FILES, false},
    {"input", "programs have no input but data/ and tools", false},
    {"fetch", "programs reach the network only through tools: (tool/NAME {...})", false},
    {"http/get", "programs reach the network only through tools: (tool/NAME {...})", false},
    {"random", "use (rand), (rand-int n) or (rand-nth coll)", false},
    {"now", "use (Instant/now), (LocalDate/now) or (System/currentTimeMillis)", false},
    {"today", "use (LocalDate/now)", false},
    /* what Clojure has */
    {"StringBuilder.", "use str or join", false},
    /* Python, JavaScript, Lisps and others */
    {"|", "there are no pipes: write (->> data (map :name) count), each step in parentheses",
     false},
    {"in", "write (for [x coll] body), or (doseq [x coll] body) to do something with each", false},
    {"to_entries", "a map is a sequence of pairs: (map (fn [[k v]] ...) m)", false},
    {"from_entries", "use (into {} pairs)", false},
    {"with_entries", "use (update-vals m f), (update-keys m f) or (into {} (map f m))", false},
    {"desc", "write (sort-by :key > coll) for the largest first", false},
    {"asc", "(sort-by :key coll) has the smallest first", false},
    {"len", "use (count coll)", false},
    {"length", "use (count coll)", false},
    {"size", "use (count coll)", false},
    {"lambda", "write (fn [x] ...) or #(... %)", true},
    {"function", "write (fn [x] ...) or (defn name [x] ...)", true},
    {"defun", "write (defn name [x] ...)", true},
    {"define", "write (def name value) or (defn name [x] ...)", true},
    {"append", "use (conj coll x), or concat for two collections", false},
    {"push", "use (conj coll x)", false},
    {"add", "use (conj coll x), or + for numbers", false},
    {"insert", "use (conj coll x)", false},
    {"delete", "use (dissoc map key) or (remove pred coll)", false},
    {"del", "use (dissoc map key) or (remove pred coll)", false},
    {"car", "use (first coll)", false},
    {"cdr", "use (rest coll)", false},
    {"cadr", "use (second coll)", false},
    {"head", "use (first coll)", false},
    {"tail", "use (rest coll)", false},
    {"elt", "use (nth coll i)", false},
    {"list-ref", "use (nth coll i)", false},
    {"slice", "use (subvec v from to), (take n coll) or (subs text from to)", false},
    {"null?", "use nil?", false},
    {"isNil", "use nil?", false},
    {"is-nil?", "use nil?", false},
    {"null", "write nil", false},
    {"None", "write nil", false},
    {"undefined", "write nil", false},
    {"True", "write true", false},
    {"False", "write false", false},
    {"elif", "use (cond test result ... :else other)", true},
    {"elsif", "use (cond test result ... :else other)", true},
    {"else", "write (if test then otherwise), or :else in cond", true},
    {"unless", "use (when-not test ...) or (if-not test ...)", true},
    {"switch", "use (case x value result ... default)", true},
    {"match", "use case, cond or destructuring", true},
    {"begin", "use (do ...)", true},
    {"progn", "use (do ...)", true},
    {"letrec", "use letfn, or def and defn", true},
    {"foreach", "use (doseq [x coll] ...)", true},
    {"forEach", "use (doseq [x coll] ...)", true},
    {"for-each", "use (doseq [x coll] ...)", true},
    {"break", "use loop/recur, take-while, or reduce with reduced", true},
    {"continue", "use loop/recur, filter or remove", true},
    {"raise", "use (throw (ex-info \"message\" {}))", false},
    {"except", "use (try ... (catch Exception e ...))", true},
    {"exit", "end the program with (return value) or (fail \"why\")", false},
    {"quit", "end the program with (return value) or (fail \"why\")", false},
    {"console.log", "use println", false},
    {"System.out.println", "use println", false},
    {"System/out", "use println", false},
    {"puts", "use println", false},
    {"echo", "use println", false},
    {"log", "use println, or Math/log for the logarithm", false},
    {"sprintf", "use format", false},
    {"flatMap", "use mapcat", false},
    {"flat-map", "use mapcat", false},
    {"filter-map", "use keep", false},
    {"enumerate", "use (map-indexed f coll)", false},
    {"fold", "use reduce", false},
    {"foldl", "use reduce", false},
    {"foldr", "use (reduce f init (reverse coll))", false},
    {"inject", "use reduce", false},
    {"accumulate", "use reductions", false},
    {"all", "use (every? pred coll)", false},
    {"all?", "use (every? pred coll)", false},
    {"any", "use (some pred coll)", false},
    {"unique", "use distinct", false},
    {"uniq", "use distinct", false},
    {"order-by", "use (sort-by :key coll)", false},
    {"sorted", "use sort or sort-by", false},
    {"where", "use (filter pred coll)", false},
    {"pluck", "use (map :key coll)", false},
    {"tally", "use frequencies", false},
    {"counter", "use frequencies", false},
    {"Counter", "use frequencies", false},
    {"average", "use (mean coll), or (mean-by :key coll)", false},
    {"std", "use (stdev coll), or (stdev-by :key coll)", false},
    {"stddev", "use (stdev coll), or (stdev-by :key coll)", false},
    {"variance", "use (Math/pow (stdev coll) 2)", false},
    {"quantile", "use (percentile 25 coll), or (percentile-by 25 :key coll)", false},
    {"key-by", "use (index-by :key coll)", false},
    {"parse-csv", "use (csv/parse text)", false},
    {"read-csv", "use (csv/parse text)", false},
    {"write-csv", "use (csv/generate rows)", false},
    {"pad-start", "use (str/pad-left s width pad)", false},
    {"padStart", "use (str/pad-left s width pad)", false},
    {"left-pad", "use (str/pad-left s width pad)", false},
    {"pad-end", "use (str/pad-right s width pad)", false},
    {"priority-queue", "use (pq), (pq-add q item priority), (pq-peek q) and (pq-pop q)", false},
    {"priority-map", "use (pq), (pq-add q item priority), (pq-peek q) and (pq-pop q)", false},
    {"maximum", "use (apply max coll), or (max-by :key coll)", false},
    {"minimum", "use (apply min coll), or (min-by :key coll)", false},
    {"dict", "write {:key value}, or (into {} pairs)", false},
    {"has-key?", "use (contains? map key)", false},
    {"has", "use (contains? map key)", false},
    {"values", "use vals", false},
    {"items", "use (seq map)", false},
    {"typeof", "use (type x)", false},
    {"type-of", "use (type x)", false},
    {"equal?", "use =", false},
    {"equals", "use =", false},
    {"eq?", "use =", false},
    {"!=", "use not=", false},
    {"<>", "use not=", false},
    {"===", "use =", false},
    {"&&", "use and", false},
    {"||", "use or", false},
    {"!", "use not", false},
    {"%", "use mod, or rem; % alone is the argument of #(...)", false},
    {"**", "use (Math/pow x y)", false},
    {"++", "use inc, or concat for collections", false},
    {"+=", NO_STATE "use + and let", false},
    {":=", "use (def name value) or let", false},
    {"string-append", "use str", false},
    {"concat-str", "use str", false},
    {"strcat", "use str", false},
    {"substring", "use (subs text from to)", false},
    {"substr", "use (subs text from to)", false},
    {"to-string", "use str", false},
    {"toString", "use str", false},
    {"tostring", "use str", false},
    {"number->string", "use str", false},
    {"string->number", "use parse-long or parse-double", false},
    {"str->int", "use parse-long", false},
    {"string->int", "use parse-long", false},
    {"to-int", "use int for numbers, parse-long for text", false},
    {"parseInt", "use parse-long", false},
    {"parseFloat", "use parse-double", false},
    {"parse-float", "use parse-double", false},
    {"toUpperCase", "use upper-case", false},
    {"toLowerCase", "use lower-case", false},
    {"strip", "use trim", false},
    {"JSON.parse", "use json/parse-string", false},
    {"JSON/parse", "use json/parse-string", false},
    {"json.loads", "use json/parse-string", false},
    {"parse-json", "use json/parse-string", false},
    {"JSON.stringify", "use json/generate-string", false},
    {"json.dumps", "use json/generate-string", false},
    {"to-json", "use json/generate-string", false},
    {"datetime", "use Instant/parse, LocalDate/parse or LocalDateTime/parse", false},
    {"data", "write data/NAME for one entry of the data; (dir 'data) lists them", false},
    {"context", "write data/NAME for one entry of the data; (dir 'data) lists them", false},
    {"ctx", "write data/NAME for one entry of the data; (dir 'data) lists them", false},
    {"tool", "write (tool/NAME {...}); (dir 'tool) lists the tools", false},
    {"tools", "write (tool/NAME {...}); (dir 'tool) lists the tools", false},
    {"call-tool", "write (tool/NAME {...}); (dir 'tool) lists the tools", false},
};

static const struct {
    const char *ns, *hint;
} libraries[] = {
    {"clojure.java.io", NO_FILES},
    {"clojure.java.shell", "programs start no commands: call a tool"},
    {"clojure.core.async", NO_THREADS},
    {"clojure.data.csv", "use csv/parse and csv/generate; data files arrive as rows already"},
    {"clojure.test", "use assert and ="},
    {"clojure.spec.alpha", "use predicates and assert"},
    {"clojure.tools.logging", "use println"},
    {"clojure.xml", "take the data as JSON, or use regular expressions"},
    {"clj-http.client", "programs reach the network only through tools: (tool/NAME {...})"},
    {"org.httpkit.client", "programs reach the network only through tools: (tool/NAME {...})"},
    {"babashka.http-client", "programs reach the network only through tools: (tool/NAME {...})"},
    {"babashka.fs", NO_FILES},
    {"next.jdbc", "programs reach databases only through tools: (tool/NAME {...})"},
    {"clojure.java.jdbc", "programs reach databases only through tools: (tool/NAME {...})"},
    {"clj-time.core", "use LocalDate/, LocalDateTime/, Instant/ and Duration/"},
    {"java-time", "use LocalDate/, LocalDateTime/, Instant/ and Duration/"},
    {"java-time.api", "use LocalDate/, LocalDateTime/, Instant/ and Duration/"},
    {"tick.core", "use LocalDate/, LocalDateTime/, Instant/ and Duration/"},
    {"clojure.core.matrix", "use vectors of vectors with map and reduce"},
};

static bool is_suggest_word(const char *text, const char *word, size_t len)
{
    return strlen(text) == len && memcmp(text, word, len) == 0;
}

bool ptc_suggest_instead(const char *word, size_t len, PtcInstead *out)
{
    PtcLeftOut left;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (is_suggest_word(words[i].word, word, len)) {
            *out = words[i];
            return true;
        }
    if (!ptc_left_out_find((PtcText){word, len}, &left))
        return false;
    *out = (PtcInstead){left.names, left.hint, left.form};
    return true;
}

bool ptc_suggest_is_core(PtcText name)
{
    PtcLeftOut left;
    return ptc_left_out_find(name, &left);
}

const PtcInstead *ptc_suggest_word(size_t i)
{
    return i < sizeof words / sizeof words[0] ? &words[i] : NULL;
}

const char *ptc_suggest_library(const char *ns, size_t len)
{
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        if (is_suggest_word(libraries[i].ns, ns, len))
            return libraries[i].hint;
    return NULL;
}
