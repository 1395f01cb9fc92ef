/* SPDX-License-Identifier: MIT
 *
 * ptc_host.c - see ptc_host.h. */
#include "ptc_host.h"

#include "common.h"

Ptc *host_engine(const PtcLimits *limits)
{
    PtcOptions options;
    ptc_options_init(&options, sizeof options);
    if (limits)
        options.limits = limits;
    Ptc *ptc = ptc_new(&options);
    if (!ptc)
        bench_die("ptc_new failed");
    return ptc;
}

PtcValue host_rows(PtcData *data, const char *json, size_t len)
{
    char error[200] = "";
    PtcValue pair[2] = {ptc_make_string(data, "rows", 4),
                        ptc_make_json(data, json, len, error, sizeof error)};
    PtcValue context = pair[0] && pair[1] ? ptc_make_map(data, pair, 1) : 0;
    if (!context)
        bench_die("the rows could not be made: %s", error);
    return context;
}

static _Noreturn void die_of(const PtcOutcome *outcome)
{
    PtcError error = {.size = sizeof error};
    if (!ptc_outcome_error(outcome, 0, &error))
        bench_die("ptc: the program failed and did not say why");
    bench_die("ptc: %s at %u:%u: %.*s", error.kind, (unsigned)error.line, (unsigned)error.column,
              (int)error.message_len, error.message);
}

PtcOutcome *host_eval(Ptc *ptc, const char *program, size_t len, PtcValue context, PtcTools *tools)
{
    PtcRun run;
    PtcOutcome *outcome = NULL;
    ptc_run_init(&run, sizeof run);
    run.program = program;
    run.program_len = len;
    run.context = context;
    run.tools = tools;
    PtcStatus status = ptc_eval(ptc, &run, &outcome);
    if (status != PTC_OK || !outcome)
        bench_die("ptc_eval returned status %d", (int)status);
    if (!ptc_outcome_ok(outcome))
        die_of(outcome);
    return outcome;
}
