/* SPDX-License-Identifier: MIT
 * lazy.h - a sequence that is computed when somebody asks for it, and then kept.
 *
 * A PtcLazy is in one of three states:
 *   pending   from is not nil: what computes it (force.h); PTC_FALSE while that is at work
 *   a cell    from is nil, first is a value: that element, then those of rest
 *   the same  from is nil, first is PTC_UNBOUND: it has the elements of rest, and no others
 * Apart from cells (value/cell.h) it is the only value that changes once programs have it, and only from pending to one
 * of the others, or to a shorter way to the same elements.  Nothing but the VM that owns its heap changes it: what goes
 * into a session, to another thread or out of the program is computed before (ptc_force_deep).  Then it is plain, and
 * this layer takes what is behind it for the sequence itself. */
#ifndef PTC_VALUE_COLL_LAZY_H
#define PTC_VALUE_COLL_LAZY_H

#include "value/heap.h"

typedef struct PtcLazy {
    PtcObj obj;
    PtcValue from, first, rest;
} PtcLazy;
enum { PTC_LAZY_VALUES = 3 };

/* flags: it is known to have no end; the program says where it ends, so that all of it may be asked for */
#define PTC_LAZY_ENDLESS 1
#define PTC_LAZY_BOUNDED 2

static inline bool ptc_is_lazy(PtcValue v)
{
    return ptc_is(v, PTC_T_LAZY);
}

static inline PtcLazy *ptc_lazy(PtcValue v)
{
    return (PtcLazy *)(uintptr_t)v;
}

static inline bool ptc_lazy_is_endless(PtcValue v)
{
    return (ptc_obj(v)->flags & PTC_LAZY_ENDLESS) != 0;
}

/* Follows those that have the elements of another: a pending one, a cell, or what is no PtcLazy. */
PtcValue ptc_lazy_landing(PtcValue v);

/* Slow half of ptc_lazy_plain. */
PtcValue ptc_lazy_behind(PtcValue v);

/* v itself, or the sequential (or the producer, produce.h) behind a PtcLazy; PTC_NONE when there is none
 * yet. */
static inline PtcValue ptc_lazy_plain(PtcValue v)
{
    return PTC_UNLIKELY(ptc_is_lazy(v)) ? ptc_lazy_behind(v) : v;
}

/* The same for operations that cannot go on without: stops the budget with PTC_STOP_LAZY, which makes the VM compute
 * what the operation was given and try again. */
PtcValue ptc_lazy_demand(PtcHeap *heap, PtcValue v);
/* The same, but the heap's hook may compute it at once. */
PtcValue ptc_lazy_compute(PtcHeap *heap, PtcValue v);

#endif
