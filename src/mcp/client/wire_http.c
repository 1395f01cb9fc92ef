/* SPDX-License-Identifier: MIT
 * A link over HTTP: what is sent becomes a job, what arrives is taken on the loop.  What always holds: a job ends on
 * the loop; an ask and its job point to each other or not at all; nobody waits for a job whose generation is not the
 * link's. */
#include <stdio.h>
#include <strings.h>

#include "json/members.h"
#include "mcp/client/header_value.h"
#include "mcp/client/wire_http_int.h"

/* -------------------------------------------------------------------------- sending */

/* The name that a request is about, for Mcp-Name. */
static void add_name_header(PtcLink *l, PtcLinkJob *job, const Outgoing *o)
{
    bool task = strncmp(o->method, "tasks/", strlen("tasks/")) == 0;
    const char *field = strcmp(o->method, "resources/read") == 0 ? "uri" : task ? "taskId" : "name";
    if (field[0] == 'n' && strcmp(o->method, "tools/call") != 0 &&
        strcmp(o->method, "prompts/get") != 0)
        return;
    PtcLinkScratch s;
    ptc_link_scratch_init(&s, l);
    PtcText name = ptc_link_scratch_text(&s, ptc_members_get(o->params, field));
    if (name.bytes) {
        ptc_buf_add_cstr(&job->headers, "Mcp-Name: ");
        ptc_header_value_add(&job->headers, name);
        ptc_buf_add(&job->headers, "\n", 1);
    }
    ptc_link_scratch_deinit(&s);
}

/* The caller's lines, except those that we write ourselves. */
static void add_caller_lines(PtcLinkJob *job, PtcText lines)
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

/* Locked. */
static void fill_job(PtcLink *l, PtcLinkJob *job, const Outgoing *o)
{
    bool modern = l->era == PTC_LINK_MODERN;
    job->generation = l->http->generation;
    job->ask = o->ask;
    job->unasked = o->ask == NULL;
    atomic_fetch_add(&l->unasked, job->unasked);
    job->id = o->ask ? o->ask->id : 0;
    job->opens = strcmp(o->method, "initialize") == 0;
    job->gates = strcmp(o->method, "notifications/initialized") == 0 && !l->http->sse;
    job->forever = strcmp(o->method, "subscriptions/listen") == 0;
    job->resumable = !modern;
    if (!job->opens)
        snprintf(job->version, sizeof job->version, "%s", l->version);
    if (modern && *o->method) {
        ptc_buf_addf(&job->headers, "Mcp-Method: %s\n", o->method);
        add_name_header(l, job, o);
    }
    add_caller_lines(job, o->headers);
    job->body = *o->text;
    ptc_buf_init(o->text, l->mem, PTC_UNBOUNDED);
}

static const char *http_send(PtcLink *l, const Outgoing *o)
{
    PtcHttpWire *w = l->http;
    if (l->state != PTC_LINK_READY && l->state != PTC_LINK_CONNECTING)
        return "it is not connected";
    if (!o->ask && atomic_load(&l->unasked) >= UNASKED)
        return "it does not take what was sent before";
    PtcLinkJob *job = ptc_http_job_new(l, JOB_POST);
    if (!job)
        return "out of memory";
    fill_job(l, job, o);
    ptc_http_queue_address(w, job);
    const char *why = NULL;
    bool passes = (job->opens || job->gates) && !w->sse, gates = job->gates;
    if (!ptc_buf_ok(&job->headers))
        why = "its headers are too long, or there is no memory for them";
    else if (w->holding && !passes)
        ptc_http_queue_hold(w, job);
    else if (!ptc_http_queue_add(w, job))
        why = "no thread could be started";
    if (why)
        ptc_http_job_free(job);
    else if (o->ask)
        o->ask->job = job;
    if (!why && gates)
        w->holding = true; /* so that nothing overtakes it */
    return why;
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
            ptc_http_queue_cancel(w, job);
        return;
    }
    ptc_http_queue_take(job->is_held ? &w->held : &w->queue, job);
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
    ptc_buf_init(&arrival->text, l->mem, PTC_UNBOUNDED);
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

/* ------------------------------------------------------------------------------ end */

/* The stream of HTTP+SSE is the connection; that of Streamable HTTP is welcome, no more. */
static void listener_ended(PtcLink *l, const PtcLinkJob *job)
{
    if (!job->endless_sse) {
        if (job->answer.status != 405 && job->answer.status != 404 &&
            job->answer.why.code != PTC_CLIENT_CANCELLED)
            ptc_link_log(l, "its stream of messages ended (status %d)", job->answer.status);
        return;
    }
    PtcLinkReply r = ptc_link_reply(l, PTC_LINK_BROKEN);
    ptc_http_outcome(&r, job);
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
    bool taken = ptc_client_answered(a) && a->status >= 200 && a->status <= 299;
    if (taken && l->http->sse) { /* the answer comes by the stream */
        ask->delivered = true;
        ptc_http_job_free(job);
        return;
    }
    bool lost = ptc_http_renew_is_lost(job);
    if (lost && ptc_http_renew_send_again(l, job, ask))
        return;
    PtcLinkReply reply = ptc_link_reply(l, PTC_LINK_BROKEN);
    ptc_http_outcome(&reply, job);
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
    ptc_http_queue_take(&w->active, job);
    PtcLinkAsk *ask = job->ask;
    bool stale = job->generation != w->generation;
    if (ask)
        ask->job = NULL;
    job->ask = NULL;
    pthread_mutex_unlock(&l->lock);
    if (!stale && job->gates)
        ptc_http_renew_release(l);
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
    char url[PTC_URL_BYTES + 1];
    if (!ptc_url_parse(ptc_text_cstr(l->config.url), &here, NULL))
        return;
    int origin = (int)(here.path.bytes - l->config.url);
    bool path = text.len && text.bytes[0] == '/' && (text.len < 2 || text.bytes[1] != '/');
    int n = snprintf(url, sizeof url, "%.*s%.*s", PTC_ARG_OF(l->config.url, path ? origin : 0),
                     PTC_ARG(text));
    if (n < 0 || (size_t)n >= sizeof url || !ptc_url_parse(ptc_text_cstr(url), &there, NULL) ||
        !ptc_url_same_server(&here, &there)) {
        ptc_link_down(l, PTC_TEXT("it wants messages sent to another server"));
        return;
    }
    pthread_mutex_lock(&l->lock);
    memcpy(w->endpoint, url, (size_t)n + 1);
    pthread_mutex_unlock(&l->lock);
    ptc_http_renew_release(l);
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
            ptc_link_log(l, "something that it sent is not a message and was skipped: %.*s",
                         PTC_ARG(ptc_text_cut(text, 80)));
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
    bool ok = ptc_http_queue_add(w, job);
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
    ptc_http_queue_address(w, job);
    snprintf(job->version, sizeof job->version, "%s", w->link->version);
    if (!ptc_http_queue_add(w, job))
        ptc_http_job_free(job);
    w->session[0] = 0;
}

/* But for farewells of an earlier session. */
static void free_waiting(PtcHttpJobs *jobs)
{
    for (PtcLinkJob *job = jobs->first, *next; job; job = next) {
        next = job->next;
        if (job->kind == JOB_DELETE)
            continue;
        ptc_http_queue_take(jobs, job);
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
            ptc_http_queue_cancel(w, job);
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
