/* SPDX-License-Identifier: MIT
 * The answers of lisp_debug: stats, recent calls, one call.  What always holds: an owner sees nothing of anybody
 * else. */
#include <stdio.h>
#include <string.h>

#include "json/emit.h"
#include "trace/recorder_int.h"

enum { RECORDER_TOOLS = 16, REASONS = 24, RECORDER_TOP = 10 };

static void begin_debug_answer(const PtcRecorder *r, PtcBuf *out, const char *op)
{
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "op", op);
    ptc_emit_field_cstr(out, "payload_policy", ptc_payloads_name(r->payloads));
}

/* PtcCallRecord i of the ring, 0 being the newest; NULL when it belongs to somebody else. */
static const PtcCallRecord *record_at(const PtcRecorder *r, size_t i, const unsigned char *owner)
{
    const PtcCallRecord *record = &r->ring[(r->oldest + r->count - 1 - i) % r->max];
    return memcmp(record->owner, owner, PTC_RECORD_OWNER) == 0 ? record : NULL;
}

typedef struct {
    const char *name;
    size_t calls, errors;
} CallTally;

/* The last entry takes everything beyond the table, so counting never fails. */
static CallTally *find_tally(CallTally *all, size_t max, const char *name)
{
    for (size_t i = 0; i < max; i++) {
        if (!all[i].name)
            all[i].name = name;
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    }
    return &all[max - 1];
}

/* Shell sort: no recursion, no memory, and the ring is small. */
static void sort_times(int64_t *times, size_t n)
{
    for (size_t gap = n / 2; gap > 0; gap /= 2)
        for (size_t i = gap; i < n; i++) {
            int64_t moved = times[i];
            size_t j = i;
            for (; j >= gap && times[j - gap] > moved; j -= gap)
                times[j] = times[j - gap];
            times[j] = moved;
        }
}

static void add_tool_statistics(PtcRecorder *r, PtcBuf *out, const unsigned char *owner,
                                const CallTally *t, int64_t *times)
{
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++) {
        const PtcCallRecord *record = record_at(r, i, owner);
        if (record && strcmp(record->tool, t->name) == 0)
            times[n++] = record->duration_us;
    }
    sort_times(times, n);
    ptc_emit_key(out, t->name);
    ptc_emit_object(out);
    ptc_emit_field_uint(out, "calls", t->calls);
    ptc_emit_field_uint(out, "ok", t->calls - t->errors);
    ptc_emit_field_uint(out, "error", t->errors);
    ptc_emit_key(out, "duration_us");
    ptc_emit_object(out);
    ptc_emit_field_int(out, "p50", times[n / 2]);
    ptc_emit_field_int(out, "p95", times[(n * 95) / 100]);
    ptc_emit_field_int(out, "max", times[n - 1]);
    ptc_emit_object_end(out);
    ptc_emit_object_end(out);
}

static void add_stats(PtcRecorder *r, const unsigned char *owner, PtcBuf *out, int64_t *times)
{
    CallTally tools[RECORDER_TOOLS] = {{0}}, reasons[REASONS] = {{0}};
    size_t mine = 0;
    for (size_t i = 0; i < r->count; i++) {
        const PtcCallRecord *record = record_at(r, i, owner);
        if (!record)
            continue;
        mine++;
        CallTally *t = find_tally(tools, RECORDER_TOOLS, record->tool);
        t->calls++;
        t->errors += !record->ok;
        if (!record->ok)
            find_tally(reasons, REASONS, record->reason)->calls++;
    }
    ptc_emit_field_uint(out, "ring_size", r->max);
    ptc_emit_field_uint(out, "calls", mine);
    ptc_emit_field_bool(out, "trace_dir_enabled", r->trace != NULL);
    ptc_emit_key(out, "by_tool");
    ptc_emit_object(out);
    for (size_t i = 0; i < RECORDER_TOOLS && tools[i].name; i++)
        add_tool_statistics(r, out, owner, &tools[i], times);
    ptc_emit_object_end(out);
    ptc_emit_key(out, "errors");
    ptc_emit_object(out);
    for (size_t i = 0; i < REASONS && reasons[i].name; i++)
        ptc_emit_field_uint(out, reasons[i].name, reasons[i].calls);
    ptc_emit_object_end(out);
}

/* ------------------------------------------------------------------- calls of other servers */

static int64_t ratio_of(const PtcCallRecord *record)
{
    return ptc_call_log_ratio(record->sums.result_bytes, record->answered_bytes);
}

static void add_ratios(PtcBuf *out, int64_t *ratios, size_t n, int64_t weighted)
{
    sort_times(ratios, n);
    ptc_emit_key(out, "reduction_ratio");
    ptc_emit_object(out);
    ptc_call_log_put_ratio(out, "p50", n ? ratios[n / 2] : -1);
    ptc_call_log_put_ratio(out, "p95", n ? ratios[n * 95 / 100] : -1);
    ptc_call_log_put_ratio(out, "max", n ? ratios[n - 1] : -1);
    ptc_call_log_put_ratio(out, "weighted", weighted);
    ptc_emit_object_end(out);
}

static void add_reducer(PtcBuf *out, const PtcCallRecord *record)
{
    ptc_emit_object(out);
    ptc_recorder_put_id(out, record->number);
    ptc_emit_field_cstr(out, "tool", record->tool);
    ptc_emit_field_uint(out, "final_result_bytes", record->answered_bytes);
    ptc_emit_field_uint(out, "upstream_result_bytes", record->sums.result_bytes);
    ptc_call_log_put_ratio(out, "ratio", ratio_of(record));
    ptc_emit_object_end(out);
}

/* The best record that comes behind `last` in the order of ratios, newer ones first; NULL: there is none. */
static const PtcCallRecord *next_reducer(const PtcRecorder *r, const unsigned char *owner,
                                         const PtcCallRecord *last)
{
    const PtcCallRecord *best = NULL;
    for (size_t i = 0; i < r->count; i++) {
        const PtcCallRecord *one = record_at(r, i, owner);
        int64_t ratio = one ? ratio_of(one) : -1;
        bool behind = ratio >= 0 && (!last || ratio < ratio_of(last) ||
                                     (ratio == ratio_of(last) && one->number < last->number));
        if (behind && (!best || ratio > ratio_of(best)))
            best = one;
    }
    return best;
}

static void add_reducers(const PtcRecorder *r, const unsigned char *owner, PtcBuf *out)
{
    const PtcCallRecord *one = NULL;
    ptc_emit_key(out, "top_reducers");
    ptc_emit_array(out);
    for (size_t i = 0; i < RECORDER_TOP && (one = next_reducer(r, owner, one)); i++)
        add_reducer(out, one);
    ptc_emit_array_end(out);
}

static void add_reduction(const PtcRecorder *r, const unsigned char *owner, PtcBuf *out,
                          int64_t *ratios)
{
    PtcCallSums all = {0};
    uint64_t answered = 0, with_calls = 0;
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++) {
        const PtcCallRecord *one = record_at(r, i, owner);
        if (!one || one->sums.calls == 0)
            continue;
        with_calls++;
        answered += one->answered_bytes;
        all.calls += one->sums.calls;
        all.result_bytes += one->sums.result_bytes;
        all.error_bytes += one->sums.error_bytes;
        all.oversize_bytes += one->sums.oversize_bytes;
        if (ratio_of(one) >= 0)
            ratios[n++] = ratio_of(one);
    }
    ptc_emit_key(out, "payload_reduction");
    ptc_emit_object(out);
    ptc_emit_field_uint(out, "schema_version", 1);
    ptc_emit_field_uint(out, "calls_with_metrics", with_calls);
    ptc_emit_field_uint(out, "total_final_result_bytes", answered);
    ptc_emit_field_uint(out, "total_upstream_result_bytes", all.result_bytes);
    ptc_emit_field_uint(out, "total_upstream_error_bytes", all.error_bytes);
    ptc_emit_field_uint(out, "total_upstream_oversize_bytes", all.oversize_bytes);
    ptc_emit_field_uint(out, "total_upstream_calls", all.calls);
    add_ratios(out, ratios, n, ptc_call_log_ratio(all.result_bytes, answered));
    add_reducers(r, owner, out);
    ptc_emit_object_end(out);
}

static void add_upstreams(PtcRecorder *r, const unsigned char *owner, PtcBuf *out, int64_t *ratios)
{
    PtcCallOutcomes outcomes = {0};
    for (size_t i = 0; i < r->count; i++) {
        const PtcCallRecord *one = record_at(r, i, owner);
        if (one)
            ptc_call_outcomes_add_all(&outcomes, &r->mem, &one->outcomes);
    }
    if (outcomes.count) {
        ptc_emit_key(out, "upstream_calls");
        ptc_call_outcomes_put(&outcomes, out);
        add_reduction(r, owner, out, ratios);
    }
    ptc_call_outcomes_free(&outcomes, &r->mem);
}

/* The times are sorted in a copy, because the ring must keep its order. */
void ptc_recorder_stats(PtcRecorder *r, const char *owner, PtcText upstreams, PtcBuf *out)
{
    unsigned char id[PTC_RECORD_OWNER];
    ptc_recorder_owner(id, owner);
    begin_debug_answer(r, out, "stats");
    pthread_mutex_lock(&r->lock);
    size_t bytes = (r->max + 1) * sizeof(int64_t);
    int64_t *times = ptc_mem_alloc(&r->mem, bytes);
    if (times) {
        add_stats(r, id, out, times);
        add_upstreams(r, id, out, times);
    } else {
        ptc_emit_field_uint(out, "calls", 0);
    }
    ptc_mem_free(&r->mem, times, bytes);
    pthread_mutex_unlock(&r->lock);
    if (upstreams.len)
        ptc_emit_field_raw(out, "upstreams", upstreams);
    ptc_emit_object_end(out);
}

static void add_record_line(PtcBuf *out, const PtcCallRecord *record)
{
    ptc_emit_object(out);
    ptc_recorder_put_id(out, record->number);
    ptc_recorder_put_time(out, record->at_ms);
    ptc_emit_field_cstr(out, "tool", record->tool);
    ptc_emit_field_bool(out, "ok", record->ok);
    if (!record->ok)
        ptc_emit_field_cstr(out, "reason", record->reason);
    ptc_emit_field_int(out, "duration_us", record->duration_us);
    ptc_emit_field_uint(out, "program_bytes", record->program_bytes);
    ptc_emit_field_uint(out, "result_bytes", record->result_bytes);
    if (record->sums.calls) {
        ptc_emit_field_uint(out, "upstream_calls", record->sums.calls);
        ptc_emit_field_uint(out, "upstream_result_bytes", record->sums.result_bytes);
        ptc_call_log_put_ratio(
            out, "payload_reduction_ratio",
            ptc_call_log_ratio(record->sums.result_bytes, record->answered_bytes));
    }
    ptc_emit_object_end(out);
}

void ptc_recorder_recent(PtcRecorder *r, const char *owner, const PtcRecent *wanted, PtcBuf *out)
{
    unsigned char id[PTC_RECORD_OWNER];
    ptc_recorder_owner(id, owner);
    size_t n = 0;
    begin_debug_answer(r, out, "recent");
    ptc_emit_key(out, "records");
    ptc_emit_array(out);
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->count && n < wanted->limit; i++) {
        const PtcCallRecord *record = record_at(r, i, id);
        if (!record || (wanted->errors_only && record->ok) || record->at_ms < wanted->since_ms)
            continue;
        n++;
        add_record_line(out, record);
    }
    pthread_mutex_unlock(&r->lock);
    ptc_emit_array_end(out);
    ptc_emit_field_uint(out, "count", n);
    ptc_emit_object_end(out);
}

bool ptc_recorder_get(PtcRecorder *r, const char *owner, PtcText wanted, PtcBuf *out)
{
    unsigned char id[PTC_RECORD_OWNER];
    ptc_recorder_owner(id, owner);
    char name[PTC_RECORD_REQUEST];
    bool found = false;
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->count && !found; i++) {
        const PtcCallRecord *record = record_at(r, i, id);
        if (!record || !record->json)
            continue;
        ptc_recorder_name(name, record->number);
        if (!ptc_text_is(wanted, name))
            continue;
        found = true;
        begin_debug_answer(r, out, "get");
        ptc_emit_field_raw(out, "record", (PtcText){record->json, record->json_len});
        ptc_emit_object_end(out);
    }
    pthread_mutex_unlock(&r->lock);
    return found;
}
