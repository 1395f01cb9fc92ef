/* SPDX-License-Identifier: MIT
 * Chains.  A failure that can be foreseen is reported before the first request: an agent whose parameters the agent
 * before it can never fill. */
#include "agent/run/agent_chain.h"

#include <stdio.h>

#include "base/utf8.h"
#include "json/emit.h"
#include "json/parse.h"
#include "value/coll/map.h"

enum { CHAIN_BYTES = 512 * PTC_MB, CHAIN_CONTEXT_BYTES = 64 * PTC_MB };

/* ------------------------------------------------------------------------- before it runs */

static bool is_optional(const PtcSigType *type)
{
    return type->kind == PTC_SIG_OPTIONAL;
}

static const PtcSigField *params(const PtcAgentDef *def, size_t *count)
{
    *count = def->sig && def->sig->has_params ? def->sig->params.field_count : 0;
    return *count ? def->sig->params.fields : NULL;
}

static bool has_field(const PtcSigType *type, const PtcSigField *wanted)
{
    for (size_t i = 0; i < type->field_count; i++)
        if (ptc_text_same_name((PtcText){type->fields[i].name, type->fields[i].name_len},
                               (PtcText){wanted->name, wanted->name_len}))
            return true;
    return false;
}

/* The first parameter of `next` that no answer of `def` can fill; NULL: none that we can prove. */
static const PtcSigField *never_filled(const PtcAgentDef *def, const PtcAgentDef *next)
{
    size_t n;
    const PtcSigField *all = params(next, &n);
    const PtcSigType *type = def->want.sig ? ptc_sig_required(def->want.sig->result) : NULL;
    if (!type || (type->kind != PTC_SIG_FIELDS && type->kind != PTC_SIG_CLOSED))
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (!is_optional(all[i].type) && !has_field(type, &all[i]))
            return &all[i];
    return NULL;
}

static bool refuse_chain_link(PtcChain *c, size_t link, const PtcSigField *missing)
{
    c->reason = PTC_FAULT_CHAIN_ERROR;
    PtcText name = ptc_text_cut((PtcText){missing->name, missing->name_len}, 200);
    snprintf(c->path, sizeof c->path, "context.%.*s", PTC_ARG(name));
    snprintf(
        c->message, sizeof c->message,
        "agent %zu of the chain needs %.*s, which the answer of the agent before it does not have",
        link + 1, PTC_ARG(name));
    return false;
}

static bool check_chain_links(PtcChain *c)
{
    for (size_t i = 1; i < c->count; i++) {
        const PtcSigField *missing = never_filled(c->defs[i - 1], c->defs[i]);
        if (missing)
            return refuse_chain_link(c, i, missing);
    }
    return true;
}

/* --------------------------------------------------------------------- from one to the next */

/* The answer as the next agent's context: an object as it is, anything else as the value of its only parameter. */
static PtcText next_context(PtcAgentRun *run, const PtcAgentDef *next)
{
    PtcBuf out;
    PtcJsonError e = {0};
    size_t n;
    const PtcSigField *all = params(next, &n);
    PtcText answer = run->step.now.verdict.value;
    PtcValue v =
        answer.bytes ? ptc_json_parse(&run->bench.heap, answer.bytes, answer.len, &e) : PTC_NIL;
    if (v == PTC_NONE || ptc_is_map(v) || n != 1)
        return answer.bytes ? answer : PTC_TEXT("{}");
    ptc_buf_init(&out, &run->bench.mem, CHAIN_CONTEXT_BYTES);
    ptc_emit_object(&out);
    ptc_emit_key_text(&out, (PtcText){all[0].name, all[0].name_len});
    ptc_emit_raw(&out, answer.bytes ? answer : PTC_TEXT("null"));
    ptc_emit_object_end(&out);
    return ptc_bench_take(&run->bench, &out);
}

/* An answer that does not fit the next agent is reported as an error of the chain. */
static void blame_chain(PtcChain *c, const PtcAgentRun *run)
{
    if (!run->invalid || run->fault.code != PTC_FAULT_INVALID_INPUT || c->ran < 2)
        return;
    c->reason = PTC_FAULT_CHAIN_ERROR;
    snprintf(c->path, sizeof c->path, "%s", run->fault.path);
    snprintf(c->message, sizeof c->message,
             "the answer of the agent before cannot be the context of agent %zu: %.*s%s%.*s",
             c->ran, PTC_ARG(ptc_text_cut(ptc_text_cstr(run->fault.path), 100)),
             run->fault.path[0] ? ": " : "",
             PTC_ARG(ptc_text_cut(ptc_text_cstr(run->fault.text), 400)));
}

static const char *name_link_failure(const PtcAgentRun *run)
{
    return run->invalid ? "invalid" : ptc_agent_fault_word(run->step.now.verdict.reason);
}

static void blame_link(PtcChain *c, const PtcAgentRun *run)
{
    const PtcVerdict *v = &run->step.now.verdict;
    PtcText said = run->invalid       ? ptc_text_cstr(run->fault.text)
                   : v->message.bytes ? v->message
                                      : PTC_TEXT("");
    c->reason = PTC_FAULT_CHAINED_FAILURE;
    snprintf(c->message, sizeof c->message, "agent %zu of the chain failed: %s: %.*s", c->ran,
             name_link_failure(run), PTC_ARG(ptc_text_cut(said, 400)));
}

static bool is_ok(const PtcAgentRun *run)
{
    return !run->invalid && run->step.now.verdict.ok;
}

static PtcAgentOptions options_of_link(const PtcChain *c, size_t i, PtcText context)
{
    PtcAgentOptions o = c->options;
    o.stream = c->stream && ptc_definition_is_plain(c->defs[i]);
    if (i == 0)
        return o;
    o.input = (PtcWorkInput){.context = context};
    o.messages = NULL;
    o.message_count = 0;
    o.message = (PtcText){NULL, 0};
    o.work = NULL;
    o.descriptions = &c->defs[i - 1]->fields;
    return o;
}

static bool run_link(PtcChain *c, size_t i, PtcText context)
{
    struct PtcChainLink *link = &c->links[i];
    const PtcAgentDef *def = c->defs[i];
    PtcAgentOptions options = options_of_link(c, i, context);
    if (!ptc_tree_init(&link->tree, &c->host, def->turn_budget, def->mission_timeout_ms))
        return false;
    link->tree.llm_timeout_ms = c->llm_timeout_ms;
    link->tree.tokens_before = i ? ptc_tree_tokens(&c->links[i - 1].tree) : 0;
    ptc_agent_run_begin(&link->run, &link->tree, def, &options);
    c->ran = i + 1;
    ptc_agent_run_go(&link->run);
    return true;
}

bool ptc_chain_run(PtcChain *c)
{
    PtcText context = {NULL, 0};
    ptc_mem_init(&c->mem, CHAIN_BYTES);
    c->links = ptc_mem_alloc(&c->mem, c->count * sizeof *c->links);
    c->ran = 0;
    c->reason = PTC_FAULT_NONE;
    if (!c->links || !check_chain_links(c))
        return c->links != NULL;
    for (size_t i = 0; i < c->count; i++) {
        PtcAgentRun *run = &c->links[i].run;
        if (!run_link(c, i, context))
            return false;
        blame_chain(c, run);
        if (!is_ok(run) && i + 1 < c->count && !c->reason)
            blame_link(c, run);
        if (!is_ok(run) || i + 1 == c->count)
            break;
        context = next_context(run, c->defs[i + 1]);
        if (!context.bytes)
            return false;
    }
    return true;
}

void ptc_chain_end(PtcChain *c)
{
    for (size_t i = c->ran; i-- > 0;) {
        ptc_agent_run_end(&c->links[i].run);
        ptc_tree_deinit(&c->links[i].tree);
    }
    if (c->links)
        ptc_mem_free(&c->mem, c->links, c->count * sizeof *c->links);
    c->links = NULL;
    c->ran = 0;
}

/* ------------------------------------------------------------------------------- outcome */

PtcAgentRun *ptc_chain_last(PtcChain *c)
{
    return c->ran ? &c->links[c->ran - 1].run : NULL;
}

bool ptc_chain_ok(const PtcChain *c)
{
    return !c->reason && c->ran == c->count && is_ok(&c->links[c->ran - 1].run);
}

PtcTreeSums ptc_chain_sums(const PtcChain *c, bool but_last)
{
    PtcTreeSums all = {.turns = 0};
    for (size_t i = 0; i + but_last < c->ran; i++)
        ptc_tree_add_sums(&all, &c->links[i].tree.sums);
    return all;
}

/* A chain that broke: the reason is the chain's own; the runs that took place follow. */
static void write_broken(const PtcChain *c, PtcBuf *out)
{
    ptc_emit_field_cstr(out, "outcome", "error");
    ptc_emit_field_cstr(out, "reason", ptc_agent_fault_word(c->reason));
    ptc_emit_field_cstr(out, "message", c->message);
    if (c->path[0])
        ptc_emit_field_cstr(out, "path", c->path);
    if (c->reason == PTC_FAULT_CHAINED_FAILURE)
        ptc_emit_field_cstr(out, "cause", name_link_failure(&c->links[c->ran - 1].run));
}

void ptc_chain_write(PtcChain *c, const PtcOutcomeOptions *options, PtcBuf *out)
{
    size_t listed = c->reason ? c->ran : c->ran - 1;
    if (c->reason)
        write_broken(c, out);
    else
        ptc_agent_outcome_write(&c->links[c->ran - 1].run, options, out);
    if (c->count < 2)
        return;
    ptc_emit_key(out, "chain");
    ptc_emit_array(out);
    for (size_t i = 0; i < listed; i++) {
        ptc_emit_object(out);
        ptc_agent_outcome_write(&c->links[i].run, options, out);
        ptc_emit_object_end(out);
    }
    ptc_emit_array_end(out);
}
