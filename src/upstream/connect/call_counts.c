/* SPDX-License-Identifier: MIT
 * Counters of one upstream's calls.  Nothing here takes a lock or fails. */
#include "upstream/connect/call_counts.h"

#include "base/units.h"

/* Upper bounds in microseconds. */
static const uint32_t BOUNDS[PTC_CALL_BUCKETS] = {
    500,
    1000,
    5000,
    10000,
    50000,
    100000,
    500000,
    1 * PTC_SECOND_US,
    5 * PTC_SECOND_US,
    10 * PTC_SECOND_US,
    30 * PTC_SECOND_US,
    60 * PTC_SECOND_US,
};

uint64_t ptc_call_bucket_us(size_t i)
{
    return BOUNDS[i];
}

void ptc_call_counts_add(PtcCallCounts *counts, const PtcCallEnd *end)
{
    uint64_t us = end->duration_ns > 0 ? (uint64_t)end->duration_ns / 1000 : 0;
    PtcCallReason shown = ptc_call_reason_shown(end->reason);
    size_t bucket = 0;
    while (bucket < PTC_CALL_BUCKETS && us > BOUNDS[bucket])
        bucket++;
    ptc_call_count(&counts->reasons[shown < PTC_CALL_OTHER ? shown : PTC_CALL_OTHER], 1);
    ptc_call_count(&counts->buckets[bucket], 1);
    ptc_call_count(&counts->us, us);
    ptc_call_count(&counts->sent_bytes, end->sent_bytes);
    ptc_call_count(&counts->got_bytes, end->got_bytes);
    ptc_call_count(&counts->attempts, end->attempts);
    ptc_call_count(&counts->approved, end->approved);
    ptc_call_count(&counts->declined, shown == PTC_CALL_DECLINED);
}
