/* SPDX-License-Identifier: MIT
 * engine.h - the engine behind a Ptc handle: limits, the VM, one run after another.
 *
 * This layer trusts its callers: handles are not NULL, structs have every field, and no engine is used while it is
 * running.  What a host may get wrong is checked in src/api.  An engine and everything made with it belong to one
 * thread at a time. */
#ifndef PTC_ENGINE_ENGINE_H
#define PTC_ENGINE_ENGINE_H

#include "base/os/watch.h"
#include "lisp/compile/program.h"
#include "lisp/parallel/crew.h"
#include "lisp/vm/limits.h"
#include "tool/kind/native.h"
#include "tool/remote/remote_servers.h"
#include "tool/toolset.h"

enum { PTC_HISTORY_MAX = 9 }; /* results that a session can remember */

/* An engine: what one run after the other uses, and what is kept between them because making it anew would cost
 * more than a short run.  One thread at a time uses it; only ptc_cancel is for any. */
struct Ptc {
    PtcMem mem;
    PtcPool pool;
    PtcArena arena; /* of the program being run; reset by the next one */
    PtcVM vm;
    PtcNative *native; /* for tool calls without a program; or NULL */
    PtcCrew *crew;     /* threads for pmap */
    PtcWatch reminder; /* of the time, for the run */
    PtcLimits limits;  /* every field set */
    int float_precision;
    uint32_t history;        /* results that new sessions keep */
    int64_t fail_allocation; /* 0: none */
    int64_t (*clock_ms)(void *user);
    void *clock_user;
    PtcCancel cancel;
    const PtcToolWatch *watch; /* of the run's tool calls; NULL: none */
    /* Other servers that programs may call, set by whoever starts a run and has begun it there; NULL: none. */
    const PtcRemoteRun *remote;
    PtcRemoteNames *remote_names; /* what was found in them; made when it is first needed */
    PtcRemote *remote_home; /* begun and ended with every run that nobody else has begun; or NULL */
    PtcBuf *remote_call_log; /* gets the calls of the last such run; or NULL */
    atomic_bool running;
    int64_t task_end_ns; /* of the current task; INT64_MAX: none */
    PtcNames no_names;   /* for runs without a session */
    PtcCheckKept checked;
    PtcOutcome *spare;             /* kept for the next run */
    PtcLog spare_log;              /* the same: room for its calls, an empty log */
    struct PtcNamedSession *named; /* see session_named.h */
    size_t named_count;
};

/* Options and limits of which every field is set; no options: the defaults.  NULL: out of memory. */
PTC_MUST_USE Ptc *ptc_engine_new(const PtcOptions *options, const PtcLimits *limits);
/* The same with what is set in `limits` (may be NULL) over the defaults.  NULL also when something is out of range. */
PTC_MUST_USE Ptc *ptc_engine_with(const PtcLimits *limits);
/* Starts every thread that the engine may need, for a process that may start none later.  False: not all of them;
 * programs still run, but with fewer threads. */
bool ptc_engine_start_threads(Ptc *ptc);
/* Between runs that may be far apart: gives back threads and memory that nothing uses.  The next run takes them
 * again.  Not for a process that may start no threads later. */
void ptc_engine_rest(Ptc *ptc);
/* After its sessions, data and outcomes. */
void ptc_engine_free(Ptc *ptc);
/* Ends the current run; may be called from any thread. */
void ptc_engine_cancel(Ptc *ptc);

/* Between two runs of one program, while somebody is asked about it: ptc_engine_cancel counts, and ptc->cancel says
 * so. */
void ptc_engine_wait_begin(Ptc *ptc);
void ptc_engine_wait_end(Ptc *ptc);

/* Other servers that all later runs of the engine may call; NULL: none.  `call_log` (or NULL) gets the calls of the
 * last run, a JSON array.  Both must outlive the engine's runs. */
void ptc_engine_set_remote(Ptc *ptc, PtcRemote *remote, PtcBuf *call_log);

/* A budget with the engine's clock that ends `ms` from now. */
void ptc_engine_budget(Ptc *ptc, PtcBudget *budget, int64_t ms);
/* The same without a clock: for what must not be lost because the machine was busy, or a run took all its time. */
void ptc_engine_budget_unclocked(Ptc *ptc, PtcBudget *budget);

/* A task is a run with what comes before and after it: reading a context and a session, showing the result, keeping
 * the session.  From begin to end its time (PTC_UNSET: the engine's timeout_ms) covers all of that together; once the
 * program has ended there is a little more, so that a program that just made it can still report its result. */
void ptc_engine_task_begin(Ptc *ptc, int64_t timeout_ms);
void ptc_engine_task_after(Ptc *ptc);
void ptc_engine_task_end(Ptc *ptc);

/* What, if it fits, ends the agent run that this run is a part of, so that its definitions no longer matter. */
typedef enum {
    PTC_RUN_ENDS_NEVER,
    PTC_RUN_ENDS_BY_RETURN,
    PTC_RUN_ENDS_BY_VALUE, /* or by a bare value, except nil and vars */
} PtcRunEnding;

/* What the loop of an agent, or the command line, wants from a run, beyond what any host may; everything may be left
 * 0. */
typedef struct PtcRunMore {
    /* A result that does not fit what is wanted becomes a verdict in the outcome, not a failure. */
    bool judge;
    /* What is wanted, already read; PtcRun then has neither signature nor schema.  NULL: what PtcRun says. */
    const struct PtcContract *wanted;
    /* Bytes that definitions may take after the run, not counting history; 0: as many as session_bytes allows.  If
     * they take more, none that the run made is kept, and the run fails with kind memory_limit, unless it ends
     * everything (outcome.dropped). */
    int64_t definition_bytes;
    PtcRunEnding ending;
    void *host;              /* for ptc_call_host, in all tools that the run calls */
    PtcToolTally *tally;     /* one for each of its tools, added to; or NULL */
    const PtcCancel *cancel; /* also ends the run; or NULL */
    /* The end of the run, in the system's clock, if time inside tools does not count (PtcToolInfo.uncounted): these
     * may wait until then, and the deadline moves accordingly.  0: the deadline, so that all time counts. */
    int64_t hard_ns;
    bool bare_data;            /* see PtcProgram */
    bool only_check;           /* likewise; nothing changes, not even the session */
    bool unchecked;            /* as with PTC_CHECK_OFF */
    PtcBareAnswer bare_answer; /* with judge */
    /* For one pmap or pcalls, not counting uncounted time; 0: no limit of its own. */
    int64_t pmap_ms;
} PtcRunMore;

/* Checks, compiles and runs a program.  *out is set with PTC_OK, even if the program failed.  PTC_BAD_ARGUMENT: a
 * value of another engine, or a limit out of range. */
PTC_MUST_USE PtcStatus ptc_engine_run(Ptc *ptc, const PtcRun *run, PtcOutcome **out);
/* The same; `more` may be NULL. */
PTC_MUST_USE PtcStatus ptc_engine_run_more(Ptc *ptc, const PtcRun *run, const PtcRunMore *more,
                                           PtcOutcome **out);

/* A run that was suspended (PTC_E_SUSPENDED) leaves the journal of its session as it was, since it may be run again.
 * When it will not be: keeps what its tasks did (run.c).  The session may be NULL.  False: out of memory. */
PTC_MUST_USE bool ptc_engine_keep_journal(PtcSession *session, const PtcOutcome *outcome);

/* Calls a tool of the set by name for a model, without a program (run.c); see ptc_native_ask.  With a session (may be
 * NULL) programs and these calls share the cache; options->cache is ignored. */
PTC_MUST_USE bool ptc_engine_call(Ptc *ptc, PtcSession *session, PtcTools *tools, PtcText name,
                                  PtcText args, const PtcNativeOptions *options, PtcBuf *out,
                                  PtcNativeAnswer *answer);

/* The contents of buf as a NUL-terminated text that is freed with ptc_engine_text_free; PTC_NO_MEMORY if not `ok`, or
 * if the buffer failed.  The buffer is freed in any case.  out_len may be NULL. */
PtcStatus ptc_engine_give_text(PtcBuf *buf, bool ok, char **out, size_t *out_len);
void ptc_engine_text_free(Ptc *ptc, char *text);

#endif
