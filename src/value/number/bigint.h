/* SPDX-License-Identifier: MIT
 * bigint.h - integers of any size: small ones in the value word, large ones as GMP limbs (mpn_*)
 * in the heap.  Every argument is an integer value (ptc_is_integer).  Results are normal: a big
 * integer never fits the word.  The size of a result is bounded before the work: beyond
 * budget->max_int_bits (and never beyond PTC_INT_BITS_MAX) the budget is stopped with
 * PTC_STOP_SIZE and PTC_NONE returned.  PTC_NONE also when out of memory or time is up. */
#ifndef PTC_VALUE_NUMBER_BIGINT_H
#define PTC_VALUE_NUMBER_BIGINT_H

#include "base/buf.h"
#include "value/heap.h"

/* While GMP multiplies, divides and converts large numbers it takes memory that no ledger sees, and it ends the
 * process if there is none.  This cap, above whatever a budget allows, keeps that to a few megabytes. */
enum { PTC_INT_BITS_MAX = 1 << 22 };

/* A double, in the word if it fits. */
PTC_MUST_USE PtcValue ptc_float_new(PtcHeap *heap, double d);

PTC_MUST_USE PtcValue ptc_int_new(PtcHeap *heap, int64_t n);
/* The integer as int64_t; false if it does not fit. */
bool ptc_int_get(PtcValue a, int64_t *out);
PTC_MUST_USE PtcValue ptc_int_add(PtcHeap *heap, PtcValue a, PtcValue b);
PTC_MUST_USE PtcValue ptc_int_sub(PtcHeap *heap, PtcValue a, PtcValue b);
PTC_MUST_USE PtcValue ptc_int_mul(PtcHeap *heap, PtcValue a, PtcValue b);
/* Truncating division; b must not be zero.  Either result pointer may be NULL.  False where the others return
 * PTC_NONE; the results must not be used then. */
PTC_MUST_USE bool ptc_int_divide(PtcHeap *heap, PtcValue a, PtcValue b, PtcValue *quot,
                                 PtcValue *rem);
int ptc_int_compare(PtcValue a, PtcValue b);
int ptc_int_sign(PtcValue a);
bool ptc_int_is_even(PtcValue a);
/* Never 0. */
uint32_t ptc_int_hash(PtcValue a);
/* Nearest double (ties to even), infinite when out of range. */
double ptc_int_to_double(PtcValue a);
/* Exact order of an integer and a double that is not NaN. */
int ptc_int_compare_double(PtcValue a, double d);
/* The integer part of a finite double. */
PTC_MUST_USE PtcValue ptc_int_from_double(PtcHeap *heap, double d);
/* Decimal digits with optional sign, already checked. */
PTC_MUST_USE PtcValue ptc_int_parse(PtcHeap *heap, const char *digits, size_t len);
/* Appends the decimal text; ticks for large ones.  False if the buffer is full or the budget is stopped. */
bool ptc_int_print(PtcHeap *heap, PtcBuf *buf, PtcValue a);

#endif
