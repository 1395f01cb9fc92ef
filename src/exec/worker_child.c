/* SPDX-License-Identifier: MIT
 * A worker process: reads tasks from descriptor 0, runs them, sends tool calls and answers.
 *
 * All threads are started before the first task; after that the sandbox allows no more.  The first thread runs
 * programs.  As long as no program needs anything from the server it also reads the socket, so that a short task
 * costs no thread switch.  The second thread sleeps until SIGUSR1, which the first sends at its first tool call and
 * the server sends after a CANCEL; from then on it reads the socket and hands tasks over ("duo").  There is no way
 * back. */
#define _GNU_SOURCE
#include "exec/worker.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "exec/frame.h"
#include "exec/sandbox.h"
#include "engine/engine.h"
#include "engine/outcome.h"
#include "tool/answer.h"
#include "tool/source.h"

enum {
    PIPE = 0,
    SLOTS = 256,
    READER_STACK = 256 * 1024,
    CANCEL_NS = 500 * 1000,
    LINGER_NS = 100 * 1000, /* how long to spin for the next task */
    KEPT = 64 * 1024,
};

/* A call that the server has not answered yet. */
typedef struct Slot {
    uint64_t id; /* 0: free */
    PtcToolCall *call;
} Slot;

/* What the function of a remote tool gets as `user`. */
typedef struct RemoteTool {
    PtcWorker *worker;
    uint32_t number;
} RemoteTool;

struct PtcWorker {
    PtcMem mem;
    Ptc *ptc;
    PtcTools *tools;
    PtcShared *data; /* or NULL */
    PtcWorkerHook hook;
    PtcBuf inbox; /* the first thread's: payload of the RUN being worked on */
    pthread_t reader;
    pthread_mutex_t writing; /* guards writing frames and the order of call ids */
    pthread_mutex_t lock;    /* guards everything below */
    pthread_cond_t handed;
    bool duo;       /* the second thread reads the socket */
    bool nudged;    /* it has been told to start reading */
    bool running;   /* `task` is running or has been handed over */
    bool is_handed; /* `mail` holds a task that is not running yet */
    uint64_t task;
    PtcBuf mail; /* payload of a RUN, for the first thread */
    uint64_t last_call;
    size_t under_way; /* calls in slots */
    Slot slots[SLOTS];
};

/* -------------------------------------------------------------------------------- pipe */

/* Reads all of it or ends the process: a worker without its socket has nothing left to do. */
static void read_all(char *to, size_t n)
{
    while (n > 0) {
        ssize_t got = read(PIPE, to, n);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            ptc_sandbox_end();
        if (got > 0) {
            to += got;
            n -= (size_t)got;
        }
    }
}

/* A client that sends one request after the other is back before this process could be put to sleep and woken, which
 * costs more than a short program.  Yielding leaves the processor to anyone else who wants it. */
static void linger(void)
{
    char byte;
    int64_t until = ptc_clock_ns(NULL) + LINGER_NS;
    while (recv(PIPE, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN &&
           ptc_clock_ns(NULL) < until)
        sched_yield();
}

/* Blocking is fine here: the server reads whenever it waits for this worker. */
static void write_all(struct iovec *parts, int count)
{
    while (count > 0) {
        ssize_t n = writev(PIPE, parts, count);
        if (n < 0 && errno != EINTR)
            ptc_sandbox_end();
        for (; n > 0 && (size_t)n >= parts->iov_len; count--)
            n -= (ssize_t)parts++->iov_len;
        while (count > 0 && parts->iov_len == 0) {
            parts++;
            count--;
        }
        if (n > 0) {
            parts->iov_base = (char *)parts->iov_base + n;
            parts->iov_len -= (size_t)n;
        }
    }
}

/* An idle worker should not hold on to the memory of its largest frame. */
static void trim(PtcBuf *payload)
{
    if (payload->cap > KEPT)
        ptc_buf_deinit(payload);
}

static PtcFrameHead read_frame(PtcBuf *payload)
{
    PtcFrameHead head;
    read_all((char *)&head, sizeof head);
    ptc_buf_clear(payload);
    if (head.len > PTC_FRAME_MAX || !ptc_buf_reserve(payload, head.len))
        ptc_sandbox_end();
    read_all(payload->data, head.len);
    payload->len = head.len;
    return head;
}

/* ------------------------------------------------------------------------------- tools */

static Slot *find_slot(PtcWorker *w, uint64_t id)
{
    for (size_t i = 0; i < SLOTS; i++)
        if (w->slots[i].id == id)
            return &w->slots[i];
    return NULL;
}

/* Makes the second thread read, since somebody must receive the answer.  With the lock held. */
static void nudge(PtcWorker *w)
{
    if (!w->duo && !w->nudged)
        pthread_kill(w->reader, SIGUSR1);
    w->nudged = true;
}

/* Reserves a slot for a call that is about to be sent and returns its id; 0 when too many are under way. */
static uint64_t enter(PtcWorker *w, PtcToolCall *call)
{
    pthread_mutex_lock(&w->lock);
    Slot *slot = find_slot(w, 0);
    uint64_t id = slot ? ++w->last_call : 0;
    if (slot)
        *slot = (Slot){id, call};
    w->under_way += slot != NULL;
    nudge(w);
    pthread_mutex_unlock(&w->lock);
    return id;
}

static void send_call(uint64_t id, uint32_t tool, const char *json, size_t len)
{
    PtcFrameHead head = {(uint32_t)(len + sizeof tool), PTC_FRAME_CALL, id};
    struct iovec parts[] = {
        {&head, sizeof head}, {&tool, sizeof tool}, {(char *)(uintptr_t)json, len}};
    write_all(parts, 3);
}

/* The function of every remote tool: asks the server; the answer comes later, from the thread that reads. */
static PtcToolAnswer ask_server(PtcToolCall *call, void *user)
{
    const RemoteTool *remote = user;
    PtcWorker *w = remote->worker;
    const char *json = ptc_answer_args_json(call);
    size_t len = call->json.len;
    if (!json || len > PTC_FRAME_MAX / 2) {
        ptc_answer_fail(call, PTC_TEXT("its arguments are too large"));
        return PTC_TOOL_ANSWERED;
    }
    pthread_mutex_lock(&w->writing);
    uint64_t id = enter(w, call);
    if (id)
        send_call(id, remote->number, json, len);
    pthread_mutex_unlock(&w->writing);
    if (id)
        return PTC_TOOL_PENDING;
    ptc_answer_fail(call, PTC_TEXT("too many calls are under way"));
    return PTC_TOOL_ANSWERED;
}

/* Takes a call out of its slot.  Whoever gets it must answer it; NULL when it has been answered.  With the lock
 * held. */
static PtcToolCall *leave(PtcWorker *w, Slot *slot)
{
    if (!slot || slot->id == 0)
        return NULL;
    slot->id = 0;
    w->under_way--;
    return slot->call;
}

/* A result that comes too late finds no slot and is dropped. */
static void take_result(PtcWorker *w, uint64_t id, const PtcBuf *payload)
{
    bool ok;
    PtcText text;
    pthread_mutex_lock(&w->lock);
    PtcToolCall *call = leave(w, find_slot(w, id));
    pthread_mutex_unlock(&w->lock);
    if (!call)
        return;
    if (!ptc_frame_get_result(payload->data, payload->len, &ok, &text))
        ptc_sandbox_end();
    if (ok)
        ptc_answer_json(call, text);
    else
        ptc_answer_fail(call, text);
}

/* Answers the calls nobody waits for any more.  With the lock held. */
static void drop_calls(PtcWorker *w)
{
    for (size_t i = 0; i < SLOTS && w->under_way > 0; i++) {
        PtcToolCall *call = leave(w, &w->slots[i]);
        if (call)
            ptc_answer_fail(call, PTC_TEXT("too late"));
    }
}

/* ------------------------------------------------------------------------------ reading */

/* The engine notices a cancel only while it runs, so it is told again and again until the task is over. */
static void cancel(PtcWorker *w, uint64_t id)
{
    const struct timespec a_little = {0, CANCEL_NS};
    pthread_mutex_lock(&w->lock);
    while (w->running && w->task == id) {
        pthread_mutex_unlock(&w->lock);
        ptc_engine_cancel(w->ptc);
        nanosleep(&a_little, NULL);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
}

static void begin_task(PtcWorker *w, uint64_t id)
{
    pthread_mutex_lock(&w->lock);
    w->task = id;
    w->running = true;
    pthread_mutex_unlock(&w->lock);
}

static void swap(PtcBuf *a, PtcBuf *b)
{
    PtcBuf old = *a;
    *a = *b;
    *b = old;
}

/* Swaps the buffers instead of copying, because a task can be large. */
static void hand_over(PtcWorker *w, uint64_t id, PtcBuf *payload)
{
    begin_task(w, id);
    pthread_mutex_lock(&w->lock);
    swap(&w->mail, payload);
    w->is_handed = true;
    pthread_cond_signal(&w->handed);
    pthread_mutex_unlock(&w->lock);
}

/* Sleeps until a program needs a second reader. */
static void wait_to_read(PtcWorker *w)
{
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    for (bool begun = false; !begun;) {
        sigwait(&set, &number);
        pthread_mutex_lock(&w->lock);
        begun = w->duo = w->running; /* a signal that comes after its task has ended is ignored */
        pthread_mutex_unlock(&w->lock);
    }
}

static void *read_frames(void *arg)
{
    PtcWorker *w = arg;
    PtcBuf payload;
    ptc_buf_init(&payload, &w->mem, PTC_FRAME_MAX);
    wait_to_read(w);
    for (;;) {
        PtcFrameHead head = read_frame(&payload);
        if (head.type == PTC_FRAME_RESULT)
            take_result(w, head.id, &payload);
        else if (head.type == PTC_FRAME_CANCEL)
            cancel(w, head.id);
        else if (head.type == PTC_FRAME_RUN)
            hand_over(w, head.id, &payload);
        else
            ptc_sandbox_end();
        trim(&payload);
    }
    return NULL;
}

/* Gets the next task into the inbox and its id into w->task. */
static void next_task(PtcWorker *w)
{
    PtcFrameHead head = {0};
    pthread_mutex_lock(&w->lock);
    bool duo = w->duo;
    while (duo && !w->is_handed)
        pthread_cond_wait(&w->handed, &w->lock);
    if (duo)
        swap(&w->inbox, &w->mail);
    w->is_handed = false;
    pthread_mutex_unlock(&w->lock);
    if (!duo && w->task > 0)
        linger();
    while (!duo && head.type != PTC_FRAME_RUN)
        head = read_frame(&w->inbox); /* skips what came too late for its task */
    if (!duo)
        begin_task(w, head.id);
}

/* ------------------------------------------------------------------------------ running */

/* Before DONE is sent, so that no late answer reaches the next task. */
static void end_task(PtcWorker *w)
{
    pthread_mutex_lock(&w->lock);
    w->running = false;
    drop_calls(w);
    pthread_mutex_unlock(&w->lock);
}

static void send_done(PtcWorker *w, uint64_t id, PtcTaskStatus status, const PtcTaskOut *out)
{
    PtcBuf buf;
    ptc_buf_init(&buf, &w->mem, PTC_FRAME_MAX);
    if (!ptc_frame_put_done(&buf, id, status, out))
        ptc_sandbox_end();
    struct iovec part = {buf.data, buf.len};
    pthread_mutex_lock(&w->writing);
    write_all(&part, 1);
    pthread_mutex_unlock(&w->writing);
    ptc_buf_deinit(&buf);
}

static PtcTaskStatus run(PtcWorker *w, const PtcTaskIn *in, PtcTaskOut *out)
{
    if (w->hook && w->hook(in, out, PIPE))
        return PTC_TASK_DONE;
    return ptc_task_run(w->ptc, in, in->use_tools ? w->tools : NULL, in->use_data ? w->data : NULL,
                        out);
}

static void run_task(PtcWorker *w)
{
    PtcTaskIn in;
    PtcTaskOut out;
    size_t maxima[PTC_TASK_PARTS];
    uint64_t id = w->task;
    if (!ptc_frame_get_run(w->inbox.data, w->inbox.len, &in, maxima))
        ptc_sandbox_end();
    ptc_task_out_init(&out, &w->mem, 0);
    for (size_t i = 0; i < PTC_TASK_PARTS; i++)
        out.parts[i].max = maxima[i];
    PtcTaskStatus status = run(w, &in, &out);
    end_task(w);
    send_done(w, id, status, &out);
    ptc_task_out_deinit(&out);
}

static bool start_reader(PtcWorker *w)
{
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0)
        return false;
    pthread_attr_setstacksize(&attr, READER_STACK);
    bool ok = pthread_create(&w->reader, &attr, read_frames, w) == 0;
    pthread_attr_destroy(&attr);
    return ok;
}

/* The order matters: the filter that forbids threads comes last, when all of them exist. */
_Noreturn void ptc_worker_serve(PtcWorker *w)
{
    char why[PTC_WORKER_WHY];
    PtcFrameHead ready = {0, PTC_FRAME_READY, 0};
    struct iovec part = {&ready, sizeof ready};
    if (!ptc_sandbox_worker(why) || !start_reader(w))
        ptc_sandbox_end();
    write_all(&part, 1);
    /* After READY, because the server can do other things meanwhile.  With fewer threads than wanted, programs still
     * run. */
    (void)!ptc_engine_start_threads(w->ptc);
    if (!ptc_sandbox_threads(why))
        ptc_sandbox_end();
    for (;;) {
        next_task(w);
        run_task(w);
        trim(&w->inbox);
    }
}

/* --------------------------------------------------------------------- before the fork */

PtcWorker *ptc_worker_new(PtcWorkerHook hook)
{
    PtcMem mem;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    PtcWorker *w = ptc_mem_alloc(&mem, sizeof *w);
    if (!w)
        return NULL;
    memset(w, 0, sizeof *w);
    ptc_mem_init(&w->mem, SIZE_MAX / 2);
    w->hook = hook;
    ptc_buf_init(&w->inbox, &w->mem, PTC_FRAME_MAX);
    ptc_buf_init(&w->mail, &w->mem, PTC_FRAME_MAX);
    pthread_mutex_init(&w->writing, NULL);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->handed, NULL);
    return w;
}

static bool no_memory(char why[PTC_WORKER_WHY])
{
    snprintf(why, PTC_WORKER_WHY, "out of memory");
    return false;
}

static void free_stub(void *user)
{
    RemoteTool *remote = user;
    ptc_mem_free(&remote->worker->mem, remote, sizeof *remote);
}

static bool put_tool(PtcWorker *w, const PtcWorkerTool *tool, PtcTool *t, char *why)
{
    ptc_tool_init(&t->info, tool->name.bytes, tool->name.len);
    t->info.signature = tool->signature.bytes;
    t->info.signature_len = tool->signature.len;
    t->info.description = tool->description.bytes;
    t->info.description_len = tool->description.len;
    t->info.skip_validation = tool->skip_validation;
    t->info.cache = tool->cache;
    t->info.on_error_value = tool->on_error_value;
    t->info.serial = tool->serial;
    t->info.timeout_ms = tool->timeout_ms;
    return ptc_toolset_put(w->tools, t, why, PTC_WORKER_WHY);
}

/* The server has already read the same text, so this normally succeeds. */
static bool put_lisp(PtcWorker *w, const PtcWorkerTool *tool, char *why)
{
    PtcSource source;
    ptc_source_init(&source, w->tools);
    PtcTool t = {
        .lisp = ptc_source_read(&source, tool->lisp.bytes, tool->lisp.len, why, PTC_WORKER_WHY)};
    ptc_source_deinit(&source);
    return t.lisp != PTC_NONE && put_tool(w, tool, &t, why);
}

static bool put_remote(PtcWorker *w, const PtcWorkerTool *tool, char *why)
{
    RemoteTool *remote = ptc_mem_alloc(&w->mem, sizeof *remote);
    if (!remote)
        return no_memory(why);
    *remote = (RemoteTool){w, (uint32_t)w->tools->count};
    PtcTool t = {.function = ask_server,
                 .user = remote,
                 .free_user = free_stub,
                 .pending = true,
                 .lisp = PTC_NONE};
    if (put_tool(w, tool, &t, why))
        return true;
    free_stub(remote);
    return false;
}

bool ptc_worker_add_tool(PtcWorker *w, const PtcWorkerTool *tool, char why[PTC_WORKER_WHY])
{
    if (!w->tools)
        w->tools = ptc_toolset_new();
    if (!w->tools)
        return no_memory(why);
    return tool->lisp.bytes ? put_lisp(w, tool, why) : put_remote(w, tool, why);
}

static void measure(const PtcShared *data, const char *name, PtcLoaded *loaded)
{
    const char *found;
    for (size_t i = 0; ptc_shared_item(data, i, &found, &loaded->count, &loaded->bytes); i++)
        if (strcmp(found, name) == 0)
            return;
}

bool ptc_worker_load(PtcWorker *w, const char *name, const char *path, PtcLoaded *loaded,
                     char why[PTC_WORKER_WHY])
{
    if (!w->data)
        w->data = ptc_shared_new();
    if (!w->data)
        return no_memory(why);
    if (!ptc_shared_load(w->data, name, path, why, PTC_WORKER_WHY))
        return false;
    measure(w->data, name, loaded);
    ptc_shared_describe(w->data, loaded->about, loaded->about->max);
    return true;
}

/* Runs one program before the fork, so that workers share the pages every run needs. */
static void warm(Ptc *ptc)
{
    PtcRun run = {.size = sizeof run, .program = "(+ 1 2)", .program_len = 7};
    PtcOutcome *o = NULL;
    if (ptc_engine_run(ptc, &run, &o) == PTC_OK)
        ptc_outcome_drop(o);
}

bool ptc_worker_prepare(PtcWorker *w, PtcLimits *limits, char why[PTC_WORKER_WHY])
{
    w->ptc = ptc_engine_with(limits);
    if (!w->ptc) {
        snprintf(why, PTC_WORKER_WHY, "out of memory, or a limit is out of range");
        return false;
    }
    warm(w->ptc);
    *limits = w->ptc->limits;
    return true;
}
