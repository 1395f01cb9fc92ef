/* SPDX-License-Identifier: MIT
 * force.h - computes lazy sequences (lazy.h), at most once each. */
#ifndef PTC_LISP_LAZY_FORCE_H
#define PTC_LISP_LAZY_FORCE_H

#include "lisp/vm/builtin.h"
#include "value/coll/lazy.h"

enum { PTC_FORCE_MOST = 100000 }; /* elements of a lazy sequence that leaves the program */

/* A new one.  from: a function without arguments (the body of lazy-seq), a producer or cursor (produce.h), a `for`
 * that waits (later.h), or a sequential of collections that follow each other (concat); or nil: first, then rest.
 * PTC_NONE: out of memory. */
PTC_MUST_USE PtcValue ptc_force_new(PtcVM *vm, PtcValue from, PtcValue first, PtcValue rest,
                                    bool endless);

/* Computes as much as tells whether it has an element: ptc_lazy_landing(lazy) is then a cell, or something that is
 * not lazy.  May collect and call; lazy is kept meanwhile.  After a failure the next demand tries again. */
PTC_MUST_USE bool ptc_force(PtcVM *vm, PtcValue lazy);

/* The element that *pos begins with: 1, and *pos is what follows; 0: there is none; -1: failed.  *pos is a root slot,
 * and holds a lazy sequence or anything that can be walked, which is returned as 2. */
int ptc_force_next(PtcVM *vm, PtcValue *pos, PtcValue *x);

/* The same for anything that can be walked: 2 is returned only for a recipe. */
int ptc_force_first(PtcVM *vm, PtcValue *pos, PtcValue *x);

/* Leaves n elements behind; *pos, a root slot, is then what follows, nil when it ended before. */
PTC_MUST_USE bool ptc_force_skip(PtcVM *vm, PtcValue *pos, size_t n);

/* --- as a whole: force_deep.c --- */

/* Computes every lazy sequence inside of v, also (functions) those that functions have captured. */
PTC_MUST_USE bool ptc_force_deep(PtcVM *vm, PtcValue v, bool functions, const char *who,
                                 size_t most);

/* a = b when one of them is or holds something lazy; false: failed. */
PTC_MUST_USE bool ptc_force_equal(PtcVM *vm, PtcValue a, PtcValue b, bool *same);

/* The arguments of a builtin that has effects, with everything computed; they are rooted.  NULL: failed. */
PTC_MUST_USE const PtcValue *ptc_force_args(PtcVM *vm, const PtcBuiltin *row, int argc,
                                            const PtcValue *argv);

/* A builtin has failed only because an argument is, or holds, something lazy? */
static inline bool ptc_force_wanted(const PtcVM *vm)
{
    return vm->budget.stop == PTC_STOP_LAZY || (vm->failed && vm->lazy_refused);
}

/* Runs it again with the arguments computed. */
PTC_MUST_USE bool ptc_force_retry(PtcVM *vm, const PtcBuiltin *row, int argc, const PtcValue *argv,
                                  PtcValue *out);

#endif
