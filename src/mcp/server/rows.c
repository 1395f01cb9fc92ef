/* SPDX-License-Identifier: MIT
 * Rows as JSON, checked and rendered once, so that lists are copied, not built. */
#include <stdio.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/parse.h"
#include "mcp/server/task_record.h"

/* What rendering needs. */
typedef struct {
    PtcMcp *mcp;
    const PtcMcpTool *tools;
    PtcBudget budget;
    PtcHeap heap;
    PtcBuf *out;
    size_t output;     /* where the output schema of the row begins; 0: it has none */
    const char *where; /* the row, for complaints */
    PtcWhy *why;
} Rendering;

static bool complain_of_row(Rendering *r, const char *what, const char *detail)
{
    return ptc_why_say(r->why, PTC_WHY_INVALID, "%.64s: %s%s",
                       r->where ? r->where : "a row without a name", what, detail);
}

static bool valid(const char *text)
{
    return !text || ptc_utf8_valid(text, strlen(text));
}

/* "key":"text", unless there is no text. */
static bool render_member(Rendering *r, const char *key, const char *text)
{
    if (!text)
        return true;
    if (!valid(text))
        return complain_of_row(r, key, " is not UTF-8");
    return ptc_emit_field_cstr(r->out, key, text);
}

/* Begins the object; this text is required. */
static bool first_member(Rendering *r, const char *key, const char *text)
{
    if (!text || !*text || !valid(text))
        return complain_of_row(r, key, " must be given");
    return ptc_emit_object(r->out) && ptc_emit_field_cstr(r->out, key, text);
}

/* ------------------------------------------------------------------------------ tools */

static bool is_good_row_name(const char *name)
{
    size_t n = name ? strlen(name) : 0;
    for (size_t i = 0; i < n; i++) {
        char c = name[i];
        if (!ptc_ascii_is_name(c) && c != '-')
            return false;
    }
    return n >= 1 && n <= 64;
}

/* Rendered from the parsed value, so that what clients get is JSON on one line however the row was written. */
static bool schema(Rendering *r, const char *key, const char *text)
{
    PtcJsonError error;
    PtcValue v = ptc_json_parse(&r->heap, text, strlen(text), &error);
    if (v == PTC_NONE)
        return ptc_why_say(r->why, PTC_WHY_INVALID, "%.64s: %s: %s", r->where, key, error.message);
    if (!ptc_text_is(ptc_str_text(ptc_map_field(&r->heap, v, "type")), "object"))
        return complain_of_row(r, key, " must be an object schema: \"type\":\"object\"");
    return ptc_emit_key(r->out, key) && ptc_emit_value(r->out, &r->heap, v);
}

/* All hints are written out, because clients differ in what they assume when one is missing. */
static bool annotations(Rendering *r, const PtcMcpTool *tool)
{
    bool read_only = (tool->flags & PTC_MCP_READ_ONLY) != 0;
    bool destructive = !read_only && !(tool->flags & PTC_MCP_NOT_DESTRUCTIVE);
    ptc_emit_key(r->out, "annotations");
    ptc_emit_object(r->out);
    if (tool->title)
        ptc_emit_field_cstr(r->out, "title", tool->title);
    ptc_emit_field_bool(r->out, "readOnlyHint", read_only);
    ptc_emit_field_bool(r->out, "destructiveHint", destructive);
    ptc_emit_field_bool(r->out, "idempotentHint", (tool->flags & PTC_MCP_IDEMPOTENT) != 0);
    ptc_emit_field_bool(r->out, "openWorldHint", !(tool->flags & PTC_MCP_CLOSED_WORLD));
    return ptc_emit_object_end(r->out);
}

static bool output(Rendering *r, const char *text)
{
    r->output = text ? r->out->len : 0;
    return !text || schema(r, "outputSchema", text);
}

/* The names that model providers accept are narrower than the protocol's. */
static bool tool_row(Rendering *r, size_t i)
{
    static const char none[] = "{\"type\":\"object\",\"properties\":{}}";
    const PtcMcpTool *rows = r->tools, *tool = &rows[i];
    r->where = tool->name;
    if (!is_good_row_name(tool->name))
        return complain_of_row(r, "a tool's name is 1 to 64 of a-z A-Z 0-9 _ -", "");
    if (!tool->handler)
        return complain_of_row(r, "a tool needs a handler", "");
    for (size_t k = 0; k < i; k++)
        if (strcmp(rows[k].name, tool->name) == 0)
            return complain_of_row(r, "two tools have this name", "");
    return first_member(r, "name", tool->name) && render_member(r, "title", tool->title) &&
           render_member(r, "description", tool->description) &&
           schema(r, "inputSchema", tool->input_schema ? tool->input_schema : none) &&
           annotations(r, tool) && output(r, tool->output_schema) && ptc_emit_object_end(r->out);
}

/* ---------------------------------------------------------------- resources and prompts */

static bool resource_row(Rendering *r, size_t i)
{
    const PtcMcpResource *row = &r->mcp->config.resources[i];
    r->where = row->uri;
    if (!row->handler || row->ttl_ms < 0)
        return complain_of_row(r, "a resource needs a handler, and a ttl_ms of 0 or more", "");
    return first_member(r, "uri", row->uri) &&
           render_member(r, "name", row->name ? row->name : row->uri) &&
           render_member(r, "title", row->title) &&
           render_member(r, "description", row->description) &&
           render_member(r, "mimeType", row->mime) && ptc_emit_object_end(r->out);
}

static bool template_row(Rendering *r, size_t i)
{
    const PtcMcpTemplate *row = &r->mcp->config.templates[i];
    r->where = row->uri_template;
    if (!row->handler || row->ttl_ms < 0)
        return complain_of_row(r, "a template needs a handler, and a ttl_ms of 0 or more", "");
    if (!row->uri_template || ptc_mcp_template_var(row->uri_template, NULL) < 0)
        return complain_of_row(r, "a template is text with up to 8 {name} that do not touch", "");
    return first_member(r, "uriTemplate", row->uri_template) &&
           render_member(r, "name", row->name ? row->name : row->uri_template) &&
           render_member(r, "title", row->title) &&
           render_member(r, "description", row->description) &&
           render_member(r, "mimeType", row->mime) && ptc_emit_object_end(r->out);
}

static bool prompt_arg(Rendering *r, const PtcMcpPromptArg *arg)
{
    return first_member(r, "name", arg->name) &&
           render_member(r, "description", arg->description) &&
           ptc_emit_field_bool(r->out, "required", arg->required) && ptc_emit_object_end(r->out);
}

static bool prompt_row(Rendering *r, size_t i)
{
    const PtcMcpPrompt *row = &r->mcp->config.prompts[i];
    r->where = row->name;
    if (!row->handler)
        return complain_of_row(r, "a prompt needs a handler", "");
    bool ok = first_member(r, "name", row->name) && render_member(r, "title", row->title) &&
              render_member(r, "description", row->description);
    if (ok && row->arg_count) {
        ok = ptc_emit_key(r->out, "arguments") && ptc_emit_array(r->out);
        for (size_t k = 0; ok && k < row->arg_count; k++)
            ok = prompt_arg(r, &row->args[k]);
        ok = ok && ptc_emit_array_end(r->out);
    }
    return ok && ptc_emit_object_end(r->out);
}

/* ------------------------------------------------------------------------------ lists */

/* The ends of rows are kept, so that a page can be cut out of the text. */
static bool list_rows(Rendering *r, PtcMcpRows *rows, size_t count,
                      bool (*row)(Rendering *r, size_t i))
{
    ptc_buf_init(&rows->text, &r->mcp->mem, PTC_UNBOUNDED);
    rows->count = count;
    if (!count)
        return true;
    rows->ends = ptc_mem_alloc(&r->mcp->mem, count * sizeof *rows->ends);
    r->out = &rows->text;
    bool ok = rows->ends != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        ok = row(r, i);
        rows->ends[i] = (struct PtcMcpRowEnd){rows->text.len, r->output};
    }
    return ok;
}

static bool info(Rendering *r)
{
    const PtcMcpConfig *c = &r->mcp->config;
    r->where = "server";
    r->out = &r->mcp->info;
    return first_member(r, "name", c->name) && render_member(r, "title", c->title) &&
           render_member(r, "version", c->version) && valid(c->instructions) &&
           ptc_emit_object_end(r->out);
}

static bool has_completions(const PtcMcpConfig *c)
{
    for (size_t i = 0; i < c->prompt_count; i++)
        if (c->prompts[i].complete)
            return true;
    for (size_t i = 0; i < c->template_count; i++)
        if (c->templates[i].complete)
            return true;
    return false;
}

static void capability(PtcBuf *out, const char *name, bool changes, bool subscribe)
{
    ptc_emit_key(out, name);
    ptc_emit_object(out);
    if (changes)
        ptc_emit_field_bool(out, "listChanged", true);
    if (subscribe)
        ptc_emit_field_bool(out, "subscribe", true);
    ptc_emit_object_end(out);
}

/* Only the modern era knows extensions. */
static bool render_extensions(PtcMcp *mcp)
{
    PtcBuf *out = &mcp->modern_capabilities;
    if (!ptc_buf_add(out, mcp->capabilities.data, mcp->capabilities.len) || !mcp->config.book)
        return ptc_buf_ok(out);
    out->len--; /* the brace at the end */
    ptc_emit_key(out, "extensions");
    ptc_emit_object(out);
    ptc_emit_field_raw(out, PTC_MCP_TASKS_EXTENSION, PTC_TEXT("{}"));
    ptc_emit_object_end(out);
    return ptc_emit_object_end(out);
}

static bool render_capabilities(Rendering *r)
{
    const PtcMcpConfig *c = &r->mcp->config;
    PtcBuf *out = r->out = &r->mcp->capabilities;
    ptc_emit_object(out);
    if (c->tool_count)
        capability(out, "tools", c->list_changed, false);
    if (c->resource_count || c->template_count)
        capability(out, "resources", c->list_changed, c->resource_updates);
    if (c->prompt_count)
        capability(out, "prompts", c->list_changed, false);
    if (has_completions(c))
        capability(out, "completions", false, false);
    if (c->logging)
        capability(out, "logging", false, false);
    return ptc_emit_object_end(out) && render_extensions(r->mcp);
}

bool ptc_mcp_rows_init(PtcMcp *mcp, PtcWhy *why)
{
    Rendering r = {.mcp = mcp, .why = why, .tools = mcp->config.tools};
    const PtcMcpConfig *c = &mcp->config;
    ptc_buf_init(&mcp->info, &mcp->mem, PTC_UNBOUNDED);
    ptc_buf_init(&mcp->capabilities, &mcp->mem, PTC_UNBOUNDED);
    ptc_buf_init(&mcp->modern_capabilities, &mcp->mem, PTC_UNBOUNDED);
    ptc_budget_init(&r.budget);
    ptc_heap_init(&r.heap, &mcp->pool, &r.budget, c->memory_bytes);
    PtcMcpRows *rows = mcp->rows;
    bool ok = list_rows(&r, &rows[PTC_MCP_LIST_TOOLS], c->tool_count, tool_row) &&
              list_rows(&r, &rows[PTC_MCP_LIST_RESOURCES], c->resource_count, resource_row) &&
              list_rows(&r, &rows[PTC_MCP_LIST_TEMPLATES], c->template_count, template_row) &&
              list_rows(&r, &rows[PTC_MCP_LIST_PROMPTS], c->prompt_count, prompt_row) && info(&r) &&
              render_capabilities(&r);
    ptc_heap_deinit(&r.heap);
    return ok;
}

const PtcMcpRows *ptc_mcp_rows_of(PtcMcp *mcp, PtcMcpList list)
{
    const PtcMcpRows *newest = list == PTC_MCP_LIST_TOOLS ? atomic_load(&mcp->newest) : NULL;
    return newest ? newest : &mcp->rows[list];
}

static void free_rows(PtcMcp *mcp, PtcMcpRows *rows)
{
    if (rows->text.mem)
        ptc_buf_deinit(&rows->text);
    ptc_mem_free(&mcp->mem, rows->ends, rows->count * sizeof *rows->ends);
    *rows = (PtcMcpRows){0};
}

/* NULL: memory is short. */
static PtcMcpRows *render_tools_again(PtcMcp *mcp, const PtcMcpTool *tools)
{
    PtcPool pool;
    Rendering r = {.mcp = mcp, .tools = tools};
    PtcMcpRows *rows = ptc_mem_alloc(&mcp->mem, sizeof *rows);
    if (!rows)
        return NULL;
    *rows = (PtcMcpRows){0};
    ptc_pool_init(&pool, &mcp->mem);
    ptc_budget_init(&r.budget);
    ptc_heap_init(&r.heap, &pool, &r.budget, mcp->config.memory_bytes);
    bool ok = list_rows(&r, rows, mcp->config.tool_count, tool_row) && ptc_buf_ok(&rows->text);
    ptc_heap_deinit(&r.heap);
    ptc_pool_deinit(&pool);
    if (ok)
        return rows;
    free_rows(mcp, rows);
    ptc_mem_free(&mcp->mem, rows, sizeof *rows);
    return NULL;
}

/* What was told before stays until the server ends, because somebody may be reading it. */
bool ptc_mcp_retell_tools(PtcMcp *mcp, const PtcMcpTool *tools)
{
    PtcMcpRows *rows = render_tools_again(mcp, tools);
    if (!rows)
        return false;
    pthread_mutex_lock(&mcp->retold_lock);
    const PtcMcpRows *old = ptc_mcp_rows_of(mcp, PTC_MCP_LIST_TOOLS);
    bool same = ptc_text_same(ptc_buf_view(&old->text), ptc_buf_view(&rows->text));
    if (!same) {
        rows->before = mcp->retold;
        mcp->retold = rows;
        atomic_store(&mcp->newest, rows);
    }
    pthread_mutex_unlock(&mcp->retold_lock);
    if (same) {
        free_rows(mcp, rows);
        ptc_mem_free(&mcp->mem, rows, sizeof *rows);
    } else {
        ptc_mcp_list_changed(mcp, PTC_MCP_TOOLS);
    }
    return true;
}

static void free_retold(PtcMcp *mcp)
{
    while (mcp->retold) {
        PtcMcpRows *rows = mcp->retold;
        mcp->retold = rows->before;
        free_rows(mcp, rows);
        ptc_mem_free(&mcp->mem, rows, sizeof *rows);
    }
}

void ptc_mcp_rows_deinit(PtcMcp *mcp)
{
    for (int i = 0; i < PTC_MCP_LIST_COUNT; i++)
        free_rows(mcp, &mcp->rows[i]);
    free_retold(mcp);
    if (mcp->info.mem)
        ptc_buf_deinit(&mcp->info);
    if (mcp->capabilities.mem)
        ptc_buf_deinit(&mcp->capabilities);
    if (mcp->modern_capabilities.mem)
        ptc_buf_deinit(&mcp->modern_capabilities);
}
