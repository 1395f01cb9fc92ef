/* SPDX-License-Identifier: MIT
 * The log of the calls of a run: a line for each call that was counted, in the order in which they were made, and for
 * the first calls that were refused.  What always holds: it is made in the process that sends the calls, from what was
 * sent and received, never from what a worker says; the counters of the upstream agree with the lines. */
#include <stdio.h>

#include "base/grow.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "upstream/run/serve_int.h"
#include "upstream/run/tool_result.h"
#include "value/calendar.h"

/* REFUSED: a program may go on after a refusal as often as it likes, so only the first get a line. */
enum { US = 1000, CALLS_REFUSED = 16, PAYLOAD = 1024 };

/* ----------------------------------------------------------------------------------- payloads */

/* The beginning of a text; NULL when out of memory: then it is missing from the log, and nothing else. */
static PtcUpText copy_payload_text(PtcUpRun *run, PtcText text)
{
    size_t n = text.len < PAYLOAD ? text.len : ptc_utf8_valid_prefix(text.bytes, PAYLOAD);
    PtcUpText copy = {n ? ptc_mem_alloc(run->mem, n) : NULL, n};
    if (copy.data)
        memcpy(copy.data, text.bytes, n);
    return copy;
}

static void free_text(PtcUpRun *run, PtcUpText text)
{
    if (text.data)
        ptc_mem_free(run->mem, text.data, text.len);
}

/* What is sent may have a credential in it that the program was given by somebody else. */
static PtcUpText copy_asked(PtcUpCall *call)
{
    PtcUpRun *run = call->run;
    PtcBuf safe;
    PtcUpText copy = {NULL, 0};
    if (!run->manager->config.payloads)
        return copy;
    ptc_buf_init(&safe, run->mem, PTC_UNBOUNDED);
    ptc_secrets_blot(&run->manager->told, &safe, ptc_buf_view(&call->params), false);
    if (ptc_buf_ok(&safe))
        copy = copy_payload_text(run, ptc_buf_view(&safe));
    ptc_buf_deinit(&safe);
    return copy;
}

void ptc_run_record_result(PtcUpCall *call, PtcText json)
{
    PtcUpRun *run = call->run;
    if (!call->record || !run->manager->config.payloads)
        return;
    PtcUpText copy = copy_payload_text(run, json);
    pthread_mutex_lock(&run->lock);
    run->records[call->record - 1].result = copy;
    pthread_mutex_unlock(&run->lock);
}

void ptc_run_free_records(PtcUpRun *run)
{
    for (size_t i = 0; i < run->record_count; i++) {
        free_text(run, run->records[i].arguments);
        free_text(run, run->records[i].result);
    }
    ptc_mem_free(run->mem, run->records, run->record_cap * sizeof *run->records);
}

/* -------------------------------------------------------------------------------------- lines */

bool ptc_run_record(PtcUpCall *call)
{
    PtcUpRun *run = call->run;
    const PtcUpstream *up = ptc_run_upstream(run, call->slot);
    PtcUpText asked = copy_asked(call);
    pthread_mutex_lock(&run->lock);
    bool ok = PTC_GROW(run->mem, &run->records, &run->record_cap, run->record_count + 1);
    if (ok) {
        run->records[run->record_count++] =
            (PtcUpRecord){.server = up->entry.name,
                          .tool = call->seen ? call->seen->server.tools[call->tool].name
                                             : ptc_text_cstr(call->method),
                          .effect = call->effect,
                          .policy = call->policy,
                          .approved = call->approved,
                          .at_ms = ptc_clock_wall_ms(),
                          .arguments = asked,
                          .request_bytes = call->web.url.len + call->params.len};
        memcpy(run->records[run->record_count - 1].span, call->span, sizeof call->span);
        call->record = run->record_count;
    }
    pthread_mutex_unlock(&run->lock);
    if (!ok)
        free_text(run, asked);
    return ok;
}

void ptc_run_record_refused(PtcUpCall *call)
{
    PtcUpRun *run = call->run;
    bool told = call->reason == PTC_CALL_DENIED || call->reason == PTC_CALL_CAP_EXHAUSTED;
    if (call->record || !told || !call->method)
        return;
    pthread_mutex_lock(&run->lock);
    bool room = run->refused++ < CALLS_REFUSED;
    pthread_mutex_unlock(&run->lock);
    if (room)
        (void)!ptc_run_record(call); /* when out of memory it is only missing from the log */
}

/* ------------------------------------------------------------------------------------ the end */

/* With run->lock held. */
static void fill_call_record(PtcUpRecord *r, const PtcUpCall *call)
{
    int64_t ended = call->ended_ns ? call->ended_ns : ptc_clock_ns(NULL);
    r->attempts = call->sends;
    r->effect = call->effect;
    r->result_bytes = call->reply.bytes;
    r->duration_ns = ended - call->begun_ns;
    r->wait_ns = call->sent_ns ? call->sent_ns - call->begun_ns : r->duration_ns;
    if (!call->sends)
        r->request_bytes = 0; /* nothing was sent */
}

static void count_ended_call(PtcUpCall *call, const PtcUpRecord *r, PtcCallReason reason)
{
    PtcCallEnd end = {.reason = reason,
                      .duration_ns = r->duration_ns,
                      .sent_bytes = r->request_bytes,
                      .got_bytes = r->result_bytes,
                      .attempts = r->attempts,
                      .approved = r->approved};
    ptc_call_counts_add(&ptc_run_upstream(call->run, call->slot)->counts, &end);
}

void ptc_run_record_end(PtcUpCall *call, PtcCallReason reason, PtcText error, unsigned notes)
{
    PtcUpRun *run = call->run;
    if (!call->record)
        return;
    pthread_mutex_lock(&run->lock);
    PtcUpRecord *r = &run->records[call->record - 1];
    fill_call_record(r, call);
    r->answered = true;
    r->did = ptc_run_did(call, reason);
    if (call->answer && call->effect.kind != PTC_EFFECT_READ)
        call->answer->took = r->did == PTC_DID_RUN       ? PTC_TOOK_EFFECT
                             : r->did == PTC_DID_UNKNOWN ? PTC_TOOK_UNKNOWN
                                                         : PTC_TOOK_NO_EFFECT;
    r->reason = reason;
    r->notes = notes | call->notes | (call->changed ? PTC_NOTE_TOOL_CHANGED : 0);
    size_t n = error.len < sizeof r->error
                   ? error.len
                   : ptc_utf8_valid_prefix(error.bytes, sizeof r->error - 1);
    if (reason && n)
        memcpy(r->error, error.bytes, n);
    r->error[reason ? n : 0] = '\0';
    run->bytes += call->reply.bytes;
    count_ended_call(call, r, reason);
    pthread_mutex_unlock(&run->lock);
    call->record = 0;
}

/* Calls that are held may be answered at this moment, on the loop's thread: the manager's lock guards them. */
void ptc_run_record_open(PtcUpRun *run)
{
    pthread_mutex_lock(&run->lock);
    pthread_mutex_lock(&run->manager->lock);
    for (PtcUpCall *call = run->calls; call; call = call->sibling) {
        if (!call->record)
            continue;
        PtcUpRecord *r = &run->records[call->record - 1];
        fill_call_record(r, call);
        count_ended_call(call, r, PTC_CALL_TIMEOUT);
        call->record = 0;
    }
    pthread_mutex_unlock(&run->manager->lock);
    pthread_mutex_unlock(&run->lock);
}

/* ------------------------------------------------------------------------ for another process */

/* SAVED_LEAST: bytes that a line has at least, so that what is read cannot promise more lines than it has. */
enum { RECORD_ANSWERED = 1, RECORD_APPROVED = 2, RECORD_IDEMPOTENT = 4, SAVED_LEAST = 80 };

static const int64_t SAVED_YEAR_9999 = 253402300799999;

static void save_record(const PtcUpRecord *r, PtcBuf *out)
{
    const uint32_t small[] = {r->reason,
                              (r->answered ? RECORD_ANSWERED : 0) |
                                  (r->approved ? RECORD_APPROVED : 0) |
                                  (r->effect.idempotent ? RECORD_IDEMPOTENT : 0),
                              r->did,
                              r->effect.kind,
                              r->policy,
                              r->attempts,
                              r->notes};
    const int64_t large[] = {r->at_ms, r->duration_ns, r->wait_ns, (int64_t)r->request_bytes,
                             (int64_t)r->result_bytes};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        ptc_pack_u32(out, small[i]);
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        ptc_pack_i64(out, large[i]);
    ptc_pack_text(out, r->server);
    ptc_pack_text(out, r->tool);
    ptc_pack_text(out, ptc_text_cstr(r->error));
    ptc_pack_text(out, (PtcText){r->arguments.data, r->arguments.len});
    ptc_pack_text(out, (PtcText){r->result.data, r->result.len});
}

void ptc_run_save_records(PtcUpRun *run, PtcBuf *out)
{
    ptc_pack_u32(out, (uint32_t)run->record_count);
    for (size_t i = 0; i < run->record_count; i++)
        save_record(&run->records[i], out);
}

static PtcUpText restore_record_text(PtcUpRun *run, PtcPackedReader *in)
{
    PtcText text = ptc_unpack_text(in);
    in->bad = in->bad || (text.len && !ptc_utf8_valid(text.bytes, text.len));
    return (PtcUpText){ptc_run_copy_text(run->mem, in, text, 0), in->bad ? 0 : text.len};
}

static void restore_record_error(PtcUpRecord *r, PtcPackedReader *in)
{
    PtcText error = ptc_unpack_text(in);
    in->bad = in->bad || error.len >= sizeof r->error ||
              (error.len && !ptc_utf8_valid(error.bytes, error.len));
    if (!in->bad && error.len)
        memcpy(r->error, error.bytes, error.len);
}

static void restore_record(PtcUpRun *run, PtcUpRecord *r, PtcPackedReader *in)
{
    *r = (PtcUpRecord){.reason =
                           (PtcCallReason)ptc_unpack_below(in, (uint32_t)PTC_CALL_REASONS - 1)};
    uint32_t flags = ptc_unpack_below(in, RECORD_ANSWERED | RECORD_APPROVED | RECORD_IDEMPOTENT);
    r->answered = flags & RECORD_ANSWERED;
    r->approved = flags & RECORD_APPROVED;
    r->effect.idempotent = flags & RECORD_IDEMPOTENT;
    r->did = (PtcUpDid)ptc_unpack_below(in, PTC_DID_UNKNOWN);
    r->effect.kind = (PtcEffectKind)ptc_unpack_below(in, PTC_EFFECT_UNKNOWN);
    r->policy = (PtcPolicy)ptc_unpack_below(in, PTC_POLICY_DENY);
    r->attempts = ptc_unpack_u32(in);
    r->notes = ptc_unpack_u32(in);
    r->at_ms = ptc_unpack_upto(in, SAVED_YEAR_9999);
    r->duration_ns = ptc_unpack_upto(in, INT64_MAX);
    r->wait_ns = ptc_unpack_upto(in, INT64_MAX);
    r->request_bytes = (size_t)ptc_unpack_upto(in, INT64_MAX);
    r->result_bytes = (size_t)ptc_unpack_upto(in, INT64_MAX);
    r->server = ptc_run_own_text(run, in);
    r->tool = ptc_run_own_text(run, in);
    restore_record_error(r, in);
    r->arguments = restore_record_text(run, in);
    r->result = restore_record_text(run, in);
}

void ptc_run_restore_records(PtcUpRun *run, PtcPackedReader *in)
{
    uint32_t n = ptc_unpack_below(in, (uint32_t)((in->end - in->at) / SAVED_LEAST));
    in->bad = in->bad || !PTC_GROW(run->mem, &run->records, &run->record_cap, n);
    while (!in->bad && run->record_count < n)
        restore_record(run, &run->records[run->record_count++], in);
}

/* -------------------------------------------------------------------------------------- JSON */

static void put_notes(PtcBuf *out, unsigned notes)
{
    if (!notes)
        return;
    ptc_emit_key(out, "notes");
    ptc_emit_array(out);
    for (unsigned i = 0; ptc_tool_result_notes[i]; i++)
        if (notes & (1u << i))
            ptc_emit_cstr(out, ptc_tool_result_notes[i]);
    ptc_emit_array_end(out);
}

static void put_ms(PtcBuf *out, const char *key, int64_t ns)
{
    ptc_emit_key(out, key);
    ptc_emit_double(out, (double)(ns / US) / 1000.0);
}

static void put_record_text(PtcBuf *out, const char *key, PtcUpText text)
{
    if (text.data)
        ptc_emit_field_text(out, key, (PtcText){text.data, text.len});
}

static void put_record(PtcBuf *out, const PtcUpRecord *r, size_t id)
{
    char stamp[PTC_CALENDAR_TEXT];
    bool oversize = r->reason == PTC_CALL_TOO_LARGE;
    ptc_emit_object(out);
    ptc_iso_stamp(stamp, r->at_ms);
    ptc_emit_field_uint(out, "id", id);
    ptc_emit_field_cstr(out, "ts", stamp);
    ptc_emit_field_text(out, "server", r->server);
    ptc_emit_field_text(out, "tool", r->tool);
    ptc_emit_field_cstr(out, "status", !r->answered ? "unknown" : r->reason ? "error" : "ok");
    put_ms(out, "duration_ms", r->duration_ns);
    if (r->reason) {
        ptc_emit_field_cstr(out, "reason", ptc_call_reason_word(r->reason));
        ptc_emit_field_cstr(out, "error", r->error);
    }
    ptc_emit_field_uint(out, "result_bytes", r->result_bytes);
    ptc_emit_field_bool(out, "oversize", oversize);
    ptc_emit_field_cstr(out, "effect", ptc_effect_name(r->effect.kind));
    ptc_emit_field_cstr(out, "policy", ptc_policy_name(r->policy));
    ptc_emit_field_bool(out, "approved", r->approved);
    ptc_emit_field_uint(out, "attempts", r->attempts);
    put_ms(out, "wait_ms", r->wait_ns);
    ptc_emit_field_uint(out, "request_bytes", r->request_bytes);
    if (r->span[0])
        ptc_emit_field_cstr(out, "span_id", r->span);
    put_notes(out, r->notes);
    put_record_text(out, "arguments", r->arguments);
    put_record_text(out, "result", r->result);
    ptc_emit_object_end(out);
}

/* Whatever happens the text stays JSON: records that do not fit are left out. */
void ptc_run_call_log(PtcUpRun *run, PtcBuf *out)
{
    ptc_emit_array(out);
    for (size_t i = 0; i < run->record_count; i++) {
        size_t before = out->len;
        put_record(out, &run->records[i], i + 1);
        if (ptc_buf_ok(out) && out->len < out->max)
            continue;
        out->len = before;
        out->full = out->failed = false;
        break;
    }
    ptc_emit_array_end(out);
}
