/* SPDX-License-Identifier: MIT
 * http_metrics.c - counters, and the page that sums them up.  Counters need no lock, except those by name.  A page
 * read while requests end may show counters one request apart, which Prometheus expects. */
#include "mcp/http/http_metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

static const char *const FAULTS[PTC_HTTP_FAULT_COUNT] = {
    [PTC_HTTP_FAULT_HOST] = "bad_host",       [PTC_HTTP_FAULT_ORIGIN] = "bad_origin",
    [PTC_HTTP_FAULT_TOKEN] = "unauthorized",  [PTC_HTTP_FAULT_GUESSING] = "rate_limited",
    [PTC_HTTP_FAULT_SIZE] = "too_large",      [PTC_HTTP_FAULT_SESSION] = "bad_session",
    [PTC_HTTP_FAULT_REQUEST] = "bad_request", [PTC_HTTP_FAULT_BUSY] = "busy",
    [PTC_HTTP_FAULT_CALL] = "call_error",     [PTC_HTTP_FAULT_SERVER] = "server_error",
    [PTC_HTTP_FAULT_CANCELLED] = "cancelled", [PTC_HTTP_FAULT_SLOW] = "slow_connection",
};

/* Upper bounds in microseconds. */
static const uint32_t BOUNDS[PTC_HTTP_BUCKETS] = {
    100,
    250,
    500,
    1000,
    2500,
    5000,
    10000,
    25000,
    50000,
    100000,
    250000,
    500000,
    PTC_SECOND_US,
    2500000,
    5 * PTC_SECOND_US,
    10 * PTC_SECOND_US,
};

static const char OTHER[] = "other";

void ptc_http_metrics_init(PtcHttpMetrics *metrics)
{
    memset(metrics, 0, sizeof *metrics);
    pthread_mutex_init(&metrics->lock, NULL);
}

void ptc_http_metrics_deinit(PtcHttpMetrics *metrics)
{
    pthread_mutex_destroy(&metrics->lock);
}

static void add_to_counter(atomic_uint_fast64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static uint64_t get_counter(atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void ptc_http_metrics_fault(PtcHttpMetrics *metrics, PtcHttpFault fault)
{
    if (fault != PTC_HTTP_FAULT_NONE)
        add_to_counter(&metrics->faults[fault], 1);
}

void ptc_http_metrics_done(PtcHttpMetrics *metrics, int status, int64_t took_ns, size_t in,
                           size_t out)
{
    uint64_t us = took_ns > 0 ? (uint64_t)took_ns / 1000 : 0;
    size_t i = 0;
    while (i < PTC_HTTP_BUCKETS && us > BOUNDS[i])
        i++;
    add_to_counter(&metrics->bucket[i], 1);
    add_to_counter(&metrics->total_us, us);
    add_to_counter(&metrics->bytes_in, in);
    add_to_counter(&metrics->bytes_out, out);
    add_to_counter(&metrics->requests[status >= 100 && status < 600 ? status / 100 : 0], 1);
}

/* The tool's counter; the last one is for all tools that have none of their own.  With the lock held. */
static PtcHttpToolCount *tool_count_of(PtcHttpMetrics *metrics, const char *tool)
{
    size_t i = 0;
    while (i < PTC_HTTP_TOOLS - 1 && metrics->tools[i].tool &&
           strcmp(metrics->tools[i].tool, tool) != 0)
        i++;
    if (!metrics->tools[i].tool)
        metrics->tools[i].tool = i < PTC_HTTP_TOOLS - 1 ? tool : OTHER;
    return &metrics->tools[i];
}

/* The last entry takes what does not fit, so the page stays bounded. */
static void count_reason(PtcHttpMetrics *metrics, const char *tool, const char *label)
{
    PtcHttpReasonCount *r = metrics->reasons;
    PtcHttpReasonCount *last = r + PTC_HTTP_REASONS - 1;
    while (r < last && r->tool && (strcmp(r->tool, tool) != 0 || strcmp(r->label, label) != 0))
        r++;
    if (!r->tool) {
        r->tool = r < last ? tool : OTHER;
        (void)snprintf(r->label, sizeof r->label, "%s", r < last ? label : OTHER);
    }
    r->calls++;
}

void ptc_http_metrics_tool(PtcHttpMetrics *metrics, const char *tool, const char *reason,
                           int64_t took_ns)
{
    pthread_mutex_lock(&metrics->lock);
    PtcHttpToolCount *t = tool_count_of(metrics, tool);
    t->calls++;
    t->failed += *reason != 0;
    t->us += took_ns > 0 ? (uint64_t)took_ns / 1000 : 0;
    if (*reason)
        count_reason(metrics, t->tool, reason);
    pthread_mutex_unlock(&metrics->lock);
}

static void write_head(PtcBuf *out, const char *name, const char *type, const char *help)
{
    ptc_buf_addf(out, "# HELP ptc_mcp_%s %s\n# TYPE ptc_mcp_%s %s\n", name, help, name, type);
}

static void write_metric(PtcBuf *out, const char *name, const char *type, const char *help,
                         uint64_t n)
{
    write_head(out, name, type, help);
    ptc_buf_addf(out, "ptc_mcp_%s %" PRIu64 "\n", name, n);
}

static void write_requests(PtcBuf *out, PtcHttpMetrics *metrics)
{
    write_head(out, "http_requests_total", "counter",
               "HTTP requests answered, by class of status.");
    for (int i = 1; i < 6; i++)
        ptc_buf_addf(out, "ptc_mcp_http_requests_total{status=\"%dxx\"} %" PRIu64 "\n", i,
                     get_counter(&metrics->requests[i]));
    ptc_buf_addf(out, "ptc_mcp_http_requests_total{status=\"none\"} %" PRIu64 "\n",
                 get_counter(&metrics->requests[0]));
}

static void write_faults(PtcBuf *out, PtcHttpMetrics *metrics)
{
    write_head(out, "http_errors_total", "counter",
               "Requests refused, failed or cut short, by kind.");
    for (int i = 1; i < PTC_HTTP_FAULT_COUNT; i++)
        ptc_buf_addf(out, "ptc_mcp_http_errors_total{kind=\"%s\"} %" PRIu64 "\n", FAULTS[i],
                     get_counter(&metrics->faults[i]));
}

/* Buckets are cumulative on the page, not in memory, where one addition per request is enough. */
static void write_histogram(PtcBuf *out, PtcHttpMetrics *metrics)
{
    uint64_t sum = 0, us = get_counter(&metrics->total_us);
    write_head(out, "http_request_duration_seconds", "histogram",
               "Time from the end of the request to the answer being ready.");
    for (int i = 0; i < PTC_HTTP_BUCKETS; i++) {
        sum += get_counter(&metrics->bucket[i]);
        ptc_buf_addf(out,
                     "ptc_mcp_http_request_duration_seconds_bucket{le=\"%u.%06u\"} %" PRIu64 "\n",
                     BOUNDS[i] / PTC_SECOND_US, BOUNDS[i] % PTC_SECOND_US, sum);
    }
    sum += get_counter(&metrics->bucket[PTC_HTTP_BUCKETS]);
    ptc_buf_addf(out,
                 "ptc_mcp_http_request_duration_seconds_bucket{le=\"+Inf\"} %" PRIu64 "\n"
                 "ptc_mcp_http_request_duration_seconds_sum %" PRIu64 ".%06" PRIu64 "\n"
                 "ptc_mcp_http_request_duration_seconds_count %" PRIu64 "\n",
                 sum, us / PTC_SECOND_US, us % PTC_SECOND_US, sum);
}

static void write_tool_metrics(PtcBuf *out, PtcHttpMetrics *metrics)
{
    write_head(out, "tool_calls_total", "counter", "Calls of tools, by tool and outcome.");
    for (size_t i = 0; i < PTC_HTTP_TOOLS && metrics->tools[i].tool; i++) {
        const PtcHttpToolCount *t = &metrics->tools[i];
        ptc_buf_addf(out,
                     "ptc_mcp_tool_calls_total{tool=\"%s\",outcome=\"ok\"} %" PRIu64 "\n"
                     "ptc_mcp_tool_calls_total{tool=\"%s\",outcome=\"error\"} %" PRIu64 "\n",
                     t->tool, t->calls - t->failed, t->tool, t->failed);
    }
    write_head(out, "tool_errors_total", "counter", "Calls of tools that failed, by reason.");
    for (size_t i = 0; i < PTC_HTTP_REASONS && metrics->reasons[i].tool; i++) {
        const PtcHttpReasonCount *r = &metrics->reasons[i];
        ptc_buf_addf(out, "ptc_mcp_tool_errors_total{tool=\"%s\",reason=\"%s\"} %" PRIu64 "\n",
                     r->tool, r->label, r->calls);
    }
    write_head(out, "tool_duration_seconds", "summary",
               "Time that calls of a tool took, waiting for their turn included.");
    for (size_t i = 0; i < PTC_HTTP_TOOLS && metrics->tools[i].tool; i++) {
        const PtcHttpToolCount *t = &metrics->tools[i];
        ptc_buf_addf(out,
                     "ptc_mcp_tool_duration_seconds_sum{tool=\"%s\"} %" PRIu64 ".%06" PRIu64 "\n"
                     "ptc_mcp_tool_duration_seconds_count{tool=\"%s\"} %" PRIu64 "\n",
                     t->tool, t->us / PTC_SECOND_US, t->us % PTC_SECOND_US, t->tool, t->calls);
    }
}

static void write_gauges(PtcBuf *out, PtcHttpMetrics *metrics, const PtcHttpGauges *g)
{
    int64_t under_way = atomic_load_explicit(&metrics->under_way, memory_order_relaxed);
    write_metric(out, "http_requests_in_flight", "gauge", "Requests being answered now.",
                 under_way > 0 ? (uint64_t)under_way : 0);
    write_metric(out, "http_connections", "gauge", "Open connections.", g->connections);
    write_metric(out, "http_streams", "gauge", "Open event streams.", g->streams);
    write_metric(out, "sessions", "gauge", "Protocol sessions of clients of the legacy era.",
                 g->sessions);
    write_metric(out, "calls_running", "gauge", "Handlers that run now.", g->running);
    write_metric(out, "calls_waiting", "gauge", "Calls that wait for their turn.", g->waiting);
    write_metric(out, "memory_bytes", "gauge", "Memory of the server's ledger.", g->memory);
    write_metric(out, "http_body_bytes", "gauge", "Bytes of requests that have not arrived whole.",
                 g->body_bytes);
    if (!g->isolation)
        return;
    write_head(out, "isolation", "gauge", "How programs run: 1 for the way that is in use.");
    ptc_buf_addf(out, "ptc_mcp_isolation{mode=\"%s\"} 1\n", g->isolation);
}

bool ptc_http_metrics_write(PtcBuf *out, PtcHttpMetrics *metrics, const PtcHttpGauges *gauges)
{
    write_requests(out, metrics);
    write_faults(out, metrics);
    write_histogram(out, metrics);
    write_metric(out, "http_request_bytes_total", "counter", "Bytes of request bodies.",
                 get_counter(&metrics->bytes_in));
    write_metric(out, "http_response_bytes_total", "counter", "Bytes of answers.",
                 get_counter(&metrics->bytes_out));
    pthread_mutex_lock(&metrics->lock);
    write_tool_metrics(out, metrics);
    pthread_mutex_unlock(&metrics->lock);
    write_gauges(out, metrics, gauges);
    return ptc_buf_ok(out);
}
