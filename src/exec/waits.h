/* SPDX-License-Identifier: MIT
 * waits.h - a task that waits for tools.  From the start of its first tool call to the end of its last one the task
 * gives its turn to others; it gets the turn back before the program continues.
 *
 * While several threads of a program (pmap) call tools, those that compute do so without a turn: from outside they
 * cannot be told from those that wait.  Time limits apply to all of them. */
#ifndef PTC_EXEC_WAITS_H
#define PTC_EXEC_WAITS_H

#include <pthread.h>

#include "exec/task.h"
#include "tool/toolset.h"

typedef struct PtcWaits {
    const PtcTaskTurn *turn;            /* NULL: there is none to give away, or the task is over */
    struct PtcRemoteListener *listener; /* of calls (remote.h); NULL: none, or the task is over */
    /* It guards everything here, and is released while the turn is waited for.  Threads of tools and of the task
     * take it; the functions of `turn` are called without it, the listener with it. */
    pthread_mutex_t lock;
    pthread_cond_t entered;
    unsigned under_way; /* calls */
    enum { PTC_WAITS_INSIDE, PTC_WAITS_OUTSIDE, PTC_WAITS_ENTERING } place;
    uint64_t effects; /* calls of tools that may have changed something */
} PtcWaits;

void ptc_waits_init(PtcWaits *waits, const PtcTaskTurn *turn, struct PtcRemoteListener *listener);
void ptc_waits_deinit(PtcWaits *waits);
/* A tool call begins or ends; at the end this blocks until the task has its turn again.  From any thread. */
void ptc_waits_begin(PtcWaits *waits, bool may_repeat);
void ptc_waits_end(PtcWaits *waits);
/* The same for a call of one of our own tools, which the listener is told of. */
void ptc_waits_tool_begin(PtcWaits *waits, const PtcTool *tool);
void ptc_waits_tool_end(PtcWaits *waits, const PtcTool *tool, bool ok);
/* Something may have changed without any waiting. */
void ptc_waits_effect(PtcWaits *waits);
/* A call that was counted as one that may have changed something has not. */
void ptc_waits_harmless(PtcWaits *waits);
/* The task is over: the turn is not touched any more, whatever calls are still under way.  Returns how many calls
 * may have had effects. */
uint64_t ptc_waits_close(PtcWaits *waits);

#endif
