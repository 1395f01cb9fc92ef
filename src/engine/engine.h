/* SPDX-License-Identifier: MIT
 * engine.h - the engine behind a Ptc handle: limits, the VM, one run after the other.
 *
 * This layer trusts its callers: handles are not NULL, structs have every field, and nothing is asked of an engine that
 * is running.  What a host may get wrong is checked in src/api.  An engine and all that was made with it belong to one
 * thread at a time. */
#ifndef PTC_ENGINE_ENGINE_H
#define PTC_ENGINE_ENGINE_H

#include "base/watch.h"
#include "lisp/crew.h"
#include "lisp/program.h"
#include "tool/native.h"
#include "tool/toolset.h"

enum { PTC_HISTORY_MAX = 9 }; /* results that a session can remember */

struct Ptc {
    PtcMem mem;
    PtcPool pool;
    PtcArena arena; /* of the program being run, reset by the next */
    PtcVM vm;
    PtcNative *native; /* for calls of tools without a program; or NULL */
    PtcCrew *crew;     /* threads for pmap */
    PtcWatch reminder; /* of its time, for the run */
    PtcLimits limits;  /* every field set */
    int float_precision;
    uint32_t history;        /* results that new sessions keep */
    int64_t fail_allocation; /* 0: none */
    int64_t (*clock_ms)(void *user);
    void *clock_user;
    PtcCancel cancel;
    const PtcToolWatch *watch; /* of the run's calls of tools; NULL: nobody */
    atomic_bool running;
    int64_t task_end_ns;           /* of the task under way; INT64_MAX: none */
    PtcNames no_names;             /* for runs without a session */
    PtcOutcome *spare;             /* kept for the next run */
    struct PtcNamedSession *named; /* see session_named.h */
    size_t named_count;
};

/* Options and limits of which every field is set; no options: the defaults.  NULL: no memory. */
PTC_MUST_USE Ptc *ptc_engine_new(const PtcOptions *options, const PtcLimits *limits);
/* The same with what is set in `limits` (may be NULL) over the defaults.  NULL also when something is out of range. */
PTC_MUST_USE Ptc *ptc_engine_with(const PtcLimits *limits);
/* Starts every thread that the engine may need, for a process that may start none later.  False: not all of them; programs
 * run all the same, with fewer at a time. */
bool ptc_engine_start_threads(Ptc *ptc);
/* Between runs that may lie far apart: gives back threads and memory that nothing holds.  The next run takes them anew.  Not
 * for a process that may start no threads later. */
void ptc_engine_rest(Ptc *ptc);
/* After its sessions, data and outcomes. */
void ptc_engine_free(Ptc *ptc);
/* Ends the run under way; from any thread. */
void ptc_engine_cancel(Ptc *ptc);

/* The limits that hold when nobody sets others. */
extern const PtcLimits ptc_default_limits;
/* Every field PTC_UNSET. */
void ptc_limits_unset(PtcLimits *limits);
/* What is set in `given` (may be NULL; its `size` says how much of it is there), the rest from `from`; false when
 * something is out of range. */
PTC_MUST_USE bool ptc_limits_merge(PtcLimits *limits, const PtcLimits *given,
                                   const PtcLimits *from);

/* A budget with the engine's clock that ends `ms` from now. */
void ptc_engine_budget(Ptc *ptc, PtcBudget *budget, int64_t ms);

/* A task is a run with what comes before and after it: reading a context and a session, showing the result, keeping the
 * session.  From begin to end its time (PTC_UNSET: the engine's timeout_ms) is for all of that together; once the program
 * has ended there is a little more, so that one which just made it can still tell its result. */
void ptc_engine_task_begin(Ptc *ptc, int64_t timeout_ms);
void ptc_engine_task_after(Ptc *ptc);
void ptc_engine_task_end(Ptc *ptc);

/* What, if it fits, ends whatever the run is a part of, so that its definitions matter no more. */
typedef enum {
    PTC_RUN_ENDS_NEVER,
    PTC_RUN_ENDS_BY_RETURN,
    PTC_RUN_ENDS_BY_VALUE, /* or by a bare value, nil and vars apart */
} PtcRunEnding;

/* What the loop of an agent wants of a run, beside what any host may; all may be left 0. */
typedef struct PtcRunMore {
    bool
        judge; /* a result that does not fit what is wanted is a verdict in the outcome, not a failure */
    /* What is wanted, read already; PtcRun has neither signature nor schema then.  NULL: what PtcRun says. */
    const struct PtcContract *wanted;
    /* Bytes that definitions may hold after the run, history apart; 0: as many as session_bytes allows.  When they hold more,
     * none that the run made is kept, and the run fails with kind memory_limit; unless it ends all (outcome.dropped). */
    int64_t definition_bytes;
    PtcRunEnding ending;
    void *host;              /* for ptc_call_host, in all tools that the run calls */
    PtcToolTally *tally;     /* one for each of its tools, added to; or NULL */
    const PtcCancel *cancel; /* ends the run as well; or NULL */
    /* The end of the run, in the system's clock, when time inside of tools does not count (PtcToolInfo.uncounted): these wait
     * until then, and the deadline moves along.  0: the deadline, so that all time counts. */
    int64_t hard_ns;
    int64_t pmap_ms; /* for one pmap or pcalls, uncounted time apart; 0: no limit of its own */
} PtcRunMore;

/* Checks, compiles and runs a program.  *out is set with PTC_OK, also when the program failed.  PTC_BAD_ARGUMENT: a value
 * of another engine or a limit out of range. */
PTC_MUST_USE PtcStatus ptc_engine_run(Ptc *ptc, const PtcRun *run, PtcOutcome **out);
/* The same; `more` may be NULL. */
PTC_MUST_USE PtcStatus ptc_engine_run_more(Ptc *ptc, const PtcRun *run, const PtcRunMore *more,
                                           PtcOutcome **out);

/* Calls a tool of the set by name for a model, without a program (run.c); see ptc_native_ask.  With a session (may be NULL) programs
 * and these calls share what is cached; options->cache is not looked at. */
PTC_MUST_USE bool ptc_engine_call(Ptc *ptc, PtcSession *session, PtcTools *tools, PtcText name,
                                  PtcText args, const PtcNativeOptions *options, PtcBuf *out,
                                  PtcNativeAnswer *answer);

/* What is in buf as a text that ends in NUL and is freed with ptc_engine_text_free; PTC_NO_MEMORY when not `ok`, or when
 * the buffer failed.  The buffer is freed in any case.  out_len may be NULL. */
PtcStatus ptc_engine_give_text(PtcBuf *buf, bool ok, char **out, size_t *out_len);
void ptc_engine_text_free(Ptc *ptc, char *text);

#endif
