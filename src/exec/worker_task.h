/* SPDX-License-Identifier: MIT
 * worker_task.h - one task in one worker, as the server sees it; and the threads that run the tools which programs in
 * workers call. */
#ifndef PTC_EXEC_WORKER_TASK_H
#define PTC_EXEC_WORKER_TASK_H

#include <pthread.h>

#include "base/budget.h"
#include "exec/frame.h"
#include "exec/spin_wait.h"
#include "exec/waits.h"
#include "exec/worker.h"
#include "tool/remote/remote.h"

enum { PTC_WORKER_TASK_CALLS = 256 }; /* tool calls of one task that may be under way at once */

/* A worker process as the server knows it. */
typedef struct PtcWorkerProcess {
    struct PtcWorkerProcess *next; /* in the idle list, last used first */
    int fd, pidfd;
    int kick; /* an eventfd: wakes the thread that waits for the worker */
    pid_t pid;
    bool ready;         /* READY has arrived */
    uint64_t tasks;     /* started in it so far */
    uint64_t last_call; /* highest call id it has used */
    PtcFrameReader reader;
    char *owner; /* whom it serves; NULL: nobody yet */
} PtcWorkerProcess;

/* What the tool calls of a task need.  Reference-counted, because the task may be over before they are. */
typedef struct PtcWorkerTask {
    PtcMem *mem;
    atomic_uint refs;
    atomic_uint under_way;      /* calls */
    _Atomic int64_t resumed_ns; /* when the last result was sent */
    PtcWaits waits;
    PtcCancel cancel; /* for the calls */
    int64_t deadline_ns;
    /* It guards writing to the socket, down to `broken`.  The task's thread and those of tools take it; it is
     * never held while somebody waits for the worker, and no other lock is taken inside. */
    pthread_mutex_t lock;
    int fd;         /* -1: the task is over */
    int kick;       /* of the worker */
    PtcBuf backlog; /* what the socket did not take: the rest of a frame, and frames after it */
    size_t backlog_sent;
    bool broken; /* something could not be sent: the worker is of no further use */
    /* asks of other servers, see worker_task_asks.c */
    PtcRemote *remote; /* or NULL */
    void *remote_run;
    PtcSpinWait *spin;
    struct PtcWorkerTaskAsk *asks; /* all that are not finished; of the task's own thread */
    unsigned ask_count;
    _Atomic(struct PtcRemoteAsk *) inbox; /* whose ready() came */
    atomic_bool asleep;                   /* the task's thread is, or is about to be */
    atomic_uint kicking;                  /* threads inside ready() */
} PtcWorkerTask;

/* -------------------------------------------------------------------------------- crew */

/* Threads that run tools, started as they are needed. */
typedef struct PtcToolCrew PtcToolCrew;
/* NULL: out of memory.  `tools` may be NULL. */
PtcToolCrew *ptc_tool_crew_new(PtcMem *mem, PtcTools *tools, int64_t result_bytes);
/* Waits for the tools that are running; no new call may be made. */
void ptc_tool_crew_free(PtcToolCrew *crew);
/* Does the tool exist, and is it ours to run?  Tools written in PTC-Lisp run in the worker. */
bool ptc_tool_crew_has(const PtcToolCrew *crew, uint32_t tool);
/* Runs a tool and sends its result to the worker.  False: out of memory, or no thread could be started. */
PTC_MUST_USE bool ptc_tool_crew_call(PtcToolCrew *crew, PtcWorkerTask *task, uint64_t id,
                                     uint32_t tool, PtcText arguments);

/* ------------------------------------------------------------------------------- asks */

/* All on the task's own thread. */

/* Begins the run there, or continues the one of `asking`, which is taken; false: out of memory. */
PTC_MUST_USE bool ptc_worker_task_asks_begin(PtcWorkerTask *task, PtcRemote *remote,
                                             const char *owner, PtcTaskAsking *asking,
                                             uint64_t *version);
/* A frame of the worker; false: out of memory. */
PTC_MUST_USE bool ptc_worker_task_ask(PtcWorkerTask *task, uint64_t id, const PtcFrameAsk *ask);
/* Until when the task's thread had better wait awake; 0: not at all. */
int64_t ptc_worker_task_asks_spin(const PtcWorkerTask *task, const PtcSpinWait *spin);
/* Are there answers? */
bool ptc_worker_task_asks_have_come(const PtcWorkerTask *task);
/* Before sleeping: false when something has arrived meanwhile. */
bool ptc_worker_task_asks_sleep(PtcWorkerTask *task);
/* Finishes what has arrived and sends it. */
void ptc_worker_task_asks_take(PtcWorkerTask *task);
/* Gives up what is still open, waits until the remote has let go of it, and ends the run; one that waits for a person
 * is given to `asking`. */
void ptc_worker_task_asks_end(PtcWorkerTask *task, PtcTaskAsking *asking, PtcTaskOut *out);

/* ------------------------------------------------------------------------------ task */

/* What all tasks of an executor share. */
typedef struct PtcWorkerTaskPlan {
    PtcMem *mem;
    PtcToolCrew *crew;
    PtcRemote *remote; /* other servers that programs may call; or NULL */
    PtcLimits limits;  /* every field set */
    PtcSpinWait *spin;
} PtcWorkerTaskPlan;

/* Runs a task in a worker.  *keep: the worker may be used again; otherwise it must be discarded. */
PtcTaskStatus ptc_worker_task_run(const PtcWorkerTaskPlan *plan, PtcWorkerProcess *worker,
                                  const PtcTaskIn *in, const PtcCancel *cancel, PtcTaskOut *out,
                                  bool *keep);

/* Waits until a new worker is ready; false when it is not within `ms`. */
PTC_MUST_USE bool ptc_worker_task_await(PtcWorkerProcess *worker, int ms);

void ptc_worker_task_release(PtcWorkerTask *task);
/* Frames a result and posts it; one that does not fit is replaced by a failure that does. */
void ptc_worker_task_post_result(PtcWorkerTask *task, uint64_t id, bool told, bool ok,
                                 PtcText result);
void ptc_worker_task_kick(int fd);
void ptc_worker_task_drain(int fd);

#endif
