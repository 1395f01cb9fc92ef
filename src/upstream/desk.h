/* SPDX-License-Identifier: MIT
 * desk.h - memory for one piece of work on values: a heap with its budget, and an arena.  Given back as a whole. */
#ifndef PTC_UPSTREAM_DESK_H
#define PTC_UPSTREAM_DESK_H

#include "base/arena.h"
#include "value/heap.h"

typedef struct PtcDesk {
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    PtcArena arena;
} PtcDesk;

/* `limit` is the most bytes that the heap may have.  Takes no memory yet.  A desk must not move. */
void ptc_desk_init(PtcDesk *desk, PtcMem *mem, size_t limit);
void ptc_desk_deinit(PtcDesk *desk);

#endif
