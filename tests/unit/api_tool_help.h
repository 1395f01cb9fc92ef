/* SPDX-License-Identifier: MIT
 * api_tool_help.h - programs with tools on engines under stress, and what they must give. */
#ifndef PTC_TESTS_API_TOOL_HELP_H
#define PTC_TESTS_API_TOOL_HELP_H

#include <pthread.h>

#include "api_help.h"

static inline Ptc *new_engine(bool stress, int64_t fail_allocation)
{
    PtcOptions options;
    PtcLimits limits = patient_limits();
    ptc_options_init(&options, sizeof options);
    options.limits = &limits;
    options.gc_stress = stress;
    if (fail_allocation)
        options.fail_allocation = fail_allocation;
    return ptc_new(&options);
}

static inline PtcOutcome *start_with(Ptc *ptc, PtcTools *tools, const char *program,
                                     const PtcLimits *limits)
{
    PtcRun run = a_run(program, NULL, 0);
    PtcOutcome *o = NULL;
    run.tools = tools;
    run.limits = limits;
    return ptc_eval(ptc, &run, &o) == PTC_OK ? o : NULL;
}

/* May be called by several threads. */
static inline void expect_with(int line, Ptc *ptc, PtcTools *tools, const PtcLimits *limits,
                               const char *program, const char *want)
{
    static pthread_mutex_t counts = PTHREAD_MUTEX_INITIALIZER;
    char got[TEXT] = "no outcome";
    PtcOutcome *o = start_with(ptc, tools, program, limits);
    pthread_mutex_lock(&counts);
    if (o)
        tell(o, got);
    if (want[0] == '!' && !strchr(want, ' '))
        got[strcspn(got, " ")] = 0; /* where is left to chance */
    check_str("", line, program, got, want);
    pthread_mutex_unlock(&counts);
    ptc_outcome_free(o);
}

#define WITH(program, want) expect_with(__LINE__, ptc, tools, NULL, program, want)
#define LIMITED(program, want) expect_with(__LINE__, ptc, tools, &limits, program, want)

#endif
