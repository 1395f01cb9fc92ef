/* SPDX-License-Identifier: MIT
 * The arguments of a call, as handlers read them.  What always holds: a function that returns false has answered the
 * call. */
#include "mcp/server/mcp_int.h"

PtcValue ptc_mcp_arg(PtcMcpCall *call, const char *name)
{
    return ptc_map_field(&call->heap, call->args, name);
}

/* Wrong arguments of a tool are shown to the model; elsewhere they are protocol errors. */
static bool wrong_arg(PtcMcpCall *call, const char *name, const char *what)
{
    if (call->body == PTC_MCP_BODY_TOOL)
        ptc_mcp_failf(call, "argument \"%s\" %s", name, what);
    else
        ptc_mcp_refuse(call, 200, PTC_MCP_INVALID_PARAMS, NULL, "argument \"%s\" %s", name, what);
    return false;
}

/* 1: present, 0: absent and not required, -1: answered. */
static int find_arg(PtcMcpCall *call, const char *name, bool required, PtcValue *v)
{
    *v = ptc_mcp_arg(call, name);
    if (*v != PTC_NONE && *v != PTC_NIL)
        return 1;
    *v = PTC_NONE;
    if (required)
        (void)!wrong_arg(call, name, "is required and was not given");
    return required ? -1 : 0;
}

bool ptc_mcp_arg_text(PtcMcpCall *call, const char *name, bool required, PtcText *out)
{
    PtcValue v;
    int found = find_arg(call, name, required, &v);
    *out = (PtcText){NULL, 0};
    if (found <= 0)
        return found == 0;
    if (!ptc_is_string(v))
        return wrong_arg(call, name, "must be a string");
    *out = ptc_str_text(v);
    return true;
}

bool ptc_mcp_arg_int(PtcMcpCall *call, const char *name, bool required, int64_t *out)
{
    PtcValue v;
    int found = find_arg(call, name, required, &v);
    if (found <= 0)
        return found == 0;
    /* To JSON Schema 3.0 is an integer, and some clients send it that way. */
    if (ptc_is_float(v)) {
        double d = ptc_to_float(v);
        if (d >= -9e15 && d <= 9e15 && d == (double)(int64_t)d)
            v = ptc_int((int64_t)d);
    }
    if (!ptc_is_int(v))
        return wrong_arg(call, name, "must be an integer");
    *out = ptc_to_int(v);
    return true;
}

bool ptc_mcp_arg_bool(PtcMcpCall *call, const char *name, bool required, bool *out)
{
    PtcValue v;
    int found = find_arg(call, name, required, &v);
    if (found <= 0)
        return found == 0;
    if (!ptc_is_bool(v))
        return wrong_arg(call, name, "must be true or false");
    *out = v == PTC_TRUE;
    return true;
}

bool ptc_mcp_arg_map(PtcMcpCall *call, const char *name, bool required, PtcValue *out)
{
    int found = find_arg(call, name, required, out);
    if (found <= 0)
        return found == 0;
    return ptc_is_map(*out) || wrong_arg(call, name, "must be an object");
}

PtcText ptc_mcp_var(PtcMcpCall *call, const char *name)
{
    int i = call->template ? ptc_mcp_template_var(call->template->uri_template, name) : -1;
    return i < 0 ? (PtcText){NULL, 0} : call->vars[i];
}

void ptc_mcp_completing(PtcMcpCall *call, PtcText *name, PtcText *typed)
{
    *name = call->completing;
    *typed = call->typed;
}
