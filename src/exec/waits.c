/* SPDX-License-Identifier: MIT
 * Counts the tool calls of a task, and gives the task's turn away while it only waits for them.  What always holds:
 * `leave` and `enter` alternate, beginning with `leave`.  `enter`, which may block for long, is called without the
 * lock, so that beginning a call never waits behind it. */
#include "exec/waits.h"

#include <stdio.h>
#include <string.h>

#include "tool/remote/remote.h"

void ptc_waits_init(PtcWaits *w, const PtcTaskTurn *turn, PtcRemoteListener *listener)
{
    memset(w, 0, sizeof *w);
    w->turn = turn;
    w->listener = listener;
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

/* Names of tools are checked where they are defined. */
static void tell_tool_call(PtcWaits *w, const char *before, const PtcTool *tool, const char *after)
{
    char line[200];
    snprintf(line, sizeof line, "%s%.128s%s", before, tool->info.name, after);
    pthread_mutex_lock(&w->lock);
    if (w->listener)
        w->listener->called(w->listener, ptc_text_cstr(line));
    pthread_mutex_unlock(&w->lock);
}

void ptc_waits_tool_begin(PtcWaits *w, const PtcTool *tool)
{
    tell_tool_call(w, "calling ", tool, "");
    ptc_waits_begin(w, ptc_tool_may_repeat(tool));
}

void ptc_waits_tool_end(PtcWaits *w, const PtcTool *tool, bool ok)
{
    tell_tool_call(w, "", tool, ok ? " done" : " failed");
    ptc_waits_end(w);
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
    w->listener = NULL;
    uint64_t effects = w->effects;
    pthread_mutex_unlock(&w->lock);
    return effects;
}
