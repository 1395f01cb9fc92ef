/* SPDX-License-Identifier: MIT
 * A link over HTTP: jobs on threads that are started when all others are busy.  What always holds: a job is in the queue,
 * held back, or under way, and ends on the loop; an ask and its job point to each other or not at all; a job whose
 * generation is not the link's has nobody who waits for it. */
#define _GNU_SOURCE /* memmem, strcasestr */
#include <stdio.h>
#include <strings.h>
#include <time.h>

#include "base/thread.h"
#include "json/emit.h"
#include "json/members.h"
#include "mcp/client/header_value.h"
#include "mcp/client/http_job_int.h"
#include "net/retry_after.h"

enum {
    STACK = 256 * 1024,
    ALL_THREADS = HTTP_THREADS + 2, /* and those that listen */
    SHOWN = 300,                    /* bytes of a body that explains a fault */
};

typedef struct {
    PtcLinkJob *first, **last;
} Jobs;

struct PtcHttpWire {
    PtcLink *link;
    /* locked */
    Jobs queue, held, active;
    Arrival *arrived, **arrived_last;
    size_t arrived_bytes;
    pthread_cond_t work, drained;
    pthread_t threads[ALL_THREADS];
    size_t thread_count, idle;
    bool quit;
    bool holding; /* what is sent waits: for a session, or for where to post to */
    uint64_t generation;
    char session[HTTP_SESSION];
    char endpoint[PTC_URL_BYTES + 1]; /* where to post */
    /* loop */
    bool sse; /* HTTP+SSE, not Streamable HTTP */
    bool renewing;
    PtcLinkAsk renew;
};

/* ----------------------------------------------------------------------------- jobs */

static void append(Jobs *jobs, PtcLinkJob *job)
{
    job->next = NULL;
    job->at = jobs->last;
    *jobs->last = job;
    jobs->last = &job->next;
}

static void take_out(Jobs *jobs, PtcLinkJob *job)
{
    *job->at = job->next;
    if (job->next)
        job->next->at = job->at;
    else
        jobs->last = job->at;
    job->next = NULL;
    job->at = NULL;
}

static void *work(void *user)
{
    PtcHttpWire *w = user;
    PtcLink *l = w->link;
    pthread_mutex_lock(&l->lock);
    for (;;) {
        while (!w->queue.first && !w->quit) {
            w->idle++;
            pthread_cond_wait(&w->work, &l->lock);
            w->idle--;
        }
        PtcLinkJob *job = w->queue.first;
        if (!job)
            break;
        take_out(&w->queue, job);
        append(&w->active, job);
        job->began = true;
        pthread_mutex_unlock(&l->lock);
        ptc_http_job_run(job);
        pthread_mutex_lock(&l->lock);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

static size_t count(const Jobs *jobs)
{
    size_t n = 0;
    for (const PtcLinkJob *job = jobs->first; job; job = job->next)
        n++;
    return n;
}

/* Locked.  False: there is nobody who could do it. */
static bool enqueue(PtcHttpWire *w, PtcLinkJob *job)
{
    append(&w->queue, job);
    if (count(&w->queue) > w->idle && w->thread_count < ALL_THREADS &&
        ptc_thread_start(&w->threads[w->thread_count], STACK, work, w))
        w->thread_count++;
    if (w->thread_count == 0) {
        take_out(&w->queue, job);
        return false;
    }
    pthread_cond_signal(&w->work);
    return true;
}

static void hold(PtcHttpWire *w, PtcLinkJob *job)
{
    append(&w->held, job);
    job->is_held = true;
}

/* -------------------------------------------------------------------------- sending */

/* The name that a request is about, for Mcp-Name. */
static void add_name(PtcLink *l, PtcLinkJob *job, const Outgoing *o)
{
    bool uri = strcmp(o->method, "resources/read") == 0;
    if (!uri && strcmp(o->method, "tools/call") != 0 && strcmp(o->method, "prompts/get") != 0)
        return;
    PtcLinkScratch s;
    ptc_link_scratch_init(&s, l);
    PtcText name = ptc_link_scratch_text(&s, ptc_members_get(o->params, uri ? "uri" : "name"));
    if (name.bytes) {
        ptc_buf_add_cstr(&job->headers, "Mcp-Name: ");
        ptc_header_value_add(&job->headers, name);
        ptc_buf_add(&job->headers, "\n", 1);
    }
    ptc_link_scratch_deinit(&s);
}

/* The caller's lines, but for those that are ours to write. */
static void add_lines(PtcLinkJob *job, PtcText lines)
{
    while (lines.len) {
        const char *lf = memchr(lines.bytes, '\n', lines.len);
        size_t n = lf ? (size_t)(lf - lines.bytes) : lines.len, all = n + (lf != NULL);
        bool ours = (n > 9 && strncasecmp(lines.bytes, "mcp-name:", 9) == 0) ||
                    (n > 11 && strncasecmp(lines.bytes, "mcp-method:", 11) == 0);
        if (n && !ours) {
            ptc_buf_add(&job->headers, lines.bytes, n);
            ptc_buf_add(&job->headers, "\n", 1);
        }
        lines = (PtcText){lines.bytes + all, lines.len - all};
    }
}

static void address(PtcHttpWire *w, PtcLinkJob *job)
{
    snprintf(job->url, sizeof job->url, "%s", w->endpoint);
    snprintf(job->session, sizeof job->session, "%s", job->opens ? "" : w->session);
}

/* Locked. */
static void fill_job(PtcLink *l, PtcLinkJob *job, const Outgoing *o)
{
    bool modern = l->era == PTC_LINK_MODERN;
    job->generation = l->http->generation;
    job->ask = o->ask;
    job->id = o->ask ? o->ask->id : 0;
    job->opens = strcmp(o->method, "initialize") == 0;
    job->gates = strcmp(o->method, "notifications/initialized") == 0 && !l->http->sse;
    job->forever = strcmp(o->method, "subscriptions/listen") == 0;
    job->resumable = !modern;
    if (!job->opens)
        snprintf(job->version, sizeof job->version, "%s", l->version);
    if (modern && *o->method) {
        ptc_buf_addf(&job->headers, "Mcp-Method: %s\n", o->method);
        add_name(l, job, o);
    }
    add_lines(job, o->headers);
    job->body = *o->text;
    ptc_buf_init(o->text, l->mem, SIZE_MAX / 4);
}

static const char *http_send(PtcLink *l, const Outgoing *o)
{
    PtcHttpWire *w = l->http;
    if (l->state != PTC_LINK_READY && l->state != PTC_LINK_CONNECTING)
        return "it is not connected";
    PtcLinkJob *job = ptc_http_job_new(l, JOB_POST);
    if (!job)
        return "out of memory";
    fill_job(l, job, o);
    address(w, job);
    const char *why = NULL;
    bool passes = (job->opens || job->gates) && !w->sse, gates = job->gates;
    if (!ptc_buf_ok(&job->headers))
        why = "its headers are too long, or there is no memory for them";
    else if (w->holding && !passes)
        hold(w, job);
    else if (!enqueue(w, job))
        why = "no thread could be started";
    if (why)
        ptc_http_job_free(job);
    else if (o->ask)
        o->ask->job = job;
    if (!why && gates)
        w->holding = true; /* so that nothing overtakes it */
    return why;
}

/* Locked. */
static void cancel(PtcHttpWire *w, PtcLinkJob *job)
{
    atomic_store(&job->cancel.asked, true);
    pthread_cond_broadcast(&w->drained);
}

static void http_forget(PtcLink *l, PtcLinkAsk *ask)
{
    PtcHttpWire *w = l->http;
    PtcLinkJob *job = ask->job;
    if (!job)
        return;
    ask->job = NULL;
    job->ask = NULL;
    ask->delivered |= job->began;
    if (job->began) {
        if (!job->answered)
            cancel(w, job);
        return;
    }
    take_out(job->is_held ? &w->held : &w->queue, job);
    ptc_http_job_free(job);
}

/* ------------------------------------------------------------------------ arrivals */

/* Locked. */
static void push_arrival(PtcHttpWire *w, Arrival *arrival)
{
    arrival->next = NULL;
    *w->arrived_last = arrival;
    w->arrived_last = &arrival->next;
    w->arrived_bytes += arrival->text.len;
    (void)ptc_link_wake(w->link);
}

bool ptc_http_arrive(PtcLinkJob *job, PtcText text, bool endpoint)
{
    PtcLink *l = job->link;
    PtcHttpWire *w = l->http;
    Arrival *arrival = ptc_mem_alloc(l->mem, sizeof *arrival);
    if (!arrival)
        return false;
    *arrival = (Arrival){.job = job, .generation = job->generation, .endpoint = endpoint};
    ptc_buf_init(&arrival->text, l->mem, SIZE_MAX / 4);
    bool ok = ptc_buf_add(&arrival->text, text.bytes, text.len);
    pthread_mutex_lock(&l->lock);
    while (ok && w->arrived_bytes > HTTP_ARRIVED && !ptc_cancelled(&job->cancel))
        pthread_cond_wait(&w->drained, &l->lock);
    ok = ok && !ptc_cancelled(&job->cancel);
    if (ok)
        push_arrival(w, arrival);
    pthread_mutex_unlock(&l->lock);
    if (!ok) {
        ptc_buf_deinit(&arrival->text);
        ptc_mem_free(l->mem, arrival, sizeof *arrival);
    }
    return ok;
}

void ptc_http_end(PtcLinkJob *job)
{
    PtcLink *l = job->link;
    job->last = (Arrival){.job = job, .generation = job->generation, .end = true};
    pthread_mutex_lock(&l->lock);
    push_arrival(l->http, &job->last);
    pthread_mutex_unlock(&l->lock);
}

void ptc_http_set_session(PtcLinkJob *job)
{
    PtcHttpWire *w = job->link->http;
    pthread_mutex_lock(&job->link->lock);
    if (job->generation == w->generation)
        memcpy(w->session, job->session, sizeof w->session);
    pthread_mutex_unlock(&job->link->lock);
}

/* ------------------------------------------------------------------------- sessions */

/* Lets go what was held back; loop. */
static void release_held(PtcLink *l)
{
    PtcHttpWire *w = l->http;
    pthread_mutex_lock(&l->lock);
    w->holding = false;
    while (w->held.first) {
        PtcLinkJob *job = w->held.first;
        take_out(&w->held, job);
        job->is_held = false;
        address(w, job);
        if (!enqueue(w, job)) { /* there were threads before, so this does not happen */
            hold(w, job);
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
            take_out(&l->http->held, job);
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
    ptc_buf_init(&params, l->mem, SIZE_MAX / 4);
    w->renew = (PtcLinkAsk){.done = on_renewed};
    w->renewing = ptc_link_hand_params(l, &params, l->version) &&
                  ptc_link_ask_inner(l, &w->renew, "initialize", ptc_buf_view(&params));
    ptc_buf_deinit(&params);
    if (!w->renewing)
        ptc_link_down(l, PTC_TEXT("its session ended and could not be renewed"));
}

static bool is_lost(const PtcLinkJob *job)
{
    const PtcClientAnswer *a = &job->answer;
    if (a->end != PTC_CLIENT_OK || !job->session[0] || job->opens)
        return false;
    PtcText body = ptc_buf_view(&a->error_body);
    bool about = memmem(body.bytes, body.len, "ession", 6) != NULL;
    return a->status == 404 || (a->status == 400 && about);
}

/* As if it had not been sent. */
static PtcLinkJob *again(PtcLinkJob *job)
{
    job->began = job->answered = job->redirected = job->is_stream = job->heard = false;
    job->bytes = job->text.len = 0;
    return job;
}

/* Sends a request once more in a new session.  False: that was tried already. */
static bool send_again(PtcLink *l, PtcLinkJob *job, PtcLinkAsk *ask)
{
    PtcHttpWire *w = l->http;
    if (ask->resent)
        return false;
    ask->resent = true;
    pthread_mutex_lock(&l->lock);
    bool same = strcmp(job->session, w->session) == 0;
    bool wait = same || w->holding;
    again(job);
    address(w, job);
    job->ask = ask;
    ask->job = job;
    if (wait || !enqueue(w, job))
        hold(w, job);
    pthread_mutex_unlock(&l->lock);
    if (same)
        renew(l);
    return true;
}

/* ------------------------------------------------------------------------------ end */

/* The error object in a body, where a status says what a JSON-RPC error would. */
static PtcText error_in(const PtcLinkJob *job)
{
    const PtcClientAnswer *a = &job->answer;
    PtcText none = {NULL, 0};
    if (a->status < 400 || a->status >= 500 || a->status == 429)
        return none;
    PtcText error = ptc_members_get(ptc_buf_view(&a->error_body), "error");
    return ptc_members_is_object(error) ? error : none;
}

static int64_t retry_after(const PtcClientAnswer *a)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    return a->retry_after[0] ? ptc_retry_after_ms(ptc_text_cstr(a->retry_after), now_ms) : -1;
}

/* A status that is no success. */
static void fill_fault(PtcLinkReply *r, const PtcLinkJob *job)
{
    const PtcClientAnswer *a = &job->answer;
    PtcText error = error_in(job), body = ptc_buf_view(&a->error_body);
    r->retry_after_ms = retry_after(a);
    if (a->status == 401 || a->status == 403) {
        r->end = PTC_LINK_AUTH;
        ptc_buf_add_cstr(&r->text, a->www_authenticate);
    } else if (error.bytes) {
        r->end = PTC_LINK_ERROR;
        ptc_buf_add(&r->text, error.bytes, error.len);
    } else if (a->status >= 300 && a->status < 400) {
        r->end = PTC_LINK_HTTP_FAULT;
        ptc_buf_addf(&r->text,
                     "it redirects (status %d), and not to another place on its own server",
                     a->status);
    } else {
        r->end = PTC_LINK_HTTP_FAULT;
        ptc_buf_addf(&r->text, "it answered with status %d", a->status);
        if (body.len)
            ptc_buf_addf(&r->text, ": %.*s", (int)(body.len < SHOWN ? body.len : SHOWN),
                         body.bytes);
    }
}

static void fill_reply(PtcLinkReply *r, const PtcLinkJob *job)
{
    const PtcClientAnswer *a = &job->answer;
    r->delivered = a->sent;
    r->status = a->status;
    r->bytes = job->bytes + a->error_body.len;
    if (job->no_memory || a->end == PTC_CLIENT_NO_MEMORY) {
        r->end = PTC_LINK_NO_MEMORY;
    } else if (job->too_large || a->end == PTC_CLIENT_TOO_LARGE) {
        r->end = PTC_LINK_TOO_LARGE;
        ptc_buf_addf(&r->text, "its answer has more than %zu bytes", job->link->config.max_message);
    } else if (job->why.len) {
        r->end = PTC_LINK_AUTH;
        r->delivered = false;
        r->own = true;
        ptc_buf_add(&r->text, job->why.data, job->why.len);
    } else if (a->end != PTC_CLIENT_OK) {
        r->end = a->end == PTC_CLIENT_NOT_HTTP ? PTC_LINK_BAD_ANSWER : PTC_LINK_BROKEN;
        ptc_buf_add_cstr(&r->text, a->why);
    } else if (a->status < 200 || a->status > 299) {
        fill_fault(r, job);
    } else {
        r->end = job->is_stream ? PTC_LINK_BROKEN : PTC_LINK_BAD_ANSWER;
        ptc_buf_add_cstr(&r->text, job->is_stream ? "the stream ended without an answer"
                                                  : "what it answered is no answer to the request");
    }
    if (r->end == PTC_LINK_HTTP_FAULT && job->is_stream)
        r->end = PTC_LINK_BROKEN; /* the stream was there, and could not be taken up again */
}

/* The stream of HTTP+SSE is the connection; that of Streamable HTTP is welcome, no more. */
static void listener_ended(PtcLink *l, const PtcLinkJob *job)
{
    if (!job->endless_sse) {
        if (job->answer.status != 405 && job->answer.status != 404 &&
            job->answer.end != PTC_CLIENT_CANCELLED)
            ptc_link_log(l, "its stream of messages ended (status %d)", job->answer.status);
        return;
    }
    PtcLinkReply r = ptc_link_reply(l, PTC_LINK_BROKEN);
    fill_reply(&r, job);
    if (r.end == PTC_LINK_AUTH) {
        ptc_buf_clear(&l->auth);
        if (!r.own)
            ptc_buf_add_cstr(&l->auth, r.text.len ? job->answer.www_authenticate : "Bearer");
        l->refused = true;
    }
    PtcText why = r.text.len ? ptc_buf_view(&r.text) : PTC_TEXT("its stream ended");
    ptc_link_down(l, why);
    ptc_buf_deinit(&r.text);
}

/* The job is freed, unless it is sent again. */
static void post_ended(PtcLink *l, PtcLinkJob *job, PtcLinkAsk *ask)
{
    const PtcClientAnswer *a = &job->answer;
    bool taken = a->end == PTC_CLIENT_OK && a->status >= 200 && a->status <= 299;
    if (taken && l->http->sse) { /* the answer comes by the stream */
        ask->delivered = true;
        ptc_http_job_free(job);
        return;
    }
    bool lost = is_lost(job);
    if (lost && send_again(l, job, ask))
        return;
    PtcLinkReply reply = ptc_link_reply(l, PTC_LINK_BROKEN);
    fill_reply(&reply, job);
    reply.session_lost = lost;
    ptc_http_job_free(job);
    if (ptc_link_take_ask(l, ask->id))
        ptc_link_end_ask(l, ask, &reply);
    else
        ptc_buf_deinit(&reply.text);
}

static void job_ended(PtcLink *l, PtcLinkJob *job)
{
    PtcHttpWire *w = l->http;
    pthread_mutex_lock(&l->lock);
    take_out(&w->active, job);
    PtcLinkAsk *ask = job->ask;
    bool stale = job->generation != w->generation;
    if (ask)
        ask->job = NULL;
    job->ask = NULL;
    pthread_mutex_unlock(&l->lock);
    if (!stale && job->gates)
        release_held(l);
    if (!stale && ask) {
        post_ended(l, job, ask);
        return;
    }
    if (!stale && job->kind == JOB_LISTEN)
        listener_ended(l, job);
    ptc_http_job_free(job);
}

/* Where to post to, as an event says: a path, or an address on the same server. */
static void take_endpoint(PtcLink *l, PtcText text)
{
    PtcHttpWire *w = l->http;
    PtcUrl here, there;
    const char *why;
    char url[PTC_URL_BYTES + 1];
    if (!ptc_url_parse(ptc_text_cstr(l->config.url), &here, &why))
        return;
    int origin = (int)(here.path.bytes - l->config.url);
    bool path = text.len && text.bytes[0] == '/' && (text.len < 2 || text.bytes[1] != '/');
    int n = snprintf(url, sizeof url, "%.*s%.*s", path ? origin : 0, l->config.url, (int)text.len,
                     text.bytes);
    if (n < 0 || (size_t)n >= sizeof url || !ptc_url_parse(ptc_text_cstr(url), &there, &why) ||
        !ptc_url_same_server(&here, &there)) {
        ptc_link_down(l, PTC_TEXT("it wants messages sent to another server"));
        return;
    }
    pthread_mutex_lock(&l->lock);
    memcpy(w->endpoint, url, (size_t)n + 1);
    pthread_mutex_unlock(&l->lock);
    release_held(l);
}

static void take_arrival(PtcLink *l, Arrival *arrival)
{
    if (arrival->end) {
        job_ended(l, arrival->job);
        return;
    }
    if (arrival->generation == l->http->generation) {
        PtcText text = ptc_buf_view(&arrival->text);
        if (arrival->endpoint)
            take_endpoint(l, text);
        else if (!ptc_link_take_message(l, text) && l->junk++ == 0)
            ptc_link_log(l, "something that it sent is no message and was skipped: %.*s",
                         (int)(text.len < 80 ? text.len : 80), text.bytes);
    }
    ptc_buf_deinit(&arrival->text);
    ptc_mem_free(l->mem, arrival, sizeof *arrival);
}

static void http_wake(PtcLink *l)
{
    PtcHttpWire *w = l->http;
    pthread_mutex_lock(&l->lock);
    Arrival *list = w->arrived;
    w->arrived = NULL;
    w->arrived_last = &w->arrived;
    w->arrived_bytes = 0;
    pthread_cond_broadcast(&w->drained);
    pthread_mutex_unlock(&l->lock);
    while (list) {
        Arrival *arrival = list;
        list = arrival->next;
        take_arrival(l, arrival);
    }
}

/* ----------------------------------------------------------------------------- life */

/* Loop.  A stream of messages: that of HTTP+SSE, or the one that a session may have. */
static bool start_listener(PtcLink *l)
{
    PtcHttpWire *w = l->http;
    PtcLinkJob *job = ptc_http_job_new(l, JOB_LISTEN);
    if (!job)
        return false;
    job->forever = true;
    job->endless_sse = w->sse;
    pthread_mutex_lock(&l->lock);
    job->generation = w->generation;
    snprintf(job->url, sizeof job->url, "%s", l->config.url);
    snprintf(job->session, sizeof job->session, "%s", w->session);
    if (!w->sse)
        snprintf(job->version, sizeof job->version, "%s", l->version);
    bool ok = enqueue(w, job);
    pthread_mutex_unlock(&l->lock);
    if (!ok)
        ptc_http_job_free(job);
    return ok;
}

static bool http_open(PtcLink *l, PtcBuf *why)
{
    PtcHttpWire *w = l->http;
    if (!l->config.http || !l->config.url || strlen(l->config.url) > PTC_URL_BYTES) {
        ptc_buf_add_cstr(why, "it has no address");
        return false;
    }
    pthread_mutex_lock(&l->lock);
    w->generation++;
    w->session[0] = 0;
    w->holding = w->sse;
    snprintf(w->endpoint, sizeof w->endpoint, "%s", l->config.url);
    pthread_mutex_unlock(&l->lock);
    if (!w->sse || start_listener(l))
        return true;
    ptc_buf_add_cstr(why, "no thread could be started");
    return false;
}

static void http_ready(PtcLink *l)
{
    if (!l->http->sse && l->era == PTC_LINK_LEGACY)
        (void)start_listener(l);
}

static bool http_other_way(PtcLink *l)
{
    if (l->config.transport != PTC_LINK_HTTP_OR_SSE || l->http->sse)
        return false;
    l->http->sse = true;
    return true;
}

/* Locked.  The server is told that the session is not needed any more; nobody waits for what it says. */
static void say_goodbye(PtcHttpWire *w)
{
    PtcLinkJob *job = w->session[0] && !w->sse ? ptc_http_job_new(w->link, JOB_DELETE) : NULL;
    if (!job)
        return;
    address(w, job);
    snprintf(job->version, sizeof job->version, "%s", w->link->version);
    if (!enqueue(w, job))
        ptc_http_job_free(job);
    w->session[0] = 0;
}

/* But for farewells of an earlier session. */
static void free_waiting(Jobs *jobs)
{
    for (PtcLinkJob *job = jobs->first, *next; job; job = next) {
        next = job->next;
        if (job->kind == JOB_DELETE)
            continue;
        take_out(jobs, job);
        if (job->ask)
            job->ask->job = NULL;
        ptc_http_job_free(job);
    }
}

static void http_shut(PtcLink *l)
{
    PtcHttpWire *w = l->http;
    if (w->renewing)
        ptc_link_drop_ask(l, &w->renew);
    w->renewing = false;
    pthread_mutex_lock(&l->lock);
    w->generation++;
    free_waiting(&w->queue);
    free_waiting(&w->held);
    for (PtcLinkJob *job = w->active.first; job; job = job->next) {
        if (job->ask) {
            job->ask->delivered = true;
            job->ask->job = NULL;
        }
        job->ask = NULL;
        if (job->kind != JOB_DELETE)
            cancel(w, job);
    }
    w->holding = false;
    say_goodbye(w);
    pthread_mutex_unlock(&l->lock);
}

static void http_explain(PtcLink *l, PtcBuf *why)
{
    (void)l;
    (void)why;
}

bool ptc_http_wire_new(PtcLink *l)
{
    PtcHttpWire *w = ptc_mem_alloc(l->mem, sizeof *w);
    if (!w)
        return false;
    memset(w, 0, sizeof *w);
    w->link = l;
    w->sse = l->config.transport == PTC_LINK_SSE;
    w->queue.last = &w->queue.first;
    w->held.last = &w->held.first;
    w->active.last = &w->active.first;
    w->arrived_last = &w->arrived;
    pthread_cond_init(&w->work, NULL);
    pthread_cond_init(&w->drained, NULL);
    l->http = w;
    return true;
}

bool ptc_http_wire_is_sse(const PtcLink *l)
{
    return l->http && l->http->sse;
}

/* The loop has shut it, so what is left are jobs that nobody waits for. */
void ptc_http_wire_free(PtcLink *l)
{
    PtcHttpWire *w = l->http;
    pthread_mutex_lock(&l->lock);
    w->quit = true;
    pthread_cond_broadcast(&w->work);
    pthread_mutex_unlock(&l->lock);
    for (size_t i = 0; i < w->thread_count; i++)
        pthread_join(w->threads[i], NULL);
    for (Arrival *arrival = w->arrived, *next; arrival; arrival = next) {
        next = arrival->next;
        if (arrival->end) {
            ptc_http_job_free(arrival->job);
            continue;
        }
        ptc_buf_deinit(&arrival->text);
        ptc_mem_free(l->mem, arrival, sizeof *arrival);
    }
    pthread_cond_destroy(&w->work);
    pthread_cond_destroy(&w->drained);
    ptc_mem_free(l->mem, w, sizeof *w);
    l->http = NULL;
}

const Wire ptc_http_wire = {
    .open = http_open,
    .send = http_send,
    .forget = http_forget,
    .wake = http_wake,
    .ready = http_ready,
    .other_way = http_other_way,
    .shut = http_shut,
    .explain = http_explain,
};
