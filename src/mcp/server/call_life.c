/* SPDX-License-Identifier: MIT
 * The life of a call after it was understood: it runs when the gate lets it in, may be cancelled from any thread until
 * it is finished, and has no answer when that happened. */
#include "mcp/server/mcp_int.h"

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
