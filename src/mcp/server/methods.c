/* SPDX-License-Identifier: MIT
 * Methods as rows: which era has them, when they are offered, which function does them. */
#include "mcp/server/task_record.h"

enum { LEGACY = 1 << PTC_MCP_LEGACY, MODERN = 1 << PTC_MCP_MODERN, METHODS_BOTH = LEGACY | MODERN };

typedef struct {
    const char *name;
    unsigned eras;
    bool (*offered)(const PtcMcpConfig *c); /* NULL: always */
    void (*run)(PtcMcpCall *call);
} Method;

static bool has_tools(const PtcMcpConfig *c)
{
    return c->tool_count > 0;
}

static bool has_resources(const PtcMcpConfig *c)
{
    return c->resource_count || c->template_count;
}

static bool has_prompts(const PtcMcpConfig *c)
{
    return c->prompt_count > 0;
}

static bool has_refs(const PtcMcpConfig *c)
{
    return c->prompt_count || c->template_count;
}

static bool has_logging(const PtcMcpConfig *c)
{
    return c->logging;
}

static bool has_updates(const PtcMcpConfig *c)
{
    return has_resources(c) && c->resource_updates;
}

static bool has_news(const PtcMcpConfig *c)
{
    return c->list_changed || c->resource_updates || c->book;
}

static bool has_tasks(const PtcMcpConfig *c)
{
    return c->book != NULL;
}

static void list_server_tools(PtcMcpCall *call)
{
    ptc_mcp_do_list(call, PTC_MCP_LIST_TOOLS);
}

static void list_resources(PtcMcpCall *call)
{
    ptc_mcp_do_list(call, PTC_MCP_LIST_RESOURCES);
}

static void list_templates(PtcMcpCall *call)
{
    ptc_mcp_do_list(call, PTC_MCP_LIST_TEMPLATES);
}

static void list_prompts(PtcMcpCall *call)
{
    ptc_mcp_do_list(call, PTC_MCP_LIST_PROMPTS);
}

static void subscribe(PtcMcpCall *call)
{
    ptc_mcp_do_subscribe(call, true);
}

static void unsubscribe(PtcMcpCall *call)
{
    ptc_mcp_do_subscribe(call, false);
}

static const Method methods[] = {
    {"tools/call", METHODS_BOTH, has_tools, ptc_mcp_do_tools_call},
    {"tools/list", METHODS_BOTH, has_tools, list_server_tools},
    {"resources/read", METHODS_BOTH, has_resources, ptc_mcp_do_resources_read},
    {"resources/list", METHODS_BOTH, has_resources, list_resources},
    {"resources/templates/list", METHODS_BOTH, has_resources, list_templates},
    {"prompts/get", METHODS_BOTH, has_prompts, ptc_mcp_do_prompts_get},
    {"prompts/list", METHODS_BOTH, has_prompts, list_prompts},
    {"completion/complete", METHODS_BOTH, has_refs, ptc_mcp_do_complete},
    {"server/discover", MODERN, NULL, ptc_mcp_do_discover},
    {"subscriptions/listen", MODERN, has_news, ptc_mcp_do_listen},
    {"tasks/get", MODERN, has_tasks, ptc_mcp_do_task_get},
    {"tasks/update", MODERN, has_tasks, ptc_mcp_do_task_update},
    {"tasks/cancel", MODERN, has_tasks, ptc_mcp_do_task_cancel},
    {"initialize", LEGACY, NULL, ptc_mcp_do_initialize},
    {"ping", LEGACY, NULL, ptc_mcp_empty_result},
    {"logging/setLevel", LEGACY, has_logging, ptc_mcp_do_set_level},
    {"resources/subscribe", LEGACY, has_updates, subscribe},
    {"resources/unsubscribe", LEGACY, has_updates, unsubscribe},
};

/* For logs and metrics, which must not repeat a word that a client made up. */
bool ptc_mcp_is_method(PtcText name)
{
    static const char *const told[] = {"notifications/initialized", "notifications/cancelled",
                                       "notifications/progress",
                                       "notifications/roots/list_changed"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (ptc_text_is(name, methods[i].name))
            return true;
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (ptc_text_is(name, told[i]))
            return true;
    return false;
}

/* A method that this server does not offer is as unknown as one that does not exist. */
static const Method *find_method(const PtcMcpCall *call)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const Method *m = &methods[i];
        if (ptc_text_is(call->method, m->name))
            return (m->eras >> call->era & 1) && (!m->offered || m->offered(&call->mcp->config))
                       ? m
                       : NULL;
    }
    return NULL;
}

void ptc_mcp_dispatch(PtcMcpCall *call)
{
    const Method *m = find_method(call);
    if (m) {
        m->run(call);
        return;
    }
    PtcText name = ptc_text_cut(call->method, 100);
    bool modern = call->era == PTC_MCP_MODERN;
    ptc_mcp_refuse(call, modern ? 404 : 200, PTC_MCP_METHOD_NOT_FOUND, NULL,
                   "this server has no method %.*s in protocol %s", PTC_ARG(name),
                   modern ? PTC_MCP_VERSION_MODERN : PTC_MCP_VERSION_LEGACY " and older");
}

/* Of all that a client may notify us of, only a cancellation and other roots matter.  Notifications are never
 * answered. */
void ptc_mcp_notified(PtcMcpCall *call)
{
    PtcValue id = ptc_map_field(&call->heap, call->params, "requestId");
    if (call->peer && ptc_text_is(call->method, "notifications/roots/list_changed"))
        atomic_fetch_add(&call->peer->roots_changes, 1);
    if (!call->peer || !ptc_text_is(call->method, "notifications/cancelled") ||
        (!ptc_is_string(id) && !ptc_is_integer(id)))
        return;
    ptc_buf_clear(&call->scratch);
    if (ptc_emit_value(&call->scratch, &call->heap, id))
        ptc_mcp_cancel_id(call->peer, &call->scratch);
}
