/* SPDX-License-Identifier: MIT
 * How upstreams are and what became of their calls, for lisp_debug and for Prometheus.  What always holds: labels are
 * namespaces, reasons and states, all of which are closed sets once the files are read, so a page stays bounded
 * whatever upstreams and programs do; an owner sees nothing of the connections of others. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json/emit.h"
#include "upstream/connect/manager_int.h"

const char *ptc_manager_state_word(PtcInstanceState state)
{
    static const char *const words[] = {"cold", "starting", "ready",
                                        "down", "unusable", "disabled"};
    return words[state];
}

/* ------------------------------------------------------------------------------------- JSON */

/* With the lock held: the owner's connection; NULL: there is none. */
static const PtcInstance *find_owner_instance(const PtcManager *m, const PtcUpstream *up,
                                              const char *owner)
{
    for (const PtcInstance *i = m->instances; i; i = i->next)
        if (i->upstream == up && (up->entry.shared || strcmp(i->owner, owner) == 0))
            return i;
    return NULL;
}

static const char *word_for(const PtcUpstream *up, const PtcInstance *i)
{
    return ptc_manager_state_word(up->entry.unusable.bytes ? PTC_UPSTREAM_UNUSABLE
                                  : up->entry.disabled     ? PTC_UPSTREAM_DISABLED
                                  : i                      ? i->state
                                                           : PTC_INSTANCE_COLD);
}

static void put_listing(PtcBuf *out, const PtcListing *l)
{
    if (!l)
        return;
    int64_t age = ptc_clock_wall_ms() - l->wall_ms;
    ptc_emit_field_uint(out, "tool_count", l->server.count);
    ptc_emit_field_int(out, "catalog_age_ms", age > 0 ? age : 0);
    ptc_emit_field_uint(out, "catalog_bytes", l->bytes);
}

static void put_upstream(PtcBuf *out, const PtcUpstream *up, const PtcInstance *i)
{
    int64_t left = i ? (i->retry_ns - ptc_clock_ns(NULL)) / PTC_MS : 0;
    bool open = i && ptc_instance_rests(i);
    ptc_emit_object(out);
    ptc_emit_field_text(out, "server", up->entry.name);
    ptc_emit_field_cstr(out, "state", word_for(up, i));
    ptc_emit_field_uint(out, "restarts", i ? i->restarts : 0);
    ptc_emit_field_uint(out, "failures_in_a_row", i ? i->failures : 0);
    ptc_emit_field_cstr(out, "breaker", open ? "open" : "closed");
    if (open && left > 0)
        ptc_emit_field_int(out, "retry_in_ms", left);
    put_listing(out, up->listing);
    ptc_emit_object_end(out);
}

void ptc_manager_stats(PtcManager *m, const char *owner, PtcBuf *out)
{
    ptc_emit_array(out);
    pthread_mutex_lock(&m->lock);
    for (size_t n = 0; n < m->count; n++)
        put_upstream(out, &m->upstreams[n], find_owner_instance(m, &m->upstreams[n], owner));
    pthread_mutex_unlock(&m->lock);
    ptc_emit_array_end(out);
}

/* ------------------------------------------------------------------------------- Prometheus */

/* A namespace has only letters, digits and _.- in it, so that it needs no escapes. */
static void put_metric_line(PtcBuf *out, const char *name, const PtcUpstream *up, const char *more,
                            uint64_t n)
{
    ptc_buf_addf(out, "%s{server=\"%.*s\"%s} %" PRIu64 "\n", name, PTC_ARG(up->entry.ns), more, n);
}

static void put_head(PtcBuf *out, const char *name, const char *type, const char *help)
{
    ptc_buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* One counter of every upstream; `at` is its place in PtcCallCounts. */
static void put_counter(PtcManager *m, PtcBuf *out, const char *name, const char *help, size_t at)
{
    put_head(out, name, "counter", help);
    for (size_t n = 0; n < m->count; n++) {
        const char *counts = (const char *)&m->upstreams[n].counts;
        put_metric_line(
            out, name, &m->upstreams[n], "",
            ptc_call_counted((const atomic_uint_fast64_t *)(const void *)(counts + at)));
    }
}

static void put_call_metrics(PtcManager *m, PtcBuf *out)
{
    static const char name[] = "ptc_upstream_calls_total";
    char more[80];
    put_head(out, name, "counter", "Calls by status and reason.");
    for (size_t n = 0; n < m->count; n++)
        for (PtcCallReason r = PTC_CALL_WELL; r <= PTC_CALL_OTHER; r++) {
            uint64_t calls = ptc_call_counted(&m->upstreams[n].counts.reasons[r]);
            if (calls == 0 && r > 0)
                continue;
            snprintf(more, sizeof more, ",status=\"%s\",reason=\"%s\"", r ? "error" : "ok",
                     ptc_call_reason_word(r));
            put_metric_line(out, name, &m->upstreams[n], more, calls);
        }
}

static void put_times_of(const PtcUpstream *up, PtcBuf *out)
{
    const PtcCallCounts *c = &up->counts;
    uint64_t sum = 0;
    char more[40];
    for (size_t b = 0; b < PTC_CALL_BUCKETS; b++) {
        sum += ptc_call_counted(&c->buckets[b]);
        snprintf(more, sizeof more, ",le=\"%g\"", (double)ptc_call_bucket_us(b) / 1e6);
        put_metric_line(out, "ptc_upstream_call_seconds_bucket", up, more, sum);
    }
    sum += ptc_call_counted(&c->buckets[PTC_CALL_BUCKETS]);
    put_metric_line(out, "ptc_upstream_call_seconds_bucket", up, ",le=\"+Inf\"", sum);
    ptc_buf_addf(out, "ptc_upstream_call_seconds_sum{server=\"%.*s\"} %.6f\n",
                 PTC_ARG(up->entry.ns), (double)ptc_call_counted(&c->us) / 1e6);
    put_metric_line(out, "ptc_upstream_call_seconds_count", up, "", sum);
}

/* With the lock held. */
static void put_connections_of(const PtcManager *m, const PtcUpstream *up, PtcBuf *out,
                               const char *name)
{
    uint64_t states[PTC_INSTANCE_STATES] = {0};
    char more[40];
    for (const PtcInstance *i = m->instances; i; i = i->next)
        if (i->upstream == up)
            states[i->state]++;
    for (PtcInstanceState s = 0; s < PTC_INSTANCE_STATES; s++) {
        snprintf(more, sizeof more, ",state=\"%s\"", ptc_manager_state_word(s));
        put_metric_line(out, name, up, more, states[s]);
    }
}

static void put_connections(PtcManager *m, PtcBuf *out)
{
    static const char name[] = "ptc_upstream_connections", breaker[] = "ptc_upstream_breaker_open";
    put_head(out, name, "gauge", "Processes and connections by state.");
    for (size_t n = 0; n < m->count; n++)
        put_connections_of(m, &m->upstreams[n], out, name);
    put_head(out, breaker, "gauge", "Connections that are left alone after many failures.");
    for (size_t n = 0; n < m->count; n++) {
        uint64_t open = 0;
        for (const PtcInstance *i = m->instances; i; i = i->next)
            open += i->upstream == &m->upstreams[n] && ptc_instance_rests(i);
        put_metric_line(out, breaker, &m->upstreams[n], "", open);
    }
}

/* With the lock held. */
static void put_catalogues(PtcManager *m, PtcBuf *out)
{
    static const char age[] = "ptc_upstream_catalog_age_seconds",
                      bytes[] = "ptc_upstream_catalog_bytes", tools[] = "ptc_upstream_tools";
    int64_t now = ptc_clock_wall_ms();
    put_head(out, age, "gauge", "Time since the tools were listed.");
    for (size_t n = 0; n < m->count; n++) {
        const PtcListing *l = m->upstreams[n].listing;
        if (l)
            put_metric_line(out, age, &m->upstreams[n], "",
                            now > l->wall_ms ? (uint64_t)(now - l->wall_ms) / 1000 : 0);
    }
    put_head(out, bytes, "gauge", "Size of the list of tools as it came.");
    for (size_t n = 0; n < m->count; n++)
        if (m->upstreams[n].listing)
            put_metric_line(out, bytes, &m->upstreams[n], "", m->upstreams[n].listing->bytes);
    put_head(out, tools, "gauge", "Tools that programs see.");
    for (size_t n = 0; n < m->count; n++)
        if (m->upstreams[n].listing)
            put_metric_line(out, tools, &m->upstreams[n], "",
                            m->upstreams[n].listing->server.count);
}

void ptc_manager_metrics(PtcManager *m, PtcBuf *out)
{
    put_call_metrics(m, out);
    put_head(out, "ptc_upstream_call_seconds", "histogram", "Time of calls, waiting included.");
    for (size_t n = 0; n < m->count; n++)
        put_times_of(&m->upstreams[n], out);
    put_counter(m, out, "ptc_upstream_attempts_total", "Times that calls were sent.",
                offsetof(PtcCallCounts, attempts));
    put_counter(m, out, "ptc_upstream_sent_bytes_total", "Bytes of arguments sent.",
                offsetof(PtcCallCounts, sent_bytes));
    put_counter(m, out, "ptc_upstream_received_bytes_total", "Bytes of answers received.",
                offsetof(PtcCallCounts, got_bytes));
    put_counter(m, out, "ptc_upstream_starts_total", "Connections begun.",
                offsetof(PtcCallCounts, starts));
    put_counter(m, out, "ptc_upstream_restarts_total", "Connections begun again after a failure.",
                offsetof(PtcCallCounts, restarts));
    put_counter(m, out, "ptc_upstream_breaker_opened_total", "Times that a breaker opened.",
                offsetof(PtcCallCounts, breaker_opened));
    put_counter(m, out, "ptc_upstream_approved_total", "Calls that a person allowed.",
                offsetof(PtcCallCounts, approved));
    put_counter(m, out, "ptc_upstream_declined_total", "Calls that a person refused.",
                offsetof(PtcCallCounts, declined));
    pthread_mutex_lock(&m->lock);
    put_connections(m, out);
    put_catalogues(m, out);
    pthread_mutex_unlock(&m->lock);
}
