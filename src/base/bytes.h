/* SPDX-License-Identifier: MIT
 * bytes.h - comparing and searching bytes that a program made, on the program's time: long ones are done in parts
 * with a tick before each, so that a stop can take effect between them.  After a stop the answers are immediate and
 * meaningless. */
#ifndef PTC_BASE_BYTES_H
#define PTC_BASE_BYTES_H

#include <string.h>

#include "base/budget.h"

/* Slow half of ptc_bytes_compare. */
int ptc_bytes_compare_long(PtcBudget *budget, const char *a, const char *b, size_t n);

/* Like memcmp. */
static inline int ptc_bytes_compare(PtcBudget *budget, const char *a, const char *b, size_t n)
{
    return PTC_LIKELY(n < PTC_TICK_BYTES) ? memcmp(a, b, n)
                                          : ptc_bytes_compare_long(budget, a, b, n);
}

static inline bool ptc_bytes_same(PtcBudget *budget, const char *a, const char *b, size_t n)
{
    return ptc_bytes_compare(budget, a, b, n) == 0;
}

/* Like memmem: where `part` first occurs in `in`, or NULL. */
const char *ptc_bytes_find(PtcBudget *budget, const char *in, size_t len, const char *part,
                           size_t n);
/* Like memchr. */
const char *ptc_bytes_find_char(PtcBudget *budget, const char *in, size_t len, char c);

/* Like memcpy; the two must not overlap.  False: a limit was hit, and not everything was copied. */
PTC_MUST_USE bool ptc_bytes_copy(PtcBudget *budget, char *to, const char *from, size_t n);

#endif
