/* SPDX-License-Identifier: MIT
 * What others see of a call: transports see its answer and outcome, handlers who asked for what. */
#include <stdio.h>

#include "mcp/server/mcp_int.h"

/* ------------------------------------------------------------------ what transports see */

PtcMcpNext ptc_mcp_next(const PtcMcpCall *call)
{
    return call->next;
}

const PtcBuf *ptc_mcp_answer(const PtcMcpCall *call)
{
    return call->has_answer ? &call->answer : NULL;
}

int ptc_mcp_http_status(const PtcMcpCall *call)
{
    return call->status;
}

int ptc_mcp_error_code(const PtcMcpCall *call)
{
    return call->code;
}

/* Words for metrics and logs; what the client reads is in the answer. */
const char *ptc_mcp_tool_failure(const PtcMcpCall *call)
{
    if (!call->tool)
        return NULL;
    if (call->code)
        return call->code == PTC_MCP_BUSY ? "busy" : "rejected";
    if (!call->has_answer)
        return "cancelled";
    return !call->is_error ? "" : call->reason[0] ? call->reason : "error";
}

PtcText ptc_mcp_method(const PtcMcpCall *call)
{
    return call->method.bytes ? call->method : (PtcText){"", 0};
}

bool ptc_mcp_is_request(const PtcMcpCall *call)
{
    return call->kind == PTC_RPC_REQUEST;
}

/* Whoever takes the peer frees it; otherwise it ends with the call. */
PtcMcpPeer *ptc_mcp_take_peer(PtcMcpCall *call)
{
    if (!call->own_peer)
        return NULL;
    call->own_peer = false;
    return call->peer;
}

/* ---------------------------------------------------------------------- what handlers see */

/* The word may come from a worker: anything but a plain word becomes "other". */
void ptc_mcp_reason(PtcMcpCall *call, const char *reason)
{
    size_t len = strspn(reason, "abcdefghijklmnopqrstuvwxyz_");
    bool word = len > 0 && len < sizeof call->reason && !reason[len];
    snprintf(call->reason, sizeof call->reason, "%s", word ? reason : "other");
}

PtcMcp *ptc_mcp_server(PtcMcpCall *call)
{
    return call->mcp;
}

void *ptc_mcp_user(PtcMcpCall *call)
{
    return call->user;
}

PtcHeap *ptc_mcp_heap(PtcMcpCall *call)
{
    return &call->heap;
}

PtcMcpEra ptc_mcp_era(const PtcMcpCall *call)
{
    return call->era;
}

const char *ptc_mcp_owner(const PtcMcpCall *call)
{
    return call->owner;
}

const PtcMcpTool *ptc_mcp_tool(const PtcMcpCall *call)
{
    return call->tool;
}

/* A modern request says what its client can; a legacy client has said it in the handshake. */
bool ptc_mcp_client_can(PtcMcpCall *call, const char *capability)
{
    static const char *const names[] = {"sampling", "elicitation", "roots"};
    unsigned can = 0;
    if (call->era == PTC_MCP_MODERN) {
        PtcValue v = ptc_map_field(&call->heap, call->capabilities, capability);
        return v != PTC_NONE && ptc_is_map(v);
    }
    if (call->peer) {
        pthread_mutex_lock(&call->peer->lock);
        can = call->peer->can;
        pthread_mutex_unlock(&call->peer->lock);
    }
    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], capability) == 0)
            return (can >> i & 1) != 0;
    return false;
}

unsigned ptc_mcp_roots_changes(PtcMcpCall *call)
{
    return call->peer ? atomic_load(&call->peer->roots_changes) : 0;
}

static PtcTraceContext trace_of_meta(PtcMcpCall *call)
{
    PtcTraceContext c = {.parent = ptc_mcp_meta_text(call, "traceparent"),
                         .state = ptc_mcp_meta_text(call, "tracestate"),
                         .baggage = ptc_mcp_meta_text(call, "baggage")};
    ptc_trace_context_check(&c);
    return c;
}

static PtcTraceContext trace_of_head(const PtcMcpCall *call)
{
    PtcTraceContext c = {.ours = false};
    const char *at = call->head_trace.data;
    PtcText *to[] = {&c.parent, &c.state, &c.baggage};
    for (size_t i = 0; call->head_trace.len && i < sizeof to / sizeof *to; i++) {
        *to[i] = ptc_text_cstr(at);
        at += to[i]->len + 1;
    }
    ptc_trace_context_check(&c);
    return c;
}

/* The message knows better than the headers, which something between the client and us may have written; state and
 * parent belong together. */
PtcTraceContext ptc_mcp_trace(PtcMcpCall *call)
{
    PtcTraceContext c = trace_of_meta(call), head = trace_of_head(call);
    if (!c.parent.bytes) {
        c.parent = head.parent;
        c.state = head.state;
    }
    if (!c.baggage.bytes)
        c.baggage = head.baggage;
    return c;
}

PtcText ptc_mcp_meta_text(PtcMcpCall *call, const char *name)
{
    PtcValue v = ptc_map_field(&call->heap, call->meta, name);
    return v == PTC_NONE ? (PtcText){NULL, 0} : ptc_str_text(v);
}
