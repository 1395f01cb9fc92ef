/* SPDX-License-Identifier: MIT
 * Lists in pages, what is known before the first call (server/discover), and the legacy handshake. */
#include <stdio.h>

#include "mcp/server/mcp_int.h"

/* A cursor is the number of the next row, sealed for its list. */
typedef struct {
    char context[16];
    size_t context_len;
} CursorSeal;

static CursorSeal cursor_seal(PtcMcpList list)
{
    CursorSeal seal;
    seal.context_len = (size_t)snprintf(seal.context, sizeof seal.context, "cursor %d", (int)list);
    return seal;
}

/* Sealed, so a client can neither make one up nor use that of another list. */
static bool read_cursor(PtcMcpCall *call, PtcMcpList list, PtcText text, uint64_t *from)
{
    CursorSeal seal = cursor_seal(list);
    ptc_buf_clear(&call->scratch);
    if (!ptc_seal_open(&call->scratch, call->mcp->key, seal.context, seal.context_len, text.bytes,
                       text.len) ||
        call->scratch.len != sizeof *from)
        return false;
    memcpy(from, call->scratch.data, sizeof *from);
    return *from <= ptc_mcp_rows_of(call->mcp, list)->count;
}

/* Where the page begins; false: the cursor was refused. */
static bool page_start(PtcMcpCall *call, PtcMcpList list, uint64_t *from)
{
    PtcValue cursor = ptc_map_field(&call->heap, call->params, "cursor");
    PtcText text = ptc_str_text(cursor);
    *from = 0;
    if (cursor == PTC_NONE || (ptc_is_string(cursor) && text.len == 0))
        return true;
    if (ptc_is_string(cursor) && read_cursor(call, list, text, from))
        return true;
    ptc_mcp_refuse(call, 200, PTC_MCP_INVALID_PARAMS, NULL,
                   "this cursor is not one that this server gave for this list");
    return false;
}

static void add_cursor(PtcMcpCall *call, PtcMcpList list, uint64_t from)
{
    CursorSeal seal = cursor_seal(list);
    ptc_emit_key(&call->answer, "nextCursor");
    ptc_emit_string(&call->answer);
    ptc_seal_add(&call->answer, call->mcp->key, seal.context, seal.context_len, &from, sizeof from);
    ptc_emit_string_end(&call->answer);
}

/* Slices of text rendered at the start; the commas between rows are already there. */
static void add_listed_rows(PtcMcpCall *call, const PtcMcpRows *rows, size_t from, size_t to)
{
    PtcBuf *out = &call->answer;
    for (size_t i = from; i < to; i++) {
        const struct PtcMcpRowEnd *row = &rows->ends[i];
        bool cut = call->text_only && row->output;
        size_t begin = (i ? rows->ends[i - 1].end : 0) + (i && i == from); /* after the comma */
        ptc_buf_add(out, rows->text.data + begin, (cut ? row->output : row->end) - begin);
        ptc_buf_add_cstr(out, cut ? "}" : "");
    }
}

void ptc_mcp_do_list(PtcMcpCall *call, PtcMcpList list)
{
    static const char *const names[] = {"tools", "resources", "resourceTemplates", "prompts"};
    const PtcMcpRows *rows = ptc_mcp_rows_of(call->mcp, list);
    const PtcMcpConfig *c = &call->mcp->config;
    uint64_t from, to;
    if (!page_start(call, list, &from))
        return;
    to = rows->count - from > c->page_size ? from + c->page_size : rows->count;
    ptc_mcp_result_begin(call);
    ptc_emit_key(&call->answer, names[list]);
    ptc_emit_array(&call->answer);
    add_listed_rows(call, rows, from, to);
    ptc_emit_array_end(&call->answer);
    if (to < rows->count)
        add_cursor(call, list, to);
    bool own = call->text_only && c->structured == PTC_MCP_STRUCTURED_AUTO; /* others get more */
    ptc_mcp_cache_hints(call, c->list_ttl_ms, !c->private_lists && !own);
    ptc_mcp_result_end(call);
    if (list == PTC_MCP_LIST_TOOLS && c->listed)
        c->listed(call);
}

static void add_common(PtcMcpCall *call)
{
    const char *text = call->mcp->config.instructions;
    ptc_emit_field_raw(&call->answer, "capabilities",
                       ptc_buf_view(call->era == PTC_MCP_MODERN ? &call->mcp->modern_capabilities
                                                                : &call->mcp->capabilities));
    if (text)
        ptc_emit_field_cstr(&call->answer, "instructions", text);
}

void ptc_mcp_do_discover(PtcMcpCall *call)
{
    ptc_mcp_result_begin(call);
    ptc_emit_key(&call->answer, "supportedVersions");
    ptc_emit_array(&call->answer);
    ptc_emit_cstr(&call->answer, PTC_MCP_VERSION_MODERN);
    ptc_emit_array_end(&call->answer);
    add_common(call);
    ptc_mcp_cache_hints(call, call->mcp->config.list_ttl_ms, !call->mcp->config.private_lists);
    ptc_mcp_result_end(call);
}

/* -------------------------------------------------------------------- the legacy handshake */

static unsigned read_capabilities(PtcMcpCall *call)
{
    static const char *const names[] = {"sampling", "elicitation", "roots"};
    PtcValue all = ptc_map_field(&call->heap, call->params, "capabilities");
    unsigned can = 0;
    for (unsigned i = 0; i < 3; i++) {
        PtcValue one = ptc_map_field(&call->heap, all, names[i]);
        if (one != PTC_NONE && ptc_is_map(one))
            can |= 1u << i;
    }
    return can | ptc_mcp_elicits(&call->heap, ptc_map_field(&call->heap, all, "elicitation"));
}

/* Over HTTP the handshake begins a session. */
static bool make_peer(PtcMcpCall *call)
{
    if (call->peer)
        return true;
    call->peer = ptc_mcp_peer_new(call->mcp, (PtcMcpSink){NULL, NULL});
    call->own_peer = call->peer != NULL;
    if (!call->peer)
        ptc_mcp_refuse(call, 503, PTC_MCP_INTERNAL_ERROR, NULL, "out of memory");
    return call->peer != NULL;
}

/* An unknown version is answered with ours, as the protocol asks; the client may then leave. */
void ptc_mcp_do_initialize(PtcMcpCall *call)
{
    PtcText version = ptc_str_text(ptc_map_field(&call->heap, call->params, "protocolVersion"));
    if (!version.bytes) {
        ptc_mcp_refuse(call, 200, PTC_MCP_INVALID_PARAMS, NULL,
                       "initialize needs a \"protocolVersion\" that is a string");
        return;
    }
    if (!make_peer(call))
        return;
    if (!ptc_mcp_legacy_version(version))
        version = (PtcText){PTC_MCP_VERSION_LEGACY, strlen(PTC_MCP_VERSION_LEGACY)};
    PtcValue info = ptc_map_field(&call->heap, call->params, "clientInfo");
    unsigned can =
        read_capabilities(call) | (ptc_mcp_text_only(call, info) ? PTC_MCP_TEXT_ONLY : 0u);
    pthread_mutex_lock(&call->peer->lock);
    call->peer->can = can;
    call->peer->initialized = true;
    pthread_mutex_unlock(&call->peer->lock);
    ptc_mcp_result_begin(call);
    ptc_emit_field_text(&call->answer, "protocolVersion", version);
    add_common(call);
    ptc_emit_field_raw(&call->answer, "serverInfo", ptc_buf_view(&call->mcp->info));
    ptc_mcp_result_end(call);
}

/* ------------------------------------------------------------------ other legacy methods */

void ptc_mcp_do_set_level(PtcMcpCall *call)
{
    PtcMcpLevel level;
    if (!ptc_mcp_level_of(ptc_map_field(&call->heap, call->params, "level"), &level)) {
        ptc_mcp_refuse(call, 200, PTC_MCP_INVALID_PARAMS, NULL,
                       "\"level\" must be debug, info, notice, warning, error, critical, alert or "
                       "emergency");
        return;
    }
    if (call->peer) {
        pthread_mutex_lock(&call->peer->lock);
        call->peer->level = level;
        pthread_mutex_unlock(&call->peer->lock);
    }
    ptc_mcp_empty_result(call);
}

/* Without a peer there is nobody to notify; the request still succeeds. */
void ptc_mcp_do_subscribe(PtcMcpCall *call, bool on)
{
    PtcText uri = ptc_str_text(ptc_map_field(&call->heap, call->params, "uri"));
    bool ok = true;
    if (!uri.bytes) {
        ptc_mcp_refuse(call, 200, PTC_MCP_INVALID_PARAMS, NULL, "\"uri\" must be a string");
        return;
    }
    if (call->peer) {
        pthread_mutex_lock(&call->peer->lock);
        if (on)
            ok = ptc_mcp_uris_add(&call->peer->uris, uri);
        else
            ptc_mcp_uris_remove(&call->peer->uris, uri);
        pthread_mutex_unlock(&call->peer->lock);
    }
    if (ok)
        ptc_mcp_empty_result(call);
    else
        ptc_mcp_refuse(call, 200, PTC_MCP_INVALID_PARAMS, NULL,
                       "at most %d resources of at most %d bytes each can be subscribed to",
                       PTC_MCP_MAX_URIS, PTC_MCP_MAX_URI_BYTES);
}
