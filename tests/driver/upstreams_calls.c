/* SPDX-License-Identifier: MIT
 * `ptc-test-driver upstreams`: what is sent for a call, what comes back, and what a failure means. */
#include "driver/upstreams_desk.h"

#include "json/parse.h"
#include "json/write.h"
#include "lisp/read/form.h"
#include "mcp/client/era_probe.h"
#include "upstream/connect/mcp_headers.h"
#include "upstream/run/arguments.h"
#include "upstream/run/retry.h"
#include "upstream/run/tool_result.h"

/* ------------------------------------------------------------------- arguments from source */

static PtcValue literal(PtcHeap *heap, const PtcForm *form, PtcValue *doubled, int depth);

/* The value of a map as it is written; *doubled becomes a key that occurs twice. */
static PtcValue literal_map(PtcHeap *heap, const PtcForm *form, PtcValue *doubled, int depth)
{
    PtcValue map = ptc_fields_map(heap);
    for (uint32_t i = 0; i + 1 < form->count && map != PTC_NONE; i += 2) {
        PtcValue key = literal(heap, form->items[i], doubled, depth);
        PtcValue value = literal(heap, form->items[i + 1], doubled, depth);
        if (key == PTC_NONE || value == PTC_NONE)
            return PTC_NONE;
        if (ptc_map_get(heap, map, key) != PTC_NONE)
            *doubled = key;
        map = ptc_map_assoc(heap, map, key, value);
    }
    return map;
}

static PtcValue literal_items(PtcHeap *heap, const PtcForm *form, PtcValue *doubled, int depth)
{
    PtcValue list = ptc_fields_list(heap);
    for (uint32_t i = 0; i < form->count; i++) {
        PtcValue item = literal(heap, form->items[i], doubled, depth);
        if (item == PTC_NONE)
            return PTC_NONE;
        ptc_fields_push(heap, &list, item);
    }
    return list;
}

/* PTC_NONE: it is no literal. */
static PtcValue literal(PtcHeap *heap, const PtcForm *form, PtcValue *doubled, int depth)
{
    if (depth > PTC_FORM_DEPTH)
        return PTC_NONE;
    switch (form->kind) {
    case PTC_F_NIL: return PTC_NIL;
    case PTC_F_TRUE: return PTC_TRUE;
    case PTC_F_FALSE: return PTC_FALSE;
    case PTC_F_NUMBER: return form->value;
    case PTC_F_STRING: return ptc_str_new(heap, form->text, form->len);
    case PTC_F_KEYWORD: return ptc_keyword_new(heap, form->text, form->len);
    case PTC_F_MAP: return literal_map(heap, form, doubled, depth + 1);
    case PTC_F_VECTOR:
    case PTC_F_SET: return literal_items(heap, form, doubled, depth + 1);
    default: return PTC_NONE;
    }
}

static PtcValue read_source(PtcUpstreamsDesk *desk, PtcText text, PtcValue *doubled)
{
    PtcForm **forms;
    size_t count;
    PtcDiags diags;
    PtcReader reader = {text.bytes, text.len, &desk->arena, &desk->heap, &diags};
    *doubled = PTC_NONE;
    ptc_diags_init(&diags, &desk->arena);
    if (!text.bytes || !ptc_read(&reader, &forms, &count) || count != 1)
        return PTC_NONE;
    return literal(&desk->heap, forms[0], doubled, 0);
}

void ptc_upstreams_put_issues(PtcBuf *out, const PtcArgumentIssues *issues)
{
    ptc_emit_key(out, "issues");
    ptc_emit_array(out);
    for (size_t i = 0; i < issues->count; i++) {
        const PtcArgumentIssue *issue = &issues->items[i];
        ptc_emit_object(out);
        ptc_emit_field_cstr(out, "path", issue->path);
        ptc_emit_field_cstr(out, "problem", issue->problem);
        if (issue->nearest[0])
            ptc_emit_field_cstr(out, "nearest", issue->nearest);
        ptc_emit_object_end(out);
    }
    ptc_emit_array_end(out);
}

bool ptc_upstreams_args(PtcUpstreamsDesk *desk, const char **why)
{
    PtcArgumentIssues issues = {0};
    PtcValue tool = ptc_upstreams_in(desk, "tool"), doubled;
    PtcValue schema = ptc_map_field(&desk->heap, tool, "inputSchema");
    PtcValue args = read_source(desk, ptc_upstreams_text(desk, "args"), &doubled);
    PtcArgumentsIn in = {.schema = schema, .root = schema, .args = args};
    *why = "\"args\" must be a map of literals in PTC-Lisp, and \"tool\" an entry of tools/list";
    if (args == PTC_NONE || tool == PTC_NONE)
        return false;
    PtcValue sent = PTC_NONE;
    if (doubled != PTC_NONE)
        ptc_arguments_refuse(&issues, ptc_is_named(doubled) ? ptc_str_bytes(doubled) : "",
                             "duplicate", (PtcText){NULL, 0}, "it is given twice");
    else
        sent = ptc_arguments_fit(&desk->heap, &in, &issues);
    ptc_emit_field_bool(desk->out, "ok", sent != PTC_NONE);
    if (sent != PTC_NONE)
        ptc_upstreams_put(desk, "sent", sent);
    else
        ptc_upstreams_put_issues(desk->out, &issues);
    return true;
}

/* --------------------------------------------------------------------------------- results */

static void put_notes(PtcBuf *out, unsigned notes)
{
    ptc_emit_key(out, "notes");
    ptc_emit_array(out);
    for (size_t i = 0; ptc_tool_result_notes[i]; i++)
        if (notes & 1u << i)
            ptc_emit_cstr(out, ptc_tool_result_notes[i]);
    ptc_emit_array_end(out);
}

bool ptc_upstreams_result(PtcUpstreamsDesk *desk, const char **why)
{
    PtcToolResult out;
    PtcText era = ptc_upstreams_text(desk, "era");
    PtcToolResultIn in = {
        .result = ptc_map_field(&desk->heap, desk->input, "result"),
        .modern = era.bytes && ptc_text_is(era, "modern"),
        .output_schema = ptc_map_field(&desk->heap, ptc_upstreams_in(desk, "tool"), "outputSchema"),
        .leave_text = ptc_upstreams_in(desk, "parse_json") == PTC_FALSE,
        .strict = ptc_upstreams_in(desk, "strict_output") == PTC_TRUE,
    };
    *why = "\"result\" must be there";
    if (in.result == PTC_NONE || !ptc_tool_result_read(&desk->heap, &in, &out))
        return false;
    ptc_emit_field_bool(desk->out, "ok", out.ok);
    if (out.ok) {
        ptc_emit_field_cstr(desk->out, "kind", ptc_tool_result_kind(out.kind));
        ptc_upstreams_put(desk, "value", out.value);
    } else {
        ptc_emit_field_cstr(desk->out, "reason", ptc_call_reason_word(out.reason));
        if (out.message != PTC_NONE)
            ptc_upstreams_put(desk, "message", out.message);
    }
    put_notes(desk->out, out.notes);
    return true;
}

bool ptc_upstreams_mcp_headers(PtcUpstreamsDesk *desk, const char **why)
{
    PtcValue tool = ptc_upstreams_in(desk, "tool"), args = ptc_upstreams_in(desk, "args");
    PtcText name = ptc_fields_text(&desk->heap, tool, "name");
    PtcValue schema = ptc_map_field(&desk->heap, tool, "inputSchema");
    *why = "\"tool\" must have a name";
    if (!name.bytes)
        return false;
    if (!ptc_mcp_headers_fit(&desk->heap, schema)) {
        ptc_emit_field_bool(desk->out, "dropped", true);
        return true;
    }
    PtcValue headers =
        ptc_mcp_headers(&desk->heap, name, schema, args == PTC_NONE ? PTC_NIL : args);
    if (headers != PTC_NONE)
        ptc_upstreams_put(desk, "headers", headers);
    return headers != PTC_NONE;
}

/* -------------------------------------------------------------------------------- failures */

static bool read_effect(PtcHeap *heap, PtcValue from, PtcEffect *effect)
{
    PtcText text = ptc_fields_text(heap, from, "effect");
    *effect = (PtcEffect){PTC_EFFECT_UNKNOWN, false};
    bool ok = text.bytes && (ptc_effect_parse(text, effect) || ptc_text_is(text, "unknown"));
    effect->idempotent = effect->idempotent || ptc_fields_is(heap, from, "idempotent", PTC_TRUE);
    return ok;
}

static const char *again_name(PtcAgain again)
{
    static const char *const names[] = {"safe", "unsafe", "unknown"};
    return names[again];
}

bool ptc_upstreams_retry(PtcUpstreamsDesk *desk, const char **why)
{
    PtcEffect effect;
    PtcCallReason failure = ptc_call_reason_find(ptc_upstreams_text(desk, "failure"));
    *why = "\"effect\" and \"failure\" must be words that docs/upstreams.md has";
    if (!read_effect(&desk->heap, desk->input, &effect) || failure == PTC_CALL_OTHER)
        return false;
    bool delivered = ptc_upstreams_in(desk, "delivered") == PTC_TRUE;
    PtcRetry out = ptc_retry_decide(effect, failure, delivered);
    ptc_emit_field_bool(desk->out, "retry", out.retry);
    ptc_emit_field_cstr(desk->out, "took_effect", out.effect_unknown ? "unknown" : "no");
    ptc_emit_field_cstr(desk->out, "run_again", again_name(out.run_again));
    return true;
}

static bool read_status(PtcText text, PtcTookEffect *status)
{
    static const char *const names[] = {"failed", "ok", "unknown"};
    for (int i = 0; i < 3; i++)
        if (text.bytes && ptc_text_is(text, names[i])) {
            *status = (PtcTookEffect)i;
            return true;
        }
    return false;
}

static void push_call(PtcHeap *heap, PtcValue *list, PtcValue call)
{
    PtcBuf name;
    PtcText server = ptc_fields_text(heap, call, "server"),
            tool = ptc_fields_text(heap, call, "tool");
    ptc_buf_init(&name, heap->pool->mem, PTC_UNBOUNDED);
    ptc_buf_add(&name, server.bytes, server.len);
    ptc_buf_add_char(&name, '/');
    ptc_buf_add(&name, tool.bytes, tool.len);
    ptc_fields_push(heap, list, ptc_fields_buf(heap, &name));
    ptc_buf_deinit(&name);
}

/* Did this call take effect, may it have, and does it leave the run safe to be run again?  Over the calls of a run the
 * worst of them counts: start with PTC_AGAIN_SAFE. */
typedef struct {
    bool took_effect, unknown;
} CallOutcome;

static CallOutcome count_call(PtcEffect effect, PtcTookEffect took, PtcAgain *again)
{
    CallOutcome out = {false, false};
    if (effect.kind == PTC_EFFECT_READ || took == PTC_TOOK_NO_EFFECT)
        return out;
    out.took_effect = took == PTC_TOOK_EFFECT;
    out.unknown = took == PTC_TOOK_UNKNOWN;
    if (effect.idempotent)
        return out;
    if (out.took_effect)
        *again = PTC_AGAIN_UNSAFE;
    else if (*again == PTC_AGAIN_SAFE)
        *again = PTC_AGAIN_UNKNOWN;
    return out;
}

bool ptc_upstreams_outcome(PtcUpstreamsDesk *desk, const char **why)
{
    PtcHeap *heap = &desk->heap;
    PtcValue calls = ptc_upstreams_in(desk, "calls"), took = ptc_fields_list(heap), unknown = took;
    PtcAgain again = PTC_AGAIN_SAFE;
    *why = "\"calls\" must be an array of calls with \"effect\" and \"status\"";
    if (calls == PTC_NONE || !ptc_is_sequential(calls))
        return false;
    for (size_t i = 0; i < ptc_fields_count(calls); i++) {
        PtcEffect effect;
        PtcTookEffect status;
        PtcValue call = ptc_seq_nth(calls, i);
        if (!read_effect(heap, call, &effect) ||
            !read_status(ptc_fields_text(heap, call, "status"), &status))
            return false;
        CallOutcome outcome = count_call(effect, status, &again);
        if (outcome.took_effect)
            push_call(heap, &took, call);
        if (outcome.unknown)
            push_call(heap, &unknown, call);
    }
    ptc_upstreams_put(desk, "took_effect", took);
    ptc_upstreams_put(desk, "unknown", unknown);
    ptc_emit_field_cstr(desk->out, "run_again", again_name(again));
    return true;
}

/* ------------------------------------------------------------------------------------ eras */

/* What an end, silence and HTTP lead to: the product finds that out in several places of its link. */
enum { ERA_SPAWN = PTC_ERA_FAIL + 1, ERA_AUTHORIZE, ERA_WAIT };

static void put_era(PtcBuf *out, const PtcEra *era)
{
    static const char *const steps[] = {[PTC_ERA_INITIALIZE] = "initialize",
                                        [ERA_SPAWN] = "spawn_and_initialize",
                                        [ERA_AUTHORIZE] = "authorize",
                                        [ERA_WAIT] = "wait"};
    if (era->step == PTC_ERA_MODERN)
        ptc_emit_field_cstr(out, "era", "modern");
    else if (era->step == PTC_ERA_FAIL)
        ptc_emit_field_cstr(out, "fail", era->why);
    else
        ptc_emit_field_cstr(out, "then", steps[era->step]);
    if (era->version)
        ptc_emit_field_cstr(out, "version", era->version);
}

static PtcEra era_of_exit(void)
{
    return (PtcEra){(PtcEraStep)ERA_SPAWN, NULL, NULL};
}

static PtcEra era_of_silence(int64_t ms)
{
    return ms >= PTC_ERA_SILENCE_MS ? (PtcEra){PTC_ERA_INITIALIZE, NULL, NULL}
                                    : (PtcEra){(PtcEraStep)ERA_WAIT, NULL, NULL};
}

/* The message in a body: the JSON itself, or that of the first event of a stream. */
static PtcValue read_body(PtcHeap *heap, PtcText body)
{
    PtcJsonError error;
    PtcValue message = ptc_json_parse(heap, body.bytes, body.len, &error);
    for (size_t i = 0; message == PTC_NONE && i + 5 < body.len; i++) {
        if ((i > 0 && body.bytes[i - 1] != '\n') || memcmp(body.bytes + i, "data:", 5) != 0)
            continue;
        const char *start = body.bytes + i + 5;
        const char *end = memchr(start, '\n', body.len - i - 5);
        size_t n = end ? (size_t)(end - start) : body.len - i - 5;
        return ptc_json_parse(heap, start, n, &error);
    }
    return message;
}

static PtcEra era_of_http(PtcHeap *heap, int64_t status, PtcText body)
{
    if (status == 401)
        return (PtcEra){(PtcEraStep)ERA_AUTHORIZE, NULL, NULL};
    if (status >= 500)
        return (PtcEra){PTC_ERA_FAIL, NULL, "upstream_unavailable"};
    PtcValue message = body.bytes ? read_body(heap, body) : PTC_NONE;
    PtcValue result = message == PTC_NONE ? PTC_NONE : ptc_map_field(heap, message, "result");
    PtcValue error = message == PTC_NONE ? PTC_NONE : ptc_map_field(heap, message, "error");
    if (status >= 400)
        return ptc_era_of_answer(heap, PTC_NONE, error);
    if (status < 200 || status >= 300)
        return (PtcEra){PTC_ERA_FAIL, NULL, "upstream_error"};
    return ptc_era_of_answer(heap, result, error);
}

bool ptc_upstreams_era(PtcUpstreamsDesk *desk, const char **why)
{
    PtcHeap *heap = &desk->heap;
    PtcEra era;
    PtcValue probe = ptc_upstreams_in(desk, "probe");
    PtcValue result = ptc_map_field(heap, probe, "result"),
             http = ptc_map_field(heap, probe, "http");
    PtcValue error = ptc_map_field(heap, probe, "error");
    PtcValue silence = ptc_map_field(heap, probe, "silence");
    *why = "\"probe\" must have one of result, error, exit, silence and http";
    if (http != PTC_NONE) {
        PtcValue status = ptc_map_field(heap, http, "status");
        if (status == PTC_NONE || !ptc_is_int(status))
            return false;
        era = era_of_http(heap, ptc_to_int(status), ptc_fields_text(heap, http, "body"));
    } else if (result != PTC_NONE || error != PTC_NONE) {
        era = ptc_era_of_answer(heap, result, error);
    } else if (silence != PTC_NONE && ptc_is_int(silence)) {
        era = era_of_silence(ptc_to_int(silence));
    } else if (ptc_map_field(heap, probe, "exit") != PTC_NONE) {
        era = era_of_exit();
    } else {
        return false;
    }
    put_era(desk->out, &era);
    return true;
}
