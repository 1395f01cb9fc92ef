/* SPDX-License-Identifier: MIT
 * Answers of services as values or failures.  What always holds: an answer that says it is JSON and is not becomes a
 * failure, never text; what a failure quotes of the service is for the caller to clean. */
#include "upstream/openapi/openapi_response.h"

#include <stdio.h>
#include <strings.h>

#include "base/text/base64.h"
#include "base/text/clean.h"
#include "base/utf8.h"
#include "json/parse.h"
#include "net/retry_after.h"
#include "tool/remote/remote_answer.h"
#include "upstream/config/header.h"
#include "value/coll/fields.h"

enum { RESPONSE_MESSAGE_BYTES = 500 };

static PtcText media_type(const PtcResponseIn *in)
{
    PtcText type = ptc_header_get(in->headers, "content-type");
    for (size_t i = 0; i < type.len; i++)
        if (type.bytes[i] == ';' || type.bytes[i] == ' ')
            type.len = i;
    return type;
}

static bool has_type_ending(PtcText text, const char *end)
{
    size_t n = strlen(end);
    return text.len >= n && strncasecmp(text.bytes + text.len - n, end, n) == 0;
}

static bool is_json_media_type(PtcText type)
{
    return has_type_ending(type, "/json") || has_type_ending(type, "+json");
}

static bool is_text_media_type(PtcText type)
{
    return type.len >= 5 && strncasecmp(type.bytes, "text/", 5) == 0;
}

/* ------------------------------------------------------------------------------------- value */

static void answer_response(PtcResponse *out, PtcResultKind kind, PtcValue value)
{
    out->result.ok = true;
    out->result.kind = kind;
    out->result.value = value;
}

static void refuse_response(PtcHeap *heap, PtcResponse *out, PtcCallReason reason,
                            const char *message)
{
    out->result.ok = false;
    out->result.reason = reason;
    out->result.message = ptc_fields_string(heap, ptc_text_cstr(message));
}

static void answer_blob(PtcHeap *heap, const PtcResponseIn *in, PtcText type, PtcResponse *out)
{
    PtcBuf data;
    PtcValue value = ptc_fields_map(heap), list = ptc_fields_list(heap);
    ptc_buf_init(&data, heap->pool->mem, PTC_UNBOUNDED);
    ptc_base64_add(&data, in->body.bytes, in->body.len, false);
    PtcValue text = ptc_fields_buf(heap, &data);
    ptc_buf_deinit(&data);
    ptc_fields_push(
        heap, &list,
        ptc_tool_result_blob(heap, "blob", type, in->body.len, in->blobs, text, &out->result));
    ptc_fields_put(heap, &value, "content", list);
    answer_response(out, PTC_TOOL_RESULT_CONTENT, value);
}

/* Also for a number that is larger than any of the language: rounding it or leaving it out would change the answer. */
static void refuse_json(PtcHeap *heap, PtcResponse *out, const PtcJsonError *error)
{
    char text[300];
    snprintf(text, sizeof text,
             "the answer claims to be JSON but cannot be read: %.200s, at byte %zu", error->message,
             error->offset);
    refuse_response(heap, out, PTC_CALL_BAD_ANSWER, text);
}

static void answer_json(PtcHeap *heap, const PtcResponseIn *in, PtcResponse *out)
{
    PtcJsonError error;
    PtcValue v = ptc_remote_answer_json(in->answer, in->body);
    out->result.there = v != PTC_NONE;
    if (!out->result.there)
        v = ptc_json_parse(heap, in->body.bytes, in->body.len, &error);
    if (v != PTC_NONE)
        answer_response(out, PTC_TOOL_RESULT_JSON, v);
    else
        refuse_json(heap, out, &error);
}

static void answer_success(PtcHeap *heap, const PtcResponseIn *in, PtcResponse *out)
{
    PtcText type = media_type(in);
    bool text = ptc_utf8_valid(in->body.bytes, in->body.len);
    if (in->body.len == 0) {
        answer_response(out, PTC_TOOL_RESULT_NONE, PTC_NIL);
    } else if (is_json_media_type(type)) {
        answer_json(heap, in, out);
    } else if (text && (is_text_media_type(type) || !type.len)) {
        (void)!ptc_tool_result_text(heap, in->answer, in->body, !type.len, &out->result);
    } else {
        answer_blob(heap, in, type.len ? type : (PtcText){NULL, 0}, out);
    }
}

/* ---------------------------------------------------------------------------------- failures */

/* What a service says of its failure, in one of the places where services say it. */
static PtcText said(PtcHeap *heap, PtcValue v, int depth)
{
    static const char *const keys[] = {"detail", "message", "title", "error", "error_description"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys && ptc_is_map(v); i++) {
        PtcValue member = ptc_map_field(heap, v, keys[i]);
        PtcText text = ptc_str_text(member);
        if (!text.bytes && member != PTC_NONE && ptc_is_map(member) && depth < 2)
            text = said(heap, member, depth + 1);
        if (text.bytes && text.len)
            return text;
    }
    return (PtcText){NULL, 0};
}

static void answer_http_failure(PtcHeap *heap, const PtcResponseIn *in, PtcResponse *out)
{
    PtcBuf message;
    PtcText type = media_type(in), text = {NULL, 0};
    PtcJsonError error;
    if (is_json_media_type(type) || !type.len || !is_text_media_type(type)) {
        PtcValue v = ptc_json_parse(heap, in->body.bytes, in->body.len, &error);
        text = v == PTC_NONE ? text : ptc_is_string(v) ? ptc_str_text(v) : said(heap, v, 0);
    }
    if (!text.bytes && (is_text_media_type(type) || is_json_media_type(type) || !type.len))
        text = in->body;
    ptc_buf_init(&message, heap->pool->mem, PTC_UNBOUNDED);
    ptc_buf_addf(&message, "HTTP %lld", (long long)in->status);
    if (text.bytes && text.len) {
        ptc_buf_add_cstr(&message, ": ");
        ptc_clean_add(&message, text, RESPONSE_MESSAGE_BYTES, false);
    }
    refuse_response(heap, out, ptc_call_reason_of_status(in->status), "");
    out->result.message = ptc_fields_buf(heap, &message);
    ptc_buf_deinit(&message);
}

bool ptc_openapi_response(PtcHeap *heap, const PtcResponseIn *in, PtcResponse *out)
{
    PtcText wait = ptc_header_get(in->headers, "retry-after");
    *out = (PtcResponse){.retry_after_ms = -1};
    out->result =
        (PtcToolResult){.value = PTC_NIL, .message = PTC_NONE, .blobs = ptc_fields_list(heap)};
    if (wait.bytes)
        out->retry_after_ms = ptc_retry_after_ms(wait, in->now_ms);
    if (in->body.len > (in->max_bytes ? in->max_bytes : PTC_RESPONSE_BYTES))
        refuse_response(heap, out, PTC_CALL_TOO_LARGE,
                        "the answer is larger than max_response_bytes");
    else if (in->status >= 200 && in->status < 300)
        answer_success(heap, in, out);
    else
        answer_http_failure(heap, in, out);
    return ptc_fields_ok(heap);
}
