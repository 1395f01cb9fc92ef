/* SPDX-License-Identifier: MIT
 * Ollama's chat: messages as OpenAI writes them, but arguments are objects and results name their tool. */
#include "llm/provider/ollama.h"

#include "llm/provider/openai.h"
#include "value/str.h"

/* ------------------------------------------------------------------------------ writing */

static void write_ollama_system(const PtcWireOut *w)
{
    const PtcLlmRequest *r = w->request;
    if (!r->system.len && !r->system_more.len)
        return;
    ptc_emit_object(w->out);
    ptc_emit_field_cstr(w->out, "role", "system");
    ptc_emit_key(w->out, "content");
    ptc_emit_string(w->out);
    ptc_emit_string_part(w->out, r->system.bytes ? r->system : PTC_TEXT(""));
    if (r->system.len && r->system_more.len)
        ptc_emit_string_part(w->out, PTC_TEXT("\n\n"));
    ptc_emit_string_part(w->out, r->system_more.bytes ? r->system_more : PTC_TEXT(""));
    ptc_emit_string_end(w->out);
    ptc_emit_object_end(w->out);
}

static void write_ollama_calls(const PtcWireOut *w, const PtcMessage *m)
{
    ptc_emit_key(w->out, "tool_calls");
    ptc_emit_array(w->out);
    for (size_t i = 0; i < m->call_count; i++) {
        ptc_emit_object(w->out);
        ptc_emit_key(w->out, "function");
        ptc_emit_object(w->out);
        ptc_emit_field_text(w->out, "name", m->calls[i].name);
        ptc_emit_key(w->out, "arguments");
        ptc_wire_args_object(w, &m->calls[i]);
        ptc_emit_object_end(w->out);
        ptc_emit_object_end(w->out);
    }
    ptc_emit_array_end(w->out);
}

static void write_ollama_message(const PtcWireOut *w, const PtcMessage *m)
{
    static const char *const roles[] = {"user", "assistant", "tool"};
    bool bare = m->role == PTC_ROLE_TOOL || m->call_count;
    PtcText content = m->content.bytes ? m->content : PTC_TEXT("");
    ptc_emit_object(w->out);
    ptc_emit_field_cstr(w->out, "role", roles[m->role]);
    if (m->role == PTC_ROLE_TOOL)
        ptc_emit_field_text(w->out, "tool_name", m->call_name);
    ptc_emit_field_text(w->out, "content", bare ? content : ptc_wire_content(m));
    if (m->call_count)
        write_ollama_calls(w, m);
    ptc_emit_object_end(w->out);
}

/* Levels are only for models that know them; others either think or do not. */
static void write_ollama_thinking(const PtcWireOut *w)
{
    if (!ptc_wire_thinks(w->request))
        return;
    if (ptc_text_starts(w->target->model, "gpt-oss"))
        ptc_emit_field_cstr(w->out, "think", ptc_wire_effort(w->request));
    else
        ptc_emit_field_bool(w->out, "think", true);
}

static void write_ollama_body(const PtcWireOut *w)
{
    const PtcLlmRequest *r = w->request;
    ptc_emit_object(w->out);
    ptc_emit_field_text(w->out, "model", w->target->model);
    ptc_emit_key(w->out, "messages");
    ptc_emit_array(w->out);
    write_ollama_system(w);
    for (size_t i = 0; i < ptc_llm_message_count(r); i++)
        write_ollama_message(w, ptc_llm_message(r, i));
    ptc_emit_array_end(w->out);
    ptc_openai_write_tools(w);
    if (r->schema.bytes)
        ptc_emit_field_raw(w->out, "format", r->schema);
    write_ollama_thinking(w);
    if (r->max_output_tokens > 0) {
        ptc_emit_key(w->out, "options");
        ptc_emit_object(w->out);
        ptc_emit_field_int(w->out, "num_predict", r->max_output_tokens);
        ptc_emit_object_end(w->out);
    }
    ptc_emit_field_bool(w->out, "stream", w->stream);
    ptc_emit_object_end(w->out);
}

static void write_ollama_path(PtcBuf *url, const PtcTarget *target, bool stream)
{
    (void)target;
    (void)stream;
    ptc_buf_add_cstr(url, "/api/chat");
}

/* ------------------------------------------------------------------------------ reading */

static void read_ollama_calls(PtcWire *w, PtcValue calls)
{
    for (size_t i = 0; i < ptc_json_box_length(calls); i++) {
        PtcValue item = ptc_json_box_item(calls, i);
        PtcValue function = ptc_json_box_get(&w->box, item, "function");
        PtcReplyCall *call = ptc_reply_new_call(&w->reply, -1);
        if (!call)
            return;
        ptc_reply_set_id(&w->reply, call, ptc_json_box_text(&w->box, item, "id"));
        ptc_reply_set_name(&w->reply, call, ptc_json_box_text(&w->box, function, "name"));
        ptc_wire_args_value(w, call, ptc_json_box_get(&w->box, function, "arguments"));
    }
}

/* A complete answer is a stream with a single line. */
static void read_ollama_line(PtcWire *w, PtcValue line)
{
    PtcTokens *t = &w->reply.tokens;
    PtcValue error = ptc_json_box_get(&w->box, line, "error");
    PtcValue message = ptc_json_box_get(&w->box, line, "message");
    if (error != PTC_NONE) {
        ptc_wire_error(w, error);
        return;
    }
    ptc_reply_add_text(&w->reply, ptc_json_box_text(&w->box, message, "content"));
    read_ollama_calls(w, ptc_json_box_get(&w->box, message, "tool_calls"));
    t->input = ptc_wire_tokens(w, line, "prompt_eval_count", t->input);
    t->output = ptc_wire_tokens(w, line, "eval_count", t->output);
    if (!ptc_json_box_bool(&w->box, line, "done"))
        return;
    w->ended = w->over = true;
    w->reply.cut = ptc_text_is(ptc_json_box_text(&w->box, line, "done_reason"), "length");
}

static void read_ollama_reply(PtcWire *w, PtcValue body)
{
    read_ollama_line(w, body);
    if (ptc_reply_ok(&w->reply) && ptc_json_box_get(&w->box, body, "message") == PTC_NONE)
        ptc_reply_fail(&w->reply, PTC_LLM_UNKNOWN, PTC_TEXT("the answer has no \"message\""));
}

static void read_ollama_event(PtcWire *w, PtcText name, PtcValue data)
{
    (void)name;
    read_ollama_line(w, data);
}

const PtcDialect ptc_ollama_dialect = {
    .name = "ollama",
    .framing = PTC_FRAMING_LINES,
    .write = write_ollama_body,
    .path = write_ollama_path,
    .whole = read_ollama_reply,
    .event = read_ollama_event,
};
