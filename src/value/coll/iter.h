/* SPDX-License-Identifier: MIT
 * iter.h - one way to walk everything that has elements: sequentials, sets, maps (as [key value] entries), strings
 * (as graphemes, each a string), nil (empty).  The iterator borrows the collection, which the caller must keep alive;
 * pages never move, so it stays valid across safepoints.  It may be copied until it has given its first element. */
#ifndef PTC_VALUE_COLL_ITER_H
#define PTC_VALUE_COLL_ITER_H

#include "value/heap.h"

enum { PTC_ITER_READY = 8 };

typedef struct PtcIter {
    const PtcValue *at, *chunk_end; /* ready elements */
    PtcHeap *heap;
    PtcValue coll;
    size_t pos, count;  /* by type: elements handed out as chunks, bytes, entries */
    int64_t next, step; /* ranges */
    bool failed;        /* out of memory while making an entry or grapheme */
    /* The next elements of a range, which are then walked like those of a vector: 27 instructions an element, not 95.
     * More of them would take room on the stack from builtins that call builtins. */
    PtcValue ready[PTC_ITER_READY];
} PtcIter;

/* False if coll has no elements to walk (a number, for example). */
PTC_MUST_USE bool ptc_iter_init(PtcIter *it, PtcHeap *heap, PtcValue coll);

/* Slow half. */
bool ptc_iter_more(PtcIter *it, PtcValue *out);

/* The next element; false at the end, or when it->failed. */
static inline bool ptc_iter_next(PtcIter *it, PtcValue *out)
{
    if (PTC_LIKELY(it->at != it->chunk_end)) {
        *out = *it->at++;
        return true;
    }
    return ptc_iter_more(it, out);
}

/* An upper bound for the elements still to come; exact except for strings (bytes left). */
size_t ptc_iter_hint(const PtcIter *it);

/* Is this something ptc_iter_init accepts? */
bool ptc_is_seqable(PtcValue v);

#endif
