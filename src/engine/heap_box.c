/* SPDX-License-Identifier: MIT
 * Counted heaps.  What always holds: a box is freed with its last holder, and its values must not be used after
 * that. */
#include "engine/heap_box.h"

#include "engine/engine.h"

PtcHeapBox *ptc_box_new(Ptc *ptc, size_t limit)
{
    PtcHeapBox *box = ptc_mem_alloc(&ptc->mem, sizeof *box);
    if (!box)
        return NULL;
    ptc_engine_budget(ptc, &box->budget, ptc->limits.timeout_ms);
    ptc_heap_init(&box->heap, &ptc->pool, &box->budget, limit);
    return box;
}

void ptc_box_retain(PtcHeap *heap)
{
    heap->refs++;
}

void ptc_box_release(PtcHeap *heap)
{
    if (--heap->refs > 0)
        return;
    PtcMem *mem = heap->pool->mem;
    ptc_heap_deinit(heap);
    ptc_mem_free(mem, (PtcHeapBox *)(void *)heap, sizeof(PtcHeapBox));
}
