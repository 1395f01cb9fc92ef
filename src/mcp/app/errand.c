/* SPDX-License-Identifier: MIT
 * What always holds: while an errand works, the thread that it works for waits, so a call is used by one thread at a
 * time; an errand that nobody holds is cancelled, and its thread is joined before anything it uses is freed. */
#include "mcp/app/errand.h"

#include "base/os/cancel.h"
#include "base/os/thread.h"

enum { STACK = 8 * 1024 * 1024 }; /* programs of a task run on it */

void ptc_errands_init(PtcErrands *all, PtcMem *mem)
{
    *all = (PtcErrands){.mem = mem};
    pthread_mutex_init(&all->lock, NULL);
}

void ptc_errand_bufs(PtcAppTask *t, PtcBuf *list[PTC_ERRAND_BUFS])
{
    PtcBuf *all[PTC_ERRAND_BUFS] = {&t->message, &t->answer,  &t->result,  &t->program,
                                    &t->ledger,  &t->effects, &t->planner, &t->warnings};
    memcpy(list, all, sizeof all);
}

/* ------------------------------------------------------------------------------------ ending */

static void destroy(PtcErrand *e)
{
    PtcBuf *list[PTC_ERRAND_BUFS];
    pthread_join(e->thread, NULL);
    ptc_errand_bufs(&e->task, list);
    for (size_t i = 0; i < PTC_ERRAND_BUFS; i++)
        ptc_buf_deinit(list[i]);
    pthread_cond_destroy(&e->changed);
    pthread_mutex_destroy(&e->lock);
    ptc_mem_free(e->all->mem, e->texts, e->texts_len);
    ptc_mem_free(e->all->mem, e, sizeof *e);
}

static bool is_done(PtcErrand *e)
{
    pthread_mutex_lock(&e->lock);
    bool done = e->state == PTC_ERRAND_DONE;
    pthread_mutex_unlock(&e->lock);
    return done;
}

/* Takes those out of the list that have ended, or all. */
static void sweep(PtcErrands *all, bool wait)
{
    PtcErrand *ended = NULL;
    pthread_mutex_lock(&all->lock);
    for (PtcErrand **at = &all->left, *e; (e = *at);) {
        if (!wait && !is_done(e)) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        e->next = ended;
        ended = e;
    }
    pthread_mutex_unlock(&all->lock);
    for (PtcErrand *e = ended, *next; e; e = next) {
        next = e->next;
        destroy(e);
    }
}

void ptc_errands_deinit(PtcErrands *all)
{
    sweep(all, true);
    pthread_mutex_destroy(&all->lock);
}

void ptc_errand_free(PtcErrand *e)
{
    PtcErrands *all = e->all;
    if (is_done(e)) {
        destroy(e);
        return;
    }
    ptc_cancel_ask(&e->cancel);
    pthread_mutex_lock(&all->lock);
    e->next = all->left;
    all->left = e;
    pthread_mutex_lock(&e->lock);
    e->over = true;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    pthread_mutex_unlock(&all->lock);
}

/* -------------------------------------------------------------------------------- its thread */

static void set_state(PtcErrand *e, PtcErrandState state)
{
    e->state = state;
    pthread_cond_broadcast(&e->changed);
}

/* PtcAppTask.ask */
static bool ask(PtcAppTask *task, void *run)
{
    PtcErrand *e = (PtcErrand *)(void *)((char *)task - offsetof(PtcErrand, task));
    pthread_mutex_lock(&e->lock);
    e->run = run;
    set_state(e, PTC_ERRAND_ASKS);
    while (e->state == PTC_ERRAND_ASKS && !e->over)
        pthread_cond_wait(&e->changed, &e->lock);
    bool answered = !e->over;
    pthread_mutex_unlock(&e->lock);
    return answered;
}

/* The turn is that of the call it works for; an errand that is over has none. */
static void leave(void *user)
{
    PtcErrand *e = user;
    if (e->call)
        ptc_mcp_pause(e->call);
}

static void enter(void *user)
{
    PtcErrand *e = user;
    if (e->call)
        ptc_mcp_resume(e->call);
}

/* Calls come and go while the task continues, so the listener is looked up for every line. */
static void on_progress(PtcRemoteListener *listener, PtcText line)
{
    PtcErrand *e = (PtcErrand *)(void *)((char *)listener - offsetof(PtcErrand, listener));
    pthread_mutex_lock(&e->lock);
    if (e->heard)
        e->heard->progress(e->heard, line);
    pthread_mutex_unlock(&e->lock);
}

static void *work(void *user)
{
    PtcErrand *e = user;
    e->tasks->run(e->tasks->user, &e->task);
    pthread_mutex_lock(&e->lock);
    set_state(e, PTC_ERRAND_DONE);
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

/* ------------------------------------------------------------------------------------ making */

/* The texts of the task, one behind the other; the owner ends with a NUL. */
static bool copy_texts(PtcErrand *e)
{
    PtcText owner = {e->task.owner, strlen(e->task.owner) + 1};
    PtcText *texts[] = {&owner, &e->task.task, &e->task.context, &e->task.traceparent};
    enum { TEXTS = sizeof texts / sizeof *texts };
    for (size_t i = 0; i < TEXTS; i++)
        e->texts_len += texts[i]->len;
    char *to = e->texts = ptc_mem_alloc(e->all->mem, e->texts_len);
    for (size_t i = 0; to && i < TEXTS; i++) {
        if (!texts[i]->bytes)
            continue;
        memcpy(to, texts[i]->bytes, texts[i]->len);
        texts[i]->bytes = to;
        to += texts[i]->len;
    }
    e->task.owner = owner.bytes;
    return e->texts != NULL;
}

static void init(PtcErrand *e, PtcErrands *all, const PtcAppTasks *tasks, const PtcAppTask *task,
                 PtcMcpCall *call)
{
    PtcBuf *from[PTC_ERRAND_BUFS], *to[PTC_ERRAND_BUFS];
    PtcAppTask given = *task;
    memset(e, 0, sizeof *e);
    e->all = all;
    e->tasks = tasks;
    e->task = given;
    ptc_errand_bufs(&given, from);
    ptc_errand_bufs(&e->task, to);
    for (size_t i = 0; i < PTC_ERRAND_BUFS; i++)
        ptc_buf_init(to[i], all->mem, from[i]->max);
    e->turn = (PtcTaskTurn){leave, enter, e};
    e->task.turn = &e->turn;
    e->listener.progress = on_progress;
    e->task.listener = &e->listener;
    e->task.cancel = &e->cancel;
    e->task.ask = ask;
    e->call = call;
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->changed, NULL);
}

PtcErrand *ptc_errand_new(PtcErrands *all, const PtcAppTasks *tasks, const PtcAppTask *task,
                          PtcMcpCall *call)
{
    sweep(all, false);
    PtcErrand *e = ptc_mem_alloc(all->mem, sizeof *e);
    if (!e)
        return NULL;
    init(e, all, tasks, task, call);
    if (copy_texts(e) && ptc_thread_start(&e->thread, STACK, work, e))
        return e;
    pthread_cond_destroy(&e->changed);
    pthread_mutex_destroy(&e->lock);
    ptc_mem_free(all->mem, e->texts, e->texts ? e->texts_len : 0);
    ptc_mem_free(all->mem, e, sizeof *e);
    return NULL;
}

/* ----------------------------------------------------------------------------------- waiting */

static void on_cancel(void *user)
{
    PtcErrand *e = user;
    ptc_cancel_ask(&e->cancel);
}

void ptc_errand_go_on(PtcErrand *e, PtcMcpCall *call)
{
    pthread_mutex_lock(&e->lock);
    e->call = call;
    set_state(e, PTC_ERRAND_WORKS);
    pthread_mutex_unlock(&e->lock);
}

PtcErrandState ptc_errand_await(PtcErrand *e, PtcMcpCall *call, PtcRemoteListener *listener)
{
    ptc_mcp_on_cancel(call, on_cancel, e);
    pthread_mutex_lock(&e->lock);
    e->heard = listener;
    while (e->state == PTC_ERRAND_WORKS)
        pthread_cond_wait(&e->changed, &e->lock);
    e->call = NULL;
    e->heard = NULL;
    PtcErrandState state = e->state;
    pthread_mutex_unlock(&e->lock);
    ptc_mcp_on_cancel(call, NULL, NULL);
    return state;
}
