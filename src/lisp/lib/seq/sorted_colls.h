/* SPDX-License-Identifier: MIT
 * sorted_colls.h - sorted collections. */
#ifndef PTC_LISP_LIB_SEQ_SORTED_COLLS_H
#define PTC_LISP_LIB_SEQ_SORTED_COLLS_H

#include "lisp/vm/builtin.h"

/* Ends a build with the sorted map or set of its entries, or with PTC_NONE.  Inside of a builtin with PTC_B_CALLS
 * comparators may collect, and all else that it needs must be rooted. */
PTC_MUST_USE PtcValue ptc_sorted_done(PtcVM *vm, PtcDictBuild *b, PtcValue by);

/* Lets sorted maps call comparators; once, before anything runs. */
void ptc_sorted_ready(void);

#endif
