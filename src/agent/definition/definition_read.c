/* SPDX-License-Identifier: MIT
 * The agent file: a row for each of its fields, and readers for those that are not plain values. schemas/agent.json
 * publishes the same; tests/unit/test_agent_definition.c makes sure that the two agree. */
#include <stdio.h>

#include "agent/definition/definition_form.h"
#include "agent/definition/definition_int.h"
#include "agent/prompt/messages.h"
#include "agent/step/bench.h"
#include "base/units.h"
#include "json/parse.h"
#include "value/coll/iter.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

#define DAY_MS ((int64_t)24 * 3600 * 1000)
#define GIB ((int64_t)1 << 30)
#define DEF_MANY ((int64_t)PTC_MILLION)
#define CHARS ((int64_t)1 << 20)

/* ------------------------------------------------------------------------------- models */

static bool check_model(PtcFieldReader *r, PtcText model)
{
    PtcWhy why;
    if (r->how->only_scripts)
        return ptc_fault_set(r->fault, r->path, "models are lists of replies here");
    if (!r->how->check_model || r->how->check_model(r->how->user, model, &why))
        return true;
    return ptc_fault_set(r->fault, r->path, "%s", why.text);
}

bool ptc_definition_read_model(PtcFieldReader *r, PtcValue v, PtcText *model, PtcText *script)
{
    if (ptc_is_sequential(v)) {
        if (!r->how->allow_scripts)
            return ptc_fields_refuse(r, v, "the name of a model; lists of replies are for tests");
        return ptc_fields_json(r, v, script);
    }
    return ptc_fields_text(r, v, model) && check_model(r, *model);
}

static bool read_agent_llm(PtcFieldReader *r, PtcValue v)
{
    return ptc_definition_read_model(r, v, &r->def->llm, &r->def->llm_script);
}

static bool read_fallbacks(PtcFieldReader *r, PtcValue v)
{
    size_t count = ptc_is_sequential(v) ? ptc_seq_count(v) : 0;
    if (count == 0 || count > PTC_AGENT_FALLBACKS)
        return ptc_fields_refuse(r, v, "a list of one to eight models");
    for (size_t i = 0; i < count; i++) {
        PtcModelChoice *choice = &r->def->fallbacks[i];
        if (!ptc_definition_read_model(r, ptc_seq_nth(v, i), &choice->name, &choice->script))
            return false;
    }
    r->def->fallback_count = count;
    return true;
}

/* ------------------------------------------------------------------------- small readers */

static bool read_nothing(PtcFieldReader *r, PtcValue v)
{
    return ptc_is_string(v) || ptc_fields_refuse(r, v, "a text");
}

/* Words count from 0, but content is 1 in PtcTransport, where 0 means unset. */
static bool read_transport(PtcFieldReader *r, PtcValue v)
{
    PtcText text = ptc_str_text(v);
    if (!ptc_text_is(text, "content") && !ptc_text_is(text, "tool_call"))
        return ptc_fields_refuse(r, v, "\"content\" or \"tool_call\"");
    r->def->transport =
        ptc_text_is(text, "content") ? PTC_TRANSPORT_CONTENT : PTC_TRANSPORT_TOOL_CALL;
    return true;
}

static bool read_reference(PtcFieldReader *r, PtcValue v)
{
    r->def->compact_reference = ptc_text_is(ptc_str_text(v), "compact");
    return r->def->compact_reference || ptc_fields_refuse(r, v, "\"compact\"");
}

static bool read_prompt_file(PtcFieldReader *r, PtcValue v)
{
    PtcBuf text;
    PtcText name = ptc_str_text(v);
    if (!name.bytes || name.len == 0)
        return ptc_fields_refuse(r, v, "the name of a file");
    if (!r->how->files)
        return ptc_fault_set(r->fault, r->path, "prompts are texts here, not files");
    ptc_buf_init(&text, &r->def->mem, PTC_AGENT_FILE_BYTES);
    bool ok = ptc_definition_include_text(name, r->how, &text, r->fault);
    PtcText prompt = ptc_definition_form_text(ptc_buf_view(&text));
    if (!ok)
        ptc_why_at(r->fault, "%s", r->path);
    else if (prompt.len == 0)
        ok =
            ptc_fault_set(r->fault, r->path, "%.*s: it is empty", PTC_ARG(ptc_text_cut(name, 200)));
    else
        ok = ptc_fields_copy(r, prompt, &r->def->prompt);
    ptc_buf_deinit(&text);
    return ok;
}

static bool read_agent_schema(PtcFieldReader *r, PtcValue v)
{
    if (!ptc_is_map(v))
        return ptc_fields_refuse(r, v, "a JSON Schema, an object");
    return ptc_fields_json(r, v, &r->def->schema);
}

static bool read_builtin_tools(PtcFieldReader *r, PtcValue v)
{
    if (!ptc_is_sequential(v))
        return ptc_fields_refuse(r, v, "a list such as [\"grep\"]");
    for (size_t i = 0; i < ptc_seq_count(v); i++) {
        PtcValue name = ptc_seq_nth(v, i);
        if (!ptc_text_is(ptc_str_text(name), "grep"))
            return ptc_fields_refuse(r, name, "\"grep\"");
        r->def->grep = true;
    }
    return true;
}

/* null: no limit. */
static bool read_memory_limit(PtcFieldReader *r, PtcValue v)
{
    if (v == PTC_NIL) {
        r->def->memory_limit = 0;
        return true;
    }
    if (!ptc_is_int(v) || ptc_to_int(v) < 1 || ptc_to_int(v) > 64 * GIB)
        return ptc_fields_refuse(r, v, "a number of bytes from 1, or null for no limit");
    r->def->memory_limit = ptc_to_int(v);
    return true;
}

/* ------------------------------------------------------------------------------- retries */

static bool read_retryable(PtcFieldReader *r, PtcValue v)
{
    static const struct {
        const char *name;
        PtcLlmStatus status;
    } classes[] = {{"rate_limit", PTC_LLM_RATE_LIMIT},
                   {"timeout", PTC_LLM_TIMEOUT},
                   {"server_error", PTC_LLM_SERVER_ERROR}};
    static const char allowed[] =
        "a list of \"rate_limit\", \"timeout\" and \"server_error\", or of some of them";
    unsigned bits = 0;
    if (!ptc_is_sequential(v))
        return ptc_fields_refuse(r, v, allowed);
    for (size_t i = 0; i < ptc_seq_count(v); i++) {
        unsigned bit = 0;
        for (size_t k = 0; k < sizeof classes / sizeof *classes; k++)
            if (ptc_text_is(ptc_str_text(ptc_seq_nth(v, i)), classes[k].name))
                bit = 1u << classes[k].status;
        if (!bit)
            return ptc_fields_refuse(r, ptc_seq_nth(v, i), allowed);
        bits |= bit;
    }
    r->def->retry.retryable = bits;
    return true;
}

#define DEF_AT(member) offsetof(PtcAgentDef, member)
#define SIZE(member) sizeof(((PtcAgentDef *)0)->member)
#define DEF_TEXT(name_, member)                                         \
    {                                                                   \
        .name = name_, .kind = PTC_FIELD_TEXT, .offset = DEF_AT(member) \
    }
#define DEF_NONE(name_, member)                                                           \
    {                                                                                     \
        .name = name_, .kind = PTC_FIELD_TEXT, .nullable = true, .offset = DEF_AT(member) \
    }
#define DEF_BOOL(name_, member, modes_)                                                  \
    {                                                                                    \
        .name = name_, .kind = PTC_FIELD_BOOL, .offset = DEF_AT(member), .modes = modes_ \
    }
#define DEF_INT(name_, member, min_, max_, modes_)                                                \
    {                                                                                             \
        .name = name_, .kind = PTC_FIELD_INT, .offset = DEF_AT(member), .min = min_, .max = max_, \
        .modes = modes_                                                                           \
    }
#define MAYBE(name_, member, min_, max_, modes_)                                          \
    {                                                                                     \
        .name = name_, .kind = PTC_FIELD_INT, .nullable = true, .offset = DEF_AT(member), \
        .min = min_, .max = max_, .modes = modes_                                         \
    }
#define WORD(name_, member, words_, modes_)                                                    \
    {                                                                                          \
        .name = name_, .kind = PTC_FIELD_WORD, .offset = DEF_AT(member), .size = SIZE(member), \
        .words = words_, .modes = modes_                                                       \
    }
#define DEF_OTHER(name_, read_, modes_)                                        \
    {                                                                          \
        .name = name_, .kind = PTC_FIELD_OTHER, .read = read_, .modes = modes_ \
    }
#define DEF_END      \
    {                \
        .name = NULL \
    }

static const PtcFieldRow retry_rows[] = {
    DEF_INT("max_attempts", retry.max_attempts, 1, 10, 0),
    WORD("backoff", retry.backoff, "exponential linear constant", 0),
    DEF_INT("base_delay", retry.base_delay_ms, 1, 300000, 0),
    DEF_OTHER("retryable_errors", read_retryable, 0),
    DEF_END,
};

static bool read_retry_fields(PtcFieldReader *r, PtcValue v)
{
    return ptc_fields_read(r, v, retry_rows, NULL);
}

bool ptc_definition_read_retry(PtcValue v, PtcLlmRetry *retry, PtcWhy *fault)
{
    static const PtcAgentReading how;
    PtcAgentDef *def = ptc_definition_new();
    if (!def)
        return ptc_why_no_memory(fault);
    PtcFieldReader r = {.def = def,
                        .how = &how,
                        .heap = &def->tools->kept.heap,
                        .fault = fault,
                        .path = "llm_retry"};
    def->retry = *retry;
    bool ok = read_retry_fields(&r, v);
    if (ok)
        *retry = def->retry;
    ptc_definition_release(def);
    return ok;
}

/* ---------------------------------------------------------------------------------- plan */

static bool add_plan_step(PtcFieldReader *r, PtcText id, PtcText text)
{
    PtcAgentDef *def = r->def;
    PtcPlanStep *steps = ptc_arena_push(&def->arena, def->plan, def->plan_count, sizeof *steps);
    if (!steps)
        return ptc_why_no_memory(r->fault);
    def->plan = steps;
    PtcPlanStep *step = &steps[def->plan_count++];
    return ptc_fields_copy(r, id, &step->id) && ptc_fields_copy(r, text, &step->text);
}

/* "text", or ["id", "text"]. */
static bool read_step(PtcFieldReader *r, PtcValue v, size_t number)
{
    static const char allowed[] = "a text, or a list of an id and a text";
    char id[32];
    PtcText text = ptc_str_text(v);
    if (text.bytes) {
        snprintf(id, sizeof id, "%zu", number);
        return add_plan_step(r, ptc_text_cstr(id), text);
    }
    if (!ptc_is_sequential(v) || ptc_seq_count(v) != 2)
        return ptc_fields_refuse(r, v, allowed);
    PtcText first = ptc_str_text(ptc_seq_nth(v, 0)), second = ptc_str_text(ptc_seq_nth(v, 1));
    return first.bytes && second.bytes ? add_plan_step(r, first, second)
                                       : ptc_fields_refuse(r, v, allowed);
}

static bool read_plan_map(PtcFieldReader *r, PtcValue v)
{
    PtcValue key, value;
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value);) {
        PtcText id = ptc_str_text(key), text = ptc_str_text(value);
        if (!id.bytes || !text.bytes)
            return ptc_fields_refuse(r, value, "a text for each id");
        if (!add_plan_step(r, id, text))
            return false;
    }
    return true;
}

static bool read_plan(PtcFieldReader *r, PtcValue v)
{
    if (ptc_is_map(v) && ptc_map_count(v) <= PTC_AGENT_PLAN)
        return read_plan_map(r, v);
    if (!ptc_is_sequential(v) || ptc_seq_count(v) > PTC_AGENT_PLAN)
        return ptc_fields_refuse(r, v,
                                 "a list of at most 100 steps, or an object from ids to texts");
    for (size_t i = 0; i < ptc_seq_count(v); i++)
        if (!read_step(r, ptc_seq_nth(v, i), i + 1))
            return false;
    return true;
}

/* --------------------------------------------------------------------------- compaction */

static const PtcFieldRow trigger_rows[] = {
    DEF_INT("turns", compaction.turns, 1, PTC_AGENT_TURNS_MAX, 0),
    DEF_INT("tokens", compaction.tokens, 1, GIB, 0),
    DEF_END,
};

static bool read_trigger(PtcFieldReader *r, PtcValue v)
{
    if (!ptc_is_map(v) || ptc_map_count(v) == 0)
        return ptc_fields_refuse(r, v, "an object with turns, tokens or both");
    r->def->compaction.turns = r->def->compaction.tokens = 0;
    return ptc_fields_read(r, v, trigger_rows, NULL);
}

static bool read_strategy(PtcFieldReader *r, PtcValue v)
{
    return ptc_text_is(ptc_str_text(v), "trim") || ptc_fields_refuse(r, v, "\"trim\"");
}

static const PtcFieldRow compaction_rows[] = {
    DEF_OTHER("strategy", read_strategy, 0),
    DEF_OTHER("trigger", read_trigger, 0),
    DEF_INT("keep_recent_turns", compaction.keep_recent_turns, 1, PTC_AGENT_TURNS_MAX, 0),
    DEF_BOOL("keep_initial_user", compaction.keep_initial_user, 0),
    DEF_END,
};

static bool read_compaction(PtcFieldReader *r, PtcValue v)
{
    if (ptc_is_bool(v)) {
        r->def->compaction.enabled = v == PTC_TRUE;
        return true;
    }
    if (!ptc_is_map(v) || ptc_map_count(v) == 0)
        return ptc_fields_refuse(r, v, "true, false or an object with trigger");
    r->def->compaction.enabled = true;
    return ptc_fields_read(r, v, compaction_rows, NULL);
}

/* ----------------------------------------------------------------------------- the rest */

static const PtcFieldRow format_rows[] = {
    DEF_INT("feedback_limit", format.feedback_limit, 1, DEF_MANY, 0),
    DEF_INT("feedback_max_chars", format.feedback_max_chars, 1, CHARS, 0),
    DEF_INT("preview_max_chars", format.preview_max_chars, 1, CHARS, 0),
    DEF_INT("history_max_bytes", format.history_max_bytes, 0, GIB, 0),
    DEF_INT("result_limit", format.result_limit, 1, DEF_MANY, 0),
    DEF_INT("result_max_chars", format.result_max_chars, 1, CHARS, 0),
    DEF_INT("max_print_length", format.max_print_length, 1, CHARS, 0),
    DEF_INT("output_max_bytes", format.output_max_bytes, 1, CHARS, 0),
    WORD("mission_log_in", format.log_in_user_message, "system_prompt user_message", 0),
    DEF_BOOL("context_in_system", format.context_in_system, 0),
    DEF_BOOL("minimal_turn_info", format.minimal_turn_info, 0),
    DEF_END,
};

static bool read_format(PtcFieldReader *r, PtcValue v)
{
    return ptc_fields_read(r, v, format_rows, NULL);
}

static bool read_effort(PtcFieldReader *r, PtcValue v)
{
    static const char *const names[] = {"none", "low", "medium", "high"};
    for (int i = PTC_EFFORT_LOW; i <= PTC_EFFORT_HIGH; i++)
        if (ptc_text_is(ptc_str_text(v), names[i]))
            r->def->thinking.effort = (PtcEffort)i;
    return r->def->thinking.effort != PTC_EFFORT_NONE ||
           ptc_fields_refuse(r, v, "\"low\", \"medium\" or \"high\"");
}

static const PtcFieldRow thinking_rows[] = {
    DEF_OTHER("effort", read_effort, 0),
    DEF_INT("budget_tokens", thinking.budget_tokens, 1, DEF_MANY, 0),
    DEF_END,
};

static bool read_thinking(PtcFieldReader *r, PtcValue v)
{
    if (ptc_is_bool(v)) {
        r->def->thinking.prose = v == PTC_TRUE;
        return true;
    }
    if (!ptc_is_map(v) || ptc_map_count(v) != 1)
        return ptc_fields_refuse(r, v,
                                 "true, false, {\"effort\": \"low\"} or {\"budget_tokens\": 4000}");
    return ptc_fields_read(r, v, thinking_rows, NULL);
}

static bool read_descriptions(PtcFieldReader *r, PtcValue v, PtcDescriptions *out)
{
    PtcValue key, value;
    if (!ptc_is_map(v) || ptc_map_count(v) > PTC_AGENT_DESCRIBED)
        return ptc_fields_refuse(r, v, "an object from names to texts");
    out->items = ptc_arena_zalloc(&r->def->arena, (ptc_map_count(v) + 1) * sizeof *out->items);
    if (!out->items)
        return ptc_why_no_memory(r->fault);
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value);) {
        PtcDescribed *d = &out->items[out->count];
        PtcText name = ptc_str_text(key), text = ptc_str_text(value);
        if (!name.bytes || !text.bytes)
            return ptc_fields_refuse(r, value, "a text for each name");
        if (!ptc_fields_copy(r, name, &d->key) || !ptc_fields_copy(r, text, &d->text))
            return false;
        out->count++;
    }
    return true;
}

static bool read_field_descriptions(PtcFieldReader *r, PtcValue v)
{
    return read_descriptions(r, v, &r->def->fields);
}

static bool read_context_descriptions(PtcFieldReader *r, PtcValue v)
{
    return read_descriptions(r, v, &r->def->context);
}

static const PtcFieldRow system_rows[] = {
    DEF_TEXT("prefix", system.prefix),
    DEF_TEXT("suffix", system.suffix),
    DEF_TEXT("language_spec", system.language_spec),
    DEF_TEXT("output_format", system.output_format),
    DEF_END,
};

static bool read_system(PtcFieldReader *r, PtcValue v)
{
    return ptc_is_string(v) ? ptc_fields_text(r, v, &r->def->system.text)
                            : ptc_fields_read(r, v, system_rows, NULL);
}

static const PtcFieldRow limit_rows[] = {DEF_INT("max_chars", prompt_limit, 1, CHARS * 64, 0),
                                         DEF_END};

static bool read_prompt_limit(PtcFieldReader *r, PtcValue v)
{
    if (!ptc_is_map(v) || ptc_map_count(v) != 1)
        return ptc_fields_refuse(r, v, "an object such as {\"max_chars\": 20000}");
    return ptc_fields_read(r, v, limit_rows, NULL);
}

const PtcFieldRow ptc_definition_rows[] = {
    DEF_OTHER("$schema", read_nothing, 0),
    DEF_TEXT("prompt", prompt),
    DEF_OTHER("prompt_file", read_prompt_file, 0),
    DEF_NONE("name", name),
    DEF_NONE("description", description),
    {.name = "llm", .kind = PTC_FIELD_OTHER, .nullable = true, .read = read_agent_llm},
    DEF_OTHER("llm_fallback", read_fallbacks, 0),
    WORD("output", output, "ptc_lisp text", 0),
    {.name = "ptc_transport", .kind = PTC_FIELD_OTHER, .nullable = true, .read = read_transport},
    DEF_OTHER("ptc_reference", read_reference, PTC_MODES_COMBINED),
    DEF_NONE("signature", signature),
    {.name = "schema", .kind = PTC_FIELD_OTHER, .nullable = true, .read = read_agent_schema},
    DEF_OTHER("tools", ptc_definition_read_tools, 0),
    DEF_OTHER("builtin_tools", read_builtin_tools, 0),
    DEF_BOOL("llm_query", llm_query, 0),
    DEF_INT("max_turns", max_turns, 1, PTC_AGENT_TURNS_MAX, 0),
    DEF_INT("retry_turns", retry_turns, 0, PTC_AGENT_TURNS_MAX, 0),
    DEF_INT("turn_budget", turn_budget, 1, PTC_AGENT_BUDGET_MAX, 0),
    DEF_INT("max_depth", max_depth, 1, PTC_AGENT_DEPTH_MAX, 0),
    MAYBE("mission_timeout", mission_timeout_ms, 1, 7 * DAY_MS, 0),
    DEF_INT("timeout", timeout_ms, 1, DAY_MS, 0),
    DEF_INT("deadline_ms", deadline_ms, 1, DAY_MS, 0),
    MAYBE("llm_timeout", llm_timeout_ms, 1, DAY_MS, 0),
    DEF_INT("pmap_timeout", pmap_timeout_ms, 1, DAY_MS, PTC_MODES_PROGRAMS),
    DEF_INT("pmap_max_concurrency", pmap_workers, 1, 64, PTC_MODES_PROGRAMS),
    DEF_INT("max_heap", max_heap, 65536, 64 * GIB, PTC_MODES_PROGRAMS),
    MAYBE("max_tool_calls", max_tool_calls, 1, DEF_MANY * 1000, 0),
    DEF_OTHER("memory_limit", read_memory_limit, PTC_MODES_PROGRAMS),
    WORD("memory_strategy", memory_rollback, "strict rollback", PTC_MODES_PROGRAMS),
    WORD("completion_mode", explicit_completion, "implicit explicit", PTC_MODES_LISP),
    WORD("check", check, "error warn off", PTC_MODES_PROGRAMS),
    DEF_OTHER("llm_retry", read_retry_fields, 0),
    DEF_OTHER("plan", read_plan, PTC_MODES_PROGRAMS),
    DEF_BOOL("journaling", journaling, PTC_MODES_PROGRAMS),
    DEF_OTHER("compaction", read_compaction, PTC_MODES_LISP),
    DEF_OTHER("format_options", read_format, 0),
    MAYBE("float_precision", float_precision, 0, 15, PTC_MODES_PROGRAMS),
    DEF_OTHER("thinking", read_thinking, 0),
    DEF_OTHER("field_descriptions", read_field_descriptions, 0),
    DEF_OTHER("context_descriptions", read_context_descriptions, 0),
    DEF_OTHER("system_prompt", read_system, 0),
    DEF_OTHER("prompt_limit", read_prompt_limit, 0),
    DEF_END,
};

/* ------------------------------------------------------------------------------- objects */

bool ptc_definition_gives(const PtcAgentDef *def, const char *name)
{
    for (size_t i = 0; ptc_definition_rows[i].name; i++)
        if (strcmp(ptc_definition_rows[i].name, name) == 0)
            return def->given >> i & 1;
    return false;
}

static void set_compiled(PtcAgentDef *def)
{
    if (!ptc_definition_gives(def, "max_turns"))
        def->max_turns = 1;
    if (!ptc_definition_gives(def, "retry_turns") && def->tools->count > 0)
        def->retry_turns = 2;
}

/* An agent has one prompt: a field, a file, or the text below the fields. */
static bool set_prompt(PtcFieldReader *r)
{
    PtcAgentDef *def = r->def;
    bool field = ptc_definition_gives(def, "prompt"),
         file = ptc_definition_gives(def, "prompt_file");
    if (field && file)
        return ptc_fault_set(r->fault, "prompt_file", "there is a prompt already; leave one out");
    if (!r->how->prompt.bytes)
        return true;
    if (field || file)
        return ptc_fault_set(r->fault, field ? "prompt" : "prompt_file",
                             "the text below the fields is the prompt; leave this out");
    def->prompt_line = r->how->prompt_line;
    return ptc_fields_copy(r, r->how->prompt, &def->prompt);
}

/* Between reading the fields and finishing. */
static bool set_given(PtcFieldReader *r)
{
    PtcAgentDef *def = r->def;
    const PtcAgentReading *how = r->how;
    if (how->check)
        def->check = *how->check;
    if (how->compiling && how->depth == 0)
        set_compiled(def);
    return set_prompt(r);
}

PtcAgentDef *ptc_definition_read(PtcValue object, const PtcAgentReading *how, PtcWhy *fault)
{
    PtcAgentDef *def = ptc_definition_new();
    if (!def) {
        ptc_why_no_memory(fault);
        return NULL;
    }
    PtcFieldReader r = {.def = def, .how = how, .heap = &def->tools->kept.heap, .fault = fault};
    if (how->depth >= PTC_AGENT_FILE_DEPTH)
        ptc_fault_set(fault, "", "agents are nested deeper than %d", PTC_AGENT_FILE_DEPTH);
    else if (ptc_fields_read(&r, object, ptc_definition_rows, &def->given) && set_given(&r) &&
             (how->depth > 0 || ptc_definition_take_tools(def, how, fault)) &&
             ptc_definition_finish(def, fault))
        return def;
    ptc_definition_release(def);
    return NULL;
}

/* What is compiled is written to a file with parts of this text. */
static PtcAgentDef *keep_source(PtcAgentDef *def, PtcText json, const PtcAgentReading *how,
                                PtcWhy *fault)
{
    if (!def || !how->compiling || how->depth > 0)
        return def;
    def->source = ptc_messages_keep(&def->arena, json);
    if (def->source.bytes)
        return def;
    ptc_why_no_memory(fault);
    ptc_definition_release(def);
    return NULL;
}

PtcAgentDef *ptc_definition_read_json(PtcText json, const PtcAgentReading *how, PtcWhy *fault)
{
    PtcJsonError e;
    PtcBench b;
    PtcAgentDef *def = NULL;
    if (json.len > PTC_AGENT_FILE_BYTES) {
        ptc_fault_set(fault, "", "the agent has %zu bytes; at most %d are allowed", json.len,
                      PTC_AGENT_FILE_BYTES);
        return NULL;
    }
    ptc_bench_init(&b);
    PtcValue v = ptc_json_parse(&b.heap, json.bytes, json.len, &e);
    if (v != PTC_NONE)
        def = keep_source(ptc_definition_read(v, how, fault), json, how, fault);
    else if (e.stopped)
        ptc_why_no_memory(fault);
    else
        ptc_fault_set(fault, "", "not JSON: line %u, column %u: %s", (unsigned)e.line,
                      (unsigned)e.column, e.message);
    ptc_bench_deinit(&b);
    return def;
}
