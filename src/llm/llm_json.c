/* SPDX-License-Identifier: MIT
 * Our own JSON form of requests and replies.  What always holds: a reply that was written can be read back unchanged,
 * and a value that is not a reply is refused with a reason. */
#include "llm/llm_json.h"

#include <stdio.h>

#include "base/text/nearest.h"
#include "base/units.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "json/write.h"
#include "net/retry_after.h"
#include "value/coll/map.h"
#include "value/str.h"

enum { LLM_MOST = 1000 * PTC_MILLION };

/* ------------------------------------------------------------------------------ requests */

/* JSON unchanged, any other text as a string. */
static void write_json_or_text(PtcBuf *out, PtcJsonBox *box, const char *key, PtcText text)
{
    ptc_json_box_clear(box);
    ptc_emit_key(out, key);
    if (ptc_json_box_read(box, text, NULL) != PTC_NONE)
        ptc_emit_raw(out, text);
    else
        ptc_emit_text(out, text);
}

static void write_reply_calls(PtcBuf *out, PtcJsonBox *box, const PtcMessageCall *calls,
                              size_t count)
{
    ptc_emit_key(out, "tool_calls");
    ptc_emit_array(out);
    for (size_t i = 0; i < count; i++) {
        ptc_emit_object(out);
        if (calls[i].id.bytes)
            ptc_emit_field_text(out, "id", calls[i].id);
        ptc_emit_field_text(out, "name", calls[i].name);
        if (calls[i].args.bytes)
            write_json_or_text(out, box, "args", calls[i].args);
        ptc_emit_object_end(out);
    }
    ptc_emit_array_end(out);
}

static void write_request_message(PtcBuf *out, PtcJsonBox *box, const PtcMessage *m)
{
    static const char *const roles[] = {"user", "assistant", "tool"};
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "role", roles[m->role]);
    ptc_emit_field_text(out, "content", m->content);
    if (m->call_count)
        write_reply_calls(out, box, m->calls, m->call_count);
    if (m->role == PTC_ROLE_TOOL) {
        ptc_emit_field_text(out, "tool_call_id", m->call_id);
        ptc_emit_field_text(out, "name", m->call_name);
        if (m->is_error)
            ptc_emit_field_bool(out, "is_error", true);
    }
    if (m->opaque.bytes)
        write_json_or_text(out, box, "opaque", m->opaque);
    ptc_emit_object_end(out);
}

static void write_request_tools(PtcBuf *out, const PtcLlmRequest *r)
{
    ptc_emit_key(out, "tools");
    ptc_emit_array(out);
    for (size_t i = 0; i < r->tool_count; i++) {
        ptc_emit_object(out);
        ptc_emit_field_text(out, "name", r->tools[i].name);
        ptc_emit_field_text(out, "description", r->tools[i].description);
        ptc_emit_field_raw(out, "parameters", r->tools[i].parameters);
        ptc_emit_object_end(out);
    }
    ptc_emit_array_end(out);
    if (r->one_call)
        ptc_emit_field_bool(out, "one_call", true);
}

static void write_options(PtcBuf *out, const PtcLlmRequest *r)
{
    static const char *const efforts[] = {NULL, "low", "medium", "high"};
    if (r->schema.bytes)
        ptc_emit_field_raw(out, "schema", r->schema);
    if (r->effort != PTC_EFFORT_NONE)
        ptc_emit_field_cstr(out, "effort", efforts[r->effort]);
    if (r->thinking_tokens > 0)
        ptc_emit_field_int(out, "thinking_tokens", r->thinking_tokens);
    if (r->max_output_tokens > 0)
        ptc_emit_field_int(out, "max_output_tokens", r->max_output_tokens);
}

bool ptc_llm_json_write_request(PtcBuf *out, const PtcLlmRequest *r)
{
    PtcJsonBox box;
    ptc_json_box_init(&box, out->mem);
    ptc_emit_object(out);
    ptc_emit_field_int(out, "ptc_llm", PTC_LLM_JSON_VERSION);
    if (r->system.bytes)
        ptc_emit_field_text(out, "system", r->system);
    if (r->system_more.bytes)
        ptc_emit_field_text(out, "system_more", r->system_more);
    ptc_emit_key(out, "messages");
    ptc_emit_array(out);
    for (size_t i = 0; i < ptc_llm_message_count(r); i++)
        write_request_message(out, &box, ptc_llm_message(r, i));
    ptc_emit_array_end(out);
    if (r->tool_count)
        write_request_tools(out, r);
    write_options(out, r);
    ptc_json_box_deinit(&box);
    return ptc_emit_object_end(out);
}

/* ------------------------------------------------------------------------------- replies */

void ptc_llm_json_write_cost(PtcBuf *out, const PtcTokens *t)
{
    enum { COST_DIGITS = 9, COST_TEXT = 40, COST_DOLLAR = 1000 * PTC_MILLION };
    char text[COST_TEXT];
    if (t->cost <= 0)
        return;
    int n = snprintf(text, sizeof text, "%lld.%09lld", (long long)(t->cost / COST_DOLLAR),
                     (long long)(t->cost % COST_DOLLAR));
    while (text[n - 1] == '0')
        n--;
    n -= text[n - 1] == '.';
    ptc_emit_field_raw(out, "cost_usd", (PtcText){text, (size_t)n});
}

void ptc_llm_json_write_tokens(PtcBuf *out, const PtcTokens *t)
{
    ptc_emit_key(out, "tokens");
    ptc_emit_object(out);
    ptc_emit_field_int(out, "input", t->input);
    ptc_emit_field_int(out, "output", t->output);
    if (t->cache_creation)
        ptc_emit_field_int(out, "cache_creation", t->cache_creation);
    if (t->cache_read)
        ptc_emit_field_int(out, "cache_read", t->cache_read);
    ptc_emit_object_end(out);
}

static void write_reply_error(PtcBuf *out, const PtcLlmReply *r)
{
    ptc_emit_key(out, "error");
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "class", ptc_llm_status_name(r->status));
    ptc_emit_field_text(out, "message", r->error);
    if (r->retry_after_ms >= 0)
        ptc_emit_field_int(out, "retry_after_ms", r->retry_after_ms);
    if (r->streamed)
        ptc_emit_field_bool(out, "streamed", true);
    ptc_emit_object_end(out);
}

bool ptc_llm_json_write_reply(PtcBuf *out, const PtcLlmReply *r)
{
    PtcJsonBox box;
    ptc_json_box_init(&box, out->mem);
    ptc_emit_object(out);
    if (r->status != PTC_LLM_OK) {
        write_reply_error(out, r);
    } else {
        ptc_emit_field_text(out, "content", r->text);
        if (r->call_count)
            write_reply_calls(out, &box, r->calls, r->call_count);
        if (r->opaque.bytes)
            write_json_or_text(out, &box, "opaque", r->opaque);
        if (r->cut)
            ptc_emit_field_bool(out, "cut", true);
    }
    if (r->tokens.reported)
        ptc_llm_json_write_tokens(out, &r->tokens);
    ptc_json_box_deinit(&box);
    return ptc_emit_object_end(out);
}

static bool check_names(PtcValue map, const char *const *names, PtcWhy *why)
{
    PtcNearest nearest;
    size_t pos = 0;
    PtcValue key;
    while (ptc_map_next(map, &pos, &key, NULL)) {
        PtcText name = ptc_str_text(key);
        size_t i = 0;
        while (names[i] && !ptc_text_is(name, names[i]))
            i++;
        if (names[i])
            continue;
        ptc_nearest_init(&nearest, name.bytes, name.len);
        for (i = 0; names[i]; i++)
            ptc_nearest_offer(&nearest, names[i], strlen(names[i]));
        ptc_why_say(why, PTC_WHY_INVALID, "a reply has no field \"%.*s\"%s%.*s%s",
                    PTC_ARG(ptc_text_cut(name, 40)), nearest.best ? "; did you mean \"" : "",
                    PTC_ARG_OF(nearest.best, nearest.best_len), nearest.best ? "\"?" : "");
        return false;
    }
    return true;
}

/* The JSON of a value, as arguments or as an opaque part. */
static bool write_opaque_value(PtcJsonBox *box, PtcBuf *out, PtcValue value)
{
    PtcJsonError error;
    PtcJsonWriter writer = {.heap = &box->heap, .float_precision = -1};
    return ptc_json_write(&writer, out, value, &error);
}

/* Arguments that the provider could not parse are kept as a text that is not JSON. */
static void read_reply_args(PtcJsonBox *box, PtcValue item, PtcReply *reply, PtcReplyCall *call)
{
    PtcBuf json;
    PtcValue args = ptc_json_box_get(box, item, "args");
    PtcText trouble = ptc_json_box_text(box, item, "args_error");
    ptc_buf_init(&json, reply->mem, PTC_LLM_ARGS_BYTES);
    if (trouble.bytes) {
        ptc_reply_add_args(reply, call, PTC_TEXT("! "));
        ptc_reply_add_args(reply, call, trouble);
    } else if (args != PTC_NONE && args != PTC_NIL) {
        if (write_opaque_value(box, &json, args))
            ptc_reply_add_args(reply, call, ptc_buf_view(&json));
        else
            ptc_reply_fail(reply, json.failed ? PTC_LLM_NO_MEMORY : PTC_LLM_TOO_LARGE,
                           json.failed ? PTC_TEXT("out of memory")
                                       : PTC_TEXT("the arguments of a call are too long"));
    }
    ptc_buf_deinit(&json);
}

static bool read_reply_calls(PtcJsonBox *box, PtcValue calls, PtcReply *reply, PtcWhy *why)
{
    static const char *const names[] = {"id", "name", "args", "args_error", NULL};
    if (calls == PTC_NONE || calls == PTC_NIL)
        return true;
    if (!ptc_is_sequential(calls))
        return ptc_why_say(why, PTC_WHY_INVALID, "\"tool_calls\" must be an array");
    for (size_t i = 0; i < ptc_json_box_length(calls); i++) {
        PtcValue item = ptc_json_box_item(calls, i);
        PtcText name = ptc_json_box_text(box, item, "name");
        if (!name.bytes)
            return ptc_why_say(why, PTC_WHY_INVALID, "a call needs a \"name\"");
        if (!check_names(item, names, why))
            return false;
        PtcReplyCall *call = ptc_reply_new_call(reply, (int64_t)i);
        if (!call)
            return true; /* too many: the reply has failed */
        ptc_reply_set_id(reply, call, ptc_json_box_text(box, item, "id"));
        ptc_reply_set_name(reply, call, name);
        read_reply_args(box, item, reply, call);
    }
    return true;
}

static void read_error_delay(PtcJsonBox *box, PtcValue error, PtcReply *reply)
{
    int64_t seconds = ptc_json_box_count(box, error, "retry_after", PTC_RETRY_AFTER_MAX / 1000, -1);
    if (seconds >= 0)
        reply->retry_after_ms = seconds * 1000;
    reply->retry_after_ms = ptc_json_box_count(box, error, "retry_after_ms", PTC_RETRY_AFTER_MAX,
                                               reply->retry_after_ms);
}

/* A class and a text, an HTTP status, or only the text. */
static bool read_reply_error(PtcJsonBox *box, PtcValue error, PtcReply *reply, PtcWhy *why)
{
    PtcText text = ptc_str_text(error), name = ptc_json_box_text(box, error, "class");
    PtcLlmStatus status = ptc_text_is(text, "timeout") ? PTC_LLM_TIMEOUT : PTC_LLM_UNKNOWN;
    int64_t http = ptc_json_box_count(box, error, "http", 999, 0);
    if (!text.bytes && !name.bytes && http < 300)
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "an \"error\" is a text, or has \"class\", or \"http\" with a status "
                           "from 300");
    if (name.bytes && (!ptc_llm_status_find(name, &status) || status == PTC_LLM_OK))
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "the \"class\" of an error is rate_limit, timeout, server_error, "
                           "client_error, config_error, refused, too_large or unknown");
    read_error_delay(box, error, reply);
    reply->streamed = ptc_json_box_bool(box, error, "streamed");
    if (!text.bytes && !name.bytes)
        status = ptc_llm_status_of_http((int)http);
    if (!text.bytes)
        text = ptc_json_box_text(box, error, "message");
    if (text.bytes)
        ptc_reply_fail(reply, status, text);
    else if (http)
        ptc_reply_failf(reply, status, "HTTP %d", (int)http);
    else
        ptc_reply_fail(reply, status, name);
    return true;
}

static void read_reply_tokens(PtcJsonBox *box, PtcValue tokens, PtcTokens *out)
{
    if (tokens == PTC_NONE || !ptc_is_map(tokens))
        return;
    out->reported = true;
    out->input = ptc_json_box_count(box, tokens, "input", LLM_MOST, 0);
    out->output = ptc_json_box_count(box, tokens, "output", LLM_MOST, 0);
    out->cache_creation = ptc_json_box_count(box, tokens, "cache_creation", LLM_MOST, 0);
    out->cache_read = ptc_json_box_count(box, tokens, "cache_read", LLM_MOST, 0);
}

static bool read_reply_content(PtcJsonBox *box, PtcValue v, PtcReply *reply, PtcWhy *why)
{
    PtcValue content = ptc_json_box_get(box, v, "content");
    PtcValue opaque = ptc_json_box_get(box, v, "opaque");
    if (content != PTC_NONE && content != PTC_NIL && !ptc_is_string(content))
        return ptc_why_say(why, PTC_WHY_INVALID, "\"content\" must be a text or null");
    if (content != PTC_NONE)
        ptc_reply_add_text(reply, ptc_str_text(content));
    reply->cut = ptc_json_box_bool(box, v, "cut");
    if (opaque != PTC_NONE && opaque != PTC_NIL && !write_opaque_value(box, &reply->opaque, opaque))
        ptc_reply_fail(reply, reply->opaque.failed ? PTC_LLM_NO_MEMORY : PTC_LLM_TOO_LARGE,
                       reply->opaque.failed ? PTC_TEXT("out of memory")
                                            : PTC_TEXT("the opaque part of a reply is too long"));
    return read_reply_calls(box, ptc_json_box_get(box, v, "tool_calls"), reply, why);
}

bool ptc_llm_json_read_reply(PtcJsonBox *box, PtcValue v, PtcReply *reply, int64_t *sleep_ms,
                             PtcWhy *why)
{
    static const char *const names[] = {"content", "tool_calls", "error",  "tokens",
                                        "cut",     "sleep_ms",   "opaque", NULL};
    *sleep_ms = 0;
    if (!ptc_is_map(v))
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "a reply is an object with \"content\", \"tool_calls\" or \"error\"");
    if (!check_names(v, names, why))
        return false;
    PtcValue error = ptc_json_box_get(box, v, "error");
    *sleep_ms = ptc_json_box_count(box, v, "sleep_ms", LLM_MOST, 0);
    read_reply_tokens(box, ptc_json_box_get(box, v, "tokens"), &reply->tokens);
    if (error != PTC_NONE && error != PTC_NIL)
        return read_reply_error(box, error, reply, why);
    return read_reply_content(box, v, reply, why);
}

bool ptc_llm_json_take_reply(PtcReply *reply, PtcText json, const char *who)
{
    PtcJsonBox box;
    PtcWhy why;
    int64_t sleep_ms;
    ptc_json_box_init(&box, reply->mem);
    PtcValue v = ptc_json_box_read(&box, json, &why);
    bool understood = v != PTC_NONE && ptc_llm_json_read_reply(&box, v, reply, &sleep_ms, &why);
    if (understood)
        ;
    else if (why.class == PTC_WHY_NO_MEMORY)
        ptc_reply_fail(reply, PTC_LLM_NO_MEMORY, PTC_TEXT("out of memory"));
    else if (why.class == PTC_WHY_REFUSED)
        ptc_reply_failf(reply, PTC_LLM_TOO_LARGE, "%s: %s", who, why.text);
    else if (v == PTC_NONE)
        ptc_reply_failf(reply, PTC_LLM_UNKNOWN, "%s did not write JSON: %s", who, why.text);
    else
        ptc_reply_failf(reply, PTC_LLM_UNKNOWN, "%s: %s", who, why.text);
    ptc_json_box_deinit(&box);
    return understood;
}
