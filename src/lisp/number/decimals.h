/* SPDX-License-Identifier: MIT
 * decimals.h - arithmetic on decimals inside of with-precision, which rounds every result. */
#ifndef PTC_LISP_NUMBER_DECIMALS_H
#define PTC_LISP_NUMBER_DECIMALS_H

#include "lisp/vm/vm.h"
#include "value/number/decimal.h"

/* A result as with-precision wants it; itself outside of that.  PTC_NONE is passed on. */
PTC_MUST_USE PtcValue ptc_decimal_in_context(PtcVM *vm, PtcValue v);
/* a / b, b not zero: exact, or an error when it has no end; rounded inside of with-precision. */
PTC_MUST_USE PtcValue ptc_decimal_quotient(PtcVM *vm, PtcValue a, PtcValue b);
/* (round x places mode?): of floats the shortest decimal text is rounded.  The result is of the same kind. */
PTC_MUST_USE bool ptc_decimal_round_number(PtcVM *vm, int argc, const PtcValue *argv,
                                           PtcValue *out);

#endif
