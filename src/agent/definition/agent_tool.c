/* SPDX-License-Identifier: MIT
 * Agents as tools.  A child runs on the thread of the call: in pmap that is one of pmap's.  It stops when the call
 * does, so no child outlives the run that started it. */
#include "agent/definition/agent_tool.h"

#include <stdio.h>

#include "agent/agent_kinds.h"
#include "agent/run/agent_outcome.h"
#include "base/sanitized.h"
#include "base/stack.h"
#include "base/utf8.h"
#include "tool/wire/answer.h"
#include "value/str.h"

enum { KIB = 1024, STACK_LEAST = 512 * KIB, STACK_SANITIZED = 3 };

/* ----------------------------------------------------------------------------- the stack */

/* Checked because a child may run on the stack of its parent's VM instead of the thread's own. */
static bool has_stack(void)
{
    size_t least = PTC_SANITIZED ? STACK_LEAST * STACK_SANITIZED : STACK_LEAST;
    return ptc_stack_room() > least;
}

/* ------------------------------------------------------------------------------ children */

static PtcToolAnswer fail(PtcToolCall *call, const char *text)
{
    ptc_answer_fail(call, ptc_text_cstr(text));
    return PTC_TOOL_ANSWERED;
}

PtcAgentRun *ptc_agent_tool_run(PtcToolCall *call)
{
    PtcAgentRun *run = ptc_call_host(call);
    if (!run)
        fail(call, "tools of this kind need an agent that runs");
    return run;
}

static PtcAgentRun *new_run(void)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    return ptc_mem_alloc(&mem, sizeof(PtcAgentRun));
}

static void free_run(PtcAgentRun *run)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *run);
    ptc_mem_free(&mem, run, sizeof *run);
}

/* Has a child that failed done something that must not be done twice? */
static bool did_something(const PtcTool *tool, const PtcAgentRun *child)
{
    return !tool->info.read_only && !tool->info.idempotent && !ptc_agent_outcome_safe(child);
}

/* Why a child failed, in words for the program that called it. */
static void tell_child_failure(PtcToolCall *call, const PtcAgentRun *child)
{
    PtcCallFault fault = {.reason = PTC_CALL_TOOL_ERROR, .begun = true, .retry_after_ms = -1};
    char text[PTC_TOOL_TEXT];
    const PtcVerdict *v = &child->step.now.verdict;
    const PtcWhy *f = &child->fault;
    if (child->invalid)
        snprintf(text, sizeof text, "%s: %s%s%s", ptc_agent_fault_word(ptc_fault_reason(f)),
                 f->path, f->path[0] ? ": " : "", f->text);
    else
        snprintf(text, sizeof text, "%s: %.*s", ptc_agent_fault_word(v->reason),
                 PTC_ARG(ptc_text_cut(v->message, 1500)));
    if (did_something(call->tool, child))
        ptc_answer_fault(call, fault, ptc_text_cstr(text));
    else
        fail(call, text);
}

PtcAgentRun *ptc_agent_tool_go(PtcToolCall *call, const PtcAgentDef *def, const PtcAgentTool *tool,
                               PtcText context, bool free)
{
    PtcAgentRun *parent = ptc_agent_tool_run(call), *child;
    PtcAgentOptions options = ptc_agent_options();
    options.input.context = context;
    options.cancel = ptc_call_cancel(call);
    if (!parent)
        return NULL;
    if (!has_stack()) {
        fail(call, "max_depth_exceeded: agents are nested too deeply for this thread");
        return NULL;
    }
    if (!(child = new_run())) {
        fail(call, "no_memory: out of memory");
        return NULL;
    }
    PtcText name = {call->tool->info.name, call->tool->info.name_len};
    ptc_agent_run_begin_child(child, parent, def, name, &options);
    child->tool = tool;
    child->free_of_budget = free;
    int64_t end = ptc_clock_ns(NULL) + ptc_answer_time_left_ms(call) * PTC_MS;
    if (call->tool->info.timeout_ms && end < child->deadline_ns)
        child->deadline_ns = end;
    ptc_agent_run_go(child);
    if (!child->invalid && child->step.now.verdict.ok)
        return child;
    /* The call is not in the list of what ran, but what the child did before it failed has happened all the same. */
    if (did_something(call->tool, child))
        atomic_store(&parent->unsafe, true);
    tell_child_failure(call, child);
    ptc_agent_tool_end(child);
    return NULL;
}

void ptc_agent_tool_end(PtcAgentRun *child)
{
    if (!child)
        return;
    ptc_agent_run_end(child);
    free_run(child);
}

/* --------------------------------------------------------------------------------- tools */

static PtcToolAnswer call_agent(PtcToolCall *call, void *user)
{
    const PtcAgentTool *tool = user;
    const char *args = ptc_answer_args_json(call);
    if (!args)
        return fail(call, "no_memory: out of memory");
    PtcAgentRun *child =
        ptc_agent_tool_go(call, tool->child, tool, ptc_buf_view(&call->json), false);
    if (child)
        ptc_answer_json(call, child->step.now.verdict.value.bytes ? child->step.now.verdict.value
                                                                  : PTC_TEXT("null"));
    ptc_agent_tool_end(child);
    return PTC_TOOL_ANSWERED;
}

static bool read_child(PtcFieldReader *r, PtcValue v, PtcTool *tool)
{
    PtcAgentReading inner = *r->how;
    PtcAgentTool *note = ptc_definition_note(r->def, tool);
    if (!note)
        return ptc_why_no_memory(r->fault);
    inner.depth++;
    inner.prompt = (PtcText){NULL, 0};
    inner.prompt_line = 0;
    PtcText file = ptc_str_text(v);
    if (file.bytes && !inner.files)
        return ptc_fault_set(r->fault, "", "agents are objects here, not files");
    note->child = file.bytes ? ptc_definition_include(file, &inner, r->fault)
                             : ptc_definition_read(v, &inner, r->fault);
    if (!note->child)
        return false;
    ptc_definition_borrow(note->child, tool);
    return true;
}

static bool read_agent(PtcToolReader *r, PtcValue v)
{
    return ptc_definition_read_kind(r, v, read_child);
}

const PtcToolKind ptc_agent_kind = {
    .key = "agent",
    .doc = "another agent: a file, or an object",
    .schema = "{\"anyOf\": [{\"type\": \"string\", \"minLength\": 1}, {\"$ref\": \"#\"}]}",
    .read = read_agent,
    .call = call_agent,
    .type = PTC_TOOL_SUBAGENT,
    .options = PTC_KIND_MODEL,
    .in_agent = true,
    .uncounted = true,
};

static bool read_owner(PtcFieldReader *r, PtcValue v, PtcTool *tool)
{
    (void)v;
    PtcAgentTool *note = ptc_definition_note(r->def, tool);
    if (!note)
        return ptc_why_no_memory(r->fault);
    note->child = r->def;
    return true;
}

static bool read_self(PtcToolReader *r, PtcValue v)
{
    return ptc_definition_read_kind(r, v, read_owner);
}

const PtcToolKind ptc_self_kind = {
    .key = "self",
    .doc = "this agent again",
    .read = read_self,
    .call = call_agent,
    .type = PTC_TOOL_SUBAGENT,
    .in_agent = true,
    .uncounted = true,
    .is_word = true,
};
