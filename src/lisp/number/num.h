/* SPDX-License-Identifier: MIT
 * num.h - arithmetic on two values of any kind, for the VM's slow paths and for other builtins.
 *
 * PTC_NONE: an operand is no number (the error is set, and names the builtin that is running), a
 * division by zero, or a limit tripped.  Integers never overflow; with a float on either side the
 * result is a float. */
#ifndef PTC_LISP_NUMBER_NUM_H
#define PTC_LISP_NUMBER_NUM_H

#include "lisp/vm/vm.h"

PTC_MUST_USE PtcValue ptc_num_add(PtcVM *vm, PtcValue a, PtcValue b);
PTC_MUST_USE PtcValue ptc_num_sub(PtcVM *vm, PtcValue a, PtcValue b);
PTC_MUST_USE PtcValue ptc_num_mul(PtcVM *vm, PtcValue a, PtcValue b);

/* A number of any kind: an integer, a float or a decimal.  Else a type_error. */
bool ptc_arg_numeric(PtcVM *vm, const PtcValue *argv, int i);

/* An integer or float as the nearest double. */
static inline double ptc_num_double(PtcValue v)
{
    return ptc_is_float(v) ? ptc_to_float(v) : ptc_int_to_double(v);
}

#endif
