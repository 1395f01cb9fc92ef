/* SPDX-License-Identifier: MIT
 * task.h - one evaluation to be done, in this process or in a worker: everything it needs as bytes, everything it gives
 * as bytes.  The two ends are PtcTaskIn and PtcTaskOut; who does it is a PtcExecutor (in_process.c, workers.c).
 *
 * Nothing is remembered between tasks.  A session is the bytes of its snapshot: a task of a session is given them and
 * gives new ones back, so that any worker can go on with it and one that dies takes nothing along. */
#ifndef PTC_EXEC_TASK_H
#define PTC_EXEC_TASK_H

#include "base/budget.h"
#include "base/buf.h"
#include "base/text.h"
#include "data/shared.h"
#include "ptc/ptc.h"

typedef enum {
    PTC_TASK_EVAL,    /* run a program */
    PTC_TASK_INSPECT, /* what a session holds, as ptc_session_inspect gives it */
    PTC_TASK_FORGET,  /* unbind a name of a session, or all when `name` is absent */
} PtcTaskKind;

/* What of an answer is made only for those who ask for it. */
enum {
    PTC_WANT_FEEDBACK = 1 << 0, /* of a success; that of a failure is always there */
    PTC_WANT_MEMORY = 1 << 1,
    PTC_WANT_STORED = 1 << 2,
    PTC_WANT_CALLS = 1 << 3,
};
/* How a task gives its turn to others while it waits for tools.  `leave` and `enter` follow each other, on any thread;
 * `enter` waits until the turn is the task's again, or until it is cancelled. */
typedef struct PtcTaskTurn {
    void (*leave)(void *user);
    void (*enter)(void *user);
    void *user;
} PtcTaskTurn;

/* Views are borrowed from whoever submits the task, until it is done. */
typedef struct PtcTaskIn {
    PtcTaskKind kind;
    unsigned want; /* PTC_WANT_... */
    PtcText program;
    PtcText context; /* a JSON object */
    PtcText signature, output_schema;
    bool in_session;
    PtcText session;         /* snapshot; absent: a new session */
    PtcText name;            /* FORGET */
    const PtcTaskTurn *turn; /* NULL: it has none to give */
    int64_t deadline_ms;     /* of everything; 0 too is the executor's */
    int64_t timeout_ms, memory_bytes, max_tool_calls, program_bytes, context_bytes,
        session_bytes;        /* PTC_UNSET: the executor's */
    int64_t preview_chars;    /* of values in feedback and memory; PTC_UNSET: default */
    int64_t result_bytes;     /* of `text` and `json` */
    bool use_tools, use_data; /* give the program the executor's tools and --data */
} PtcTaskIn;

enum { PTC_TASK_PARTS = 11 };

/* The parts of an answer, each written once, for the submitter to put together.  Buffers belong to it: initialised before
 * with its ledger and a maximum each, freed by it. */
typedef struct PtcTaskOut {
    bool ok;
    bool validated; /* json is what the signature or schema asked for */
    union {
        struct {
            PtcBuf text;     /* the printed result, whole up to result_bytes; of (fail v) v */
            PtcBuf json;     /* the same as JSON; empty when it has none */
            PtcBuf prints;   /* lines, a line feed after each */
            PtcBuf session;  /* new snapshot; empty: the session is as it was */
            PtcBuf feedback; /* text for a model, see PTC_WANT_FEEDBACK */
            PtcBuf changed; /* names that the run defined or changed, a line each, as many as fit */
            PtcBuf stored;  /* all names of the session, the same; PTC_WANT_STORED */
            PtcBuf memory;  /* JSON object as in the payload of lisp_eval; PTC_WANT_MEMORY */
            PtcBuf calls;   /* JSON array of tool calls, as many as fit; PTC_WANT_CALLS */
            PtcBuf warnings; /* JSON array; empty: none */
            PtcBuf answer;   /* JSON object: of INSPECT, and of FORGET {"forgotten":n} */
        };
        PtcBuf parts[PTC_TASK_PARTS]; /* the same, for whoever treats them alike */
    };
    char reason[24], kind[32]; /* when !ok */
    char message[320];
    bool text_cut, prints_cut;
    int64_t compute_us; /* time it took, waiting included */
    uint64_t tool_calls;
    uint64_t bindings; /* of the session, afterwards */
    uint64_t effects; /* calls of tools that may have changed something, as this process saw them */
} PtcTaskOut;

/* Empty, with this maximum for every part; the submitter may set others before it submits. */
void ptc_task_out_init(PtcTaskOut *out, PtcMem *mem, size_t max);
void ptc_task_out_deinit(PtcTaskOut *out);
/* Forgets what was filled in; the buffers stay. */
void ptc_task_out_clear(PtcTaskOut *out);

typedef enum {
    PTC_TASK_DONE,      /* out is filled; the program may have failed */
    PTC_TASK_CANCELLED, /* asked to stop */
    PTC_TASK_LOST, /* the worker died or broke the rules: nothing is known; out->message says what */
    PTC_TASK_NO_MEMORY,
} PtcTaskStatus;

/* Does tasks; any number of threads may submit at once.  `owner` names who asks: a worker process never serves two
 * owners.  `cancel` (may be NULL) is looked at from the executor's side within 5 ms. */
typedef struct PtcExecutor {
    PtcTaskStatus (*submit)(struct PtcExecutor *self, const char *owner, const PtcTaskIn *in,
                            const PtcCancel *cancel, PtcTaskOut *out);
    void (*free)(struct PtcExecutor *self);
} PtcExecutor;

/* What an executor is made of.  Tools are called in this process also when programs run in workers. */
typedef struct PtcExecutorConfig {
    PtcTools *tools;       /* or NULL */
    const PtcShared *data; /* --data, loaded once; or NULL */
    PtcLimits limits;
    unsigned max_idle;       /* engines or workers kept for the next task; 0: one for each core */
    const char *worker_path; /* testing: NULL, the running binary */
    /* Workers: the helper process, with --data loaded (worker.h), taken over on success.  NULL: one is started. */
    struct PtcZygote *zygote;
    bool inspectable; /* testing: others may look into workers */
} PtcExecutorConfig;

/* Engines in this process, one for each task at a time.  NULL with a text in why. */
PtcExecutor *ptc_executor_in_process(const PtcExecutorConfig *config, char why[200]);
/* Worker processes under seccomp; see worker.h.  NULL with a text in why when the kernel refuses. */
PtcExecutor *ptc_executor_workers(const PtcExecutorConfig *config, char why[200]);

/* The work itself, with an engine that no other thread uses: shared by both kinds. */
PtcTaskStatus ptc_task_run(Ptc *ptc, const PtcTaskIn *in, PtcTools *tools, const PtcShared *data,
                           PtcTaskOut *out);

#endif
