/* SPDX-License-Identifier: MIT
 * test_engine_rest.c - engines that lie idle: threads and memory go, programs run as before; threads of all engines
 * together are bounded. */
#include "api_help.h"

#include <time.h>

#include "lisp/parallel/crew_int.h"

static PtcToolAnswer naps(PtcToolCall *call, void *user)
{
    (void)user;
    nanosleep(&(struct timespec){0, 2000000}, NULL);
    ptc_call_return(call, ptc_call_args(call));
    return PTC_TOOL_ANSWERED;
}

static PtcTools *make_tools(void)
{
    PtcTools *tools = ptc_toolset_new();
    PtcTool tool = {.function = naps, .lisp = PTC_NONE};
    ptc_tool_init(&tool.info, "naps", 4);
    CHECK(ptc_toolset_put(tools, &tool, NULL));
    return tools;
}

static void run_pmap(Ptc *ptc, PtcSession *s, PtcTools *tools)
{
    PtcRun run = a_run("(reduce + (pmap (fn [i] (tool/naps {:i i}) i) (range 16)))", s, 0);
    PtcOutcome *o = NULL;
    run.tools = tools;
    CHECK(ptc_engine_run(ptc, &run, &o) == PTC_OK);
    CHECK_STR(ptc_outcome_show_text(o), "120");
    ptc_outcome_drop(o);
}

static void test_rest(PtcTools *tools)
{
    Ptc *ptc = ptc_new(NULL);
    PtcSession *s = ptc_session_new(ptc);
    EXPECT(ptc, s, "(def rows (vec (range 1000))) (count rows)", "1000");
    for (int round = 0; round < 3; round++) {
        run_pmap(ptc, s, tools);
        CHECK(ptc->crew->thread_count == 7);
        EXPECT(ptc, s, "((fn f [n] (if (= n 0) 0 (+ 1 (f (- n 1))))) 9000)", "9000");
        EXPECT(ptc, s, "(count (vec (range 100000)))", "100000");
        size_t before = atomic_load(&ptc->mem.used);
        ptc_engine_rest(ptc);
        CHECK(ptc->crew->thread_count == 0);
        CHECK(atomic_load(&ptc->mem.used) + 500000 < before);
        ptc_engine_rest(ptc);
        EXPECT(ptc, s, "(reduce + rows)", "499500");
    }
    ptc_session_free(s);
    end_engine(ptc);
}

/* An outcome keeps its heap through a rest. */
static void test_outcome_stays(void)
{
    Ptc *ptc = ptc_new(NULL);
    PtcOutcome *o = start(ptc, "(mapv str (range 5))", NULL, 0);
    ptc_engine_rest(ptc);
    CHECK_STR(ptc_outcome_show_text(o), "[\"0\" \"1\" \"2\" \"3\" \"4\"]");
    ptc_outcome_drop(o);
    end_engine(ptc);
}

enum { ENGINES = 24 };

/* Every engine gets its result, though not all get threads; those that are given back are others' again. */
static void test_threads_bounded(PtcTools *tools)
{
    Ptc *all[ENGINES];
    unsigned threads = 0;
    for (int i = 0; i < ENGINES; i++) {
        all[i] = ptc_new(NULL);
        run_pmap(all[i], NULL, tools);
        threads += all[i]->crew->thread_count;
    }
    CHECK(threads <= PTC_CREW_THREADS && threads > PTC_CREW_THREADS / 2);
    CHECK(all[ENGINES - 1]->crew->thread_count == 0);
    ptc_engine_rest(all[0]);
    run_pmap(all[ENGINES - 1], NULL, tools);
    CHECK(all[ENGINES - 1]->crew->thread_count == 7);
    for (int i = 0; i < ENGINES; i++)
        end_engine(all[i]);
}

int main(void)
{
    PtcTools *tools = make_tools();
    test_rest(tools);
    test_outcome_stays();
    test_threads_bounded(tools);
    ptc_toolset_release(tools);
    return check_done("test_engine_rest");
}
