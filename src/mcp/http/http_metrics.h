/* SPDX-License-Identifier: MIT
 * http_metrics.h - what the HTTP server counts, and the page that Prometheus reads. */
#ifndef PTC_MCP_HTTP_HTTP_METRICS_H
#define PTC_MCP_HTTP_HTTP_METRICS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/buf.h"

/* Why a request was turned away, failed or ended early. */
typedef enum {
    PTC_HTTP_FAULT_NONE,
    PTC_HTTP_FAULT_HOST,
    PTC_HTTP_FAULT_ORIGIN,
    PTC_HTTP_FAULT_TOKEN,     /* missing or wrong */
    PTC_HTTP_FAULT_GUESSING,  /* too many wrong tokens */
    PTC_HTTP_FAULT_SIZE,      /* body over the limit */
    PTC_HTTP_FAULT_SESSION,   /* missing, unknown or ended session */
    PTC_HTTP_FAULT_REQUEST,   /* any other 4xx */
    PTC_HTTP_FAULT_CALL,      /* the call was answered with an error of JSON-RPC */
    PTC_HTTP_FAULT_BUSY,      /* turned away: too many calls, no memory, stopping */
    PTC_HTTP_FAULT_SERVER,    /* any other 5xx */
    PTC_HTTP_FAULT_CANCELLED, /* the client went away */
    PTC_HTTP_FAULT_SLOW,      /* a connection closed for taking too long */
    PTC_HTTP_FAULT_COUNT
} PtcHttpFault;

enum { PTC_HTTP_BUCKETS = 16 };

typedef struct PtcHttpMetrics {
    atomic_uint_fast64_t requests[6]; /* by first digit of the status; [0]: no status was sent */
    atomic_uint_fast64_t faults[PTC_HTTP_FAULT_COUNT];
    atomic_uint_fast64_t bucket[PTC_HTTP_BUCKETS + 1]; /* the last: slower than all */
    atomic_uint_fast64_t total_us, bytes_in, bytes_out;
    atomic_int_fast64_t in_flight;
} PtcHttpMetrics;

/* Numbers that others keep, read when the page is asked for. */
typedef struct PtcHttpGauges {
    unsigned running, waiting;
    size_t sessions, connections, streams, memory;
} PtcHttpGauges;

void ptc_http_metrics_fault(PtcHttpMetrics *metrics, PtcHttpFault fault);
/* One finished request. */
void ptc_http_metrics_done(PtcHttpMetrics *metrics, int status, int64_t took_ns, size_t in,
                           size_t out);

/* Appends the page in Prometheus' text format 0.0.4. */
bool ptc_http_metrics_write(PtcBuf *out, PtcHttpMetrics *metrics, const PtcHttpGauges *gauges);

#endif
