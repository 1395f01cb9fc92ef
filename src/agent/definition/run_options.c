/* SPDX-License-Identifier: MIT
 * Options of a run, from JSON.  An unknown option is refused with the nearest name; what is wrong with a known one is
 * reported with its path. */
#include "agent/definition/run_options.h"

#include <stdio.h>

#include "agent/definition/definition_int.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "value/coll/map.h"
#include "value/str.h"

enum { MESSAGES = 10000, RUN_JSON_BYTES = 64 * PTC_MB };
#define TOKENS_MOST ((int64_t)1 << 40)

/* One object being read. */
typedef struct OptionsReader {
    PtcBench *b;
    const PtcAgentDef *def;
    PtcRunOptions *out;
    PtcWhy *fault;
} OptionsReader;

static bool refuse_run_option(OptionsReader *r, const char *path, PtcValue v, const char *allowed)
{
    char found[PTC_FOUND_BYTES];
    ptc_fault_input(r->fault, path, "found %s; allowed is %s", ptc_fault_found(v, found), allowed);
    return ptc_fault_inside(r->fault, "run");
}

PtcText ptc_run_options_json(PtcBench *b, PtcValue v)
{
    PtcBuf out;
    ptc_buf_init(&out, &b->mem, RUN_JSON_BYTES);
    ptc_emit_value(&out, &b->heap, v);
    return ptc_bench_take(b, &out);
}

/* ------------------------------------------------------------------------------ messages */

static bool bad_message(OptionsReader *r, size_t i, const char *field, PtcValue v,
                        const char *allowed)
{
    char path[80];
    snprintf(path, sizeof path, "messages[%zu]%s%s", i, *field ? "." : "", field);
    return refuse_run_option(r, path, v, allowed);
}

static PtcValue option_field(OptionsReader *r, PtcValue map, const char *name)
{
    PtcValue v = ptc_map_field(&r->b->heap, map, name);
    return v == PTC_NONE ? PTC_NIL : v;
}

static bool read_message_call(OptionsReader *r, size_t i, PtcValue v, PtcMessageCall *call)
{
    if (!ptc_is_map(v) || !ptc_str_text(option_field(r, v, "name")).bytes ||
        !ptc_str_text(option_field(r, v, "id")).bytes)
        return bad_message(r, i, "tool_calls", v, "a list of {\"id\", \"name\", \"args\"}");
    call->id = ptc_str_text(option_field(r, v, "id"));
    call->name = ptc_str_text(option_field(r, v, "name"));
    PtcValue args = option_field(r, v, "args");
    call->args = args == PTC_NIL ? PTC_TEXT("{}") : ptc_run_options_json(r->b, args);
    return call->args.bytes || ptc_why_no_memory(r->fault);
}

static bool read_message_calls(OptionsReader *r, size_t i, PtcValue list, PtcMessage *m)
{
    if (list == PTC_NIL)
        return true;
    if (!ptc_is_sequential(list) || ptc_seq_count(list) > PTC_LLM_CALLS)
        return bad_message(r, i, "tool_calls", list, "a list");
    size_t n = ptc_seq_count(list);
    PtcMessageCall *calls = ptc_arena_zalloc(&r->b->arena, (n + 1) * sizeof *calls);
    if (!calls)
        return ptc_why_no_memory(r->fault);
    for (size_t c = 0; c < n; c++)
        if (!read_message_call(r, i, ptc_seq_nth(list, c), &calls[c]))
            return false;
    m->calls = calls;
    m->call_count = n;
    return true;
}

static bool read_given_message(OptionsReader *r, size_t i, PtcValue v, PtcMessage *m)
{
    if (!ptc_is_map(v))
        return bad_message(r, i, "", v, "an object with role and content");
    PtcText role = ptc_str_text(option_field(r, v, "role"));
    PtcValue content = option_field(r, v, "content");
    m->role = ptc_text_is(role, "assistant") ? PTC_ROLE_ASSISTANT
              : ptc_text_is(role, "tool")    ? PTC_ROLE_TOOL
                                             : PTC_ROLE_USER;
    if (m->role == PTC_ROLE_USER && !ptc_text_is(role, "user"))
        return bad_message(r, i, "role", option_field(r, v, "role"),
                           "\"user\", \"assistant\" or \"tool\"");
    m->content = ptc_str_text(content);
    if (content != PTC_NIL && !m->content.bytes)
        return bad_message(r, i, "content", content, "a text or null");
    m->call_id = ptc_str_text(option_field(r, v, "tool_call_id"));
    if (m->role == PTC_ROLE_TOOL && !m->call_id.bytes)
        return bad_message(r, i, "tool_call_id", PTC_NIL, "the id of the call that it answers");
    return read_message_calls(r, i, option_field(r, v, "tool_calls"), m);
}

static bool read_given_messages(OptionsReader *r, PtcValue list)
{
    if (!ptc_is_sequential(list) || ptc_seq_count(list) > MESSAGES)
        return refuse_run_option(r, "messages", list, "a list of messages");
    size_t n = ptc_seq_count(list);
    PtcMessage *messages = ptc_arena_zalloc(&r->b->arena, (n + 1) * sizeof *messages);
    if (!messages)
        return ptc_why_no_memory(r->fault);
    for (size_t i = 0; i < n; i++)
        if (!read_given_message(r, i, ptc_seq_nth(list, i), &messages[i]))
            return false;
    r->out->agent.messages = messages;
    r->out->agent.message_count = n;
    return true;
}

/* ------------------------------------------------------------------------------- options */

static bool read_int_option(OptionsReader *r, const char *name, PtcValue v, int64_t most,
                            int64_t *out)
{
    if (!ptc_is_int(v) || ptc_to_int(v) < 0 || ptc_to_int(v) > most)
        return refuse_run_option(r, name, v, "a whole number from 0");
    *out = ptc_to_int(v);
    return true;
}

static bool read_bool_option(OptionsReader *r, const char *name, PtcValue v, bool *out)
{
    if (!ptc_is_bool(v))
        return refuse_run_option(r, name, v, "true or false");
    *out = v == PTC_TRUE;
    return true;
}

static bool read_object_option(OptionsReader *r, const char *name, PtcValue v, PtcText *out)
{
    if (!ptc_is_map(v))
        return refuse_run_option(r, name, v, "an object");
    *out = ptc_run_options_json(r->b, v);
    return out->bytes || ptc_why_no_memory(r->fault);
}

static bool read_exceeded(OptionsReader *r, PtcValue v)
{
    PtcText text = ptc_str_text(v);
    r->out->agent.return_partial = ptc_text_is(text, "return_partial");
    return r->out->agent.return_partial || ptc_text_is(text, "fail") ||
           refuse_run_option(r, "on_budget_exceeded", v, "\"fail\" or \"return_partial\"");
}

static bool read_retry_option(OptionsReader *r, PtcValue v)
{
    r->out->retry = r->def->retry;
    r->out->agent.retry = &r->out->retry;
    if (ptc_definition_read_retry(v, &r->out->retry, r->fault))
        return true;
    r->fault->code = PTC_FAULT_INVALID_INPUT;
    return ptc_fault_inside(r->fault, "run.llm_retry");
}

static bool read_run_option(OptionsReader *r, PtcText name, PtcValue v)
{
    PtcAgentOptions *o = &r->out->agent;
    if (ptc_text_is(name, "token_limit"))
        return read_int_option(r, "token_limit", v, TOKENS_MOST, &o->token_limit);
    if (ptc_text_is(name, "stop_after_requests"))
        return read_int_option(r, "stop_after_requests", v, TOKENS_MOST, &o->stop_after_requests);
    if (ptc_text_is(name, "nesting_depth"))
        return read_int_option(r, "nesting_depth", v, PTC_AGENT_DEPTH_MAX, &o->nesting_depth);
    if (ptc_text_is(name, "on_budget_exceeded"))
        return read_exceeded(r, v);
    if (ptc_text_is(name, "llm_retry"))
        return read_retry_option(r, v);
    if (ptc_text_is(name, "journal"))
        return read_object_option(r, "journal", v, &o->input.journal);
    if (ptc_text_is(name, "memory"))
        return read_object_option(r, "memory", v, &o->input.memory);
    if (ptc_text_is(name, "messages"))
        return read_given_messages(r, v);
    if (ptc_text_is(name, "collect_messages"))
        return read_bool_option(r, "collect_messages", v, &r->out->collect_messages);
    if (ptc_text_is(name, "full_requests"))
        return read_bool_option(r, "full_requests", v, &r->out->full_requests);
    ptc_fault_input(r->fault, "",
                    "there is no such option; allowed are token_limit, on_budget_exceeded, "
                    "stop_after_requests, llm_retry, journal, messages, memory, nesting_depth, "
                    "collect_messages, full_requests");
    return ptc_why_at(r->fault, "run.%.*s", PTC_ARG(ptc_text_cut(name, 60)));
}

bool ptc_run_options_read(PtcBench *b, PtcValue object, const PtcAgentDef *def, PtcRunOptions *out,
                          PtcWhy *fault)
{
    OptionsReader r = {.b = b, .def = def, .out = out, .fault = fault};
    PtcValue key, value;
    *out = (PtcRunOptions){.agent = ptc_agent_options()};
    if (object == PTC_NONE || object == PTC_NIL)
        return true;
    if (!ptc_is_map(object))
        return ptc_fault_input(fault, "run", "allowed is an object");
    for (size_t pos = 0; ptc_map_next(object, &pos, &key, &value);)
        if (value != PTC_NIL && !read_run_option(&r, ptc_str_text(key), value))
            return false;
    return true;
}
