/* SPDX-License-Identifier: MIT
 * Records of calls, in a ring and in files.  What always holds: the ring's lock guards nothing but the ring, so
 * texts are rendered and files written outside it; an owner is known by a hash, never by name. */
#include "trace/recorder.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/hmac.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "json/parse.h"
#include "ptc/ptc.h"
#include "trace/trace_file.h"
#include "value/calendar.h"
#include "value/map.h"
#include "value/str.h"
#include "value/vec.h"

enum { CALLS_MEMORY = 64 << 20 }; /* for parsing the list of tool calls */
enum { OWNER = 16, OWNER_SHOWN = 6, REASON = 24, REQUEST = 32, TOOLS = 16, REASONS = 24 };

typedef struct {
    uint64_t number; /* from 1 */
    int64_t at_ms, duration_us;
    const char *tool;
    unsigned char owner[OWNER]; /* the first bytes of its hash */
    char reason[REASON];
    bool ok;
    size_t program_bytes, result_bytes;
    char *json; /* the record as ptc_recorder_get() returns it */
    size_t json_len;
} Record;

struct PtcRecorder {
    PtcMem mem;
    PtcPayloads payloads;
    PtcSecrets *secrets; /* or NULL */
    PtcTrace *trace;
    pthread_mutex_t lock; /* guards everything below */
    Record *ring;
    size_t max, count, oldest;
    uint64_t calls;
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

PtcRecorder *ptc_recorder_new(const PtcRecorderConfig *config, char *why, size_t size)
{
    PtcMem mem;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    PtcRecorder *r = ptc_mem_alloc(&mem, sizeof *r);
    snprintf(why, size, "out of memory");
    if (!r)
        return NULL;
    memset(r, 0, sizeof *r);
    ptc_mem_init(&r->mem, SIZE_MAX / 2);
    r->payloads = config->payloads;
    r->secrets = config->secrets;
    pthread_mutex_init(&r->lock, NULL);
    bool ok = make_ring(r, config->ring);
    if (ok && config->trace_dir) {
        r->trace = ptc_trace_new(&r->mem, config->trace_dir, config->trace_files, why, size);
        ok = r->trace != NULL;
    }
    if (ok)
        return r;
    ptc_recorder_free(r);
    return NULL;
}

void ptc_recorder_free(PtcRecorder *r)
{
    PtcMem mem;
    if (!r)
        return;
    ptc_trace_free(r->trace);
    for (size_t i = 0; i < r->max; i++)
        ptc_mem_free(&r->mem, r->ring[i].json, r->ring[i].json_len);
    ptc_mem_free(&r->mem, r->ring, r->max * sizeof *r->ring);
    pthread_mutex_destroy(&r->lock);
    ptc_mem_init(&mem, SIZE_MAX / 2);
    atomic_store(&mem.used, sizeof *r);
    ptc_mem_free(&mem, r, sizeof *r);
}

/* -------------------------------------------------------------------------------- payloads */

/* Owners are told apart without being named. */
static void owner_id(unsigned char out[OWNER], const char *owner)
{
    unsigned char digest[PTC_SHA256_BYTES];
    ptc_sha256(owner, strlen(owner), digest);
    memcpy(out, digest, OWNER);
}

static void name_request(char name[REQUEST], uint64_t number)
{
    snprintf(name, REQUEST, "c%llu", (unsigned long long)number);
}

static void add_request_id(PtcBuf *out, uint64_t number)
{
    char name[REQUEST];
    name_request(name, number);
    ptc_emit_field_cstr(out, "request_id", name);
}

static void add_time(PtcBuf *out, int64_t ms)
{
    char stamp[PTC_CALENDAR_TEXT];
    ptc_iso_stamp(stamp, ms);
    ptc_emit_field_cstr(out, "ts", stamp);
}

/* The text without secrets: itself when there are none to look for, else in `clean`.  Empty when memory ran out,
 * because a text that was not checked must not be recorded. */
static PtcText without_secrets(const PtcRecorder *r, PtcBuf *clean, PtcText text)
{
    if (!r->secrets)
        return text;
    ptc_secrets_blot(r->secrets, clean, text, false);
    return ptc_buf_ok(clean) ? ptc_buf_view(clean) : PTC_TEXT("");
}

static void add_digest(PtcBuf *out, PtcText text)
{
    unsigned char digest[PTC_SHA256_BYTES];
    ptc_sha256(text.bytes, text.len, digest);
    ptc_emit_key(out, "sha256");
    ptc_emit_hex(out, digest, sizeof digest);
}

static void add_text(PtcBuf *out, PtcText text, size_t max)
{
    text.len = text.len > max ? ptc_utf8_valid_prefix(text.bytes, max) : text.len;
    ptc_emit_field_text(out, "text", text);
}

static void add_payload(PtcRecorder *r, PtcBuf *out, const char *name, PtcText text, size_t max)
{
    PtcBuf clean;
    if (!text.bytes)
        return;
    ptc_emit_key(out, name);
    ptc_emit_object(out);
    ptc_emit_field_uint(out, "bytes", text.len);
    ptc_buf_init(&clean, &r->mem, 2 * text.len + 16);
    if (r->payloads != PTC_PAYLOADS_NONE) {
        text = without_secrets(r, &clean, text);
        add_digest(out, text);
    }
    if (r->payloads == PTC_PAYLOADS_FULL)
        add_text(out, text, max);
    ptc_buf_deinit(&clean);
    ptc_emit_object_end(out);
}

static void add_owner(PtcBuf *out, const char *owner)
{
    unsigned char id[OWNER];
    if (!owner[0])
        return;
    owner_id(id, owner);
    ptc_emit_key(out, "owner");
    ptc_emit_hex(out, id, OWNER_SHOWN);
}

/* What was asked: members of the object being written. */
static void add_asked(PtcRecorder *r, PtcBuf *out, const PtcCallNote *n, size_t max)
{
    ptc_emit_field_cstr(out, "tool", n->tool);
    add_owner(out, n->owner);
    add_payload(r, out, "program", n->program, max);
    add_payload(r, out, "context", n->context, max);
}

/* A preview that was cut ends in dots; they are removed so that a secret the cut went through is still recognised. */
static void add_preview(PtcRecorder *r, PtcBuf *out, const char *name, PtcText text)
{
    static const char dots[] = "...";
    size_t n = sizeof dots - 1;
    if (text.bytes && text.len >= n && memcmp(text.bytes + text.len - n, dots, n) == 0)
        text.len -= n;
    add_payload(r, out, name, text, PTC_RECORD_TEXT);
}

static void add_call(PtcRecorder *r, PtcBuf *out, PtcHeap *heap, PtcValue call)
{
    PtcValue took = ptc_map_field(heap, call, "duration_us");
    ptc_emit_object(out);
    ptc_emit_field_text(out, "name", ptc_str_text(ptc_map_field(heap, call, "name")));
    ptc_emit_field_bool(out, "ok", ptc_map_field(heap, call, "ok") == PTC_TRUE);
    ptc_emit_field_bool(out, "cached", ptc_map_field(heap, call, "cached") == PTC_TRUE);
    ptc_emit_field_int(out, "duration_us",
                       took != PTC_NONE && ptc_is_int(took) ? ptc_to_int(took) : 0);
    add_preview(r, out, "arguments", ptc_str_text(ptc_map_field(heap, call, "arguments")));
    add_preview(r, out, "result", ptc_str_text(ptc_map_field(heap, call, "result")));
    ptc_emit_object_end(out);
}

/* The list comes from a worker: it is JSON, but its items may be anything. */
static void add_calls(PtcRecorder *r, PtcBuf *out, PtcText json)
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
            add_call(r, out, &heap, ptc_seq_nth(calls, i));
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
    add_calls(r, out, n->calls);
    add_payload(r, out, "result", n->result, max);
    add_payload(r, out, "message", n->message, max);
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

static void add_trace(PtcRecorder *r, const PtcCallNote *n, uint64_t number, int64_t at_ms)
{
    PtcBuf out;
    int64_t begun = at_ms - n->duration_us / 1000;
    ptc_buf_init(&out, &r->mem, (size_t)64 << 20);
    begin_event(&out, "trace.start");
    ptc_emit_field_cstr(&out, "trace_kind", "mcp_call");
    add_request_id(&out, number);
    ptc_emit_field_cstr(&out, "version", PTC_VERSION);
    ptc_emit_field_cstr(&out, "payloads", ptc_payloads_name(r->payloads));
    add_time(&out, begun);
    end_event(&out);
    begin_event(&out, "call.start");
    add_time(&out, begun);
    add_asked(r, &out, n, PTC_RECORD_FILE_TEXT);
    end_event(&out);
    begin_event(&out, "call.stop");
    add_time(&out, at_ms);
    add_answered(r, &out, n, PTC_RECORD_FILE_TEXT);
    end_event(&out);
    if (ptc_buf_ok(&out))
        ptc_trace_write(r->trace, begun, number, &out);
    ptc_buf_deinit(&out);
}

static void render_record(PtcRecorder *r, const PtcCallNote *n, uint64_t number, int64_t at_ms,
                          PtcBuf *out)
{
    ptc_emit_object(out);
    add_request_id(out, number);
    add_time(out, at_ms);
    add_asked(r, out, n, PTC_RECORD_TEXT);
    add_answered(r, out, n, PTC_RECORD_TEXT);
    ptc_emit_object_end(out);
}

/* The next slot of the ring, emptied.  With the lock held. */
static Record *next_slot(PtcRecorder *r)
{
    Record *slot = &r->ring[(r->oldest + r->count) % r->max];
    if (r->count == r->max)
        r->oldest = (r->oldest + 1) % r->max;
    else
        r->count++;
    ptc_mem_free(&r->mem, slot->json, slot->json_len);
    *slot = (Record){0};
    return slot;
}

/* Rendered before the lock is taken; the bytes then move into the slot without a copy. */
static void add_record(PtcRecorder *r, const PtcCallNote *n, uint64_t number, int64_t at_ms)
{
    PtcBuf out;
    unsigned char id[OWNER];
    owner_id(id, n->owner);
    ptc_buf_init(&out, &r->mem, 256 * 1024);
    render_record(r, n, number, at_ms, &out);
    bool exact = ptc_buf_ok(&out) && ptc_buf_resize(&out, out.len);
    pthread_mutex_lock(&r->lock);
    Record *slot = next_slot(r);
    slot->number = number;
    slot->at_ms = at_ms;
    slot->duration_us = n->duration_us;
    slot->tool = n->tool;
    slot->ok = n->ok;
    slot->program_bytes = n->program.len;
    slot->result_bytes = n->result.len;
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

/* The number is taken first, so that trace and record of a call agree on it. */
void ptc_recorder_note(PtcRecorder *r, const PtcCallNote *note)
{
    int64_t at_ms = ptc_clock_wall_ms();
    pthread_mutex_lock(&r->lock);
    uint64_t number = ++r->calls;
    pthread_mutex_unlock(&r->lock);
    if (r->trace)
        add_trace(r, note, number, at_ms);
    if (r->max)
        add_record(r, note, number, at_ms);
}

/* --------------------------------------------------------------------------------- reading */

static void begin_answer(const PtcRecorder *r, PtcBuf *out, const char *op)
{
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "op", op);
    ptc_emit_field_cstr(out, "payload_policy", ptc_payloads_name(r->payloads));
}

/* Record i of the ring, 0 being the newest; NULL when it belongs to somebody else. */
static const Record *record_at(const PtcRecorder *r, size_t i, const unsigned char *owner)
{
    const Record *record = &r->ring[(r->oldest + r->count - 1 - i) % r->max];
    return memcmp(record->owner, owner, OWNER) == 0 ? record : NULL;
}

typedef struct {
    const char *name;
    size_t calls, errors;
} Tally;

/* The last entry takes everything beyond the table, so counting never fails. */
static Tally *tally(Tally *all, size_t max, const char *name)
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

static void add_tool(PtcRecorder *r, PtcBuf *out, const unsigned char *owner, const Tally *t,
                     int64_t *times)
{
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++) {
        const Record *record = record_at(r, i, owner);
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
    Tally tools[TOOLS] = {{0}}, reasons[REASONS] = {{0}};
    size_t mine = 0;
    for (size_t i = 0; i < r->count; i++) {
        const Record *record = record_at(r, i, owner);
        if (!record)
            continue;
        mine++;
        Tally *t = tally(tools, TOOLS, record->tool);
        t->calls++;
        t->errors += !record->ok;
        if (!record->ok)
            tally(reasons, REASONS, record->reason)->calls++;
    }
    ptc_emit_field_uint(out, "ring_size", r->max);
    ptc_emit_field_uint(out, "calls", mine);
    ptc_emit_field_bool(out, "trace_dir_enabled", r->trace != NULL);
    ptc_emit_key(out, "by_tool");
    ptc_emit_object(out);
    for (size_t i = 0; i < TOOLS && tools[i].name; i++)
        add_tool(r, out, owner, &tools[i], times);
    ptc_emit_object_end(out);
    ptc_emit_key(out, "errors");
    ptc_emit_object(out);
    for (size_t i = 0; i < REASONS && reasons[i].name; i++)
        ptc_emit_field_uint(out, reasons[i].name, reasons[i].calls);
    ptc_emit_object_end(out);
}

/* The times are sorted in a copy, because the ring must keep its order. */
void ptc_recorder_stats(PtcRecorder *r, const char *owner, PtcBuf *out)
{
    unsigned char id[OWNER];
    owner_id(id, owner);
    begin_answer(r, out, "stats");
    pthread_mutex_lock(&r->lock);
    size_t bytes = (r->max + 1) * sizeof(int64_t);
    int64_t *times = ptc_mem_alloc(&r->mem, bytes);
    if (times)
        add_stats(r, id, out, times);
    else
        ptc_emit_field_uint(out, "calls", 0);
    ptc_mem_free(&r->mem, times, bytes);
    pthread_mutex_unlock(&r->lock);
    ptc_emit_object_end(out);
}

static void add_line(PtcBuf *out, const Record *record)
{
    ptc_emit_object(out);
    add_request_id(out, record->number);
    add_time(out, record->at_ms);
    ptc_emit_field_cstr(out, "tool", record->tool);
    ptc_emit_field_bool(out, "ok", record->ok);
    if (!record->ok)
        ptc_emit_field_cstr(out, "reason", record->reason);
    ptc_emit_field_int(out, "duration_us", record->duration_us);
    ptc_emit_field_uint(out, "program_bytes", record->program_bytes);
    ptc_emit_field_uint(out, "result_bytes", record->result_bytes);
    ptc_emit_object_end(out);
}

void ptc_recorder_recent(PtcRecorder *r, const char *owner, const PtcRecent *wanted, PtcBuf *out)
{
    unsigned char id[OWNER];
    owner_id(id, owner);
    size_t n = 0;
    begin_answer(r, out, "recent");
    ptc_emit_key(out, "records");
    ptc_emit_array(out);
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->count && n < wanted->limit; i++) {
        const Record *record = record_at(r, i, id);
        if (!record || (wanted->errors_only && record->ok) || record->at_ms < wanted->since_ms)
            continue;
        n++;
        add_line(out, record);
    }
    pthread_mutex_unlock(&r->lock);
    ptc_emit_array_end(out);
    ptc_emit_field_uint(out, "count", n);
    ptc_emit_object_end(out);
}

bool ptc_recorder_get(PtcRecorder *r, const char *owner, PtcText wanted, PtcBuf *out)
{
    unsigned char id[OWNER];
    owner_id(id, owner);
    char name[REQUEST];
    bool found = false;
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->count && !found; i++) {
        const Record *record = record_at(r, i, id);
        if (!record || !record->json)
            continue;
        name_request(name, record->number);
        if (!ptc_text_is(wanted, name))
            continue;
        found = true;
        begin_answer(r, out, "get");
        ptc_emit_field_raw(out, "record", (PtcText){record->json, record->json_len});
        ptc_emit_object_end(out);
    }
    pthread_mutex_unlock(&r->lock);
    return found;
}
