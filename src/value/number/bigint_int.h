/* SPDX-License-Identifier: MIT
 * bigint_int.h - private declarations shared by bigint.c and bigint_text.c. */
#ifndef PTC_VALUE_NUMBER_BIGINT_INT_H
#define PTC_VALUE_NUMBER_BIGINT_INT_H

#include <gmp.h>

#include "value/number/bigint.h"

_Static_assert(sizeof(mp_limb_t) == sizeof(uint64_t) && GMP_NAIL_BITS == 0, "limbs of 64 bits");

enum { PTC_BIG_STACK_LIMBS = 48 };

/* Sign and magnitude of an integer, n == 0 for zero.  `word` is what limbs points to when the
 * integer is small, so a PtcNum must not be copied. */
typedef struct PtcNum {
    const mp_limb_t *limbs;
    mp_size_t n;
    bool negative;
    mp_limb_t word;
} PtcNum;

void ptc_big_load(PtcNum *num, PtcValue v);

/* The value of a magnitude, leading zeros allowed. */
PTC_MUST_USE PtcValue ptc_big_from_limbs(PtcHeap *heap, const mp_limb_t *limbs, mp_size_t n,
                                         bool negative);

/* May an integer have this many bits?  If not, the budget is stopped. */
PTC_MUST_USE bool ptc_big_allow(PtcHeap *heap, int64_t bits);

/* Charges the time for operands of a and b limbs; quick operations are not charged at all. */
PTC_MUST_USE bool ptc_big_charge(PtcHeap *heap, mp_size_t a, mp_size_t b);

/* Temporary space for limbs: on the C stack if it is small. */
typedef struct PtcLimbScratch {
    mp_limb_t stack[PTC_BIG_STACK_LIMBS];
    mp_limb_t *limbs;
    size_t count;
} PtcLimbScratch;

PTC_MUST_USE bool ptc_limb_scratch_init(PtcHeap *heap, PtcLimbScratch *s, size_t count);
void ptc_limb_scratch_deinit(PtcHeap *heap, PtcLimbScratch *s);

#endif
