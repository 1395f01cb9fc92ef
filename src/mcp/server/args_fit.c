/* SPDX-License-Identifier: MIT
 * Checks the arguments of tools against the schema of their row, which is compiled once, before the handler sees
 * them.  What always holds: a handler only runs with arguments that fit. */
#include <stdio.h>

#include "json/parse.h"
#include "mcp/server/mcp_int.h"
#include "tool/schema/schema.h"

enum { TOLD = 3, ARGS_TEXT = 1200 };

/* ------------------------------------------------------------------------------ at start */

static bool compile_input_schema(PtcMcp *mcp, PtcHeap *heap, const PtcMcpTool *tool,
                                 const PtcSchema **out, PtcWhy *why)
{
    PtcJsonError error;
    PtcSchemaError wrong;
    *out = NULL;
    if (!tool->input_schema)
        return true;
    PtcValue v = ptc_json_parse(heap, tool->input_schema, strlen(tool->input_schema), &error);
    if (v != PTC_NONE &&
        ptc_schema_compile(&mcp->checks_arena, &mcp->mem, heap->budget, v, out, &wrong))
        return true;
    if (v != PTC_NONE && !wrong.stopped)
        ptc_why_say(why, PTC_WHY_INVALID, "%.64s: inputSchema: %s: %s", tool->name, wrong.path,
                    wrong.message);
    return false;
}

bool ptc_mcp_checks_init(PtcMcp *mcp, PtcWhy *why)
{
    const PtcMcpConfig *c = &mcp->config;
    PtcBudget budget;
    PtcHeap heap;
    ptc_arena_init(&mcp->checks_arena, &mcp->mem);
    ptc_budget_init(&budget);
    ptc_heap_init(&heap, &mcp->pool, &budget, c->memory_bytes);
    mcp->checks = ptc_arena_zalloc(&mcp->checks_arena, (c->tool_count + 1) * sizeof *mcp->checks);
    bool ok = mcp->checks != NULL;
    for (size_t i = 0; ok && i < c->tool_count; i++)
        ok = compile_input_schema(mcp, &heap, &c->tools[i], &mcp->checks[i], why);
    ptc_heap_deinit(&heap);
    return ok;
}

void ptc_mcp_checks_deinit(PtcMcp *mcp)
{
    if (mcp->checks_arena.mem)
        ptc_arena_deinit(&mcp->checks_arena);
}

/* ---------------------------------------------------------------------------- at a call */

/* Models send null for what they do not want to give, so such members do not count.  PTC_NONE: out of memory. */
static PtcValue without_nulls(PtcMcpCall *call)
{
    PtcValue key, value, given = call->args;
    for (size_t pos = 0; given != PTC_NONE && ptc_map_next(call->args, &pos, &key, &value);)
        if (value == PTC_NIL)
            given = ptc_map_dissoc(&call->heap, given, key);
    return given;
}

static void tell_argument_issues(PtcMcpCall *call, const PtcSchemaIssues *issues)
{
    char bytes[ARGS_TEXT];
    PtcBuf text = {.data = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    for (size_t i = 0; i < issues->count && i < TOLD; i++) {
        size_t before = text.len;
        ptc_buf_add_cstr(&text, i ? "; " : "");
        if (!ptc_schema_issue_text(&text, &issues->items[i])) {
            text.len = before;
            break;
        }
    }
    if (call->tool->refuse)
        call->tool->refuse(call, text.data, text.len);
    else
        ptc_mcp_failf(call, "wrong arguments: %.*s", PTC_ARG_OF(text.data, text.len));
}

/* Separate from the quick check, because the issues are large and usually there are none. */
static bool check_closely(PtcMcpCall *call, const PtcSchema *schema)
{
    PtcSchemaIssues issues;
    PtcValue given = without_nulls(call);
    PtcSchemaVerdict verdict =
        given == PTC_NONE
            ? PTC_SCHEMA_STOPPED
            : ptc_schema_validate(schema, given, &call->mcp->mem, &call->budget, &issues);
    if (verdict == PTC_SCHEMA_INVALID)
        tell_argument_issues(call, &issues);
    else if (verdict == PTC_SCHEMA_STOPPED)
        ptc_mcp_error(call, PTC_MCP_INTERNAL_ERROR, "the arguments cannot be checked now", NULL);
    return verdict == PTC_SCHEMA_VALID;
}

bool ptc_mcp_args_fit(PtcMcpCall *call)
{
    if (!call->tool)
        return true;
    const PtcSchema *schema = call->mcp->checks[call->tool - call->mcp->config.tools];
    return !schema ||
           ptc_schema_validate(schema, call->args, &call->mcp->mem, &call->budget, NULL) ==
               PTC_SCHEMA_VALID ||
           check_closely(call, schema);
}
