/* SPDX-License-Identifier: MIT
 * loop.h - one thread that waits for descriptors, times and posted tasks.
 *
 * Callbacks run on the loop's thread, one at a time, and must not block.  Everything but post is for that thread alone,
 * or for any thread before the loop was started.  Nodes are part of the caller's structs, so nothing here allocates
 * except room for the descriptors. */
#ifndef PTC_NET_LOOP_H
#define PTC_NET_LOOP_H

#include "base/mem.h"

typedef struct PtcLoop PtcLoop;

typedef struct PtcLoopTask {
    struct PtcLoopTask *next;
    void (*run)(struct PtcLoopTask *task);
    bool queued; /* posting it again then changes nothing */
} PtcLoopTask;

typedef struct PtcLoopWatch {
    int fd;
    short events; /* of poll; may be changed at any time by the loop's thread */
    void (*ready)(struct PtcLoopWatch *watch, short events);
    void (*drop)(struct PtcLoopWatch *watch); /* or NULL: the loop ends and still has it */
    struct PtcLoopWatch *next, **at;          /* at NULL: it is not watched */
    PtcLoop *loop;
    size_t place; /* of the loop: where it is polled */
} PtcLoopWatch;

typedef struct PtcLoopTimer {
    int64_t at_ns; /* ptc_clock_ns; 0: not set */
    void (*fire)(struct PtcLoopTimer *timer);
    struct PtcLoopTimer *next, **at;
} PtcLoopTimer;

PTC_MUST_USE PtcLoop *ptc_loop_new(PtcMem *mem);
/* From any thread; the first post starts the loop's own.  False: no thread could be started. */
PTC_MUST_USE bool ptc_loop_post(PtcLoop *loop, PtcLoopTask *task);
void ptc_loop_watch(PtcLoop *loop, PtcLoopWatch *watch);
void ptc_loop_unwatch(PtcLoopWatch *watch);
/* Sets or moves it. */
void ptc_loop_set(PtcLoop *loop, PtcLoopTimer *timer, int64_t at_ns);
void ptc_loop_unset(PtcLoopTimer *timer);
/* Runs what was posted, then ends and joins the thread.  Not from the thread itself. */
void ptc_loop_free(PtcLoop *loop);

#endif
