/* SPDX-License-Identifier: MIT */
#include "trace/recorder.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/hmac.h"
#include "base/utf8.h"
#include "json/write.h"
#include "trace/trace_file.h"

enum { OWNER = 16, REASON = 24, TOOLS = 16, REASONS = 24 };

typedef struct {
    uint64_t number; /* from 1 */
    int64_t at_ms, duration_us;
    const char *tool;
    unsigned char owner[OWNER]; /* of its hash */
    char reason[REASON];
    bool ok;
    size_t program_bytes, result_bytes;
    char *json; /* the record as `get` gives it */
    size_t json_len;
} Record;

struct PtcRecorder {
    PtcMem mem;
    PtcPayloads payloads;
    const PtcSecrets *secrets; /* or NULL */
    PtcTrace *trace;
    pthread_mutex_t lock; /* for all below */
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
    snprintf(why, size, "memory is short");
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

/* Owners are told apart, not named. */
static void owner_id(unsigned char out[OWNER], const char *owner)
{
    unsigned char digest[PTC_SHA256_BYTES];
    ptc_sha256(owner, strlen(owner), digest);
    memcpy(out, digest, OWNER);
}

static void add_time(PtcBuf *out, int64_t ms)
{
    char date[32];
    struct tm tm;
    time_t seconds = (time_t)(ms / 1000);
    gmtime_r(&seconds, &tm);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
    ptc_buf_addf(out, "\"%s.%03dZ\"", date, (int)(ms % 1000));
}

/* The text without secrets: itself, or in `clean`. */
static PtcText without_secrets(const PtcRecorder *r, PtcBuf *clean, PtcText text)
{
    if (!r->secrets || r->secrets->count == 0)
        return text;
    ptc_secrets_blot(r->secrets, clean, text.bytes, text.len);
    return (PtcText){clean->data, ptc_buf_ok(clean) ? clean->len : 0};
}

static void add_digest(PtcBuf *out, PtcText text)
{
    unsigned char digest[PTC_SHA256_BYTES];
    ptc_sha256(text.bytes, text.len, digest);
    ptc_buf_add_cstr(out, ",\"sha256\":\"");
    for (size_t i = 0; i < sizeof digest; i++)
        ptc_buf_addf(out, "%02x", digest[i]);
    ptc_buf_add_char(out, '"');
}

static void add_text(PtcBuf *out, PtcText text, size_t max)
{
    size_t len = text.len > max ? ptc_utf8_valid_prefix(text.bytes, max) : text.len;
    ptc_buf_add_cstr(out, ",\"text\":");
    ptc_json_write_string(out, text.bytes, len);
}

static void add_payload(PtcRecorder *r, PtcBuf *out, const char *name, PtcText text, size_t max)
{
    PtcBuf clean;
    if (!text.bytes)
        return;
    ptc_buf_addf(out, ",\"%s\":{\"bytes\":%zu", name, text.len);
    ptc_buf_init(&clean, &r->mem, 2 * text.len + 16);
    if (r->payloads != PTC_PAYLOADS_NONE) {
        text = without_secrets(r, &clean, text);
        add_digest(out, text);
    }
    if (r->payloads == PTC_PAYLOADS_FULL)
        add_text(out, text, max);
    ptc_buf_deinit(&clean);
    ptc_buf_add_char(out, '}');
}

static void add_owner(PtcBuf *out, const char *owner)
{
    unsigned char id[OWNER];
    if (!owner[0])
        return;
    owner_id(id, owner);
    ptc_buf_addf(out, ",\"owner\":\"%02x%02x%02x%02x%02x%02x\"", id[0], id[1], id[2], id[3], id[4],
                 id[5]);
}

/* What was asked, and what came of it: members with a comma before each. */
static void add_asked(PtcRecorder *r, PtcBuf *out, const PtcCallNote *n, size_t max)
{
    ptc_buf_addf(out, ",\"tool\":\"%s\"", n->tool);
    add_owner(out, n->owner);
    add_payload(r, out, "program", n->program, max);
    add_payload(r, out, "context", n->context, max);
}

static void add_answered(PtcRecorder *r, PtcBuf *out, const PtcCallNote *n, size_t max)
{
    ptc_buf_addf(out, ",\"ok\":%s", n->ok ? "true" : "false");
    if (!n->ok)
        ptc_buf_addf(out, ",\"reason\":\"%s\"", n->reason);
    ptc_buf_addf(out, ",\"duration_us\":%lld,\"tool_calls\":%llu", (long long)n->duration_us,
                 (unsigned long long)n->tool_calls);
    add_payload(r, out, "result", n->result, max);
    add_payload(r, out, "message", n->message, max);
}

/* --------------------------------------------------------------------------------- writing */

static void add_trace(PtcRecorder *r, const PtcCallNote *n, uint64_t number, int64_t at_ms)
{
    PtcBuf out;
    int64_t begun = at_ms - n->duration_us / 1000;
    ptc_buf_init(&out, &r->mem, (size_t)64 << 20);
    ptc_buf_addf(&out,
                 "{\"event\":\"trace.start\",\"trace_kind\":\"mcp_call\",\"request_id\":\"c%llu\","
                 "\"version\":\"%s\",\"payloads\":\"%s\",\"ts\":",
                 (unsigned long long)number, PTC_VERSION, ptc_payloads_name(r->payloads));
    add_time(&out, begun);
    ptc_buf_add_cstr(&out, "}\n{\"event\":\"call.start\",\"ts\":");
    add_time(&out, begun);
    add_asked(r, &out, n, PTC_RECORD_FILE_TEXT);
    ptc_buf_add_cstr(&out, "}\n{\"event\":\"call.stop\",\"ts\":");
    add_time(&out, at_ms);
    add_answered(r, &out, n, PTC_RECORD_FILE_TEXT);
    ptc_buf_add_cstr(&out, "}\n");
    if (ptc_buf_ok(&out))
        ptc_trace_write(r->trace, begun, number, &out);
    ptc_buf_deinit(&out);
}

static void render_record(PtcRecorder *r, const PtcCallNote *n, uint64_t number, int64_t at_ms,
                          PtcBuf *out)
{
    ptc_buf_addf(out, "{\"request_id\":\"c%llu\",\"ts\":", (unsigned long long)number);
    add_time(out, at_ms);
    add_asked(r, out, n, PTC_RECORD_TEXT);
    add_answered(r, out, n, PTC_RECORD_TEXT);
    ptc_buf_add_char(out, '}');
}

/* The next slot of the ring, emptied.  The lock is held. */
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

/* Record i of the ring, 0 the newest; NULL when it is of somebody else. */
static const Record *record_at(const PtcRecorder *r, size_t i, const unsigned char *owner)
{
    const Record *record = &r->ring[(r->oldest + r->count - 1 - i) % r->max];
    return memcmp(record->owner, owner, OWNER) == 0 ? record : NULL;
}

typedef struct {
    const char *name;
    size_t calls, errors;
} Tally;

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
    ptc_buf_addf(out,
                 "\"%s\":{\"calls\":%zu,\"ok\":%zu,\"error\":%zu,\"duration_us\":{\"p50\":%lld,"
                 "\"p95\":%lld,\"max\":%lld}}",
                 t->name, t->calls, t->calls - t->errors, t->errors, (long long)times[n / 2],
                 (long long)times[(n * 95) / 100], (long long)times[n - 1]);
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
    ptc_buf_addf(out, "\"ring_size\":%zu,\"calls\":%zu,\"trace_dir_enabled\":%s,\"by_tool\":{",
                 r->max, mine, r->trace ? "true" : "false");
    for (size_t i = 0; i < TOOLS && tools[i].name; i++) {
        ptc_buf_add_cstr(out, i ? "," : "");
        add_tool(r, out, owner, &tools[i], times);
    }
    ptc_buf_add_cstr(out, "},\"errors\":{");
    for (size_t i = 0; i < REASONS && reasons[i].name; i++)
        ptc_buf_addf(out, "%s\"%s\":%zu", i ? "," : "", reasons[i].name, reasons[i].calls);
    ptc_buf_add_cstr(out, "}}");
}

void ptc_recorder_stats(PtcRecorder *r, const char *owner, PtcBuf *out)
{
    unsigned char id[OWNER];
    owner_id(id, owner);
    ptc_buf_addf(out, "{\"op\":\"stats\",\"payload_policy\":\"%s\",",
                 ptc_payloads_name(r->payloads));
    pthread_mutex_lock(&r->lock);
    size_t bytes = (r->max + 1) * sizeof(int64_t);
    int64_t *times = ptc_mem_alloc(&r->mem, bytes);
    if (times)
        add_stats(r, id, out, times);
    else
        ptc_buf_add_cstr(out, "\"calls\":0}");
    ptc_mem_free(&r->mem, times, bytes);
    pthread_mutex_unlock(&r->lock);
}

static void add_line(PtcBuf *out, const Record *record)
{
    ptc_buf_addf(out, "{\"request_id\":\"c%llu\",\"ts\":", (unsigned long long)record->number);
    add_time(out, record->at_ms);
    ptc_buf_addf(out, ",\"tool\":\"%s\",\"ok\":%s", record->tool, record->ok ? "true" : "false");
    if (!record->ok)
        ptc_buf_addf(out, ",\"reason\":\"%s\"", record->reason);
    ptc_buf_addf(out, ",\"duration_us\":%lld,\"program_bytes\":%zu,\"result_bytes\":%zu}",
                 (long long)record->duration_us, record->program_bytes, record->result_bytes);
}

void ptc_recorder_recent(PtcRecorder *r, const char *owner, const PtcRecent *wanted, PtcBuf *out)
{
    unsigned char id[OWNER];
    owner_id(id, owner);
    size_t n = 0;
    ptc_buf_addf(out, "{\"op\":\"recent\",\"payload_policy\":\"%s\",\"records\":[",
                 ptc_payloads_name(r->payloads));
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->count && n < wanted->limit; i++) {
        const Record *record = record_at(r, i, id);
        if (!record || (wanted->errors_only && record->ok) || record->at_ms < wanted->since_ms)
            continue;
        ptc_buf_add_cstr(out, n++ ? "," : "");
        add_line(out, record);
    }
    pthread_mutex_unlock(&r->lock);
    ptc_buf_addf(out, "],\"count\":%zu}", n);
}

bool ptc_recorder_get(PtcRecorder *r, const char *owner, PtcText wanted, PtcBuf *out)
{
    unsigned char id[OWNER];
    owner_id(id, owner);
    char name[32];
    bool found = false;
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->count && !found; i++) {
        const Record *record = record_at(r, i, id);
        if (!record || !record->json)
            continue;
        int len = snprintf(name, sizeof name, "c%llu", (unsigned long long)record->number);
        if (wanted.len != (size_t)len || memcmp(wanted.bytes, name, wanted.len) != 0)
            continue;
        found = true;
        ptc_buf_addf(out, "{\"op\":\"get\",\"payload_policy\":\"%s\",\"record\":",
                     ptc_payloads_name(r->payloads));
        ptc_buf_add(out, record->json, record->json_len);
        ptc_buf_add_char(out, '}');
    }
    pthread_mutex_unlock(&r->lock);
    return found;
}
