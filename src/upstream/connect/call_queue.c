/* SPDX-License-Identifier: MIT
 * Calls on their way to an upstream: sent in order, a limited number at once, sent again where that is safe, and given
 * up when their time is over.  Everything here runs with the manager's lock held, on any thread.  What always holds:
 * each call is answered once, through ready(). */
#include <stdio.h>

#include "upstream/connect/call_progress.h"
#include "upstream/connect/manager_int.h"
#include "upstream/run/serve_int.h"
#include "value/coll/fields.h"

enum {
    QUEUE_TRIES = 3,
    QUEUE_RETRY_MS = 250,
    RETRY_AFTER_MOST_MS = 10 * 1000,
    PROGRESS_TIMES = 10, /* what a call has: more that progress gives in a run without a deadline */
    QUEUE_LOOK_MS = 50
};

/* ---------------------------------------------------------------------------------- answers */

/* What the server says of its own failure is only read later. */
static bool is_good_end(const PtcUpCall *call)
{
    return !call->reason && !call->said;
}

/* The ask to say ready() of; NULL: that was said before, or the call is held. */
static PtcRemoteAsk *end_call(PtcUpCall *call)
{
    if (call->state == PTC_UP_ANSWERED)
        return NULL;
    call->state = PTC_UP_ANSWERED;
    call->ended_ns = ptc_clock_ns(NULL);
    if (call->told)
        ptc_progress_called(call, "", is_good_end(call) ? " done" : " failed");
    return call->ask;
}

void ptc_queue_answer(PtcUpCall *call)
{
    PtcRemoteAsk *ask = end_call(call);
    if (ask)
        ask->ready(ask);
}

static void give_call_up(PtcUpCall *call, PtcCallReason reason, const char *message)
{
    call->reason = reason;
    snprintf(call->message, sizeof call->message, "%s", message);
    ptc_queue_answer(call);
}

/* Its time is over and it was not sent: because the upstream is still starting, is down, or has too much to do. */
static void expire_unsent_call(PtcUpCall *call, int64_t now)
{
    PtcInstance *i = call->instance;
    char text[400];
    PtcText name = i->upstream->entry.name;
    if (i->state == PTC_INSTANCE_STARTING) {
        snprintf(text, sizeof text,
                 "%.*s has been starting for %lld s and is not ready yet; call it again later",
                 PTC_ARG(name), (long long)((now - i->started_ns) / PTC_S));
        give_call_up(call, PTC_CALL_UNAVAILABLE, text);
    } else if (i->state == PTC_INSTANCE_DOWN) {
        long long left = i->retry_ns > now ? (long long)(i->retry_ns - now) / PTC_S + 1 : 0;
        snprintf(text, sizeof text, "%.*s is down, and will be tried again in %lld s: %.250s",
                 PTC_ARG(name), left, i->why);
        give_call_up(call, i->refused ? PTC_CALL_AUTH_FAILED : PTC_CALL_UNAVAILABLE, text);
    } else if (call->state == PTC_UP_WAITING) {
        snprintf(text, sizeof text,
                 "the tools of %.*s have changed, and its new list is not there yet; call it again "
                 "later",
                 PTC_ARG(name));
        give_call_up(call, PTC_CALL_UNAVAILABLE, text);
    } else {
        snprintf(text, sizeof text,
                 "%.*s had too many calls under way, and this one ran out of time before its turn",
                 PTC_ARG(name));
        give_call_up(call, PTC_CALL_TIMEOUT, text);
    }
}

/* ------------------------------------------------------------------------------------ queue */

static void append(PtcUpCall *call)
{
    PtcInstance *i = call->instance;
    call->state = PTC_UP_QUEUED;
    call->next = NULL;
    *i->last = call;
    i->last = &call->next;
}

static void unlink_queued_call(PtcInstance *i, PtcUpCall **at)
{
    PtcUpCall *call = *at;
    *at = call->next;
    if (i->last == &call->next)
        i->last = at;
}

static bool has_room_for_call(const PtcInstance *i)
{
    bool settled = !i->settled_ns || i->settled_ns <= ptc_clock_ns(NULL);
    return settled && i->under_way < i->upstream->entry.at_once &&
           i->upstream->manager->under_way < PTC_MANAGER_AT_ONCE;
}

static void on_done(PtcLinkAsk *ask, PtcLinkReply *reply);

int64_t ptc_queue_most(const PtcUpCall *call)
{
    int64_t all = call->instance->upstream->entry.call_ms * PROGRESS_TIMES * PTC_MS;
    return call->run->deadline_ns < INT64_MAX ? call->run->deadline_ns : ptc_clock_ns(NULL) + all;
}

static void send_queued_call(PtcUpCall *call)
{
    PtcInstance *i = call->instance;
    PtcManager *m = i->upstream->manager;
    if (!ptc_serve_may_send(call)) {
        ptc_queue_answer(call);
        return;
    }
    if (!call->told)
        ptc_progress_called(call, "calling ", "");
    call->told = true;
    call->state = PTC_UP_SENT;
    call->attempts++;
    call->sends++;
    call->sent_ns = i->last_ns = ptc_clock_ns(NULL);
    call->mcp.done = on_done;
    call->mcp.progress = ptc_progress_take;
    call->mcp.end_ns = call->end_ns;
    call->mcp.most_ns = ptc_queue_most(call);
    call->counted = !call->held;
    i->under_way += call->counted;
    m->under_way += call->counted;
    i->used = true;
    if (ptc_endpoint_call(i->endpoint, call)) {
        call->next = i->sent;
        i->sent = call;
        return;
    }
    i->under_way -= call->counted;
    m->under_way -= call->counted;
    call->counted = false;
    call->sends--;
    give_call_up(call, PTC_CALL_UNAVAILABLE,
                 i->upstream->entry.openapi ? "out of memory, or no thread could be started"
                                            : "out of memory");
}

void ptc_queue_pump(PtcInstance *i)
{
    int64_t now = ptc_clock_ns(NULL);
    for (PtcUpCall **at = &i->first;
         *at && i->state == PTC_INSTANCE_READY && has_room_for_call(i);) {
        PtcUpCall *call = *at;
        if (call->not_before_ns > now) {
            at = &call->next;
            continue;
        }
        unlink_queued_call(i, at);
        send_queued_call(call);
    }
}

void ptc_queue_call(PtcUpCall *call)
{
    PtcInstance *i = call->instance;
    if (call->cancelled) { /* while it was in no queue */
        give_call_up(call, PTC_CALL_CANCELLED, "the run was over before it was called");
        return;
    }
    if (i->state == PTC_INSTANCE_READY && !i->first && has_room_for_call(i)) {
        send_queued_call(call);
        return;
    }
    int64_t now = ptc_clock_ns(NULL);
    if (ptc_instance_rests(i) && now < i->retry_ns) { /* waiting would only make the program slow */
        expire_unsent_call(call, now);
        return;
    }
    append(call);
    ptc_instance_start(i);
    ptc_queue_watch(i);
}

void ptc_queue_watch(PtcInstance *i)
{
    if (ptc_manager_wake(i->upstream->manager))
        return;
    for (PtcUpCall *call; (call = i->first);) {
        unlink_queued_call(i, &i->first);
        give_call_up(call, PTC_CALL_UNAVAILABLE, "no thread could be started");
    }
    for (PtcUpCall *call; (call = i->waiting);) {
        i->waiting = call->next;
        give_call_up(call, PTC_CALL_UNAVAILABLE, "no thread could be started");
    }
}

/* ------------------------------------------------------------------------------------ again */

/* When to send it again; 0: not at all. */
static int64_t again_at(const PtcUpCall *call, PtcCallReason reason, const PtcLinkReply *reply,
                        int64_t now)
{
    int64_t wait = (int64_t)QUEUE_RETRY_MS << (call->attempts ? call->attempts - 1 : 0);
    if (call->cancelled || call->attempts >= QUEUE_TRIES ||
        call->instance->upstream->entry.no_retry ||
        !ptc_retry_decide(call->effect, reason, reply->delivered).retry)
        return 0;
    if (reason == PTC_CALL_RATE_LIMITED) {
        if (reply->retry_after_ms < 0 || reply->retry_after_ms > RETRY_AFTER_MOST_MS)
            return 0;
        wait = reply->retry_after_ms;
    }
    wait += now / 1000 % (wait / 4 + 1); /* not all at the same moment */
    int64_t at = now + wait * PTC_MS;
    return at < call->end_ns ? at : 0;
}

/* Its answer is there, or its connection is gone: it is no longer under way. */
static void unlink_sent(PtcUpCall *call)
{
    PtcInstance *i = call->instance;
    PtcUpCall **at = &i->sent;
    while (*at && *at != call)
        at = &(*at)->next;
    if (*at)
        *at = call->next;
    i->under_way -= call->counted;
    i->upstream->manager->under_way -= call->counted;
    call->counted = false;
}

/* On the loop's thread, or a service's.  Whoever waits for the answer takes the lock next, so it is woken after the
 * unlock. */
static void on_done(PtcLinkAsk *ask, PtcLinkReply *reply)
{
    PtcRemoteAsk *ready = NULL;
    PtcUpCall *call = (PtcUpCall *)ask;
    PtcInstance *i = call->instance;
    PtcManager *m = i->upstream->manager;
    pthread_mutex_lock(&m->lock);
    bool was_full = m->under_way >= PTC_MANAGER_AT_ONCE; /* then others wait for this one */
    bool broken = reply->end == PTC_LINK_BROKEN;
    unlink_sent(call);
    call->sends -= broken && !reply->delivered;
    i->last_ns = ptc_clock_ns(NULL);
    ptc_instance_heard(i, reply);
    PtcCallReason said = ptc_retry_reason(reply);
    int64_t at = call->held || !call->run ? 0 : again_at(call, said, reply, i->last_ns);
    if (!call->run) { /* nobody is left who would want it */
        ptc_call_free(call);
    } else if (at) {
        call->not_before_ns = at;
        append(call);
    } else {
        call->reply = *reply;
        call->said = said;
        reply->text = (PtcBuf){0};
        ready = end_call(call);
    }
    /* A broken link is about to say that it is down, and what is sent now would be lost; a service has no
     * connection. */
    if (!broken || i->upstream->entry.openapi)
        ptc_queue_pump(i);
    if (i->first || was_full)
        (void)!ptc_manager_wake(m);
    pthread_mutex_unlock(&m->lock);
    if (ready)
        ready->ready(ready);
}

/* May a call that was not sent wait for the next start?  A start that failed has cost it a try. */
static bool may_wait(PtcUpCall *call, bool starting, int64_t now)
{
    const PtcInstance *i = call->instance;
    PtcLinkReply refused = {.end = PTC_LINK_BROKEN, .retry_after_ms = -1};
    if (i->refused)
        return false;
    if (starting) {
        call->attempts++;
        int64_t again = again_at(call, PTC_CALL_NOT_CONNECTED, &refused, now);
        if (!again)
            return false;
        call->not_before_ns = again;
    }
    return i->retry_ns < call->end_ns && !ptc_instance_rests(i);
}

/* What was never sent may be tried again while it has time; whoever waits for the listing gets the reason now. */
void ptc_queue_fail(PtcInstance *i, const char *why, bool starting)
{
    int64_t now = ptc_clock_ns(NULL);
    char text[400];
    PtcCallReason reason = i->refused ? PTC_CALL_AUTH_FAILED : PTC_CALL_UNAVAILABLE;
    snprintf(text, sizeof text, "%.*s %s: %.250s", PTC_ARG(i->upstream->entry.name),
             starting ? "could not be started" : "is down", why);
    for (PtcUpCall **at = &i->first; *at;) {
        PtcUpCall *call = *at;
        if (may_wait(call, starting, now)) {
            at = &call->next;
            continue;
        }
        unlink_queued_call(i, at);
        give_call_up(call, reason, text);
    }
    for (PtcUpCall *call; (call = i->waiting);) {
        i->waiting = call->next;
        give_call_up(call, reason, text);
    }
}

PtcUpCall *ptc_queue_listed(PtcInstance *i)
{
    PtcUpCall *ready = NULL;
    for (PtcUpCall *call, **at = &i->waiting; (call = *at);) {
        PtcRemoteOp op = call->ask->op;
        if (!ptc_run_is_listed(call->run, call->slot, i)) {
            at = &call->next; /* it changed again before that program began */
            continue;
        }
        *at = call->next;
        if (op == PTC_REMOTE_CALL_NAMED || op == PTC_REMOTE_CALL || op == PTC_REMOTE_LOOK) {
            call->state = PTC_UP_NEW;
            call->next = ready;
            ready = call;
        } else {
            ptc_queue_answer(call);
        }
    }
    return ready;
}

void ptc_queue_unlisted(PtcInstance *i, PtcText why)
{
    char text[400];
    PtcText name = i->upstream->entry.name;
    snprintf(text, sizeof text,
             "the tools of %.*s have changed, and its new list cannot be had: %.*s",
             PTC_ARG(ptc_text_cut(name, 60)), PTC_ARG(ptc_text_cut(why, 250)));
    for (PtcUpCall *call; (call = i->waiting);) {
        i->waiting = call->next;
        give_call_up(call, PTC_CALL_UNAVAILABLE, text);
    }
}

/* --------------------------------------------------------------------------- time and cancel */

static int64_t sooner(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t ptc_queue_sweep(PtcInstance *i, int64_t now)
{
    int64_t next = INT64_MAX;
    for (PtcUpCall **at = &i->first; *at;) {
        PtcUpCall *call = *at;
        if (call->end_ns <= now) {
            unlink_queued_call(i, at);
            expire_unsent_call(call, now);
            continue;
        }
        next = sooner(next, call->not_before_ns > now ? call->not_before_ns : call->end_ns);
        next = i->settled_ns > now ? sooner(next, i->settled_ns) : next;
        at = &call->next;
    }
    for (PtcUpCall **at = &i->waiting; *at;) {
        PtcUpCall *call = *at;
        if (call->end_ns <= now) {
            *at = call->next;
            expire_unsent_call(call, now);
            continue;
        }
        next = sooner(next, call->end_ns);
        at = &call->next;
    }
    if (i->waiting && i->state == PTC_INSTANCE_READY)
        ptc_instance_list(i);
    if (i->first || i->waiting) {
        ptc_instance_start(i);
        if (i->state == PTC_INSTANCE_DOWN)
            next = sooner(next, i->retry_ns);
    }
    ptc_queue_pump(i);
    /* A full upstream is looked at again when one of its calls ends. */
    return next == INT64_MAX ? next : next > now ? next : now + QUEUE_LOOK_MS * PTC_MS;
}

void ptc_queue_cancel(PtcUpCall *call)
{
    PtcInstance *i = call->instance;
    call->cancelled = true;
    if (call->state == PTC_UP_SENT) {
        ptc_endpoint_cancel(i->endpoint, call);
        return;
    }
    if (call->state != PTC_UP_QUEUED && call->state != PTC_UP_WAITING)
        return;
    for (PtcUpCall **at = &i->first; *at; at = &(*at)->next)
        if (*at == call) {
            unlink_queued_call(i, at);
            break;
        }
    for (PtcUpCall **at = &i->waiting; *at; at = &(*at)->next)
        if (*at == call) {
            *at = call->next;
            break;
        }
    give_call_up(call, PTC_CALL_CANCELLED, "the run was over before it was called");
}
