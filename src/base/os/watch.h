/* SPDX-License-Identifier: MIT
 * watch.h - a thread that reminds runs of the time.
 *
 * A run looks at the clock by itself, after a number of ticks.  If ticks are rare, that may be late: so from the time
 * at which a run should end, the watch sets its fuel to zero, again and again, and the next tick looks.  The watch
 * decides nothing: a run whose end has moved meanwhile (because it waited for a tool) finds that it has time left and
 * continues.
 *
 * The thread is started once the first run has gone on for a while, so that short ones never pay for it, and sleeps
 * while there is nothing to watch.  A program that may start no threads later starts it beforehand.  It only knows
 * the system's clock: budgets with another clock are not watched. */
#ifndef PTC_BASE_OS_WATCH_H
#define PTC_BASE_OS_WATCH_H

#include <pthread.h>

#include "base/budget.h"

typedef struct PtcWatch {
    /* It guards everything below, and what budgets keep for the watch.  The thread of the watch and the threads of runs
     * take it, for a moment, and take no other lock inside. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    PtcBudget *first;
    /* In the system's clock; the thread need not be woken for anything later. */
    int64_t asleep_until;
    bool tried, running, quit;
    pthread_t thread;
} PtcWatch;

void ptc_watch_init(PtcWatch *watch);
/* Starts the thread at once, for a process that may start none later.  False: it could not be started. */
bool ptc_watch_start(PtcWatch *watch);
/* Ends and joins the thread; nothing may be watched any more. */
void ptc_watch_deinit(PtcWatch *watch);

/* From now (by the budget's clock) until ptc_watch_drop the budget is watched, once its run has gone on for a while.
 * The watch may be NULL. */
void ptc_watch_begin(PtcWatch *watch, PtcBudget *budget, int64_t now);
/* The budget is no longer watched, and may be copied or changed. */
void ptc_watch_drop(PtcBudget *budget);
/* The same, temporarily: it is watched again from its next look on, if it was before. */
void ptc_watch_pause(PtcBudget *budget);

#endif
