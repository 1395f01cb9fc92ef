/* SPDX-License-Identifier: MIT
 * task.h - one evaluation, in this process or in a worker: everything it needs as bytes, everything it produces as
 * bytes.  The two ends are PtcTaskIn and PtcTaskOut; a PtcExecutor (in_process.c, workers.c) does the work.
 *
 * Nothing is remembered between tasks.  A session is the bytes of its snapshot: a task gets them and returns new
 * ones, so any worker can continue a session, and a worker that dies takes nothing with it. */
#ifndef PTC_EXEC_TASK_H
#define PTC_EXEC_TASK_H

#include "base/budget.h"
#include "base/buf.h"
#include "base/text.h"
#include "base/text/trace_context.h"
#include "base/why.h"
#include "data/shared.h"
#include "ptc/ptc.h"

typedef enum {
    PTC_TASK_EVAL,    /* run a program */
    PTC_TASK_INSPECT, /* what a session holds, as ptc_session_inspect gives it */
    PTC_TASK_FORGET,  /* unbind a name of a session, or all when `name` is absent */
} PtcTaskKind;

/* Parts of an answer that are only made when asked for. */
enum {
    PTC_WANT_FEEDBACK = 1 << 0, /* of a success; a failure always has it */
    PTC_WANT_MEMORY = 1 << 1,
    PTC_WANT_STORED = 1 << 2,
    PTC_WANT_CALLS = 1 << 3,
};
/* Lets others have a task's turn while it waits for tools.  `leave` and `enter` alternate, on any thread; `enter`
 * blocks until the task has its turn again or is cancelled. */
typedef struct PtcTaskTurn {
    void (*leave)(void *user);
    void (*enter)(void *user);
    void *user;
} PtcTaskTurn;

/* For a task whose program may call other servers and meet something that a person has to be asked about.  Then it ends
 * with kind "suspended", and `run` is what is known of it there (remote.h): after the decision the same task is
 * submitted with it again.  The submitter ends a run that is still here when the task is not to go on. */
typedef struct PtcTaskAsking {
    unsigned mode;   /* PtcRemoteMode */
    unsigned offers; /* PTC_REMOTE_ELICITS ... */
    void *run;       /* NULL: it begins */
} PtcTaskAsking;

/* The texts are borrowed from the submitter until the task is done. */
typedef struct PtcTaskIn {
    PtcTaskKind kind;
    unsigned want; /* PTC_WANT_... */
    PtcText program;
    PtcText context; /* a JSON object */
    PtcText signature, output_schema;
    bool in_session;
    PtcText session;                    /* snapshot; absent: a new session */
    PtcText name;                       /* FORGET */
    const PtcTaskTurn *turn;            /* NULL: no turn to give away */
    PtcTraceContext trace;              /* of who asked, for other servers */
    struct PtcRemoteListener *listener; /* of progress there (remote.h); NULL: none */
    PtcTaskAsking *asking;              /* NULL: nobody can be asked */
    int64_t now_ms;                     /* the time of day for the program; 0: the system's */
    PtcLimits limits;                   /* what is not set is the executor's */
    int64_t preview_chars;              /* for values in feedback and memory; PTC_UNSET: default */
    bool use_tools, use_data;           /* give the program the executor's tools and --data */
    /* Set by the executor: the program may call other servers, whose catalogues have this version. */
    bool use_remote;
    bool plan; /* the program is not run (PTC_REMOTE_PLANS); set by the submitter */
    uint64_t remote_version;
} PtcTaskIn;

/* Nothing is given, no limit is set. */
void ptc_task_in_init(PtcTaskIn *in);

enum { PTC_TASK_PARTS = 11 };

/* The parts of an answer, for the submitter to put together; each is written once.  The buffers belong to the
 * submitter, who initialises them with its ledger and a maximum each, and frees them. */
typedef struct PtcTaskOut {
    bool ok;
    bool validated; /* json is what the signature or schema asked for */
    union {
        struct {
            PtcBuf text;     /* the printed result, up to result_bytes; the value v of (fail v) */
            PtcBuf json;     /* the same as JSON; empty when it cannot be written as JSON */
            PtcBuf prints;   /* lines, a line feed after each */
            PtcBuf session;  /* new snapshot; empty: the session is unchanged */
            PtcBuf feedback; /* text for a model, see PTC_WANT_FEEDBACK */
            /* names that the run defined or changed, one per line, as many as fit */
            PtcBuf changed;
            PtcBuf stored;   /* all names of the session, likewise; PTC_WANT_STORED */
            PtcBuf memory;   /* JSON object as in the payload of lisp_eval; PTC_WANT_MEMORY */
            PtcBuf calls;    /* JSON array of tool calls, as many as fit; PTC_WANT_CALLS */
            PtcBuf warnings; /* JSON array; empty: none */
            PtcBuf answer;   /* JSON object: of INSPECT, and of FORGET {"forgotten":n} */
        };
        PtcBuf parts[PTC_TASK_PARTS]; /* the same buffers, for code that treats them alike */
    };
    char reason[24], kind[32]; /* when !ok */
    bool suspended;            /* when !ok: it waits until somebody was asked */
    char message[320];
    bool text_cut, prints_cut;
    int64_t compute_us; /* elapsed time, waiting included */
    uint64_t tool_calls;
    uint64_t bindings; /* of the session after the run */
    uint64_t effects;  /* calls of tools that may have changed something, as seen by this process */
    PtcBuf pictures;   /* that the result refers to: blocks of MCP, one a line; or empty */
    PtcBuf call_log;   /* calls of other servers, a JSON array, as seen by this process; or empty */
    PtcBuf took;       /* what took effect there (remote.h); empty: no such run was begun */
    bool took_any;     /* there is something to tell of a success */
} PtcTaskOut;

/* Empties it and sets this maximum for every part; the submitter may change single ones before submitting. */
void ptc_task_out_init(PtcTaskOut *out, PtcMem *mem, size_t max);
void ptc_task_out_deinit(PtcTaskOut *out);
/* Forgets the contents; the buffers stay. */
void ptc_task_out_clear(PtcTaskOut *out);
/* Before the run of a remote ends: takes what the result refers to. */
struct PtcRemote;
void ptc_task_out_pictures(PtcTaskOut *out, struct PtcRemote *remote, void *run);
/* Fills in what the engine says about a program that passed its limit: of compute time, or else its deadline.  For a
 * program that was ended from outside, so its place and its prints are not known.  False: out of memory. */
bool ptc_task_out_overrun(PtcTaskOut *out, bool computing, int64_t limit_ms);

typedef enum {
    PTC_TASK_DONE,      /* out is filled; the program may have failed */
    PTC_TASK_CANCELLED, /* asked to stop */
    /* the worker died or broke the protocol; out->message says how, and nothing else is known */
    PTC_TASK_LOST,
    PTC_TASK_NO_MEMORY,
} PtcTaskStatus;

/* Does tasks; any number of threads may submit at once.  `owner` names who asks: a worker process never serves two
 * owners.  `cancel` (may be NULL) wakes whoever sleeps if it is asked with ptc_cancel_ask; a flag that is only set is
 * seen within 50 ms. */
typedef struct PtcExecutor {
    PtcTaskStatus (*submit)(struct PtcExecutor *self, const char *owner, const PtcTaskIn *in,
                            const PtcCancel *cancel, PtcTaskOut *out);
    void (*free)(struct PtcExecutor *self);
} PtcExecutor;

/* How to make an executor.  Tools are always called in this process, even when programs run in workers. */
typedef struct PtcExecutorConfig {
    PtcTools *tools; /* or NULL */
    /* Other servers that programs may call, for tasks that use tools; or NULL.  Asked in this process only. */
    struct PtcRemote *remote;
    const PtcShared *data; /* --data, loaded once; or NULL */
    PtcLimits limits;
    unsigned max_idle;       /* engines or workers kept for the next task; 0: one for each core */
    const char *worker_path; /* testing: NULL, the running binary */
    /* For workers: the helper process, with --data loaded (worker.h), taken over on success.  NULL: one is started. */
    struct PtcZygote *zygote;
    bool inspectable; /* testing: other processes may inspect workers */
} PtcExecutorConfig;

/* Engines in this process, one per task.  NULL with a text in why. */
PtcExecutor *ptc_executor_in_process(const PtcExecutorConfig *config, PtcWhy *why);
/* Worker processes under seccomp; see worker.h.  NULL with a text in why when the kernel refuses. */
PtcExecutor *ptc_executor_workers(const PtcExecutorConfig *config, PtcWhy *why);

/* The work itself, with an engine that no other thread uses.  Both executors end up here. */
PtcTaskStatus ptc_task_run(Ptc *ptc, const PtcTaskIn *in, PtcTools *tools, const PtcShared *data,
                           PtcTaskOut *out);

#endif
