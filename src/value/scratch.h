/* SPDX-License-Identifier: MIT
 * scratch.h - memory for one piece of work: a heap for values with its budget, and an arena for texts and structs.  It
 * is given back as a whole once the work is done, so nothing in it is freed on its own. */
#ifndef PTC_VALUE_SCRATCH_H
#define PTC_VALUE_SCRATCH_H

#include <pthread.h>

#include "base/arena.h"
#include "base/text.h"
#include "value/heap.h"

typedef struct PtcScratch {
    struct PtcScratch *next; /* among those that are kept */
    PtcMem *mem;
    PtcMem own; /* what `mem` points at if no ledger was given */
    PtcPool pool;
    PtcBudget budget; /* without an end, until somebody sets one */
    PtcHeap heap;
    PtcArena arena;
} PtcScratch;

/* `limit` is the most bytes that the heap may have.  Without a ledger (NULL) it has one of its own of twice that, so
 * that the arena is bounded too.  Takes no memory yet.  A scratch must not move. */
void ptc_scratch_init(PtcScratch *scratch, PtcMem *mem, size_t limit);
void ptc_scratch_deinit(PtcScratch *scratch);
/* Starts the clock for work on what others send, which could take forever otherwise (a pattern of a schema).  Work that
 * takes longer than five seconds stops (PTC_STOP_DEADLINE). */
void ptc_scratch_hurry(PtcScratch *scratch);

/* Scratches for work that comes again and again: kept with a few pages each, because getting memory from the system and
 * giving it back would cost more than the work.  Any thread may borrow and give back. */
typedef struct PtcScratches {
    PtcMem *mem;
    /* It guards both below, for a moment; no other lock is taken inside. */
    pthread_mutex_t lock;
    PtcScratch *kept;
    size_t count;
} PtcScratches;

void ptc_scratches_init(PtcScratches *all, PtcMem *mem);
/* All must have been given back. */
void ptc_scratches_deinit(PtcScratches *all);
/* A clean one whose clock runs (ptc_scratch_hurry); NULL: out of memory. */
PTC_MUST_USE PtcScratch *ptc_scratches_borrow(PtcScratches *all, size_t limit);
void ptc_scratches_give_back(PtcScratches *all, PtcScratch *scratch);

#endif
