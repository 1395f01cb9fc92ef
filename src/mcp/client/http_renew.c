/* SPDX-License-Identifier: MIT
 * Sessions that the server has ended: initialised again, once for all calls that wait, and what was sent with the old
 * one is sent again, once.  What always holds: while a session is being renewed, nothing else is sent. */
#define _GNU_SOURCE /* memmem */
#include "mcp/client/wire_http_int.h"

void ptc_http_renew_release(PtcLink *l)
{
    PtcHttpWire *w = l->http;
    pthread_mutex_lock(&l->lock);
    w->holding = false;
    while (w->held.first) {
        PtcLinkJob *job = w->held.first;
        ptc_http_queue_take(&w->held, job);
        job->is_held = false;
        ptc_http_queue_address(w, job);
        if (!ptc_http_queue_add(w, job)) { /* there were threads before, so this does not happen */
            ptc_http_queue_hold(w, job);
            break;
        }
    }
    pthread_mutex_unlock(&l->lock);
}

static void end_lost(PtcLink *l, PtcLinkAsk *ask)
{
    PtcLinkReply reply = ptc_link_reply(l, PTC_LINK_HTTP_FAULT);
    reply.session_lost = true;
    reply.status = 404;
    ptc_buf_add_cstr(&reply.text, "its session ended and could not be renewed");
    ptc_link_end_ask(l, ask, &reply);
}

/* Loop: takes the next ask whose job is held back. */
static PtcLinkAsk *take_held(PtcLink *l)
{
    PtcLinkAsk *ask = NULL;
    pthread_mutex_lock(&l->lock);
    while (l->http->held.first && !ask) {
        PtcLinkJob *job = l->http->held.first;
        ask = job->ask;
        if (!ask) {
            ptc_http_queue_take(&l->http->held, job);
            ptc_http_job_free(job);
        }
    }
    pthread_mutex_unlock(&l->lock);
    return ask ? ptc_link_take_ask(l, ask->id) : NULL;
}

static void on_renewed(PtcLinkAsk *ask, PtcLinkReply *reply)
{
    PtcHttpWire *w = (PtcHttpWire *)(void *)((char *)ask - offsetof(PtcHttpWire, renew));
    PtcLink *l = w->link;
    w->renewing = false;
    if (reply->end == PTC_LINK_ANSWER) {
        ptc_link_notify(l, "notifications/initialized", (PtcText){NULL, 0});
        return; /* when that has ended, the rest is let go */
    }
    for (PtcLinkAsk *lost = take_held(l); lost; lost = take_held(l))
        end_lost(l, lost);
    ptc_link_down(l, PTC_TEXT("its session ended and could not be renewed"));
}

/* The session is gone: initialises again, once for all that wait. */
static void renew(PtcLink *l)
{
    PtcHttpWire *w = l->http;
    PtcBuf params;
    if (w->renewing)
        return;
    pthread_mutex_lock(&l->lock);
    w->holding = true;
    w->session[0] = 0;
    pthread_mutex_unlock(&l->lock);
    ptc_buf_init(&params, l->mem, PTC_UNBOUNDED);
    w->renew = (PtcLinkAsk){.done = on_renewed,
                            .end_ns = ptc_clock_ns(NULL) + l->config.handshake_ms * PTC_MS};
    w->renewing = ptc_link_hand_params(l, &params, l->version) &&
                  ptc_link_ask_inner(l, &w->renew, "initialize", ptc_buf_view(&params));
    ptc_buf_deinit(&params);
    if (!w->renewing)
        ptc_link_down(l, PTC_TEXT("its session ended and could not be renewed"));
}

bool ptc_http_renew_is_lost(const PtcLinkJob *job)
{
    const PtcClientAnswer *a = &job->answer;
    if (!ptc_client_answered(a) || !job->session[0] || job->opens)
        return false;
    PtcText body = ptc_buf_view(&a->error_body);
    bool about = memmem(body.bytes, body.len, "ession", 6) != NULL;
    return a->status == 404 || (a->status == 400 && about);
}

/* As if it had not been sent. */
static PtcLinkJob *make_job_fresh(PtcLinkJob *job)
{
    job->began = job->answered = job->redirected = job->is_stream = job->heard = false;
    job->bytes = job->text.len = 0;
    return job;
}

bool ptc_http_renew_send_again(PtcLink *l, PtcLinkJob *job, PtcLinkAsk *ask)
{
    PtcHttpWire *w = l->http;
    if (ask->resent)
        return false;
    ask->resent = true;
    pthread_mutex_lock(&l->lock);
    bool same = strcmp(job->session, w->session) == 0;
    bool wait = same || w->holding;
    make_job_fresh(job);
    ptc_http_queue_address(w, job);
    job->ask = ask;
    ask->job = job;
    if (wait || !ptc_http_queue_add(w, job))
        ptc_http_queue_hold(w, job);
    pthread_mutex_unlock(&l->lock);
    if (same)
        renew(l);
    return true;
}
