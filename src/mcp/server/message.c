/* SPDX-License-Identifier: MIT
 * From the bytes of a message to a call: a request, a notification, an answer of the client, or an error.  What
 * always holds: whatever arrives, the call can be answered, because its buffers have room for an error from the
 * start. */
#include "mcp/server/mcp_int.h"

enum {
    ROOM_FOR_ERROR = 1024, /* for an error whose message has at most 400 bytes */
    PARSE_MS = 10000,
    HEAD_TRACE = 3 * 9 * 1024, /* bytes of the headers about traces */
};

static const char OUT_OF_BOUNDS[] = "the message needs more memory or time than the server has";

/* All with a maximum from the start; they take memory only when something is written. */
static void init_bufs(PtcMcpCall *call)
{
    PtcMem *mem = &call->mcp->mem;
    size_t most = call->mcp->config.max_answer_bytes;
    PtcBuf *all[] = {&call->id,        &call->token,      &call->answer,    &call->structured,
                     &call->scratch,   &call->asks,       &call->state,     &call->given,
                     &call->uris.text, &call->tasks.text, &call->head_trace};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ptc_buf_init(all[i], mem, most);
    ptc_buf_init(&call->head_trace, mem, HEAD_TRACE);
    ptc_buf_init(&call->raw_text, mem, call->mcp->config.max_frame_bytes);
    ptc_buf_init(&call->message, mem, call->mcp->config.max_frame_bytes);
}

static PtcMcpCall *new_mcp_call(PtcMcp *mcp)
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
    call->begun_ns = ptc_clock_ns(NULL);
    call->budget.deadline_ns = call->begun_ns + PARSE_MS * PTC_MS;
    ptc_heap_init(&call->heap, &mcp->pool, &call->budget, mcp->config.memory_bytes);
    if (ptc_buf_add_cstr(&call->id, "null") && ptc_buf_reserve(&call->answer, ROOM_FOR_ERROR))
        return call;
    ptc_mcp_call_free(call);
    return NULL;
}

/* Off every list first, so that no other thread finds the call while it is freed. */
void ptc_mcp_call_free(PtcMcpCall *call)
{
    if (!call)
        return;
    ptc_mcp_unlist(call);
    ptc_mcp_unregister(call);
    if (call->own_peer)
        ptc_mcp_peer_free(call->peer);
    PtcBuf *all[] = {&call->id,        &call->token,   &call->answer,    &call->structured,
                     &call->scratch,   &call->asks,    &call->state,     &call->given,
                     &call->raw_text,  &call->message, &call->uris.text, &call->tasks.text,
                     &call->head_trace};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ptc_buf_deinit(all[i]);
    ptc_mem_free(&call->mcp->mem, call->told, call->tasks.count * sizeof *call->told);
    ptc_heap_deinit(&call->heap);
    pthread_mutex_destroy(&call->lock);
    ptc_mem_free(&call->mcp->mem, call, sizeof *call);
}

/* ------------------------------------------------------------------------------- shape */

/* The id, a string or an integer, as JSON; false: out of memory. */
static bool set_id(PtcMcpCall *call, PtcValue id)
{
    ptc_buf_clear(&call->id);
    if (ptc_emit_value(&call->id, &call->heap, id) &&
        ptc_buf_reserve(&call->answer, ROOM_FOR_ERROR + call->id.len))
        return true;
    ptc_buf_clear(&call->id); /* "null" fits, because it was there before */
    ptc_buf_clear(&call->answer);
    ptc_buf_add_cstr(&call->id, "null");
    ptc_mcp_refuse(call, 503, PTC_MCP_INTERNAL_ERROR, NULL, "out of memory");
    return false;
}

static bool is_answer_message(const PtcRpcMessage *m)
{
    return m->kind == PTC_RPC_RESULT || m->kind == PTC_RPC_ERROR;
}

static void refuse_message_fault(PtcMcpCall *call, const PtcWhy *why)
{
    if (why->class == PTC_WHY_NO_MEMORY)
        ptc_mcp_refuse(call, 503, PTC_MCP_INTERNAL_ERROR, NULL, "%s", OUT_OF_BOUNDS);
    else
        ptc_mcp_refuse(call, 400, why->code, NULL, "%s", why->text);
}

/* Whatever is wrong with a request is reported for its id. */
static bool take_call_apart(PtcMcpCall *call)
{
    static const char *const arguments[] = {"params", "arguments", NULL};
    PtcText text = {call->in->text, call->in->len};
    const PtcJsonKeep keep = {.path = arguments, .names = call->mcp->raw_names, .texts = call->raw};
    PtcRpcMessage m;
    PtcWhy why;
    bool ok = ptc_rpc_parse(&call->heap, text, call->mcp->raw_names[0] ? &keep : NULL, &m, &why);
    call->kind = m.kind;
    if (!is_answer_message(&m) && m.id != PTC_NONE && !set_id(call, m.id))
        return false;
    call->method = m.method;
    call->params = m.params;
    if (!ok)
        refuse_message_fault(call, &why);
    else if (is_answer_message(&m) && call->peer)
        ptc_mcp_reply(call->peer, m.id, text.bytes, text.len);
    return ok && !is_answer_message(&m);
}

/* progressToken and the like. */
static bool take_meta(PtcMcpCall *call)
{
    PtcValue meta = ptc_map_field(&call->heap, call->params, "_meta");
    PtcValue token = ptc_map_field(&call->heap, meta, "progressToken");
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
    if (ptc_emit_value(&call->token, &call->heap, token))
        return true;
    ptc_mcp_refuse(call, 503, PTC_MCP_INTERNAL_ERROR, NULL, "out of memory");
    return false;
}

/* ---------------------------------------------------------------------------- messages */

static void handle_message(PtcMcpCall *call)
{
    if (!take_call_apart(call) || !take_meta(call) || !ptc_mcp_route(call))
        return;
    if (call->kind == PTC_RPC_NOTIFICATION)
        ptc_mcp_notified(call);
    else
        ptc_mcp_dispatch(call);
    if (call->next != PTC_MCP_DONE && !ptc_mcp_register(call))
        return;
    /* What the budget cut short looks like an absent member, so the result cannot be trusted. */
    if (call->budget.stop != PTC_STOP_NONE) {
        call->settled = false;
        ptc_mcp_unregister(call);
        ptc_mcp_refuse(call, 503, PTC_MCP_INTERNAL_ERROR, NULL, "%s", OUT_OF_BOUNDS);
    }
}

/* Headers are gone when the handler runs.  Longer ones are not taken at all. */
static void keep_head_trace(PtcMcpCall *call)
{
    static const char *const names[] = {"traceparent", "tracestate", "baggage"};
    const PtcMcpIn *in = call->in;
    const char *text[3];
    bool any = false;
    for (size_t i = 0; in->header && i < 3; i++) {
        text[i] = in->header(in->header_user, names[i]);
        any = any || text[i];
    }
    for (size_t i = 0; any && i < 3; i++) {
        size_t n = text[i] ? strlen(text[i]) : 0;
        ptc_buf_add(&call->head_trace, text[i] ? text[i] : "", n > HEAD_TRACE / 3 ? 0 : n);
        ptc_buf_add_char(&call->head_trace, 0);
    }
    if (!ptc_buf_ok(&call->head_trace))
        ptc_buf_clear(&call->head_trace);
}

PtcMcpCall *ptc_mcp_begin(PtcMcp *mcp, const PtcMcpIn *in)
{
    PtcMcpCall *call = new_mcp_call(mcp);
    if (!call)
        return NULL;
    call->in = in;
    call->peer = in->peer;
    call->sink = in->sink;
    call->http = in->header != NULL;
    if (in->owner)
        call->owner = in->owner;
    keep_head_trace(call);
    ptc_gate_ticket(&call->ticket, call->owner, in->len);
    if (in->len > mcp->config.max_frame_bytes)
        ptc_mcp_refuse(call, 413, PTC_MCP_INVALID_REQUEST, NULL,
                       "a message may have at most %zu bytes", mcp->config.max_frame_bytes);
    else
        handle_message(call);
    call->in = NULL;
    if (call->raw_text.len == 0)
        memset(call->raw, 0,
               sizeof call->raw);         /* they were in the message, and nobody wants them */
    call->budget.deadline_ns = INT64_MAX; /* it was for reading; a handler sets its own */
    return call;
}

PtcMcpCall *ptc_mcp_begin_too_long(PtcMcp *mcp)
{
    PtcMcpCall *call = new_mcp_call(mcp);
    if (call)
        ptc_mcp_refuse(call, 413, PTC_MCP_INVALID_REQUEST, NULL,
                       "a message may have at most %zu bytes", mcp->config.max_frame_bytes);
    return call;
}
