/* SPDX-License-Identifier: MIT
 * Explicit stacks for walks.  What always holds: depth costs counted memory, never C stack. */
#include "value/coll/walk.h"

void ptc_walk_init(PtcWalk *walk, PtcHeap *heap)
{
    walk->heap = heap;
    walk->frames = walk->first;
    walk->count = 0;
    walk->cap = PTC_WALK_INLINE;
}

void ptc_walk_deinit(PtcWalk *walk)
{
    if (walk->frames != walk->first)
        ptc_heap_scratch_free(walk->heap, walk->frames, walk->cap * sizeof(PtcFrame));
}

static bool grow_walk(PtcWalk *walk)
{
    bool inside = walk->frames == walk->first;
    size_t bytes = walk->cap * sizeof(PtcFrame);
    PtcFrame *p =
        ptc_heap_scratch(walk->heap, inside ? NULL : walk->frames, inside ? 0 : bytes, bytes * 2);
    if (!p)
        return false;
    if (inside)
        memcpy(p, walk->first, bytes);
    walk->frames = p;
    walk->cap *= 2;
    return true;
}

bool ptc_walk_push(PtcWalk *walk, PtcValue a, PtcValue b)
{
    if (walk->count == walk->cap && !grow_walk(walk))
        return false;
    walk->frames[walk->count++] = (PtcFrame){a, b, 0, 0, 0};
    return true;
}
