/* SPDX-License-Identifier: MIT
 * http_metrics.h - what the HTTP server counts, and the page that Prometheus reads. */
#ifndef PTC_MCP_HTTP_HTTP_METRICS_H
#define PTC_MCP_HTTP_HTTP_METRICS_H

#include <pthread.h>
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
    PTC_HTTP_FAULT_CALL,      /* the call was answered with a JSON-RPC error */
    PTC_HTTP_FAULT_BUSY,      /* turned away: too many calls, out of memory, stopping */
    PTC_HTTP_FAULT_SERVER,    /* any other 5xx */
    PTC_HTTP_FAULT_CANCELLED, /* the client went away */
    PTC_HTTP_FAULT_SLOW,      /* a connection closed for taking too long */
    PTC_HTTP_FAULT_COUNT
} PtcHttpFault;

enum {
    PTC_HTTP_BUCKETS = 16,
    PTC_HTTP_TOOLS = 32,   /* tools counted by name; the rest are "other" */
    PTC_HTTP_REASONS = 64, /* pairs of a tool and a reason; likewise */
    PTC_HTTP_REASON = 24,
};

/* Calls of one tool. */
typedef struct PtcHttpToolCount {
    const char *tool; /* a constant of its row; NULL: free */
    uint64_t calls, failed, us;
} PtcHttpToolCount;

typedef struct PtcHttpReasonCount {
    const char *tool;
    char label[PTC_HTTP_REASON]; /* the word of the reason */
    uint64_t calls;
} PtcHttpReasonCount;

typedef struct PtcHttpMetrics {
    atomic_uint_fast64_t requests[6]; /* by first digit of the status; [0]: no status was sent */
    atomic_uint_fast64_t faults[PTC_HTTP_FAULT_COUNT];
    atomic_uint_fast64_t bucket[PTC_HTTP_BUCKETS + 1]; /* the last one: slower than all others */
    atomic_uint_fast64_t total_us, bytes_in, bytes_out;
    atomic_int_fast64_t under_way;
    /* It guards the two below; the numbers above are atomic.  No other lock is taken inside. */
    pthread_mutex_t lock;
    PtcHttpToolCount tools[PTC_HTTP_TOOLS];
    PtcHttpReasonCount reasons[PTC_HTTP_REASONS];
} PtcHttpMetrics;

/* Numbers kept elsewhere, read when the page is requested. */
typedef struct PtcHttpGauges {
    unsigned running, waiting;
    size_t sessions, connections, streams, memory, body_bytes;
    const char *isolation; /* NULL: not shown */
} PtcHttpGauges;

void ptc_http_metrics_init(PtcHttpMetrics *metrics);
void ptc_http_metrics_deinit(PtcHttpMetrics *metrics);

void ptc_http_metrics_fault(PtcHttpMetrics *metrics, PtcHttpFault fault);
/* One finished request. */
void ptc_http_metrics_done(PtcHttpMetrics *metrics, int status, int64_t took_ns, size_t in,
                           size_t out);

/* One call of a tool that has ended; reason: "" if it succeeded. */
void ptc_http_metrics_tool(PtcHttpMetrics *metrics, const char *tool, const char *reason,
                           int64_t took_ns);

/* Appends the page in Prometheus' text format 0.0.4. */
bool ptc_http_metrics_write(PtcBuf *out, PtcHttpMetrics *metrics, const PtcHttpGauges *gauges);

#endif
