/* SPDX-License-Identifier: MIT
 * Arguments that stay text, because whoever runs the program parses them anyway.
 *
 * Which tool a message is for is only known after parsing it.  So the names of all rows are kept as text, and those
 * that the called row does not want as text are parsed after all: rows need not agree about a name. */
#include <stdio.h>

#include "json/parse.h"
#include "mcp/server/mcp_int.h"

static bool add_raw_name(PtcMcp *mcp, const char *name)
{
    size_t n = 0;
    for (; mcp->raw_names[n]; n++)
        if (strcmp(mcp->raw_names[n], name) == 0)
            return true;
    if (n == PTC_MCP_MAX_RAW)
        return false;
    mcp->raw_names[n] = name;
    return true;
}

bool ptc_mcp_raw_init(PtcMcp *mcp, PtcWhy *why)
{
    const PtcMcpConfig *c = &mcp->config;
    for (size_t i = 0; i < c->tool_count; i++)
        for (const char *const *name = c->tools[i].raw; name && *name; name++)
            if (!add_raw_name(mcp, *name))
                return ptc_why_say(why, PTC_WHY_REFUSED,
                                   "%.64s: more than %d names of arguments are raw",
                                   c->tools[i].name, PTC_MCP_MAX_RAW);
    return true;
}

static bool is_wanted(const PtcMcpCall *call, const char *name)
{
    const char *const *raw = call->tool ? call->tool->raw : NULL;
    while (raw && *raw && strcmp(*raw, name) != 0)
        raw++;
    return raw && *raw;
}

static bool put_raw_arg_back(PtcMcpCall *call, const char *name, PtcText *raw)
{
    PtcJsonError error;
    PtcValue key = ptc_str_new(&call->heap, name, strlen(name));
    PtcValue v = ptc_json_parse(&call->heap, raw->bytes, raw->len, &error);
    *raw = (PtcText){NULL, 0};
    if (key != PTC_NONE && v != PTC_NONE)
        call->args = ptc_map_assoc(&call->heap, call->args, key, v);
    if (key != PTC_NONE && v != PTC_NONE && call->args != PTC_NONE)
        return true;
    if (v == PTC_NONE && !error.stopped)
        ptc_mcp_refuse(call, 200, PTC_MCP_INVALID_PARAMS, NULL, "\"%s\": %s", name, error.message);
    else
        ptc_mcp_refuse(call, 503, PTC_MCP_INTERNAL_ERROR, NULL, "out of memory");
    return false;
}

/* Copies all of them one after the other; the buffer has room for all, so it does not move. */
static bool copy_raw_args(PtcMcpCall *call, size_t bytes)
{
    PtcBuf *text = &call->raw_text;
    if (!ptc_buf_reserve(text, bytes)) {
        ptc_mcp_refuse(call, 503, PTC_MCP_INTERNAL_ERROR, NULL, "out of memory");
        return false;
    }
    for (size_t i = 0; call->mcp->raw_names[i]; i++) {
        PtcText *raw = &call->raw[i];
        if (!raw->bytes)
            continue;
        ptc_buf_add(text, raw->bytes, raw->len);
        raw->bytes = text->data + text->len - raw->len;
    }
    return true;
}

bool ptc_mcp_raw_keep(PtcMcpCall *call)
{
    size_t bytes = 0;
    for (size_t i = 0; call->mcp->raw_names[i]; i++) {
        PtcText *raw = &call->raw[i];
        if (raw->bytes && !is_wanted(call, call->mcp->raw_names[i]) &&
            !put_raw_arg_back(call, call->mcp->raw_names[i], raw))
            return false;
        bytes += raw->len;
    }
    return bytes == 0 || copy_raw_args(call, bytes);
}

PtcText ptc_mcp_arg_raw(PtcMcpCall *call, const char *name)
{
    for (size_t i = 0; call->mcp->raw_names[i]; i++)
        if (strcmp(call->mcp->raw_names[i], name) == 0)
            return call->raw[i];
    return (PtcText){NULL, 0};
}
