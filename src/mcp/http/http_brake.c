/* SPDX-License-Identifier: MIT
 * Counts wrong tokens by sender.  What always holds: the table has a fixed size, so an attacker cannot make it grow;
 * at worst old counts are forgotten. */
#include "mcp/http/http_brake.h"

#include <string.h>

enum { WAYS = 4 };

bool ptc_http_brake_init(PtcHttpBrake *brake, PtcMem *mem)
{
    *brake = (PtcHttpBrake){.mem = mem};
    brake->entries = ptc_mem_alloc(mem, PTC_HTTP_BRAKE_ENTRIES * sizeof *brake->entries);
    if (!brake->entries)
        return false;
    memset(brake->entries, 0, PTC_HTTP_BRAKE_ENTRIES * sizeof *brake->entries);
    pthread_mutex_init(&brake->lock, NULL);
    return true;
}

void ptc_http_brake_deinit(PtcHttpBrake *brake)
{
    if (!brake->entries)
        return;
    ptc_mem_free(brake->mem, brake->entries, PTC_HTTP_BRAKE_ENTRIES * sizeof *brake->entries);
    pthread_mutex_destroy(&brake->lock);
    brake->entries = NULL;
}

static bool is_brake_entry_over(const PtcHttpBrakeEntry *e, int64_t now_ns)
{
    return e->count == 0 || now_ns - e->since_ns >= PTC_HTTP_BRAKE_WINDOW_S * PTC_S;
}

/* The key's entry; if it has none, a free entry of its set, or else the oldest one, becomes its own. */
static PtcHttpBrakeEntry *brake_entry_of(PtcHttpBrake *brake, uint64_t key, int64_t now_ns)
{
    uint64_t hash = (key + 1) * UINT64_C(0x9e3779b97f4a7c15);
    PtcHttpBrakeEntry *set = brake->entries + (hash >> 32) % (PTC_HTTP_BRAKE_ENTRIES / WAYS) * WAYS;
    PtcHttpBrakeEntry *oldest = set;
    for (PtcHttpBrakeEntry *e = set; e < set + WAYS; e++) {
        if (e->key == key && !is_brake_entry_over(e, now_ns))
            return e;
        if (is_brake_entry_over(e, now_ns) ||
            (!is_brake_entry_over(oldest, now_ns) && e->since_ns < oldest->since_ns))
            oldest = e;
    }
    *oldest = (PtcHttpBrakeEntry){.key = key, .since_ns = now_ns};
    return oldest;
}

/* Counting may evict another key, which at worst gives that one a few more guesses. */
uint32_t ptc_http_brake_count(PtcHttpBrake *brake, uint64_t key, int64_t now_ns)
{
    pthread_mutex_lock(&brake->lock);
    PtcHttpBrakeEntry *e = brake_entry_of(brake, key, now_ns);
    if (e->count < UINT32_MAX)
        e->count++;
    uint32_t count = e->count;
    pthread_mutex_unlock(&brake->lock);
    return count;
}
