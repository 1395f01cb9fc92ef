/* SPDX-License-Identifier: MIT
 * vec.h - vectors and the other sequentials: slices, ranges, cons lists.
 *
 * `flags` is PTC_SEQ for what Clojure calls a seq, PTC_QUEUE for a queue, else 0.  Functions that make something
 * return PTC_NONE if out of memory.  Indexes must be in range unless stated otherwise. */
#ifndef PTC_VALUE_COLL_VEC_H
#define PTC_VALUE_COLL_VEC_H

#include "value/heap.h"

/* A sequence without end, such as (range), (repeat x) or (cycle xs), is a very long range or a ring
 * of cells.  Counts from here up mean that; everything of this length is refused otherwise. */
enum { PTC_ENDLESS = 1 << 30 };

/* A vector of n elements copied from items; any n. */
PTC_MUST_USE PtcValue ptc_vec_new(PtcHeap *heap, const PtcValue *items, size_t n, int flags);
/* A map entry [a b]. */
PTC_MUST_USE PtcValue ptc_vec_pair(PtcHeap *heap, PtcValue a, PtcValue b);

static inline size_t ptc_seq_count(PtcValue seq)
{
    return ptc_obj(seq)->count;
}

static inline bool ptc_is_seq_flagged(PtcValue seq)
{
    return ptc_is(seq, PTC_T_CONS) || (ptc_obj(seq)->flags & PTC_SEQ) != 0;
}

static inline bool ptc_is_queue(PtcValue seq)
{
    PtcTag t = ptc_tag(seq);
    return (t == PTC_T_FLAT || t == PTC_T_VEC || t == PTC_T_SLICE) &&
           (ptc_obj(seq)->flags & PTC_QUEUE) != 0;
}

/* A vector to programs: not a list, another sequence or a queue. */
static inline bool ptc_is_vector(PtcValue v)
{
    return ptc_is_sequential(v) && !ptc_is_seq_flagged(v) && !ptc_is_queue(v);
}

/* Element i of any sequential; cost log32 n, linear on cons lists. */
PtcValue ptc_seq_nth(PtcValue seq, size_t i);

/* Pointer to element i of a FLAT, VEC or SLICE, and the number of elements contiguous in memory from there (including
 * i, within the sequence). */
const PtcValue *ptc_vec_chunk(PtcValue vec, size_t i, size_t *n);

/* Append / replace / drop the last.  vec is FLAT, VEC or SLICE and keeps its flags. */
PTC_MUST_USE PtcValue ptc_vec_conj(PtcHeap *heap, PtcValue vec, PtcValue x);
/* Two at once, for entries of maps. */
PTC_MUST_USE PtcValue ptc_vec_conj2(PtcHeap *heap, PtcValue vec, PtcValue x, PtcValue y);
PTC_MUST_USE PtcValue ptc_vec_assoc(PtcHeap *heap, PtcValue vec, size_t i, PtcValue x);
PTC_MUST_USE PtcValue ptc_vec_pop(PtcHeap *heap, PtcValue vec);

/* count elements from start, sharing them; constant cost (cons lists: linear in start).  A cons list may give a cons
 * list. */
PTC_MUST_USE PtcValue ptc_seq_slice(PtcHeap *heap, PtcValue seq, size_t start, size_t count,
                                    int flags);

/* start, start+step, ... n elements, all of which must fit a small integer. */
PTC_MUST_USE PtcValue ptc_range_new(PtcHeap *heap, int64_t start, int64_t step, size_t n);

/* x in front of rest, which is any sequential. */
PTC_MUST_USE PtcValue ptc_cons_new(PtcHeap *heap, PtcValue x, PtcValue rest);

/* Building in place.  The builder is a heap object: root it across safepoints.  It makes no garbage beyond a small
 * constant factor of a short tail.  After _done it must not be used again. */
PTC_MUST_USE PtcValue ptc_build_new(PtcHeap *heap);
PTC_MUST_USE bool ptc_build_add(PtcHeap *heap, PtcValue build, PtcValue x);
PTC_MUST_USE PtcValue ptc_build_done(PtcHeap *heap, PtcValue build, int flags);
/* Element i, to be read or replaced in place. */
PtcValue *ptc_build_slot(PtcValue build, size_t i);
static inline size_t ptc_build_count(PtcValue build)
{
    return ptc_obj(build)->count;
}

/* ptc_build_add in line, when there is room already; false: nothing is done. */
static inline bool ptc_build_quick(PtcValue build, PtcValue x)
{
    PtcVecBuild *b = (PtcVecBuild *)(uintptr_t)build;
    PtcNode *tail = (PtcNode *)(uintptr_t)b->tail;
    if (PTC_UNLIKELY(b->tail == PTC_NIL || tail->obj.count == tail->obj.aux))
        return false;
    tail->slots[tail->obj.count++] = x;
    b->obj.count++;
    return true;
}

/* One that keeps no elements, because they are handed out one by one to who asks `target` for them (later.h).
 * There is never room in it. */
PTC_MUST_USE PtcValue ptc_build_waiting(PtcHeap *heap, PtcValue target);
static inline bool ptc_build_is_waiting(PtcValue build)
{
    return ((const PtcVecBuild *)(uintptr_t)build)->waits != 0;
}
static inline PtcValue ptc_build_waits_for(PtcValue build)
{
    return ((const PtcVecBuild *)(uintptr_t)build)->root;
}

#endif
