/* SPDX-License-Identifier: MIT
 * The jobs of a link over HTTP, and the threads that do them, which are started when all others are busy.  What always
 * holds: a job is in the queue, held back, or under way. */
#include <stdio.h>

#include "base/os/thread.h"
#include "mcp/client/wire_http_int.h"

enum { QUEUE_STACK = 256 * PTC_KB };

static void http_queue_append(PtcHttpJobs *jobs, PtcLinkJob *job)
{
    job->next = NULL;
    job->at = jobs->last;
    *jobs->last = job;
    jobs->last = &job->next;
}

void ptc_http_queue_take(PtcHttpJobs *jobs, PtcLinkJob *job)
{
    *job->at = job->next;
    if (job->next)
        job->next->at = job->at;
    else
        jobs->last = job->at;
    job->next = NULL;
    job->at = NULL;
}

static void *run_wire_thread(void *user)
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
        ptc_http_queue_take(&w->queue, job);
        http_queue_append(&w->active, job);
        job->began = true;
        pthread_mutex_unlock(&l->lock);
        ptc_http_job_run(job);
        pthread_mutex_lock(&l->lock);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

static size_t count_http_jobs(const PtcHttpJobs *jobs)
{
    size_t n = 0;
    for (const PtcLinkJob *job = jobs->first; job; job = job->next)
        n++;
    return n;
}

bool ptc_http_queue_add(PtcHttpWire *w, PtcLinkJob *job)
{
    http_queue_append(&w->queue, job);
    if (count_http_jobs(&w->queue) > w->idle && w->thread_count < HTTP_ALL_THREADS &&
        ptc_thread_start(&w->threads[w->thread_count], QUEUE_STACK, run_wire_thread, w))
        w->thread_count++;
    if (w->thread_count == 0) {
        ptc_http_queue_take(&w->queue, job);
        return false;
    }
    pthread_cond_signal(&w->work);
    return true;
}

void ptc_http_queue_hold(PtcHttpWire *w, PtcLinkJob *job)
{
    http_queue_append(&w->held, job);
    job->is_held = true;
}

void ptc_http_queue_address(PtcHttpWire *w, PtcLinkJob *job)
{
    snprintf(job->url, sizeof job->url, "%s", w->endpoint);
    snprintf(job->session, sizeof job->session, "%s", job->opens ? "" : w->session);
}

void ptc_http_queue_cancel(PtcHttpWire *w, PtcLinkJob *job)
{
    atomic_store(&job->cancel.asked, true);
    pthread_cond_broadcast(&w->drained);
}
