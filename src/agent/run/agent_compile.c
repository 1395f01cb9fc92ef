/* SPDX-License-Identifier: MIT
 * Compiled agents.  A program is only kept if it gives a fitting answer when it runs alone: one that relies on what
 * an earlier program defined would fail later, when nobody is watching. */
#include "agent/run/agent_compile.h"

#include <stdio.h>

#include "agent/prompt/agent_words.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "json/parse.h"
#include "value/coll/map.h"
#include "value/str.h"

enum { COMPILE_SAMPLE_BYTES = 16 * PTC_MB, COMPILE_DEPTH = 64, VERSION = 1 };

bool ptc_compile_check(const PtcAgentDef *def, PtcWhy *fault)
{
    if (def->mode != PTC_MODE_CONTENT && def->mode != PTC_MODE_TOOL_CALL)
        return ptc_fault_set(fault, "output",
                             "only an agent whose answer is computed by a program can be compiled: "
                             "output \"ptc_lisp\"");
    if (def->max_turns != 1)
        return ptc_fault_set(fault, "max_turns",
                             "an agent that is compiled has one turn; retry_turns may follow");
    return true;
}

/* ------------------------------------------------------------------------------- samples */

static void add_sample_value(PtcBuf *out, const PtcSigType *type, unsigned depth)
{
    type = ptc_sig_required(type);
    switch (depth > COMPILE_DEPTH ? PTC_SIG_ANY : type->kind) {
    case PTC_SIG_INT: ptc_emit_int(out, 1); break;
    case PTC_SIG_FLOAT: ptc_emit_double(out, 1.5); break;
    case PTC_SIG_BOOL: ptc_emit_bool(out, true); break;
    case PTC_SIG_DATETIME: ptc_emit_cstr(out, "2024-01-01T00:00:00Z"); break;
    case PTC_SIG_MAP:
        ptc_emit_object(out);
        ptc_emit_object_end(out);
        break;
    case PTC_SIG_LIST:
        ptc_emit_array(out);
        add_sample_value(out, type->item, depth + 1);
        ptc_emit_array_end(out);
        break;
    case PTC_SIG_FIELDS:
    case PTC_SIG_CLOSED:
        ptc_emit_object(out);
        for (size_t i = 0; i < type->field_count; i++) {
            ptc_emit_key_text(out, (PtcText){type->fields[i].name, type->fields[i].name_len});
            add_sample_value(out, type->fields[i].type, depth + 1);
        }
        ptc_emit_object_end(out);
        break;
    default: ptc_emit_cstr(out, "sample"); break;
    }
}

static bool has_field_key(PtcValue map, const PtcSigField *field)
{
    PtcValue key, value;
    PtcText name = {field->name, field->name_len};
    for (size_t pos = 0; ptc_map_next(map, &pos, &key, &value);)
        if (ptc_text_same_name(ptc_str_text(key), name))
            return true;
    return false;
}

bool ptc_compile_sample(PtcBench *b, const PtcAgentDef *def, PtcText given, PtcText *sample,
                        PtcWhy *fault)
{
    PtcBuf out;
    PtcJsonError e = {0};
    PtcValue key, value;
    PtcValue map = given.bytes ? ptc_json_parse(&b->heap, given.bytes, given.len, &e)
                               : ptc_map_empty(&b->heap);
    if (map == PTC_NONE || !ptc_is_map(map))
        return ptc_fault_input(fault, "sample", "the sample must be a JSON object");
    ptc_buf_init(&out, &b->mem, COMPILE_SAMPLE_BYTES);
    ptc_emit_object(&out);
    for (size_t pos = 0; ptc_map_next(map, &pos, &key, &value);) {
        ptc_emit_key_text(&out, ptc_str_text(key));
        ptc_emit_value(&out, &b->heap, value);
    }
    const PtcSigType *params = def->sig && def->sig->has_params ? &def->sig->params : NULL;
    for (size_t i = 0; params && i < params->field_count; i++) {
        if (has_field_key(map, &params->fields[i]))
            continue;
        ptc_emit_key_text(&out, (PtcText){params->fields[i].name, params->fields[i].name_len});
        add_sample_value(&out, params->fields[i].type, 0);
    }
    ptc_emit_object_end(&out);
    *sample = ptc_bench_take(b, &out);
    return sample->bytes || ptc_why_no_memory(fault);
}

/* ------------------------------------------------------------------------------- running */

static PtcText compile_program(const PtcAgentRun *run)
{
    const PtcStepNow *now = &run->step.now;
    if (run->invalid || !now->verdict.ok || now->turn_count == 0)
        return (PtcText){NULL, 0};
    return now->turns[now->turn_count - 1].program;
}

PtcAction ptc_compile_action(const PtcAgentRun *run, PtcText program)
{
    return (PtcAction){.kind = PTC_ACTION_RUN,
                       .run = {.program = program,
                               .ending = PTC_ENDS_DUE_NIL,
                               .remaining = {.turns = 1,
                                             .work_turns = 1,
                                             .depth = run->depth,
                                             .max_depth = run->max_depth}}};
}

static PtcVerdict ended_verdict(PtcAgentFault reason)
{
    return (PtcVerdict){.reason = reason, .message = ptc_text_cstr(ptc_agent_fault_text(reason))};
}

/* As for an agent of one turn whose model wrote this program. */
PtcVerdict ptc_compile_verdict(const PtcRan *ran)
{
    if (ptc_step_ends(PTC_ENDS_DUE_NIL, ran->end, ran->value_kind, ran->fits))
        return (PtcVerdict){.ok = true,
                            .by = ran->end == PTC_RAN_RETURN ? "return" : "value",
                            .value = ran->answer};
    PtcVerdict v = ended_verdict(PTC_FAULT_MAX_TURNS);
    v.cause = ran->end == PTC_RAN_FAILED ? ran->kind : ptc_agent_fault_word(PTC_FAULT_WRONG_RETURN);
    v.message = ran->findings.bytes ? ran->findings : ran->message;
    switch (ran->end) {
    case PTC_RAN_FAIL:
        v = ended_verdict(PTC_FAULT_FAILED), v.message = ran->message, v.value = ran->value;
        break;
    case PTC_RAN_MEMORY_LIMIT: v = ended_verdict(PTC_FAULT_MEMORY_EXCEEDED); break;
    case PTC_RAN_CANCELLED: v = ended_verdict(PTC_FAULT_CANCELLED); break;
    case PTC_RAN_NO_MEMORY: v = ended_verdict(PTC_FAULT_NO_MEMORY); break;
    default: break;
    }
    return v;
}

static bool explain_program_run(const PtcRan *ran, PtcWhy *why)
{
    PtcText text = ran->findings.bytes ? ran->findings : ran->message;
    bool value = ran->end == PTC_RAN_VALUE || ran->end == PTC_RAN_RETURN;
    return ptc_why_say(why, ran->end == PTC_RAN_NO_MEMORY ? PTC_WHY_NO_MEMORY : PTC_WHY_INVALID,
                       "%s: %.*s",
                       value                      ? "its value is not the answer that is wanted"
                       : ran->kind                ? ran->kind
                       : ran->end == PTC_RAN_FAIL ? "it gave up"
                                                  : "out of memory",
                       PTC_ARG(ptc_text_cut(text, 400)));
}

bool ptc_compile_run(PtcAgentRun *run, PtcText program, PtcText context, PtcBench *b,
                     PtcText *answer, PtcWhy *why)
{
    PtcWork work;
    PtcWhy fault;
    PtcRan ran;
    PtcWorkInput in = {.context = context};
    PtcWorkLimits limits = {.cancel = run->options.cancel, .end_ns = run->deadline_ns, .host = run};
    PtcAction action = ptc_compile_action(run, program);
    bool ok = ptc_work_open(&work, run->def, &in, &fault);
    if (ok) {
        ptc_work_run(&work, &action, &limits, &ran);
        ok = ptc_step_ends(PTC_ENDS_DUE_NIL, ran.end, ran.value_kind, ran.fits) ||
             explain_program_run(&ran, why);
        *answer = ok ? ptc_bench_copy(b, ran.answer) : (PtcText){NULL, 0};
        if (ok && !answer->bytes)
            ok = explain_program_run(&(PtcRan){.end = PTC_RAN_NO_MEMORY}, why);
    } else {
        ptc_why_say(why, PTC_WHY_INVALID, "%.*s%s%.*s",
                    PTC_ARG(ptc_text_cut(ptc_text_cstr(fault.path), 100)),
                    fault.path[0] ? ": " : "",
                    PTC_ARG(ptc_text_cut(ptc_text_cstr(fault.text), 400)));
    }
    ptc_work_close(&work);
    return ok;
}

/* ---------------------------------------------------------------------------------- files */

/* What a compiled program needs from its agent's file. */
static const char *const kept[] = {"signature",         "schema",          "tools",
                                   "builtin_tools",     "llm_query",       "timeout",
                                   "deadline_ms",       "max_heap",        "pmap_timeout",
                                   "max_tool_calls",    "float_precision", "pmap_max_concurrency",
                                   "field_descriptions"};

static bool is_kept(PtcText name)
{
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (ptc_text_is(name, kept[i]))
            return true;
    return false;
}

bool ptc_compile_needs_llm(const PtcAgentDef *def)
{
    bool any = def->llm_query;
    for (size_t i = 0; i < def->tools->count; i++)
        any = any || def->tools->items[i].info.type != PTC_TOOL_NATIVE;
    return any;
}

/* False: out of memory. */
static bool write_compiled_file(PtcBuf *out, PtcBench *b, const PtcAgentRun *run)
{
    PtcJsonError e;
    PtcValue key, value;
    PtcText source = run->def->source;
    const PtcTokens *t = &run->step.now.tokens;
    PtcValue agent = ptc_json_parse(&b->heap, source.bytes, source.len, &e);
    if (agent == PTC_NONE)
        return false;
    ptc_emit_object(out);
    ptc_emit_field_int(out, "ptc_compiled", VERSION);
    ptc_emit_field_text(out, "program", compile_program(run));
    for (size_t pos = 0; ptc_map_next(agent, &pos, &key, &value);) {
        if (!is_kept(ptc_str_text(key)))
            continue;
        ptc_emit_key_text(out, ptc_str_text(key));
        ptc_emit_value(out, &b->heap, value);
    }
    ptc_emit_field_bool(out, "needs_llm", ptc_compile_needs_llm(run->def));
    ptc_emit_field_cstr(out, "model", run->model ? run->model->name : NULL);
    ptc_emit_field_int(out, "tokens", t->input + t->output);
    ptc_emit_field_uint(out, "turns", run->step.now.turn_count);
    ptc_emit_object_end(out);
    return ptc_buf_ok(out);
}

static bool give_compiling_up(PtcWhy *why, const char *what, PtcText more)
{
    return ptc_why_say(why, PTC_WHY_INVALID, "%s%s%.*s", what, more.len ? ": " : "",
                       PTC_ARG(ptc_text_cut(more, 500)));
}

bool ptc_compile_keep(PtcAgentRun *run, PtcText sample, PtcBench *b, PtcBuf *out, PtcText *answer,
                      PtcWhy *why)
{
    PtcWhy alone;
    const PtcVerdict *v = &run->step.now.verdict;
    PtcText program = compile_program(run);
    if (run->invalid)
        return give_compiling_up(why, run->fault.path, ptc_text_cstr(run->fault.text));
    if (!v->ok)
        return give_compiling_up(why, ptc_agent_fault_word(v->reason), v->message);
    if (!program.bytes)
        return give_compiling_up(why, "the answer came without a program", (PtcText){NULL, 0});
    if (!ptc_compile_run(run, program, sample, b, answer, &alone))
        return give_compiling_up(why, "the program does not work alone", ptc_text_cstr(alone.text));
    return write_compiled_file(out, b, run) ||
           give_compiling_up(why, "out of memory", (PtcText){NULL, 0});
}

/* An agent object for a compiled program: nobody will read its prompt. */
static PtcValue agent_of(PtcBench *b, PtcValue file)
{
    PtcHeap *heap = &b->heap;
    PtcValue key, value, agent = ptc_map_empty(heap);
    PtcValue prompt = ptc_str_new(heap, "prompt", 6), text = ptc_str_new(heap, "compiled", 8);
    if (agent != PTC_NONE && prompt != PTC_NONE && text != PTC_NONE)
        agent = ptc_map_assoc(heap, agent, prompt, text);
    for (size_t pos = 0; agent != PTC_NONE && ptc_map_next(file, &pos, &key, &value);)
        if (is_kept(ptc_str_text(key)))
            agent = ptc_map_assoc(heap, agent, key, value);
    return agent;
}

/* The definition, with its program. */
static PtcAgentDef *read_compiled_object(PtcBench *b, PtcValue file, PtcText program,
                                         const PtcAgentReading *how, PtcWhy *fault)
{
    PtcValue agent = agent_of(b, file);
    PtcAgentDef *def = agent == PTC_NONE ? NULL : ptc_definition_read(agent, how, fault);
    if (def)
        def->program = ptc_messages_keep(&def->arena, program);
    if (agent == PTC_NONE || (def && !def->program.bytes)) {
        ptc_why_no_memory(fault);
        ptc_definition_release(def);
        return NULL;
    }
    return def;
}

PtcAgentDef *ptc_compile_read(PtcText json, const PtcAgentReading *how, PtcWhy *fault)
{
    PtcBench b;
    PtcJsonError e = {0};
    PtcAgentDef *def = NULL;
    ptc_bench_init(&b);
    PtcValue file = ptc_json_parse(&b.heap, json.bytes, json.len, &e);
    bool is_map = file != PTC_NONE && ptc_is_map(file);
    PtcValue version = is_map ? ptc_map_field(&b.heap, file, "ptc_compiled") : PTC_NONE;
    PtcText program = ptc_str_text(is_map ? ptc_map_field(&b.heap, file, "program") : PTC_NIL);
    if (version == PTC_NONE || !ptc_is_int(version) || ptc_to_int(version) != VERSION ||
        !program.bytes)
        ptc_fault_input(fault, "",
                        "this is not a compiled agent of version 1 (ptc run --compile makes one)");
    else
        def = read_compiled_object(&b, file, program, how, fault);
    ptc_bench_deinit(&b);
    return def;
}
