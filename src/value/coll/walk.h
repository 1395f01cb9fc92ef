/* SPDX-License-Identifier: MIT
 * walk.h - an explicit stack for walking nested values, so that nesting costs counted memory and never C stack.  The
 * first frames are inside the struct; more come from the ledger. */
#ifndef PTC_VALUE_COLL_WALK_H
#define PTC_VALUE_COLL_WALK_H

#include "value/heap.h"

/* One collection being walked.  What the fields mean is up to the walker. */
typedef struct PtcFrame {
    PtcValue a, b;
    size_t pos, pos_b; /* in a, in b */
    uint64_t acc;
} PtcFrame;

enum { PTC_WALK_INLINE = 16 };

typedef struct PtcWalk {
    PtcHeap *heap;
    PtcFrame *frames; /* inline ones, or from the ledger */
    size_t count, cap;
    PtcFrame first[PTC_WALK_INLINE];
} PtcWalk;

void ptc_walk_init(PtcWalk *walk, PtcHeap *heap);
void ptc_walk_deinit(PtcWalk *walk);
/* False (and the budget is stopped) if there is no memory for another frame. */
PTC_MUST_USE bool ptc_walk_push(PtcWalk *walk, PtcValue a, PtcValue b);
static inline PtcFrame *ptc_walk_top(PtcWalk *walk)
{
    return walk->count ? &walk->frames[walk->count - 1] : NULL;
}

#endif
