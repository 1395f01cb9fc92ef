/* SPDX-License-Identifier: MIT
 * The threads of a service and what they have to do.  What always holds: a job is in the queue or under way; the thread
 * that took it ends it, once, and frees it; the lock is never held while others are called. */
#include "upstream/openapi/service_int.h"

#include <stdio.h>

#include "base/os/thread.h"
#include "base/text/secret.h"

enum {
    SERVICE_STACK = 512 * PTC_KB,
    HEADER_BYTES = 256 * PTC_KB,
    SERVICE_WHY_BYTES = 2048,
    PROBE_MS = 10 * 1000
};

/* ------------------------------------------------------------------------------------- jobs */

static PtcServiceJob *new_job(PtcService *s, PtcServiceWork work)
{
    PtcServiceJob *job = ptc_mem_alloc(s->mem, sizeof *job);
    if (!job)
        return NULL;
    memset(job, 0, sizeof *job);
    job->service = s;
    job->work = work;
    job->most = s->config.entry->max_response;
    ptc_buf_init(&job->text, s->mem, job->most);
    ptc_buf_init(&job->lines, s->mem, HEADER_BYTES);
    ptc_buf_init(&job->query, s->mem, PTC_URL_BYTES);
    return job;
}

static void free_service_job(PtcServiceJob *job)
{
    if (job->lines.data)
        ptc_secret_wipe(job->lines.data, job->lines.cap);
    if (job->query.data)
        ptc_secret_wipe(job->query.data, job->query.cap);
    ptc_buf_deinit(&job->text);
    ptc_buf_deinit(&job->lines);
    ptc_buf_deinit(&job->query);
    ptc_client_answer_deinit(&job->answer);
    ptc_mem_free(job->service->mem, job, sizeof *job);
}

static void put_active(PtcService *s, PtcServiceJob *job)
{
    job->next = s->active;
    job->at = &s->active;
    if (s->active)
        s->active->at = &job->next;
    s->active = job;
}

static void take_active(PtcServiceJob *job)
{
    *job->at = job->next;
    if (job->next)
        job->next->at = job->at;
}

/* -------------------------------------------------------------------------------- what is done */

static void note_origin(PtcService *s, const PtcServiceJob *job)
{
    PtcUrl url;
    if (!ptc_url_parse(ptc_text_cstr(job->url), &url, NULL))
        return;
    pthread_mutex_lock(&s->lock);
    snprintf(s->origin, sizeof s->origin, "%.*s/", PTC_ARG_OF(job->url, url.path.bytes - job->url));
    s->origin_outside = job->request.outside;
    pthread_mutex_unlock(&s->lock);
}

static void call_service(PtcService *s, PtcServiceJob *job)
{
    PtcLinkReply reply = {.end = PTC_LINK_BROKEN, .retry_after_ms = -1};
    ptc_buf_init(&reply.text, s->mem, s->config.entry->max_response + SERVICE_WHY_BYTES);
    ptc_service_send(job);
    if (!ptc_client_answered(&job->answer) || job->answer.status >= 500)
        note_origin(s, job);
    ptc_service_reply(job, &reply);
    job->ask->done(job->ask, &reply); /* the ask, and what the request points to, may be gone now */
    ptc_buf_deinit(&reply.text);
}

/* Asks for nothing in particular, without credentials: any answer but that of a gateway will do. */
static bool probe_service_origin(PtcService *s, PtcServiceJob *job)
{
    pthread_mutex_lock(&s->lock);
    bool doubt = s->doubt && s->origin[0], outside = s->origin_outside;
    snprintf(job->url, sizeof job->url, "%s", s->origin);
    pthread_mutex_unlock(&s->lock);
    if (!doubt)
        return true;
    PtcClientRequest r = {.method = "HEAD",
                          .url = job->url,
                          .plain = s->config.entry->insecure_http,
                          .outside = outside,
                          .max_body = job->most,
                          .connect_ms = s->config.entry->connect_ms,
                          .total_ms = PROBE_MS,
                          .deadline_ns = INT64_MAX,
                          .cancel = &job->cancel};
    ptc_client_send(s->config.http, s->mem, &r, &job->answer);
    const PtcClientAnswer *a = &job->answer;
    bool gateway = a->status >= 502 && a->status <= 504;
    if (ptc_client_answered(a) && !gateway)
        return true;
    return ptc_why_say(&job->why, PTC_WHY_UNAVAILABLE, "%s",
                       ptc_client_answered(a) ? "its gateway answers instead of it" : a->why.text);
}

static void connect(PtcService *s, PtcServiceJob *job)
{
    bool there = probe_service_origin(s, job);
    pthread_mutex_lock(&s->lock);
    s->doubt = s->doubt && !there;
    bool quit = s->quit;
    pthread_mutex_unlock(&s->lock);
    if (!quit)
        s->config.state(s->config.user, there ? PTC_LINK_READY : PTC_LINK_DOWN,
                        there ? (PtcText){"", 0} : ptc_text_cstr(job->why.text));
}

static void list_service_tools(PtcService *s, PtcServiceJob *job)
{
    PtcLinkReply reply = {.end = PTC_LINK_ANSWER, .retry_after_ms = -1};
    PtcBuf document;
    PtcWhy why;
    ptc_buf_init(&reply.text, s->mem, SERVICE_WHY_BYTES);
    ptc_buf_init(&document, s->mem, 4 * s->config.entry->schema_max);
    if (ptc_service_load(job, &document, &why)) {
        ptc_buf_deinit(&reply.text);
        reply.text = document;
    } else {
        reply.end = PTC_LINK_BROKEN;
        ptc_buf_add_cstr(&reply.text, why.text);
        ptc_buf_deinit(&document);
    }
    job->list->listed(job->list, &reply);
    ptc_buf_deinit(&reply.text);
}

/* ---------------------------------------------------------------------------------- threads */

static void run_service_job(PtcServiceJob *job)
{
    switch (job->work) {
    case PTC_SERVICE_CONNECT: connect(job->service, job); break;
    case PTC_SERVICE_LIST: list_service_tools(job->service, job); break;
    case PTC_SERVICE_CALL: call_service(job->service, job); break;
    }
}

static void *run_service_thread(void *user)
{
    PtcService *s = user;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (!s->first && !s->quit) {
            s->idle++;
            pthread_cond_wait(&s->work, &s->lock);
            s->idle--;
        }
        PtcServiceJob *job = s->first;
        if (!job)
            break;
        s->first = job->next;
        if (!s->first)
            s->last = &s->first;
        s->queued--;
        put_active(s, job);
        pthread_mutex_unlock(&s->lock);
        run_service_job(job);
        pthread_mutex_lock(&s->lock);
        take_active(job);
        free_service_job(job);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* False: no thread can do it, and the job was freed. */
static bool enqueue_service_job(PtcService *s, PtcServiceJob *job)
{
    if (!job)
        return false;
    pthread_mutex_lock(&s->lock);
    bool more = s->queued + 1 > s->idle && s->thread_count < PTC_SERVICE_THREADS && !s->quit;
    if (more &&
        ptc_thread_start(&s->threads[s->thread_count], SERVICE_STACK, run_service_thread, s))
        s->thread_count++;
    bool ok = s->thread_count > 0 && !s->quit;
    if (ok) {
        job->next = NULL;
        *s->last = job;
        s->last = &job->next;
        s->queued++;
        pthread_cond_signal(&s->work);
    }
    pthread_mutex_unlock(&s->lock);
    if (!ok)
        free_service_job(job);
    return ok;
}

/* ------------------------------------------------------------------------------------ asked */

PtcService *ptc_service_new(PtcMem *mem, const PtcServiceConfig *config)
{
    PtcService *s = ptc_mem_alloc(mem, sizeof *s);
    if (!s)
        return NULL;
    memset(s, 0, sizeof *s);
    s->mem = mem;
    s->config = *config;
    s->last = &s->first;
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->token_lock, NULL);
    ptc_secret_ring_init(&s->tokens, config->credentials);
    pthread_cond_init(&s->work, NULL);
    return s;
}

bool ptc_service_connect(PtcService *s)
{
    return enqueue_service_job(s, new_job(s, PTC_SERVICE_CONNECT));
}

void ptc_service_doubt(PtcService *s)
{
    pthread_mutex_lock(&s->lock);
    s->doubt = true;
    pthread_mutex_unlock(&s->lock);
}

bool ptc_service_list(PtcService *s, PtcLinkList *wanted)
{
    PtcServiceJob *job = new_job(s, PTC_SERVICE_LIST);
    if (job) {
        job->list = wanted;
        job->end_ns = wanted->ask.end_ns;
        job->most = s->config.entry->schema_max;
        job->text.max = job->most;
    }
    return enqueue_service_job(s, job);
}

bool ptc_service_ask(PtcService *s, PtcLinkAsk *ask, const PtcServiceRequest *request)
{
    PtcServiceJob *job = new_job(s, PTC_SERVICE_CALL);
    if (job) {
        job->ask = ask;
        job->request = *request;
        job->end_ns = ask->end_ns;
    }
    return enqueue_service_job(s, job);
}

static void cancel_service_jobs(PtcServiceJob *list, const PtcLinkAsk *ask)
{
    for (PtcServiceJob *job = list; job; job = job->next)
        if (!ask || job->ask == ask)
            atomic_store(&job->cancel.asked, true);
}

void ptc_service_cancel(PtcService *s, const PtcLinkAsk *ask)
{
    pthread_mutex_lock(&s->lock);
    cancel_service_jobs(s->first, ask);
    cancel_service_jobs(s->active, ask);
    pthread_mutex_unlock(&s->lock);
}

void ptc_service_free(PtcService *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->quit = true;
    cancel_service_jobs(s->first, NULL);
    cancel_service_jobs(s->active, NULL);
    pthread_cond_broadcast(&s->work);
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < s->thread_count; i++)
        pthread_join(s->threads[i], NULL);
    pthread_cond_destroy(&s->work);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->token_lock);
    ptc_secret_ring_deinit(&s->tokens);
    ptc_secret_wipe(s->token, sizeof s->token);
    ptc_mem_free(s->mem, s, sizeof *s);
}
