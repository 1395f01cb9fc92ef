/* SPDX-License-Identifier: MIT
 * run_live.h - one line on the terminal that shows what an agent is doing while it runs:
 *
 *     turn 2, running a program, 3 tool calls, 1204 tokens, 4.5 s
 *
 * Only if standard error is a terminal that can erase a line; otherwise nothing here does anything.  A thread draws
 * the line, at most ten times a second, so that the agent never waits for a terminal and a short run shows nothing at
 * all. */
#ifndef PTC_CLI_AGENT_RUN_LIVE_H
#define PTC_CLI_AGENT_RUN_LIVE_H

#include <pthread.h>

#include "agent/run/agent_tree.h"

enum { PTC_LIVE_DOING = 120 };

/* What the line shows. */
typedef struct PtcLiveState {
    int64_t turn;
    uint64_t calls, tokens;
    char doing[PTC_LIVE_DOING];
} PtcLiveState;

typedef struct PtcRunLive {
    bool on, colour;
    int64_t began_ns;
    pthread_t thread;
    /* It guards what follows.  Agents take it under the lock of their tree, to tell; the thread that draws takes
     * it to look, and draws without it.  No other lock is taken inside. */
    pthread_mutex_t lock;
    pthread_cond_t wake, rested;
    bool over, paused, resting;
    PtcLiveState now;
} PtcRunLive;

void ptc_run_live_begin(PtcRunLive *live);
/* To be called from PtcTreeHost.progress. */
void ptc_run_live_tell(PtcRunLive *live, const PtcProgress *progress);
/* The line is away until resume: somebody is asked something.  On any thread, one at a time. */
void ptc_run_live_pause(PtcRunLive *live);
void ptc_run_live_resume(PtcRunLive *live);
/* Erases the line; on the thread that began it, any number of times. */
void ptc_run_live_end(PtcRunLive *live);

#endif
