/* SPDX-License-Identifier: MIT
 * api_help.h - what the tests of the public API share: engines that must end even, runs in one line. */
#ifndef PTC_TESTS_API_HELP_H
#define PTC_TESTS_API_HELP_H

#include "check.h"

#include <pthread.h>

#include "even_engine.h"

enum { TEXT = 4096 };

/* ------------------------------------------------------------------------- engines and runs */

/* Frees an engine whose handles are all freed, and checks that its ledger is even. */
static inline void end_engine(Ptc *ptc)
{
    CHECK(free_even_engine(ptc));
}

/* Limits of programs that end by themselves: whether they do so in time is another test's matter. */
static inline PtcLimits patient_limits(void)
{
    PtcLimits limits;
    ptc_limits_init(&limits, sizeof limits);
    limits.timeout_ms = limits.deadline_ms = 120000;
    return limits;
}

static inline Ptc *patient_engine(void)
{
    PtcOptions options;
    PtcLimits limits = patient_limits();
    ptc_options_init(&options, sizeof options);
    options.limits = &limits;
    return ptc_new(&options);
}

static inline PtcRun a_run(const char *program, PtcSession *session, PtcValue context)
{
    PtcRun run;
    ptc_run_init(&run, sizeof run);
    run.program = program;
    run.program_len = strlen(program);
    run.session = session;
    run.context = context;
    return run;
}

static inline PtcOutcome *start(Ptc *ptc, const char *program, PtcSession *session,
                                PtcValue context)
{
    PtcRun run = a_run(program, session, context);
    PtcOutcome *o = NULL;
    CHECK(ptc_eval(ptc, &run, &o) == PTC_OK);
    return o;
}

/* Cancels what an engine runs from another thread until it is told to stop: a cancel that comes before the run has
 * begun has no effect. */
typedef struct {
    Ptc *ptc;
    atomic_bool stop;
    pthread_t thread;
} Canceller;

static inline void *cancel_again(void *arg)
{
    Canceller *c = arg;
    while (!atomic_load(&c->stop)) {
        check_pause_us(2000);
        ptc_cancel(c->ptc);
    }
    return NULL;
}

static inline void canceller_start(Canceller *c, Ptc *ptc)
{
    c->ptc = ptc;
    atomic_init(&c->stop, false);
    CHECK(pthread_create(&c->thread, NULL, cancel_again, c) == 0);
}

static inline void canceller_stop(Canceller *c)
{
    atomic_store(&c->stop, true);
    pthread_join(c->thread, NULL);
}

static inline PtcError first_error(const PtcOutcome *o)
{
    PtcError e = {.size = sizeof e};
    if (!ptc_outcome_error(o, 0, &e))
        e = (PtcError){
            .kind = "", .message = "", .hint = "", .form = "", .reason = "", .phase = ""};
    return e;
}

/* The result's text, or "!kind line:column". */
static inline void tell(PtcOutcome *o, char out[TEXT])
{
    size_t len = 0;
    const char *text = ptc_outcome_text(o, &len, NULL);
    PtcError e = first_error(o);
    if (text)
        snprintf(out, TEXT, "%s", text);
    else
        snprintf(out, TEXT, "!%s %u:%u", e.kind, (unsigned)e.line, (unsigned)e.column);
    CHECK(!text || strlen(text) == len || memchr(text, 0, len));
}

static inline void expect(int line, Ptc *ptc, PtcSession *session, PtcValue context,
                          const char *program, const char *want)
{
    char got[TEXT] = "no outcome";
    PtcOutcome *o = start(ptc, program, session, context);
    if (o)
        tell(o, got);
    check_str("", line, program, got, want);
    ptc_outcome_free(o);
}

#define EXPECT(ptc, session, program, want) \
    (check_at(__FILE__, __LINE__), expect(__LINE__, ptc, session, 0, program, want))
#define EXPECT_WITH(ptc, context, program, want) \
    (check_at(__FILE__, __LINE__), expect(__LINE__, ptc, NULL, context, program, want))

#endif
