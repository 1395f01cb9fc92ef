/* SPDX-License-Identifier: MIT
 * What handlers add to their answers.  What always holds: nothing that is not UTF-8 or not JSON leaves the server,
 * and nothing follows an error. */
#include "base/utf8.h"
#include "json/check.h"
#include "json/parse.h"
#include "json/write.h"
#include "mcp/server/mcp_int.h"

/* May content of this kind be added now?  A handler that adds what its method does not have is a bug of ours. */
static bool may_add(PtcMcpCall *call, PtcMcpBody body)
{
    if (call->settled || call->is_error)
        return false;
    if (call->body == body)
        return true;
    ptc_mcp_refuse(call, 200, PTC_MCP_INTERNAL_ERROR, NULL,
                   "the handler answered with the wrong kind of content");
    return false;
}

/* Adds a JSON string; what is not UTF-8 becomes an error. */
static void add_content_string(PtcMcpCall *call, const char *bytes, size_t len)
{
    if (ptc_utf8_valid(bytes, len))
        ptc_emit_text(&call->answer, (PtcText){bytes ? bytes : "", len});
    else
        ptc_mcp_refuse(call, 200, PTC_MCP_INTERNAL_ERROR, NULL,
                       "the handler answered with bytes that are not UTF-8");
}

/* Nothing follows an error, which has replaced the answer. */
static void add_bytes(PtcMcpCall *call, const char *name, const char *bytes, size_t len)
{
    if (call->settled)
        return;
    ptc_emit_key(&call->answer, name);
    add_content_string(call, bytes, len);
}

static void add_content_member(PtcMcpCall *call, const char *name, const char *text)
{
    if (text)
        add_bytes(call, name, text, strlen(text));
}

static void begin_block(PtcMcpCall *call, const char *type)
{
    ptc_emit_object(&call->answer);
    ptc_emit_field_cstr(&call->answer, "type", type);
}

static void end_block(PtcMcpCall *call)
{
    if (!call->settled)
        ptc_emit_object_end(&call->answer);
}

/* ----------------------------------------------------------------------------- blocks */

static void text_block(PtcMcpCall *call, const char *bytes, size_t len)
{
    begin_block(call, "text");
    add_bytes(call, "text", bytes, len);
    end_block(call);
}

static void media_block(PtcMcpCall *call, const char *type, const char *base64, const char *mime)
{
    begin_block(call, type);
    add_content_member(call, "data", base64);
    add_content_member(call, "mimeType", mime);
    end_block(call);
}

static void embed_block(PtcMcpCall *call, PtcText uri, const char *mime, const char *bytes,
                        size_t len)
{
    begin_block(call, "resource");
    ptc_emit_key(&call->answer, "resource");
    ptc_emit_object(&call->answer);
    add_bytes(call, "uri", uri.bytes, uri.len);
    add_content_member(call, "mimeType", mime);
    add_bytes(call, "text", bytes, len);
    end_block(call);
    end_block(call);
}

/* ------------------------------------------------------------------------------ tools */

void ptc_mcp_text(PtcMcpCall *call, const char *bytes, size_t len)
{
    if (!may_add(call, PTC_MCP_BODY_TOOL))
        return;
    call->added++;
    text_block(call, bytes, len);
}

/* The formatted text, in the call's scratch buffer; NULL when out of memory, which is then answered. */
static const PtcBuf *format_call_text(PtcMcpCall *call, const char *format, va_list args)
{
    ptc_buf_clear(&call->scratch);
    if (ptc_buf_vaddf(&call->scratch, format, args))
        return &call->scratch;
    ptc_mcp_refuse(call, 200, PTC_MCP_INTERNAL_ERROR, NULL, "out of memory");
    return NULL;
}

void ptc_mcp_textf(PtcMcpCall *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const PtcBuf *text = format_call_text(call, format, args);
    va_end(args);
    if (text)
        ptc_mcp_text(call, text->data, text->len);
}

void ptc_mcp_image(PtcMcpCall *call, const char *base64, const char *mime)
{
    if (!may_add(call, PTC_MCP_BODY_TOOL))
        return;
    call->added++;
    media_block(call, "image", base64, mime);
}

void ptc_mcp_audio(PtcMcpCall *call, const char *base64, const char *mime)
{
    if (!may_add(call, PTC_MCP_BODY_TOOL))
        return;
    call->added++;
    media_block(call, "audio", base64, mime);
}

void ptc_mcp_block(PtcMcpCall *call, PtcText json)
{
    if (!may_add(call, PTC_MCP_BODY_TOOL))
        return;
    call->added++;
    ptc_emit_raw(&call->answer, json);
}

void ptc_mcp_embed(PtcMcpCall *call, PtcText uri, const char *mime, const char *bytes, size_t len)
{
    if (!may_add(call, PTC_MCP_BODY_TOOL))
        return;
    call->added++;
    embed_block(call, uri, mime, bytes, len);
}

/* In the words of whoever writes values. */
static void refuse_data(PtcMcpCall *call)
{
    if (call->structured.full)
        ptc_mcp_refuse(call, 200, PTC_MCP_INTERNAL_ERROR, NULL,
                       "structured content: the JSON is longer than %zu bytes",
                       call->structured.max);
    else
        ptc_mcp_refuse(call, 200, PTC_MCP_INTERNAL_ERROR, NULL, "out of memory");
}

static void mcp_structured_value(PtcMcpCall *call, PtcValue map)
{
    PtcJsonError error;
    PtcJsonWriter writer = {&call->heap, -1, NULL};
    if (!may_add(call, PTC_MCP_BODY_TOOL))
        return;
    ptc_buf_clear(&call->structured);
    if (!ptc_is_map(map))
        ptc_mcp_refuse(call, 200, PTC_MCP_INTERNAL_ERROR, NULL,
                       "structured content must be an object");
    else if (!ptc_json_write(&writer, &call->structured, map, &error))
        ptc_mcp_refuse(call, 200, PTC_MCP_INTERNAL_ERROR, NULL, "structured content: %s",
                       error.message);
}

/* An object on one line goes into the answer as it is; anything else is parsed first, which finds out what is wrong
 * with it. */
void ptc_mcp_structured(PtcMcpCall *call, const char *json, size_t len)
{
    PtcJsonError error;
    if (!may_add(call, PTC_MCP_BODY_TOOL))
        return;
    if (len > 0 && json[0] == '{' && ptc_json_is_line(json, len)) {
        ptc_buf_clear(&call->structured);
        if (!ptc_emit_raw(&call->structured, (PtcText){json, len}))
            refuse_data(call);
        return;
    }
    PtcValue v = ptc_json_parse(&call->heap, json, len, &error);
    if (v == PTC_NONE)
        ptc_mcp_refuse(call, 200, PTC_MCP_INTERNAL_ERROR, NULL, "structured content: %s",
                       error.message);
    else
        mcp_structured_value(call, v);
}

/* What was added so far is dropped: a model should see the failure and nothing else. */
void ptc_mcp_fail(PtcMcpCall *call, const char *bytes, size_t len)
{
    if (!may_add(call, PTC_MCP_BODY_TOOL))
        return;
    ptc_buf_clear(&call->structured);
    ptc_buf_clear(&call->asks);
    call->answer.full = call->answer.failed = false;
    call->answer.len = call->head;
    call->added = 1;
    text_block(call, bytes, len);
    call->is_error = true;
}

void ptc_mcp_failf(PtcMcpCall *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const PtcBuf *text = format_call_text(call, format, args);
    va_end(args);
    if (text)
        ptc_mcp_fail(call, text->data, text->len);
}

/* ------------------------------------------------------- prompts, resources, completions */

static bool begin_message(PtcMcpCall *call, const char *role)
{
    if (!may_add(call, PTC_MCP_BODY_PROMPT))
        return false;
    call->added++;
    ptc_emit_object(&call->answer);
    ptc_emit_field_cstr(&call->answer, "role", role);
    ptc_emit_key(&call->answer, "content");
    return true;
}

void ptc_mcp_message_text(PtcMcpCall *call, const char *role, const char *bytes, size_t len)
{
    if (begin_message(call, role)) {
        text_block(call, bytes, len);
        end_block(call);
    }
}

void ptc_mcp_message_image(PtcMcpCall *call, const char *role, const char *base64, const char *mime)
{
    if (begin_message(call, role)) {
        media_block(call, "image", base64, mime);
        end_block(call);
    }
}

void ptc_mcp_message_embed(PtcMcpCall *call, const char *role, PtcText uri, const char *mime,
                           const char *bytes, size_t len)
{
    if (begin_message(call, role)) {
        embed_block(call, uri, mime, bytes, len);
        end_block(call);
    }
}

/* The row's type serves when the handler does not say otherwise. */
static bool begin_contents(PtcMcpCall *call, const char *mime)
{
    if (!may_add(call, PTC_MCP_BODY_RESOURCE))
        return false;
    if (!mime)
        mime = call->resource ? call->resource->mime : call->template ? call->template->mime : NULL;
    call->added++;
    ptc_emit_object(&call->answer);
    add_bytes(call, "uri", call->name.bytes, call->name.len);
    add_content_member(call, "mimeType", mime);
    return true;
}

void ptc_mcp_contents_text(PtcMcpCall *call, const char *mime, const char *bytes, size_t len)
{
    if (begin_contents(call, mime)) {
        add_bytes(call, "text", bytes, len);
        end_block(call);
    }
}

void ptc_mcp_contents_blob(PtcMcpCall *call, const char *mime, const char *base64)
{
    if (begin_contents(call, mime)) {
        add_content_member(call, "blob", base64);
        end_block(call);
    }
}

/* Counts all of them, so that the client knows there are more than it gets. */
void ptc_mcp_suggest(PtcMcpCall *call, const char *bytes, size_t len)
{
    if (!may_add(call, PTC_MCP_BODY_COMPLETE))
        return;
    call->suggested++;
    if (call->added == PTC_MCP_MAX_SUGGESTIONS)
        return;
    call->added++;
    add_content_string(call, bytes, len);
}
