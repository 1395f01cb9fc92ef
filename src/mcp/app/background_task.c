/* SPDX-License-Identifier: MIT
 * What always holds: while a task works, the thread that it works for waits, so a call is used by one thread at a
 * time; a task that nobody holds is cancelled, and its thread is joined before anything it uses is freed. */
#include "mcp/app/background_task.h"

#include "base/os/cancel.h"
#include "base/os/thread.h"

enum { BACKGROUND_STACK = 8 * PTC_MB }; /* programs of a task run on it */

void ptc_background_tasks_init(PtcBackgroundTasks *all, PtcMem *mem)
{
    *all = (PtcBackgroundTasks){.mem = mem};
    pthread_mutex_init(&all->lock, NULL);
}

void ptc_background_task_bufs(PtcAppTask *t, PtcBuf *list[PTC_BACKGROUND_BUFS])
{
    PtcBuf *all[PTC_BACKGROUND_BUFS] = {&t->message,  &t->answer,  &t->result,  &t->program,
                                        &t->call_log, &t->effects, &t->planner, &t->warnings};
    memcpy(list, all, sizeof all);
}

/* ------------------------------------------------------------------------------------ ending */

static void destroy(PtcBackgroundTask *e)
{
    PtcBuf *list[PTC_BACKGROUND_BUFS];
    pthread_join(e->thread, NULL);
    ptc_background_task_bufs(&e->task, list);
    for (size_t i = 0; i < PTC_BACKGROUND_BUFS; i++)
        ptc_buf_deinit(list[i]);
    pthread_cond_destroy(&e->changed);
    pthread_mutex_destroy(&e->lock);
    ptc_mem_free(e->all->mem, e->texts, e->texts_len);
    ptc_mem_free(e->all->mem, e, sizeof *e);
}

static bool is_done(PtcBackgroundTask *e)
{
    pthread_mutex_lock(&e->lock);
    bool done = e->state == PTC_BACKGROUND_DONE;
    pthread_mutex_unlock(&e->lock);
    return done;
}

/* Takes those out of the list that have ended, or all. */
static void sweep_ended_tasks(PtcBackgroundTasks *all, bool wait)
{
    PtcBackgroundTask *ended = NULL;
    pthread_mutex_lock(&all->lock);
    for (PtcBackgroundTask **at = &all->left, *e; (e = *at);) {
        if (!wait && !is_done(e)) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        e->next = ended;
        ended = e;
    }
    pthread_mutex_unlock(&all->lock);
    for (PtcBackgroundTask *e = ended, *next; e; e = next) {
        next = e->next;
        destroy(e);
    }
}

void ptc_background_tasks_deinit(PtcBackgroundTasks *all)
{
    sweep_ended_tasks(all, true);
    pthread_mutex_destroy(&all->lock);
}

void ptc_background_task_free(PtcBackgroundTask *e)
{
    PtcBackgroundTasks *all = e->all;
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

static void set_state(PtcBackgroundTask *e, PtcBackgroundState state)
{
    e->state = state;
    pthread_cond_broadcast(&e->changed);
}

/* PtcAppTask.ask */
static bool ask_task_question(PtcAppTask *task, void *run)
{
    PtcBackgroundTask *e =
        (PtcBackgroundTask *)(void *)((char *)task - offsetof(PtcBackgroundTask, task));
    pthread_mutex_lock(&e->lock);
    e->run = run;
    set_state(e, PTC_BACKGROUND_ASKS);
    while (e->state == PTC_BACKGROUND_ASKS && !e->over)
        pthread_cond_wait(&e->changed, &e->lock);
    bool answered = !e->over;
    pthread_mutex_unlock(&e->lock);
    return answered;
}

/* The turn is that of the call it works for; a task that is over has none. */
static void pause_asking_call(void *user)
{
    PtcBackgroundTask *e = user;
    if (e->call)
        ptc_mcp_pause(e->call);
}

static void resume_asking_call(void *user)
{
    PtcBackgroundTask *e = user;
    if (e->call)
        ptc_mcp_resume(e->call);
}

/* Calls come and go while the task continues, so the listener is looked up for every line. */
static void tell_task_line(PtcRemoteListener *listener, PtcText line, bool of_call)
{
    PtcBackgroundTask *e =
        (PtcBackgroundTask *)(void *)((char *)listener - offsetof(PtcBackgroundTask, listener));
    pthread_mutex_lock(&e->lock);
    if (e->heard)
        (of_call ? e->heard->called : e->heard->progress)(e->heard, line);
    pthread_mutex_unlock(&e->lock);
}

static void tell_task_progress(PtcRemoteListener *listener, PtcText line)
{
    tell_task_line(listener, line, false);
}

static void tell_task_call(PtcRemoteListener *listener, PtcText line)
{
    tell_task_line(listener, line, true);
}

static void *run_asking_task(void *user)
{
    PtcBackgroundTask *e = user;
    e->tasks->run(e->tasks->user, &e->task);
    pthread_mutex_lock(&e->lock);
    set_state(e, PTC_BACKGROUND_DONE);
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

/* ------------------------------------------------------------------------------------ making */

/* The texts of the task, one behind the other; the owner ends with a NUL. */
static bool copy_task_texts(PtcBackgroundTask *e)
{
    PtcText owner = {e->task.owner, strlen(e->task.owner) + 1};
    PtcText *texts[] = {&owner,
                        &e->task.task,
                        &e->task.context,
                        &e->task.trace.parent,
                        &e->task.trace.state,
                        &e->task.trace.baggage};
    enum { BACKGROUND_TEXTS = sizeof texts / sizeof *texts };
    for (size_t i = 0; i < BACKGROUND_TEXTS; i++)
        e->texts_len += texts[i]->len;
    char *to = e->texts = ptc_mem_alloc(e->all->mem, e->texts_len);
    for (size_t i = 0; to && i < BACKGROUND_TEXTS; i++) {
        if (!texts[i]->bytes)
            continue;
        memcpy(to, texts[i]->bytes, texts[i]->len);
        texts[i]->bytes = to;
        to += texts[i]->len;
    }
    e->task.owner = owner.bytes;
    return e->texts != NULL;
}

static void init_asking_task(PtcBackgroundTask *e, PtcBackgroundTasks *all,
                             const PtcAppTasks *tasks, const PtcAppTask *task, PtcMcpCall *call)
{
    PtcBuf *from[PTC_BACKGROUND_BUFS], *to[PTC_BACKGROUND_BUFS];
    PtcAppTask given = *task;
    memset(e, 0, sizeof *e);
    e->all = all;
    e->tasks = tasks;
    e->task = given;
    ptc_background_task_bufs(&given, from);
    ptc_background_task_bufs(&e->task, to);
    for (size_t i = 0; i < PTC_BACKGROUND_BUFS; i++)
        ptc_buf_init(to[i], all->mem, from[i]->max);
    e->turn = (PtcTaskTurn){pause_asking_call, resume_asking_call, e};
    e->task.turn = &e->turn;
    e->listener = (PtcRemoteListener){.progress = tell_task_progress, .called = tell_task_call};
    e->task.listener = &e->listener;
    e->task.cancel = &e->cancel;
    e->task.ask = ask_task_question;
    e->call = call;
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->changed, NULL);
}

PtcBackgroundTask *ptc_background_task_new(PtcBackgroundTasks *all, const PtcAppTasks *tasks,
                                           const PtcAppTask *task, PtcMcpCall *call)
{
    sweep_ended_tasks(all, false);
    PtcBackgroundTask *e = ptc_mem_alloc(all->mem, sizeof *e);
    if (!e)
        return NULL;
    init_asking_task(e, all, tasks, task, call);
    if (copy_task_texts(e) && ptc_thread_start(&e->thread, BACKGROUND_STACK, run_asking_task, e))
        return e;
    pthread_cond_destroy(&e->changed);
    pthread_mutex_destroy(&e->lock);
    ptc_mem_free(all->mem, e->texts, e->texts ? e->texts_len : 0);
    ptc_mem_free(all->mem, e, sizeof *e);
    return NULL;
}

/* ----------------------------------------------------------------------------------- waiting */

static void cancel_asking_task(void *user)
{
    PtcBackgroundTask *e = user;
    ptc_cancel_ask(&e->cancel);
}

void ptc_background_task_go_on(PtcBackgroundTask *e, PtcMcpCall *call)
{
    pthread_mutex_lock(&e->lock);
    e->call = call;
    set_state(e, PTC_BACKGROUND_WORKS);
    pthread_mutex_unlock(&e->lock);
}

PtcBackgroundState ptc_background_task_await(PtcBackgroundTask *e, PtcMcpCall *call,
                                             PtcRemoteListener *listener)
{
    ptc_mcp_on_cancel(call, cancel_asking_task, e);
    pthread_mutex_lock(&e->lock);
    e->heard = listener;
    while (e->state == PTC_BACKGROUND_WORKS)
        pthread_cond_wait(&e->changed, &e->lock);
    e->call = NULL;
    e->heard = NULL;
    PtcBackgroundState state = e->state;
    pthread_mutex_unlock(&e->lock);
    ptc_mcp_on_cancel(call, NULL, NULL);
    return state;
}
