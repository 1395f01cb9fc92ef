/* SPDX-License-Identifier: MIT
 * Methods that end in a row's handler: tools/call, resources/read, prompts/get, completion/complete.  What always
 * holds: the handler is only scheduled here; it runs later, when the gate lets it in. */
#include <stdio.h>

#include "base/text/nearest.h"
#include "mcp/server/task_record.h"
#include "value/coll/iter.h"

static void refuse_params(PtcMcpCall *call, const char *why)
{
    ptc_mcp_refuse(call, 200, PTC_MCP_INVALID_PARAMS, NULL, "%s", why);
}

/* A text in params that must be there; false: refused. */
static bool take_param_text(PtcMcpCall *call, const char *field, PtcText *out)
{
    *out = ptc_str_text(ptc_map_field(&call->heap, call->params, field));
    if (!out->bytes)
        ptc_mcp_refuse(call, 200, PTC_MCP_INVALID_PARAMS, NULL, "\"%s\" must be a string", field);
    return out->bytes != NULL;
}

/* A map, empty when absent; false: refused. */
static bool take_args(PtcMcpCall *call, PtcValue holder)
{
    PtcValue args = ptc_map_field(&call->heap, holder, "arguments");
    call->args = args == PTC_NONE || args == PTC_NIL ? ptc_map_empty(&call->heap) : args;
    if (call->args != PTC_NONE && ptc_is_map(call->args))
        return true;
    refuse_params(call, "\"arguments\" must be an object");
    return false;
}

/* "no tool foo; did you mean fob?" */
static void refuse_unknown_row(PtcMcpCall *call, const char *what, PtcText name,
                               const PtcNearest *near)
{
    name = ptc_text_cut(name, 100);
    if (near->best)
        ptc_mcp_refuse(call, 200, PTC_MCP_INVALID_PARAMS, NULL,
                       "there is no %s %.*s; did you mean %.*s?", what, PTC_ARG(name),
                       PTC_ARG_OF(near->best, near->best_len));
    else
        ptc_mcp_refuse(call, 200, PTC_MCP_INVALID_PARAMS, NULL, "there is no %s %.*s", what,
                       PTC_ARG(name));
}

/* ------------------------------------------------------------------------------- tools */

/* A call that may become a task is begun once more, on a thread of its own, so its text is kept. */
static bool keep_task_message(PtcMcpCall *call)
{
    if (!call->mcp->config.book || call->tool->task == PTC_MCP_TASK_NEVER)
        return true;
    if (call->era != PTC_MCP_MODERN || !ptc_mcp_tasks_declared(call)) {
        if (call->tool->task == PTC_MCP_TASK_MUST)
            ptc_mcp_need_tasks(call);
        return call->tool->task != PTC_MCP_TASK_MUST;
    }
    if (ptc_buf_add(&call->message, call->in->text, call->in->len))
        return true;
    ptc_mcp_refuse(call, 503, PTC_MCP_INTERNAL_ERROR, NULL, "out of memory");
    return false;
}

/* Unknown names are compared with all rows, so that a model can correct a slip by itself. */
void ptc_mcp_do_tools_call(PtcMcpCall *call)
{
    const PtcMcpConfig *c = &call->mcp->config;
    PtcNearest near;
    if (!take_param_text(call, "name", &call->name))
        return;
    for (size_t i = 0; i < c->tool_count && !call->tool; i++)
        if (ptc_text_is(call->name, c->tools[i].name))
            call->tool = &c->tools[i];
    if (call->tool) {
        if (take_args(call, call->params) && ptc_mcp_check_params(call) && ptc_mcp_raw_keep(call) &&
            ptc_mcp_take_replies(call) && keep_task_message(call))
            ptc_mcp_will_run(call, PTC_MCP_BODY_TOOL, call->tool->handler, call->tool->user);
        return;
    }
    ptc_nearest_init(&near, call->name.bytes, call->name.len);
    for (size_t i = 0; i < c->tool_count; i++)
        ptc_nearest_offer(&near, c->tools[i].name, strlen(c->tools[i].name));
    refuse_unknown_row(call, "tool", call->name, &near);
}

/* ----------------------------------------------------------------------------- prompts */

static const PtcMcpPrompt *find_prompt(PtcMcpCall *call, PtcText name)
{
    const PtcMcpConfig *c = &call->mcp->config;
    PtcNearest near;
    ptc_nearest_init(&near, name.bytes, name.len);
    for (size_t i = 0; i < c->prompt_count; i++) {
        if (ptc_text_is(name, c->prompts[i].name))
            return &c->prompts[i];
        ptc_nearest_offer(&near, c->prompts[i].name, strlen(c->prompts[i].name));
    }
    refuse_unknown_row(call, "prompt", name, &near);
    return NULL;
}

/* The protocol only knows strings as arguments of prompts. */
static bool strings_only(PtcMcpCall *call)
{
    size_t pos = 0;
    PtcValue key, value;
    while (ptc_map_next(call->args, &pos, &key, &value))
        if (!ptc_is_string(value)) {
            refuse_params(call, "the arguments of a prompt are strings");
            return false;
        }
    return true;
}

static bool has_required(PtcMcpCall *call, const PtcMcpPrompt *prompt)
{
    for (size_t i = 0; i < prompt->arg_count; i++) {
        const PtcMcpPromptArg *arg = &prompt->args[i];
        if (arg->required && ptc_mcp_arg(call, arg->name) == PTC_NONE) {
            ptc_mcp_refuse(call, 200, PTC_MCP_INVALID_PARAMS, NULL,
                           "the prompt %s needs the argument \"%s\"", prompt->name, arg->name);
            return false;
        }
    }
    return true;
}

void ptc_mcp_do_prompts_get(PtcMcpCall *call)
{
    if (!take_param_text(call, "name", &call->name))
        return;
    const PtcMcpPrompt *prompt = call->prompt = find_prompt(call, call->name);
    if (prompt && take_args(call, call->params) && ptc_mcp_raw_keep(call) && strings_only(call) &&
        has_required(call, prompt) && ptc_mcp_take_replies(call))
        ptc_mcp_will_run(call, PTC_MCP_BODY_PROMPT, prompt->handler, prompt->user);
}

/* --------------------------------------------------------------------------- resources */

static void not_found(PtcMcpCall *call)
{
    PtcBuf *data = &call->scratch;
    PtcText uri = ptc_text_cut(call->name, 100);
    bool modern = call->era == PTC_MCP_MODERN;
    ptc_buf_clear(data);
    ptc_emit_object(data);
    ptc_emit_field_text(data, "uri", call->name);
    ptc_emit_object_end(data);
    ptc_mcp_refuse(call, 200, modern ? PTC_MCP_INVALID_PARAMS : PTC_MCP_RESOURCE_NOT_FOUND,
                   ptc_buf_text(data), "there is no resource %.*s", PTC_ARG(uri));
}

static void read_resource_row(PtcMcpCall *call, PtcMcpHandler *handler, void *user)
{
    call->args = ptc_map_empty(&call->heap);
    if (ptc_mcp_take_replies(call))
        ptc_mcp_will_run(call, PTC_MCP_BODY_RESOURCE, handler, user);
}

/* Exact URIs win over templates. */
void ptc_mcp_do_resources_read(PtcMcpCall *call)
{
    const PtcMcpConfig *c = &call->mcp->config;
    if (!take_param_text(call, "uri", &call->name))
        return;
    for (size_t i = 0; i < c->resource_count; i++)
        if (ptc_text_is(call->name, c->resources[i].uri)) {
            call->resource = &c->resources[i];
            read_resource_row(call, call->resource->handler, call->resource->user);
            return;
        }
    for (size_t i = 0; i < c->template_count; i++)
        if (ptc_mcp_template_match(c->templates[i].uri_template, call->name, call->vars)) {
            call->template = &c->templates[i];
            read_resource_row(call, call->template->handler, call->template->user);
            return;
        }
    not_found(call);
}

/* ------------------------------------------------------------------------- completions */

static void no_suggestions(PtcMcpCall *call)
{
    ptc_mcp_body_begin(call, PTC_MCP_BODY_COMPLETE);
    ptc_mcp_body_end(call);
}

static void complete_with(PtcMcpCall *call, PtcMcpHandler *handler, void *user)
{
    if (handler)
        ptc_mcp_will_run(call, PTC_MCP_BODY_COMPLETE, handler, user);
    else
        no_suggestions(call);
}

static void complete_prompt(PtcMcpCall *call, PtcValue ref)
{
    call->name = ptc_str_text(ptc_map_field(&call->heap, ref, "name"));
    if (!call->name.bytes) {
        refuse_params(call, "a reference to a prompt needs its \"name\"");
        return;
    }
    call->prompt = find_prompt(call, call->name);
    if (call->prompt)
        complete_with(call, call->prompt->complete, call->prompt->user);
}

/* A plain resource has nothing to complete, which is an empty list and not an error. */
static void complete_template(PtcMcpCall *call, PtcValue ref)
{
    const PtcMcpConfig *c = &call->mcp->config;
    call->name = ptc_str_text(ptc_map_field(&call->heap, ref, "uri"));
    for (size_t i = 0; i < c->template_count; i++)
        if (ptc_text_is(call->name, c->templates[i].uri_template)) {
            call->template = &c->templates[i];
            complete_with(call, call->template->complete, call->template->user);
            return;
        }
    for (size_t i = 0; i < c->resource_count; i++)
        if (ptc_text_is(call->name, c->resources[i].uri)) {
            no_suggestions(call);
            return;
        }
    if (call->name.bytes)
        not_found(call);
    else
        refuse_params(call, "a reference to a resource needs its \"uri\"");
}

void ptc_mcp_do_complete(PtcMcpCall *call)
{
    PtcValue ref = ptc_map_field(&call->heap, call->params, "ref");
    PtcValue arg = ptc_map_field(&call->heap, call->params, "argument");
    PtcText type = ptc_str_text(ptc_map_field(&call->heap, ref, "type"));
    call->completing = ptc_str_text(ptc_map_field(&call->heap, arg, "name"));
    call->typed = ptc_str_text(ptc_map_field(&call->heap, arg, "value"));
    if (!call->completing.bytes || !call->typed.bytes)
        refuse_params(call, "\"argument\" must have a \"name\" and a \"value\", both strings");
    else if (!take_args(call, ptc_map_field(&call->heap, call->params, "context")))
        return;
    else if (ptc_text_is(type, "ref/prompt"))
        complete_prompt(call, ref);
    else if (ptc_text_is(type, "ref/resource"))
        complete_template(call, ref);
    else
        refuse_params(call, "\"ref\" must have the \"type\" ref/prompt or ref/resource");
}
