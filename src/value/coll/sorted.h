/* SPDX-License-Identifier: MIT
 * sorted.h - maps and sets in the order of their keys.
 *
 * Such a map is a large map (dict.h) of any size with the flag PTC_SORTED, so everything that works on maps works on
 * it.  Its entries are in insertion order as usual; beside them is the order: entry numbers by rank, in chunks of
 * bounded length, so that adding or removing a key copies one chunk and the list of chunks. */
#ifndef PTC_VALUE_COLL_SORTED_H
#define PTC_VALUE_COLL_SORTED_H

#include "value/heap.h"

/* by: what orders the keys.  nil: ptc_compare; true: reversed; otherwise a function of the program. */
static inline bool ptc_is_sorted(PtcValue v)
{
    return (ptc_is(v, PTC_T_BMAP) || ptc_is(v, PTC_T_BSET)) &&
           (ptc_obj(v)->flags & PTC_SORTED) != 0;
}

static inline PtcValue ptc_sorted_by(PtcValue v)
{
    return ((const PtcSorted *)(uintptr_t)v)->by;
}

PTC_MUST_USE PtcValue ptc_sorted_empty(PtcHeap *heap, bool is_set, PtcValue by);

/* Rank of the first key that is not before `key` (with `after`: that is after it); ranks start at 0, and ptc_map_next
 * accepts a rank as cursor.  False if the keys have no order; the reason is in the budget or with the run. */
PTC_MUST_USE bool ptc_sorted_rank(PtcHeap *heap, PtcValue v, PtcValue key, bool after,
                                  size_t *rank);

/* What a run does if nil and true do not order two keys: calls `by`, or reports that they have no order.  *ok is true
 * before the call.  Set once, before anything runs. */
typedef int (*PtcOrderFn)(PtcHeap *heap, PtcValue by, PtcValue a, PtcValue b, bool *ok);
void ptc_sorted_use(PtcOrderFn fn);

/* --- for large maps and sets --- */

/* The same sorted map with other contents. */
PTC_MUST_USE PtcValue ptc_sorted_version(PtcHeap *heap, PtcValue v, size_t count, PtcValue entries,
                                         PtcValue index, PtcValue order);
/* A large map whose entries are in order, sorted. */
PTC_MUST_USE PtcValue ptc_sorted_wrap(PtcHeap *heap, PtcValue dict, PtcValue by);
/* Where a new key belongs; *entry is the number of the entry that counts as the same key, or -1. */
PTC_MUST_USE bool ptc_sorted_place(PtcHeap *heap, PtcValue v, PtcValue key, size_t *rank,
                                   int64_t *entry);
/* The order with one more or less. */
PTC_MUST_USE PtcValue ptc_order_insert(PtcHeap *heap, PtcValue order, size_t rank, uint32_t entry);
PTC_MUST_USE PtcValue ptc_order_remove(PtcHeap *heap, PtcValue order, size_t rank);
/* Rank of an entry number that is present.  False when a limit is hit. */
PTC_MUST_USE bool ptc_order_find(PtcHeap *heap, PtcValue v, uint32_t entry, size_t *rank);
uint32_t ptc_order_at(PtcValue order, size_t rank);

#endif
