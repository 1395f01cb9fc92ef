/* SPDX-License-Identifier: MIT
 * What all tasks of `ptc mcp --task` share: the model, and the definition of the agent that does them. */
#include "cli/mcp/mcp_task.h"

#include <stdio.h>
#include <string.h>

#include "agent/run/agent_run.h"

/* ---------------------------------------------------------------------------------- model */

static PtcMcpTasks *tasks_of(PtcModel *model)
{
    return (PtcMcpTasks *)(void *)((char *)model - offsetof(PtcMcpTasks, model));
}

static void ask_limited_model(PtcModel *self, const PtcLlmRequest *request, PtcArena *arena,
                              PtcLlmReply *reply)
{
    PtcMcpTasks *t = tasks_of(self);
    PtcLlmRequest limited = *request;
    limited.max_output_tokens = t->o->output_tokens;
    t->inner->ask(t->inner, &limited, arena, reply);
}

static bool body(PtcModel *self, const PtcLlmRequest *request, PtcBuf *out)
{
    PtcMcpTasks *t = tasks_of(self);
    return t->inner->body(t->inner, request, out);
}

/* The model belongs to the tasks. */
static void keep_task_model(PtcModel *self)
{
    (void)self;
}

static bool open_task_model(PtcMcpTasks *t, PtcWhy *why)
{
    PtcModelsOptions options = {.dotenv = ".env"};
    t->host = ptc_model_host_new(&options, why);
    t->inner = t->host
                   ? ptc_model_host_open(t->host, ptc_text_cstr(t->o->model), PTC_TRUST_HOST, why)
                   : NULL;
    if (!t->inner)
        return false;
    t->model = (PtcModel){.ask = ask_limited_model,
                          .body = body,
                          .free = keep_task_model,
                          .name = t->inner->name,
                          .network = t->inner->network};
    return true;
}

/* ------------------------------------------------------------------------------- the agent */

/* The task takes the place of the prompt. */
static void define_task_agent(PtcMcpTasks *t, const PtcLimits *limits)
{
    PtcAgentDef *def = t->def;
    def->prompt = PTC_TEXT("Do the task.");
    def->max_turns = t->max_turns < 0 ? 1 : t->max_turns;
    def->retry_turns = t->retry_turns < 0 ? 0 : t->retry_turns;
    def->turn_budget = def->max_turns + def->retry_turns;
    def->mission_timeout_ms = t->o->timeout_ms;
    def->pmap_timeout_ms = t->o->timeout_ms;
    def->timeout_ms = limits->timeout_ms;
    def->max_heap = limits->memory_bytes;
    if (limits->check != PTC_UNSET)
        def->check = (int)limits->check;
    if (limits->max_workers > 0)
        def->pmap_workers = limits->max_workers;
}

static bool make_agent(PtcMcpTasks *t, const PtcLimits *limits, PtcWhy *why)
{
    if (!(t->def = ptc_definition_new()))
        return ptc_why_no_memory(why);
    if (!ptc_mcp_task_read_files(t, why))
        return false;
    define_task_agent(t, limits);
    return ptc_definition_finish(t->def, why) || ptc_why_prefix(why, "%s: ", why->path);
}

bool ptc_mcp_tasks_open(PtcMcpTasks *t, PtcMem *mem, const PtcMcpTaskOptions *o,
                        PtcMcpUpstreams *upstreams, const PtcLimits *limits, PtcWhy *why)
{
    memset(t, 0, sizeof *t);
    t->mem = mem;
    t->o = o;
    t->upstreams = upstreams;
    t->max_turns = o->max_turns;
    t->retry_turns = o->retry_turns;
    return open_task_model(t, why) && make_agent(t, limits, why);
}

void ptc_mcp_tasks_close(PtcMcpTasks *t)
{
    PtcWhy why;
    ptc_definition_release(t->def);
    if (t->inner)
        t->inner->free(t->inner);
    if (t->host)
        (void)ptc_model_host_close(t->host, &why); /* there is no record to write */
    memset(t, 0, sizeof *t);
}

/* -------------------------------------------------------------------------------- the app */

void ptc_mcp_tasks_about(const PtcMcpTasks *t, PtcBuf *out)
{
    if (t->summary.bytes)
        ptc_buf_add(out, t->summary.bytes, t->summary.len);
    else
        ptc_mcp_upstreams_describe(t->upstreams, out, (size_t)t->o->summary_bytes);
}

static void about_tasks(void *user, PtcBuf *out)
{
    ptc_mcp_tasks_about(user, out);
}

void ptc_mcp_tasks_tell(PtcMcpTasks *t, PtcAppTasks *out)
{
    *out = (PtcAppTasks){.run = ptc_mcp_task_run,
                         .about = about_tasks,
                         .changes =
                             t->o->allow_writes && !ptc_mcp_upstreams_are_read_only(t->upstreams),
                         .user = t};
}
