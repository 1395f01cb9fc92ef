/* SPDX-License-Identifier: MIT
 * compare.h - the order behind < <= > >=, for the VM's slow paths. */
#ifndef PTC_LISP_NUMBER_COMPARE_H
#define PTC_LISP_NUMBER_COMPARE_H

#include "lisp/vm/vm.h"

/* *out = a < b, or a <= b.  False as soon as one is nil (both nil: only <= holds) or NaN.  Numbers,
 * strings, keywords, dates and sequentials are ordered among themselves; anything else is a
 * type_error.
 * For > and >= call with the operands swapped: when the builtin that is running is one of these,
 * the error counts arguments as the program wrote them. */
PTC_MUST_USE bool ptc_num_less(PtcVM *vm, PtcValue a, PtcValue b, bool or_equal, bool *out);

#endif
