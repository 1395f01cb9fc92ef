/* SPDX-License-Identifier: MIT
 * call_counts.h - what became of all calls of one upstream since the start, for metrics.  Any thread may add and read;
 * a reader may see numbers one call apart. */
#ifndef PTC_UPSTREAM_CONNECT_CALL_COUNTS_H
#define PTC_UPSTREAM_CONNECT_CALL_COUNTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/call_reason.h"

enum { PTC_CALL_BUCKETS = 12 };

typedef struct PtcCallCounts {
    atomic_uint_fast64_t reasons[PTC_CALL_OTHER + 1];
    atomic_uint_fast64_t buckets[PTC_CALL_BUCKETS + 1]; /* by duration; the last: slower than all */
    atomic_uint_fast64_t us, sent_bytes, got_bytes, attempts;
    atomic_uint_fast64_t starts, restarts, breaker_opened; /* of its connections */
    atomic_uint_fast64_t approved, declined;               /* calls that a person was asked about */
} PtcCallCounts;

typedef struct PtcCallEnd {
    PtcCallReason reason;
    int64_t duration_ns;
    size_t sent_bytes, got_bytes;
    unsigned attempts;
    bool approved;
} PtcCallEnd;

void ptc_call_counts_add(PtcCallCounts *counts, const PtcCallEnd *end);
/* The upper bound of a bucket in microseconds. */
uint64_t ptc_call_bucket_us(size_t i);

static inline void ptc_call_count(atomic_uint_fast64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static inline uint64_t ptc_call_counted(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit((atomic_uint_fast64_t *)counter, memory_order_relaxed);
}

#endif
