/* SPDX-License-Identifier: MIT
 * Records of calls, in a ring and in files.  What always holds: the ring's lock guards nothing but the ring, so
 * texts are rendered and files written outside it; an owner is known by a hash, never by name. */
#include "trace/recorder_int.h"

#include <stdio.h>
#include <string.h>

#include "base/text/hmac.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "json/parse.h"
#include "ptc/ptc.h"
#include "trace/trace_file.h"
#include "value/calendar.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

enum {
    CALLS_MEMORY = 64 * PTC_MB, /* for parsing the list of tool calls */
    RECORD_MEMORY = 512 * PTC_KB,
    OWNER_SHOWN = 6
};

const char *ptc_payloads_name(PtcPayloads payloads)
{
    return payloads == PTC_PAYLOADS_NONE   ? "none"
           : payloads == PTC_PAYLOADS_FULL ? "full"
                                           : "summary";
}

/* ----------------------------------------------------------------------------- new and free */

static bool make_ring(PtcRecorder *r, size_t n)
{
    if (n == 0)
        return true;
    r->ring = ptc_mem_alloc(&r->mem, n * sizeof *r->ring);
    if (!r->ring)
        return false;
    memset(r->ring, 0, n * sizeof *r->ring);
    r->max = n;
    return true;
}

PtcRecorder *ptc_recorder_new(const PtcRecorderConfig *config, PtcWhy *why)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    PtcRecorder *r = ptc_mem_alloc(&mem, sizeof *r);
    ptc_why_no_memory(why);
    if (!r)
        return NULL;
    memset(r, 0, sizeof *r);
    ptc_mem_init(&r->mem, PTC_UNBOUNDED);
    r->payloads = config->payloads;
    r->secrets[0] = config->secrets;
    r->secrets[1] = config->more_secrets;
    r->traced = config->traced;
    r->traced_user = config->traced_user;
    pthread_mutex_init(&r->lock, NULL);
    bool ok = make_ring(r, config->ring);
    if (ok && config->trace_dir) {
        r->trace = ptc_trace_new(&r->mem, config->trace_dir, config->trace_files, why);
        ok = r->trace != NULL;
    }
    if (ok)
        return r;
    ptc_recorder_free(r);
    return NULL;
}

static void empty_slot(PtcRecorder *r, PtcCallRecord *slot)
{
    ptc_mem_free(&r->mem, slot->json, slot->json_len);
    ptc_call_outcomes_free(&slot->outcomes, &r->mem);
    *slot = (PtcCallRecord){0};
}

void ptc_recorder_free(PtcRecorder *r)
{
    PtcMem mem;
    if (!r)
        return;
    ptc_trace_free(r->trace);
    for (size_t i = 0; i < r->max; i++)
        empty_slot(r, &r->ring[i]);
    ptc_mem_free(&r->mem, r->ring, r->max * sizeof *r->ring);
    pthread_mutex_destroy(&r->lock);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *r);
    ptc_mem_free(&mem, r, sizeof *r);
}

/* -------------------------------------------------------------------------------- payloads */

/* Owners are told apart without being named. */
void ptc_recorder_owner(unsigned char out[PTC_RECORD_OWNER], const char *owner)
{
    unsigned char digest[PTC_SHA256_BYTES];
    ptc_sha256(owner, strlen(owner), digest);
    memcpy(out, digest, PTC_RECORD_OWNER);
}

void ptc_recorder_name(char name[PTC_RECORD_REQUEST], uint64_t number)
{
    snprintf(name, PTC_RECORD_REQUEST, "c%llu", (unsigned long long)number);
}

void ptc_recorder_put_id(PtcBuf *out, uint64_t number)
{
    char name[PTC_RECORD_REQUEST];
    ptc_recorder_name(name, number);
    ptc_emit_field_cstr(out, "request_id", name);
}

void ptc_recorder_put_time(PtcBuf *out, int64_t ms)
{
    char stamp[PTC_CALENDAR_TEXT];
    ptc_iso_stamp(stamp, ms);
    ptc_emit_field_cstr(out, "ts", stamp);
}

/* The text without secrets: itself when there are none to look for, else in one of `clean`.  Empty when memory ran out,
 * because a text that was not checked must not be recorded. */
static PtcText without_secrets(const PtcRecorder *r, PtcBuf clean[2], PtcText text)
{
    for (size_t i = 0; i < 2; i++) {
        if (!r->secrets[i] || !ptc_secrets_any(r->secrets[i]))
            continue;
        ptc_secrets_blot(r->secrets[i], &clean[i], text, false);
        if (!ptc_buf_ok(&clean[i]))
            return PTC_TEXT("");
        text = ptc_buf_view(&clean[i]);
    }
    return text;
}

static void add_text_digest(PtcBuf *out, PtcText text)
{
    unsigned char digest[PTC_SHA256_BYTES];
    ptc_sha256(text.bytes, text.len, digest);
    ptc_emit_key(out, "sha256");
    ptc_emit_hex(out, digest, sizeof digest);
}

static void add_recorded_text(PtcBuf *out, PtcText text, size_t max)
{
    text.len = text.len > max ? ptc_utf8_valid_prefix(text.bytes, max) : text.len;
    ptc_emit_field_text(out, "text", text);
}

void ptc_recorder_put_payload(PtcRecorder *r, PtcBuf *out, const char *name, PtcText text,
                              size_t max)
{
    PtcBuf clean[2];
    if (!text.bytes)
        return;
    ptc_emit_key(out, name);
    ptc_emit_object(out);
    ptc_emit_field_uint(out, "bytes", text.len);
    for (size_t i = 0; i < 2; i++)
        ptc_buf_init(&clean[i], &r->mem, (i + 1) * (2 * text.len + 16));
    if (r->payloads != PTC_PAYLOADS_NONE) {
        text = without_secrets(r, clean, text);
        add_text_digest(out, text);
    }
    if (r->payloads == PTC_PAYLOADS_FULL)
        add_recorded_text(out, text, max);
    ptc_buf_deinit(&clean[0]);
    ptc_buf_deinit(&clean[1]);
    ptc_emit_object_end(out);
}

static void add_owner(PtcBuf *out, const char *owner)
{
    unsigned char id[PTC_RECORD_OWNER];
    if (!owner[0])
        return;
    ptc_recorder_owner(id, owner);
    ptc_emit_key(out, "owner");
    ptc_emit_hex(out, id, OWNER_SHOWN);
}

/* What was asked: members of the object being written. */
static void add_asked(PtcRecorder *r, PtcBuf *out, const PtcCallNote *n, size_t max)
{
    ptc_emit_field_cstr(out, "tool", n->tool);
    add_owner(out, n->owner);
    ptc_recorder_put_payload(r, out, "program", n->program, max);
    ptc_recorder_put_payload(r, out, "context", n->context, max);
}

/* A preview that was cut ends in dots; they are removed so that a secret the cut went through is still recognised. */
static void add_recorded_preview(PtcRecorder *r, PtcBuf *out, const char *name, PtcText text)
{
    static const char dots[] = "...";
    size_t n = sizeof dots - 1;
    if (text.bytes && text.len >= n && memcmp(text.bytes + text.len - n, dots, n) == 0)
        text.len -= n;
    ptc_recorder_put_payload(r, out, name, text, PTC_RECORD_TEXT);
}

static void add_recorded_call(PtcRecorder *r, PtcBuf *out, PtcHeap *heap, PtcValue call)
{
    PtcValue took = ptc_map_field(heap, call, "duration_us"),
             attempts = ptc_map_field(heap, call, "attempts");
    ptc_emit_object(out);
    ptc_emit_field_text(out, "name", ptc_str_text(ptc_map_field(heap, call, "name")));
    ptc_emit_field_bool(out, "ok", ptc_map_field(heap, call, "ok") == PTC_TRUE);
    ptc_emit_field_bool(out, "cached", ptc_map_field(heap, call, "cached") == PTC_TRUE);
    ptc_emit_field_int(out, "duration_us",
                       took != PTC_NONE && ptc_is_int(took) ? ptc_to_int(took) : 0);
    if (attempts != PTC_NONE && ptc_is_int(attempts))
        ptc_emit_field_int(out, "attempts", ptc_to_int(attempts));
    add_recorded_preview(r, out, "arguments", ptc_str_text(ptc_map_field(heap, call, "arguments")));
    add_recorded_preview(r, out, "result", ptc_str_text(ptc_map_field(heap, call, "result")));
    ptc_emit_object_end(out);
}

/* The list comes from a worker: it is JSON, but its items may be anything. */
static void add_recorded_calls(PtcRecorder *r, PtcBuf *out, PtcText json)
{
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    PtcJsonError error;
    if (!json.bytes)
        return;
    ptc_pool_init(&pool, &r->mem);
    ptc_budget_init(&budget);
    ptc_heap_init(&heap, &pool, &budget, CALLS_MEMORY);
    PtcValue calls = ptc_json_parse(&heap, json.bytes, json.len, &error);
    if (calls != PTC_NONE && ptc_is_sequential(calls)) {
        ptc_emit_key(out, "calls");
        ptc_emit_array(out);
        for (size_t i = 0; i < ptc_seq_count(calls); i++)
            add_recorded_call(r, out, &heap, ptc_seq_nth(calls, i));
        ptc_emit_array_end(out);
    }
    ptc_heap_deinit(&heap);
    ptc_pool_deinit(&pool);
}

static void add_answered(PtcRecorder *r, PtcBuf *out, const PtcCallNote *n, size_t max)
{
    ptc_emit_field_bool(out, "ok", n->ok);
    if (!n->ok)
        ptc_emit_field_cstr(out, "reason", n->reason);
    ptc_emit_field_int(out, "duration_us", n->duration_us);
    ptc_emit_field_uint(out, "tool_calls", n->tool_calls);
    add_recorded_calls(r, out, n->calls);
    ptc_recorder_put_payload(r, out, "result", n->result, max);
    ptc_recorder_put_payload(r, out, "message", n->message, max);
}

/* --------------------------------------------------------------------------------- writing */

static void begin_event(PtcBuf *out, const char *name)
{
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "event", name);
}

static void end_event(PtcBuf *out)
{
    ptc_emit_object_end(out);
    ptc_buf_add_char(out, '\n');
}

/* Which span the call is, and whose child. */
static void add_span(PtcBuf *out, const PtcCallNote *n)
{
    enum { SPAN_AT = 36, SPAN_LEN = 16 };
    if (!n->span[0])
        return;
    ptc_emit_field_cstr(out, "traceparent", n->span);
    if (n->parent[0])
        ptc_emit_field_text(out, "parent_span", (PtcText){n->parent + SPAN_AT, SPAN_LEN});
}

static void add_trace(PtcRecorder *r, const PtcCallNote *n, PtcCallLog *l, uint64_t file,
                      uint64_t number, int64_t at_ms)
{
    PtcBuf out;
    int64_t begun = at_ms - n->duration_us / 1000;
    ptc_buf_init(&out, &r->mem, (size_t)64 * PTC_MB);
    begin_event(&out, "trace.start");
    ptc_emit_field_cstr(&out, "trace_kind", "mcp_call");
    ptc_recorder_put_id(&out, number);
    ptc_emit_field_cstr(&out, "version", PTC_VERSION);
    ptc_emit_field_cstr(&out, "payloads", ptc_payloads_name(r->payloads));
    ptc_recorder_put_time(&out, begun);
    add_span(&out, n);
    end_event(&out);
    begin_event(&out, "call.start");
    ptc_recorder_put_time(&out, begun);
    add_asked(r, &out, n, PTC_RECORD_FILE_TEXT);
    end_event(&out);
    ptc_recorder_put_events(r, &out, l);
    begin_event(&out, "call.stop");
    ptc_recorder_put_time(&out, at_ms);
    add_answered(r, &out, n, PTC_RECORD_FILE_TEXT);
    end_event(&out);
    if (ptc_buf_ok(&out) && r->trace)
        ptc_trace_write(r->trace, begun, file, &out);
    if (ptc_buf_ok(&out) && r->traced && n->span[0])
        r->traced(r->traced_user, ptc_buf_view(&out));
    ptc_buf_deinit(&out);
}

static void render_record(PtcRecorder *r, const PtcCallNote *n, PtcCallLog *l, uint64_t number,
                          int64_t at_ms, PtcBuf *out)
{
    ptc_emit_object(out);
    ptc_recorder_put_id(out, number);
    ptc_recorder_put_time(out, at_ms);
    add_asked(r, out, n, PTC_RECORD_TEXT);
    add_answered(r, out, n, PTC_RECORD_TEXT);
    ptc_recorder_put_calls(r, out, n, l);
    ptc_emit_object_end(out);
}

/* The next slot of the ring, emptied.  With the lock held. */
static PtcCallRecord *next_slot(PtcRecorder *r)
{
    PtcCallRecord *slot = &r->ring[(r->oldest + r->count) % r->max];
    if (r->count == r->max)
        r->oldest = (r->oldest + 1) % r->max;
    else
        r->count++;
    empty_slot(r, slot);
    return slot;
}

/* Rendered before the lock is taken; the bytes then move into the slot without a copy. */
static void add_call_record(PtcRecorder *r, const PtcCallNote *n, PtcCallLog *l, uint64_t number,
                            int64_t at_ms)
{
    PtcBuf out;
    unsigned char id[PTC_RECORD_OWNER];
    PtcCallSums sums;
    PtcCallOutcomes outcomes = {0};
    ptc_recorder_owner(id, n->owner);
    ptc_buf_init(&out, &r->mem, RECORD_MEMORY);
    ptc_call_log_sum(l, &sums);
    ptc_call_outcomes_add_log(&outcomes, &r->mem, l);
    render_record(r, n, l, number, at_ms, &out);
    bool exact = ptc_buf_ok(&out) && ptc_buf_resize(&out, out.len);
    pthread_mutex_lock(&r->lock);
    PtcCallRecord *slot = next_slot(r);
    slot->number = number;
    slot->at_ms = at_ms;
    slot->duration_us = n->duration_us;
    slot->tool = n->tool;
    slot->ok = n->ok;
    slot->program_bytes = n->program.len;
    slot->result_bytes = n->result.len;
    slot->sums = sums;
    slot->outcomes = outcomes;
    slot->answered_bytes = n->answered_bytes;
    memcpy(slot->owner, id, sizeof id);
    snprintf(slot->reason, sizeof slot->reason, "%s", n->ok ? "" : n->reason);
    if (exact) {
        slot->json = out.data;
        slot->json_len = out.len;
        out = (PtcBuf){.mem = &r->mem};
    }
    pthread_mutex_unlock(&r->lock);
    ptc_buf_deinit(&out);
}

/* The number of the owner's next call: how much others call is not the owner's business.  With the lock held. */
static uint64_t count_owner_call(PtcRecorder *r, const char *owner)
{
    unsigned char id[PTC_RECORD_OWNER];
    size_t i = 0;
    ptc_recorder_owner(id, owner);
    while (i < PTC_RECORD_COUNTS - 1 && r->counts[i].calls &&
           memcmp(r->counts[i].owner, id, sizeof id) != 0)
        i++;
    memcpy(r->counts[i].owner, id, sizeof id);
    return ++r->counts[i].calls;
}

/* The number is taken first, so that trace and record of a call agree on it. */
void ptc_recorder_note(PtcRecorder *r, const PtcCallNote *note)
{
    PtcCallLog call_log;
    int64_t at_ms = ptc_clock_wall_ms();
    pthread_mutex_lock(&r->lock);
    uint64_t file = ++r->calls, number = count_owner_call(r, note->owner);
    pthread_mutex_unlock(&r->lock);
    ptc_call_log_open(&call_log, &r->mem, note->call_log);
    if (r->trace || (r->traced && note->span[0]))
        add_trace(r, note, &call_log, file, number, at_ms);
    if (r->max)
        add_call_record(r, note, &call_log, number, at_ms);
    ptc_call_log_close(&call_log);
}
