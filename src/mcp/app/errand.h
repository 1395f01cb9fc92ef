/* SPDX-License-Identifier: MIT
 * errand.h - a task (lisp_task) that is done on a thread of its own, so that it can wait for a person while no call of
 * a client is there.
 *
 * At any moment an errand works for one call, or asks and belongs to whoever holds it: a call, or a row of
 * suspended.h. */
#ifndef PTC_MCP_APP_ERRAND_H
#define PTC_MCP_APP_ERRAND_H

#include <pthread.h>

#include "mcp/app/app.h"
#include "tool/remote/remote.h"

enum { PTC_ERRAND_BUFS = 8 };

typedef enum {
    PTC_ERRAND_WORKS,
    PTC_ERRAND_ASKS, /* calls wait for a person: PtcErrand.run has them */
    PTC_ERRAND_DONE,
} PtcErrandState;

/* Those that nobody wants any more, until their threads have ended. */
typedef struct PtcErrands {
    PtcMem *mem;
    pthread_mutex_t lock;
    struct PtcErrand *left;
} PtcErrands;

typedef struct PtcErrand {
    PtcErrands *all;
    struct PtcErrand *next; /* of those that are left */
    const PtcAppTasks *tasks;
    PtcAppTask task; /* its texts are copies; to be read when it is done */
    void *run;       /* of PtcAppConfig.remote, while it asks */
    char *texts;
    size_t texts_len;
    PtcTaskTurn turn;
    PtcRemoteListener listener; /* of the task; tells `heard` */
    PtcCancel cancel;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    PtcErrandState state;
    PtcMcpCall *call;         /* that it works for; NULL: none */
    PtcRemoteListener *heard; /* of that call; NULL: none */
    bool over;                /* the question will not be answered */
} PtcErrand;

void ptc_errands_init(PtcErrands *all, PtcMem *mem);
/* Waits for the threads of all tasks that are left. */
void ptc_errands_deinit(PtcErrands *all);

/* The buffers of a task, as a list. */
void ptc_errand_bufs(PtcAppTask *task, PtcBuf *list[PTC_ERRAND_BUFS]);

/* Begins to work for the call; `task` is copied, with its texts.  NULL: no memory, or no thread. */
PTC_MUST_USE PtcErrand *ptc_errand_new(PtcErrands *all, const PtcAppTasks *tasks,
                                       const PtcAppTask *task, PtcMcpCall *call);
/* One that asks goes on, with what was decided, for this call from now on. */
void ptc_errand_go_on(PtcErrand *errand, PtcMcpCall *call);
/* Waits until it asks, or is done; `call` is the one that it works for; `listener`, unless it is NULL, is told about
 * progress meanwhile. */
PtcErrandState ptc_errand_await(PtcErrand *errand, PtcMcpCall *call, PtcRemoteListener *listener);
/* Frees it; one that asks is cancelled.  Does not wait. */
void ptc_errand_free(PtcErrand *errand);

#endif
