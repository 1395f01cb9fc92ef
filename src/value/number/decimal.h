/* SPDX-License-Identifier: MIT
 * decimal.h - exact decimals, 12.50M: an integer (unscaled) and how many of its digits stand behind the point (scale),
 * which may be negative.  The scale is kept, so that 12.50M prints as it was written, but does not count in
 * comparisons: 12.5M is equal.
 *
 * A decimal is a record of these two.  Operands are decimals or integers, which have the scale 0.  As with integers,
 * the size of a result is bounded by the budget; PTC_NONE: a limit tripped. */
#ifndef PTC_VALUE_NUMBER_DECIMAL_H
#define PTC_VALUE_NUMBER_DECIMAL_H

#include "base/buf.h"
#include "value/record_kinds.h"

/* Places before or behind the point that a decimal may name. */
enum { PTC_DECIMAL_SCALE = 100000 };

/* As java.math.RoundingMode numbers them. */
typedef enum {
    PTC_ROUND_UP,
    PTC_ROUND_DOWN,
    PTC_ROUND_CEILING,
    PTC_ROUND_FLOOR,
    PTC_ROUND_HALF_UP,
    PTC_ROUND_HALF_DOWN,
    PTC_ROUND_HALF_EVEN,
    PTC_ROUND_UNNECESSARY /* an inexact result is refused */
} PtcRounding;

typedef struct PtcDecimalParts {
    PtcValue unscaled;
    int64_t scale;
} PtcDecimalParts;

static inline bool ptc_is_decimal(PtcValue v)
{
    return ptc_is_record(v, PTC_R_DECIMAL);
}

PtcDecimalParts ptc_decimal_parts(PtcValue v);
PTC_MUST_USE PtcValue ptc_decimal_new(PtcHeap *heap, PtcValue unscaled, int64_t scale);
/* sign? digits (. digits?)? ((e|E) sign? digits)?, all of the text; PTC_NIL: it is written otherwise. */
PTC_MUST_USE PtcValue ptc_decimal_parse(PtcHeap *heap, const char *text, size_t len);
/* The decimal that the shortest text of a finite double spells. */
PTC_MUST_USE PtcValue ptc_decimal_from_double(PtcHeap *heap, double d);

PTC_MUST_USE PtcValue ptc_decimal_add(PtcHeap *heap, PtcValue a, PtcValue b);
PTC_MUST_USE PtcValue ptc_decimal_sub(PtcHeap *heap, PtcValue a, PtcValue b);
PTC_MUST_USE PtcValue ptc_decimal_mul(PtcHeap *heap, PtcValue a, PtcValue b);
/* The exact quotient; PTC_NIL when it has no end.  b is not zero. */
PTC_MUST_USE PtcValue ptc_decimal_div(PtcHeap *heap, PtcValue a, PtcValue b);
/* The quotient with so many places; PTC_NIL when rounding is refused and needed. */
PTC_MUST_USE PtcValue ptc_decimal_div_scale(PtcHeap *heap, PtcValue a, PtcValue b, int64_t scale,
                                            PtcRounding mode);
/* The quotient with so many digits in all. */
PTC_MUST_USE PtcValue ptc_decimal_div_digits(PtcHeap *heap, PtcValue a, PtcValue b, int64_t digits,
                                             PtcRounding mode);
/* Quotient cut to a whole number, and what it leaves. */
PTC_MUST_USE bool ptc_decimal_divide(PtcHeap *heap, PtcValue a, PtcValue b, PtcValue *quot,
                                     PtcValue *rem);
/* With so many places, or so many digits in all; PTC_NIL when rounding is refused and needed. */
PTC_MUST_USE PtcValue ptc_decimal_set_scale(PtcHeap *heap, PtcValue a, int64_t scale,
                                            PtcRounding mode);
PTC_MUST_USE PtcValue ptc_decimal_round(PtcHeap *heap, PtcValue a, int64_t digits,
                                        PtcRounding mode);
/* Without zeros at the end; never less than `least` places. */
PTC_MUST_USE PtcValue ptc_decimal_strip(PtcHeap *heap, PtcValue a, int64_t least);
/* The integer part. */
PTC_MUST_USE PtcValue ptc_decimal_to_int(PtcHeap *heap, PtcValue a);

int ptc_decimal_compare(PtcHeap *heap, PtcValue a, PtcValue b);
int ptc_decimal_sign(PtcValue a);
/* Digits of the unscaled value, 1 for zero; 0 when memory or time ran out. */
int64_t ptc_decimal_digits(PtcHeap *heap, PtcValue a);
/* The nearest double; when memory or time ran out the budget is stopped, and it is worth nothing. */
double ptc_decimal_to_double(PtcHeap *heap, PtcValue a);

/* Appends the text, without M; plain: never with an exponent.  False when the buffer takes no more or the budget is
 * stopped. */
bool ptc_decimal_print(PtcHeap *heap, PtcBuf *buf, PtcValue a, bool plain);

#endif
