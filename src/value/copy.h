/* SPDX-License-Identifier: MIT
 * copy.h - copies values into another heap: a session's commit, a host's result. */
#ifndef PTC_VALUE_COPY_H
#define PTC_VALUE_COPY_H

#include "value/heap.h"

/* Copies several values at once, sharing what they share and leaving what `to` already owns.  What a value cannot
 * show is not copied: most of the vector behind a short slice, keys that newer versions added to an index.  Call
 * ptc_copy_init, then ptc_copy_value for each, then ptc_copy_deinit. */
typedef struct PtcCopy {
    PtcHeap *to;
    /* NULL: any; otherwise only what this one owns is copied, the rest outlives `to`. */
    const PtcHeap *from;
    PtcValue *table; /* open-addressed: old, new, old, new ... */
    size_t cap, count;
    PtcValue *work; /* new objects whose values still point to old ones */
    size_t work_count, work_cap;
    size_t parted; /* elements copied separately from what hides behind them */
    bool own;      /* something was copied that is equal to itself only: a cell, an object */
} PtcCopy;

void ptc_copy_init(PtcCopy *copy, PtcHeap *to);
void ptc_copy_deinit(PtcCopy *copy);
/* The copy of v, or PTC_NONE if `to` is full (its budget is stopped). */
PTC_MUST_USE PtcValue ptc_copy_value(PtcCopy *copy, PtcValue v);

#endif
