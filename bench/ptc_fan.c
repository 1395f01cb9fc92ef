/* SPDX-License-Identifier: MIT
 *
 * ptc_fan.c - pmap over 200 calls of a tool that takes 20 ms, with 8 workers: once alone, then ten programs at once,
 * each on an engine of its own.  Prints the time against 200 * 20 / 8 ms.  Usage: ptc_fan */
#include "common.h"
#include "ptc_host.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { PROGRAMS = 10, CALLS = 200, TOOL_MS = 20, WORKERS = 8 };

static const char program[] = "(pmap (fn [i] (tool/wait {:i i})) (range 200))";

static PtcToolAnswer wait_then_echo(PtcToolCall *call, void *user)
{
    struct timespec t = {0, TOOL_MS * 1000000L};
    (void)user;
    nanosleep(&t, NULL);
    ptc_call_return(call, ptc_value_get(ptc_call_args(call), "i", 1));
    return PTC_TOOL_ANSWERED;
}

static void *fan_out(void *tools)
{
    PtcLimits limits;
    ptc_limits_init(&limits, sizeof limits);
    limits.max_workers = WORKERS;
    Ptc *ptc = host_engine(&limits);
    PtcOutcome *o = host_eval(ptc, program, sizeof program - 1, 0, tools);
    for (size_t i = 0; i < CALLS; i++) {
        int64_t n;
        if (!ptc_value_int(ptc_value_at(ptc_outcome_value(o), i), &n) || n != (int64_t)i)
            bench_die("answer %zu is out of order", i);
    }
    ptc_outcome_free(o);
    ptc_free(ptc);
    return NULL;
}

static void report(const char *what, uint64_t begun)
{
    double ms = (double)(bench_now_ns() - begun) / 1e6;
    printf("%-22s %7.1f ms, %.3f of %d * %d / %d ms\n", what, ms,
           ms / ((double)CALLS * TOOL_MS / WORKERS), CALLS, TOOL_MS, WORKERS);
}

int main(void)
{
    pthread_t threads[PROGRAMS];
    PtcToolDef def;
    PtcTools *tools = ptc_tools_new();
    ptc_tool_def_init(&def, sizeof def);
    def.name = "wait";
    def.name_len = strlen(def.name);
    def.function = wait_then_echo;
    if (!tools || ptc_tools_add(tools, &def, NULL, 0) != PTC_OK)
        bench_die("ptc_tools_add failed");
    uint64_t begun = bench_now_ns();
    fan_out(tools);
    report("one program", begun);
    begun = bench_now_ns();
    for (size_t i = 0; i < PROGRAMS; i++)
        pthread_create(&threads[i], NULL, fan_out, tools);
    for (size_t i = 0; i < PROGRAMS; i++)
        pthread_join(threads[i], NULL);
    report("ten programs at once", begun);
    ptc_tools_free(tools);
    return 0;
}
