/* SPDX-License-Identifier: MIT
 * Counts the tool calls of a task, and gives the task's turn away while it only waits for them.  What always holds:
 * `leave` and `enter` alternate, beginning with `leave`.  `enter`, which may block for long, is called without the
 * lock, so that beginning a call never waits behind it. */
#include "exec/waits.h"

#include <string.h>

void ptc_waits_init(PtcWaits *w, const PtcTaskTurn *turn)
{
    memset(w, 0, sizeof *w);
    w->turn = turn;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->entered, NULL);
}

void ptc_waits_deinit(PtcWaits *w)
{
    pthread_cond_destroy(&w->entered);
    pthread_mutex_destroy(&w->lock);
}

/* With the lock held. */
static void leave_task_turn(PtcWaits *w)
{
    w->turn->leave(w->turn->user);
    w->place = PTC_WAITS_OUTSIDE;
}

/* The first call under way gives the turn away. */
void ptc_waits_begin(PtcWaits *w, bool may_repeat)
{
    pthread_mutex_lock(&w->lock);
    w->under_way++;
    w->effects += !may_repeat;
    if (w->turn && w->place == PTC_WAITS_INSIDE)
        leave_task_turn(w);
    pthread_mutex_unlock(&w->lock);
}

/* With the lock held, which is released while waiting for the turn. */
static void enter_task_turn(PtcWaits *w)
{
    const PtcTaskTurn *turn = w->turn;
    w->place = PTC_WAITS_ENTERING;
    pthread_mutex_unlock(&w->lock);
    turn->enter(turn->user);
    pthread_mutex_lock(&w->lock);
    w->place = PTC_WAITS_INSIDE;
    if (w->under_way > 0) /* another call has begun in the meantime */
        leave_task_turn(w);
    pthread_cond_broadcast(&w->entered);
}

/* The last call to end takes the turn back; the others wait until that has happened, so that no part of the program
 * computes without it. */
void ptc_waits_end(PtcWaits *w)
{
    pthread_mutex_lock(&w->lock);
    w->under_way--;
    if (w->turn && w->under_way == 0 && w->place == PTC_WAITS_OUTSIDE)
        enter_task_turn(w);
    else
        while (w->place == PTC_WAITS_ENTERING)
            pthread_cond_wait(&w->entered, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

void ptc_waits_effect(PtcWaits *w)
{
    pthread_mutex_lock(&w->lock);
    w->effects++;
    pthread_mutex_unlock(&w->lock);
}

void ptc_waits_harmless(PtcWaits *w)
{
    pthread_mutex_lock(&w->lock);
    w->effects--;
    pthread_mutex_unlock(&w->lock);
}

uint64_t ptc_waits_close(PtcWaits *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->place == PTC_WAITS_ENTERING)
        pthread_cond_wait(&w->entered, &w->lock);
    w->turn = NULL;
    uint64_t effects = w->effects;
    pthread_mutex_unlock(&w->lock);
    return effects;
}
