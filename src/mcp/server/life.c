/* SPDX-License-Identifier: MIT
 * The life of a call after it was understood: running, cancelling, finishing; what handlers see of it. */
#include "mcp/server/mcp_int.h"
#include "value/map.h"
#include "value/str.h"

void ptc_mcp_will_run(PtcMcpCall *call, PtcMcpBody body, PtcMcpHandler *handler, void *user)
{
    if (call->settled)
        return;
    call->body = body;
    call->handler = handler;
    call->user = user;
    call->next = PTC_MCP_RUN;
}

static bool enter(PtcMcpCall *call, bool again)
{
    PtcGateAnswer answer = ptc_gate_enter(&call->mcp->gate, &call->cancel.asked, again);
    call->inside = answer == PTC_GATE_IN;
    if (answer == PTC_GATE_BUSY)
        ptc_mcp_turn_away(call);
    else if (answer == PTC_GATE_STOPPED)
        ptc_mcp_refuse(call, 503, PTC_MCP_BUSY, NULL, "the server is shutting down");
    return call->inside;
}

void ptc_mcp_step_out(PtcMcpCall *call)
{
    if (call->inside)
        ptc_gate_leave(&call->mcp->gate);
    call->inside = false;
}

bool ptc_mcp_step_in(PtcMcpCall *call)
{
    return enter(call, true);
}

void ptc_mcp_turn_away(PtcMcpCall *call)
{
    const PtcMcpConfig *c = &call->mcp->config;
    ptc_mcp_refuse(call, 200, PTC_MCP_BUSY, NULL,
                   "busy: %u calls are running and %u are waiting; try again a little later",
                   c->max_running, c->max_waiting);
    ptc_mcp_finish(call);
}

void ptc_mcp_run(PtcMcpCall *call)
{
    if (call->next != PTC_MCP_RUN)
        return;
    call->next = PTC_MCP_DONE;
    if (enter(call, false)) {
        ptc_mcp_body_begin(call, call->body);
        if (ptc_mcp_args_fit(call))
            call->handler(call);
        ptc_mcp_step_out(call);
        ptc_mcp_body_end(call);
    }
    ptc_mcp_finish(call);
}

void ptc_mcp_finish(PtcMcpCall *call)
{
    ptc_mcp_unregister(call);
    pthread_mutex_lock(&call->lock);
    call->finished = true;
    call->on_cancel = NULL;
    if (atomic_load(&call->cancel.asked))
        call->has_answer = false;
    pthread_mutex_unlock(&call->lock);
}

/* ---------------------------------------------------------------------------- cancelling */

bool ptc_mcp_cancelled(const PtcMcpCall *call)
{
    return ptc_cancelled(&call->cancel);
}

const PtcCancel *ptc_mcp_cancel_flag(const PtcMcpCall *call)
{
    return &call->cancel;
}

void ptc_mcp_on_cancel(PtcMcpCall *call, void (*fn)(void *user), void *user)
{
    pthread_mutex_lock(&call->lock);
    call->on_cancel = fn;
    call->cancel_user = user;
    if (fn && atomic_load(&call->cancel.asked)) {
        call->on_cancel = NULL;
        fn(user);
    }
    pthread_mutex_unlock(&call->lock);
}

void ptc_mcp_set_cancelled(PtcMcpCall *call)
{
    pthread_mutex_lock(&call->lock);
    if (!call->finished && !atomic_exchange(&call->cancel.asked, true) && call->on_cancel) {
        call->on_cancel(call->cancel_user);
        call->on_cancel = NULL;
    }
    pthread_mutex_unlock(&call->lock);
    ptc_gate_wake(&call->mcp->gate);
}

void ptc_mcp_cancel(PtcMcpCall *call)
{
    ptc_mcp_set_cancelled(call);
    if (call->peer)
        ptc_mcp_peer_wake(call->peer);
}

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

PtcText ptc_mcp_method(const PtcMcpCall *call)
{
    return call->method.bytes ? call->method : (PtcText){"", 0};
}

bool ptc_mcp_is_request(const PtcMcpCall *call)
{
    return call->kind == PTC_MCP_REQUEST;
}

PtcText ptc_mcp_id(const PtcMcpCall *call)
{
    return (PtcText){call->id.data, call->id.len};
}

PtcMcpPeer *ptc_mcp_take_peer(PtcMcpCall *call)
{
    if (!call->own_peer)
        return NULL;
    call->own_peer = false;
    return call->peer;
}

/* ---------------------------------------------------------------------- what handlers see */

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

PtcText ptc_mcp_name(const PtcMcpCall *call)
{
    return call->name;
}

bool ptc_mcp_client_can(PtcMcpCall *call, const char *capability)
{
    static const char *const names[] = {"sampling", "elicitation", "roots"};
    unsigned can = 0;
    if (call->era == PTC_MCP_MODERN) {
        PtcValue v = ptc_mcp_field(call, call->capabilities, capability);
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

/* ---------------------------------------------------------------------------- arguments */

PtcValue ptc_mcp_args(PtcMcpCall *call)
{
    return call->args;
}

PtcValue ptc_mcp_arg(PtcMcpCall *call, const char *name)
{
    return ptc_mcp_field(call, call->args, name);
}

/* Wrong arguments of a tool are for the model to see (M10); elsewhere they are protocol errors. */
static bool wrong_arg(PtcMcpCall *call, const char *name, const char *what)
{
    if (call->body == PTC_MCP_BODY_TOOL)
        ptc_mcp_failf(call, "argument \"%s\" %s", name, what);
    else
        ptc_mcp_refuse(call, 200, PTC_MCP_INVALID_PARAMS, NULL, "argument \"%s\" %s", name, what);
    return false;
}

/* 1: there, 0: absent and need not be, -1: answered. */
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
    *out = ptc_mcp_text_of(v);
    return true;
}

bool ptc_mcp_arg_int(PtcMcpCall *call, const char *name, bool required, int64_t *out)
{
    PtcValue v;
    int found = find_arg(call, name, required, &v);
    if (found <= 0)
        return found == 0;
    /* 3.0 is an integer to JSON Schema, and some clients send it so. */
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
