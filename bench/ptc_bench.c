/* SPDX-License-Identifier: MIT
 *
 * ptc_bench.c - our own figures, through the public C API.  An engine without a session starts
 * every run from a fresh state.  Usage: ptc_bench WORKLOAD PROGRAM.clj [ROWS.json] */
#include "common.h"
#include "ptc_host.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    BenchSource source;
    const char *workload;
    Ptc *ptc;
    char *rows; /* JSON text, or NULL */
    size_t rows_len;
    PtcTools *tools; /* for the workload that calls one, or NULL */
} Bench;

static void expect_int(PtcValue value, int64_t wanted)
{
    int64_t got;
    if (!ptc_value_int(value, &got) || got != wanted)
        bench_die("ptc: wrong answer, expected %lld", (long long)wanted);
}

static void check(PtcValue answer, const char *workload, int64_t k)
{
    if (!strcmp(workload, "small")) {
        expect_int(answer, BENCH_SMALL_ANSWER(k));
    } else if (!strcmp(workload, "fib")) {
        expect_int(answer, BENCH_FIB);
    } else if (!strcmp(workload, "loop") || !strcmp(workload, "for")) {
        expect_int(answer, BENCH_LOOP);
    } else if (!strcmp(workload, "call")) {
        expect_int(answer, BENCH_CALL);
    } else {
        const char *dept;
        size_t len;
        if (ptc_value_count(answer) != 2 ||
            !ptc_value_string(ptc_value_at(answer, 0), &dept, &len) || len != strlen(BENCH_DEPT) ||
            memcmp(dept, BENCH_DEPT, len) != 0)
            bench_die("ptc: wrong department");
        expect_int(ptc_value_at(answer, 1), BENCH_TOTAL);
    }
}

static void evaluate(Bench *bench, Ptc *ptc, PtcValue context)
{
    bench_source_next(&bench->source);
    PtcOutcome *outcome =
        host_eval(ptc, bench->source.text, bench->source.len, context, bench->tools);
    check(ptc_outcome_value(outcome), bench->workload, bench->source.k);
    ptc_outcome_free(outcome);
}

static void step(void *context)
{
    Bench *bench = context;
    evaluate(bench, bench->ptc, 0);
}

static void step_new_engine(void *context)
{
    Bench *bench = context;
    Ptc *ptc = host_engine(NULL);
    evaluate(bench, ptc, 0);
    ptc_free(ptc);
}

/* JSON text in, answer out. */
static void step_handed(void *context)
{
    Bench *bench = context;
    PtcData *data = ptc_data_new(bench->ptc, PTC_UNSET);
    if (!data)
        bench_die("ptc_data_new failed");
    evaluate(bench, bench->ptc, host_rows(data, bench->rows, bench->rows_len));
    ptc_data_free(data);
}

static PtcToolAnswer add(PtcToolCall *call, void *user)
{
    int64_t n = 0;
    (void)user;
    ptc_value_int(ptc_value_get(ptc_call_args(call), "n", 1), &n);
    ptc_call_return(call, ptc_make_int(ptc_call_data(call), n + 1));
    return PTC_TOOL_ANSWERED;
}

static PtcTools *add_tool(void)
{
    PtcToolDef def;
    PtcTools *tools = ptc_tools_new();
    ptc_tool_def_init(&def, sizeof def);
    def.name = "add";
    def.name_len = 3;
    def.function = add;
    if (!tools || ptc_tools_add(tools, &def, NULL, 0) != PTC_OK)
        bench_die("ptc_tools_add failed");
    return tools;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        bench_die("usage: %s WORKLOAD PROGRAM [ROWS]", argv[0]);
    Bench bench = {.workload = argv[1]};
    bench_source_load(&bench.source, argv[2]);
    if (argc > 3)
        bench.rows = bench_read_file(argv[3], &bench.rows_len);

    PtcLimits limits; /* only what the million iterations need */
    ptc_limits_init(&limits, sizeof limits);
    limits.timeout_ms = 60000;
    limits.loop_limit = 10000000;
    bench.ptc = host_engine(&limits);
    if (!strcmp(bench.workload, "call"))
        bench.tools = add_tool();

    bench_measure(bench.workload, "ptc", bench.rows ? step_handed : step, &bench);
    if (!strcmp(bench.workload, "small"))
        bench_measure(bench.workload, "ptc new engine", step_new_engine, &bench);

    ptc_tools_free(bench.tools);
    ptc_free(bench.ptc);
    bench_source_free(&bench.source);
    free(bench.rows);
    return 0;
}
