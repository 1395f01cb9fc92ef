/* SPDX-License-Identifier: MIT
 * waits.h - a task's waiting for tools.  From the first call of a tool that is under way to the end of the last one the
 * task gives its turn to others; before the program goes on it has its turn again.
 *
 * While several threads of a program (pmap) call tools, those that compute do so without a turn: nobody outside can tell
 * them apart from those that wait.  Time limits hold for them all the same. */
#ifndef PTC_EXEC_WAITS_H
#define PTC_EXEC_WAITS_H

#include <pthread.h>

#include "exec/task.h"

typedef struct PtcWaits {
    const PtcTaskTurn *turn; /* NULL: there is none to give, or the task is over */
    pthread_mutex_t lock;    /* for all */
    pthread_cond_t entered;
    unsigned under_way; /* calls */
    enum { PTC_WAITS_INSIDE, PTC_WAITS_OUTSIDE, PTC_WAITS_ENTERING } place;
    uint64_t effects; /* calls of tools that may have changed something */
} PtcWaits;

void ptc_waits_init(PtcWaits *waits, const PtcTaskTurn *turn);
void ptc_waits_deinit(PtcWaits *waits);
/* A call of a tool begins, or ends: then this waits until the task has its turn again.  Any thread. */
void ptc_waits_begin(PtcWaits *waits, bool may_repeat);
void ptc_waits_end(PtcWaits *waits);
/* The task is over: the turn is not used any more, whatever calls are still under way.  How many had effects. */
uint64_t ptc_waits_close(PtcWaits *waits);

#endif
