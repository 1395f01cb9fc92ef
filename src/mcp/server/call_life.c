/* SPDX-License-Identifier: MIT
 * The life of a call once it was understood: it runs when the gate lets it in, may be cancelled from any thread
 * until it is finished, and has no answer if that happened. */
#include <stdio.h>

#include "base/os/cancel.h"
#include "mcp/server/task_record.h"

/* A call that has been refused keeps its error; nothing is run for it. */
void ptc_mcp_will_run(PtcMcpCall *call, PtcMcpBody body, PtcMcpHandler *handler, void *user)
{
    if (call->settled)
        return;
    call->body = body;
    call->handler = handler;
    call->user = user;
    call->next = PTC_MCP_RUN;
}

/* The time until which it may wait for its turn. */
static int64_t patience(const PtcMcpCall *call)
{
    return call->begun_ns + call->mcp->config.wait_ms * PTC_MS;
}

static void refuse_busy(PtcMcpCall *call, const char *why)
{
    ptc_mcp_refuse(call, 200, PTC_MCP_BUSY, NULL, "busy: %s; try again a little later", why);
}

static void refuse_late(PtcMcpCall *call)
{
    char why[80];
    snprintf(why, sizeof why, "the call has waited %lld s for its turn",
             (long long)(call->mcp->config.wait_ms / 1000));
    refuse_busy(call, why);
}

/* A call that was inside before may wait for any length of time: its handler is already running. */
static bool enter_gate_with_call(PtcMcpCall *call, bool again)
{
    int64_t until = again ? PTC_UNBOUNDED : patience(call);
    PtcGateAnswer answer =
        ptc_gate_enter(&call->mcp->gate, &call->ticket, &call->cancel.asked, until, again);
    if (answer == PTC_GATE_BUSY)
        ptc_mcp_turn_away(call);
    else if (answer == PTC_GATE_LATE)
        refuse_late(call);
    else if (answer == PTC_GATE_STOPPED)
        ptc_mcp_refuse(call, 503, PTC_MCP_BUSY, NULL, "the server is shutting down");
    return answer == PTC_GATE_IN;
}

/* Before the gate, so that what is refused takes nobody's turn. */
static bool begin_within_quota(PtcMcpCall *call)
{
    const PtcMcpQuota *quota = call->mcp->config.quota;
    int64_t retry_ms = 0;
    char data[60];
    const char *why = quota ? quota->begin(quota->user, call->owner, &retry_ms) : NULL;
    if (!why)
        return true;
    snprintf(data, sizeof data, "{\"retryAfterMs\":%lld}", (long long)retry_ms);
    ptc_gate_give_up(&call->mcp->gate, &call->ticket);
    ptc_mcp_refuse(call, 200, PTC_MCP_BUSY, data, "busy: these are %s; try again in %lld ms", why,
                   (long long)retry_ms);
    return false;
}

static void end_within_quota(PtcMcpCall *call)
{
    const PtcMcpQuota *quota = call->mcp->config.quota;
    if (quota)
        quota->end(quota->user, call->owner);
}

/* The body is begun before the arguments are checked, because a refusal may be content that the model reads. */
static void run_in_gate(PtcMcpCall *call)
{
    if (!call->dropped && !enter_gate_with_call(call, false))
        return;
    ptc_mcp_body_begin(call, call->body);
    if (ptc_mcp_args_fit(call))
        call->handler(call);
    ptc_mcp_step_out(call);
    ptc_mcp_body_end(call);
}

void ptc_mcp_step_out(PtcMcpCall *call)
{
    if (call->ticket.in)
        ptc_gate_leave(&call->mcp->gate, &call->ticket);
}

bool ptc_mcp_step_in(PtcMcpCall *call)
{
    return enter_gate_with_call(call, true);
}

void ptc_mcp_pause(PtcMcpCall *call)
{
    ptc_gate_pause(&call->mcp->gate, &call->ticket);
}

void ptc_mcp_resume(PtcMcpCall *call)
{
    ptc_gate_resume(&call->mcp->gate, &call->ticket, &call->cancel.asked);
}

/* Under the lock, so that a cancellation comes either before the answer stands or has no effect. */
static void mcp_finish(PtcMcpCall *call)
{
    ptc_mcp_unregister(call);
    pthread_mutex_lock(&call->lock);
    call->finished = true;
    call->on_cancel = NULL;
    if (atomic_load(&call->cancel.asked))
        call->has_answer = false;
    pthread_mutex_unlock(&call->lock);
}

/* Gives its place among the waiting back first, so that the numbers in the answer do not include it. */
void ptc_mcp_turn_away(PtcMcpCall *call)
{
    unsigned running, waiting;
    char why[100];
    ptc_gate_give_up(&call->mcp->gate, &call->ticket);
    ptc_gate_load(&call->mcp->gate, &running, &waiting);
    snprintf(why, sizeof why, "%u call%s running and %u waiting", running,
             running == 1 ? " is" : "s are", waiting);
    refuse_busy(call, why);
    mcp_finish(call);
}

bool ptc_mcp_queue(PtcMcpCall *call)
{
    return ptc_gate_queue(&call->mcp->gate, &call->ticket);
}

bool ptc_mcp_expire(PtcMcpCall *call, int64_t now_ns)
{
    if (now_ns < patience(call) && !ptc_mcp_cancelled(call))
        return false;
    ptc_gate_give_up(&call->mcp->gate, &call->ticket);
    refuse_late(call);
    mcp_finish(call);
    return true;
}

int64_t ptc_mcp_waited_ms(const PtcMcpCall *call)
{
    return (ptc_clock_ns(NULL) - call->begun_ns) / PTC_MS;
}

void ptc_mcp_run(PtcMcpCall *call)
{
    if (call->next != PTC_MCP_RUN)
        return;
    call->next = PTC_MCP_DONE;
    if (call->body == PTC_MCP_BODY_OWN) {
        ptc_gate_give_up(&call->mcp->gate, &call->ticket);
        call->handler(call);
    } else if (call->message.len && !call->work && ptc_mcp_work_run(call)) {
    } else if (begin_within_quota(call)) {
        run_in_gate(call);
        end_within_quota(call);
    }
    mcp_finish(call);
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

/* fn runs with the lock held, so that a caller who takes it back (NULL) can be sure it is not running. */
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

/* Wakes the gate as well, since the call may be waiting for its turn. */
void ptc_mcp_set_cancelled(PtcMcpCall *call)
{
    pthread_mutex_lock(&call->lock);
    bool first = !call->finished && !atomic_load(&call->cancel.asked);
    if (first)
        ptc_cancel_ask(&call->cancel);
    if (first && call->on_cancel) {
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
