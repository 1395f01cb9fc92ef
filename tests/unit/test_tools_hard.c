/* SPDX-License-Identifier: MIT
 * test_tools_hard.c - tool calls where it is hardest to get them right: results of all sizes, turns, waits, answers at
 * every moment from several threads, short memory. */
#include "api_tool_help.h"

#include <stdlib.h>

#include "tool/toolset.h"

enum { MIB = 1024 * 1024 };

static int64_t number(PtcToolCall *call, const char *name)
{
    int64_t n = 0;
    ptc_value_int(ptc_value_get(ptc_call_args(call), name, strlen(name)), &n);
    return n;
}

static atomic_int runs, inside, most_inside;
static atomic_int late_answers; /* that are still to come */

/* Waits {"ms": n}, counts how many do at once. */
static PtcToolAnswer nap(PtcToolCall *call, void *user)
{
    (void)user;
    int now = atomic_fetch_add(&inside, 1) + 1;
    if (now > atomic_load(&most_inside))
        atomic_store(&most_inside, now);
    atomic_fetch_add(&runs, 1);
    int64_t end = ptc_clock_ns(NULL) + number(call, "ms") * 1000000;
    while (ptc_clock_ns(NULL) < end && !ptc_call_cancelled(call))
        check_pause_us(1000);
    atomic_fetch_sub(&inside, 1);
    ptc_call_return(call, ptc_call_args(call));
    return PTC_TOOL_ANSWERED;
}

/* A string of {"bytes": n} as JSON. */
static PtcToolAnswer big(PtcToolCall *call, void *user)
{
    size_t n = (size_t)number(call, "bytes");
    (void)user;
    char *text = malloc(n + 2);
    memset(text, 'x', n + 2);
    text[0] = text[n + 1] = '"';
    ptc_call_return_json(call, text, n + 2);
    free(text);
    return PTC_TOOL_ANSWERED;
}

/* An array of {"rows": n} objects as values. */
static PtcToolAnswer rows(PtcToolCall *call, void *user)
{
    int64_t n = number(call, "rows");
    PtcData *data = ptc_call_data(call);
    (void)user;
    PtcValue *all = malloc((size_t)(n + 1) * sizeof *all);
    for (int64_t i = 0; i < n; i++) {
        PtcValue pair[2] = {ptc_make_keyword(data, "id", 2), ptc_make_int(data, i)};
        all[i] = pair[0] ? ptc_make_map(data, pair, 1) : 0;
        if (!all[i])
            n = -1;
    }
    ptc_call_return(call, n < 0 ? 0 : ptc_make_vector(data, all, (size_t)n));
    free(all);
    return PTC_TOOL_ANSWERED;
}

/* A value of another engine, which goes at once. */
static PtcToolAnswer foreign(PtcToolCall *call, void *user)
{
    (void)user;
    Ptc *other = patient_engine();
    PtcData *data = ptc_data_new(other, PTC_UNSET);
    PtcValue text = ptc_make_string(data, "from elsewhere", 14);
    ptc_call_return(call, ptc_make_vector(data, &text, 1));
    ptc_data_free(data);
    ptc_free(other);
    return PTC_TOOL_ANSWERED;
}

/* Answers from another thread after {"us": n}; by chance before the function has returned. */
typedef struct {
    PtcToolCall *call;
    long us;
    int64_t kind;
} Late;

static void *answer_late(void *arg)
{
    Late late = *(Late *)arg;
    free(arg);
    if (late.us)
        check_pause_us(late.us);
    (void)ptc_call_cancelled(late.call);
    (void)ptc_call_time_left_ms(late.call);
    if (late.kind == 1)
        ptc_call_fail(late.call, "late", 4);
    else if (late.kind == 2)
        ptc_call_return(late.call, ptc_make_nil());
    else
        ptc_call_return_json(late.call, late.kind == 3 ? "{" : "[1]", late.kind == 3 ? 1 : 3);
    atomic_fetch_sub(&late_answers, 1);
    return NULL;
}

static PtcToolAnswer later(PtcToolCall *call, void *user)
{
    pthread_t thread;
    Late *late = malloc(sizeof *late);
    (void)user;
    *late = (Late){call, (long)number(call, "us"), number(call, "kind")};
    long stay = (long)number(call, "stay");
    atomic_fetch_add(&late_answers, 1);
    atomic_fetch_add(&runs, 1);
    if (pthread_create(&thread, NULL, answer_late, late) != 0)
        abort();
    pthread_detach(thread);
    if (stay)
        check_pause_us(stay);
    return PTC_TOOL_PENDING;
}

typedef struct {
    const char *name;
    PtcToolFn function;
    bool cache, serial, pending;
    int64_t timeout_ms;
} Def;

static const Def defs[] = {
    {.name = "nap", .function = nap},
    {.name = "serial", .function = nap, .serial = true},
    {.name = "serial-timed", .function = nap, .serial = true, .timeout_ms = 400},
    {.name = "cached", .function = nap, .cache = true},
    {.name = "big", .function = big},
    {.name = "big-cached", .function = big, .cache = true},
    {.name = "rows", .function = rows},
    {.name = "foreign", .function = foreign},
    {.name = "later", .function = later, .pending = true},
    {.name = "later-timed", .function = later, .pending = true, .timeout_ms = 2},
    {.name = "later-serial", .function = later, .pending = true, .serial = true},
};

static PtcTools *make_tools(void)
{
    PtcTools *tools = ptc_tools_new();
    for (size_t i = 0; i < sizeof defs / sizeof defs[0]; i++) {
        PtcToolDef def;
        ptc_tool_def_init(&def, sizeof def);
        def.name = defs[i].name;
        def.name_len = strlen(defs[i].name);
        def.function = defs[i].function;
        def.cache = defs[i].cache;
        def.serial = defs[i].serial;
        def.pending = defs[i].pending;
        if (defs[i].timeout_ms)
            def.timeout_ms = defs[i].timeout_ms;
        CHECK(ptc_tools_add(tools, &def, NULL, 0) == PTC_OK);
    }
    return tools;
}

/* ------------------------------------------------------------------------------ waiting */

/* Waiting for another's call of the same, or for one's turn, is neither computing nor the tool's time. */
static void test_waits(Ptc *ptc, PtcTools *tools)
{
    PtcLimits limits = patient_limits();
    limits.timeout_ms = 300;
    LIMITED("(count (pmap (fn [i] (tool/cached {:ms 600})) (range 4)))", "4");
    LIMITED("(count (pmap (fn [i] (tool/serial {:ms 100})) (range 5)))", "5");
    limits = patient_limits();
    atomic_store(&most_inside, 0);
    LIMITED("(count (pmap (fn [i] (tool/serial-timed {:ms 80})) (range 8)))", "8");
    CHECK(atomic_load(&most_inside) == 1);
    limits.deadline_ms = 150;
    atomic_store(&runs, 0);
    LIMITED("(pmap (fn [i] (tool/serial {:ms 5000})) (range 8))", "!deadline");
    LIMITED("(pmap (fn [i] (tool/cached {:ms 5001})) (range 8))", "!deadline");
    CHECK(atomic_load(&runs) <= 2); /* each may be over before its first call */
}

typedef struct {
    Ptc *ptc;
    int runs; /* calls that are to be under way first */
    long us;  /* and how much later */
} Cancel;

static void *cancel_later(void *arg)
{
    const Cancel *c = arg;
    while (atomic_load(&runs) < c->runs)
        check_pause_us(200);
    check_pause_us(c->us);
    ptc_cancel(c->ptc);
    return NULL;
}

/* A cancel ends every wait; what was never called is not recorded. */
static void test_cancel(Ptc *ptc, PtcTools *tools)
{
    static const char *const programs[] = {
        "(pmap (fn [i] (tool/serial {:ms 20000})) (range 8))",
        "(pmap (fn [i] (tool/cached {:ms 20000})) (range 8))",
        "(pmap (fn [i] (tool/later-serial {:us 300000})) (range 8))",
    };
    for (size_t i = 0; i < 3; i++) {
        PtcLimits limits = patient_limits();
        Cancel c = {ptc, 1, 20000};
        pthread_t thread;
        atomic_store(&runs, 0);
        pthread_create(&thread, NULL, cancel_later, &c);
        PtcOutcome *o = start_with(ptc, tools, programs[i], &limits);
        CHECK_STR(first_error(o).kind, "cancelled");
        CHECK(ptc_outcome_tool_count(o, NULL) == 1);
        ptc_outcome_free(o);
        pthread_join(thread, NULL);
    }
}

/* -------------------------------------------------------------------------------- sizes */

static void test_sizes(Ptc *ptc, PtcTools *tools)
{
    static const size_t sizes[] = {0,       1,        7,        31,       4000,
                                   8191,    8192,     32000,    65536,    MIB,
                                   9 * MIB, 11 * MIB, 15 * MIB, 20 * MIB, 40 * MIB};
    PtcLimits limits = patient_limits();
    size_t stride = PTC_SANITIZED && !getenv("PTC_TEST_FULL") ? 2 : 1;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i += stride) {
        char program[300], want[30];
        snprintf(want, sizeof want, "%zu", sizes[i]);
        if (sizes[i] >= 27 * MIB)
            snprintf(want, sizeof want, "!memory_exceeded");
        snprintf(program, sizeof program, "(count (tool/big {:bytes %zu}))", sizes[i]);
        LIMITED(program, want);
        snprintf(program, sizeof program,
                 "(first (pmap (fn [_] (count (tool/big {:bytes %zu}))) [1 2]))", sizes[i]);
        LIMITED(program, want);
        snprintf(program, sizeof program,
                 "(count (first (pmap tool/big [{:bytes %zu} {:bytes 1}])))", sizes[i]);
        LIMITED(program, want);
        snprintf(
            program, sizeof program,
            "(do (tool/big {:bytes %zu}) (tool/big {:bytes %zu}) (count (tool/big {:bytes %zu})))",
            sizes[i], sizes[i], sizes[i]);
        if (sizes[i] < 12 * MIB) /* the one before may still be in a register */
            LIMITED(program, want);
        snprintf(program, sizeof program,
                 "(reduce (fn [_ k] (count (tool/big {:bytes %zu}))) 0 (range 8))", sizes[i]);
        LIMITED(program, want);
        snprintf(program, sizeof program,
                 "(reduce (fn [_ k] (count (tool/big-cached {:bytes %zu}))) 0 (range 8))",
                 sizes[i]);
        LIMITED(program, want);
    }
    LIMITED("(reduce + (map (fn [k] (count (tool/rows {:rows 20000}))) (range 30)))", "600000");
    /* values that a tool makes cannot wait for one another: all threads share one limit */
    LIMITED("(reduce + (pmap (fn [k] (count (tool/rows {:rows 5000}))) (range 30)))", "150000");
    LIMITED("(reduce + (map count (pmap (fn [k] (tool/rows {:rows 100})) (range 30))))", "3000");
    LIMITED("(tool/foreign)", "[\"from elsewhere\"]");
    LIMITED("(pmap (fn [i] (tool/foreign)) (range 3))",
            "[[\"from elsewhere\"] [\"from elsewhere\"] [\"from elsewhere\"]]");
}

/* What results of tools may take is given once, not with every call and every pmap. */
static void test_ceiling(Ptc *ptc, PtcTools *tools)
{
    static const char *const programs[] = {
        "(loop [k 0 v []] (if (< k 300) (recur (inc k) (conj v (tool/big {:bytes 200000}))) 1))",
        "(loop [k 0 v []] (if (< k 300) (recur (inc k) (into v (pmap tool/big [{:bytes 200000} "
        "{:bytes 200000}]))) 1))",
        "(pmap (fn f [n] (let [s (tool/big {:bytes 9000000})] (+ (count s) (if (> n 0) (first "
        "(pmap f [(dec n)])) 0)))) [50])",
    };
    PtcLimits limits = patient_limits();
    for (size_t i = 0; i < 3; i++) {
        PtcOutcome *o = start_with(ptc, tools, programs[i], &limits);
        CHECK_STR(first_error(o).kind, "memory_exceeded");
        /* after the run there is memory_bytes more, to show it */
        CHECK(o->heap.limit <= (26 + 10) * MIB && o->heap.page_bytes < 30 * MIB);
        ptc_outcome_free(o);
    }
}

/* The limit that a result has raised falls again when the result is gone, in threads too. */
static void test_fall(Ptc *ptc, PtcTools *tools)
{
    static const char build[] = "(loop [i 0 v []] (if (< i %d) (recur (inc i) (conj v (apply str "
                                "(repeat 1000 \"x\")))) (count v)))";
    char own[200], program[600];
    PtcLimits limits = patient_limits();
    snprintf(own, sizeof own, build, 8000);
    snprintf(program, sizeof program, "(let [r (tool/big {:bytes 15000000})] [%s (count r)])", own);
    LIMITED(program, "[8000 15000000]");
    snprintf(program, sizeof program, "(count (tool/big {:bytes 15000000})) %s", own);
    LIMITED(program, "8000");
    snprintf(own, sizeof own, build, 12000);
    snprintf(program, sizeof program, "(count (tool/big {:bytes 15000000})) %s", own);
    LIMITED(program, "!memory_exceeded");
    snprintf(program, sizeof program,
             "(pmap (fn [_] (count (tool/big {:bytes 9000000}))) [1 2]) %s", own);
    LIMITED(program, "!memory_exceeded");
    snprintf(program, sizeof program, "(pmap (fn [_] (count (tool/big {:bytes 9000000})) %s) [1])",
             own);
    LIMITED(program, "!memory_exceeded");
}

/* ------------------------------------------------------------------------ late answers */

static void test_late(PtcTools *tools)
{
    char program[400];
    for (int i = 0; i < 40; i++) {
        Ptc *ptc = new_engine(i % 2, 0);
        PtcLimits limits = patient_limits();
        snprintf(program, sizeof program,
                 "(count (pmap (fn [i] (try (tool/later {:us (* i %d) :kind (mod i 4) :stay (* %d "
                 "(mod i 3))})"
                 " (catch Exception e (ex-message e)))) (range 12)))",
                 i * 7, i * 5);
        LIMITED(program, "12");
        snprintf(program, sizeof program,
                 "(count (pmap (fn [i] (try (tool/later-timed {:us (* i %d) :kind (mod i 4) :stay "
                 "(* %d (mod i 3))})"
                 " (catch Exception e (ex-message e)))) (range 12)))",
                 i * 50, i * 30);
        LIMITED(program, "12");
        end_engine(ptc);
    }
}

/* An engine that ends right after its run is cancelled, with calls that are still to be answered. */
static void test_left_behind(void)
{
    for (int i = 0; i < 30; i++) {
        PtcTools *tools = make_tools();
        Ptc *ptc = new_engine(false, 0);
        PtcLimits limits = patient_limits();
        Cancel c = {ptc, 0, i * 150};
        pthread_t thread;
        pthread_create(&thread, NULL, cancel_later, &c);
        limits.deadline_ms = 20;
        PtcOutcome *o = start_with(
            ptc, tools, "(pmap (fn [i] (tool/nap {:ms 1}) (tool/later {:us 300000})) (range 9))",
            &limits);
        CHECK(!ptc_outcome_ok(o));
        ptc_outcome_free(o);
        ptc_tools_free(tools);
        pthread_join(thread, NULL);
        end_engine(ptc);
    }
    while (atomic_load(&late_answers))
        check_pause_us(1000);
}

/* ------------------------------------------------------------------------------- sessions */

typedef struct {
    PtcTools *tools;
    int number;
    bool good;
} Worker;

static bool session_run(Ptc *ptc, PtcSession *session, PtcTools *tools, const char *program,
                        const char *want)
{
    PtcRun run = a_run(program, session, 0);
    PtcOutcome *o = NULL;
    PtcData *data = ptc_data_new(ptc, PTC_UNSET);
    run.tools = tools;
    run.journal = ptc_make_json(data, "{}", 2, NULL, 0);
    bool good = ptc_eval(ptc, &run, &o) == PTC_OK && ptc_outcome_ok(o) &&
                strcmp(ptc_outcome_text(o, NULL, NULL), want) == 0;
    ptc_outcome_free(o);
    ptc_data_free(data);
    return good;
}

/* Definitions, journal and cache of a session, made by items of pmap, read by the next run. */
static void *use_session(void *arg)
{
    static const char *const programs[][2] = {
        {"(def kept (pmap (fn [i] (tool/cached {:ms 0 :i (mod i 3)})) (range 9))) (count kept)",
         "9"},
        {"(def fs (pmap (fn [i] (fn [x] (:i (tool/cached {:ms 0 :i (+ x i)})))) (range 4))) 1",
         "1"},
        {"(pmap (fn [f] (f 1)) fs)", "[1 2 3 4]"},
        {"(map (fn [m] (:i m)) kept)", "[0 1 2 0 1 2 0 1 2]"},
        {"(pmap (fn [i] (task (str \"t\" i) (tool/nap {:ms 0 :i i})) i) (range 5))", "[0 1 2 3 4]"},
        {"(reduce + (pmap (fn [i] (:i (task (str \"t\" i) (/ 1 0)))) (range 5)))", "10"},
        {"(def big (into {} (map (fn [i] [i (str i)]) (range 40)))) (count (pmap (fn [i] (assoc "
         "big i i)) (range 9)))",
         "9"},
        {"(count (reduce merge (pmap (fn [i] (assoc big (+ 100 i) 1)) (range 9))))", "49"},
    };
    Worker *w = arg;
    Ptc *ptc = new_engine(w->number % 2, 0);
    PtcSession *session = ptc_session_new(ptc);
    w->good = true;
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
            w->good =
                session_run(ptc, session, w->tools, programs[i][0], programs[i][1]) && w->good;
    ptc_session_free(session);
    ptc_free(ptc);
    return NULL;
}

static void test_sessions(PtcTools *tools)
{
    pthread_t threads[10];
    Worker workers[10];
    for (int i = 0; i < 10; i++) {
        workers[i] = (Worker){tools, i, false};
        pthread_create(&threads[i], NULL, use_session, &workers[i]);
    }
    for (int i = 0; i < 10; i++) {
        pthread_join(threads[i], NULL);
        CHECK(workers[i].good);
    }
}

/* ----------------------------------------------------------------------- short of memory */

static void test_short(PtcTools *tools)
{
    static const char *const programs[] = {
        "(pmap (fn [i] (println i) (tool/nap {:ms 1}) (tool/big {:bytes 9000}) (task i (str i))) "
        "(range 4))",
        "(tool/later {:us 10})",
        "[(tool/cached {:ms 0}) (tool/cached {:ms 0}) (tool/foreign) (try (tool/later {:kind 1}) "
        "(catch Exception e 1))]",
        "(pmap (fn [i] (pmap (fn [k] (tool/cached {:ms 0 :k (mod k 2)})) (range 3))) (range 3))",
    };
    for (size_t p = 0; p < 4; p++) {
        int fine = 0;
        for (int n = 1; n < 400 && fine < 3; n++) {
            Ptc *ptc = new_engine(false, n);
            PtcOutcome *o = start_with(ptc, tools, programs[p], NULL);
            fine = o && ptc_outcome_ok(o) ? fine + 1 : 0;
            if (o && !ptc_outcome_ok(o) && strcmp(first_error(o).kind, "tool_error") != 0)
                CHECK_STR(first_error(o).kind, "memory_exceeded");
            ptc_outcome_free(o);
            end_engine(ptc);
        }
        CHECK(fine == 3);
    }
}

int main(void)
{
    Ptc *ptc = new_engine(false, 0);
    PtcTools *tools = make_tools();
    CHECK_RUN(test_waits(ptc, tools));
    CHECK_RUN(test_cancel(ptc, tools));
    CHECK_RUN(test_sizes(ptc, tools));
    CHECK_RUN(test_ceiling(ptc, tools));
    CHECK_RUN(test_fall(ptc, tools));
    CHECK_RUN(test_late(tools));
    CHECK_RUN(test_left_behind());
    CHECK_RUN(test_sessions(tools));
    CHECK_RUN(test_short(tools));
    ptc_tools_free(tools);
    end_engine(ptc);
    return check_done("test_tools_hard");
}
