/* SPDX-License-Identifier: MIT
 * Which era a message belongs to, and whether its envelope and its HTTP headers are complete.
 *
 * The body decides: params._meta names a version, or does not.  Headers are compared with it and never override it. */
#define _GNU_SOURCE /* strcasestr */
#include <stdio.h>
#include <string.h>

#include "base/text/base64.h"
#include "json/emit.h"
#include "json/parse.h"
#include "mcp/server/mcp_int.h"

#define PARAM_HEADER "x-mcp-header"
enum { PARAM_DEPTH = 16 }; /* of objects in which arguments for headers may be */

static const char *const legacy_versions[] = {PTC_MCP_VERSION_LEGACY, "2025-06-18", "2025-03-26",
                                              "2024-11-05"};

bool ptc_mcp_legacy_version(PtcText version)
{
    for (size_t i = 0; i < sizeof legacy_versions / sizeof *legacy_versions; i++)
        if (ptc_text_is(version, legacy_versions[i]))
            return true;
    return false;
}

/* ----------------------------------------------------------------------------- headers */

/* The value without surrounding white space; {NULL, 0}: absent. */
static PtcText header(PtcMcpCall *call, const char *name)
{
    const char *value = call->in->header ? call->in->header(call->in->header_user, name) : NULL;
    return ptc_text_trim(ptc_text_cstr(value), " \t");
}

static bool refuse_header_mismatch(PtcMcpCall *call, const char *name, PtcText found,
                                   PtcText wanted)
{
    found = ptc_text_cut(found, 60);
    wanted = ptc_text_cut(wanted, 60);
    ptc_mcp_refuse(call, 400, PTC_MCP_HEADER_MISMATCH, NULL,
                   "the header %s is \"%.*s\" and the message says \"%.*s\"", name, PTC_ARG(found),
                   PTC_ARG(wanted));
    return false;
}

/* Values that are not plain ASCII are sent as =?base64?...?=. */
static bool decode_header_value(PtcMcpCall *call, PtcText *value)
{
    static const char open[] = "=?base64?", close[] = "?=";
    size_t before = sizeof open - 1, after = sizeof close - 1;
    if (value->len < before + after || memcmp(value->bytes, open, before) != 0 ||
        memcmp(value->bytes + value->len - after, close, after) != 0)
        return true;
    ptc_buf_clear(&call->scratch);
    if (!ptc_base64_decode(&call->scratch, value->bytes + before, value->len - before - after,
                           false))
        return false;
    *value = (PtcText){call->scratch.data, call->scratch.len};
    return true;
}

/* Which field of params the header Mcp-Name repeats; NULL: none. */
static const char *name_field(PtcText method)
{
    if (ptc_text_is(method, "tools/call") || ptc_text_is(method, "prompts/get"))
        return "name";
    if (ptc_text_is(method, "tasks/get") || ptc_text_is(method, "tasks/update") ||
        ptc_text_is(method, "tasks/cancel"))
        return "taskId";
    return ptc_text_is(method, "resources/read") ? "uri" : NULL;
}

/* Only methods that name something have this header. */
static bool check_name_header(PtcMcpCall *call)
{
    const char *field = name_field(call->method);
    PtcValue wanted = field ? ptc_map_field(&call->heap, call->params, field) : PTC_NONE;
    if (!ptc_is_string(wanted)) /* wrong in another way, which is reported later */
        return true;
    PtcText found = header(call, "Mcp-Name");
    if (!found.bytes || !decode_header_value(call, &found) ||
        !ptc_text_same(found, ptc_str_text(wanted)))
        return refuse_header_mismatch(call, "Mcp-Name", found, ptc_str_text(wanted));
    return true;
}

/* Do the headers repeat what the message says?  Proxies route by them, so they must not differ.  The version has
 * been compared already. */
static bool check_headers(PtcMcpCall *call)
{
    if (!call->http || call->kind != PTC_RPC_REQUEST)
        return true;
    PtcText method = header(call, "Mcp-Method");
    if (!method.bytes || !ptc_text_same(method, call->method))
        return refuse_header_mismatch(call, "Mcp-Method", method, call->method);
    return check_name_header(call);
}

/* Does the header repeat an argument?  What is absent or null has none. */
static bool check_param(PtcMcpCall *call, PtcText name, PtcValue value)
{
    char field[80];
    PtcBuf text;
    PtcText found, wanted = {NULL, 0};
    snprintf(field, sizeof field, "Mcp-Param-%.*s", PTC_ARG(ptc_text_cut(name, 64)));
    ptc_buf_init(&text, &call->mcp->mem, PTC_UNBOUNDED);
    if (ptc_is_string(value))
        wanted = ptc_str_text(value);
    else if (value != PTC_NONE && value != PTC_NIL && ptc_emit_value(&text, &call->heap, value))
        wanted = ptc_buf_view(&text);
    found = header(call, field);
    bool same = found.bytes && wanted.bytes
                    ? decode_header_value(call, &found) && ptc_text_same(found, wanted)
                    : !found.bytes && !wanted.bytes;
    if (!same)
        (void)refuse_header_mismatch(call, field, found, wanted);
    ptc_buf_deinit(&text);
    return same;
}

static bool check_params(PtcMcpCall *call, PtcValue schema, PtcValue args, int depth)
{
    size_t pos = 0;
    PtcValue key, part, parts = ptc_map_field(&call->heap, schema, "properties");
    while (depth && ptc_is_map(parts) && ptc_map_next(parts, &pos, &key, &part)) {
        PtcText name = ptc_str_text(ptc_map_field(&call->heap, part, PARAM_HEADER));
        PtcValue value = ptc_is_map(args) ? ptc_map_get(&call->heap, args, key) : PTC_NONE;
        if (name.bytes ? !check_param(call, name, value)
                       : !check_params(call, part, value, depth - 1))
            return false;
    }
    return true;
}

/* Few tools have such arguments, so their schemas are read again. */
bool ptc_mcp_check_params(PtcMcpCall *call)
{
    PtcJsonError error;
    const char *schema = call->tool->input_schema;
    if (!call->http || call->era != PTC_MCP_MODERN || !schema || !strstr(schema, PARAM_HEADER))
        return true;
    return check_params(call, ptc_json_parse(&call->heap, schema, strlen(schema), &error),
                        call->args, PARAM_DEPTH);
}

/* ---------------------------------------------------------------------------- envelope */

static bool bad_envelope(PtcMcpCall *call, const char *key, const char *why)
{
    ptc_mcp_refuse(call, 400, PTC_MCP_INVALID_PARAMS, NULL,
                   "params._meta[\"" PTC_MCP_META "%s\"] %s", key, why);
    return false;
}

static bool good_info(PtcMcpCall *call, PtcValue info)
{
    return info == PTC_NONE ||
           (ptc_is_map(info) && ptc_is_string(ptc_map_field(&call->heap, info, "name")) &&
            ptc_is_string(ptc_map_field(&call->heap, info, "version")));
}

/* Parts of the names of clients that show their model the text and the structured content of an answer, so that it is
 * paid for twice: VS Code, GitHub Copilot in other places, Cline. */
static const char *const show_both[] = {"visual studio code", "visual-studio-code", "code - oss",
                                        "copilot", "cline"};

bool ptc_mcp_text_only(PtcMcpCall *call, PtcValue info)
{
    PtcMcpStructured how = call->mcp->config.structured;
    PtcText name = ptc_str_text(ptc_map_field(&call->heap, info, "name"));
    bool both = false;
    for (size_t i = 0; name.bytes && i < sizeof show_both / sizeof *show_both; i++)
        both = both || strcasestr(name.bytes, show_both[i]);
    return how == PTC_MCP_STRUCTURED_AUTO ? both : how == PTC_MCP_STRUCTURED_NEVER;
}

/* What every modern request says about its client, in _meta. */
static bool check_envelope(PtcMcpCall *call)
{
    PtcValue can = ptc_map_field(&call->heap, call->meta, PTC_MCP_META "clientCapabilities");
    PtcValue info = ptc_map_field(&call->heap, call->meta, PTC_MCP_META "clientInfo");
    PtcValue level = ptc_map_field(&call->heap, call->meta, PTC_MCP_META "logLevel");
    if (can == PTC_NONE || !ptc_is_map(can))
        return bad_envelope(call, "clientCapabilities",
                            "must be an object; {} when there are none");
    if (!good_info(call, info))
        return bad_envelope(call, "clientInfo", "must be an object with a name and a version");
    if (level != PTC_NONE && !ptc_mcp_level_of(level, &call->level))
        return bad_envelope(call, "logLevel", "must be debug, info, notice, warning, error ...");
    call->capabilities = can;
    call->text_only = ptc_mcp_text_only(call, info);
    return true;
}

/* Names the versions we speak, so that a client can choose one. */
static bool unsupported(PtcMcpCall *call, PtcText version)
{
    PtcBuf *data = &call->scratch;
    version = ptc_text_cut(version, 100);
    ptc_buf_clear(data);
    ptc_emit_object(data);
    ptc_emit_key(data, "supported");
    ptc_emit_array(data);
    ptc_emit_cstr(data, PTC_MCP_VERSION_MODERN);
    ptc_emit_array_end(data);
    ptc_emit_field_text(data, "requested", version);
    ptc_emit_object_end(data);
    ptc_mcp_refuse(
        call, 400, PTC_MCP_UNSUPPORTED_VERSION, ptc_buf_text(data),
        "protocol version %.*s is not supported; this server speaks " PTC_MCP_VERSION_MODERN
        " and, after initialize, " PTC_MCP_VERSION_LEGACY " and older",
        PTC_ARG(version));
    return false;
}

/* ------------------------------------------------------------------------------ routes */

static bool modern(PtcMcpCall *call)
{
    call->era = PTC_MCP_MODERN;
    return check_envelope(call) && check_headers(call);
}

/* Without a peer (stateless HTTP) the level is the protocol's default, and the client is not known. */
static bool legacy(PtcMcpCall *call, PtcText version)
{
    call->era = PTC_MCP_LEGACY;
    call->level = PTC_MCP_INFO;
    call->text_only = ptc_mcp_text_only(call, PTC_NONE);
    if (call->peer) {
        pthread_mutex_lock(&call->peer->lock);
        call->level = call->peer->level;
        call->text_only = call->text_only || (call->peer->can & PTC_MCP_TEXT_ONLY);
        pthread_mutex_unlock(&call->peer->lock);
    }
    return !version.bytes || ptc_mcp_legacy_version(version) || unsupported(call, version);
}

/* For a message that claims a version itself. */
static bool claimed(PtcMcpCall *call, PtcText claim, PtcText head)
{
    bool is_modern = ptc_text_is(claim, PTC_MCP_VERSION_MODERN);
    if (call->http && (head.bytes || is_modern) && !ptc_text_same(head, claim))
        return refuse_header_mismatch(call, "MCP-Protocol-Version", head, claim);
    if (is_modern)
        return modern(call);
    if (ptc_mcp_legacy_version(claim))
        return legacy(call, head);
    return unsupported(call, claim);
}

/* `initialize` is the legacy handshake, unless the whole envelope is modern. */
static bool is_handshake(PtcMcpCall *call, PtcText claim)
{
    PtcValue can = ptc_map_field(&call->heap, call->meta, PTC_MCP_META "clientCapabilities");
    return ptc_text_is(call->method, "initialize") &&
           !(ptc_text_is(claim, PTC_MCP_VERSION_MODERN) && can != PTC_NONE && ptc_is_map(can));
}

bool ptc_mcp_route(PtcMcpCall *call)
{
    PtcValue claim = ptc_map_field(&call->heap, call->meta, PTC_MCP_META "protocolVersion");
    PtcText head = header(call, "MCP-Protocol-Version");
    bool initialize = is_handshake(call, ptc_str_text(claim));
    if (ptc_is_string(claim) && !initialize)
        return claimed(call, ptc_str_text(claim), head);
    if (claim != PTC_NONE && !initialize)
        return bad_envelope(call, "protocolVersion", "must be a string");
    if (!ptc_text_is(head, PTC_MCP_VERSION_MODERN))
        return legacy(call, initialize ? (PtcText){NULL, 0} : head);
    if (call->kind == PTC_RPC_REQUEST)
        return bad_envelope(call, "protocolVersion",
                            "is missing, and the header names this version");
    call->era = PTC_MCP_MODERN; /* a notification carries no claim: the header decides */
    return true;
}
