/* SPDX-License-Identifier: MIT
 * JSON-RPC: from the bytes of a message to a request, a notification, an answer of the client, or an error. */
#include "json/parse.h"
#include "mcp/server/mcp_int.h"
#include "value/map.h"
#include "value/str.h"

enum {
    ROOM_FOR_ERROR =
        1024, /* the message of an error is at most 400 bytes, six times as much when escaped badly */
    PARSE_MS = 10000,
};

static void init_bufs(PtcMcpCall *call)
{
    PtcMem *mem = &call->mcp->mem;
    size_t most = call->mcp->config.max_answer_bytes;
    PtcBuf *all[] = {&call->id,   &call->token, &call->answer, &call->structured, &call->scratch,
                     &call->asks, &call->state, &call->given,  &call->uris.text};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ptc_buf_init(all[i], mem, most);
}

static PtcMcpCall *new_call(PtcMcp *mcp)
{
    PtcMcpCall *call = ptc_mem_alloc(&mcp->mem, sizeof *call);
    if (!call)
        return NULL;
    memset(call, 0, sizeof *call);
    call->mcp = mcp;
    call->owner = "";
    call->status = 202;
    call->level = PTC_MCP_NO_LOG;
    pthread_mutex_init(&call->lock, NULL);
    init_bufs(call);
    ptc_budget_init(&call->budget);
    call->budget.cancel = &call->cancel;
    call->budget.deadline_ns = ptc_clock_ns(NULL) + (int64_t)PARSE_MS * 1000000;
    ptc_heap_init(&call->heap, &mcp->pool, &call->budget, mcp->config.memory_bytes);
    if (ptc_buf_add_cstr(&call->id, "null") && ptc_buf_reserve(&call->answer, ROOM_FOR_ERROR))
        return call;
    ptc_mcp_call_free(call);
    return NULL;
}

void ptc_mcp_call_free(PtcMcpCall *call)
{
    if (!call)
        return;
    ptc_mcp_unlist(call);
    ptc_mcp_unregister(call);
    if (call->own_peer)
        ptc_mcp_peer_free(call->peer);
    PtcBuf *all[] = {&call->id,   &call->token, &call->answer, &call->structured, &call->scratch,
                     &call->asks, &call->state, &call->given,  &call->uris.text};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ptc_buf_deinit(all[i]);
    ptc_heap_deinit(&call->heap);
    pthread_mutex_destroy(&call->lock);
    ptc_mem_free(&call->mcp->mem, call, sizeof *call);
}

/* ------------------------------------------------------------------------------- shape */

/* A string or an integer, as JSON; false: memory is short. */
static bool set_id(PtcMcpCall *call, PtcValue id)
{
    ptc_buf_clear(&call->id);
    if (ptc_mcp_write(call, &call->id, id) &&
        ptc_buf_reserve(&call->answer, ROOM_FOR_ERROR + call->id.len))
        return true;
    ptc_buf_clear(&call->id); /* "null" fits: it was there */
    ptc_buf_clear(&call->answer);
    ptc_buf_add_cstr(&call->id, "null");
    ptc_mcp_refuse(call, 503, PTC_MCP_INTERNAL_ERROR, NULL, "out of memory");
    return false;
}

static bool invalid(PtcMcpCall *call, const char *why)
{
    ptc_mcp_refuse(call, 400, PTC_MCP_INVALID_REQUEST, NULL, "%s", why);
    return false;
}

static PtcValue parse(PtcMcpCall *call)
{
    PtcJsonError error;
    PtcValue v = ptc_json_parse(&call->heap, call->in->text, call->in->len, &error);
    if (v == PTC_NONE && error.stopped)
        ptc_mcp_refuse(call, 503, PTC_MCP_INTERNAL_ERROR, NULL,
                       "the message needs more memory or time than the server has");
    else if (v == PTC_NONE)
        ptc_mcp_refuse(call, 400, PTC_MCP_PARSE_ERROR, NULL, "not JSON: %s, at byte %zu",
                       error.message, error.offset);
    return v;
}

/* The id comes first, so that whatever is wrong with the rest is answered to it. */
static bool take_id(PtcMcpCall *call, PtcValue message, PtcValue id)
{
    bool response = ptc_mcp_field(call, message, "method") == PTC_NONE &&
                    (ptc_mcp_field(call, message, "result") != PTC_NONE ||
                     ptc_mcp_field(call, message, "error") != PTC_NONE);
    if (response)
        call->kind = PTC_MCP_RESPONSE;
    if (response || id == PTC_NONE)
        return true;
    if (!ptc_is_string(id) && !ptc_is_integer(id))
        return invalid(call, "the id of a request is a string or an integer");
    return set_id(call, id);
}

static bool take_method(PtcMcpCall *call, PtcValue message, bool has_id)
{
    PtcValue method = ptc_mcp_field(call, message, "method");
    PtcValue params = ptc_mcp_field(call, message, "params");
    if (!ptc_mcp_text_is(ptc_mcp_text_of(ptc_mcp_field(call, message, "jsonrpc")), "2.0"))
        return invalid(call, "\"jsonrpc\" must be \"2.0\"");
    if (call->kind == PTC_MCP_RESPONSE)
        return true;
    if (!ptc_is_string(method))
        return invalid(call, "a message needs a \"method\" that is a string");
    call->method = ptc_mcp_text_of(method);
    call->kind = has_id ? PTC_MCP_REQUEST : PTC_MCP_NOTIFICATION;
    call->params = params;
    if (params == PTC_NONE || ptc_is_map(params))
        return true;
    call->params = PTC_NONE;
    ptc_mcp_refuse(call, 400, PTC_MCP_INVALID_PARAMS, NULL, "\"params\" must be an object");
    return false;
}

static bool take_apart(PtcMcpCall *call)
{
    PtcValue message = parse(call);
    if (message == PTC_NONE)
        return false;
    if (ptc_is_sequential(message))
        return invalid(call, "batches are not supported: send one message at a time");
    if (!ptc_is_map(message))
        return invalid(call, "a message is a JSON object");
    PtcValue id = ptc_mcp_field(call, message, "id");
    if (!take_id(call, message, id) || !take_method(call, message, id != PTC_NONE))
        return false;
    if (call->kind == PTC_MCP_RESPONSE && call->peer)
        ptc_mcp_reply(call->peer, id, call->in->text, call->in->len);
    return call->kind != PTC_MCP_RESPONSE;
}

/* progressToken and friends. */
static bool take_meta(PtcMcpCall *call)
{
    PtcValue meta = ptc_mcp_field(call, call->params, "_meta");
    PtcValue token = ptc_mcp_field(call, meta, "progressToken");
    if (meta != PTC_NONE && !ptc_is_map(meta)) {
        ptc_mcp_refuse(call, 400, PTC_MCP_INVALID_PARAMS, NULL, "\"_meta\" must be an object");
        return false;
    }
    call->meta = meta;
    if (token == PTC_NONE)
        return true;
    if (!ptc_is_string(token) && !ptc_is_integer(token)) {
        ptc_mcp_refuse(call, 400, PTC_MCP_INVALID_PARAMS, NULL,
                       "\"progressToken\" must be a string or an integer");
        return false;
    }
    if (ptc_mcp_write(call, &call->token, token))
        return true;
    ptc_mcp_refuse(call, 503, PTC_MCP_INTERNAL_ERROR, NULL, "out of memory");
    return false;
}

/* ---------------------------------------------------------------------------- messages */

static void handle(PtcMcpCall *call)
{
    if (!take_apart(call) || !take_meta(call) || !ptc_mcp_route(call))
        return;
    if (call->kind == PTC_MCP_NOTIFICATION)
        ptc_mcp_notified(call);
    else
        ptc_mcp_dispatch(call);
    if (call->next != PTC_MCP_DONE && !ptc_mcp_register(call))
        return;
    /* Fields that could not be looked up for want of memory were taken for absent. */
    if (call->budget.stop != PTC_STOP_NONE) {
        call->settled = false;
        ptc_mcp_unregister(call);
        ptc_mcp_refuse(call, 503, PTC_MCP_INTERNAL_ERROR, NULL,
                       "the message needs more memory or time than the server has");
    }
}

PtcMcpCall *ptc_mcp_begin(PtcMcp *mcp, const PtcMcpIn *in)
{
    PtcMcpCall *call = new_call(mcp);
    if (!call)
        return NULL;
    call->in = in;
    call->peer = in->peer;
    call->sink = in->sink;
    call->http = in->header != NULL;
    if (in->owner)
        call->owner = in->owner;
    if (in->len > mcp->config.max_frame_bytes)
        ptc_mcp_refuse(call, 413, PTC_MCP_INVALID_REQUEST, NULL,
                       "a message may have at most %zu bytes", mcp->config.max_frame_bytes);
    else
        handle(call);
    call->in = NULL;
    call->budget.deadline_ns = INT64_MAX; /* that was for reading it; a handler sets its own */
    return call;
}

PtcMcpCall *ptc_mcp_begin_too_long(PtcMcp *mcp)
{
    PtcMcpCall *call = new_call(mcp);
    if (call)
        ptc_mcp_refuse(call, 413, PTC_MCP_INVALID_REQUEST, NULL,
                       "a message may have at most %zu bytes", mcp->config.max_frame_bytes);
    return call;
}
