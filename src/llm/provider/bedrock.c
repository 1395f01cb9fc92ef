/* SPDX-License-Identifier: MIT
 * Bedrock's Converse.  Blocks have no type: their only member says what they are. */
#include "llm/provider/bedrock.h"

#include "base/ascii.h"
#include "llm/provider/anthropic.h"
#include "net/url.h"
#include "value/coll/map.h"
#include "value/str.h"

bool ptc_bedrock_is_region(PtcText region)
{
    for (size_t i = 0; i < region.len; i++) {
        char c = region.bytes[i];
        if (!(ptc_ascii_is_lower(c) || ptc_ascii_is_digit(c) || c == '-'))
            return false;
    }
    return region.len >= 1 && region.len <= 32;
}

bool ptc_bedrock_add_model(PtcBuf *out, PtcText model, PtcText region)
{
    static const struct {
        const char *region, *prefix;
    } rows[] = {{"us-gov-", "us-gov."}, {"us-", "us."}, {"eu-", "eu."}, {"ap-", "apac."}};
    for (size_t i = 0; ptc_text_starts(model, "amazon.") && i < sizeof rows / sizeof *rows; i++)
        if (ptc_text_starts(region, rows[i].region)) {
            ptc_buf_add_cstr(out, rows[i].prefix);
            break;
        }
    return ptc_buf_add(out, model.bytes, model.len);
}

static bool has_part(PtcText text, const char *part)
{
    size_t n = strlen(part);
    for (size_t at = 0; at + n <= text.len; at++)
        if (memcmp(text.bytes + at, part, n) == 0)
            return true;
    return false;
}

/* Claude and Nova cache what is marked, and accept a mark on results that are errors. */
static bool is_claude_or_nova(const PtcWireOut *w)
{
    return has_part(w->target->model, "claude") || has_part(w->target->model, "amazon.nova");
}

/* ------------------------------------------------------------------------------ writing */

static void write_text(const PtcWireOut *w, PtcText text)
{
    ptc_emit_object(w->out);
    ptc_emit_field_text(w->out, "text", text);
    ptc_emit_object_end(w->out);
}

static void write_cache_point(const PtcWireOut *w)
{
    if (!is_claude_or_nova(w))
        return;
    ptc_emit_object(w->out);
    ptc_emit_field_raw(w->out, "cachePoint", PTC_TEXT("{\"type\":\"default\"}"));
    ptc_emit_object_end(w->out);
}

static void write_converse_system(const PtcWireOut *w, PtcText text, bool fixed)
{
    write_text(w, text);
    if (fixed)
        write_cache_point(w);
}

static void write_converse_call(const PtcWireOut *w, const PtcMessageCall *call)
{
    ptc_emit_object(w->out);
    ptc_emit_key(w->out, "toolUse");
    ptc_emit_object(w->out);
    ptc_emit_field_text(w->out, "toolUseId", call->id.bytes ? call->id : PTC_TEXT(""));
    ptc_emit_field_text(w->out, "name", call->name);
    ptc_emit_key(w->out, "input");
    ptc_wire_args_object(w, call);
    ptc_emit_object_end(w->out);
    ptc_emit_object_end(w->out);
}

static void write_converse_assistant(const PtcWireOut *w, const PtcMessage *m)
{
    PtcValue thoughts = ptc_wire_opaque(w, m);
    for (size_t i = 0; i < ptc_json_box_length(thoughts); i++)
        ptc_emit_value(w->out, &w->box->heap, ptc_json_box_item(thoughts, i));
    if (m->content.len || !m->call_count)
        write_text(w, ptc_wire_content(m));
    for (size_t i = 0; i < m->call_count; i++)
        write_converse_call(w, &m->calls[i]);
}

static void write_converse_result(const PtcWireOut *w, const PtcMessage *m)
{
    ptc_emit_object(w->out);
    ptc_emit_key(w->out, "toolResult");
    ptc_emit_object(w->out);
    ptc_emit_field_text(w->out, "toolUseId", m->call_id);
    ptc_emit_key(w->out, "content");
    ptc_emit_array(w->out);
    write_text(w, ptc_wire_content(m));
    ptc_emit_array_end(w->out);
    if (is_claude_or_nova(w))
        ptc_emit_field_cstr(w->out, "status", m->is_error ? "error" : "success");
    ptc_emit_object_end(w->out);
    ptc_emit_object_end(w->out);
}

static void write_converse_blocks(const PtcWireOut *w, const PtcMessage *m, size_t i)
{
    (void)i;
    if (m->role == PTC_ROLE_ASSISTANT)
        write_converse_assistant(w, m);
    else if (m->role == PTC_ROLE_TOOL)
        write_converse_result(w, m);
    else
        write_text(w, ptc_wire_content(m));
}

static void write_tool_config(const PtcWireOut *w)
{
    const PtcLlmRequest *r = w->request;
    if (!r->tool_count)
        return;
    ptc_emit_key(w->out, "toolConfig");
    ptc_emit_object(w->out);
    ptc_emit_key(w->out, "tools");
    ptc_emit_array(w->out);
    for (size_t i = 0; i < r->tool_count; i++) {
        ptc_emit_object(w->out);
        ptc_emit_key(w->out, "toolSpec");
        ptc_emit_object(w->out);
        ptc_emit_field_text(w->out, "name", r->tools[i].name);
        if (r->tools[i].description.len) /* it may not be empty */
            ptc_emit_field_text(w->out, "description", r->tools[i].description);
        ptc_emit_key(w->out, "inputSchema");
        ptc_emit_object(w->out);
        ptc_emit_field_raw(w->out, "json", r->tools[i].parameters);
        ptc_emit_object_end(w->out);
        ptc_emit_object_end(w->out);
        ptc_emit_object_end(w->out);
    }
    write_cache_point(w);
    ptc_emit_array_end(w->out);
    ptc_emit_object_end(w->out);
}

/* For models that can be made to follow a schema; for others it is only in the prompt. */
static void write_converse_schema(const PtcWireOut *w, int version)
{
    PtcBuf closed;
    if (!w->request->schema.bytes || version < PTC_CLAUDE_SCHEMA)
        return;
    ptc_buf_init(&closed, w->out->mem, PTC_LLM_REQUEST_BYTES);
    if (ptc_wire_closed_schema(w, &closed) != PTC_CLOSED_SCHEMA_OPEN) {
        ptc_emit_key(w->out, "outputConfig");
        ptc_emit_raw(w->out, PTC_TEXT("{\"textFormat\":{\"type\":\"json_schema\",\"structure\":"
                                      "{\"jsonSchema\":{\"name\":\"answer\",\"schema\":"));
        ptc_emit_text(w->out, ptc_buf_view(&closed));
        ptc_buf_add_cstr(w->out, "}}}}");
    }
    ptc_buf_deinit(&closed);
}

static void write_converse_thinking(const PtcWireOut *w, int64_t tokens, int version)
{
    ptc_emit_key(w->out, "additionalModelRequestFields");
    ptc_emit_object(w->out);
    ptc_emit_key(w->out, "thinking");
    ptc_emit_object(w->out);
    ptc_emit_field_cstr(w->out, "type", version >= PTC_CLAUDE_ADAPTIVE ? "adaptive" : "enabled");
    if (version < PTC_CLAUDE_ADAPTIVE)
        ptc_emit_field_int(w->out, "budget_tokens", tokens);
    ptc_emit_object_end(w->out);
    if (version >= PTC_CLAUDE_ADAPTIVE) {
        ptc_emit_key(w->out, "output_config");
        ptc_emit_object(w->out);
        ptc_emit_field_cstr(w->out, "effort", ptc_wire_effort(w->request));
        ptc_emit_object_end(w->out);
    }
    ptc_emit_object_end(w->out);
}

/* Only Claude is told how much to think, and then needs an output limit above that. */
static void write_converse_limits(const PtcWireOut *w, int version)
{
    const PtcLlmRequest *r = w->request;
    bool thinks = ptc_wire_thinks(r) && version > 0;
    int64_t tokens = ptc_wire_thinking_tokens(r, PTC_CLAUDE_THINKING, PTC_CLAUDE_THINKING_MAX);
    int64_t most = r->max_output_tokens;
    if (thinks)
        most = (most > 0 ? most : PTC_CLAUDE_OUTPUT) + tokens;
    if (most > 0) {
        ptc_emit_key(w->out, "inferenceConfig");
        ptc_emit_object(w->out);
        ptc_emit_field_int(w->out, "maxTokens", most);
        ptc_emit_object_end(w->out);
    }
    if (thinks)
        write_converse_thinking(w, tokens, version);
}

static void write_converse_body(const PtcWireOut *w)
{
    int version = ptc_wire_claude(w->target->model);
    ptc_emit_object(w->out);
    ptc_wire_write_system(w, "system", write_converse_system);
    ptc_emit_key(w->out, "messages");
    ptc_wire_write_turns(w, "assistant", "content", write_converse_blocks);
    write_tool_config(w);
    write_converse_limits(w, version);
    write_converse_schema(w, version);
    ptc_emit_object_end(w->out);
}

static void write_converse_path(PtcBuf *url, const PtcTarget *target, bool stream)
{
    ptc_buf_add_cstr(url, "/model/");
    ptc_url_encode(url, target->model);
    ptc_buf_add_cstr(url, stream ? "/converse-stream" : "/converse");
}

static void write_reasoning_content(const PtcWire *w, PtcBuf *json)
{
    PtcText signature = ptc_buf_view(&w->signature);
    ptc_emit_object(json);
    ptc_emit_key(json, "reasoningContent");
    ptc_emit_object(json);
    if (w->sealed) {
        ptc_emit_field_text(json, "redactedContent", signature);
    } else {
        ptc_emit_key(json, "reasoningText");
        ptc_emit_object(json);
        ptc_emit_field_text(json, "text", ptc_buf_view(&w->thought));
        if (signature.len)
            ptc_emit_field_text(json, "signature", signature);
        ptc_emit_object_end(json);
    }
    ptc_emit_object_end(json);
    ptc_emit_object_end(json);
}

/* ------------------------------------------------------------------------------ reading */

static void read_converse_usage(PtcWire *w, PtcValue usage)
{
    PtcTokens *t = &w->reply.tokens;
    if (usage == PTC_NONE)
        return;
    t->cache_read = ptc_wire_tokens(w, usage, "cacheReadInputTokens", 0);
    t->cache_creation = ptc_wire_tokens(w, usage, "cacheWriteInputTokens", 0);
    t->input =
        ptc_wire_sum(ptc_wire_tokens(w, usage, "inputTokens", 0), t->cache_read, t->cache_creation);
    t->output = ptc_wire_tokens(w, usage, "outputTokens", 0);
}

static void read_converse_reason(PtcWire *w, PtcValue at)
{
    PtcText reason = ptc_json_box_text(&w->box, at, "stopReason");
    if (!reason.bytes)
        return;
    w->ended = true;
    if (ptc_text_is(reason, "max_tokens") || ptc_text_is(reason, "model_context_window_exceeded"))
        w->reply.cut = true;
    if (ptc_text_is(reason, "guardrail_intervened") || ptc_text_is(reason, "content_filtered"))
        ptc_reply_failf(&w->reply, PTC_LLM_REFUSED, "a filter stopped the reply (%.*s)",
                        PTC_ARG(reason));
}

static void begin_call(PtcWire *w, PtcValue use, int64_t number)
{
    ptc_wire_part(w, PTC_WIRE_PART_CALL, number);
    w->call = ptc_reply_new_call(&w->reply, number);
    if (!w->call)
        return;
    ptc_reply_set_id(&w->reply, w->call, ptc_json_box_text(&w->box, use, "toolUseId"));
    ptc_reply_set_name(&w->reply, w->call, ptc_json_box_text(&w->box, use, "name"));
}

static void read_converse_block(PtcWire *w, PtcValue block, int64_t number)
{
    PtcValue use = ptc_json_box_get(&w->box, block, "toolUse");
    ptc_reply_add_text(&w->reply, ptc_json_box_text(&w->box, block, "text"));
    if (ptc_json_box_get(&w->box, block, "reasoningContent") != PTC_NONE)
        ptc_wire_keep(w, block, true);
    if (use == PTC_NONE)
        return;
    begin_call(w, use, number);
    ptc_wire_args_value(w, w->call, ptc_json_box_get(&w->box, use, "input"));
}

static void read_converse_reply(PtcWire *w, PtcValue body)
{
    PtcValue output = ptc_json_box_get(&w->box, body, "output");
    PtcValue message = ptc_json_box_get(&w->box, output, "message");
    PtcValue content = ptc_json_box_get(&w->box, message, "content");
    read_converse_usage(w, ptc_json_box_get(&w->box, body, "usage"));
    read_converse_reason(w, body);
    if (content == PTC_NONE || !ptc_is_sequential(content))
        ptc_reply_fail(&w->reply, PTC_LLM_UNKNOWN,
                       PTC_TEXT("the answer has no \"output.message\""));
    for (size_t i = 0; i < ptc_json_box_length(content); i++)
        read_converse_block(w, ptc_json_box_item(content, i), (int64_t)i);
}

static void read_thought(PtcWire *w, PtcValue piece, int64_t number)
{
    PtcText sealed = ptc_json_box_text(&w->box, piece, "redactedContent");
    ptc_wire_part(w, PTC_WIRE_PART_THOUGHT, number);
    ptc_wire_add_thought(w, ptc_json_box_text(&w->box, piece, "text"));
    ptc_wire_add_signature(w, ptc_json_box_text(&w->box, piece, "signature"));
    ptc_wire_add_signature(w, sealed);
    w->sealed = w->sealed || sealed.bytes;
}

static void read_converse_delta(PtcWire *w, PtcValue data)
{
    PtcValue delta = ptc_json_box_get(&w->box, data, "delta");
    PtcValue use = ptc_json_box_get(&w->box, delta, "toolUse");
    PtcValue thought = ptc_json_box_get(&w->box, delta, "reasoningContent");
    PtcText text = ptc_json_box_text(&w->box, delta, "text");
    int64_t number = ptc_json_box_count(&w->box, data, "contentBlockIndex", INT64_MAX, 0);
    if (text.bytes) {
        ptc_wire_part(w, PTC_WIRE_PART_TEXT, number);
        ptc_reply_add_text(&w->reply, text);
    }
    if (thought != PTC_NONE)
        read_thought(w, thought, number);
    if (use == PTC_NONE)
        return;
    if (w->part != PTC_WIRE_PART_CALL || w->part_number != number || !w->call)
        ptc_reply_fail(&w->reply, PTC_LLM_UNKNOWN,
                       PTC_TEXT("the stream goes on with a call that it has not begun"));
    else
        ptc_reply_add_args(&w->reply, w->call, ptc_json_box_text(&w->box, use, "input"));
}

static void read_converse_event(PtcWire *w, PtcText name, PtcValue data)
{
    if (ptc_text_is(name, "contentBlockStart")) {
        PtcValue start = ptc_json_box_get(&w->box, data, "start");
        PtcValue use = ptc_json_box_get(&w->box, start, "toolUse");
        int64_t number = ptc_json_box_count(&w->box, data, "contentBlockIndex", INT64_MAX, 0);
        if (use != PTC_NONE)
            begin_call(w, use, number);
    } else if (ptc_text_is(name, "contentBlockDelta")) {
        read_converse_delta(w, data);
    } else if (ptc_text_is(name, "contentBlockStop")) {
        ptc_wire_part(w, PTC_WIRE_PART_NONE, -1);
    } else if (ptc_text_is(name, "messageStop")) {
        read_converse_reason(w, data);
    } else if (ptc_text_is(name, "metadata")) {
        read_converse_usage(w, ptc_json_box_get(&w->box, data, "usage"));
        w->over = true;
    }
}

const PtcDialect ptc_bedrock_dialect = {
    .name = "bedrock",
    .framing = PTC_FRAMING_EVENTSTREAM,
    .write = write_converse_body,
    .path = write_converse_path,
    .whole = read_converse_reply,
    .event = read_converse_event,
    .thought = write_reasoning_content,
};
