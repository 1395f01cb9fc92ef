/* SPDX-License-Identifier: MIT
 * The executor that runs tasks with engines of this process.  The engine used last is used next, because its memory
 * is warm.  What always holds: an engine serves one task at a time, and nothing of a task stays in it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine.h"
#include "exec/asking.h"
#include "exec/task.h"
#include "exec/waits.h"
#include "tool/remote/remote.h"

typedef struct {
    PtcExecutor base; /* must be first: submit_in_process() casts back */
    PtcMem mem;
    PtcExecutorConfig config;
    /* It guards the two below, for a moment before and after a task.  No other lock is taken inside. */
    pthread_mutex_t lock;
    Ptc **idle;
    unsigned idle_count;
} InProcess;

static Ptc *take_engine(InProcess *self)
{
    Ptc *ptc = NULL;
    pthread_mutex_lock(&self->lock);
    if (self->idle_count)
        ptc = self->idle[--self->idle_count];
    pthread_mutex_unlock(&self->lock);
    return ptc ? ptc : ptc_engine_with(&self->config.limits);
}

/* More engines than max_idle are only needed in bursts; they are freed rather than kept. */
static void give_back_engine(InProcess *self, Ptc *ptc)
{
    pthread_mutex_lock(&self->lock);
    if (self->idle_count < self->config.max_idle) {
        self->idle[self->idle_count++] = ptc;
        ptc = NULL;
    }
    pthread_mutex_unlock(&self->lock);
    if (ptc)
        ptc_engine_free(ptc);
}

static void begin_tool_wait(void *waits, const PtcTool *tool)
{
    ptc_waits_tool_begin(waits, tool);
}

static void end_tool_wait(void *waits, const PtcTool *tool, bool ok)
{
    ptc_waits_tool_end(waits, tool, ok);
}

/* ------------------------------------------------------------------------ other servers */

static void begin_remote_wait(void *waits, bool may_repeat)
{
    ptc_waits_begin(waits, may_repeat);
}

static void end_remote_wait(void *waits, bool harmless)
{
    if (harmless)
        ptc_waits_harmless(waits);
    ptc_waits_end(waits);
}

/* The run as other servers see it; false: out of memory. */
static bool begin_task_remote(const InProcess *self, const char *owner, const PtcTaskIn *in,
                              const PtcCancel *cancel, PtcRemoteRun *run)
{
    PtcRemote *remote = self->config.remote;
    int64_t own = in->limits.deadline_ms;
    int64_t ms = own == PTC_UNSET ? self->config.limits.deadline_ms : own;
    int64_t now = ptc_clock_ns(NULL), end = INT64_MAX;
    if (ms >= 0 && ms < (INT64_MAX - now) / PTC_MS)
        end = now + ms * PTC_MS;
    run->remote = remote;
    run->run = ptc_asking_begin(in->asking, remote, owner, end, cancel, &run->version);
    if (run->run)
        ptc_asking_about(remote, run->run, in);
    return run->run != NULL;
}

/* The caller's cancel flag becomes the outer flag of the engine's own: a run sees it wherever it looks at the clock. */
static PtcTaskStatus submit_in_process(PtcExecutor *base, const char *owner, const PtcTaskIn *in,
                                       const PtcCancel *cancel, PtcTaskOut *out)
{
    InProcess *self = (InProcess *)base;
    if (ptc_cancelled(cancel))
        return PTC_TASK_CANCELLED;
    Ptc *ptc = take_engine(self);
    if (!ptc)
        return PTC_TASK_NO_MEMORY;
    PtcWaits waits;
    PtcToolWatch watch = {begin_tool_wait, end_tool_wait, &waits};
    PtcRemoteWatch asks = {begin_remote_wait, end_remote_wait, &waits};
    PtcRemoteRun run = {.watch = &asks, .plan = in->plan};
    ptc_task_out_clear(out); /* a program that waited for a person runs anew */
    ptc_buf_clear(&out->call_log);
    ptc_buf_clear(&out->took);
    bool far = self->config.remote && in->use_tools && in->kind == PTC_TASK_EVAL;
    ptc_waits_init(&waits, in->turn, in->listener);
    ptc->cancel.outer = cancel;
    ptc->watch = &watch;
    PtcTaskStatus status = PTC_TASK_NO_MEMORY;
    if (!far || begin_task_remote(self, owner, in, &ptc->cancel, &run)) {
        ptc->remote = far ? &run : NULL;
        status = ptc_task_run(ptc, in, self->config.tools, self->config.data, out);
    }
    if (ptc->remote)
        ptc_task_out_pictures(out, run.remote, run.run);
    if (ptc->remote)
        ptc_asking_end(status == PTC_TASK_DONE ? in->asking : NULL, run.remote, run.run, out);
    ptc->remote = NULL;
    ptc->cancel.outer = NULL;
    ptc->watch = NULL;
    out->effects = ptc_waits_close(&waits);
    ptc_waits_deinit(&waits);
    give_back_engine(self, ptc);
    return status;
}

static void free_executor(PtcExecutor *base)
{
    InProcess *self = (InProcess *)base;
    PtcMem mem;
    for (unsigned i = 0; i < self->idle_count; i++)
        ptc_engine_free(self->idle[i]);
    ptc_mem_free(&self->mem, self->idle, self->config.max_idle * sizeof *self->idle);
    pthread_mutex_destroy(&self->lock);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *self);
    ptc_mem_free(&mem, self, sizeof *self);
}

/* The struct is not charged to the ledger inside it, because that ledger does not exist yet. */
static InProcess *alloc_self(void)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    InProcess *self = ptc_mem_alloc(&mem, sizeof *self);
    if (self)
        memset(self, 0, sizeof *self);
    return self;
}

PtcExecutor *ptc_executor_in_process(const PtcExecutorConfig *config, PtcWhy *why)
{
    InProcess *self = alloc_self();
    ptc_why_no_memory(why);
    if (!self)
        return NULL;
    self->base = (PtcExecutor){.submit = submit_in_process, .free = free_executor};
    self->config = *config;
    if (self->config.max_idle == 0) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        self->config.max_idle = cores > 0 ? (unsigned)cores : 1;
    }
    ptc_mem_init(&self->mem, PTC_UNBOUNDED);
    pthread_mutex_init(&self->lock, NULL);
    self->idle = ptc_mem_alloc(&self->mem, self->config.max_idle * sizeof *self->idle);
    /* The first engine is made now, so that a limit out of range is found here and the first task need not wait. */
    Ptc *first = self->idle ? ptc_engine_with(&self->config.limits) : NULL;
    if (!first) {
        if (self->idle)
            ptc_why_say(why, PTC_WHY_INVALID, "a limit of programs is out of range");
        else
            self->config.max_idle = 0;
        free_executor(&self->base);
        return NULL;
    }
    give_back_engine(self, first);
    return &self->base;
}
