/* SPDX-License-Identifier: MIT
 * desk.h - memory for one piece of work on values: a heap with its budget, and an arena.  Given back as a whole. */
#ifndef PTC_UPSTREAM_RUN_DESK_H
#define PTC_UPSTREAM_RUN_DESK_H

#include <pthread.h>

#include "base/arena.h"
#include "value/heap.h"

typedef struct PtcDesk {
    struct PtcDesk *next; /* among those that are kept */
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    PtcArena arena;
} PtcDesk;

/* `limit` is the most bytes that the heap may have.  Takes no memory yet.  A desk must not move. */
void ptc_desk_init(PtcDesk *desk, PtcMem *mem, size_t limit);
void ptc_desk_deinit(PtcDesk *desk);
/* Starts the clock for work on what upstreams and programs send, which could take forever otherwise (a pattern of a
 * schema).  Work that takes longer than five seconds stops (PTC_STOP_DEADLINE). */
void ptc_desk_hurry(PtcDesk *desk);

/* Desks for work that comes again and again: kept with a few pages each, because getting memory from the system and
 * giving it back would cost more than the work.  Any thread may take and give. */
typedef struct PtcDesks {
    PtcMem *mem;
    /* It guards both below, for a moment; no other lock is taken inside. */
    pthread_mutex_t lock;
    PtcDesk *kept;
    size_t count;
} PtcDesks;

void ptc_desks_init(PtcDesks *desks, PtcMem *mem);
/* All must have been given back. */
void ptc_desks_deinit(PtcDesks *desks);
/* A clean one whose clock runs (ptc_desk_hurry); NULL: out of memory. */
PTC_MUST_USE PtcDesk *ptc_desks_take(PtcDesks *desks, size_t limit);
void ptc_desks_give(PtcDesks *desks, PtcDesk *desk);

#endif
