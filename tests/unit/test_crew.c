/* SPDX-License-Identifier: MIT
 * test_crew.c - pmap and pcalls where it is hardest to get them right: what items leave behind, limits that all of them
 * share, short memory, collections at every safepoint, and threads that end at every moment. */
#include "api_tool_help.h"

#include "tool/toolset.h"

/* Waits {"ms": n} and gives the arguments back. */
static PtcToolAnswer nap(PtcToolCall *call, void *user)
{
    int64_t ms = 0;
    (void)user;
    ptc_value_int(ptc_value_get(ptc_call_args(call), "ms", 2), &ms);
    for (; ms > 0 && !ptc_call_cancelled(call); ms--)
        check_pause_us(1000);
    ptc_call_return(call, ptc_call_args(call));
    return PTC_TOOL_ANSWERED;
}

static PtcTools *make_tools(void)
{
    PtcTools *tools = ptc_tools_new();
    PtcToolDef def;
    ptc_tool_def_init(&def, sizeof def);
    def.name = "nap";
    def.name_len = 3;
    def.function = nap;
    CHECK(ptc_tools_add(tools, &def, NULL, 0) == PTC_OK);
    return tools;
}

/* ------------------------------------------------------------------ what items leave behind */

/* Item 1 collects after its call, item 0 does not: one record is a text and the other still values. */
static void test_records(Ptc *ptc, PtcTools *tools)
{
    PtcOutcome *o =
        start_with(ptc, tools,
                   "(do (pmap (fn [i] (tool/nap {:ms 20 :i i :text (apply str (repeat 50 i))})"
                   "                  (if (= i 1) (count (reduce (fn [v x] (conj v (str x))) [] "
                   "(range 60000))))"
                   "                  (tool/nap {:ms (* 50 (- 1 i)) :i i}) nil)"
                   "          [0 1])"
                   "    (reduce + (map (fn [x] (count (mapv str (range 30000)))) (range 20))))",
                   NULL);
    for (size_t i = 0; i < ptc_outcome_tool_count(o, NULL); i++) {
        PtcToolRecord r = {.size = sizeof r};
        char want[16], text[100];
        CHECK(ptc_outcome_tool(o, i, &r));
        snprintf(want, sizeof want, "\"i\" %d", i < 2 ? 0 : 1);
        snprintf(text, sizeof text, "%.*s", (int)r.arguments_len, r.arguments);
        if (!strstr(text, want))
            CHECK_STR(text, want);
    }
    CHECK(ptc_outcome_tool_count(o, NULL) == 4);
    ptc_outcome_free(o);
}

static void test_prints(Ptc *ptc, PtcTools *tools)
{
    static const char *const floods[] = {
        "(pmap (fn [i] (println (apply str (repeat 200 \"x\")))) [1])",
        "(pmap (fn [i] (dotimes [k 300] (println))) [1])",
        "(pmap (fn [i] (tool/nap {:ms 2}) (println (apply str (repeat 200 i)))) (range 9))",
    };
    PtcLimits limits = patient_limits();
    limits.print_bytes = 100;
    for (size_t i = 0; i < 3; i++) {
        PtcOutcome *o = start_with(ptc, tools, floods[i], &limits);
        CHECK(ptc_outcome_prints_cut(o));
        ptc_outcome_free(o);
    }
    limits.print_bytes = 4096;
    PtcOutcome *o = start_with(ptc, tools,
                               "(pmap (fn [i] (tool/nap {:ms i}) (if (= i 4) (/ 1 0)) "
                               "(println i (if (> i 4) (apply str (repeat 5000 i)) \"\"))) "
                               "(range 9))",
                               &limits);
    CHECK(!ptc_outcome_prints_cut(o) && ptc_outcome_print_count(o) == 4);
    ptc_outcome_free(o);
}

/* In the order of the items, one for each place, whichever thread came to it first. */
static void test_warnings(Ptc *ptc, PtcTools *tools)
{
    PtcWarning w = {.size = sizeof w};
    for (int round = 0; round < 20; round++) {
        PtcOutcome *o = start_with(ptc, tools,
                                   "(pmap (fn [i] (tool/nap {:ms (- 12 i)})\n"
                                   " (if (odd? i) (sum-by (keyword (str \"k\" i)) [{:a 1}])\n"
                                   "  (avg-by (keyword (str \"k\" i)) [{:a 1}]))) (range 12))",
                                   NULL);
        CHECK(ptc_outcome_ok(o) && ptc_outcome_warning_count(o) == 2);
        CHECK(ptc_outcome_warning(o, 0, &w) && w.line == 3 && strstr(w.message, "key :k0"));
        CHECK(ptc_outcome_warning(o, 1, &w) && w.line == 2 && strstr(w.message, "key :k1"));
        ptc_outcome_free(o);
    }
}

static void test_steps(Ptc *ptc, PtcTools *tools)
{
    PtcRun run = a_run("(step-done :all \"begun\")"
                       "(pmap (fn [i] (tool/nap {:ms 2}) (task i (* i i))"
                       "              (step-done i (str \"item \" i))) (range 6))"
                       "(pmap (fn [i] (if (= i 1) (task-reset 3)) (task 3 :again)) (range 2))",
                       NULL, 0);
    PtcData *data = ptc_data_new(ptc, PTC_UNSET);
    PtcOutcome *o = NULL;
    run.tools = tools;
    run.journal = ptc_make_map(data, NULL, 0);
    CHECK(ptc_eval(ptc, &run, &o) == PTC_OK && ptc_outcome_ok(o));
    CHECK(ptc_value_count(ptc_outcome_journal(o)) == 6);
    CHECK(ptc_value_count(ptc_outcome_summaries(o)) == 7);
    PtcType type = ptc_value_type(ptc_value_get(ptc_outcome_journal(o), "3", 1));
    CHECK(type == PTC_TYPE_KEYWORD);
    ptc_outcome_free(o);
    ptc_data_free(data);
}

/* The ids in the journal that a program leaves, in order. */
static void expect_journal(int line, Ptc *ptc, const char *program, const char *want)
{
    char got[TEXT] = "";
    PtcData *data = ptc_data_new(ptc, PTC_UNSET);
    PtcRun run = a_run(program, NULL, 0);
    PtcOutcome *o = NULL;
    run.journal = ptc_make_map(data, NULL, 0);
    CHECK(ptc_eval(ptc, &run, &o) == PTC_OK);
    for (size_t i = 0; i < ptc_value_count(ptc_outcome_journal(o)); i++) {
        size_t len;
        const char *id = "";
        CHECK(ptc_value_string(ptc_value_key_at(ptc_outcome_journal(o), i), &id, &len));
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s ", id);
    }
    check_str("", line, program, got, want);
    ptc_outcome_free(o);
    ptc_data_free(data);
}

#define JOURNAL(program, want) expect_journal(__LINE__, ptc, program, want)

/* An item begins with the journal of before; what it changed comes to what the others did. */
static void test_journals(Ptc *ptc)
{
    JOURNAL("(task :a 1) (pmap (fn [i] (task i i)) (range 3)) (task :z 2)", "a 0 1 2 z ");
    JOURNAL("(pmap (fn [i] (pmap (fn [j] (task (str i j) j)) (range 2)) (task i i)) (range 2))",
            "00 01 0 10 11 1 ");
    JOURNAL("(task :a 1) (task :b 2) (pmap (fn [i] (task-reset (if (= i 0) :a :c))) (range 2))",
            "b ");
    JOURNAL("(pmap (fn [i] (if (= i 0) (task :a i) (do (task :a i) (task-reset :a)))) (range 2))",
            "a ");
    JOURNAL("(task :a 1) (pmap (fn [_] (pmap (fn [_] (task-reset :a)) [1])) [1])", "");
    JOURNAL("(task :a 1) (pmap (fn [_] (task-reset :a) (task :b 1) (task :a 3)) [1])", "a b ");
    JOURNAL("(task :a 1) (pmap (fn [i] (task i i) (when (= i 1) (fail :no))) (range 2))", "a 0 1 ");
}

/* Runs a program whose memoized function calls a tool; of several items that ask for the same, one calls. */
static void expect_calls(int line, Ptc *ptc, PtcTools *tools, const char *program, const char *want,
                         size_t calls)
{
    char got[TEXT] = "no outcome";
    PtcOutcome *o = start_with(ptc, tools, program, NULL);
    if (o)
        tell(o, got);
    check_str("", line, program, got, want);
    char made[24], wanted[24];
    snprintf(made, sizeof made, "%zu calls", ptc_outcome_tool_count(o, NULL));
    snprintf(wanted, sizeof wanted, "%zu calls", calls);
    check_str("", line, program, made, wanted);
    ptc_outcome_free(o);
}

#define NAPPING "(def f (memoize (fn [x] (:x (tool/nap {:ms 20 :x x})))))"

static void test_memo(Ptc *ptc, PtcTools *tools)
{
#define CALLS(program, want, calls) expect_calls(__LINE__, ptc, tools, program, want, calls)
    CALLS(NAPPING "(pmap f [1 2 1 2 1 2 1 2])", "[1 2 1 2 1 2 1 2]", 2);
    CALLS(NAPPING "[(pmap f [1 2]) (pmap f [2 1 3]) (f 3) (f 1)]", "[[1 2] [2 1 3] 3 1]", 3);
    CALLS(NAPPING "(pmap (fn [i] (pmap f [1 2 (mod i 2)])) (range 4))",
          "[[1 2 0] [1 2 1] [1 2 0] [1 2 1]]", 3);
    CALLS(NAPPING "(pmap (fn [i] [(f {:a [1 \"b\"]}) (f {:a [1 \"b\"]})]) (range 3))",
          "[[{\"a\" [1 \"b\"]} {\"a\" [1 \"b\"]}] [{\"a\" [1 \"b\"]} {\"a\" [1 \"b\"]}] "
          "[{\"a\" [1 \"b\"]} {\"a\" [1 \"b\"]}]]",
          1);
    /* made in the item: the item's own */
    CALLS("(pmap (fn [i] (let [g (memoize (fn [x] (:x (tool/nap {:i i :x x}))))] [(g 1) (g 1)])) "
          "[0 1])",
          "[[1 1] [1 1]]", 2);
    CALLS("(pmap (fn [i] (let [g (memoize (fn [x] (:x (tool/nap {:ms 9 :i i :x x}))))] (pmap g [1 "
          "1 1]))) "
          "[0 1])",
          "[[1 1 1] [1 1 1]]", 2);
    /* a call that fails is not remembered, and others try for themselves */
    CALLS("(def g (memoize (fn [x] (tool/nap {:ms 5}) (/ 1 x))))"
          "(pmap (fn [i] (try (g 0) (catch Exception e :bad))) (range 3))",
          "[:bad :bad :bad]", 3);
#undef CALLS
    WITH("(def fib (memoize (fn [n] (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))))"
         "(pmap (fn [i] (tool/nap {:ms 1}) (fib i)) (range 40 44))",
         "[102334155 165580141 267914296 433494437]");
    WITH("(def g (memoize (fn [x] (tool/nap {:ms 1}) (fn [y] (+ x y)))))"
         "(map (fn [h] (h 1)) (pmap g [1 2 1 2]))",
         "[2 3 2 3]");
    PtcLimits limits = patient_limits();
    limits.deadline_ms = 100;
    LIMITED("(def g (memoize (fn [x] (tool/nap {:ms 9000})))) (pmap g [1 1 1])", "!deadline");
}

/* ---------------------------------------------------------------------------- shared limits */

static void test_limits(Ptc *ptc, PtcTools *tools)
{
    PtcLimits limits = patient_limits();
    limits.loop_limit = 1000;
    LIMITED("(count (pmap (fn [i] (loop [n 0] (if (< n 90) (recur (inc n)) n))) (range 10)))",
            "10");
    LIMITED("(count (pmap (fn [i] (loop [n 0] (if (< n 90) (recur (inc n)) n))) (range 12)))",
            "!loop_limit_exceeded 1:8");
    limits = patient_limits();
    LIMITED("(count (pmap inc (range 100000)))", "100000");
    /* What the helpers compute is computed by the program. */
    limits.timeout_ms = 300;
    limits.loop_limit = INT64_MAX / 4;
    LIMITED("(dotimes [k 3000] (pmap (fn [i] (if (= i 0) (tool/nap {:ms 2}) "
            "(loop [n 0] (if (< n 300000) (recur (inc n)) n)))) [0 1]))",
            "!timeout");
    /* What they wait is not. */
    LIMITED("(count (pmap (fn [i] (pmap (fn [k] (tool/nap {:ms 400})) [0 1])) (range 4)))", "4");
}

/* Live data of nested items counts as if it were in one heap. */
static void test_memory(Ptc *ptc, PtcTools *tools)
{
    PtcLimits limits = patient_limits();
    LIMITED("(defn down [n] (let [v (vec (range 700000))]"
            " (if (= n 0) (count v) (+ (count v) (first (pmap (fn [_] (down (dec n))) [1]))))))"
            "(down 20)",
            "!memory_exceeded");
    LIMITED("(defn down [n] (let [v (vec (range 7000))]"
            " (if (= n 0) (count v) (+ (count v) (first (pmap (fn [_] (down (dec n))) [1]))))))"
            "(down 20)",
            "147000");
    /* Garbage of the items is no reason to have no journal. */
    PtcRun run =
        a_run("(count (pmap (fn [i] (tool/nap {:ms 2}) (task i (apply str (repeat 3000 i)))"
              "   (count (vec (range 20000)))) (range 40)))",
              NULL, 0);
    PtcData *data = ptc_data_new(ptc, PTC_UNSET);
    PtcOutcome *o = NULL;
    char got[TEXT];
    run.tools = tools;
    run.limits = &limits;
    limits.memory_bytes = 3 << 20;
    run.journal = ptc_make_map(data, NULL, 0);
    CHECK(ptc_eval(ptc, &run, &o) == PTC_OK);
    tell(o, got);
    CHECK_STR(got, "40");
    ptc_outcome_free(o);
    ptc_data_free(data);
}

static int64_t looks_ms(void *user)
{
    return ++*(int64_t *)user;
}

/* Time runs out for the last item, and with it for whoever merges: the others have done what they did all the same. */
static void test_late(void)
{
    static const char program[] =
        "(pmap (fn [i] (if (< i 9999) (task i i) (reduce + (range)))) (range 10000))";
    PtcLimits limits = patient_limits();
    PtcOptions options;
    int64_t now = 0;
    ptc_options_init(&options, sizeof options);
    limits.max_workers = 1;
    limits.timeout_ms =
        2000; /* of a clock that goes on when it is looked at, whatever the machine does */
    options.limits = &limits;
    options.clock_ms = looks_ms;
    options.clock_user = &now;
    Ptc *ptc = ptc_new(&options);
    PtcData *data = ptc_data_new(ptc, PTC_UNSET);
    PtcRun run = a_run(program, NULL, 0);
    PtcOutcome *o = NULL;
    char got[TEXT];
    run.journal = ptc_make_map(data, NULL, 0);
    CHECK(ptc_eval(ptc, &run, &o) == PTC_OK);
    tell(o, got);
    CHECK_STR(got, "!timeout 1:41");
    CHECK(ptc_value_count(ptc_outcome_journal(o)) == 9999);
    ptc_outcome_free(o);
    ptc_data_free(data);
    end_engine(ptc);
}

/* Pages with little in them come back from every pmap: they must not pile up. */
static void test_pages(void)
{
    Ptc *ptc = new_engine(false, 0);
    PtcOutcome *o = start_with(ptc, NULL,
                               "(loop [acc [] k 0] (if (< k 60) (recur (into acc (pmap (fn [i]"
                               " (mapv (fn [j] (count (mapv str (range 150))) (str j)) (range 40)))"
                               " (range 8))) (inc k)) (count acc)))",
                               NULL);
    CHECK(ptc_outcome_ok(o) && o->heap.page_bytes < 4 * 1024 * 1024);
    ptc_outcome_free(o);
    end_engine(ptc);
}

/* ------------------------------------------------------------------------ in every place */

/* pmap inside of what calls back, roots, compares, captures, remembers; each gives the same under every kind of
 * stress. */
static const char *const places[][2] = {
    {"(pmap (fn [a] (pmap (fn [b] (pmap (fn [c] (+ a b c)) [1 2])) [10 20])) [100 200])",
     "[[[111 112] [121 122]] [[211 212] [221 222]]]"},
    {"(sort (fn [a b] (apply < (pmap (fn [x] (tool/nap {:ms 0}) x) [a b]))) [3 1 2 5 4])",
     "[1 2 3 4 5]"},
    {"(sort-by (fn [x] (first (pmap str [x x]))) [10 9 100])", "[10 100 9]"},
    {"(keys (into (sorted-map-by (fn [a b] (first (pmap compare [b 1] [a 1])))) "
     "(map (fn [i] [i (str i)]) (range 20))))",
     "[19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0]"},
    {"(let [m (into (sorted-map-by (fn [a b] (first (pmap compare [a] [b])))) "
     "(map (fn [i] [i i]) (range 40)))] (pmap (fn [i] (count (dissoc (assoc m (+ i 100) i) i))) "
     "(range 5)))",
     "[40 40 40 40 40]"},
    {"(count (with-out-str (pmap (fn [i] (println (str \"line \" i))) (range 20)) (println 1)))",
     "152"},
    {"(pmap (fn [i] (with-out-str (pmap (fn [k] (println k)) (range 2)))) (range 2))",
     "[\"0\\n1\\n\" \"0\\n1\\n\"]"},
    {"(let [f (memoize (fn [x] (pmap (fn [y] (* x y)) [1 2 3])))] [(f 2) (pmap f [2 3]) (f 3)])",
     "[[2 4 6] [[2 4 6] [3 6 9]] [3 6 9]]"},
    {"(def f (memoize (fn [x] (tool/nap {:ms 1}) (mapv str (range x))))) [(pmap f [3 3 2 3]) (f "
     "2)]",
     "[[[\"0\" \"1\" \"2\"] [\"0\" \"1\" \"2\"] [\"0\" \"1\"] [\"0\" \"1\" \"2\"]] [\"0\" \"1\"]]"},
    {"(def f (memoize (fn [x] (fn [y] [x y])))) (pmap (fn [i] (pmap (fn [k] ((f k) i)) [1 1])) [5 "
     "6])",
     "[[[1 5] [1 5]] [[1 6] [1 6]]]"},
    {"(try (pmap (fn [i] (try (if (= i 3) (throw (ex-info \"x\" {:i i})) i) "
     "(finally (pmap inc [1 2])))) (range 6)) (catch Exception e (ex-data e)) "
     "(finally (pmap inc [1 2])))",
     "{:i 3}"},
    {"(into [] (comp (map (fn [x] (pmap inc [x x]))) (filter (fn [v] (every? odd? (pmap inc v))))"
     " (take 2) (partition-all 2)) (range 10))",
     "[[[2 2] [4 4]]]"},
    {"(transduce (map (fn [x] (reduce + (pmap inc (range x))))) + (range 6))", "35"},
    {"(reduce (fn [acc x] (conj acc (count (pmap vector acc acc)))) [] (range 5))", "[0 1 2 3 4]"},
    {"(take 3 (map (fn [x] (pmap inc [x])) (iterate (fn [x] (first (pmap inc [x]))) 0)))",
     "[[1] [2] [3]]"},
    {"(take 4 (repeatedly (fn [] (pmap inc [1]))))", "[[2] [2] [2] [2]]"},
    {"(task :a (pmap (fn [i] (task i (pmap inc [i]))) (range 3)))", "[[1] [2] [3]]"},
    {"(def v (vec (range 40))) (def m (zipmap (range 40) (range 40))) "
     "[(reduce + (map count (pmap (fn [i] (conj v i i i)) (range 9)))) "
     "(reduce + (map count (pmap (fn [i] (assoc m (+ 100 i) i)) (range 9)))) (count v) (count m)]",
     "[387 369 40 40]"},
    {"(let [v (into [] (range 33)) a (conj v :a)] "
     "[(pmap (fn [i] (peek (conj v i))) (range 3)) (peek a) (count (conj v :b))])",
     "[[0 1 2] :a 34]"},
    {"(let [m (into {} (map (fn [i] [(str \"k\" i) i]) (range 30)))] "
     "(pmap (fn [i] (let [x (reduce (fn [m k] (assoc m (str \"n\" k) k)) m (range i))] "
     "[(count x) (get x \"n2\") (get x \"k7\")])) [2 3 40]))",
     "[[32 nil 7] [33 2 7] [70 2 7]]"},
    {"(reduce + (map count (pmap (fn [i] (re-seq #\"[a-z]+\" (str \"ab cd \" i \" ef\"))) "
     "(range 10))))",
     "30"},
    {"(pcalls (fn [] (pmap inc [1])) (fn [] (def zz 1)) (fn [] (tool/nap {:ms 1})))", NULL},
    {"(def x 5) [(pmap (fn [i] (def x (+ x i)) x) [1 2 3]) x]", "[[6 7 8] 5]"},
    {"(map (fn [f] (f 3)) (pmap (fn [i] (fn [x] (+ x i))) (range 4)))", "[3 4 5 6]"},
    {"(let [s (set (range 50))] (pmap (fn [i] (count (conj s i -1 -2))) [3 60]))", "[52 53]"},
    {"(pmap (fn [x] (x 1)) [inc dec {1 :one} #{1} [5 6]])", "[2 0 :one 1 6]"},
    {"(pmap (fn [[a & b]] (conj (vec b) a)) (partition 3 (range 9)))", "[[1 2 0] [4 5 3] [7 8 6]]"},
    {"(pmap + (range 5) [10 20 30] (list 100 200 300))", "[110 221 332]"},
    {"(group-by (fn [x] (first (pmap odd? [x]))) (range 5))", NULL},
    {"(update-vals {:a 1 :b 2} (fn [v] (pmap inc [v])))", "{:a [2], :b [3]}"},
    {"(reduce + (pmap (fn [i] (if (even? i) (tool/nap {:ms 1})) (loop [n 0] (if (< n 50) "
     "(recur (inc n)) n))) (range 20)))",
     "1000"},
};
enum { PLACES = sizeof places / sizeof places[0] };

static PtcOutcome *run_place(Ptc *ptc, PtcTools *tools, size_t i)
{
    PtcData *data = ptc_data_new(ptc, PTC_UNSET);
    PtcRun run = a_run(places[i][0], NULL, 0);
    PtcOutcome *o = NULL;
    run.tools = tools;
    run.journal = data ? ptc_make_map(data, NULL, 0) : 0;
    if (ptc_eval(ptc, &run, &o) != PTC_OK)
        o = NULL;
    ptc_data_free(data);
    return o;
}

static void check_place(Ptc *ptc, PtcTools *tools, size_t i)
{
    char got[TEXT] = "no outcome";
    PtcOutcome *o = run_place(ptc, tools, i);
    if (o)
        tell(o, got);
    if (places[i][1])
        check_str("", __LINE__, places[i][0], got, places[i][1]);
    else
        CHECK(got[0] != '!');
    ptc_outcome_free(o);
}

static void test_places(PtcTools *tools)
{
    for (int stress = 0; stress < 2; stress++) {
        Ptc *ptc = new_engine(stress, 0);
        for (size_t i = 0; i < PLACES; i++)
            check_place(ptc, tools, i);
        end_engine(ptc);
    }
}

/* Every allocation gets to fail; what comes of it is an error or the result, and nothing is lost. */
static void test_short(PtcTools *tools)
{
    for (size_t i = 0; i < PLACES; i++) {
        for (int n = 1, fine = 0; n < 400 && fine < 20; n++) {
            Ptc *ptc = new_engine(n % 2, n);
            PtcOutcome *o = run_place(ptc, tools, i);
            bool ok = o && ptc_outcome_ok(o);
            fine = ok ? fine + 1 : 0;
            if (o && !ok)
                CHECK_STR(first_error(o).kind, "memory_exceeded");
            ptc_outcome_free(o);
            end_engine(ptc);
        }
    }
}

typedef struct {
    Ptc *ptc;
    long us;
} Cancel;

static void *cancel_soon(void *arg)
{
    const Cancel *c = arg;
    check_pause_us(c->us);
    ptc_cancel(c->ptc);
    return NULL;
}

/* A cancel at any moment; the engine is as good as before. */
static void test_cancel(PtcTools *tools)
{
    Ptc *ptc = new_engine(false, 0);
    for (size_t k = 0; k < 4 * PLACES; k++) {
        Cancel c = {ptc, (long)(k * 37 % 1500)};
        pthread_t thread;
        pthread_create(&thread, NULL, cancel_soon, &c);
        PtcOutcome *o = run_place(ptc, tools, k % PLACES);
        if (!ptc_outcome_ok(o))
            CHECK_STR(first_error(o).kind, "cancelled");
        ptc_outcome_free(o);
        pthread_join(thread, NULL);
        check_place(ptc, tools, k % PLACES);
    }
    end_engine(ptc);
}

/* Each item fails in turn, among slow and quick ones: the lowest failure is the one that is told. */
static void test_failures(PtcTools *tools)
{
    Ptc *ptc = new_engine(false, 0);
    for (int at = 0; at < 12; at++) {
        char program[500], want[40];
        snprintf(program, sizeof program,
                 "(try (pmap (fn [i] (println i) (if (= 0 (mod (+ i %d) 3)) (tool/nap {:ms 2})) "
                 "(task i i) (if (>= i %d) (throw (ex-info \"bad\" {:i i})) i)) (range 12)) "
                 "(catch Exception e (ex-data e)))",
                 at, at);
        snprintf(want, sizeof want, "{:i %d}", at);
        WITH(program, want);
    }
    end_engine(ptc);
}

/* ---------------------------------------------------------------------------------- depth */

/* The promise to callers is that half a mebibyte of stack is enough. */
static void *go_deep(void *arg)
{
    PtcTools *tools = arg;
    Ptc *ptc = new_engine(false, 0);
    WITH("(defn f [n] (if (= n 0) 0 (inc (first (pmap f [(dec n)]))))) (f 90)", "90");
    /* every level has a heap, and all of them share a limit */
    WITH("(defn f [n] (first (pmap f [(inc n)]))) (f 0)", "!memory_exceeded");
    WITH("(defn f [n] (tool/nap {:ms 0}) (reduce + (pmap f [(inc n) (inc n)]))) (f 0)",
         "!memory_exceeded");
    WITH("(defn f [n] (sort (fn [a b] (f (inc n))) (pmap inc [1 2 3]))) (f 0)", "!depth_exceeded");
    WITH("(defn f [n] (try (first (pmap f [(inc n)])) (finally (pmap inc [1])))) (f 0)",
         "!memory_exceeded");
    end_engine(ptc);
    return NULL;
}

static void test_depth(PtcTools *tools)
{
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
#ifdef NDEBUG /* frames of other builds are larger */
    pthread_attr_setstacksize(&attr, 512 * 1024);
#endif
    bool started = pthread_create(&thread, &attr, go_deep, tools) == 0;
    if (started)
        pthread_join(thread, NULL);
    CHECK(started);
    pthread_attr_destroy(&attr);
}

int main(void)
{
    Ptc *ptc = new_engine(false, 0);
    PtcTools *tools = make_tools();
    CHECK_RUN(test_records(ptc, tools));
    CHECK_RUN(test_prints(ptc, tools));
    CHECK_RUN(test_warnings(ptc, tools));
    CHECK_RUN(test_steps(ptc, tools));
    CHECK_RUN(test_journals(ptc));
    CHECK_RUN(test_memo(ptc, tools));
    CHECK_RUN(test_limits(ptc, tools));
    CHECK_RUN(test_memory(ptc, tools));
    CHECK_RUN(test_pages());
    CHECK_RUN(test_late());
    CHECK_RUN(test_places(tools));
    CHECK_RUN(test_failures(tools));
    CHECK_RUN(test_cancel(tools));
    CHECK_RUN(test_depth(tools));
    CHECK_RUN(test_short(tools));
    ptc_tools_free(tools);
    end_engine(ptc);
    return check_done("test_crew");
}
