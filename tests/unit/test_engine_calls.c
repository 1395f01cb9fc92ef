/* SPDX-License-Identifier: MIT
 * test_engine_calls.c - calls of tools as the loop of an agent makes and watches them: what the host gives with a run,
 * calls without a program, how often a tool ran, what is known of its end. */
#include "api_help.h"

#include <time.h>

#include "tool/file.h"

/* A host's state, and a tool that adds to it. */
typedef struct {
    atomic_int calls;
    atomic_bool wrong;
} Host;

static PtcToolAnswer note(PtcToolCall *call, void *user)
{
    Host *host = ptc_call_host(call);
    (void)user;
    if (host)
        atomic_fetch_add(&host->calls, 1);
    ptc_call_return(call, ptc_call_args(call));
    return PTC_TOOL_ANSWERED;
}

static PtcToolAnswer refuses(PtcToolCall *call, void *user)
{
    (void)user;
    ptc_call_fail(call, "closed", 6);
    return PTC_TOOL_ANSWERED;
}

/* Until nobody waits. */
static PtcToolAnswer waits(PtcToolCall *call, void *user)
{
    Host *host = ptc_call_host(call);
    (void)user;
    if (host && !ptc_call_cancel(call))
        atomic_store(&host->wrong, true);
    while (!ptc_call_cancelled(call))
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return PTC_TOOL_ANSWERED;
}

static void *answer_note(void *arg)
{
    PtcToolCall *call = arg;
    Host *host = ptc_call_host(call);
    if (host)
        atomic_fetch_add(&host->calls, 1);
    ptc_call_return_json(call, "1", 1);
    return NULL;
}

static PtcToolAnswer later(PtcToolCall *call, void *user)
{
    pthread_t thread;
    (void)user;
    if (pthread_create(&thread, NULL, answer_note, call) != 0)
        return PTC_TOOL_ANSWERED;
    pthread_detach(thread);
    return PTC_TOOL_PENDING;
}

static void add(PtcTools *tools, const char *name, PtcToolFn function, const char *signature,
                bool cache)
{
    PtcToolDef def;
    ptc_tool_def_init(&def, sizeof def);
    def.name = name;
    def.name_len = strlen(name);
    def.function = function;
    def.signature = signature;
    def.signature_len = signature ? strlen(signature) : 0;
    def.cache = cache;
    def.pending = function == later;
    def.timeout_ms = strcmp(name, "slow") ? 0 : 5;
    CHECK(ptc_tools_add(tools, &def, NULL, 0) == PTC_OK);
}

enum { NOTE, CACHED, REFUSES, WAITS, SLOW, LATER, THROUGH, TOOLS };

static PtcTools *make_tools(void)
{
    PtcTools *tools = ptc_tools_new();
    PtcWhy why;
    add(tools, "note", note, NULL, false);
    add(tools, "cached", note, "(id :int) -> :any", true);
    add(tools, "refuses", refuses, NULL, false);
    add(tools, "waits", waits, NULL, false);
    add(tools, "slow", waits, NULL, false);
    add(tools, "later", later, NULL, false);
    static const char lisp[] = "{\"through\":{\"lisp\":\"(fn [args] args)\"}}";
    PtcToolsFileOptions none = {.command = false};
    CHECK(ptc_tools_read_json(tools, lisp, sizeof lisp - 1, &none, &why));
    return tools;
}

static PtcOutcome *run_with(Ptc *ptc, PtcSession *s, PtcTools *tools, const char *program,
                            const PtcRunMore *more, int64_t deadline_ms)
{
    PtcLimits limits;
    ptc_limits_unset(&limits);
    limits.deadline_ms = deadline_ms;
    PtcRun run = a_run(program, s, 0);
    PtcOutcome *o = NULL;
    run.tools = tools;
    run.limits = &limits;
    CHECK(ptc_engine_run_more(ptc, &run, more, &o) == PTC_OK);
    return o;
}

/* Every kind of tool finds the host, wherever it is called. */
static void test_host(Ptc *ptc, PtcTools *tools)
{
    Host host = {0};
    PtcRunMore more = {.host = &host};
    PtcOutcome *o =
        run_with(ptc, NULL, tools,
                 "[(tool/note {:a 1}) (tool/through {:a 1}) (tool/later {}) (tool/cached {:id 1})"
                 " (pmap (fn [i] (tool/note {:i i}) (tool/later {}) (tool/through {:i i}))"
                 " (range 8))]",
                 &more, PTC_UNSET);
    CHECK(o->ok);
    ptc_outcome_drop(o);
    CHECK(atomic_load(&host.calls) == 3 + 2 * 8);
    o = run_with(ptc, NULL, tools, "(tool/note {})", NULL, PTC_UNSET);
    CHECK(o->ok);
    ptc_outcome_drop(o);
    CHECK(atomic_load(&host.calls) == 19);
}

/* ---------------------------------------------------------------------------- native calls */

static const char *end_name(PtcNativeEnd end)
{
    static const char *const names[] = {"ok",      "unknown",   "args",  "failed",
                                        "timeout", "cancelled", "memory"};
    return names[end];
}

static void expect_call(int line, Ptc *ptc, PtcSession *s, PtcTools *tools, const char *name,
                        const char *args, const PtcNativeOptions *options, const char *want)
{
    PtcBuf out;
    PtcNativeAnswer answer;
    char got[TEXT];
    ptc_buf_init(&out, &ptc->mem, 4096);
    CHECK(ptc_engine_call(ptc, s, tools, ptc_text_cstr(name), ptc_text_cstr(args), options, &out,
                          &answer));
    snprintf(got, sizeof got, "%s%s%s: %.*s", end_name(answer.end), answer.cached ? " cached" : "",
             answer.unknown ? " unknown" : "", (int)out.len, out.data);
    check_str("", line, name, got, want);
    ptc_buf_deinit(&out);
}

#define CALL(name, args, options, want) \
    expect_call(__LINE__, ptc, s, tools, name, args, options, want)

static void test_native(Ptc *ptc, PtcTools *tools)
{
    Host host = {0};
    PtcToolTally tally[TOOLS] = {0};
    PtcBuf issues;
    PtcSession *s = ptc_session_new(ptc);
    ptc_buf_init(&issues, &ptc->mem, 4096);
    PtcNativeOptions options = {.host = &host, .tally = tally, .issues = &issues};
    CALL("note", "{\"a-b\":1}", &options, "ok: {\"a_b\":1}");
    CALL("through", "{\"a\":2}", &options, "ok: {\"a\":2}");
    CALL("later", "{}", &options, "ok: 1");
    CHECK(atomic_load(&host.calls) == 2);
    CALL("notes", "{}", &options, "unknown: there is no such tool");
    CALL("note", "[1]", &options, "args: its arguments must be an object");
    CALL("note", "{", &options, "args: its arguments are not JSON");
    CALL("refuses", "{}", &options, "failed: closed");
    CALL("slow", "{}", &options,
         "timeout unknown: it did not answer within 5 ms; it may have taken effect");
    CHECK(issues.len == 0);
    CALL("cached", "{\"id\":\"x\"}", &options,
         "args: tool/cached: id: expected int, got string \"x\"");
    CHECK_STR(ptc_buf_text(&issues),
              "[{\"path\":[\"id\"],\"message\":\"expected int, got string \\\"x\\\"\"}]");
    CALL("cached", "{\"id\":7}", &options, "ok: {\"id\":7}");
    CALL("cached", "{\"id\":7}", &options, "ok cached: {\"id\":7}");
    CHECK(atomic_load(&tally[NOTE].started) == 1 && atomic_load(&tally[THROUGH].ok) == 1);
    CHECK(atomic_load(&tally[CACHED].started) == 1 && atomic_load(&tally[CACHED].ok) == 1);
    CHECK(atomic_load(&tally[REFUSES].failed) == 1 && atomic_load(&tally[REFUSES].ok) == 0);
    CHECK(atomic_load(&tally[SLOW].started) == 1 && atomic_load(&tally[SLOW].failed) == 0);
    PtcOutcome *o = run_with(ptc, s, tools, "(tool/cached {:id 7})", NULL, PTC_UNSET);
    CHECK(o->ok && o->log.count == 1 && o->log.items[0].cached);
    ptc_outcome_drop(o);
    ptc_buf_deinit(&issues);
    ptc_session_free(s);
}

static void test_native_limits(Ptc *ptc, PtcTools *tools)
{
    Host host = {0};
    PtcSession *s = NULL;
    PtcCancel cancel = {0};
    PtcNativeOptions options = {
        .host = &host, .deadline_ns = ptc_clock_ns(NULL) + 5 * 1000000, .cancel = &cancel};
    CALL("waits", "{}", &options, "timeout unknown: it did not answer in time");
    options.deadline_ns = 0;
    atomic_store(&cancel.asked, true);
    CALL("waits", "{}", &options, "cancelled: it was cancelled");
    CHECK(!atomic_load(&host.wrong) && !ptc->cancel.outer);
}

/* ----------------------------------------------------------------------------- what is known */

static void test_tally(Ptc *ptc, PtcTools *tools)
{
    PtcToolTally tally[TOOLS] = {0};
    PtcRunMore more = {.tally = tally};
    PtcOutcome *o = run_with(ptc, NULL, tools,
                             "(tool/note {}) (try (tool/refuses {}) (catch Exception e nil))"
                             " (pmap (fn [i] (tool/cached {:id 1})) (range 8)) (tool/waits {})",
                             &more, 30);
    CHECK_STR(first_error(o).kind, "deadline");
    CHECK(atomic_load(&tally[NOTE].started) == 1 && atomic_load(&tally[NOTE].ok) == 1);
    CHECK(atomic_load(&tally[REFUSES].started) == 1 && atomic_load(&tally[REFUSES].failed) == 1);
    CHECK(atomic_load(&tally[CACHED].started) == 1 && atomic_load(&tally[CACHED].ok) == 1);
    CHECK(atomic_load(&tally[WAITS].started) == 1 && atomic_load(&tally[WAITS].ok) == 0 &&
          atomic_load(&tally[WAITS].failed) == 0);
    CHECK(o->log.count == 11 && o->log.items[10].unknown && !o->log.items[0].unknown);
    ptc_outcome_drop(o);
}

/* Calls of a task that is done are not made again; those of one that is not are. */
static void test_journaled(Ptc *ptc, PtcTools *tools)
{
    PtcSession *s = ptc_session_new(ptc);
    PtcData *data = ptc_data_new(ptc, PTC_UNSET);
    PtcRun run = a_run("(tool/note {:n 0})"
                       "(task :a (pmap (fn [i] (tool/note {:i i})) [1 2]))"
                       "(task :b (do (tool/note {:n 3}) (/ 1 0)))",
                       s, 0);
    PtcOutcome *o = NULL;
    run.tools = tools;
    run.journal = ptc_make_map(data, NULL, 0);
    CHECK(ptc_engine_run_more(ptc, &run, NULL, &o) == PTC_OK);
    CHECK(!o->ok && o->log.count == 4);
    for (size_t i = 0; i < o->log.count; i++)
        CHECK(o->log.items[i].journaled == (i == 1 || i == 2));
    ptc_outcome_drop(o);
    ptc_data_free(data);
    ptc_session_free(s);
}

/* What a failed program did outside is on record, and its finished tasks and cached results stay. */
static void test_failed_keeps(Ptc *ptc, PtcTools *tools)
{
    PtcSession *s = ptc_session_new(ptc);
    PtcData *data = ptc_data_new(ptc, PTC_UNSET);
    PtcRun run = a_run("(println \"begun\") (task :a 5) (step-done :x \"y\") (tool/cached {:id 3})"
                       " (fail {:why 1})",
                       s, 0);
    PtcOutcome *o = NULL;
    run.tools = tools;
    run.journal = ptc_make_map(data, NULL, 0);
    CHECK(ptc_engine_run_more(ptc, &run, NULL, &o) == PTC_OK);
    CHECK(!o->ok && o->prints.count == 1 && o->log.count == 1);
    CHECK(ptc_value_count(o->journal) == 1 && ptc_value_count(o->summaries) == 1);
    ptc_outcome_drop(o);
    o = run_with(ptc, s, tools, "[(task :a 6) (tool/cached {:id 3}) *1]", NULL, PTC_UNSET);
    CHECK(o->ok && o->log.items[0].cached);
    CHECK_STR(ptc_outcome_show_text(o), "[5 {\"id\" 3} nil]");
    ptc_outcome_drop(o);
    ptc_data_free(data);
    ptc_session_free(s);
}

/* A wish to stop that comes from outside ends the run. */
static void test_outer_cancel(Ptc *ptc, PtcTools *tools)
{
    PtcCancel cancel = {.asked = true};
    PtcRunMore more = {.cancel = &cancel};
    PtcOutcome *o = run_with(ptc, NULL, tools, "(tool/waits {})", &more, PTC_UNSET);
    CHECK_STR(first_error(o).kind, "cancelled");
    CHECK(!ptc->cancel.outer);
    ptc_outcome_drop(o);
}

int main(void)
{
    Ptc *ptc = ptc_new(NULL);
    PtcTools *tools = make_tools();
    test_host(ptc, tools);
    test_native(ptc, tools);
    test_native_limits(ptc, tools);
    test_tally(ptc, tools);
    test_journaled(ptc, tools);
    test_failed_keeps(ptc, tools);
    test_outer_cancel(ptc, tools);
    ptc_tools_free(tools);
    end_engine(ptc);
    return check_done("test_engine_calls");
}
