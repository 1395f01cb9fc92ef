/* SPDX-License-Identifier: MIT
 * The executor whose programs run in worker processes: a pool of idle workers, who gets which, when one is replaced.
 * What always holds: a worker that has served one owner is never given to another, and a worker is reused only after
 * a task that ended cleanly. */
#define _GNU_SOURCE
#include "exec/worker_task.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/engine.h"

enum {
    /* per worker; then it is replaced, and whatever leaked or fragmented goes with it */
    TASKS_MAX = 1000,
    READY_MS = 5000,
};

typedef struct Workers {
    PtcExecutor base; /* must be first: submit_to_worker() casts back */
    PtcMem mem;
    PtcWorkerTaskPlan plan;
    PtcSpinWait spin;
    PtcZygote *zygote;
    unsigned max_idle;
    /* It guards the list of idle workers, for a moment before and after a task.  No other lock is taken inside. */
    pthread_mutex_t lock;
    PtcWorkerProcess *idle;
    unsigned idle_count;
} Workers;

/* ----------------------------------------------------------------------------- processes */

/* Killing a process that has already ended is harmless: the pidfd still names that process and no other. */
static void discard(Workers *ws, PtcWorkerProcess *w)
{
    syscall(SYS_pidfd_send_signal, w->pidfd, SIGKILL, NULL, 0);
    close(w->pidfd);
    close(w->kick);
    close(w->fd);
    ptc_frame_reader_deinit(&w->reader);
    ptc_mem_free(&ws->mem, w->owner, w->owner ? strlen(w->owner) + 1 : 0);
    ptc_mem_free(&ws->mem, w, sizeof *w);
}

static PtcWorkerProcess *new_process(Workers *ws, PtcWhy *why)
{
    PtcWorkerProcess *w = ptc_mem_alloc(&ws->mem, sizeof *w);
    ptc_why_no_memory(why);
    if (!w)
        return NULL;
    memset(w, 0, sizeof *w);
    w->kick = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (w->kick < 0) {
        ptc_why_say(why, PTC_WHY_INVALID, "there are too many open descriptors");
        ptc_mem_free(&ws->mem, w, sizeof *w);
        return NULL;
    }
    if (!ptc_zygote_fork(ws->zygote, &w->fd, &w->pidfd, &w->pid, why)) {
        close(w->kick);
        ptc_mem_free(&ws->mem, w, sizeof *w);
        return NULL;
    }
    ptc_frame_reader_init(&w->reader, &ws->mem);
    return w;
}

/* Has nothing arrived since its last task, not even the end of its socket?  READY of a new worker is allowed. */
static bool is_quiet(const PtcWorkerProcess *w)
{
    struct pollfd p = {.fd = w->fd, .events = POLLIN};
    int n = poll(&p, 1, 0);
    return n == 0 || (n == 1 && p.revents == POLLIN && !w->ready);
}

static bool bind_owner(Workers *ws, PtcWorkerProcess *w, const char *owner)
{
    size_t size = strlen(owner) + 1;
    if (w->owner)
        return true;
    w->owner = ptc_mem_alloc(&ws->mem, size);
    if (w->owner)
        memcpy(w->owner, owner, size);
    return w->owner;
}

/* ---------------------------------------------------------------------------------- pool */

/* Takes an idle worker of this owner off the list, or else one that has not served anybody. */
static PtcWorkerProcess *take_idle_worker(Workers *ws, const char *owner)
{
    PtcWorkerProcess **found = NULL, *w = NULL;
    pthread_mutex_lock(&ws->lock);
    for (PtcWorkerProcess **at = &ws->idle; *at; at = &(*at)->next) {
        bool same = (*at)->owner && strcmp((*at)->owner, owner) == 0;
        if (same || (!(*at)->owner && !found))
            found = at;
        if (same)
            break;
    }
    if (found) {
        w = *found;
        *found = w->next;
        ws->idle_count--;
    }
    pthread_mutex_unlock(&ws->lock);
    return w;
}

/* A worker that sent something unasked, or whose socket ended, is never reused. */
static PtcWorkerProcess *take_worker(Workers *ws, const char *owner, PtcWhy *why)
{
    PtcWorkerProcess *w;
    ptc_why_no_memory(why);
    while ((w = take_idle_worker(ws, owner)) && !is_quiet(w))
        discard(ws, w);
    if (!w)
        w = new_process(ws, why);
    if (!w || bind_owner(ws, w, owner))
        return w;
    discard(ws, w);
    return NULL;
}

/* Puts a worker at the front of the list; if there are too many, the one idle longest is ended. */
static void put_back_worker(Workers *ws, PtcWorkerProcess *w)
{
    PtcWorkerProcess *old = NULL;
    ptc_frame_reader_trim(&w->reader);
    pthread_mutex_lock(&ws->lock);
    w->next = ws->idle;
    ws->idle = w;
    if (++ws->idle_count > ws->max_idle) {
        PtcWorkerProcess **at = &ws->idle;
        while ((*at)->next)
            at = &(*at)->next;
        old = *at;
        *at = NULL;
        ws->idle_count--;
    }
    pthread_mutex_unlock(&ws->lock);
    if (old)
        discard(ws, old);
}

/* ------------------------------------------------------------------------------ executor */

/* A task that cannot get a worker counts as lost; the message says why there was none. */
static PtcTaskStatus submit_to_worker(PtcExecutor *self, const char *owner, const PtcTaskIn *in,
                                      const PtcCancel *cancel, PtcTaskOut *out)
{
    Workers *ws = (Workers *)(void *)self;
    PtcWhy why;
    bool keep;
    if (ptc_cancelled(cancel))
        return PTC_TASK_CANCELLED;
    PtcWorkerProcess *w = take_worker(ws, owner, &why);
    if (!w) {
        snprintf(out->message, sizeof out->message, "no worker process could be started: %.*s",
                 PTC_ARG_OF(why.text, 250));
        return PTC_TASK_LOST;
    }
    PtcTaskStatus status = ptc_worker_task_run(&ws->plan, w, in, cancel, out, &keep);
    if (status != PTC_TASK_DONE)
        ptc_task_out_clear(out);
    if (keep && w->tasks < TASKS_MAX)
        put_back_worker(ws, w);
    else
        discard(ws, w);
    return status;
}

static void free_workers(PtcExecutor *self)
{
    PtcMem mem;
    Workers *ws = (Workers *)(void *)self;
    while (ws->idle) {
        PtcWorkerProcess *w = ws->idle;
        ws->idle = w->next;
        discard(ws, w);
    }
    ptc_tool_crew_free(ws->plan.crew);
    ptc_zygote_free(ws->zygote);
    pthread_mutex_destroy(&ws->lock);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *ws);
    ptc_mem_free(&mem, ws, sizeof *ws);
}

static unsigned cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

/* The struct is not charged to the ledger inside it, because that ledger does not exist yet. */
static Workers *new_workers(const PtcExecutorConfig *config)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    Workers *ws = ptc_mem_alloc(&mem, sizeof *ws);
    if (!ws)
        return NULL;
    memset(ws, 0, sizeof *ws);
    ptc_mem_init(&ws->mem, PTC_UNBOUNDED);
    ws->base = (PtcExecutor){submit_to_worker, free_workers};
    ws->max_idle = config->max_idle ? config->max_idle : cores();
    pthread_mutex_init(&ws->lock, NULL);
    ws->plan.mem = &ws->mem;
    ptc_spin_wait_init(&ws->spin);
    ws->plan.spin = &ws->spin;
    return ws;
}

/* Starting one worker now shows whether the kernel allows all of this; it then waits for the first task. */
static bool start_workers(Workers *ws, const PtcExecutorConfig *config, PtcWhy *why)
{
    ptc_why_say(why, PTC_WHY_NO_MEMORY, "out of memory, or a limit is out of range");
    if (!ptc_limits_merge(&ws->plan.limits, &config->limits, &ptc_default_limits))
        return false;
    ws->plan.remote = config->remote;
    ws->plan.crew = ptc_tool_crew_new(&ws->mem, config->tools, ws->plan.limits.tool_bytes);
    if (!ws->plan.crew ||
        !ptc_zygote_lock(ws->zygote, config->tools, &ws->plan.limits, config->inspectable, why))
        return false;
    PtcWorkerProcess *w = new_process(ws, why);
    if (!w)
        return false;
    if (ptc_worker_task_await(w, READY_MS)) {
        put_back_worker(ws, w);
        return true;
    }
    ptc_why_say(
        why, PTC_WHY_INVALID,
        "a worker process could not shut itself in (seccomp, threads or limits were refused)");
    discard(ws, w);
    return false;
}

PtcExecutor *ptc_executor_workers(const PtcExecutorConfig *config, PtcWhy *why)
{
    PtcZygote *given = config->zygote;
    Workers *ws = new_workers(config);
    ptc_why_no_memory(why);
    if (!ws)
        return NULL;
    ws->zygote = given ? given : ptc_zygote_start(config->worker_path, why);
    if (ws->zygote && start_workers(ws, config, why))
        return &ws->base;
    if (given)
        ws->zygote = NULL; /* stays the caller's */
    free_workers(&ws->base);
    return NULL;
}
