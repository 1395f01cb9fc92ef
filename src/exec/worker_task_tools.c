/* SPDX-License-Identifier: MIT
 * Runs the tools that programs in workers call, each call on a thread of the crew: a tool may block, and the thread
 * that waits for the worker must not.  What always holds: a job holds a reference to its task, so a tool that
 * outlives its task finds it closed and sends nothing. */
#include "exec/worker_task.h"

#include "tool/kind/native.h"

enum { THREADS = 64 };

typedef struct ToolJob {
    struct ToolJob *next;
    PtcWorkerTask *task; /* held */
    uint64_t id;
    uint32_t tool;
    size_t len;
    char arguments[];
} ToolJob;

struct PtcToolCrew {
    PtcMem *mem;
    PtcTools *tools; /* held */
    int64_t result_bytes;
    /* It guards everything below.  Threads of tasks take it to hand over a job, those of the crew to fetch one;
     * a tool runs without it.  The lock of PtcWaits is taken inside. */
    pthread_mutex_t lock;
    pthread_cond_t work;
    ToolJob *first, **last;
    size_t waiting; /* jobs */
    unsigned threads, idle;
    bool quit;
    pthread_t thread[THREADS];
};

/* ------------------------------------------------------------------------------ one call */

/* On a thread of the crew.  The turn is taken back before the result is sent, so that the program never computes
 * without one. */
static void run_tool_job(PtcToolCrew *crew, PtcNative *native, ToolJob *job)
{
    PtcWorkerTask *f = job->task;
    PtcNativeOptions options = {.cancel = &f->cancel,
                                .deadline_ns = f->deadline_ns,
                                .memory_bytes = 2 * crew->result_bytes};
    PtcBuf result;
    bool ok = false;
    ptc_buf_init(&result, crew->mem, (size_t)crew->result_bytes);
    bool told = native && ptc_native_call(native, crew->tools, job->tool, job->arguments, job->len,
                                          &options, &result, &ok);
    ptc_waits_tool_end(&f->waits, &crew->tools->items[job->tool],
                       ok); /* before sending: the worker resumes as soon as it has the result */
    atomic_store(&f->resumed_ns, ptc_clock_ns(NULL));
    atomic_fetch_sub(&f->under_way, 1);
    ptc_worker_task_post_result(f, job->id, told, ok, ptc_buf_view(&result));
    atomic_store(&f->resumed_ns, ptc_clock_ns(NULL));
    ptc_buf_deinit(&result);
}

static void free_tool_job(PtcToolCrew *crew, ToolJob *job)
{
    ptc_worker_task_release(job->task);
    ptc_mem_free(crew->mem, job, sizeof *job + job->len);
}

/* -------------------------------------------------------------------------------- threads */

/* With the lock held.  NULL when the crew is to end. */
static ToolJob *next_job(PtcToolCrew *crew)
{
    crew->idle++;
    while (!crew->first && !crew->quit)
        pthread_cond_wait(&crew->work, &crew->lock);
    crew->idle--;
    ToolJob *job = crew->first;
    if (job) {
        crew->first = job->next;
        crew->waiting--;
    }
    if (!crew->first)
        crew->last = &crew->first;
    return job;
}

/* One PtcNative per thread, because only one call at a time may use it. */
static void *serve_tool_jobs(void *arg)
{
    PtcToolCrew *crew = arg;
    PtcNative *native = ptc_native_new();
    pthread_mutex_lock(&crew->lock);
    for (ToolJob *job; (job = next_job(crew));) {
        pthread_mutex_unlock(&crew->lock);
        run_tool_job(crew, native, job);
        free_tool_job(crew, job);
        pthread_mutex_lock(&crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
    ptc_native_free(native);
    return NULL;
}

/* With the lock held.  True when some thread will take one more job; one is started if all are busy. */
static bool find_thread(PtcToolCrew *crew)
{
    if (crew->idle > crew->waiting || crew->threads == THREADS)
        return true;
    if (pthread_create(&crew->thread[crew->threads], NULL, serve_tool_jobs, crew) != 0)
        return crew->threads > 0;
    crew->threads++;
    return true;
}

bool ptc_tool_crew_has(const PtcToolCrew *crew, uint32_t tool)
{
    return crew->tools && tool < crew->tools->count && crew->tools->items[tool].lisp == PTC_NONE;
}

/* The arguments are copied: they lie in the reader's buffer, which the next frame overwrites. */
bool ptc_tool_crew_call(PtcToolCrew *crew, PtcWorkerTask *task, uint64_t id, uint32_t tool,
                        PtcText arguments)
{
    ToolJob *job = ptc_mem_alloc(crew->mem, sizeof *job + arguments.len);
    if (!job)
        return false;
    *job = (ToolJob){.task = task, .id = id, .tool = tool, .len = arguments.len};
    memcpy(job->arguments, arguments.bytes, arguments.len);
    atomic_fetch_add(&task->refs, 1);
    pthread_mutex_lock(&crew->lock);
    bool ok = find_thread(crew);
    if (ok) {
        *crew->last = job;
        crew->last = &job->next;
        crew->waiting++;
        atomic_fetch_add(&task->under_way, 1);
        ptc_waits_tool_begin(&task->waits, &crew->tools->items[tool]);
        pthread_cond_signal(&crew->work);
    }
    pthread_mutex_unlock(&crew->lock);
    if (!ok)
        free_tool_job(crew, job);
    return ok;
}

PtcToolCrew *ptc_tool_crew_new(PtcMem *mem, PtcTools *tools, int64_t result_bytes)
{
    PtcToolCrew *crew = ptc_mem_alloc(mem, sizeof *crew);
    if (!crew)
        return NULL;
    memset(crew, 0, sizeof *crew);
    crew->mem = mem;
    crew->tools = ptc_toolset_retain(tools);
    crew->result_bytes = result_bytes;
    crew->last = &crew->first;
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->work, NULL);
    return crew;
}

void ptc_tool_crew_free(PtcToolCrew *crew)
{
    if (!crew)
        return;
    pthread_mutex_lock(&crew->lock);
    crew->quit = true;
    pthread_cond_broadcast(&crew->work);
    pthread_mutex_unlock(&crew->lock);
    for (unsigned i = 0; i < crew->threads; i++)
        pthread_join(crew->thread[i], NULL);
    for (ToolJob *job = crew->first, *next; job; job = next) {
        next = job->next;
        free_tool_job(crew, job);
    }
    pthread_mutex_destroy(&crew->lock);
    pthread_cond_destroy(&crew->work);
    ptc_toolset_release(crew->tools);
    ptc_mem_free(crew->mem, crew, sizeof *crew);
}
