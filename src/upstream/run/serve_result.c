/* SPDX-License-Identifier: MIT
 * What came back for a call, as the value that the program gets or the failure that it sees.  Runs on a thread of the
 * run, because an answer may have many megabytes.  What always holds: no text of an upstream leaves here with a secret
 * in it; status, reason and the log of calls are made here and never by whoever asked. */
#include <stdio.h>

#include "base/text/clean.h"
#include "json/emit.h"
#include "json/parse.h"
#include "tool/remote/remote_answer.h"
#include "upstream/connect/inquiry.h"
#include "upstream/run/blot_blocks.h"
#include "upstream/run/blot_json.h"
#include "upstream/run/serve_int.h"
#include "upstream/run/tool_result.h"
#include "value/coll/fields.h"

enum { RESULT_MESSAGE_BYTES = 2000 };

/* --------------------------------------------------------------------------------- failures */

/* A text of an upstream, cleaned, without secrets. */
static void clean_message(PtcUpCall *call, PtcBuf *clean, PtcText text)
{
    PtcManager *m = call->run->manager;
    PtcBuf safe;
    ptc_buf_init(&safe, m->mem, PTC_MB);
    text.len = text.len < 256 * PTC_KB ? text.len : 256 * PTC_KB;
    ptc_secrets_blot(&m->told, &safe, text, false);
    ptc_clean_add(clean, ptc_buf_view(&safe), RESULT_MESSAGE_BYTES, false);
    ptc_buf_deinit(&safe);
}

static void put_failure(PtcUpCall *call, PtcBuf *out, PtcCallReason reason, PtcText message)
{
    PtcUpRun *run = call->run;
    size_t n = run->manager->count;
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "reason", ptc_call_reason_word(reason));
    ptc_emit_field_text(out, "message", message);
    if (call->nearest[0])
        ptc_emit_field_cstr(out, "nearest", call->nearest);
    if (n && call->slot < 2 * n && (call->method || call->seen))
        ptc_emit_field_text(out, "server", ptc_run_upstream(run, call->slot)->entry.name);
    if (call->seen) {
        ptc_emit_field_text(out, "tool", call->seen->server.tools[call->tool].name);
        ptc_emit_field_cstr(out, "effect", ptc_effect_name(call->effect.kind));
    }
    if (call->reply.status)
        ptc_emit_field_int(out, "status", call->reply.status);
    if (call->reply.retry_after_ms >= 0)
        ptc_emit_field_int(out, "retry_after_ms", call->reply.retry_after_ms);
    ptc_emit_object_end(out);
}

/* What the program sees and what the log of calls has is the same text.  Always false. */
bool ptc_serve_put_failure(PtcUpCall *call, PtcBuf *out, PtcCallReason reason, PtcText message,
                           unsigned notes)
{
    PtcBuf clean;
    ptc_buf_init(&clean, call->run->manager->mem, 2 * RESULT_MESSAGE_BYTES);
    clean_message(call, &clean, message);
    put_failure(call, out, reason, ptc_buf_view(&clean));
    ptc_run_record_end(call, reason, ptc_buf_view(&clean), notes);
    ptc_buf_deinit(&clean);
    return false;
}

bool ptc_serve_fail(PtcUpCall *call, PtcBuf *out)
{
    return ptc_serve_put_failure(call, out, call->reason ? call->reason : PTC_CALL_BAD_ANSWER,
                                 ptc_text_cstr(call->message), 0);
}

/* A text for an end that comes without one. */
static PtcText words_of_reply(const PtcLinkReply *reply)
{
    if (reply->text.len)
        return ptc_buf_view(&reply->text);
    switch (reply->end) {
    case PTC_LINK_TIMEOUT: return PTC_TEXT("no answer came in time; what it did is not known");
    case PTC_LINK_CANCELLED: return PTC_TEXT("it was cancelled; what it did is not known");
    case PTC_LINK_TOO_LARGE: return PTC_TEXT("the answer is larger than max_response_bytes");
    case PTC_LINK_NO_MEMORY: return PTC_TEXT("out of memory");
    default: return PTC_TEXT("it gave no usable answer");
    }
}

static bool put_refused(PtcUpCall *call, PtcBuf *out)
{
    char text[400];
    const PtcSignIn *sign_in = &ptc_run_upstream(call->run, call->slot)->sign_in;
    PtcText own = call->reply.own             ? ptc_buf_view(&call->reply.text)
                  : call->reply.status == 403 ? PTC_TEXT("it does not allow this (status 403)")
                                              : (PtcText){NULL, 0};
    ptc_sign_in_tell(sign_in, own, text, sizeof text);
    return ptc_serve_put_failure(call, out, PTC_CALL_AUTH_FAILED, ptc_text_cstr(text), 0);
}

/* The error object of JSON-RPC in words. */
static bool put_rpc_error(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out)
{
    PtcJsonError error;
    PtcText text = ptc_buf_view(&call->reply.text);
    PtcValue v = ptc_json_parse(&scratch->heap, text.bytes, text.len, &error);
    PtcText said = ptc_fields_text(&scratch->heap, v, "message");
    return ptc_serve_put_failure(call, out, PTC_CALL_BAD_ANSWER, said.bytes ? said : text, 0);
}

/* ----------------------------------------------------------------------------------- values */

static void put_unsecret_value(PtcUpCall *call, PtcHeap *heap, PtcBuf *out, PtcValue value)
{
    PtcManager *m = call->run->manager;
    PtcBuf json;
    if (!ptc_secrets_any(&m->hidden)) {
        ptc_emit_value(out, heap, value);
        return;
    }
    ptc_buf_init(&json, m->mem, PTC_UNBOUNDED);
    ptc_emit_value(&json, heap, value);
    ptc_blot_json(&m->hidden, out, ptc_buf_view(&json));
    out->failed = out->failed || !ptc_buf_ok(&json);
    ptc_buf_deinit(&json);
}

/* Hands over a value that is where it is wanted; false: it goes as text. */
static bool give_value(PtcUpCall *call, PtcScratch *scratch, const PtcToolResult *result)
{
    const PtcSecrets *hidden = &call->run->manager->hidden;
    if (!result->there ||
        (ptc_secrets_any(hidden) && ptc_blot_would_find(hidden, &scratch->heap, result->value)))
        return false;
    call->answer->value = result->value;
    call->answer->kind = ptc_tool_result_kind(result->kind);
    return true;
}

static void put_read_text(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out,
                          const PtcToolResult *result)
{
    ptc_emit_object(out);
    ptc_emit_key(out, "value");
    size_t from = out->len;
    put_unsecret_value(call, &scratch->heap, out, result->value);
    if (ptc_buf_ok(out))
        ptc_run_record_result(call, (PtcText){out->data + from, out->len - from});
    ptc_emit_field_cstr(out, "kind", ptc_tool_result_kind(result->kind));
    ptc_emit_object_end(out);
}

/* Text is for those who asked for it, for records, and for a run that may be run again. */
bool ptc_serve_put_read(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out,
                        const PtcToolResult *result)
{
    ptc_serve_learn(call, result->value);
    bool given = give_value(call, scratch, result);
    if (!given || call->part || call->run->manager->config.payloads)
        put_read_text(call, scratch, out, result);
    ptc_run_record_end(call, PTC_CALL_WELL, (PtcText){NULL, 0}, result->notes);
    return true;
}

static bool put_raw_result(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out, PtcValue value)
{
    PtcToolResult raw = {.ok = true, .kind = PTC_TOOL_RESULT_JSON, .value = value};
    return ptc_serve_put_read(call, scratch, out, &raw);
}

/* The result of a tool; its structured content may be in the heap of whoever asks already. */
typedef struct {
    PtcRemoteAnswer *answer;
    PtcValue whole;
    PtcValue structured;
    bool apart; /* then `whole` does not have it */
} GotResult;

static size_t read_structured(void *user, PtcText rest)
{
    GotResult *result = user;
    size_t used = 0;
    result->structured = ptc_remote_answer_read(result->answer, rest, &used);
    return used;
}

/* What is large in most results is parsed only once, straight to where it is wanted. */
static void parse_result(PtcUpCall *call, PtcHeap *heap, GotResult *result, PtcJsonError *error)
{
    static const char *const path[] = {NULL}, *const names[] = {"structuredContent", NULL};
    PtcText apart = {NULL, 0}, text = ptc_buf_view(&call->reply.text);
    PtcJsonKeep keep = {path, names, &apart, read_structured, result};
    *result = (GotResult){.answer = call->answer, .structured = PTC_NONE};
    result->whole = call->answer->heap && !call->raw && call->seen
                        ? ptc_json_parse_keeping(heap, text, &keep, error)
                        : ptc_json_parse(heap, text.bytes, text.len, error);
    result->apart = apart.bytes != NULL;
}

static bool read_result(PtcUpCall *call, PtcScratch *scratch, const GotResult *from,
                        PtcToolResult *result)
{
    PtcUpRun *run = call->run;
    const PtcEntry *e = &ptc_run_upstream(run, call->slot)->entry;
    PtcValue schema = ptc_map_field(&scratch->heap, call->seen->server.tools[call->tool].definition,
                                    "outputSchema");
    PtcRunCheck check;
    ptc_run_check_begin(&check, call, call->seen, call->tool, true);
    PtcToolResultIn in = {.result = from->whole,
                          .answer = from->answer,
                          .structured = from->apart ? &from->structured : NULL,
                          .modern = call->seen->modern,
                          .output_schema = schema,
                          .compiled = check.schema,
                          .checks = &check.budget,
                          .given_up = check.given_up,
                          .leave_text = e->leave_text,
                          .strict = e->strict_output};
    PtcBlobNumbers numbers =
        ptc_run_take_numbers(run, ptc_tool_result_most_blobs(&scratch->heap, from->whole));
    in.blobs = numbers.before;
    bool read = ptc_tool_result_read(&scratch->heap, &in, result);
    call->notes |= ptc_run_check_end(&check, &scratch->budget, true);
    return read && ptc_fields_ok(&scratch->heap) &&
           ptc_run_keep_blobs(run, &scratch->heap, result->blobs, numbers);
}

/* Running out of memory or time for the value becomes a failure that the program sees; the scratch is made usable again
 * to write it. */
bool ptc_serve_put_too_large(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out)
{
    bool late = scratch->budget.stop == PTC_STOP_DEADLINE;
    scratch->budget.stop = PTC_STOP_NONE;
    scratch->budget.deadline_ns = INT64_MAX;
    return ptc_serve_put_failure(
        call, out, late ? PTC_CALL_BAD_ANSWER : PTC_CALL_TOO_LARGE,
        late ? PTC_TEXT("its answer could not be read in time: it is very large")
             : PTC_TEXT("the answer needs more memory than there is"),
        0);
}

static bool put_unread(PtcUpCall *call, PtcBuf *out, const PtcJsonError *error)
{
    char text[300];
    snprintf(text, sizeof text, "the answer cannot be read: %.200s, at byte %zu of its result",
             error->message, error->offset);
    return ptc_serve_put_failure(call, out, PTC_CALL_BAD_ANSWER, ptc_text_cstr(text), 0);
}

/* Why a result cannot be used, where it does not say so itself. */
static PtcText words_for(PtcCallReason reason)
{
    if (reason == PTC_CALL_INPUT_REQUIRED)
        return PTC_TEXT("its server has a question first, and whoever runs the program cannot be "
                        "asked");
    if (reason == PTC_CALL_BAD_ANSWER)
        return PTC_TEXT("its answer is none that the protocol knows, or does not fit the output "
                        "schema of the tool");
    return PTC_TEXT("the tool failed and did not say why");
}

static bool put_tool_answer(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out)
{
    PtcJsonError error;
    PtcToolResult result = {.blobs = PTC_NONE};
    GotResult got;
    parse_result(call, &scratch->heap, &got, &error);
    if (!ptc_fields_ok(&scratch->heap))
        return ptc_serve_put_too_large(call, scratch, out);
    if (got.whole == PTC_NONE)
        return put_unread(call, out, &error);
    if (!ptc_is_map(got.whole))
        return ptc_serve_put_failure(call, out, PTC_CALL_BAD_ANSWER,
                                     PTC_TEXT("the answer is not an object"), 0);
    if (ptc_inquiry_take_input(call, scratch, got.whole)) {
        put_failure(call, out, call->reason, ptc_text_cstr(call->message));
        return false;
    }
    got.whole = ptc_blot_blocks(&call->run->manager->hidden, &scratch->heap, got.whole);
    if (got.whole == PTC_NONE)
        return ptc_serve_put_too_large(call, scratch, out);
    if (call->raw || !call->seen)
        return put_raw_result(call, scratch, out, got.whole);
    if (!read_result(call, scratch, &got, &result))
        return ptc_serve_put_too_large(call, scratch, out);
    if (result.ok)
        return ptc_serve_put_read(call, scratch, out, &result);
    return ptc_serve_put_failure(call, out, result.reason,
                                 result.message != PTC_NONE ? ptc_str_text(result.message)
                                                            : words_for(result.reason),
                                 result.notes);
}

/* Was anything changed that a second run would change again? */
static bool is_repeatable_call(const PtcUpCall *call)
{
    return call->effect.kind == PTC_EFFECT_READ || call->effect.idempotent || call->attempts == 0 ||
           (call->reply.end != PTC_LINK_ANSWER && !call->reply.delivered);
}

bool ptc_serve_result(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out, bool *may_repeat)
{
    *may_repeat = is_repeatable_call(call);
    if (call->reason) {
        ptc_run_record_refused(call);
        return ptc_serve_fail(call, out);
    }
    bool openapi = ptc_run_upstream(call->run, call->slot)->entry.openapi;
    if (openapi && (call->reply.end == PTC_LINK_ANSWER || call->reply.end == PTC_LINK_HTTP_FAULT))
        return ptc_serve_response(call, scratch, out);
    if (call->reply.end == PTC_LINK_ANSWER)
        return put_tool_answer(call, scratch, out);
    if (call->reply.end == PTC_LINK_ERROR)
        return put_rpc_error(call, scratch, out);
    if (call->reply.end == PTC_LINK_AUTH)
        return put_refused(call, out);
    return ptc_serve_put_failure(call, out, call->said, words_of_reply(&call->reply), 0);
}
