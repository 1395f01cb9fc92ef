/* SPDX-License-Identifier: MIT
 * era_probe.h - what the answer to `server/discover` says about the era that a server speaks. */
#ifndef PTC_MCP_CLIENT_ERA_PROBE_H
#define PTC_MCP_CLIENT_ERA_PROBE_H

#include "base/text.h"
#include "value/heap.h"

enum { PTC_ERA_SILENCE_MS = 3000 }; /* then `initialize` is sent as well */

typedef enum {
    PTC_ERA_MODERN,     /* go on with `version` */
    PTC_ERA_INITIALIZE, /* on the same connection; `version` where one is known to be understood */
    PTC_ERA_FAIL,       /* `version` is absent; `why` says what for */
} PtcEraStep;

typedef struct PtcEra {
    PtcEraStep step;
    const char *version; /* a constant text; NULL: none */
    const char *why;     /* PTC_ERA_FAIL: upstream_error */
} PtcEra;

/* A JSON-RPC message that answers the probe, or a part of it: `result` and `error` as they are there, else PTC_NONE. */
PtcEra ptc_era_of_answer(PtcHeap *heap, PtcValue result, PtcValue error);

#endif
