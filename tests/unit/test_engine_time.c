/* SPDX-License-Identifier: MIT
 * test_engine_time.c - time that does not count: tools that start agents or ask models, alone, in a pmap, awaited by
 * others; limits of one pmap; the end of a run that nothing moves.  Most of it by a clock that only tools move. */
#include "api_help.h"

#include <time.h>

static atomic_int_fast64_t clock_ms;

static int64_t read_clock(void *user)
{
    (void)user;
    return atomic_load(&clock_ms);
}

/* Takes {:s n} seconds of that clock. */
static PtcToolAnswer takes(PtcToolCall *call, void *user)
{
    int64_t s = 0;
    (void)user;
    ptc_value_int(ptc_value_get(ptc_call_args(call), "s", 1), &s);
    atomic_fetch_add(&clock_ms, s * 1000);
    ptc_call_return_json(call, "1", 1);
    return PTC_TOOL_ANSWERED;
}

/* Takes real time, longer than the deadline of the runs that call it. */
enum { DEADLINE_MS = 700, SLEEP_MS = 900 };
static PtcToolAnswer sleeps(PtcToolCall *call, void *user)
{
    (void)user;
    for (int i = 0; i < SLEEP_MS / 10 && !ptc_call_cancelled(call); i++)
        nanosleep(&(struct timespec){0, 10 * 1000000}, NULL);
    if (ptc_call_cancelled(call))
        ptc_call_fail(call, "cancelled", 9);
    else
        ptc_call_return_json(call, "1", 1);
    return PTC_TOOL_ANSWERED;
}

/* Until nobody waits. */
static PtcToolAnswer waits(PtcToolCall *call, void *user)
{
    (void)user;
    while (!ptc_call_cancelled(call))
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return PTC_TOOL_ANSWERED;
}

static void add(PtcTools *tools, const char *name, PtcToolFn function, bool uncounted, bool cache)
{
    PtcTool tool = {.function = function, .lisp = PTC_NONE};
    ptc_tool_init(&tool.info, name, strlen(name));
    tool.info.uncounted = uncounted;
    tool.info.cache = cache;
    CHECK(ptc_toolset_put(tools, &tool, NULL));
}

static PtcTools *make_tools(void)
{
    PtcTools *tools = ptc_toolset_new();
    add(tools, "agent", takes, true, false);
    add(tools, "tool", takes, false, false);
    add(tools, "sleeps", sleeps, true, false);
    add(tools, "shared", sleeps, true, true);
    add(tools, "waits", waits, false, false);
    PtcToolInfo both;
    ptc_tool_init(&both, "both", 4);
    both.serial = both.uncounted = true;
    CHECK(!ptc_tool_check(&both, NULL));
    return tools;
}

static void expect_time(int line, Ptc *ptc, PtcTools *tools, const char *program,
                        const PtcRunMore *more, int64_t deadline_ms, const char *want)
{
    char got[TEXT];
    PtcLimits limits;
    PtcOutcome *o = NULL;
    ptc_limits_unset(&limits);
    limits.deadline_ms = deadline_ms;
    PtcRun run = a_run(program, NULL, 0);
    run.tools = tools;
    run.limits = &limits;
    CHECK(ptc_engine_run_more(ptc, &run, more, &o) == PTC_OK);
    if (o->ok)
        tell(o, got);
    else
        snprintf(got, sizeof got, "!%s: %s", first_error(o).kind, first_error(o).message);
    check_str("", line, program, got, want);
    ptc_outcome_drop(o);
}

#define TIME(program, more, deadline_ms, want) \
    expect_time(__LINE__, ptc, tools, program, more, deadline_ms, want)

static const char late[] = "!deadline: the program took longer than its deadline of 10000 ms";

static Ptc *engine_with_clock(int64_t workers)
{
    PtcOptions options;
    PtcLimits limits;
    ptc_options_init(&options, sizeof options);
    ptc_limits_init(&limits, sizeof limits);
    limits.max_workers = workers;
    options.limits = &limits;
    options.clock_ms = read_clock;
    return ptc_new(&options);
}

static int64_t in_hours(int64_t n)
{
    return ptc_clock_ns(NULL) + n * 3600 * 1000000000;
}

/* One after the other. */
static void test_alone(PtcTools *tools)
{
    Ptc *ptc = engine_with_clock(1);
    PtcRunMore more = {.hard_ns = in_hours(1)};
    TIME("(tool/agent {:s 500}) (tool/tool {:s 6}) (tool/agent {:s 500}) :ok", &more, 10000, ":ok");
    TIME("(tool/agent {:s 500}) (tool/tool {:s 6}) (tool/tool {:s 6})", &more, 10000, late);
    TIME("(tool/agent {:s 3000}) (tool/agent {:s 3000})", &more, 10000, late);
    TIME("(tool/agent {:s 11})", NULL, 10000, late);
    TIME("(tool/agent {:s 9}) :ok", NULL, 10000, ":ok");
    end_engine(ptc);
}

/* In a pmap, with a limit of its own or without. */
static void test_in_pmap(PtcTools *tools)
{
    Ptc *ptc = engine_with_clock(1);
    PtcRunMore more = {.hard_ns = in_hours(10)};
    PtcRunMore limited = {.hard_ns = in_hours(10), .pmap_ms = 5000};
    static const char slow[] = "!deadline: pmap or pcalls took longer than its limit of 5000 ms";
    TIME("(pmap (fn [i] (tool/agent {:s 50}) i) [1 2 3])", &more, 10000, "[1 2 3]");
    TIME("(pmap (fn [i] (tool/agent {:s 50}) i) [1 2 3])", &limited, 10000, "[1 2 3]");
    TIME("(pmap (fn [i] (tool/tool {:s 3}) i) [1 2 3])", &limited, 10000, slow);
    TIME("(pcalls #(tool/tool {:s 3}) #(tool/tool {:s 3}))", &limited, 10000, slow);
    TIME("(tool/tool {:s 6}) (pmap (fn [i] (tool/tool {:s 6}) i) [1])", &limited, 10000, late);
    TIME("(pmap (fn [i] (tool/tool {:s 4})) [1]) (pmap (fn [i] (tool/tool {:s 4}) i) [2])",
         &limited, 10000, "[2]");
    TIME("(pmap (fn [i] (tool/tool {:s 4})) [1]) (pmap (fn [i] (tool/tool {:s 4})) [2])"
         " (tool/tool {:s 4})",
         &limited, 10000, late);
    TIME("(pmap (fn [i] (pmap (fn [j] (tool/agent {:s 9}) (tool/tool {:s 1}) j) [i])) [1 2 3])",
         &limited, 10000, "[[1] [2] [3]]");
    end_engine(ptc);
}

/* By the system's clock: threads that wait for each other's call, and a pmap whose threads all wait. */
static void test_threads(PtcTools *tools)
{
    Ptc *ptc = ptc_new(NULL);
    PtcRunMore more = {.hard_ns = in_hours(1)};
    TIME("(pmap (fn [i] (tool/shared {}) (tool/sleeps {}) i) [1 2 3 4])", &more, DEADLINE_MS,
         "[1 2 3 4]");
    more.hard_ns = ptc_clock_ns(NULL) + 50 * 1000000;
    TIME("(pmap (fn [i] (tool/sleeps {}) i) [1 2 3 4])", &more, DEADLINE_MS,
         "!deadline: the program took longer than its deadline of 700 ms");
    more = (PtcRunMore){.pmap_ms = 20};
    TIME("(pmap (fn [i] (tool/waits {}) i) [1 2 3 4])", &more, 60000,
         "!deadline: pmap or pcalls took longer than its limit of 20 ms");
    end_engine(ptc);
}

/* Calls without a program. */
static void test_native(PtcTools *tools)
{
    Ptc *ptc = ptc_new(NULL);
    PtcBuf out;
    PtcNativeAnswer answer;
    int64_t now = ptc_clock_ns(NULL);
    PtcNativeOptions options = {.deadline_ns = now + 20 * 1000000, .hard_ns = in_hours(1)};
    ptc_buf_init(&out, &ptc->mem, 1000);
    CHECK(ptc_engine_call(ptc, NULL, tools, PTC_TEXT("sleeps"), PTC_TEXT("{}"), &options, &out,
                          &answer));
    CHECK(answer.end == PTC_NATIVE_OK);
    options.deadline_ns = options.hard_ns = ptc_clock_ns(NULL) + 20 * 1000000;
    CHECK(ptc_engine_call(ptc, NULL, tools, PTC_TEXT("waits"), PTC_TEXT("{}"), &options, &out,
                          &answer));
    CHECK(answer.end == PTC_NATIVE_TIMEOUT);
    ptc_buf_deinit(&out);
    end_engine(ptc);
}

int main(void)
{
    PtcTools *tools = make_tools();
    test_alone(tools);
    test_in_pmap(tools);
    test_threads(tools);
    test_native(tools);
    ptc_toolset_release(tools);
    return check_done("test_engine_time");
}
