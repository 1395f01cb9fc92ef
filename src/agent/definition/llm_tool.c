/* SPDX-License-Identifier: MIT
 * One question to a model: tools of kind llm, and llm-query, where programs compose the question.  A question is an
 * agent in text mode with one turn; it costs no turn of the tree, but it does use tokens, depth and time.
 *
 * With a response template the answer's fields are bound to names and the template runs as a program without tools
 * and data: an answer never becomes code. */
#define _GNU_SOURCE
#include <stdio.h>

#include "agent/agent_kinds.h"
#include "agent/definition/agent_tool.h"
#include "agent/prompt/response_template.h"
#include "engine/engine.h"
#include "engine/heap_box.h"
#include "engine/outcome.h"
#include "engine/session.h"
#include "json/parse.h"
#include "tool/wire/answer.h"
#include "value/coll/map.h"
#include "value/str.h"

enum { LLM_TOOL_ANSWER_BYTES = 16 * PTC_MB };

static PtcToolAnswer fail(PtcToolCall *call, const char *text)
{
    ptc_answer_fail(call, ptc_text_cstr(text));
    return PTC_TOOL_ANSWERED;
}

/* ---------------------------------------------------------------------------- questions */

/* What an llm tool has in addition to the fields of an agent. */
typedef struct LlmQuestion {
    PtcText json_signature, response_template;
} LlmQuestion;

static bool read_json_signature(PtcFieldReader *r, PtcValue v)
{
    return ptc_fields_text(r, v, &((LlmQuestion *)r->user)->json_signature);
}

static bool read_response_template(PtcFieldReader *r, PtcValue v)
{
    return ptc_fields_text(r, v, &((LlmQuestion *)r->user)->response_template);
}

static bool read_model(PtcFieldReader *r, PtcValue v)
{
    return ptc_definition_read_model(r, v, &r->def->llm, &r->def->llm_script);
}

#define LLM_TOOL_OTHER(name_, read_)                                            \
    {                                                                           \
        .name = name_, .kind = PTC_FIELD_OTHER, .nullable = true, .read = read_ \
    }

static const PtcFieldRow question_rows[] = {
    {.name = "prompt", .kind = PTC_FIELD_TEXT, .offset = offsetof(PtcAgentDef, prompt)},
    {.name = "signature", .kind = PTC_FIELD_TEXT, .offset = offsetof(PtcAgentDef, signature)},
    LLM_TOOL_OTHER("json_signature", read_json_signature),
    LLM_TOOL_OTHER("response_template", read_response_template),
    LLM_TOOL_OTHER("llm", read_model),
    {.name = "retry_turns",
     .kind = PTC_FIELD_INT,
     .offset = offsetof(PtcAgentDef, retry_turns),
     .max = PTC_AGENT_TURNS_MAX},
    {.name = NULL},
};

static const PtcSig *parse_signature(PtcFieldReader *r, const char *field, PtcText text)
{
    PtcSigError e;
    const PtcSig *sig;
    if (ptc_sig_parse(&r->def->arena, text.bytes, text.len, &sig, &e))
        return sig;
    if (e.stopped)
        ptc_why_no_memory(r->fault);
    else
        ptc_fault_set(r->fault, field, "line %u, column %u: %s", (unsigned)e.line,
                      (unsigned)e.column, e.message);
    return NULL;
}

/* The question is an agent in text mode with one turn: its parameters are the tool's, its answer is what the model is
 * asked for. */
static bool set_question_signature(PtcFieldReader *r, PtcText json_signature)
{
    PtcAgentDef *child = r->def;
    const PtcSig *sig = parse_signature(r, "signature", child->signature);
    const PtcSig *json =
        sig && json_signature.bytes ? parse_signature(r, "json_signature", json_signature) : sig;
    PtcSig *both = sig && json ? ptc_arena_alloc(&child->arena, sizeof *both) : NULL;
    if (!sig || !json)
        return false;
    if (!both)
        return ptc_why_no_memory(r->fault);
    *both = *sig;
    both->result = json->result;
    child->sig = both;
    return true;
}

static bool set_response(PtcFieldReader *r, PtcText text, PtcAgentTool *note)
{
    PtcWhy why;
    PtcResponseTemplate *t = ptc_arena_zalloc(&r->def->arena, sizeof *t);
    if (!t)
        return ptc_why_no_memory(r->fault);
    if (!ptc_response_template_read(&r->def->arena, text, r->def->sig->result, t, &why))
        return ptc_fault_set(r->fault, "response_template", "%s", why.text);
    note->response = t;
    return true;
}

static bool make_question(PtcFieldReader *r, PtcValue v, PtcAgentTool *note)
{
    PtcAgentDef *child = r->def;
    LlmQuestion q = {.json_signature = {NULL, 0}};
    r->user = &q;
    if (!ptc_fields_read(r, v, question_rows, NULL))
        return false;
    if (!child->prompt.bytes || !child->signature.bytes)
        return ptc_fault_set(r->fault, child->prompt.bytes ? "signature" : "prompt",
                             "an llm tool needs a prompt and a signature");
    if (q.json_signature.bytes && !q.response_template.bytes)
        return ptc_fault_set(r->fault, "json_signature",
                             "it has no effect without response_template; leave it out");
    child->output = PTC_OUTPUT_TEXT;
    child->max_turns = 1;
    return set_question_signature(r, q.json_signature) && ptc_definition_finish(child, r->fault) &&
           (!q.response_template.bytes || set_response(r, q.response_template, note));
}

static bool read_question(PtcFieldReader *r, PtcValue v, PtcTool *tool)
{
    PtcFieldReader inner = *r;
    PtcAgentTool *note = ptc_definition_note(r->def, tool);
    if (note)
        note->child = inner.def = ptc_definition_new();
    if (!note || !note->child)
        return ptc_why_no_memory(r->fault);
    if (!make_question(&inner, v, note))
        return false;
    if (!tool->info.signature) {
        tool->info.signature = inner.def->signature.bytes;
        tool->info.signature_len = inner.def->signature.len;
    }
    return true;
}

static bool read_llm(PtcToolReader *r, PtcValue v)
{
    return ptc_definition_read_kind(r, v, read_question);
}

/* ----------------------------------------------------------------------------- templates */

/* A template that is being filled in. */
typedef struct Filling {
    PtcToolCall *call;
    const PtcResponseTemplate *template;
    Ptc *ptc;
    PtcSession *session;
    PtcHeapBox *box;
    PtcOutcome *outcome;
} Filling;

static bool open_filling(Filling *f)
{
    PtcLimits limits;
    ptc_limits_unset(&limits);
    return (f->ptc = ptc_engine_with(&limits)) && (f->session = ptc_session_open(f->ptc)) &&
           (f->box = ptc_box_new(f->ptc, LLM_TOOL_ANSWER_BYTES));
}

static void close_filling(Filling *f)
{
    ptc_outcome_drop(f->outcome);
    if (f->box)
        ptc_box_release(&f->box->heap);
    ptc_session_drop(f->session);
    if (f->ptc)
        ptc_engine_free(f->ptc);
}

/* A field that the answer does not have is nil. */
static bool bind_template_fields(Filling *f, PtcText answer)
{
    PtcJsonError e = {0};
    PtcValue map = ptc_json_parse(&f->box->heap, answer.bytes, answer.len, &e);
    if (map == PTC_NONE || !ptc_is_map(map))
        return false;
    for (size_t i = 0; i < f->template->field_count; i++) {
        const PtcDescribed *field = &f->template->fields[i];
        PtcValue key = ptc_str_new(&f->box->heap, field->key.bytes, field->key.len);
        PtcValue v = key == PTC_NONE ? PTC_NONE : ptc_map_get_flex(&f->box->heap, map, key);
        if (ptc_session_define(f->session, field->text, v == PTC_NONE ? PTC_NIL : v) != PTC_OK)
            return false;
    }
    return true;
}

static void answer_outcome(Filling *f)
{
    PtcOutcome *o = f->outcome;
    char text[PTC_TOOL_TEXT];
    const char *json = o->ok ? ptc_outcome_show_json(o) : NULL;
    if (json) {
        ptc_answer_json(f->call, ptc_buf_view(&o->json));
    } else if (o->ok) {
        fail(f->call, "response_template: its value has no JSON");
    } else {
        PtcError e = ptc_outcome_finding(o, 0);
        snprintf(text, sizeof text, "response_template: %s: %.*s", e.kind,
                 PTC_ARG_OF(e.message, e.message_len));
        fail(f->call, text);
    }
}

static void fill_template(PtcToolCall *call, const PtcResponseTemplate *template, PtcText answer)
{
    Filling f = {.call = call, .template = template};
    PtcRun run = {
        .size = sizeof run, .program = template->source.bytes, .program_len = template->source.len};
    bool ready = open_filling(&f) && bind_template_fields(&f, answer);
    run.session = f.session;
    if (ready)
        f.ptc->cancel.outer = ptc_call_cancel(call);
    if (ready && ptc_engine_run(f.ptc, &run, &f.outcome) == PTC_OK)
        answer_outcome(&f);
    else
        fail(call, "response_template: out of memory");
    close_filling(&f);
}

/* ------------------------------------------------------------------------------ questions */

static void ask_child_model(PtcToolCall *call, const PtcAgentDef *def, const PtcAgentTool *tool,
                            const PtcResponseTemplate *template, PtcText context)
{
    PtcAgentRun *child = ptc_agent_tool_go(call, def, tool, context, true);
    if (!child)
        return;
    PtcText answer = child->step.now.verdict.value;
    if (template)
        fill_template(call, template, answer);
    else
        ptc_answer_json(call, answer.bytes ? answer : PTC_TEXT("null"));
    ptc_agent_tool_end(child);
}

static PtcToolAnswer answer_question(PtcToolCall *call, void *user)
{
    const PtcAgentTool *tool = user;
    if (!ptc_answer_args_json(call))
        return fail(call, "no_memory: out of memory");
    ask_child_model(call, tool->child, tool, tool->response, ptc_buf_view(&call->json));
    return PTC_TOOL_ANSWERED;
}

const PtcToolKind ptc_llm_kind = {
    .key = "llm",
    .doc = "one question to a model; beside agent, its model",
    .schema = "{\"anyOf\": [{\"$ref\": \"#/$defs/question\"},"
              " {\"type\": [\"string\", \"array\"], \"minLength\": 1}]}",
    .read = read_llm,
    .call = answer_question,
    .type = PTC_TOOL_LLM,
    .in_agent = true,
    .uncounted = true,
    .or_model = true,
};

/* -------------------------------------------------------------------------------- queries */

/* A question composed by a program. */
typedef struct LlmQuery {
    PtcToolCall *call;
    PtcAgentDef *def;
    PtcText template, model;
    PtcResponseTemplate response;
    PtcAgentTool tool;
} LlmQuery;

static PtcText text_arg(LlmQuery *q, const char *name)
{
    PtcHeap *heap = q->call->data.heap;
    PtcValue v = ptc_map_field(heap, q->call->args, name);
    PtcText text = v == PTC_NONE ? (PtcText){NULL, 0} : ptc_str_text(v);
    return text.bytes ? ptc_messages_keep(&q->def->arena, text) : text;
}

/* "{ok :bool}", or a whole signature: what comes after its arrow counts. */
static bool set_query_signature(LlmQuery *q, PtcText text, PtcWhy *why)
{
    PtcSigError e;
    const PtcSig *sig;
    PtcBuf whole;
    ptc_buf_init(&whole, &q->def->mem, PTC_MB);
    bool arrow = memmem(text.bytes, text.len, "->", 2) != NULL;
    ptc_buf_addf(&whole, "%s%.*s", arrow ? "" : "() -> ", PTC_ARG(text));
    PtcText kept = ptc_messages_keep(&q->def->arena, ptc_buf_view(&whole));
    ptc_buf_deinit(&whole);
    if (!kept.bytes)
        return ptc_why_say(why, PTC_WHY_NO_MEMORY, "no_memory: out of memory");
    if (!ptc_sig_parse(&q->def->arena, kept.bytes, kept.len, &sig, &e))
        return ptc_why_say(why, PTC_WHY_INVALID, ":signature: line %u, column %u: %s",
                           (unsigned)e.line, (unsigned)e.column, e.message);
    q->def->sig = sig;
    q->def->signature = kept;
    return true;
}

static bool make_query(LlmQuery *q, PtcWhy *why)
{
    PtcWhy fault;
    PtcAgentDef *def = q->def;
    PtcText signature = text_arg(q, "signature");
    def->prompt = text_arg(q, "prompt");
    q->template = text_arg(q, "response_template");
    q->tool.model = text_arg(q, "llm");
    def->output = PTC_OUTPUT_TEXT;
    def->max_turns = 1;
    def->loose_prompt = true;
    if (def->arena.failed) { /* otherwise what could not be kept would count as not given */
        return ptc_why_say(why, PTC_WHY_NO_MEMORY, "no_memory: out of memory");
    }
    if (!def->prompt.bytes)
        return ptc_why_say(why, PTC_WHY_INVALID, "llm-query needs :prompt, a string");
    if (!set_query_signature(q, signature.bytes ? signature : PTC_TEXT(":string"), why))
        return false;
    if (!ptc_definition_finish(def, &fault))
        return ptc_why_say(why, PTC_WHY_INVALID, ":%.200s: %.500s", fault.path, fault.text);
    return !q->template.bytes || ptc_response_template_read(&def->arena, q->template,
                                                            def->sig->result, &q->response, why);
}

static PtcToolAnswer answer_query(PtcToolCall *call, void *user)
{
    LlmQuery q = {.call = call, .def = ptc_definition_new()};
    PtcWhy why;
    (void)user;
    if (!q.def || !ptc_answer_args_json(call)) {
        ptc_definition_release(q.def);
        return fail(call, "no_memory: out of memory");
    }
    if (make_query(&q, &why))
        ask_child_model(call, q.def, &q.tool, q.template.bytes ? &q.response : NULL,
                        ptc_buf_view(&call->json));
    else
        fail(call, why.text);
    ptc_definition_release(q.def);
    return PTC_TOOL_ANSWERED;
}

const PtcToolKind ptc_llm_query_kind = {
    .key = "llm-query",
    .doc = "Asks a language model. prompt may have {{name}} placeholders, filled from the "
           "other arguments; signature is the type of the answer, :string by default.",
    .signature = "(prompt :string, signature :string?, llm :string?, response_template :string?)"
                 " -> :any",
    .call = answer_query,
    .in_agent = true,
    .uncounted = true,
    .extra = true,
};
