/* SPDX-License-Identifier: MIT
 * background_task.h - a task (lisp_task) that is done on a thread of its own, so that it can wait for a person while no
 * call of a client is there.
 *
 * At any moment it works for one call, or asks and belongs to whoever holds it: a call, or a row of
 * suspended.h. */
#ifndef PTC_MCP_APP_BACKGROUND_TASK_H
#define PTC_MCP_APP_BACKGROUND_TASK_H

#include <pthread.h>

#include "mcp/app/app.h"
#include "tool/remote/remote.h"

enum { PTC_BACKGROUND_BUFS = 8 };

typedef enum {
    PTC_BACKGROUND_WORKS,
    PTC_BACKGROUND_ASKS, /* calls wait for a person: PtcBackgroundTask.run has them */
    PTC_BACKGROUND_DONE,
} PtcBackgroundState;

/* Those that nobody wants any more, until their threads have ended. */
typedef struct PtcBackgroundTasks {
    PtcMem *mem;
    /* It guards the list.  Whoever frees a task takes it; the lock of a task is taken inside, never the other way
     * round. */
    pthread_mutex_t lock;
    struct PtcBackgroundTask *left;
} PtcBackgroundTasks;

typedef struct PtcBackgroundTask {
    PtcBackgroundTasks *all;
    struct PtcBackgroundTask *next; /* of those that are left */
    const PtcAppTasks *tasks;
    PtcAppTask task; /* its texts are copies; to be read when it is done */
    void *run;       /* of PtcAppConfig.remote, while it asks */
    char *texts;
    size_t texts_len;
    PtcTaskTurn turn;
    PtcRemoteListener listener; /* of the task; tells `heard` */
    PtcCancel cancel;
    pthread_t thread;
    /* It guards the rest.  The thread of the task and the call that it works for take it; progress is told under
     * it, which takes the lock of the progress sender inside. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    PtcBackgroundState state;
    PtcMcpCall *call;         /* that it works for; NULL: none */
    PtcRemoteListener *heard; /* of that call; NULL: none */
    bool over;                /* the question will not be answered */
} PtcBackgroundTask;

void ptc_background_tasks_init(PtcBackgroundTasks *all, PtcMem *mem);
/* Waits for the threads of all tasks that are left. */
void ptc_background_tasks_deinit(PtcBackgroundTasks *all);

/* The buffers of a task, as a list. */
void ptc_background_task_bufs(PtcAppTask *task, PtcBuf *list[PTC_BACKGROUND_BUFS]);

/* Begins to work for the call; `task` is copied, with its texts.  NULL: no memory, or no thread. */
PTC_MUST_USE PtcBackgroundTask *ptc_background_task_new(PtcBackgroundTasks *all,
                                                        const PtcAppTasks *tasks,
                                                        const PtcAppTask *task, PtcMcpCall *call);
/* One that asks goes on, with what was decided, for this call from now on. */
void ptc_background_task_go_on(PtcBackgroundTask *background, PtcMcpCall *call);
/* Waits until it asks, or is done; `call` is the one that it works for; `listener`, unless it is NULL, is told about
 * progress meanwhile. */
PtcBackgroundState ptc_background_task_await(PtcBackgroundTask *background, PtcMcpCall *call,
                                             PtcRemoteListener *listener);
/* Frees it; one that asks is cancelled.  Does not wait. */
void ptc_background_task_free(PtcBackgroundTask *background);

#endif
