/* SPDX-License-Identifier: MIT
 * Anthropic's messages.  Roles alternate, so consecutive messages of one role become one; results of tools count as
 * the user's.  Thoughts are sent back in front of what the model said after them. */
#include "llm/provider/anthropic.h"

#include "value/str.h"

/* ------------------------------------------------------------------------------ writing */

static void write_cache_mark(const PtcWireOut *w)
{
    ptc_emit_field_raw(w->out, "cache_control", PTC_TEXT("{\"type\":\"ephemeral\"}"));
}

static void write_text_block(const PtcWireOut *w, PtcText text, bool mark)
{
    ptc_emit_object(w->out);
    ptc_emit_field_cstr(w->out, "type", "text");
    ptc_emit_field_text(w->out, "text", text);
    if (mark)
        write_cache_mark(w);
    ptc_emit_object_end(w->out);
}

static void write_tool_use(const PtcWireOut *w, const PtcMessageCall *call, bool mark)
{
    ptc_emit_object(w->out);
    ptc_emit_field_cstr(w->out, "type", "tool_use");
    ptc_emit_field_text(w->out, "id", call->id.bytes ? call->id : PTC_TEXT(""));
    ptc_emit_field_text(w->out, "name", call->name);
    ptc_emit_key(w->out, "input");
    ptc_wire_args_object(w, call);
    if (mark)
        write_cache_mark(w);
    ptc_emit_object_end(w->out);
}

static void write_assistant_blocks(const PtcWireOut *w, const PtcMessage *m, bool mark)
{
    PtcValue thoughts = ptc_wire_opaque(w, m);
    for (size_t i = 0; i < ptc_json_box_length(thoughts); i++)
        ptc_emit_value(w->out, &w->box->heap, ptc_json_box_item(thoughts, i));
    if (m->content.len || !m->call_count)
        write_text_block(w, ptc_wire_content(m), mark && !m->call_count);
    for (size_t i = 0; i < m->call_count; i++)
        write_tool_use(w, &m->calls[i], mark && i + 1 == m->call_count);
}

static void write_tool_result(const PtcWireOut *w, const PtcMessage *m, bool mark)
{
    ptc_emit_object(w->out);
    ptc_emit_field_cstr(w->out, "type", "tool_result");
    ptc_emit_field_text(w->out, "tool_use_id", m->call_id);
    ptc_emit_field_text(w->out, "content", m->content.bytes ? m->content : PTC_TEXT(""));
    if (m->is_error)
        ptc_emit_field_bool(w->out, "is_error", true);
    if (mark)
        write_cache_mark(w);
    ptc_emit_object_end(w->out);
}

/* The very last block is marked: everything before it will be the same in the next request. */
static void write_message_blocks(const PtcWireOut *w, const PtcMessage *m, size_t i)
{
    bool mark = i + 1 == ptc_llm_message_count(w->request);
    if (m->role == PTC_ROLE_ASSISTANT)
        write_assistant_blocks(w, m, mark);
    else if (m->role == PTC_ROLE_TOOL)
        write_tool_result(w, m, mark);
    else
        write_text_block(w, ptc_wire_content(m), mark);
}

static void write_anthropic_tools(const PtcWireOut *w)
{
    const PtcLlmRequest *r = w->request;
    if (!r->tool_count)
        return;
    ptc_emit_key(w->out, "tools");
    ptc_emit_array(w->out);
    for (size_t i = 0; i < r->tool_count; i++) {
        ptc_emit_object(w->out);
        ptc_wire_write_tool(w, &r->tools[i], "input_schema");
        ptc_emit_object_end(w->out);
    }
    ptc_emit_array_end(w->out);
    if (r->one_call)
        ptc_emit_field_raw(w->out, "tool_choice",
                           PTC_TEXT("{\"type\":\"auto\",\"disable_parallel_tool_use\":true}"));
}

/* The schema as a member of output_config, for models that can enforce it; for others it is only in the prompt. */
static void write_format(const PtcWireOut *w, int version)
{
    PtcBuf closed;
    if (!w->request->schema.bytes || version < PTC_CLAUDE_SCHEMA)
        return;
    ptc_buf_init(&closed, w->out->mem, PTC_LLM_REQUEST_BYTES);
    if (ptc_wire_closed_schema(w, &closed) != PTC_CLOSED_SCHEMA_OPEN) {
        ptc_emit_key(w->out, "format");
        ptc_emit_object(w->out);
        ptc_emit_field_cstr(w->out, "type", "json_schema");
        ptc_emit_field_raw(w->out, "schema", ptc_buf_view(&closed));
        ptc_emit_object_end(w->out);
    }
    ptc_buf_deinit(&closed);
}

static void write_output_config(const PtcWireOut *w, int version)
{
    size_t before = w->out->len;
    ptc_emit_key(w->out, "output_config");
    ptc_emit_object(w->out);
    size_t empty = w->out->len;
    if (ptc_wire_thinks(w->request) && version >= PTC_CLAUDE_ADAPTIVE)
        ptc_emit_field_cstr(w->out, "effort", ptc_wire_effort(w->request));
    write_format(w, version);
    if (w->out->len == empty)
        w->out->len = before;
    else
        ptc_emit_object_end(w->out);
}

/* How much to think, and max_tokens, which includes the thoughts. */
static void write_anthropic_limits(const PtcWireOut *w, int version)
{
    const PtcLlmRequest *r = w->request;
    int64_t most = r->max_output_tokens > 0 ? r->max_output_tokens : PTC_CLAUDE_OUTPUT;
    int64_t thinking = ptc_wire_thinking_tokens(r, PTC_CLAUDE_THINKING, PTC_CLAUDE_THINKING_MAX);
    if (ptc_wire_thinks(r))
        most += thinking;
    ptc_emit_field_int(w->out, "max_tokens", most);
    if (!ptc_wire_thinks(r))
        return;
    ptc_emit_key(w->out, "thinking");
    ptc_emit_object(w->out);
    ptc_emit_field_cstr(w->out, "type", version >= PTC_CLAUDE_ADAPTIVE ? "adaptive" : "enabled");
    if (version < PTC_CLAUDE_ADAPTIVE)
        ptc_emit_field_int(w->out, "budget_tokens", thinking);
    ptc_emit_object_end(w->out);
}

static void write_anthropic_body(const PtcWireOut *w)
{
    int version = ptc_wire_claude(w->target->model);
    ptc_emit_object(w->out);
    ptc_emit_field_text(w->out, "model", w->target->model);
    write_anthropic_limits(w, version);
    write_output_config(w, version);
    write_anthropic_tools(w);
    ptc_wire_write_system(w, "system", write_text_block);
    ptc_emit_key(w->out, "messages");
    ptc_wire_write_turns(w, "assistant", "content", write_message_blocks);
    if (w->stream)
        ptc_emit_field_bool(w->out, "stream", true);
    ptc_emit_object_end(w->out);
}

static void write_messages_path(PtcBuf *url, const PtcTarget *target, bool stream)
{
    (void)target;
    (void)stream;
    ptc_buf_add_cstr(url, "/v1/messages");
}

static void write_thinking_block(const PtcWire *w, PtcBuf *json)
{
    PtcText signature = ptc_buf_view(&w->signature);
    ptc_emit_object(json);
    ptc_emit_field_cstr(json, "type", w->sealed ? "redacted_thinking" : "thinking");
    if (w->sealed) {
        ptc_emit_field_text(json, "data", signature);
    } else {
        ptc_emit_field_text(json, "thinking", ptc_buf_view(&w->thought));
        ptc_emit_field_text(json, "signature", signature);
    }
    ptc_emit_object_end(json);
}

/* ------------------------------------------------------------------------------ reading */

/* Anthropic counts input tokens without cached ones; we count all of them. */
static void read_anthropic_usage(PtcWire *w, PtcValue usage)
{
    PtcTokens *t = &w->reply.tokens;
    if (usage == PTC_NONE)
        return;
    int64_t fresh = t->input - t->cache_read - t->cache_creation;
    fresh = ptc_wire_tokens(w, usage, "input_tokens", fresh > 0 ? fresh : 0);
    t->cache_read = ptc_wire_tokens(w, usage, "cache_read_input_tokens", t->cache_read);
    t->cache_creation = ptc_wire_tokens(w, usage, "cache_creation_input_tokens", t->cache_creation);
    t->output = ptc_wire_tokens(w, usage, "output_tokens", t->output);
    t->input = ptc_wire_sum(fresh, t->cache_read, t->cache_creation);
}

static void read_stop_reason(PtcWire *w, PtcValue at)
{
    PtcText reason = ptc_json_box_text(&w->box, at, "stop_reason");
    if (!reason.bytes)
        return;
    w->ended = true;
    if (ptc_text_is(reason, "max_tokens") || ptc_text_is(reason, "model_context_window_exceeded"))
        w->reply.cut = true;
    if (ptc_text_is(reason, "refusal"))
        ptc_reply_fail(&w->reply, PTC_LLM_REFUSED,
                       PTC_TEXT("the model refused to answer (refusal)"));
}

/* The beginning of a block; a complete answer consists of nothing else. */
static void read_reply_block(PtcWire *w, PtcValue block, int64_t number, bool whole)
{
    PtcText type = ptc_json_box_text(&w->box, block, "type");
    if (ptc_text_is(type, "text")) {
        ptc_wire_part(w, PTC_WIRE_PART_TEXT, number);
        ptc_reply_add_text(&w->reply, ptc_json_box_text(&w->box, block, "text"));
    } else if (ptc_text_is(type, "tool_use")) {
        ptc_wire_part(w, PTC_WIRE_PART_CALL, number);
        w->call = ptc_reply_new_call(&w->reply, number);
        if (!w->call)
            return;
        ptc_reply_set_id(&w->reply, w->call, ptc_json_box_text(&w->box, block, "id"));
        ptc_reply_set_name(&w->reply, w->call, ptc_json_box_text(&w->box, block, "name"));
        if (whole) /* in a stream it is {} here, and arrives in pieces */
            ptc_wire_args_value(w, w->call, ptc_json_box_get(&w->box, block, "input"));
    } else if (ptc_text_is(type, "thinking")) {
        ptc_wire_part(w, PTC_WIRE_PART_THOUGHT, number);
        ptc_wire_add_thought(w, ptc_json_box_text(&w->box, block, "thinking"));
        ptc_wire_add_signature(w, ptc_json_box_text(&w->box, block, "signature"));
    } else if (ptc_text_is(type, "redacted_thinking")) {
        ptc_wire_part(w, PTC_WIRE_PART_THOUGHT, number);
        w->sealed = true;
        ptc_wire_add_signature(w, ptc_json_box_text(&w->box, block, "data"));
    } else {
        ptc_wire_part(w, PTC_WIRE_PART_OTHER, number);
    }
}

static void read_anthropic_reply(PtcWire *w, PtcValue body)
{
    PtcValue content = ptc_json_box_get(&w->box, body, "content");
    PtcValue error = ptc_json_box_get(&w->box, body, "error");
    read_anthropic_usage(w, ptc_json_box_get(&w->box, body, "usage"));
    if (error != PTC_NONE)
        ptc_wire_error(w, error);
    else if (content == PTC_NONE || !ptc_is_sequential(content))
        ptc_reply_fail(&w->reply, PTC_LLM_UNKNOWN, PTC_TEXT("the answer has no \"content\""));
    for (size_t i = 0; i < ptc_json_box_length(content); i++)
        read_reply_block(w, ptc_json_box_item(content, i), (int64_t)i, true);
    read_stop_reason(w, body);
}

static void read_block_delta(PtcWire *w, PtcValue data)
{
    PtcValue delta = ptc_json_box_get(&w->box, data, "delta");
    int64_t number = ptc_json_box_count(&w->box, data, "index", INT64_MAX, 0);
    PtcText type = ptc_json_box_text(&w->box, delta, "type");
    if (number != w->part_number || w->part == PTC_WIRE_PART_NONE) {
        ptc_reply_fail(&w->reply, PTC_LLM_UNKNOWN,
                       PTC_TEXT("the stream goes on with a block that it has not begun"));
        return;
    }
    if (w->part == PTC_WIRE_PART_TEXT && ptc_text_is(type, "text_delta"))
        ptc_reply_add_text(&w->reply, ptc_json_box_text(&w->box, delta, "text"));
    if (w->part == PTC_WIRE_PART_CALL && w->call && ptc_text_is(type, "input_json_delta"))
        ptc_reply_add_args(&w->reply, w->call, ptc_json_box_text(&w->box, delta, "partial_json"));
    if (w->part == PTC_WIRE_PART_THOUGHT && ptc_text_is(type, "thinking_delta"))
        ptc_wire_add_thought(w, ptc_json_box_text(&w->box, delta, "thinking"));
    if (w->part == PTC_WIRE_PART_THOUGHT && ptc_text_is(type, "signature_delta"))
        ptc_wire_add_signature(w, ptc_json_box_text(&w->box, delta, "signature"));
}

static void read_anthropic_event(PtcWire *w, PtcText name, PtcValue data)
{
    PtcText type = ptc_json_box_text(&w->box, data, "type");
    (void)name; /* the data says the same */
    if (ptc_text_is(type, "message_start")) {
        read_anthropic_usage(
            w, ptc_json_box_get(&w->box, ptc_json_box_get(&w->box, data, "message"), "usage"));
    } else if (ptc_text_is(type, "content_block_start")) {
        read_reply_block(w, ptc_json_box_get(&w->box, data, "content_block"),
                         ptc_json_box_count(&w->box, data, "index", INT64_MAX, 0), false);
    } else if (ptc_text_is(type, "content_block_delta")) {
        read_block_delta(w, data);
    } else if (ptc_text_is(type, "message_delta")) {
        read_anthropic_usage(w, ptc_json_box_get(&w->box, data, "usage"));
        read_stop_reason(w, ptc_json_box_get(&w->box, data, "delta"));
    } else if (ptc_text_is(type, "message_stop")) {
        w->over = true;
    } else if (ptc_text_is(type, "error")) {
        ptc_wire_error(w, ptc_json_box_get(&w->box, data, "error"));
    }
}

const PtcDialect ptc_anthropic_dialect = {
    .name = "anthropic",
    .framing = PTC_FRAMING_SSE,
    .write = write_anthropic_body,
    .path = write_messages_path,
    .whole = read_anthropic_reply,
    .event = read_anthropic_event,
    .thought = write_thinking_block,
};
