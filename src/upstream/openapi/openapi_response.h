/* SPDX-License-Identifier: MIT
 * openapi_response.h - the answer of an HTTP service as the value that a program gets. */
#ifndef PTC_UPSTREAM_OPENAPI_OPENAPI_RESPONSE_H
#define PTC_UPSTREAM_OPENAPI_OPENAPI_RESPONSE_H

#include "upstream/run/tool_result.h"

enum { PTC_RESPONSE_BYTES = 16 * PTC_MB };

typedef struct PtcResponseIn {
    int64_t status;
    PtcValue headers; /* name -> value, in any case */
    PtcText body;
    size_t max_bytes;        /* 0: PTC_RESPONSE_BYTES */
    size_t blobs;            /* that the run has already */
    PtcRemoteAnswer *answer; /* as of a tool result */
    int64_t now_ms;          /* time of day, for a Retry-After that is a date */
} PtcResponseIn;

typedef struct PtcResponse {
    PtcToolResult result;   /* its message is ours, with what the service said */
    int64_t retry_after_ms; /* -1: nothing was said */
} PtcResponse;

/* False: out of memory. */
PTC_MUST_USE bool ptc_openapi_response(PtcHeap *heap, const PtcResponseIn *in, PtcResponse *out);

#endif
