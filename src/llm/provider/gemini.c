/* SPDX-License-Identifier: MIT
 * Google's generateContent.  What a model said is sent back in the same parts, since some of them are signed and
 * Google refuses calls without their signature.  Calls have ids only if Google gave them one. */
#include "llm/provider/gemini.h"

#include "net/url.h"
#include "value/coll/map.h"
#include "value/str.h"

enum { THINKING_MAX = 24576 };

/* ------------------------------------------------------------------------------ writing */

static void write_text(const PtcWireOut *w, PtcText text)
{
    ptc_emit_object(w->out);
    ptc_emit_field_text(w->out, "text", text);
    ptc_emit_object_end(w->out);
}

static void write_gemini_system_part(const PtcWireOut *w, PtcText text, bool fixed)
{
    (void)fixed;
    write_text(w, text);
}

static void write_gemini_system(const PtcWireOut *w)
{
    if (!w->request->system.len && !w->request->system_more.len)
        return;
    ptc_emit_key(w->out, "systemInstruction");
    ptc_emit_object(w->out);
    ptc_wire_write_system(w, "parts", write_gemini_system_part);
    ptc_emit_object_end(w->out);
}

/* Models before version 3 take a number of tokens for thinking and require no signatures. */
static bool is_older(const PtcWireOut *w)
{
    return ptc_text_starts(w->target->model, "gemini-2") ||
           ptc_text_starts(w->target->model, "gemini-1");
}

/* A call that came from elsewhere has no signature; this word is accepted in place of one where one is required. */
static void write_function_call(const PtcWireOut *w, const PtcMessageCall *call, bool first)
{
    ptc_emit_object(w->out);
    if (first && !is_older(w))
        ptc_emit_field_cstr(w->out, "thoughtSignature", "skip_thought_signature_validator");
    ptc_emit_key(w->out, "functionCall");
    ptc_emit_object(w->out);
    ptc_emit_field_text(w->out, "name", call->name);
    ptc_emit_key(w->out, "args");
    ptc_wire_args_object(w, call);
    ptc_emit_object_end(w->out);
    ptc_emit_object_end(w->out);
}

static void write_model(const PtcWireOut *w, const PtcMessage *m)
{
    PtcValue parts = ptc_wire_opaque(w, m);
    if (parts != PTC_NONE) {
        for (size_t i = 0; i < ptc_json_box_length(parts); i++)
            ptc_emit_value(w->out, &w->box->heap, ptc_json_box_item(parts, i));
        return;
    }
    if (m->content.len || !m->call_count)
        write_text(w, ptc_wire_content(m));
    for (size_t i = 0; i < m->call_count; i++)
        write_function_call(w, &m->calls[i], i == 0);
}

/* The id of a result, if the call that it answers got one from Google: an id of ours means nothing there. */
static bool knows_id(const PtcWireOut *w, size_t before, PtcText id)
{
    while (before > 0) {
        const PtcMessage *m = ptc_llm_message(w->request, --before);
        if (m->role != PTC_ROLE_ASSISTANT)
            continue;
        PtcValue parts = ptc_wire_opaque(w, m);
        for (size_t i = 0; i < ptc_json_box_length(parts); i++) {
            PtcValue call = ptc_json_box_get(w->box, ptc_json_box_item(parts, i), "functionCall");
            PtcText given = ptc_json_box_text(w->box, call, "id");
            if (given.bytes && ptc_text_same(given, id))
                return true;
        }
        return false;
    }
    return false;
}

static void write_function_response(const PtcWireOut *w, const PtcMessage *m, size_t at)
{
    ptc_emit_object(w->out);
    ptc_emit_key(w->out, "functionResponse");
    ptc_emit_object(w->out);
    if (m->call_id.bytes && knows_id(w, at, m->call_id))
        ptc_emit_field_text(w->out, "id", m->call_id);
    ptc_emit_field_text(w->out, "name", m->call_name.bytes ? m->call_name : PTC_TEXT(""));
    ptc_emit_key(w->out, "response");
    ptc_wire_result_object(w, m);
    ptc_emit_object_end(w->out);
    ptc_emit_object_end(w->out);
}

/* A response is an object, so a note is a part of its own. */
static void write_tool_parts(const PtcWireOut *w, const PtcMessage *m, size_t at)
{
    write_function_response(w, m, at);
    if (m->note)
        write_text(w, ptc_llm_note_of(m));
}

static void write_parts(const PtcWireOut *w, const PtcMessage *m, size_t i)
{
    if (m->role == PTC_ROLE_ASSISTANT)
        write_model(w, m);
    else if (m->role == PTC_ROLE_TOOL)
        write_tool_parts(w, m, i);
    else
        write_text(w, ptc_wire_content(m));
}

static void write_gemini_tools(const PtcWireOut *w)
{
    const PtcLlmRequest *r = w->request;
    if (!r->tool_count)
        return;
    ptc_emit_key(w->out, "tools");
    ptc_emit_array(w->out);
    ptc_emit_object(w->out);
    ptc_emit_key(w->out, "functionDeclarations");
    ptc_emit_array(w->out);
    for (size_t i = 0; i < r->tool_count; i++) {
        ptc_emit_object(w->out);
        ptc_wire_write_tool(w, &r->tools[i], "parametersJsonSchema");
        ptc_emit_object_end(w->out);
    }
    ptc_emit_array_end(w->out);
    ptc_emit_object_end(w->out);
    ptc_emit_array_end(w->out);
}

static void write_gemini_thinking(const PtcWireOut *w)
{
    const PtcLlmRequest *r = w->request;
    ptc_emit_key(w->out, "thinkingConfig");
    ptc_emit_object(w->out);
    if (is_older(w))
        ptc_emit_field_int(w->out, "thinkingBudget", ptc_wire_thinking_tokens(r, 0, THINKING_MAX));
    else
        ptc_emit_field_cstr(w->out, "thinkingLevel", ptc_wire_effort(r));
    ptc_emit_object_end(w->out);
}

static void write_config(const PtcWireOut *w)
{
    const PtcLlmRequest *r = w->request;
    if (r->max_output_tokens <= 0 && !r->schema.bytes && !ptc_wire_thinks(r))
        return;
    ptc_emit_key(w->out, "generationConfig");
    ptc_emit_object(w->out);
    if (r->max_output_tokens > 0)
        ptc_emit_field_int(w->out, "maxOutputTokens", r->max_output_tokens);
    if (r->schema.bytes) {
        ptc_emit_field_cstr(w->out, "responseMimeType", "application/json");
        ptc_emit_field_raw(w->out, "responseJsonSchema", r->schema);
    }
    if (ptc_wire_thinks(r))
        write_gemini_thinking(w);
    ptc_emit_object_end(w->out);
}

static void write_gemini_body(const PtcWireOut *w)
{
    ptc_emit_object(w->out);
    write_gemini_system(w);
    ptc_emit_key(w->out, "contents");
    ptc_wire_write_turns(w, "model", "parts", write_parts);
    write_gemini_tools(w);
    write_config(w);
    ptc_emit_object_end(w->out);
}

static void write_gemini_path(PtcBuf *url, const PtcTarget *target, bool stream)
{
    ptc_buf_add_cstr(url, "/v1beta/models/");
    ptc_url_encode(url, target->model);
    ptc_buf_add_cstr(url, stream ? ":streamGenerateContent?alt=sse" : ":generateContent");
}

/* ------------------------------------------------------------------------------ reading */

static void read_gemini_usage(PtcWire *w, PtcValue body)
{
    PtcTokens *t = &w->reply.tokens;
    PtcValue usage = ptc_json_box_get(&w->box, body, "usageMetadata");
    if (usage == PTC_NONE)
        return;
    t->input = ptc_wire_tokens(w, usage, "promptTokenCount", t->input);
    t->cache_read = ptc_wire_tokens(w, usage, "cachedContentTokenCount", t->cache_read);
    int64_t said = ptc_wire_tokens(w, usage, "candidatesTokenCount", -1);
    int64_t thought = ptc_wire_tokens(w, usage, "thoughtsTokenCount", 0);
    if (said >= 0 || thought)
        t->output = ptc_wire_sum(said > 0 ? said : 0, thought, 0);
}

static void read_finish_reason(PtcWire *w, PtcValue candidate)
{
    static const char *const refused[] = {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT",
                                          "SPII",   "LANGUAGE"};
    PtcText reason = ptc_json_box_text(&w->box, candidate, "finishReason");
    if (!reason.bytes)
        return;
    w->ended = true;
    if (ptc_text_is(reason, "MAX_TOKENS"))
        w->reply.cut = true;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (ptc_text_is(reason, refused[i]))
            ptc_reply_failf(&w->reply, PTC_LLM_REFUSED, "a filter stopped the reply (%s)",
                            refused[i]);
}

/* Does a part contain anything that only Google can produce? */
static bool is_signed(PtcWire *w, PtcValue part, PtcValue call)
{
    return ptc_json_box_get(&w->box, part, "thoughtSignature") != PTC_NONE ||
           ptc_json_box_text(&w->box, call, "id").len;
}

static void read_gemini_part(PtcWire *w, PtcValue part)
{
    PtcValue call = ptc_json_box_get(&w->box, part, "functionCall");
    if (!ptc_json_box_bool(&w->box, part, "thought"))
        ptc_reply_add_text(&w->reply, ptc_json_box_text(&w->box, part, "text"));
    if (call != PTC_NONE && ptc_is_map(call)) {
        PtcReplyCall *made = ptc_reply_new_call(&w->reply, -1);
        if (!made)
            return;
        ptc_reply_set_id(&w->reply, made, ptc_json_box_text(&w->box, call, "id"));
        ptc_reply_set_name(&w->reply, made, ptc_json_box_text(&w->box, call, "name"));
        ptc_wire_args_value(w, made, ptc_json_box_get(&w->box, call, "args"));
    }
    ptc_wire_keep(w, part, is_signed(w, part, call));
}

/* An answer, or the next part of one: both have the same form. */
static void read_gemini_answer(PtcWire *w, PtcValue body)
{
    PtcValue error = ptc_json_box_get(&w->box, body, "error");
    PtcValue candidates = ptc_json_box_get(&w->box, body, "candidates");
    PtcValue feedback = ptc_json_box_get(&w->box, body, "promptFeedback");
    PtcText block = ptc_json_box_text(&w->box, feedback, "blockReason");
    read_gemini_usage(w, body);
    if (error != PTC_NONE)
        ptc_wire_error(w, error);
    if (block.len)
        ptc_reply_failf(&w->reply, PTC_LLM_REFUSED, "a filter stopped the prompt (%.*s)",
                        PTC_ARG(ptc_text_cut(block, 64)));
    if (!ptc_json_box_length(candidates))
        return;
    PtcValue candidate = ptc_json_box_item(candidates, 0);
    PtcValue content = ptc_json_box_get(&w->box, candidate, "content");
    PtcValue parts = ptc_json_box_get(&w->box, content, "parts");
    for (size_t i = 0; i < ptc_json_box_length(parts); i++)
        read_gemini_part(w, ptc_json_box_item(parts, i));
    read_finish_reason(w, candidate);
}

static void read_gemini_reply(PtcWire *w, PtcValue body)
{
    read_gemini_answer(w, body);
    if (ptc_reply_ok(&w->reply) &&
        !ptc_json_box_length(ptc_json_box_get(&w->box, body, "candidates")))
        ptc_reply_fail(&w->reply, PTC_LLM_UNKNOWN, PTC_TEXT("the answer has no \"candidates\""));
}

static void read_gemini_event(PtcWire *w, PtcText name, PtcValue data)
{
    (void)name;
    read_gemini_answer(w, data);
}

const PtcDialect ptc_gemini_dialect = {
    .name = "gemini",
    .framing = PTC_FRAMING_SSE,
    .write = write_gemini_body,
    .path = write_gemini_path,
    .whole = read_gemini_reply,
    .event = read_gemini_event,
};
