/* SPDX-License-Identifier: MIT
 * heap_box.h - a separate heap for values that outlive a run (a context, a session), with a budget, counted: its
 * creator holds it, and so does every outcome whose value points into it.  heap.refs counts the holders. */
#ifndef PTC_ENGINE_HEAP_BOX_H
#define PTC_ENGINE_HEAP_BOX_H

#include "ptc/ptc.h"
#include "value/heap.h"

typedef struct PtcHeapBox {
    PtcHeap heap; /* first: a PtcHeap pointer is a box pointer */
    PtcBudget budget;
} PtcHeapBox;

/* A box with one holder and the engine's timeout, starting now; NULL: out of memory. */
PTC_MUST_USE PtcHeapBox *ptc_box_new(Ptc *ptc, size_t limit);
void ptc_box_retain(PtcHeap *heap);
void ptc_box_release(PtcHeap *heap);

#endif
