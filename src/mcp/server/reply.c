/* SPDX-License-Identifier: MIT
 * The text of answers.  What always holds: the buffer of an answer has room for a plain error from the start, so
 * that "out of memory" can always be said; the first error stands. */
#include <stdio.h>

#include "base/utf8.h"
#include "mcp/server/mcp_int.h"

enum { REPLY_MESSAGE = 400 };

/* Clearing the buffer also clears its failure, and the reserved room takes a plain error. */
static bool write_call_error(PtcMcpCall *call, int code, const char *message, const char *data)
{
    ptc_buf_clear(&call->answer);
    return ptc_rpc_add_error(&call->answer, ptc_mcp_id_of(call), code, ptc_text_cstr(message),
                             ptc_text_cstr(data));
}

/* The first error stands: what follows from it would only confuse the client. */
static void settle_call_error(PtcMcpCall *call, int status, int code, const char *message,
                              const char *data)
{
    if (call->settled)
        return;
    call->settled = true;
    call->next = PTC_MCP_DONE;
    call->status = status;
    call->code = code;
    call->has_answer = call->kind == PTC_RPC_BAD || call->kind == PTC_RPC_REQUEST;
    if (call->has_answer && !write_call_error(call, code, message, data))
        (void)!write_call_error(call, PTC_MCP_INTERNAL_ERROR, "out of memory", NULL);
}

/* The text is cut to valid UTF-8, because it may quote what a client sent. */
void ptc_mcp_refuse(PtcMcpCall *call, int status, int code, const char *data, const char *format,
                    ...)
{
    char message[REPLY_MESSAGE];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    message[ptc_utf8_valid_prefix(message, strlen(message))] = 0;
    settle_call_error(call, status, code, message, data);
}

void ptc_mcp_error(PtcMcpCall *call, int code, const char *message, const char *data)
{
    int status = code == PTC_MCP_MISSING_CAPABILITY && call->era == PTC_MCP_MODERN ? 400 : 200;
    bool valid = ptc_utf8_valid(message, strlen(message));
    settle_call_error(call, status, code, valid ? message : "an error without a readable text",
                      data);
}

void ptc_mcp_need(PtcMcpCall *call, const char *capability)
{
    char bytes[160], message[160];
    PtcBuf data = {.data = bytes, .cap = sizeof bytes, .max = sizeof bytes - 1};
    PtcText name = ptc_text_cut(ptc_text_cstr(capability), 64);
    ptc_emit_object(&data);
    ptc_emit_key(&data, "requiredCapabilities");
    ptc_emit_object(&data);
    ptc_emit_key_text(&data, name);
    ptc_emit_object(&data);
    ptc_emit_object_end(&data);
    ptc_emit_object_end(&data);
    bool ok = ptc_emit_object_end(&data);
    bytes[data.len] = 0;
    snprintf(message, sizeof message, "the client must declare the capability %.*s", PTC_ARG(name));
    bool modern = call->era == PTC_MCP_MODERN;
    ptc_mcp_error(call, modern ? PTC_MCP_MISSING_CAPABILITY : PTC_MCP_INVALID_PARAMS, message,
                  ok ? bytes : NULL);
}

/* --------------------------------------------------------------------------- results */

/* Legacy clients do not know resultType, so only modern ones get it. */
void ptc_mcp_result_begin_as(PtcMcpCall *call, const char *type)
{
    PtcBuf *out = &call->answer;
    ptc_buf_clear(out);
    ptc_rpc_begin_result(out, ptc_mcp_id_of(call));
    ptc_emit_object(out);
    if (call->era == PTC_MCP_MODERN)
        ptc_emit_field_cstr(out, "resultType", type);
}

void ptc_mcp_result_begin(PtcMcpCall *call)
{
    ptc_mcp_result_begin_as(call, "complete");
}

/* If it is too large or memory ran out, an error replaces it. */
static void check_answer_size(PtcMcpCall *call)
{
    if (ptc_buf_ok(&call->answer))
        return;
    if (call->answer.full)
        ptc_mcp_refuse(call, 200, PTC_MCP_INTERNAL_ERROR, NULL,
                       "the answer would be larger than %zu bytes", call->answer.max);
    else
        ptc_mcp_refuse(call, 200, PTC_MCP_INTERNAL_ERROR, NULL, "out of memory");
}

/* The server names itself in every modern answer, since there was no handshake. */
void ptc_mcp_result_end(PtcMcpCall *call)
{
    PtcBuf *out = &call->answer;
    if (call->era == PTC_MCP_MODERN) {
        ptc_emit_key(out, "_meta");
        ptc_emit_object(out);
        ptc_emit_field_raw(out, PTC_MCP_META "serverInfo", ptc_buf_view(&call->mcp->info));
        ptc_emit_object_end(out);
    }
    ptc_emit_object_end(out);
    ptc_emit_object_end(out);
    call->has_answer = true;
    call->status = 200;
    check_answer_size(call);
}

void ptc_mcp_cache_hints(PtcMcpCall *call, int64_t ttl_ms, bool public_scope)
{
    if (call->era != PTC_MCP_MODERN)
        return;
    ptc_emit_field_int(&call->answer, "ttlMs", ttl_ms);
    ptc_emit_field_cstr(&call->answer, "cacheScope", public_scope ? "public" : "private");
}

void ptc_mcp_empty_result(PtcMcpCall *call)
{
    ptc_mcp_result_begin(call);
    ptc_mcp_result_end(call);
}

/* A state without questions is a request to call again; a completion cannot ask. */
static bool mcp_input_required(PtcMcpCall *call)
{
    PtcBuf *out = &call->answer;
    bool state_only = call->has_state && !call->added && !call->structured.len;
    bool may = call->era == PTC_MCP_MODERN && !call->settled && call->body != PTC_MCP_BODY_COMPLETE;
    if (!may || (!call->asks.len && !state_only))
        return false;
    ptc_mcp_result_begin_as(call, "input_required");
    call->asks_client = true;
    if (call->asks.len) {
        ptc_emit_key(out, "inputRequests");
        ptc_emit_object(out);
        ptc_emit_raw(out, ptc_buf_view(&call->asks));
        ptc_emit_object_end(out);
    }
    if (call->has_state) {
        ptc_emit_key(out, "requestState");
        ptc_emit_string(out);
        ptc_mcp_add_state(call, out);
        ptc_emit_string_end(out);
    }
    ptc_mcp_result_end(call);
    return true;
}

/* ------------------------------------------------------------------- what handlers fill */

void ptc_mcp_body_begin(PtcMcpCall *call, PtcMcpBody body)
{
    static const char *const keys[] = {
        [PTC_MCP_BODY_TOOL] = "content",
        [PTC_MCP_BODY_PROMPT] = "messages",
        [PTC_MCP_BODY_RESOURCE] = "contents",
        [PTC_MCP_BODY_COMPLETE] = "values",
    };
    call->body = body;
    if (body == PTC_MCP_BODY_OWN)
        return;
    ptc_mcp_result_begin(call);
    if (body == PTC_MCP_BODY_COMPLETE) {
        ptc_emit_key(&call->answer, "completion");
        ptc_emit_object(&call->answer);
    }
    ptc_emit_key(&call->answer, keys[body]);
    ptc_emit_array(&call->answer);
    call->head = call->answer.len;
}

/* Clients that know the output schema reject a success without structured content, so this is our fault to report. */
static bool promise_kept(PtcMcpCall *call)
{
    if (!call->tool || !call->tool->output_schema || call->is_error || call->structured.len)
        return true;
    ptc_mcp_refuse(call, 200, PTC_MCP_INTERNAL_ERROR, NULL,
                   "%s promises structured content and gave none", call->tool->name);
    return false;
}

/* Structured content is also given as text, for clients that show nothing else. */
static void end_tool(PtcMcpCall *call)
{
    PtcBuf *out = &call->answer;
    PtcText structured = ptc_buf_view(&call->structured);
    if (structured.len && !call->added) {
        ptc_emit_object(out);
        ptc_emit_field_cstr(out, "type", "text");
        ptc_emit_field_text(out, "text", structured);
        ptc_emit_object_end(out);
    }
    ptc_emit_array_end(out);
    if (structured.len && !call->text_only)
        ptc_emit_field_raw(out, "structuredContent", structured);
    if (call->is_error)
        ptc_emit_field_bool(out, "isError", true);
}

static void end_completion(PtcMcpCall *call)
{
    PtcBuf *out = &call->answer;
    ptc_emit_array_end(out);
    ptc_emit_field_uint(out, "total", call->suggested);
    ptc_emit_field_bool(out, "hasMore", call->suggested > call->added);
    ptc_emit_object_end(out);
}

void ptc_mcp_body_end(PtcMcpCall *call)
{
    if (call->settled || call->body == PTC_MCP_BODY_OWN || mcp_input_required(call) ||
        !promise_kept(call))
        return;
    int64_t ttl = call->resource   ? call->resource->ttl_ms
                  : call->template ? call->template->ttl_ms
                                   : 0;
    switch (call->body) {
    case PTC_MCP_BODY_TOOL: end_tool(call); break;
    case PTC_MCP_BODY_COMPLETE: end_completion(call); break;
    case PTC_MCP_BODY_RESOURCE:
        ptc_emit_array_end(&call->answer);
        ptc_mcp_cache_hints(call, ttl, false);
        break;
    default: ptc_emit_array_end(&call->answer);
    }
    ptc_mcp_result_end(call);
}
