/* SPDX-License-Identifier: MIT
 * test_tools.c - tools in C from a program's side: arguments, answers at once and later, failures, limits, cache,
 * records, pmap with many of them. */
#include "api_tool_help.h"

#include "tool/toolset.h"

static atomic_int runs; /* of tools that count */

/* {"n": i} -> i * i, as a value. */
static PtcToolAnswer square(PtcToolCall *call, void *user)
{
    int64_t n = 0;
    (void)user;
    atomic_fetch_add(&runs, 1);
    ptc_value_int(ptc_value_get(ptc_call_args(call), "n", 1), &n);
    ptc_call_return(call, ptc_make_int(ptc_call_data(call), n * n));
    return PTC_TOOL_ANSWERED;
}

/* The arguments back as JSON. */
static PtcToolAnswer echo(PtcToolCall *call, void *user)
{
    size_t len;
    (void)user;
    const char *json = ptc_call_args_json(call, &len);
    if (json)
        ptc_call_return_json(call, json, len);
    return PTC_TOOL_ANSWERED;
}

static PtcToolAnswer same(PtcToolCall *call, void *user)
{
    (void)user;
    ptc_call_return(call, ptc_call_args(call));
    return PTC_TOOL_ANSWERED;
}

static PtcToolAnswer fails(PtcToolCall *call, void *user)
{
    (void)user;
    ptc_call_fail(call, "no luck today", 13);
    return PTC_TOOL_ANSWERED;
}

static PtcToolAnswer silent(PtcToolCall *call, void *user)
{
    (void)call;
    (void)user;
    return PTC_TOOL_ANSWERED;
}

static PtcToolAnswer bad_json(PtcToolCall *call, void *user)
{
    (void)user;
    CHECK(!ptc_call_return_json(call, "[1,", 3));
    return PTC_TOOL_ANSWERED;
}

/* Waits `user` milliseconds, or until nobody waits for it. */
static PtcToolAnswer slow(PtcToolCall *call, void *user)
{
    for (long ms = 0; ms < (long)(intptr_t)user && !ptc_call_cancelled(call); ms++)
        check_pause_us(1000);
    return square(call, NULL);
}

/* Answers later, from a thread of its own. */
static void *complete(void *arg)
{
    check_pause_us(3000);
    ptc_call_return_json(arg, "{\"late\": true}", 14);
    return NULL;
}

static PtcToolAnswer later(PtcToolCall *call, void *user)
{
    pthread_t thread;
    (void)user;
    pthread_create(&thread, NULL, complete, call);
    pthread_detach(thread);
    return PTC_TOOL_PENDING;
}

/* Answers when the test says so. */
static _Atomic(PtcToolCall *) waiting;

static PtcToolAnswer never(PtcToolCall *call, void *user)
{
    (void)user;
    atomic_store(&waiting, call);
    return PTC_TOOL_PENDING;
}

static PtcToolAnswer right_away(PtcToolCall *call, void *user)
{
    (void)user;
    ptc_call_return_json(call, "1", 1);
    return PTC_TOOL_PENDING;
}

typedef struct {
    const char *name;
    PtcToolFn function;
    const char *signature;
    bool cache, value, serial, pending;
    int64_t timeout_ms;
    intptr_t user;
} Def;

static const Def defs[] = {
    {.name = "square", .function = square},
    {.name = "echo", .function = echo},
    {.name = "same", .function = same},
    {.name = "fails", .function = fails},
    {.name = "soft", .function = fails, .value = true},
    {.name = "silent", .function = silent},
    {.name = "bad-json", .function = bad_json},
    {.name = "slow", .function = slow, .user = 20},
    {.name = "slower", .function = slow, .user = 500},
    {.name = "stuck", .function = slow, .user = 1000000},
    {.name = "cached", .function = square, .cache = true},
    {.name = "slow-cached", .function = slow, .cache = true, .user = 20},
    {.name = "typed", .function = echo, .signature = "(id :int, tags :any?) -> :any"},
    {.name = "serial", .function = slow, .serial = true, .user = 2},
    {.name = "later", .function = later, .pending = true},
    {.name = "never", .function = never, .pending = true, .timeout_ms = 30},
    {.name = "right-away", .function = right_away, .pending = true},
};

static PtcTools *make_tools(void)
{
    PtcTools *tools = ptc_tools_new();
    for (size_t i = 0; i < sizeof defs / sizeof defs[0]; i++) {
        PtcToolDef def;
        char error[300] = "";
        ptc_tool_def_init(&def, sizeof def);
        def.name = defs[i].name;
        def.name_len = strlen(defs[i].name);
        def.function = defs[i].function;
        def.user = (void *)defs[i].user;
        def.signature = defs[i].signature;
        def.signature_len = defs[i].signature ? strlen(defs[i].signature) : 0;
        def.cache = defs[i].cache;
        def.on_error_value = defs[i].value;
        def.serial = defs[i].serial;
        def.pending = defs[i].pending;
        if (defs[i].timeout_ms)
            def.timeout_ms = defs[i].timeout_ms;
        CHECK(ptc_tools_add(tools, &def, error, sizeof error) == PTC_OK);
        CHECK_STR(error, "");
    }
    return tools;
}

#define WITH(program, want) expect_with(__LINE__, ptc, tools, NULL, program, want)

static void test_calls(Ptc *ptc, PtcTools *tools)
{
    WITH("(tool/square {:n 7})", "49");
    WITH("(tool/square :n 7)", "49");
    WITH("(tool/square {\"n\" 7})", "49");
    WITH("(map tool/square [{:n 2} {:n 3}])", "[4 9]");
    WITH("(tool/echo {:a-b {:c [:k 1.5 nil true \"x\"]}})",
         "{\"a_b\" {\"c\" [\"k\" 1.5 nil true \"x\"]}}");
    WITH("(tool/same {:a-b [1 {:c 2}]})", "{\"a_b\" [1 {\"c\" 2}]}");
    WITH("(tool/echo)", "{}");
    WITH("(:order-id (tool/echo {:order_id 3}))", "3");
    WITH("(tool/echo 1)", "!invalid_tool_args 1:1");
    WITH("(tool/echo {:f inc})", "!invalid_tool_args 1:1");
    WITH("(tool/echo {:a-b 1 :a_b 2})", "!invalid_tool_args 1:1");
    WITH("(tool/sqare {:n 1})", "!unknown_tool 1:2");
    WITH("(tool/fails {:x 1})", "!tool_error 1:1");
    WITH("(tool/silent)", "!tool_error 1:1");
    WITH("(tool/bad-json)", "!tool_error 1:1");
    WITH("(try (tool/fails) (catch Exception e (ex-message e)))",
         "\"tool/fails failed: no luck today\"");
    WITH("(tool/soft)", "{:ok false, :message \"no luck today\"}");
    WITH("(tool/typed {:id \"7\"})", "{\"id\" 7}");
    WITH("(tool/typed {:id [1]})", "!invalid_tool_args 1:1");
    WITH("(tool/typed {})", "!invalid_tool_args 1:1");
    WITH("(mapv tool/typed [1 \"2\" {:id 3}])", "[{\"id\" 1} {\"id\" 2} {\"id\" 3}]");
    WITH("(pmap tool/typed [1 2])", "[{\"id\" 1} {\"id\" 2}]");
    WITH("(tool/typed [1])", "!invalid_tool_args 1:1");
    WITH("(tool/typed :id)", "!invalid_tool_args 1:1");
    WITH("(tool/later)", "{\"late\" true}");
    WITH("(tool/right-away)", "1");
    WITH("(pmap (fn [i] (:late (tool/later))) (range 9))",
         "[true true true true true true true true true]");
}

/* An answer that comes when nobody waits any more is dropped, also after engine and tools are gone. */
static void test_too_late(void)
{
    Ptc *ptc = patient_engine();
    PtcTools *tools = make_tools();
    WITH("(tool/never)", "!tool_error 1:1");
    CHECK(!ptc_call_fail(atomic_load(&waiting), "late", 4));
    WITH("(try (tool/never) (catch Exception e 1))", "1");
    PtcToolCall *call = atomic_load(&waiting);
    CHECK(ptc_call_cancelled(call));
    ptc_tools_free(tools);
    end_engine(ptc);
    CHECK(!ptc_call_return_json(call, "1", 1));
}

static void test_limits(Ptc *ptc, PtcTools *tools)
{
    PtcLimits limits = patient_limits();
    limits.max_tool_calls = 3;
#define LIMITED(program, want) expect_with(__LINE__, ptc, tools, &limits, program, want)
    LIMITED("(mapv (fn [n] (tool/square {:n n})) (range 3))", "[0 1 4]");
    LIMITED("(mapv (fn [n] (tool/square {:n n})) (range 4))", "!tool_call_limit_exceeded 1:15");
    LIMITED("(do (pmap (fn [n] (tool/square {:n n})) (range 4)) 1)",
            "!tool_call_limit_exceeded 1:19");
    LIMITED("(try (mapv (fn [n] (tool/square {:n n})) (range 4)) (catch Exception e 1))",
            "!tool_call_limit_exceeded 1:20");
    limits.max_tool_calls = 0;
    LIMITED("(tool/square {:n 1})", "!tool_call_limit_exceeded 1:1");
    limits.max_tool_calls = PTC_UNSET;
    limits.timeout_ms = 300; /* waiting is not computing */
    LIMITED("(tool/slower {:n 5})", "25");
    limits.deadline_ms = 100;
    LIMITED("(tool/stuck {:n 5})", "!deadline 1:1");
    LIMITED("(pmap (fn [n] (tool/stuck {:n n})) [1 2 3])", "!deadline 1:15");
}

static void test_cache(Ptc *ptc, PtcTools *tools)
{
    atomic_store(&runs, 0);
    WITH("[(tool/cached {:n 3}) (tool/cached {\"n\" 3.0}) (tool/cached :n 3)]", "[9 9 9]");
    CHECK(atomic_load(&runs) == 1);
    atomic_store(&runs, 0);
    WITH("(distinct (pmap (fn [_] (tool/slow-cached {:n 4})) (range 20)))", "[16]");
    CHECK(atomic_load(&runs) == 1);
    PtcSession *session = ptc_session_new(ptc);
    PtcRun run = a_run("(tool/cached {:n 5})", NULL, 0);
    run.tools = tools;
    run.session = session;
    atomic_store(&runs, 0);
    for (int i = 0; i < 3; i++) {
        PtcOutcome *o = NULL;
        CHECK(ptc_eval(ptc, &run, &o) == PTC_OK && ptc_outcome_ok(o));
        PtcToolRecord record = {.size = sizeof record};
        CHECK(ptc_outcome_tool_count(o, NULL) == 1 && ptc_outcome_tool(o, 0, &record));
        CHECK(record.cached == (i > 0) && record.ok);
        ptc_outcome_free(o);
    }
    CHECK(atomic_load(&runs) == 1);
    ptc_session_free(session);
}

static void test_records(Ptc *ptc, PtcTools *tools)
{
    PtcOutcome *o = start_with(
        ptc, tools,
        "(do (tool/square {:n 2}) (pmap (fn [n] (tool/slow {:n n})) (range 5)) (tool/soft {:a 1}))",
        NULL);
    size_t total = 0;
    CHECK(ptc_outcome_tool_count(o, &total) == 7 && total == 7);
    static const char *const args[] = {"{\"n\" 2}", "{\"n\" 0}", "{\"n\" 1}", "{\"n\" 2}",
                                       "{\"n\" 3}", "{\"n\" 4}", "{\"a\" 1}"};
    static const char *const results[] = {"4", "0", "1", "4", "9", "16", "no luck today"};
    for (size_t i = 0; i < 7; i++) {
        PtcToolRecord r = {.size = sizeof r};
        char text[200];
        CHECK(ptc_outcome_tool(o, i, &r));
        CHECK_STR(r.arguments, args[i]);
        CHECK(r.arguments_len == strlen(args[i]));
        snprintf(text, sizeof text, "%.*s", (int)r.result_len, r.result);
        CHECK_STR(text, results[i]);
        CHECK_STR(r.name, i == 0 ? "square" : i == 6 ? "soft" : "slow");
        CHECK(r.ok == (i < 6) && !r.cached);
    }
    ptc_outcome_free(o);
}

/* Order, lowest failure, prints and definitions, whatever the threads do. */
static void test_parallel(Ptc *ptc, PtcTools *tools)
{
    WITH("(pmap (fn [n] (tool/slow {:n n})) (range 40))",
         "[0 1 4 9 16 25 36 49 64 81 100 121 144 169 196 225 256 289 324 361 400 441 484 529 576 "
         "625 676 729 784 841 900 961 1024 1089 1156 1225 1296 1369 1444 1521]");
    WITH(
        "(count (filter number? (pmap (fn [n] (try (if (= n 77) (tool/fails) (tool/square {:n n})) "
        "(catch Exception e :lost))) (range 200))))",
        "199");
    WITH("(try (pmap (fn [n] (tool/slow {:n n}) (if (> n 10) (throw (ex-info \"x\" {:n n})) n)) "
         "(range 30)) (catch Exception e (ex-data e)))",
         "{:n 11}");
    WITH("(def x 1) (pmap (fn [n] (tool/square {:n n}) (def x n)) (range 9)) x", "1");
    WITH("(pmap (fn [a] (reduce + (pmap (fn [b] (tool/slow {:n (+ a b)})) (range 4)))) (range 4))",
         "[14 30 54 86]");
    WITH("(reduce + (pmap (fn [n] (tool/serial {:n n})) (range 10)))", "285");
    PtcOutcome *o = start_with(
        ptc, tools, "(pmap (fn [n] (println n) (tool/slow {:n n}) (println (- n))) (range 12))",
        NULL);
    CHECK(ptc_outcome_print_count(o) == 24);
    for (size_t i = 0; i < 24; i++) {
        char want[8];
        size_t len;
        snprintf(want, sizeof want, "%d", i % 2 ? -(int)(i / 2) : (int)(i / 2));
        CHECK_STR(ptc_outcome_print(o, i, &len), want);
    }
    ptc_outcome_free(o);
}

/* What one run of a session prints for its journal, or "none". */
static void journal_after(Ptc *ptc, PtcTools *tools, PtcSession *session, PtcValue journal,
                          const char *program, char out[TEXT])
{
    PtcRun run = a_run(program, session, 0);
    PtcOutcome *o = NULL;
    char *text = NULL;
    size_t len = 0;
    run.tools = tools;
    run.journal = journal;
    CHECK(ptc_eval(ptc, &run, &o) == PTC_OK);
    snprintf(out, TEXT, "none");
    if (ptc_outcome_journal(o) &&
        ptc_value_text(ptc, ptc_outcome_journal(o), &text, &len) == PTC_OK)
        snprintf(out, TEXT, "%s", text);
    ptc_text_free(ptc, text, len);
    ptc_outcome_free(o);
}

/* Tasks that finished are not done again, whatever became of their run. */
static void test_journal(Ptc *ptc, PtcTools *tools)
{
    static const struct {
        const char *program, *journal;
    } rows[] = {
        {"(task :a (tool/square {:n 3}))", "{\"given\" 1, \"a\" 9}"},
        {"(do (task \"b\" (tool/square {:n 4})) (tool/fails))", "{\"given\" 1, \"a\" 9, \"b\" 16}"},
        {"[(task \"a\" (fail 1)) (task \"b\" (fail 2))]", "{\"given\" 1, \"a\" 9, \"b\" 16}"},
        {"(do (task-reset \"a\") (pmap (fn [i] (task i (tool/slow {:n i}))) (range 3)))",
         "{\"given\" 1, \"b\" 16, \"0\" 0, \"1\" 1, \"2\" 4}"},
    };
    char got[TEXT];
    PtcSession *session = ptc_session_new(ptc);
    PtcData *data = ptc_data_new(ptc, PTC_UNSET);
    PtcValue given = ptc_make_json(data, "{\"given\":1}", 11, NULL, 0);
    journal_after(ptc, tools, session, 0, "(task 1 2)", got);
    CHECK_STR(got, "none");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        journal_after(ptc, tools, session, i ? 0 : given, rows[i].program, got);
        CHECK_STR(got, rows[i].journal);
    }
    CHECK(ptc_session_count(session) == 0);
    ptc_session_free(session);
    ptc_data_free(data);
}

/* 50 KB of JSON become values at once: each string is made once, in the run's heap, and nothing else is allocated for
 * the text. */
static char rows_json[60000];

static PtcToolAnswer rows(PtcToolCall *call, void *user)
{
    (void)user;
    ptc_call_return_json(call, rows_json, strlen(rows_json));
    return PTC_TOOL_ANSWERED;
}

static void test_no_copy(Ptc *ptc)
{
    PtcTools *tools = ptc_tools_new();
    PtcToolDef def;
    size_t at = 0, n = 0;
    at += (size_t)snprintf(rows_json, sizeof rows_json, "[");
    for (; at < 50000; n++)
        at += (size_t)snprintf(rows_json + at, sizeof rows_json - at,
                               "%s\"row %zu with a text of some sixty bytes, as they are in life\"",
                               n ? "," : "", n);
    snprintf(rows_json + at, sizeof rows_json - at, "]");
    ptc_tool_def_init(&def, sizeof def);
    def.name = "rows";
    def.name_len = 4;
    def.function = rows;
    CHECK(ptc_tools_add(tools, &def, NULL, 0) == PTC_OK);
    ptc_outcome_free(
        start_with(ptc, tools, "(count (tool/rows))", NULL)); /* pages are pooled now */
    uint64_t before = atomic_load(&ptc->mem.count);
    PtcOutcome *o = start_with(ptc, tools, "(tool/rows)", NULL);
    uint64_t count = atomic_load(&ptc->mem.count) - before;
    CHECK(ptc_value_count(ptc_outcome_value(o)) == n);
    /* strings with their headers and the grain of pages: a second copy would not fit */
    CHECK(o->heap.used < strlen(rows_json) + n * 32 + 32768);
    CHECK(count <= 8);
    printf("%zu bytes of JSON: %zu in the heap, %llu allocations\n", strlen(rows_json),
           o->heap.used, (unsigned long long)count);
    ptc_outcome_free(o);
    ptc_tools_free(tools);
}

/* Ten programs at once, each on an engine of its own, with one set of tools. */
static void *fan_out(void *arg)
{
    PtcTools *tools = arg;
    Ptc *ptc = patient_engine();
    for (int i = 0; i < 3; i++) {
        WITH("(reduce + (pmap (fn [n] (:n (tool/same {:n (tool/slow {:n n})}))) (range 20)))",
             "2470");
        WITH("(get (frequencies (pmap (fn [n] (reduce + (range 2000))) (range 50))) 1999000)",
             "50");
    }
    ptc_free(ptc);
    return NULL;
}

static void test_many(PtcTools *tools)
{
    pthread_t threads[10];
    for (size_t i = 0; i < 10; i++)
        pthread_create(&threads[i], NULL, fan_out, tools);
    for (size_t i = 0; i < 10; i++)
        pthread_join(threads[i], NULL);
}

static void test_cancel(Ptc *ptc, PtcTools *tools)
{
    static const char *const programs[] = {
        "(tool/stuck {:n 1})", "(pmap (fn [n] (tool/stuck {:n n})) (range 20))",
        "(pmap (fn [n] (loop [] (reduce + (range 1000)) (recur))) (range 20))"};
    for (size_t i = 0; i < 3; i++) {
        Canceller canceller;
        PtcLimits limits = patient_limits();
        limits.loop_limit = INT64_MAX / 4;
        canceller_start(&canceller, ptc);
        PtcOutcome *o = start_with(ptc, tools, programs[i], &limits);
        canceller_stop(&canceller);
        CHECK_STR(first_error(o).kind, "cancelled");
        ptc_outcome_free(o);
        WITH("(pmap inc [1 2])", "[2 3]");
    }
}

static void refuse(const char *name, const char *signature, bool preview, bool cache,
                   const char *want)
{
    PtcTools *tools = ptc_tools_new();
    PtcToolDef def;
    char error[300] = "";
    ptc_tool_def_init(&def, sizeof def);
    def.name = name;
    def.name_len = strlen(name);
    def.function = echo;
    def.signature = signature;
    def.signature_len = signature ? strlen(signature) : 0;
    def.preview = preview ? "rows" : NULL;
    def.cache = cache;
    def.expose = "both";
    CHECK(ptc_tools_add(tools, &def, error, sizeof error) == PTC_BAD_ARGUMENT);
    if (!strstr(error, want))
        CHECK_STR(error, want);
    ptc_tools_free(tools);
}

int main(void)
{
    Ptc *ptc = patient_engine();
    PtcTools *tools = make_tools();
    CHECK_RUN(test_calls(ptc, tools));
    CHECK_RUN(test_too_late());
    CHECK_RUN(test_limits(ptc, tools));
    CHECK_RUN(test_cache(ptc, tools));
    CHECK_RUN(test_records(ptc, tools));
    CHECK_RUN(test_parallel(ptc, tools));
    CHECK_RUN(test_journal(ptc, tools));
    CHECK_RUN(test_no_copy(ptc));
    CHECK_RUN(test_many(tools));
    CHECK_RUN(test_cancel(ptc, tools));
    refuse("lisp_eval", NULL, false, false, "choose another name");
    refuse("a b", NULL, false, false, "name");
    refuse("", NULL, false, false, "name");
    refuse("f", "(x :strin) -> :any", false, false, "strin");
    refuse("f", NULL, true, false, "cache");
    ptc_tools_free(tools);
    end_engine(ptc);
    return check_done("test_tools");
}
