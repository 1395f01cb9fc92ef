/* SPDX-License-Identifier: MIT
 * http_brake.h - counts recent failures by who caused them: a brake on guessing.  Bounded: when there are too many,
 * the oldest are forgotten.  Any thread. */
#ifndef PTC_MCP_HTTP_HTTP_BRAKE_H
#define PTC_MCP_HTTP_HTTP_BRAKE_H

#include <pthread.h>
#include <stdint.h>

#include "base/mem.h"

enum {
    PTC_HTTP_BRAKE_WINDOW_S = 60, /* failures within this time count together */
    PTC_HTTP_BRAKE_ENTRIES = 1024,
};

typedef struct PtcHttpBrakeEntry {
    uint64_t key;
    uint32_t count; /* 0: free */
    int64_t since_ns;
} PtcHttpBrakeEntry;

typedef struct PtcHttpBrake {
    PtcMem *mem;
    /* It guards the entries.  Requests with a wrong token take it; no other lock is taken inside. */
    pthread_mutex_t lock;
    PtcHttpBrakeEntry *entries; /* in sets of a few */
} PtcHttpBrake;

/* False: out of memory. */
PTC_MUST_USE bool ptc_http_brake_init(PtcHttpBrake *brake, PtcMem *mem);
void ptc_http_brake_deinit(PtcHttpBrake *brake);
/* Counts one more failure of this key; returns how many there were since its window began, this one included. */
uint32_t ptc_http_brake_count(PtcHttpBrake *brake, uint64_t key, int64_t now_ns);

#endif
