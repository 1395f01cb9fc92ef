/* SPDX-License-Identifier: MIT
 * Chat completions, for all providers that speak them; where they differ, a trait (openai.h) decides. */
#include "llm/provider/openai.h"

#include "base/ascii.h"
#include "base/text/hmac.h"
#include "llm/provider/provider.h"
#include "value/coll/map.h"
#include "value/str.h"

/* ------------------------------------------------------------------------------ writing */

static unsigned traits_of(const PtcWireOut *w)
{
    return w->target->provider->traits;
}

/* Claude via OpenRouter: it caches what is marked, and nothing else. */
static bool marks_cache(const PtcWireOut *w)
{
    return (traits_of(w) & PTC_OPENAI_OPENROUTER) &&
           ptc_text_starts(w->target->model, "anthropic/");
}

static void write_openai_part(const PtcWireOut *w, PtcText text, bool mark)
{
    ptc_emit_object(w->out);
    ptc_emit_field_cstr(w->out, "type", "text");
    ptc_emit_field_text(w->out, "text", text);
    if (mark)
        ptc_emit_field_raw(w->out, "cache_control", PTC_TEXT("{\"type\":\"ephemeral\"}"));
    ptc_emit_object_end(w->out);
}

/* The schema in words, for endpoints that accept no schema. */
static void write_schema_words(const PtcWireOut *w)
{
    ptc_emit_string_part(w->out, PTC_TEXT("\n\nAnswer with JSON only, an object that fits this "
                                          "JSON Schema:\n"));
    ptc_emit_string_part(w->out, w->request->schema);
}

static void write_openai_system(const PtcWireOut *w)
{
    const PtcLlmRequest *r = w->request;
    bool words = r->schema.bytes && w->json_object;
    if (!r->system.bytes && !r->system_more.bytes && !words)
        return;
    ptc_emit_object(w->out);
    ptc_emit_field_cstr(w->out, "role", "system");
    ptc_emit_key(w->out, "content");
    if (marks_cache(w) && !words) {
        ptc_emit_array(w->out);
        if (r->system.bytes)
            write_openai_part(w, r->system, true);
        if (r->system_more.bytes)
            write_openai_part(w, r->system_more, false);
        ptc_emit_array_end(w->out);
    } else {
        ptc_emit_string(w->out);
        ptc_emit_string_part(w->out, r->system.bytes ? r->system : PTC_TEXT(""));
        if (r->system.bytes && r->system_more.bytes)
            ptc_emit_string_part(w->out, PTC_TEXT("\n\n"));
        ptc_emit_string_part(w->out, r->system_more.bytes ? r->system_more : PTC_TEXT(""));
        if (words)
            write_schema_words(w);
        ptc_emit_string_end(w->out);
    }
    ptc_emit_object_end(w->out);
}

static void write_openai_calls(const PtcWireOut *w, const PtcMessage *m)
{
    ptc_emit_key(w->out, "tool_calls");
    ptc_emit_array(w->out);
    for (size_t i = 0; i < m->call_count; i++) {
        ptc_emit_object(w->out);
        ptc_emit_field_text(w->out, "id", m->calls[i].id.bytes ? m->calls[i].id : PTC_TEXT(""));
        ptc_emit_field_cstr(w->out, "type", "function");
        ptc_emit_key(w->out, "function");
        ptc_emit_object(w->out);
        ptc_emit_field_text(w->out, "name", m->calls[i].name);
        ptc_emit_key(w->out, "arguments");
        ptc_wire_args_text(w, &m->calls[i]);
        ptc_emit_object_end(w->out);
        ptc_emit_object_end(w->out);
    }
    ptc_emit_array_end(w->out);
}

static void write_openai_assistant(const PtcWireOut *w, const PtcMessage *m)
{
    if (m->call_count)
        ptc_emit_field_text(w->out, "content", m->content); /* null is allowed beside calls */
    else
        ptc_emit_field_text(w->out, "content", ptc_wire_content(m));
    if (m->call_count)
        write_openai_calls(w, m);
    if (!(traits_of(w) & PTC_OPENAI_OPENROUTER))
        return;
    PtcValue thoughts = ptc_wire_opaque(w, m);
    if (thoughts != PTC_NONE) {
        ptc_emit_key(w->out, "reasoning_details");
        ptc_emit_value(w->out, &w->box->heap, thoughts);
    }
}

static void write_openai_message(const PtcWireOut *w, const PtcMessage *m, bool last)
{
    static const char *const roles[] = {"user", "assistant", "tool"};
    ptc_emit_object(w->out);
    ptc_emit_field_cstr(w->out, "role", roles[m->role]);
    if (m->role == PTC_ROLE_ASSISTANT) {
        write_openai_assistant(w, m);
    } else if (m->role == PTC_ROLE_TOOL) {
        ptc_emit_field_text(w->out, "tool_call_id", m->call_id);
        ptc_emit_field_text(w->out, "content", m->content.bytes ? m->content : PTC_TEXT(""));
    } else if (last && marks_cache(w)) {
        ptc_emit_key(w->out, "content");
        ptc_emit_array(w->out);
        write_openai_part(w, ptc_wire_content(m), true);
        ptc_emit_array_end(w->out);
    } else {
        ptc_emit_field_text(w->out, "content", ptc_wire_content(m));
    }
    ptc_emit_object_end(w->out);
}

static void write_messages(const PtcWireOut *w)
{
    size_t count = ptc_llm_message_count(w->request);
    ptc_emit_key(w->out, "messages");
    ptc_emit_array(w->out);
    write_openai_system(w);
    for (size_t i = 0; i < count; i++)
        write_openai_message(w, ptc_llm_message(w->request, i), i + 1 == count);
    ptc_emit_array_end(w->out);
}

void ptc_openai_write_tools(const PtcWireOut *w)
{
    const PtcLlmRequest *r = w->request;
    if (!r->tool_count)
        return;
    ptc_emit_key(w->out, "tools");
    ptc_emit_array(w->out);
    for (size_t i = 0; i < r->tool_count; i++) {
        ptc_emit_object(w->out);
        ptc_emit_field_cstr(w->out, "type", "function");
        ptc_emit_key(w->out, "function");
        ptc_emit_object(w->out);
        ptc_wire_write_tool(w, &r->tools[i], "parameters");
        ptc_emit_object_end(w->out);
        ptc_emit_object_end(w->out);
    }
    ptc_emit_array_end(w->out);
}

/* Models that hide their reasoning (o1, o3, o4-mini ...) refuse the parameter. */
static bool takes_parallel(const PtcWireOut *w)
{
    PtcText m = w->target->model;
    return !(m.len >= 2 && m.bytes[0] == 'o' && ptc_ascii_is_digit(m.bytes[1]));
}

static void write_openai_schema(const PtcWireOut *w)
{
    PtcBuf closed;
    ptc_buf_init(&closed, w->out->mem, PTC_LLM_REQUEST_BYTES);
    PtcClosedSchema form = ptc_wire_closed_schema(w, &closed);
    bool strict = form == PTC_CLOSED_SCHEMA_STRICT;
    ptc_emit_key(w->out, "response_format");
    ptc_emit_object(w->out);
    ptc_emit_field_cstr(w->out, "type", "json_schema");
    ptc_emit_key(w->out, "json_schema");
    ptc_emit_object(w->out);
    ptc_emit_field_cstr(w->out, "name", "answer");
    ptc_emit_field_raw(w->out, "schema", strict ? ptc_buf_view(&closed) : w->request->schema);
    ptc_emit_field_bool(w->out, "strict", strict);
    ptc_emit_object_end(w->out);
    ptc_emit_object_end(w->out);
    ptc_buf_deinit(&closed);
}

static void write_reasoning(const PtcWireOut *w)
{
    const PtcLlmRequest *r = w->request;
    unsigned traits = traits_of(w);
    if (!ptc_wire_thinks(r))
        return;
    if (traits & PTC_OPENAI_OPENROUTER) {
        ptc_emit_key(w->out, "reasoning");
        ptc_emit_object(w->out);
        if (r->thinking_tokens > 0)
            ptc_emit_field_int(w->out, "max_tokens", r->thinking_tokens);
        else
            ptc_emit_field_cstr(w->out, "effort", ptc_wire_effort(r));
        ptc_emit_object_end(w->out);
        return;
    }
    ptc_emit_field_cstr(w->out, "reasoning_effort", ptc_wire_effort(r));
    if ((traits & PTC_OPENAI_GROQ) && !ptc_text_starts(w->target->model, "openai/"))
        ptc_emit_field_cstr(w->out, "reasoning_format", "parsed");
}

/* Requests that begin alike are more likely to find the cache if they share a key. */
static void write_cache_key(const PtcWireOut *w)
{
    uint8_t digest[PTC_SHA256_BYTES];
    if (!(traits_of(w) & PTC_OPENAI_OWN) || !w->request->system.bytes)
        return;
    ptc_sha256(w->request->system.bytes, w->request->system.len, digest);
    ptc_emit_key(w->out, "prompt_cache_key");
    ptc_emit_hex(w->out, digest, 8);
}

static void write_openai_body(const PtcWireOut *w)
{
    const PtcLlmRequest *r = w->request;
    ptc_emit_object(w->out);
    ptc_emit_field_text(w->out, "model", w->target->model);
    write_messages(w);
    ptc_openai_write_tools(w);
    if (r->tool_count && r->one_call && takes_parallel(w))
        ptc_emit_field_bool(w->out, "parallel_tool_calls", false);
    if (r->schema.bytes && w->json_object)
        ptc_emit_field_raw(w->out, "response_format", PTC_TEXT("{\"type\":\"json_object\"}"));
    else if (r->schema.bytes)
        write_openai_schema(w);
    write_reasoning(w);
    if (r->max_output_tokens > 0)
        ptc_emit_field_int(w->out,
                           traits_of(w) & PTC_OPENAI_OWN ? "max_completion_tokens" : "max_tokens",
                           r->max_output_tokens);
    write_cache_key(w);
    if (marks_cache(w))
        ptc_emit_field_raw(w->out, "provider", PTC_TEXT("{\"order\":[\"Anthropic\"]}"));
    if (w->stream) {
        ptc_emit_field_bool(w->out, "stream", true);
        ptc_emit_field_raw(w->out, "stream_options", PTC_TEXT("{\"include_usage\":true}"));
    }
    ptc_emit_object_end(w->out);
}

static void write_completions_path(PtcBuf *url, const PtcTarget *target, bool stream)
{
    (void)target;
    (void)stream;
    ptc_buf_add_cstr(url, "/chat/completions");
}

/* ------------------------------------------------------------------------------ reading */

static void read_openai_usage(PtcWire *w, PtcValue body)
{
    PtcTokens *t = &w->reply.tokens;
    PtcValue usage = ptc_json_box_get(&w->box, body, "usage");
    if (usage == PTC_NONE || !ptc_is_map(usage))
        usage = ptc_json_box_get(&w->box, ptc_json_box_get(&w->box, body, "x_groq"), "usage");
    if (usage == PTC_NONE)
        return;
    PtcValue details = ptc_json_box_get(&w->box, usage, "prompt_tokens_details");
    t->input = ptc_wire_tokens(w, usage, "prompt_tokens", t->input);
    t->output = ptc_wire_tokens(w, usage, "completion_tokens", t->output);
    t->cache_read = ptc_wire_tokens(w, details, "cached_tokens", t->cache_read);
    t->cache_creation = ptc_wire_tokens(w, details, "cache_write_tokens", t->cache_creation);
}

/* A text, or a list of parts that contain text. */
static void read_openai_content(PtcWire *w, PtcValue content)
{
    if (content == PTC_NONE)
        return;
    ptc_reply_add_text(&w->reply, ptc_str_text(content));
    for (size_t i = 0; i < ptc_json_box_length(content); i++)
        ptc_reply_add_text(&w->reply,
                           ptc_json_box_text(&w->box, ptc_json_box_item(content, i), "text"));
}

/* The call that a piece belongs to.  Some servers send no index, or the same one for all calls; a new id means a new
 * call. */
static PtcReplyCall *call_of(PtcWire *w, PtcValue piece)
{
    int64_t index = ptc_json_box_count(&w->box, piece, "index", INT64_MAX, -1);
    PtcText id = ptc_json_box_text(&w->box, piece, "id");
    PtcReply *r = &w->reply;
    PtcReplyCall *call = index >= 0      ? ptc_reply_find_call(r, index)
                         : r->call_count ? &r->calls[r->call_count - 1]
                                         : NULL;
    if (call && id.len && call->has_id && !ptc_text_same(id, ptc_buf_view(&call->id)))
        call = NULL;
    if (call && index < 0 && !id.len &&
        ptc_json_box_text(&w->box, ptc_json_box_get(&w->box, piece, "function"), "name").len)
        call = NULL;
    return call ? call : ptc_reply_new_call(r, index);
}

static void read_openai_call(PtcWire *w, PtcValue piece, bool whole)
{
    PtcReplyCall *call = whole ? ptc_reply_new_call(&w->reply, -1) : call_of(w, piece);
    PtcValue function = ptc_json_box_get(&w->box, piece, "function");
    PtcValue args = ptc_json_box_get(&w->box, function, "arguments");
    if (!call)
        return;
    ptc_reply_set_id(&w->reply, call, ptc_json_box_text(&w->box, piece, "id"));
    if (call->name.len == 0)
        ptc_reply_set_name(&w->reply, call, ptc_json_box_text(&w->box, function, "name"));
    if (args != PTC_NONE && ptc_is_string(args))
        ptc_reply_add_args(&w->reply, call, ptc_str_text(args));
    else
        ptc_wire_args_value(w, call, args);
}

/* A piece of a thought: pieces with the same index form one thought, which is sent back whole. */
static void read_thought_piece(PtcWire *w, PtcValue piece)
{
    PtcText format = ptc_json_box_text(&w->box, piece, "format");
    ptc_wire_part(w, PTC_WIRE_PART_THOUGHT,
                  ptc_json_box_count(&w->box, piece, "index", INT64_MAX, 0));
    ptc_wire_add_thought(w, ptc_json_box_text(&w->box, piece, "text"));
    ptc_wire_add_signature(w, ptc_json_box_text(&w->box, piece, "signature"));
    if (format.len && format.len < sizeof w->label) {
        memcpy(w->label, format.bytes, format.len);
        w->label[format.len] = 0;
    }
}

/* OpenRouter's thoughts, which have to be sent back. */
static void read_thoughts(PtcWire *w, PtcValue message, bool whole)
{
    PtcValue details = ptc_json_box_get(&w->box, message, "reasoning_details");
    for (size_t i = 0; i < ptc_json_box_length(details); i++) {
        PtcValue item = ptc_json_box_item(details, i);
        if (!whole && ptc_text_is(ptc_json_box_text(&w->box, item, "type"), "reasoning.text")) {
            read_thought_piece(w, item);
        } else {
            ptc_wire_part(w, PTC_WIRE_PART_OTHER, 0);
            ptc_wire_keep(w, item, true);
        }
    }
}

static void write_reasoning_text(const PtcWire *w, PtcBuf *json)
{
    ptc_emit_object(json);
    ptc_emit_field_cstr(json, "type", "reasoning.text");
    ptc_emit_field_text(json, "text", ptc_buf_view(&w->thought));
    if (w->signature.len)
        ptc_emit_field_text(json, "signature", ptc_buf_view(&w->signature));
    if (w->label[0])
        ptc_emit_field_cstr(json, "format", w->label);
    ptc_emit_field_int(json, "index", w->part_number);
    ptc_emit_object_end(json);
}

static void read_openai_message(PtcWire *w, PtcValue message, bool whole)
{
    PtcValue calls = ptc_json_box_get(&w->box, message, "tool_calls");
    PtcText refusal = ptc_json_box_text(&w->box, message, "refusal");
    ptc_buf_add(&w->refusal, refusal.bytes, refusal.len);
    read_openai_content(w, ptc_json_box_get(&w->box, message, "content"));
    for (size_t i = 0; i < ptc_json_box_length(calls); i++)
        read_openai_call(w, ptc_json_box_item(calls, i), whole);
    read_thoughts(w, message, whole);
}

static void read_choice_reason(PtcWire *w, PtcValue choice)
{
    PtcText reason = ptc_json_box_text(&w->box, choice, "finish_reason");
    if (!reason.bytes)
        return;
    w->ended = true;
    if (ptc_text_is(reason, "length"))
        w->reply.cut = true;
    if (ptc_text_is(reason, "content_filter") && !w->refusal.len)
        ptc_reply_fail(&w->reply, PTC_LLM_REFUSED,
                       PTC_TEXT("a content filter stopped the reply (content_filter)"));
}

/* Complete answers and stream events both have choices; only their messages differ. */
static void read_reply_choices(PtcWire *w, PtcValue body, bool whole)
{
    PtcValue error = ptc_json_box_get(&w->box, body, "error");
    PtcValue choices = ptc_json_box_get(&w->box, body, "choices");
    read_openai_usage(w, body);
    if (error != PTC_NONE && error != PTC_NIL) {
        ptc_wire_error(w, error);
        return;
    }
    if (ptc_json_box_length(choices)) {
        PtcValue choice = ptc_json_box_item(choices, 0);
        PtcValue inner = ptc_json_box_get(&w->box, choice, "error");
        if (inner != PTC_NONE && inner != PTC_NIL)
            ptc_wire_error(w, inner);
        read_openai_message(w, ptc_json_box_get(&w->box, choice, whole ? "message" : "delta"),
                            whole);
        read_choice_reason(w, choice);
    } else if (whole) {
        ptc_reply_fail(&w->reply, PTC_LLM_UNKNOWN, PTC_TEXT("the answer has no \"choices\""));
    }
}

static void read_openai_reply(PtcWire *w, PtcValue body)
{
    read_reply_choices(w, body, true);
}

static void read_openai_event(PtcWire *w, PtcText name, PtcValue data)
{
    (void)name;
    read_reply_choices(w, data, false);
}

const PtcDialect ptc_openai_dialect = {
    .name = "openai",
    .framing = PTC_FRAMING_SSE,
    .write = write_openai_body,
    .path = write_completions_path,
    .whole = read_openai_reply,
    .event = read_openai_event,
    .thought = write_reasoning_text,
};
