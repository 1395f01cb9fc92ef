/* SPDX-License-Identifier: MIT
 * What must hold between the fields of an agent, and what follows from them: its signature and schema, its prompt as a
 * template, what its answer must be. */
#include <stdio.h>

#include "agent/definition/definition_int.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "json/parse.h"
#include "tool/sig/sig_schema.h"
#include "value/coll/map.h"
#include "value/str.h"

enum { SCHEMA_BYTES = PTC_MB };

/* ----------------------------------------------------------------------------- signature */

static bool check_agent_signature(PtcAgentDef *def, PtcWhy *fault)
{
    PtcSigError e;
    if (!def->signature.bytes || def->sig)
        return true;
    if (ptc_sig_parse(&def->arena, def->signature.bytes, def->signature.len, &def->sig, &e))
        return true;
    if (e.stopped)
        return ptc_why_no_memory(fault);
    return ptc_fault_set(fault, "signature", "line %u, column %u: %s", (unsigned)e.line,
                         (unsigned)e.column, e.message);
}

static bool wraps_value(PtcSigKind kind)
{
    return kind == PTC_SIG_INT || kind == PTC_SIG_FLOAT || kind == PTC_SIG_BOOL ||
           kind == PTC_SIG_KEYWORD || kind == PTC_SIG_DATETIME;
}

/* Keeps what a buffer holds in the arena and frees it. */
static bool keep_definition_buf(PtcAgentDef *def, PtcBuf *buf, PtcText *out, PtcWhy *fault)
{
    char *copy = ptc_buf_ok(buf) ? ptc_arena_alloc(&def->arena, buf->len + 1) : NULL;
    if (copy) {
        memcpy(copy, ptc_buf_view(buf).bytes, buf->len);
        copy[buf->len] = 0;
        *out = (PtcText){copy, buf->len};
    }
    ptc_buf_deinit(buf);
    return copy || ptc_why_no_memory(fault);
}

/* {"type":"object","properties":{"value":T},...}: providers want an object at the top. */
static void wrap_answer_schema(PtcBuf *out, const char *name, PtcText schema)
{
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "type", "object");
    ptc_emit_key(out, "properties");
    ptc_emit_object(out);
    ptc_emit_field_raw(out, name, schema);
    ptc_emit_object_end(out);
    ptc_emit_key(out, "required");
    ptc_emit_array(out);
    ptc_emit_cstr(out, name);
    ptc_emit_array_end(out);
    ptc_emit_field_bool(out, "additionalProperties", false);
    ptc_emit_object_end(out);
}

static bool add_schema_to_send(PtcAgentDef *def, PtcText schema, PtcWhy *fault)
{
    PtcBuf buf;
    ptc_buf_init(&buf, &def->mem, SCHEMA_BYTES);
    if (def->want.wrap == PTC_WRAP_NONE)
        ptc_buf_add(&buf, schema.bytes, schema.len);
    else
        wrap_answer_schema(&buf, def->want.wrap == PTC_WRAP_ITEMS ? "items" : "value", schema);
    return keep_definition_buf(def, &buf, &def->send_schema, fault);
}

/* The answer's type: as text, how it is wrapped, its schema. */
static bool finish_type(PtcAgentDef *def, PtcWhy *fault)
{
    const PtcSigType *type = ptc_want_type(&def->want);
    PtcText schema;
    PtcBuf buf;
    if (type->kind == PTC_SIG_ANY)
        return true;
    ptc_buf_init(&buf, &def->mem, SCHEMA_BYTES);
    ptc_sig_type_print(&buf, def->sig->result);
    if (!keep_definition_buf(def, &buf, &def->answer_type, fault))
        return false;
    def->want.wrap = type->kind == PTC_SIG_LIST ? PTC_WRAP_ITEMS
                     : wraps_value(type->kind)  ? PTC_WRAP_VALUE
                                                : PTC_WRAP_NONE;
    if (type->kind == PTC_SIG_STRING)
        return true;
    ptc_buf_init(&buf, &def->mem, SCHEMA_BYTES);
    ptc_sig_schema_type(&buf, type);
    return keep_definition_buf(def, &buf, &schema, fault) && add_schema_to_send(def, schema, fault);
}

/* -------------------------------------------------------------------------------- schema */

static PtcWrap schema_wrap(PtcHeap *heap, PtcValue schema)
{
    PtcText type = ptc_str_text(ptc_map_field(heap, schema, "type"));
    if (ptc_text_is(type, "array"))
        return PTC_WRAP_ITEMS;
    return type.bytes && !ptc_text_is(type, "object") ? PTC_WRAP_VALUE : PTC_WRAP_NONE;
}

static bool compile_schema(PtcAgentDef *def, PtcBench *b, PtcWhy *fault)
{
    PtcJsonError e;
    PtcSchemaError why = {.stopped = false};
    PtcValue v = ptc_json_parse(&b->heap, def->schema.bytes, def->schema.len, &e);
    if (v == PTC_NONE && e.stopped)
        return ptc_why_no_memory(fault);
    if (v == PTC_NONE)
        return ptc_fault_set(fault, "schema", "not JSON: line %u, column %u: %s", (unsigned)e.line,
                             (unsigned)e.column, e.message);
    if (!ptc_schema_compile(&def->arena, &def->mem, &b->budget, v, &def->want.schema, &why))
        return why.stopped ? ptc_why_no_memory(fault)
                           : ptc_fault_set(fault, "schema", "at %s: %s", why.path, why.message);
    def->want.wrap = schema_wrap(&b->heap, v);
    return true;
}

static bool check_agent_schema(PtcAgentDef *def, PtcWhy *fault)
{
    PtcBench b;
    if (!def->schema.bytes)
        return true;
    if (def->sig && def->sig->result->kind != PTC_SIG_ANY)
        return ptc_fault_set(
            fault, "schema",
            "the signature says already what the answer is; write `-> :any` in it, "
            "or leave the schema out");
    ptc_bench_init(&b);
    bool ok = compile_schema(def, &b, fault);
    ptc_bench_deinit(&b);
    def->want.schema_json = def->schema;
    return ok && add_schema_to_send(def, def->schema, fault);
}

/* -------------------------------------------------------------------------------- prompt */

static bool check_prompt(PtcAgentDef *def, PtcWhy *fault)
{
    PtcTemplateError e;
    PtcWhy why;
    if (!def->prompt.bytes)
        return ptc_fault_set(fault, "prompt", "an agent needs a prompt");
    if (!ptc_template_read(&def->arena, def->prompt, &def->template, &e))
        return e.no_memory ? ptc_why_no_memory(fault)
                           : ptc_fault_set(fault, "prompt", "line %u, column %u: %s",
                                           (unsigned)(e.line + def->prompt_line),
                                           (unsigned)e.column, e.message);
    if (!def->sig || def->loose_prompt)
        return true;
    if (!ptc_template_check(&def->template, def->sig, &why))
        return ptc_fault_set(fault, "prompt", "%s", why.text);
    for (size_t i = 0; def->output == PTC_OUTPUT_TEXT && i < def->sig->params.field_count; i++) {
        const PtcSigField *f = &def->sig->params.fields[i];
        PtcText name = ptc_text_cut((PtcText){f->name, f->name_len}, 60);
        if (!ptc_template_uses(&def->template, (PtcText){f->name, f->name_len}))
            return ptc_fault_set(fault, "prompt",
                                 "the parameter %.*s is not in it; with output \"text\" values "
                                 "reach the model through the prompt: write {{%.*s}}",
                                 PTC_ARG(name), PTC_ARG(name));
    }
    return true;
}

/* ---------------------------------------------------------------------------------- rest */

static bool check_plan(const PtcAgentDef *def, PtcWhy *fault)
{
    if (def->plan_count > PTC_AGENT_PLAN)
        return ptc_fault_set(fault, "plan", "found %zu steps; at most %d are allowed",
                             def->plan_count, PTC_AGENT_PLAN);
    for (size_t i = 0; i < def->plan_count; i++) {
        const PtcPlanStep *step = &def->plan[i];
        if (step->id.len == 0 || step->text.len == 0)
            return ptc_fault_set(fault, "plan", "step %zu has no %s", i + 1,
                                 step->id.len ? "text" : "id");
        for (size_t j = 0; j < i; j++)
            if (ptc_text_same(step->id, def->plan[j].id))
                return ptc_fault_set(fault, "plan", "the id \"%.*s\" occurs twice",
                                     PTC_ARG(ptc_text_cut(step->id, 60)));
    }
    return true;
}

static bool check_compaction(const PtcAgentDef *def, PtcWhy *fault)
{
    const PtcCompactionRule *c = &def->compaction;
    if (!c->enabled)
        return true;
    if (def->output == PTC_OUTPUT_TEXT)
        return ptc_fault_set(fault, "compaction", "it does not go with output \"text\"");
    if (c->turns < 0 || c->tokens < 0 || (c->turns == 0 && c->tokens == 0))
        return ptc_fault_set(fault, "compaction.trigger", "turns, tokens or both must be given");
    return c->keep_recent_turns >= 1 ||
           ptc_fault_set(fault, "compaction.keep_recent_turns", "found %lld; allowed is from 1",
                         (long long)c->keep_recent_turns);
}

/* Descriptions for fields that the answer does not have are a mistake. */
static bool check_descriptions(const PtcAgentDef *def, PtcWhy *fault)
{
    const PtcSigType *type = ptc_want_type(&def->want);
    while (type && type->kind == PTC_SIG_LIST)
        type = ptc_sig_required(type->item);
    bool known = type && (type->kind == PTC_SIG_FIELDS || type->kind == PTC_SIG_CLOSED);
    for (size_t i = 0; known && i < def->fields.count; i++) {
        bool found = false;
        PtcText key = def->fields.items[i].key;
        for (size_t k = 0; k < type->field_count && !found; k++)
            found = ptc_text_same(key, (PtcText){type->fields[k].name, type->fields[k].name_len});
        if (!found)
            return ptc_fault_set(fault, "field_descriptions", "the answer has no field \"%.*s\"",
                                 PTC_ARG(ptc_text_cut(key, 60)));
    }
    return true;
}

/* A model that is given from outside is asked alone, so there must be one in the file. */
static bool check_fallbacks(const PtcAgentDef *def, PtcWhy *fault)
{
    return def->fallback_count == 0 || def->llm.bytes || def->llm_script.bytes ||
           ptc_fault_set(fault, "llm_fallback", "there is no llm whose place they could take");
}

bool ptc_definition_check(PtcAgentDef *def, PtcWhy *fault)
{
    if (!check_agent_signature(def, fault))
        return false;
    def->want.sig = def->sig;
    def->want.float_precision = (int)def->float_precision;
    return (!def->sig || finish_type(def, fault)) && check_agent_schema(def, fault) &&
           check_prompt(def, fault) && check_plan(def, fault) && check_compaction(def, fault) &&
           check_descriptions(def, fault) && check_fallbacks(def, fault);
}
