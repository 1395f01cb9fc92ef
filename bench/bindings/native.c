/* SPDX-License-Identifier: MIT
 * The workloads of bench/bindings through the library itself: native ROWS.json; prints "name microseconds", the best of
 * five. */
#include <ptc/ptc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static PtcToolAnswer twice(PtcToolCall *call, void *user)
{
    int64_t n = 0;
    (void)user;
    ptc_value_int(ptc_value_get(ptc_call_args(call), "n", 1), &n);
    ptc_call_return(call, ptc_make_int(ptc_call_data(call), 2 * n));
    return PTC_TOOL_ANSWERED;
}

static PtcTools *make_tools(void)
{
    PtcToolDef def;
    PtcTools *tools = ptc_tools_new();
    ptc_tool_def_init(&def, sizeof def);
    def.name = "twice";
    def.name_len = 5;
    def.function = twice;
    return ptc_tools_add(tools, &def, NULL, 0) == PTC_OK ? tools : NULL;
}

/* A program once; its answer is written as JSON, as bindings have it. */
static void once(Ptc *ptc, PtcTools *tools, PtcValue context, const char *program,
                 const char *wanted)
{
    PtcRun run;
    PtcOutcome *outcome = NULL;
    ptc_run_init(&run, sizeof run);
    run.program = program;
    run.program_len = strlen(program);
    run.context = context;
    run.tools = tools;
    if (ptc_eval(ptc, &run, &outcome) != PTC_OK || !ptc_outcome_json(outcome, NULL) ||
        strcmp(ptc_outcome_json(outcome, NULL), wanted) != 0)
        exit(1);
    ptc_outcome_free(outcome);
}

static double best(double a, double b)
{
    return a < b ? a : b;
}

int main(int argc, char **argv)
{
    static char rows[8 << 20];
    FILE *file = fopen(argc > 1 ? argv[1] : "", "rb");
    size_t len = file ? fread(rows, 1, sizeof rows, file) : 0;
    double small = 1e9, fresh = 1e9, kept = 1e9, calls = 1e9, from;
    PtcLimits limits;
    PtcOptions options;
    ptc_limits_init(&limits, sizeof limits);
    ptc_options_init(&options, sizeof options);
    limits.context_bytes = limits.memory_bytes = 64 << 20;
    options.limits = &limits;
    Ptc *ptc = ptc_new(&options);
    PtcTools *tools = make_tools();
    PtcData *all = ptc_data_new(ptc, PTC_UNSET);
    PtcValue context = ptc_make_json(all, rows, len, NULL, 0);
    static const char sum[] = "(sum-by :total data/rows)";
    for (int round = 0; round < 5; round++) {
        from = now_us();
        for (int i = 0; i < 1000; i++)
            once(ptc, NULL, 0, "(+ 1 2)", "3");
        small = best(small, (now_us() - from) / 1000);
        from = now_us();
        PtcData *data = ptc_data_new(ptc, PTC_UNSET);
        once(ptc, NULL, ptc_make_json(data, rows, len, NULL, 0), sum, "49995000");
        ptc_data_free(data);
        fresh = best(fresh, now_us() - from);
        from = now_us();
        once(ptc, NULL, context, sum, "49995000");
        kept = best(kept, now_us() - from);
        from = now_us();
        once(ptc, tools, 0, "(reduce + (map (fn [n] (tool/twice {:n n})) (range 1000)))", "999000");
        calls = best(calls, (now_us() - from) / 1000);
    }
    printf("small %.2f\nfresh %.1f\nkept %.1f\ncall %.2f\n", small, fresh, kept, calls);
    ptc_data_free(all);
    ptc_tools_free(tools);
    ptc_free(ptc);
    return 0;
}
