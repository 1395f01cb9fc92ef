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

/* Views are borrowed from whoever submits the task, until it is done. */
typedef struct PtcTaskIn {
    PtcTaskKind kind;
    PtcText program;
    PtcText context; /* a JSON object */
    PtcText signature, output_schema;
    bool in_session;
    PtcText session; /* snapshot; absent: a new session */
    PtcText name;    /* FORGET */
    int64_t timeout_ms, memory_bytes, max_tool_calls, program_bytes, context_bytes,
        session_bytes;        /* PTC_UNSET: the executor's */
    int64_t preview_chars;    /* of the result in the payload; PTC_UNSET: default */
    int64_t result_bytes;     /* of `text` and `json` */
    bool use_tools, use_data; /* give the program the executor's tools and --data */
} PtcTaskIn;

/* Buffers belong to the submitter: initialised before with its ledger and a maximum each, freed by it. */
typedef struct PtcTaskOut {
    bool ok;
    PtcBuf
        payload; /* the lisp_eval payload, JSON; for INSPECT its JSON; for FORGET {"forgotten":n} */
    PtcBuf text; /* the printed result, whole up to result_bytes */
    PtcBuf json; /* the result as JSON; empty when it has none */
    PtcBuf validated;          /* JSON; empty when nothing was validated */
    PtcBuf prints;             /* lines, a line feed after each */
    PtcBuf session;            /* new snapshot; empty: the session is as it was */
    char reason[24], kind[32]; /* when !ok */
    char message[320];
    bool text_cut, prints_cut;
    int64_t compute_us; /* time it took, waiting included */
    uint64_t tool_calls;
} PtcTaskOut;

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
