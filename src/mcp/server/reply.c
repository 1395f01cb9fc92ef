/* SPDX-License-Identifier: MIT
 * The texts of answers.  The buffer of an answer has room for a plain error from the start, so that "out of memory" can
 * always be said. */
#include <stdio.h>

#include "base/utf8.h"
#include "json/write.h"
#include "mcp/server/mcp_int.h"

enum { MESSAGE = 400 };

static void clear(PtcBuf *buf, size_t to)
{
    ptc_buf_clear(buf);
    buf->len = to;
}

static bool write_error(PtcMcpCall *call, int code, const char *message, const char *data)
{
    PtcBuf *out = &call->answer;
    clear(out, 0);
    ptc_buf_add_cstr(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    ptc_buf_add(out, call->id.data, call->id.len);
    ptc_buf_addf(out, ",\"error\":{\"code\":%d,\"message\":", code);
    ptc_json_write_string(out, message, strlen(message));
    if (data) {
        ptc_buf_add_cstr(out, ",\"data\":");
        ptc_buf_add_cstr(out, data);
    }
    return ptc_buf_add_cstr(out, "}}");
}

static void settle(PtcMcpCall *call, int status, int code, const char *message, const char *data)
{
    if (call->settled)
        return;
    call->settled = true;
    call->next = PTC_MCP_DONE;
    call->status = status;
    call->code = code;
    call->has_answer = call->kind != PTC_MCP_NOTIFICATION && call->kind != PTC_MCP_RESPONSE;
    if (call->has_answer && !write_error(call, code, message, data))
        (void)!write_error(call, PTC_MCP_INTERNAL_ERROR, "out of memory", NULL);
}

void ptc_mcp_refuse(PtcMcpCall *call, int status, int code, const char *data, const char *format,
                    ...)
{
    char message[MESSAGE];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    message[ptc_utf8_valid_prefix(message, strlen(message))] = 0;
    settle(call, status, code, message, data);
}

void ptc_mcp_error(PtcMcpCall *call, int code, const char *message, const char *data)
{
    int status = code == PTC_MCP_MISSING_CAPABILITY && call->era == PTC_MCP_MODERN ? 400 : 200;
    bool valid = ptc_utf8_valid(message, strlen(message));
    settle(call, status, code, valid ? message : "an error without a readable text", data);
}

void ptc_mcp_need(PtcMcpCall *call, const char *capability)
{
    char data[160], message[160];
    snprintf(data, sizeof data, "{\"requiredCapabilities\":{\"%.64s\":{}}}", capability);
    snprintf(message, sizeof message, "the client must declare the capability %.64s", capability);
    bool modern = call->era == PTC_MCP_MODERN;
    ptc_mcp_error(call, modern ? PTC_MCP_MISSING_CAPABILITY : PTC_MCP_INVALID_PARAMS, message,
                  data);
}

/* --------------------------------------------------------------------------- results */

static void begin_result(PtcMcpCall *call, const char *type)
{
    PtcBuf *out = &call->answer;
    clear(out, 0);
    ptc_buf_add_cstr(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    ptc_buf_add(out, call->id.data, call->id.len);
    ptc_buf_add_cstr(out, ",\"result\":{");
    if (call->era == PTC_MCP_MODERN)
        ptc_buf_addf(out, "\"resultType\":\"%s\",", type);
}

void ptc_mcp_result_begin(PtcMcpCall *call)
{
    begin_result(call, "complete");
}

static void drop_comma(PtcBuf *out)
{
    if (out->len && out->data[out->len - 1] == ',')
        out->len--;
}

/* Too large or no memory: an error says so instead. */
static void check_size(PtcMcpCall *call)
{
    if (ptc_buf_ok(&call->answer))
        return;
    if (call->answer.full)
        ptc_mcp_refuse(call, 200, PTC_MCP_INTERNAL_ERROR, NULL,
                       "the answer would be larger than %zu bytes", call->answer.max);
    else
        ptc_mcp_refuse(call, 200, PTC_MCP_INTERNAL_ERROR, NULL, "out of memory");
}

void ptc_mcp_result_end(PtcMcpCall *call)
{
    PtcBuf *out = &call->answer;
    if (call->era == PTC_MCP_MODERN) {
        ptc_buf_add_cstr(out, "\"_meta\":{\"" PTC_MCP_META "serverInfo\":");
        ptc_buf_add(out, call->mcp->info.data, call->mcp->info.len);
        ptc_buf_add_char(out, '}');
    } else {
        drop_comma(out);
    }
    ptc_buf_add_cstr(out, "}}");
    call->has_answer = true;
    call->status = 200;
    check_size(call);
}

void ptc_mcp_cache_hints(PtcMcpCall *call, int64_t ttl_ms, bool public_scope)
{
    if (call->era == PTC_MCP_MODERN)
        ptc_buf_addf(&call->answer, "\"ttlMs\":%lld,\"cacheScope\":\"%s\",", (long long)ttl_ms,
                     public_scope ? "public" : "private");
}

void ptc_mcp_empty_result(PtcMcpCall *call)
{
    ptc_mcp_result_begin(call);
    ptc_mcp_result_end(call);
}

bool ptc_mcp_input_required(PtcMcpCall *call)
{
    PtcBuf *out = &call->answer;
    bool state_only = call->has_state && !call->added && !call->structured.len;
    bool may = call->era == PTC_MCP_MODERN && !call->settled && call->body != PTC_MCP_BODY_COMPLETE;
    if (!may || (!call->asks.len && !state_only))
        return false;
    begin_result(call, "input_required");
    if (call->asks.len) {
        ptc_buf_add_cstr(out, "\"inputRequests\":{");
        ptc_buf_add(out, call->asks.data, call->asks.len);
        ptc_buf_add_cstr(out, "},");
    }
    if (call->has_state) {
        ptc_buf_add_cstr(out, "\"requestState\":\"");
        ptc_mcp_add_state(call, out);
        ptc_buf_add_cstr(out, "\",");
    }
    ptc_mcp_result_end(call);
    return true;
}

/* ------------------------------------------------------------------- what handlers fill */

void ptc_mcp_body_begin(PtcMcpCall *call, PtcMcpBody body)
{
    static const char *const openings[] = {
        [PTC_MCP_BODY_TOOL] = "\"content\":[",
        [PTC_MCP_BODY_PROMPT] = "\"messages\":[",
        [PTC_MCP_BODY_RESOURCE] = "\"contents\":[",
        [PTC_MCP_BODY_COMPLETE] = "\"completion\":{\"values\":[",
    };
    call->body = body;
    ptc_mcp_result_begin(call);
    ptc_buf_add_cstr(&call->answer, openings[body]);
    call->head = call->answer.len;
}

/* Clients that know the output schema reject a success without structured content, so the fault is ours. */
static bool promise_kept(PtcMcpCall *call)
{
    if (!call->tool || !call->tool->output_schema || call->is_error || call->structured.len)
        return true;
    ptc_mcp_refuse(call, 200, PTC_MCP_INTERNAL_ERROR, NULL,
                   "%s promises structured content and gave none", call->tool->name);
    return false;
}

static void end_tool(PtcMcpCall *call)
{
    PtcBuf *out = &call->answer;
    if (call->structured.len && !call->added) {
        ptc_buf_add_cstr(out, "{\"type\":\"text\",\"text\":");
        ptc_json_write_string(out, call->structured.data, call->structured.len);
        ptc_buf_add_char(out, '}');
    }
    ptc_buf_add_cstr(out, "],");
    if (call->structured.len) {
        ptc_buf_add_cstr(out, "\"structuredContent\":");
        ptc_buf_add(out, call->structured.data, call->structured.len);
        ptc_buf_add_char(out, ',');
    }
    if (call->is_error)
        ptc_buf_add_cstr(out, "\"isError\":true,");
}

void ptc_mcp_body_end(PtcMcpCall *call)
{
    if (call->settled || ptc_mcp_input_required(call) || !promise_kept(call))
        return;
    PtcBuf *out = &call->answer;
    int64_t ttl = call->resource   ? call->resource->ttl_ms
                  : call->template ? call->template->ttl_ms
                                   : 0;
    switch (call->body) {
    case PTC_MCP_BODY_TOOL: end_tool(call); break;
    case PTC_MCP_BODY_COMPLETE:
        ptc_buf_addf(out, "],\"total\":%zu,\"hasMore\":%s},", call->suggested,
                     call->suggested > call->added ? "true" : "false");
        break;
    case PTC_MCP_BODY_RESOURCE:
        ptc_buf_add_cstr(out, "],");
        ptc_mcp_cache_hints(call, ttl, false);
        break;
    default: ptc_buf_add_cstr(out, "],");
    }
    ptc_mcp_result_end(call);
}
