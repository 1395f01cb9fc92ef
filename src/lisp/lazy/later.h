/* SPDX-License-Identifier: MIT
 * later.h - `for` over something lazy or endless: its elements are computed when they are asked for. */
#ifndef PTC_LISP_LAZY_LATER_H
#define PTC_LISP_LAZY_LATER_H

#include "lisp/vm/builtin.h"

/* Is it the frame of a `for` that waits?  It is what a lazy sequence is computed from (force.h). */
static inline bool ptc_is_later(PtcValue v)
{
    return ptc_is(v, PTC_T_NODE) && ptc_obj(v)->count > 0 &&
           ptc_is(((const PtcNode *)(uintptr_t)v)->slots[0], PTC_T_CLOSURE);
}

/* The frame on top is at an ITER whose source has no end or is lazy.  It goes on where call->pc is then: after the
 * whole `for`, whose result is lazy, or at the next instruction as before. */
PTC_MUST_USE bool ptc_later_begin(PtcVM *vm, PtcIns iter);

/* The frame on top is at the NEXT of a source that is lazy; at[1] is the `for`.  1: *out is the element; 0: the end;
 * -1: failed. */
int ptc_later_step(PtcVM *vm, PtcValue *at, PtcValue *out);

/* The frame on top, which runs for a `for` that waits, has an element.  It goes on at call->pc, and needs registers
 * below `top`. */
void ptc_later_keep(PtcVM *vm, PtcValue builder, size_t top);

/* Goes on to the next element of a `for` that waits: 1, 0 at the end, -1: failed. */
int ptc_later_next(PtcVM *vm, PtcValue later, PtcValue *x);

#endif
