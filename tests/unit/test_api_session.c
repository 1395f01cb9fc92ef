/* SPDX-License-Identifier: MIT
 * test_api_session.c - ptc.h, second part: sessions, batch requests, the clock, cancelling, memory that runs out at
 * every single allocation, and collections at every safepoint. */
#include "api_help.h"

/* ------------------------------------------------------------------------------ sessions */

static void test_session(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc), *other = ptc_session_new(ptc);
    CHECK(ptc_session_count(s) == 0);
    EXPECT(ptc, s, "(def x 1)", "#'x");
    EXPECT(ptc, s, "(def y [x (+ x 1)]) (return y)", "[1 2]");
    CHECK(ptc_session_count(s) == 2 && ptc_session_bytes(s) > 0);
    EXPECT(ptc, s, "(def x 10) (def z 3) (/ 1 0)", "!arithmetic_error 1:22");
    EXPECT(ptc, s, "(def x 10) (def z 3) (fail x)", "!fail 1:22");
    EXPECT(ptc, s, "(def x 10) (def z 3) (nowhere)", "!unbound_var 1:23");
    EXPECT(ptc, s, "(def x 10) (def z 3", "!parse_error 1:12");
    CHECK(ptc_session_count(s) == 2);
    EXPECT(ptc, s, "[x y]", "[1 [1 2]]");
    EXPECT(ptc, s, "z", "!unbound_var 1:1");
    EXPECT(ptc, s, "(defonce x 5) (defonce w 6) [x w]", "[1 6]");
    EXPECT(ptc, other, "x", "!unbound_var 1:1");
    EXPECT(ptc, NULL, "x", "!unbound_var 1:1");
    EXPECT(ptc, s, "(defn sq [n] (* n n)) (def add (let [k 7] (fn [n] (+ n k))))", "#'add");
    EXPECT(ptc, s, "(map (comp sq add) [1 2])", "[64 81]");
    EXPECT(ptc, s, "(defn sq [n] (str n)) (def old add) (def add 5)", "#'add");
    EXPECT(ptc, s, "[(sq 3) (old 1) add]", "[\"3\" 8 5]");
    EXPECT(ptc, s, "(if false (def never 1)) 2", "2");
    EXPECT(ptc, s, "never", "!unbound_var 1:1");
    EXPECT(ptc, s, "(def map 1) (def unbuilt map) [map unbuilt]", "[1 1]");
    ptc_session_free(other);
    ptc_session_free(s);
    end_engine(ptc);
}

/* A large map is copied with the hashes of its keys; those of functions must not depend on where they lie. */
static void test_function_keys(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    EXPECT(ptc, s,
           "(def fs (mapv (fn [i] (fn [] i)) (range 40))) (def m (zipmap fs (range 40)))"
           "(def pairs (set (map (fn [f] [f :x]) fs)))"
           "(def odd (letfn [(a [n] (b n)) (b [n] (a n))] [a b]))"
           "(def mixed (into m [[(odd 0) :a] [(odd 1) :b] [inc :c] [(partial + 1) :d]]))",
           "#'mixed");
    EXPECT(ptc, s, "(= (map m fs) (range 40))", "true");
    EXPECT(ptc, s, "(every? (fn [f] (contains? pairs [f :x])) fs)", "true");
    EXPECT(ptc, s, "[(mixed (odd 0)) (mixed (odd 1)) (mixed inc) (mixed (fs 7))]", "[:a :b :c 7]");
    ptc_session_free(s);
    end_engine(ptc);
}

/* Errors inside a function of an earlier program are shown in the text of that program. */
static void test_kept_functions(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    EXPECT(ptc, s,
           ";; first\n(defn f\n  ([x] (f x 0))\n  ([x y]   (/ x y)))\n(defn g [& xs] (map f xs))",
           "#'g");
    EXPECT(ptc, s, "(f 6 3)", "2");
    PtcOutcome *o = start(ptc, "(g 1)", s, 0);
    PtcError e = first_error(o);
    CHECK_STR(e.kind, "arithmetic_error");
    CHECK_STR(e.form, "(/ x y)");
    CHECK(e.line == 4 && e.column == 12 && e.earlier == 1);
    ptc_outcome_free(o);
    o = start(ptc, "(defn h [] (/ 1 0)) (f 1 1) (h)", s, 0);
    e = first_error(o);
    CHECK_STR(e.form, "(/ 1 0)");
    CHECK(e.line == 1 && e.column == 12 && e.earlier == 0);
    ptc_outcome_free(o);
    o = start(ptc, "(h)", s, 0); /* it went with the program that defined it */
    e = first_error(o);
    CHECK_STR(e.message, "nothing is named h");
    CHECK(strstr(e.hint, "the program that defined it failed") != NULL);
    ptc_outcome_free(o);
    EXPECT(ptc, s, "(g 1 2 (f 3 1))", "!arithmetic_error 4:12");
    EXPECT(ptc, s, "(f)", "!arity_error 1:1");
    ptc_session_free(s);
    end_engine(ptc);
}

static void test_many_runs(void)
{
    enum { RUNS = 5000 };
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    PtcOutcome *kept = NULL;
    char program[200], want[40];
    size_t most = 0;
    EXPECT(ptc, s, "(def total 0) (def words []) (defn g [x] x) (def fixed {:a (vec (range 50))})",
           "#'fixed");
    for (int i = 0; i < RUNS; i++) {
        snprintf(
            program, sizeof program,
            "(def total (inc total)) (def words (conj (if (< (count words) 40) words []) \"w%d\"))"
            "(defn g [x] (+ x %d)) (def m (assoc fixed :i %d)) [(g 1) (:i m) (count (:a fixed))]",
            i, i, i);
        snprintf(want, sizeof want, "[%d %d 50]", i + 1, i);
        EXPECT(ptc, s, program, want);
        most = ptc_session_bytes(s) > most ? ptc_session_bytes(s) : most;
        if (i == RUNS / 2)
            kept = start(ptc, "[words m]", s, 0);
    }
    EXPECT(ptc, s, "total", "5000");
    CHECK(most <= 400 * 1024 && ptc_session_count(s) == 5);
    CHECK(atomic_load(&ptc->mem.used) < 6 << 20);
    ptc_session_free(s);
    CHECK(strstr(ptc_outcome_text(kept, NULL, NULL),
                 "\"w2500\"]")); /* its heap was compacted away since */
    ptc_outcome_free(kept);
    end_engine(ptc);
}

static void test_lifetimes(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    PtcData *d = ptc_data_new(ptc, PTC_UNSET);
    PtcValue c = ptc_make_json(d, "{\"x\":{\"deep\":[1,\"two\"]}}", 24, NULL, 0);
    EXPECT(ptc, s, "(def kept {:k (str \"a\" \"b\")}) (def f (fn [x] [x kept]))", "#'f");
    PtcOutcome *o = start(ptc, "[data/x (f 1) (conj (:deep data/x) f)]", s, c);
    PtcOutcome *stored = start(ptc, "(def from-data data/x) data/x", s, c);
    ptc_data_free(d);
    EXPECT(ptc, s, "(:deep from-data)", "[1 \"two\"]");
    ptc_session_free(s);
    CHECK_STR(ptc_outcome_text(o, NULL, NULL),
              "[{\"deep\" [1 \"two\"]} [1 {:k \"ab\"}] [1 \"two\" #fn[anonymous]]]");
    CHECK_STR(ptc_outcome_json(stored, NULL), "{\"deep\":[1,\"two\"]}");
    CHECK(ptc_value_count(ptc_value_at(ptc_outcome_value(o), 0)) == 1);
    ptc_outcome_free(o);
    ptc_outcome_free(stored);
    end_engine(ptc);
}

static Ptc *with_session_bytes(int64_t bytes)
{
    PtcLimits limits = patient_limits();
    PtcOptions options;
    ptc_options_init(&options, sizeof options);
    limits.session_bytes = bytes;
    options.limits = &limits;
    return ptc_new(&options);
}

static void test_session_limit(void)
{
    Ptc *ptc = with_session_bytes(300 * 1024);
    PtcSession *s = ptc_session_new(ptc);
    EXPECT(ptc, s, "(def a (vec (range 1000)))", "#'a");
    size_t bytes = ptc_session_bytes(s);
    for (int i = 0; i < 5; i++) {
        EXPECT(ptc, s, "(def a 0) (def b (vec (range 40000)))", "!memory_exceeded 1:1");
        EXPECT(ptc, s, "(def b (vec (range 40000))) (return 1)", "!memory_exceeded 1:1");
        CHECK(ptc_session_bytes(s) <= bytes && ptc_session_count(s) == 1);
        EXPECT(ptc, s, "(count a)", "1000");
        EXPECT(ptc, s, "b", "!unbound_var 1:1");
    }
    for (int i = 0; i < 50; i++) /* room is made by giving up the old value */
        EXPECT(ptc, s, "(def b (vec (range 20000))) (count b)", "20000");
    CHECK(ptc_session_bytes(s) <= 300 * 1024);
    ptc_session_free(s);
    end_engine(ptc);
}

/* What tasks did does not fit, though the definitions do. */
static void test_session_journal_limit(void)
{
    Ptc *ptc = with_session_bytes(64 * 1024);
    PtcSession *s = ptc_session_new(ptc);
    PtcData *data = ptc_data_new(ptc, -1);
    PtcRun run =
        a_run("(def x 5) (task \"a\" (mapv (fn [i] (str \"item \" i)) (range 5000))) (return 7)", s,
              PTC_NIL);
    PtcOutcome *o = NULL;
    PtcError e = {.size = sizeof e};
    run.journal = ptc_make_json(data, "{}", 2, NULL, 0);
    CHECK(ptc_eval(ptc, &run, &o) == PTC_OK && !ptc_outcome_ok(o));
    CHECK(ptc_outcome_error_count(o) == 1 && ptc_outcome_error(o, 0, &e));
    CHECK(strcmp(e.kind, "memory_exceeded") == 0 && strstr(e.message, "65536 bytes"));
    ptc_outcome_free(o);
    EXPECT(ptc, s, "x", "5");
    ptc_data_free(data);
    ptc_session_free(s);
    end_engine(ptc);
}

/* ---------------------------------------------------------------------------------- batch */

/* The answer is one line of JSON that holds `want`. */
static void ask(int line, Ptc *ptc, const char *request, const char *want)
{
    char *text = NULL;
    size_t len = 0;
    CHECK(ptc_eval_json(ptc, request, strlen(request), &text, &len) == PTC_OK);
    PtcData *d = ptc_data_new(ptc, PTC_UNSET);
    bool good = text && strlen(text) == len && !strchr(text, '\n') &&
                ptc_make_json(d, text, len, NULL, 0) != 0;
    if (check_count(good && strstr(text, want)))
        printf("%s:%d: %s\n  got:  %s\n  want: %s\n", __FILE__, line, request,
               text ? text : "nothing", want);
    ptc_data_free(d);
    ptc_text_free(ptc, text, len);
}

#define ASK(ptc, request, want) ask(__LINE__, ptc, request, want)

static void test_batch_good(Ptc *ptc)
{
    ASK(ptc, "{\"program\":\"(+ 1 2)\"}",
        "{\"id\":null,\"ok\":true,\"text\":\"3\",\"json\":3,\"prints\":[]}");
    ASK(ptc, "{\"id\":{\"a\":[1,\"x\"]},\"program\":\"inc\"}",
        "{\"id\":{\"a\":[1,\"x\"]},\"ok\":true,\"text\":\"#fn[inc]\",");
    ASK(ptc,
        "{\"program\":\"(println \\\"h\xc3\xa9\\\") (return data/x)\",\"context\":{\"x\":[1]}}",
        "\"json\":[1],\"prints\":[\"h\xc3\xa9\"],\"control\":\"return\"}");
    ASK(ptc, "{\"id\":7,\"program\":\"(println 1)\\n(+ 1 \\\"a\\\")\"}",
        "{\"id\":7,\"ok\":false,\"reason\":\"runtime_error\","
        "\"phase\":\"run\",\"kind\":\"type_error\"");
    ASK(ptc, "{\"id\":7,\"program\":\"(foo) (bar)\"}", "\"line\":1,\"column\":8,");
    ASK(ptc, "{\"program\":\"(def x 5)\",\"session\":\"a\"}", "\"text\":\"#'x\"");
    ASK(ptc, "{\"program\":\"x\",\"session\":\"a\"}", "\"json\":5");
    ASK(ptc, "{\"program\":\"x\",\"session\":\"b\"}", "\"unbound_var\"");
    ASK(ptc, "{\"program\":\"x\"}", "\"unbound_var\"");
    ASK(ptc, "{\"program\":\"(loop [] (recur))\",\"options\":{\"loop_limit\":10}}",
        "\"kind\":\"loop_limit_exceeded\"");
    ASK(ptc,
        "{\"program\":\"1\",\"options\":{\"timeout_ms\":5,\"deadline_ms\":9,\"memory_mb\":1,\"max_"
        "depth\":9}}",
        "\"json\":1");
    ASK(ptc,
        "{\"program\":\"1\",\"context\":null,\"session\":null,\"options\":null,\"tools\":null}",
        "\"json\":1");
}

static void test_batch_bad(Ptc *ptc)
{
    static const char *const wrong[] = {
        "",
        "{",
        "nonsense",
        "{\"program\":\"1\"} 2",
        "[1]",
        "\"1\"",
        "null",
        "{}",
        "\xff",
        "{\"program\":1}",
        "{\"program\":null}",
        "{\"program\":[\"1\"]}",
        "{\"program\":{}}",
        "{\"program\":\"1\",\"context\":[1]}",
        "{\"program\":\"1\",\"context\":\"x\"}",
        "{\"program\":\"1\",\"context\":1}",
        "{\"program\":\"1\",\"session\":1}",
        "{\"program\":\"1\",\"session\":{}}",
        "{\"program\":\"1\",\"options\":[]}",
        "{\"program\":\"1\",\"options\":1}",
        "{\"program\":\"1\",\"options\":{\"timeout_ms\":\"5\"}}",
        "{\"program\":\"1\",\"options\":{\"timeout_ms\":1.5}}",
        "{\"program\":\"1\",\"options\":{\"timeout_ms\":-1}}",
        "{\"program\":\"1\",\"options\":{\"memory_mb\":99999999999}}",
        "{\"program\":\"1\",\"options\":{\"max_depth\":9999999}}",
        "{\"program\":\"1\",\"options\":{\"loop_limit\":null}}",
        "{\"program\":\"1\",\"options\":{\"loop_limit\":99999999999999999999999}}",
        "{\"program\":\"1\",\"options\":{\"x\":1}}",
        "{\"program\":\"1\",\"options\":{"
        "\"aaa\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
        "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\""
        ":1}}",
        "{\"program\":\"1\",\"tools\":[]}",
        "{\"program\":\"1\",\"signature\":\"\"}",
        "{\"program\":\"1\",\"journal\":[]}"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ask((int)i, ptc, wrong[i], "\"ok\":false,\"reason\":\"args_error\",");
    char *text = NULL;
    size_t len = 0;
    CHECK(ptc_eval_json(NULL, "{}", 2, &text, &len) == PTC_BAD_ARGUMENT);
    CHECK(ptc_eval_json(ptc, NULL, 0, &text, &len) == PTC_BAD_ARGUMENT);
    CHECK(ptc_eval_json(ptc, "{}", 2, NULL, &len) == PTC_BAD_ARGUMENT);
    CHECK(ptc_eval_json(ptc, "{}", 2, &text, NULL) == PTC_OK && text);
    ptc_text_free(ptc, text, 0);
    ptc_text_free(ptc, NULL, 0);
}

/* A request with a vector of n integers in its context, and one of `beside` outside of it. */
static void ask_sized(Ptc *ptc, int n, int beside, const char *want)
{
    size_t size = 200 + 2 * (size_t)(n + beside), len;
    char *request = ptc_mem_alloc(&ptc->mem, size);
    len = (size_t)snprintf(request, size, "{\"program\":\"(count data/x)\",\"context\":{\"x\":[1");
    for (int i = 1; i < n; i++)
        len += (size_t)snprintf(request + len, size - len, ",1");
    len += (size_t)snprintf(request + len, size - len, "]},\"more\":[1");
    for (int i = 1; i < beside; i++)
        len += (size_t)snprintf(request + len, size - len, ",1");
    snprintf(request + len, size - len, "]}");
    ask(n, ptc, request, want);
    ptc_mem_free(&ptc->mem, request, size);
}

/* The context of a line is held to its limit, without the rest of the line. */
static void test_batch_context(void)
{
    PtcLimits limits = patient_limits();
    PtcOptions options;
    ptc_options_init(&options, sizeof options);
    limits.context_bytes = 100000;
    options.limits = &limits;
    Ptc *ptc = ptc_new(&options);
    ask_sized(ptc, 10000, 1, "\"json\":10000");
    ask_sized(ptc, 10000, 20000, "\"json\":10000");
    ask_sized(ptc, 13000, 1,
              "\"reason\":\"args_error\",\"phase\":\"parse\",\"kind\":\"size_exceeded\","
              "\"message\":\"the context needs ");
    ask_sized(ptc, 500000, 1,
              "\"kind\":\"size_exceeded\",\"message\":\"the JSON needs more than its limit of ");
    ASK(ptc, "{\"program\":\"(+ 1 2)\"}", "\"json\":3");
    end_engine(ptc);
}

/* Every allocation of a request fails once; then the next request is answered. */
static void test_batch_memory(Ptc *ptc)
{
    static const char request[] =
        "{\"id\":[1],\"program\":\"(def y (mapv inc data/x)) y\",\"context\":{\"x\":[1,2]},"
        "\"session\":\"m\"}";
    for (uint64_t n = 1; n < 200; n++) {
        char *text = NULL;
        size_t len = 0;
        ptc_mem_fail_at(&ptc->mem, n);
        PtcStatus status = ptc_eval_json(ptc, request, strlen(request), &text, &len);
        bool reached = atomic_load(&ptc->mem.count) >= n;
        ptc_mem_fail_at(&ptc->mem, 0);
        CHECK(status == PTC_OK ? text != NULL : status == PTC_NO_MEMORY);
        CHECK(status != PTC_OK || strstr(text, "\"json\":[2,3]") || strstr(text, "memory") ||
              strstr(text, "session"));
        ptc_text_free(ptc, text, len);
        ASK(ptc, "{\"program\":\"(+ 1 2)\"}", "\"json\":3");
        if (!reached)
            break;
    }
}

static void test_batch(void)
{
    Ptc *ptc = patient_engine();
    test_batch_good(ptc);
    test_batch_bad(ptc);
    test_batch_memory(ptc);
    end_engine(ptc);
    ptc = patient_engine();
    test_batch_memory(ptc);
    end_engine(ptc);
    test_batch_context();
}

/* --------------------------------------------------------------------- clock and cancelling */

typedef struct {
    int64_t now, step;
} Clock;

static int64_t clock_ms(void *user)
{
    Clock *c = user;
    return c->now += c->step;
}

static Ptc *with_clock(Clock *clock, const PtcLimits *limits)
{
    PtcOptions options;
    ptc_options_init(&options, sizeof options);
    options.clock_ms = clock_ms;
    options.clock_user = clock;
    options.limits = limits;
    return ptc_new(&options);
}

/* A run ends in time; what its tasks did is kept, whatever the clock says by then. */
static void test_slow_journal(void)
{
    PtcLimits limits = patient_limits();
    Clock clock = {.step = 3000};
    limits.timeout_ms = limits.deadline_ms = 1000 * 1000 * 1000;
    Ptc *ptc = with_clock(&clock, &limits);
    PtcSession *s = ptc_session_new(ptc);
    PtcData *data = ptc_data_new(ptc, -1);
    PtcRun run =
        a_run("(count (task \"a\" (mapv (fn [i] (str \"item \" i)) (range 50000))))", s, PTC_NIL);
    run.journal = ptc_make_json(data, "{}", 2, NULL, 0);
    for (int i = 0; i < 2; i++) {
        PtcOutcome *o = NULL;
        CHECK(ptc_eval(ptc, &run, &o) == PTC_OK && ptc_outcome_ok(o));
        CHECK_STR(ptc_outcome_text(o, NULL, NULL), "50000");
        ptc_outcome_free(o);
    }
    ptc_data_free(data);
    ptc_session_free(s);
    end_engine(ptc);
}

/* What tasks did does not fit, and the run ends for another reason, such as its time: both are told. */
static void test_lost_journal(void)
{
    static const char *const ends[] = {"(reduce + (range))", "(throw (ex-info \"no\" {}))"};
    PtcLimits limits = patient_limits();
    Clock clock = {.step = 1};
    limits.timeout_ms = 10000;
    limits.session_bytes = 64 * 1024;
    Ptc *ptc = with_clock(&clock, &limits);
    PtcSession *s = ptc_session_new(ptc);
    PtcData *data = ptc_data_new(ptc, -1);
    for (size_t i = 0; i < 2; i++) {
        char program[200];
        PtcOutcome *o = NULL;
        PtcError e = {.size = sizeof e};
        snprintf(program, sizeof program,
                 "(task \"a\" (mapv (fn [i] (str \"item \" i)) (range 5000))) %s", ends[i]);
        PtcRun run = a_run(program, s, PTC_NIL);
        run.journal = ptc_make_json(data, "{}", 2, NULL, 0);
        CHECK(ptc_eval(ptc, &run, &o) == PTC_OK && !ptc_outcome_ok(o));
        CHECK(ptc_outcome_error_count(o) == 1 && ptc_outcome_error(o, 0, &e));
        CHECK((strcmp(e.kind, "timeout") == 0) == (i == 0));
        CHECK(strstr(e.message, "tasks did does not fit in the session's limit of 65536 bytes"));
        ptc_outcome_free(o);
    }
    ptc_data_free(data);
    ptc_session_free(s);
    end_engine(ptc);
}

/* The same in an answer to a line: the run took all the time that the line had. */
static void test_late_line(void)
{
    PtcLimits limits = patient_limits();
    Clock clock = {.step = 1};
    limits.timeout_ms = 100;
    Ptc *ptc = with_clock(&clock, &limits);
    ASK(ptc,
        "{\"program\":\"(doseq [k (range 5000)] (task k k)) (reduce + (range))\",\"journal\":{}}",
        "\"4999\":4999");
    end_engine(ptc);
}

/* Time passes only when the clock is looked at. */
static void test_clock(void)
{
    static const int64_t starts[] = {0, 1, -5, INT64_MAX / 4, INT64_MIN / 2};
    PtcLimits limits;
    ptc_limits_init(&limits, sizeof limits);
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        Clock clock = {starts[i], 0};
        Ptc *ptc = with_clock(&clock, NULL);
        EXPECT(ptc, NULL, "(reduce + (range 100000))", "4999950000");
        end_engine(ptc);
    }
    Clock clock = {0, 400};
    Ptc *ptc = with_clock(&clock, NULL);
    EXPECT(ptc, NULL, "(defn f [n]\n (loop [i n] (recur (inc i))))\n(f 1)", "!timeout 2:14");
    EXPECT(ptc, NULL, "(reduce + (range 5000000))", "!timeout 1:1");
    EXPECT(ptc, NULL, "(+ 1 2)", "3");
    end_engine(ptc);
    limits.timeout_ms = 100000;
    limits.deadline_ms = 2000;
    ptc = with_clock(&clock, &limits);
    EXPECT(ptc, NULL, "(loop [] (recur))", "!deadline 1:10");
    end_engine(ptc);
}

/* A PtcData may be filled slowly: the limit on time is for runs. */
static void test_slow_host(void)
{
    Clock clock = {0, 5000};
    Ptc *ptc = with_clock(&clock, NULL);
    PtcData *d = ptc_data_new(ptc, PTC_UNSET);
    PtcValue pairs[40];
    for (int64_t i = 0; i < 20; i++) {
        PtcValue two[2] = {ptc_make_int(d, i), ptc_make_int(d, -i)};
        pairs[2 * i] = ptc_make_vector(d, two, 2);
        pairs[2 * i + 1] = ptc_make_nil();
    }
    for (int i = 0; i < 400; i++)
        CHECK(ptc_value_count(ptc_make_map(d, pairs, 20)) == 20);
    ptc_data_free(d);
    end_engine(ptc);
}

static void test_cancel(void)
{
    PtcLimits limits = patient_limits();
    PtcOptions options;
    Canceller canceller;
    ptc_options_init(&options, sizeof options);
    limits.loop_limit = INT64_MAX / 2;
    options.limits = &limits;
    Ptc *ptc = ptc_new(&options);
    static const char *const endless[] = {
        "(loop [] (recur))", "(reduce (fn [a x] x) 0 (range 1000000000))",
        "(count (filter neg? (range 1000000000)))", "(loop [x 1] (recur (mod (* x 7) 1000003)))"};
    ptc_cancel(ptc); /* no run is under way: nothing happens, now or later */
    EXPECT(ptc, NULL, "(+ 1 2)", "3");
    canceller_start(&canceller, ptc);
    for (size_t i = 0; i < sizeof endless / sizeof endless[0]; i++) {
        PtcOutcome *o = start(ptc, endless[i], NULL, 0);
        PtcError e = first_error(o);
        CHECK_STR(e.kind, "cancelled");
        ptc_outcome_free(o);
    }
    canceller_stop(&canceller);
    EXPECT(ptc, NULL, "(+ 1 2)", "3");
    end_engine(ptc);
}

/* ------------------------------------------------------------------- torture and stress */

static const char *const programs[] = {
    "(+ 1 2)",
    "",
    "[1 \"two\" :three 4.0 nil #{5} {:six 7}]",
    "(reduce + (map inc (filter odd? (range 1000))))",
    "(loop [i 0 acc []] (if (< i 300) (recur (inc i) (conj acc [i])) (count acc)))",
    "(into {} (map (fn [i] [i (str i)]) (range 40)))",
    "(frequencies (mapcat (fn [x] [x (mod x 7)]) (range 60)))",
    "(sort-by (fn [[k v]] (- v)) (zipmap (range 20) (range 20)))",
    "(sort (fn [a b] (compare b a)) (map (fn [x] (mod (* x 7919) 101)) (range 100)))",
    "(defn fib [n] (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (fib 12)",
    "(defn f ([x] (f x 1)) ([x & more] (cons x more))) (map f (range 30))",
    "(apply str (map (fn [& xs] (apply + xs)) (range 50) (range 50)))",
    "(for [x (range 12) y (range 12) :when (< x y) :let [z (* x y)]] [x z])",
    "(doseq [x [1 2 3]] (println \"line\" x [x])) :printed",
    "(let [{:keys [a b] :or {b 2} :as m} {:a 1} [x & r] [1 2 3]] [a b m x r])",
    "(-> {:a {:b 1}} (assoc-in [:a :c] 2) (update-in [:a :b] inc))",
    "(reduce (fn [a x] (* a x)) 1 (range 1 60))",
    "(str/join \",\" (str/split \"a b c d e f\" \" \"))",
    "(group-by even? (range 40))",
    "(map-indexed vector (partition 3 (range 31)))",
    "(pr-str (reduce (fn [a x] {:k a x #{x}}) nil (range 30)))",
    "(= (reduce (fn [a _] [a]) [] (range 50)) (reduce (fn [a _] [a]) [] (range 50)))",
    "((comp (partial reduce +) (juxt first last)) [1 2 3])",
    "(cond-> [] true (conj 1) false (conj 2) :else (conj 3))",
    "(set (map (fn [x] [(mod x 3) {:m (mod x 5)}]) (range 60)))",
    "(walk/postwalk (fn [x] (if (number? x) (inc x) x)) {:a [1 2 {:b 3}]})",
    "(def a 2) (def b {:x (vec (range 50))}) (defn c [x] [a x]) (c (:x b))",
    "(format \"%5.2f|%s\" 3.14159 (vec (range 5)))",
    "(foo) (bar [1 2) baz",
    "(nope 1) (inc)",
    "(map (fn [x] (/ 10 x)) [5 2 0])",
    "(fail {:reason (vec (range 20))})",
    "(return (mapv (fn [x] (if (= x 3) (return :early) x)) (range 10)))",
    "(distinct (interleave (range 40) (cycle [1 2 3])))",
    "(try (/ 1 0) (catch Exception e (ex-message e)) (finally (println 1)))",
    "(try (mapv (fn [x] (throw (ex-info \"no\" {:x x}))) [1]) (catch Exception e (ex-data e)))",
    "(re-seq #\"[a-z]+\" \"ab cd ef\")",
    "(str/replace \"a1b22\" #\"[0-9]+\" (fn [m] (str \"<\" m \">\")))",
    "(json/parse-string (json/generate-string {:a [1 2.5 nil] :b \"x\"}))",
    "(into (sorted-map) (map (fn [i] [(mod (* i 7) 31) i]) (range 40)))",
    "(vec (take 50 (iterate (fn [x] (* 3 x)) 1)))",
    "(transduce (comp (map inc) (filter odd?)) + (range 100))",
    "(into [] (comp (mapcat range) (take 30) (map str)) (range 20))",
    "(letfn [(ev [n] (if (= n 0) 1 (od (dec n)))) (od [n] (if (= n 0) 2 (ev (dec n))))] (ev 21))",
    "(with-out-str (println (vec (range 5))))",
    "(let [f (memoize (fn [x] [x x]))] [(f 1) (f 1) (f 2)])",
    "(reduce-kv (fn [a k v] (assoc a v k)) {} (zipmap (range 30) (range 30)))",
    "(map (fn ([x y] [y x]) ([x] (str x))) (range 40))",
};
enum { PROGRAM_COUNT = sizeof programs / sizeof programs[0] };

static Ptc *failing_engine(int64_t fail, PtcSession **session)
{
    PtcOptions options;
    ptc_options_init(&options, sizeof options);
    Ptc *ptc = ptc_new(&options);
    *session = ptc_session_new(ptc);
    EXPECT(ptc, *session, "(def a 1) (def keep [1 2 3])", "#'keep");
    ptc->fail_allocation = fail;
    return ptc;
}

/* One run whose allocation `fail` fails; the engine and the session must be as good as before. */
static void torture_once(const char *program, int64_t fail, const char *normal)
{
    PtcSession *s;
    Ptc *ptc = failing_engine(fail, &s);
    PtcRun run = a_run(program, s, 0);
    PtcOutcome *o = NULL;
    char got[TEXT];
    PtcStatus status = ptc_eval(ptc, &run, &o);
    CHECK(status == PTC_OK ? o != NULL : status == PTC_NO_MEMORY && o == NULL);
    bool ok = ptc_outcome_ok(o);
    if (o) {
        tell(o, got);
        if (check_count(strcmp(got, normal) == 0 || strncmp(got, "!memory_exceeded", 16) == 0))
            printf("allocation %d of %s\n  got:  %s\n", (int)fail, program, got);
    }
    ptc_outcome_free(o);
    ptc->fail_allocation = 0;
    if (!ok)
        EXPECT(ptc, s, "[a keep]", "[1 [1 2 3]]");
    CHECK(ok || ptc_session_count(s) == 2);
    EXPECT(ptc, s, "(+ 1 2)", "3");
    ptc_session_free(s);
    end_engine(ptc);
}

static void test_torture(void)
{
    for (size_t i = 0; i < PROGRAM_COUNT; i++) {
        char normal[TEXT];
        PtcSession *s;
        Ptc *ptc = failing_engine(0, &s);
        uint64_t before = atomic_load(&ptc->mem.count);
        PtcOutcome *o = start(ptc, programs[i], s, 0);
        int64_t count = (int64_t)(atomic_load(&ptc->mem.count) - before);
        tell(o, normal);
        ptc_outcome_free(o);
        ptc_session_free(s);
        end_engine(ptc);
        CHECK(count < 500);
        for (int64_t n = 1; n <= count + 1; n++)
            torture_once(programs[i], n, normal);
    }
}

/* Texts that cannot be had are NULL, and the outcome can be freed. */
static void test_torture_texts(void)
{
    Ptc *ptc = patient_engine();
    for (uint64_t n = 1; n < 12; n++) {
        PtcOutcome *o = start(
            ptc, "(reduce (fn [a x] [x a \"text\" 123456789012345678901]) [] (range 40))", NULL, 0);
        ptc_mem_fail_at(&ptc->mem, n);
        size_t len;
        const char *text = ptc_outcome_text(o, &len, NULL), *json = ptc_outcome_json(o, &len);
        ptc_mem_fail_at(&ptc->mem, 0);
        CHECK(text || json);
        ptc_outcome_free(o);
    }
    for (uint64_t n = 1; n < 12; n++) {
        ptc_mem_fail_at(&ptc->mem, n);
        PtcData *d = ptc_data_new(ptc, PTC_UNSET);
        PtcSession *s = ptc_session_new(ptc);
        PtcValue v = ptc_make_json(d, "[{\"a\":[1,2,3]},{\"a\":\"b\"}]", 26, NULL, 0);
        CHECK(d || v == 0);
        ptc_session_free(s);
        ptc_data_free(d);
        ptc_mem_fail_at(&ptc->mem, 0);
    }
    end_engine(ptc);
}

static void test_stress(void)
{
    PtcOptions options;
    ptc_options_init(&options, sizeof options);
    Ptc *calm = ptc_new(&options);
    options.gc_stress = 1;
    Ptc *stressed = ptc_new(&options);
    PtcSession *a = ptc_session_new(calm), *b = ptc_session_new(stressed);
    for (size_t i = 0; i < PROGRAM_COUNT; i++) {
        char want[TEXT], got[TEXT];
        PtcOutcome *x = start(calm, programs[i], a, 0), *y = start(stressed, programs[i], b, 0);
        tell(x, want);
        tell(y, got);
        CHECK_STR(got, want);
        CHECK(ptc_outcome_print_count(x) == ptc_outcome_print_count(y));
        ptc_outcome_free(x);
        ptc_outcome_free(y);
    }
    ptc_session_free(a);
    ptc_session_free(b);
    end_engine(calm);
    end_engine(stressed);
}

static void check_text(Ptc *ptc, char **text, PtcStatus status)
{
    CHECK(status == PTC_OK && *text && **text);
    ptc_text_free(ptc, *text, 0);
    *text = NULL;
}

/* Nobody has to ask how long a text is. */
static void test_no_lengths(void)
{
    static const char program[] = "(do (println \"a\") (def x 1) \"b\")";
    Ptc *ptc = ptc_new(NULL);
    PtcSession *session = ptc_session_new(ptc);
    const char *string = NULL;
    char *text = NULL;
    PtcOutcome *o = NULL;
    PtcRun run = {.size = sizeof run,
                  .program = program,
                  .program_len = sizeof program - 1,
                  .session = session};
    CHECK(ptc_eval(ptc, &run, &o) == PTC_OK);
    PtcValue value = ptc_outcome_value(o);
    CHECK_STR(ptc_outcome_print(o, 0, NULL), "a");
    CHECK_STR(ptc_outcome_text(o, NULL, NULL), "\"b\"");
    CHECK_STR(ptc_outcome_json(o, NULL), "\"b\"");
    CHECK(ptc_outcome_payload(o, NULL, NULL));
    CHECK(ptc_value_string(value, &string, NULL) && string);
    CHECK_STR(ptc_session_name(session, 0, NULL), "x");
    check_text(ptc, &text, ptc_value_text(ptc, value, &text, NULL));
    check_text(ptc, &text, ptc_value_json(ptc, value, &text, NULL, NULL, 0));
    check_text(ptc, &text, ptc_session_inspect(session, &text, NULL));
    ptc_outcome_free(o);
    ptc_session_free(session);
    end_engine(ptc);
}

int main(void)
{
    CHECK_RUN(test_session());
    CHECK_RUN(test_no_lengths());
    CHECK_RUN(test_function_keys());
    CHECK_RUN(test_kept_functions());
    CHECK_RUN(test_many_runs());
    CHECK_RUN(test_lifetimes());
    CHECK_RUN(test_session_limit());
    CHECK_RUN(test_session_journal_limit());
    CHECK_RUN(test_batch());
    CHECK_RUN(test_slow_journal());
    CHECK_RUN(test_lost_journal());
    CHECK_RUN(test_late_line());
    CHECK_RUN(test_clock());
    CHECK_RUN(test_slow_host());
    CHECK_RUN(test_cancel());
    CHECK_RUN(test_torture());
    CHECK_RUN(test_torture_texts());
    CHECK_RUN(test_stress());
    return check_done("test_api_session");
}
