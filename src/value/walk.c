/* SPDX-License-Identifier: MIT */
#include "value/walk.h"

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
        ptc_mem_free(walk->heap->pool->mem, walk->frames, walk->cap * sizeof(PtcFrame));
}

static bool grow(PtcWalk *walk)
{
    PtcMem *mem = walk->heap->pool->mem;
    bool inside = walk->frames == walk->first;
    size_t bytes = walk->cap * sizeof(PtcFrame);
    /* Nesting of live values is bounded by the heap; a walk may cost about as much again. */
    PtcFrame *p = bytes * 2 > walk->heap->limit + 65536
                      ? NULL
                      : ptc_mem_resize(mem, inside ? NULL : walk->frames, inside ? 0 : bytes, bytes * 2);
    if (!p)
        return ptc_budget_halt(walk->heap->budget, PTC_STOP_MEMORY);
    if (inside)
        memcpy(p, walk->first, bytes);
    walk->frames = p;
    walk->cap *= 2;
    return true;
}

bool ptc_walk_push(PtcWalk *walk, PtcValue a, PtcValue b)
{
    if (walk->count == walk->cap && !grow(walk))
        return false;
    walk->frames[walk->count++] = (PtcFrame){a, b, 0, 0, 0};
    return true;
}
