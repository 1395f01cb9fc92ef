/* SPDX-License-Identifier: MIT
 * limits.h - the table of limits.  Whoever keeps, reads, sends or shows limits goes through it or copies a whole
 * PtcLimits, so that a new limit is one row here and nothing in between must know of it. */
#ifndef PTC_LISP_VM_LIMITS_H
#define PTC_LISP_VM_LIMITS_H

#include "base/compiler.h"
#include "base/text.h"
#include "base/units.h"
#include "ptc/ptc.h"

/* The largest limit that may be set on nested calls. */
enum { PTC_DEPTH_MAX = PTC_MILLION };

/* What people write for PTC_CHECK_ERROR and so on. */
#define PTC_CHECK_WORDS "error|warn|off"

typedef struct PtcLimit {
    const char *name;  /* of the field of PtcLimits */
    size_t offset;     /* of that field, an int64_t */
    int64_t normal;    /* the default */
    int64_t most;      /* the largest value; the smallest is 0 */
    const char *line;  /* what the options of a batch line call it; NULL: a line cannot set it */
    int64_t unit;      /* one of `line` in the field: a MiB in bytes, or 1 */
    const char *words; /* "a|b|c": what people write for 0, 1, 2; NULL: the number */
} PtcLimit;

/* The limit at an index from 0, in the order of PtcLimits; NULL beyond the last. */
const PtcLimit *ptc_limits_row(size_t index);
/* The limit that a batch line calls so; NULL: none. */
const PtcLimit *ptc_limits_of_line(PtcText name);
/* Its field. */
int64_t *ptc_limits_field(PtcLimits *limits, const PtcLimit *limit);

/* The limits that apply unless others are set. */
extern const PtcLimits ptc_default_limits;
/* Every field PTC_UNSET. */
void ptc_limits_unset(PtcLimits *limits);
/* What is set in `given` (may be NULL; its `size` says how much of it there is), the rest from `from`; false if
 * something is out of range. */
PTC_MUST_USE bool ptc_limits_merge(PtcLimits *limits, const PtcLimits *given,
                                   const PtcLimits *from);

#endif
