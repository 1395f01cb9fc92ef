/* SPDX-License-Identifier: MIT
 * One task in one worker, as the server sees it: send RUN, serve the tool calls that come back, take DONE.  What
 * always holds: nothing a worker sends is trusted.  A worker that breaks the protocol, misses its deadline or
 * ignores a cancel is killed, never waited for; only one that answered cleanly is handed back for another task. */
#define _GNU_SOURCE
#include "exec/worker_task.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os/cancel.h"
#include "exec/asking.h"
#include "lisp/vm/limits.h"

enum {
    TASK_CHUNK = 16 * PTC_KB,
    TASK_LOOK_MS = 50,  /* how often cancel flag and clock are looked at, even if nobody wakes us */
    CANCEL_GRACE = 50,  /* ms a worker has to react to a cancel */
    GRACE = 500,        /* ms beyond its time limit; it may use half of that to write its answer */
    DONE_BESIDE = 2048, /* bytes of a DONE apart from its buffers */
    TASK_BACKLOG = 128 * PTC_MB, /* bytes that are kept for a worker which does not read them */
};

/* One task, from the point of view of the thread that waits for it. */
typedef struct TaskWait {
    const PtcWorkerTaskPlan *plan;
    PtcWorkerProcess *worker;
    PtcWorkerTask *task;
    const PtcCancel *cancel;
    PtcTaskOut *out;
    uint64_t id;
    PtcLimits limits; /* every field set */
    int64_t calls;    /* of tools, so far */
    int64_t begun_ns, looked_ns;
    int64_t compute_ns; /* waited while no tool was under way */
    int64_t kill_ns;    /* after a cancel; INT64_MAX before */
    bool cancel_sent;
    bool over;
    bool answered; /* with a DONE, after which the worker is as it was before */
    PtcTaskStatus status;
} TaskWait;

/* ------------------------------------------------------------------------------- the task */

static PtcWorkerTask *new_worker_task(PtcMem *mem, const PtcWorkerProcess *worker,
                                      const PtcTaskIn *in, PtcSpinWait *spin)
{
    PtcWorkerTask *f = ptc_mem_alloc(mem, sizeof *f);
    if (!f)
        return NULL;
    memset(f, 0, sizeof *f);
    f->mem = mem;
    f->fd = worker->fd;
    f->kick = worker->kick;
    f->spin = spin;
    atomic_init(&f->refs, 1);
    ptc_buf_init(&f->backlog, mem, TASK_BACKLOG);
    pthread_mutex_init(&f->lock, NULL);
    ptc_waits_init(&f->waits, in->turn, in->listener);
    return f;
}

/* The task and each of its tool calls hold a reference, because a call may end long after its task. */
void ptc_worker_task_release(PtcWorkerTask *f)
{
    if (atomic_fetch_sub(&f->refs, 1) > 1)
        return;
    ptc_waits_deinit(&f->waits);
    ptc_buf_deinit(&f->backlog);
    pthread_mutex_destroy(&f->lock);
    ptc_mem_free(f->mem, f, sizeof *f);
}

void ptc_worker_task_kick(int fd)
{
    const uint64_t one = 1;
    (void)!write(fd, &one, sizeof one);
}

void ptc_worker_task_drain(int fd)
{
    uint64_t n;
    (void)!read(fd, &n, sizeof n);
}

/* Sends as much as the socket takes now.  False: the socket is broken. */
static bool send_some(int fd, const char *bytes, size_t len, size_t *sent)
{
    while (*sent < len) {
        ssize_t n = send(fd, bytes + *sent, len - *sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0)
            *sent += (size_t)n;
        else if (n < 0 && errno == EAGAIN)
            return true;
        else if (n < 0 && errno != EINTR)
            return false;
    }
    return true;
}

/* A worker that stops reading must hold up nobody: what it does not take is kept. */
static void post_task_frame(PtcWorkerTask *f, const PtcBuf *frame)
{
    size_t sent = 0;
    pthread_mutex_lock(&f->lock);
    bool open = f->fd >= 0 && !f->broken;
    if (open && f->backlog.len == 0)
        f->broken = !send_some(f->fd, frame->data, frame->len, &sent);
    if (open && !f->broken && sent < frame->len) {
        f->broken = !ptc_buf_add(&f->backlog, frame->data + sent, frame->len - sent);
        ptc_worker_task_kick(f->kick); /* the task's thread is to wait for room */
    }
    pthread_mutex_unlock(&f->lock);
}

void ptc_worker_task_post_result(PtcWorkerTask *f, uint64_t id, bool told, bool ok, PtcText result)
{
    static const char full[] = "out of memory, or its result is too large";
    PtcBuf frame;
    ptc_buf_init(&frame, f->mem, PTC_FRAME_MAX);
    bool put =
        told && ptc_frame_put_result(&frame, id, ok, result.bytes ? result.bytes : "", result.len);
    if (!put) {
        ptc_buf_clear(&frame);
        put = ptc_frame_put_result(&frame, id, false, full, sizeof full - 1);
    }
    if (put)
        post_task_frame(f, &frame);
    ptc_buf_deinit(&frame);
}

/* What is left of earlier frames. */
static void send_backlog(PtcWorkerTask *f)
{
    pthread_mutex_lock(&f->lock);
    if (f->backlog.len > 0 && !f->broken)
        f->broken = !send_some(f->fd, f->backlog.data, f->backlog.len, &f->backlog_sent);
    if (f->backlog_sent == f->backlog.len || f->broken) {
        ptc_buf_deinit(&f->backlog);
        f->backlog_sent = 0;
    }
    pthread_mutex_unlock(&f->lock);
}

/* Does something wait to be sent?  *broken: it never can be. */
static bool has_backlog(PtcWorkerTask *f, bool *broken)
{
    pthread_mutex_lock(&f->lock);
    bool has = f->backlog.len > 0;
    *broken = f->broken;
    pthread_mutex_unlock(&f->lock);
    return has;
}

/* From here on nothing is sent.  Returns true when the stream is intact, so that the worker can be reused. */
static bool close_worker_task(PtcWorkerTask *f)
{
    ptc_cancel_ask(&f->cancel);
    pthread_mutex_lock(&f->lock);
    f->fd = -1;
    bool good = !f->broken && f->backlog.len == 0;
    pthread_mutex_unlock(&f->lock);
    return good;
}

/* --------------------------------------------------------------------------- how it ends */

static void end_worker_task(TaskWait *t, PtcTaskStatus status)
{
    t->status = status;
    t->over = true;
}

/* For a worker that is gone or silent: how far the program got is not known, and the message says so. */
static void lose(TaskWait *t, const char *what)
{
    end_worker_task(t, PTC_TASK_LOST);
    snprintf(t->out->message, sizeof t->out->message, "%s; the program may have run in part", what);
}

/* For a worker that did not keep its time.  A program whose worker had to be killed is reported like one that the
 * engine stopped: it ran too long either way. */
static void overrun(TaskWait *t, bool computing)
{
    int64_t limit = computing ? t->limits.timeout_ms : t->limits.deadline_ms;
    end_worker_task(t, ptc_task_out_overrun(t->out, computing, limit) ? PTC_TASK_DONE
                                                                      : PTC_TASK_NO_MEMORY);
}

/* For a worker that broke the protocol.  Unlike lose(), this says what it sent: the fault is in the worker, not in
 * the program. */
static void accuse(TaskWait *t, const char *what)
{
    end_worker_task(t, PTC_TASK_LOST);
    t->answered = false;
    snprintf(t->out->message, sizeof t->out->message, "the worker process sent %.*s and was ended",
             PTC_ARG_OF(what, 250));
}

static void end_process(const PtcWorkerProcess *w)
{
    syscall(SYS_pidfd_send_signal, w->pidfd, SIGKILL, NULL, 0);
}

/* -------------------------------------------------------------------------------- frames */

/* Ids must grow, so that no call can be answered twice. */
static void take_call(TaskWait *t)
{
    PtcWorkerProcess *w = t->worker;
    const PtcBuf *payload = &w->reader.payload;
    uint64_t id = w->reader.head.id;
    uint32_t tool;
    PtcText arguments;
    PtcWhy why;
    if (!ptc_frame_get_call(payload->data, payload->len, &tool, &arguments, &why))
        accuse(t, why.text);
    else if (id <= w->last_call || !ptc_tool_crew_has(t->plan->crew, tool))
        accuse(t, "a call of a tool that does not exist");
    else if (t->calls++ >= t->limits.max_tool_calls ||
             atomic_load(&t->task->under_way) >= PTC_WORKER_TASK_CALLS)
        accuse(t, "more tool calls than its limit");
    else if (!ptc_tool_crew_call(t->plan->crew, t->task, id, tool, arguments))
        end_worker_task(t, PTC_TASK_NO_MEMORY);
    w->last_call = id;
}

static void take_ask(TaskWait *t)
{
    PtcWorkerProcess *w = t->worker;
    const PtcBuf *payload = &w->reader.payload;
    uint64_t id = w->reader.head.id;
    PtcFrameAsk ask;
    PtcWhy why;
    if (!ptc_frame_get_ask(payload->data, payload->len, &ask, &why))
        accuse(t, why.text);
    else if (id <= w->last_call || !t->task->remote)
        accuse(t, "a question that nobody can answer");
    else if (atomic_load(&t->task->under_way) >= PTC_WORKER_TASK_CALLS)
        accuse(t, "more questions than its limit");
    else if (!ptc_worker_task_ask(t->task, id, &ask))
        end_worker_task(t, PTC_TASK_NO_MEMORY);
    w->last_call = id;
}

static void take_done_frame(TaskWait *t)
{
    const PtcFrameReader *r = &t->worker->reader;
    PtcTaskStatus status;
    PtcWhy why;
    t->answered = true;
    if (r->head.id != t->id)
        accuse(t, "the answer of another task");
    else if (ptc_frame_get_done(r->payload.data, r->payload.len, t->out, &status, &why))
        end_worker_task(t, status);
    else if (why.class != PTC_WHY_NO_MEMORY)
        accuse(t, why.text);
    else
        end_worker_task(t, PTC_TASK_NO_MEMORY);
}

static void take_frame(TaskWait *t)
{
    PtcWorkerProcess *w = t->worker;
    uint32_t type = w->reader.head.type;
    if (w->ready == (type == PTC_FRAME_READY)) /* READY must come first, and only once */
        accuse(t, "frames in the wrong order");
    else if (type == PTC_FRAME_READY)
        w->ready = true;
    else if (type == PTC_FRAME_CALL)
        take_call(t);
    else if (type == PTC_FRAME_ASK)
        take_ask(t);
    else
        take_done_frame(t);
}

/* Bytes after DONE are a breach too: the worker has no business to send anything until its next task. */
static void take_worker_bytes(TaskWait *t, const char *bytes, size_t len)
{
    while (!t->over) {
        PtcFrameState state = ptc_frame_feed(&t->worker->reader, &bytes, &len);
        if (state == PTC_FRAME_BAD)
            accuse(t, "bytes that are not a frame");
        else if (state == PTC_FRAME_NO_MEMORY)
            end_worker_task(t, PTC_TASK_NO_MEMORY);
        else if (state == PTC_FRAME_WHOLE)
            take_frame(t);
        else
            return;
    }
    if (t->answered && len > 0)
        accuse(t, "more bytes after its answer");
}

static void receive(TaskWait *t)
{
    char chunk[TASK_CHUNK];
    ssize_t n = recv(t->worker->fd, chunk, sizeof chunk, MSG_DONTWAIT);
    if (n > 0)
        take_worker_bytes(t, chunk, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        lose(t, "the worker process ended before it answered");
}

/* --------------------------------------------------------------------------------- time */

static bool is_cancelled(const TaskWait *t)
{
    return ptc_cancelled(t->cancel);
}

/* Asks the worker to stop. */
static void send_cancel(TaskWait *t)
{
    PtcFrameHead head = {0, PTC_FRAME_CANCEL, t->id};
    PtcBuf frame = {.data = (char *)&head, .len = sizeof head, .cap = sizeof head};
    if (t->cancel_sent)
        return;
    post_task_frame(t->task, &frame);
    t->cancel_sent = true;
    syscall(SYS_pidfd_send_signal, t->worker->pidfd, SIGUSR1, NULL, 0);
}

/* Gives the worker a short time to stop by itself, so that it can be reused; then it is killed. */
static void check_cancel(TaskWait *t, int64_t now)
{
    if (t->kill_ns == INT64_MAX && is_cancelled(t)) {
        t->kill_ns = now + CANCEL_GRACE * PTC_MS;
        ptc_cancel_ask(&t->task->cancel);
    }
    if (t->kill_ns == INT64_MAX)
        return;
    send_cancel(t);
    if (now > t->kill_ns)
        lose(t, "the worker process did not stop when it was asked to");
}

/* A worker enforces its own limits; one that overruns them by this much has gone wrong. */
static void check_time(TaskWait *t)
{
    int64_t now = ptc_clock_ns(NULL);
    int64_t resumed = atomic_load(&t->task->resumed_ns);
    int64_t since = t->looked_ns > resumed ? t->looked_ns : resumed;
    if (atomic_load(&t->task->under_way) == 0 && since < now)
        t->compute_ns += now - since;
    t->looked_ns = now;
    if (t->compute_ns / PTC_MS > t->limits.timeout_ms + GRACE)
        overrun(t, true);
    else if (now > t->task->deadline_ns)
        overrun(t, false);
    else
        check_cancel(t, now);
}

static int64_t smaller_time(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How long there is nothing to do unless somebody wakes us. */
static int64_t sleep_ns(const TaskWait *t)
{
    int64_t end = smaller_time(t->task->deadline_ns, t->kill_ns);
    int64_t left = end - t->looked_ns;
    if (atomic_load(&t->task->under_way) == 0)
        left = smaller_time(left, (t->limits.timeout_ms + GRACE) * PTC_MS - t->compute_ns);
    return left < 0 ? 0 : smaller_time(left, TASK_LOOK_MS * PTC_MS);
}

/* Polls without sleeping; 0: nothing has come, or only an answer of a server, which is no descriptor here. */
static int poll_awake(TaskWait *t, struct pollfd p[2])
{
    PtcSpinWait *spin = t->plan->spin;
    int64_t until = ptc_worker_task_asks_spin(t->task, spin);
    int n = 0;
    if (until == 0 || !ptc_spin_wait_take(spin))
        return 0;
    do
        n = poll(p, 2, 0);
    while (n == 0 && !ptc_worker_task_asks_have_come(t->task) &&
           ptc_spin_wait_goes_on(spin, until));
    ptc_spin_wait_give(spin);
    return n;
}

/* Awake for a moment if that may be enough, then asleep. */
static int poll_both(TaskWait *t, struct pollfd p[2])
{
    int n = poll_awake(t, p);
    if (n != 0)
        return n;
    int64_t ns = ptc_worker_task_asks_sleep(t->task) ? sleep_ns(t) : 0;
    return ppoll(p, 2, &(struct timespec){ns / PTC_S, ns % PTC_S}, NULL);
}

/* Waits until the worker has something to say, or somebody for the worker. */
static void await_worker(TaskWait *t)
{
    bool broken, more = has_backlog(t->task, &broken);
    struct pollfd p[] = {{.fd = t->worker->fd, .events = more ? POLLIN | POLLOUT : POLLIN},
                         {.fd = t->worker->kick, .events = POLLIN}};
    int n = poll_both(t, p);
    if (n > 0 && p[1].revents)
        ptc_worker_task_drain(t->worker->kick);
    if (n > 0 && p[0].revents & POLLOUT)
        send_backlog(t->task);
    if (n > 0 && p[0].revents & ~POLLOUT)
        receive(t);
    if (!t->over)
        ptc_worker_task_asks_take(t->task);
    if (!t->over && broken)
        lose(t, "the worker process does not take the answers that it asked for");
    if (!t->over)
        check_time(t);
}

/* --------------------------------------------------------------------------------- task */

/* A worker may send no more than the submitter's buffers can take. */
static void set_maxima(const TaskWait *t)
{
    PtcFrameReader *r = &t->worker->reader;
    r->max_call = (size_t)t->plan->limits.tool_bytes + sizeof(uint32_t);
    r->max_ask = PTC_FRAME_ASK_HEAD + PTC_FRAME_ASK_MAX;
    r->max_done = DONE_BESIDE;
    for (size_t i = 0; i < PTC_TASK_PARTS; i++) {
        size_t max = t->out->parts[i].max;
        r->max_done += max < PTC_FRAME_MAX ? max : PTC_FRAME_MAX;
    }
}

/* A large task may have to wait for the worker to read it, which then has nothing to send; but not beyond the
 * deadline. */
static bool send_whole(const PtcWorkerTask *f, const PtcBuf *frame)
{
    size_t sent = 0;
    while (send_some(f->fd, frame->data, frame->len, &sent)) {
        struct pollfd p = {.fd = f->fd, .events = POLLOUT};
        if (sent == frame->len)
            return true;
        if ((poll(&p, 1, TASK_LOOK_MS) < 0 && errno != EINTR) ||
            ptc_clock_ns(NULL) > f->deadline_ns)
            return false;
    }
    return false;
}

static bool send_run(TaskWait *t, const PtcTaskIn *in)
{
    PtcBuf frame;
    ptc_buf_init(&frame, t->plan->mem, PTC_FRAME_MAX);
    if (!ptc_frame_put_run(&frame, t->id, in, t->out)) {
        ptc_buf_deinit(&frame);
        end_worker_task(t, PTC_TASK_NO_MEMORY);
        return false;
    }
    bool sent = send_whole(t->task, &frame);
    ptc_buf_deinit(&frame);
    if (!sent && ptc_clock_ns(NULL) > t->task->deadline_ns)
        overrun(t, false);
    else if (!sent)
        lose(t, "the worker process does not take tasks");
    return sent;
}

static void begin_worker_task(TaskWait *t, const PtcTaskIn *in)
{
    t->id = ++t->worker->tasks;
    if (!ptc_limits_merge(&t->limits, &in->limits, &t->plan->limits))
        t->limits = t->plan->limits; /* the worker will refuse the task */
    t->begun_ns = t->looked_ns = ptc_clock_ns(NULL);
    t->kill_ns = INT64_MAX;
    t->task->deadline_ns = t->begun_ns + (t->limits.deadline_ms + GRACE) * PTC_MS;
    set_maxima(t);
}

static void wake_on_cancel(void *worker)
{
    ptc_worker_task_kick(((const PtcWorkerProcess *)worker)->kick);
}

/* Sends the task and serves it to its end; a request to stop wakes us. */
static void fly(TaskWait *t, const PtcTaskIn *in)
{
    PtcCancelWait cancel = {.cancel = t->cancel, .kick = wake_on_cancel, .user = t->worker};
    ptc_cancel_wait_begin(&cancel);
    send_run(t, in);
    while (!t->over)
        await_worker(t);
    ptc_cancel_wait_end(&cancel);
}

static bool begin_asks(TaskWait *t, PtcTaskIn *in)
{
    PtcRemote *remote = t->plan->remote;
    in->use_remote = remote && in->use_tools && in->kind == PTC_TASK_EVAL;
    if (!in->use_remote)
        return true;
    if (!ptc_worker_task_asks_begin(t->task, remote, t->worker->owner, in->asking,
                                    &in->remote_version))
        return false;
    ptc_asking_about(remote, t->task->remote_run, in);
    return true;
}

PtcTaskStatus ptc_worker_task_run(const PtcWorkerTaskPlan *plan, PtcWorkerProcess *worker,
                                  const PtcTaskIn *in, const PtcCancel *cancel, PtcTaskOut *out,
                                  bool *keep)
{
    TaskWait t = {.plan = plan, .worker = worker, .cancel = cancel, .out = out};
    PtcTaskIn task = *in;
    ptc_buf_clear(&out->call_log);
    ptc_buf_clear(&out->took);
    t.task = new_worker_task(plan->mem, worker, in, plan->spin);
    *keep = t.task != NULL; /* true so far: the worker was not touched */
    if (!t.task)
        return PTC_TASK_NO_MEMORY;
    begin_worker_task(&t, in);
    if (!begin_asks(&t, &task)) {
        ptc_waits_close(&t.task->waits);
        ptc_worker_task_release(t.task);
        return PTC_TASK_NO_MEMORY;
    }
    fly(&t, &task);
    /* An answered task leaves its worker as it was before; in any other case the stream is in an unknown state. */
    if (!t.answered)
        end_process(worker);
    *keep = close_worker_task(t.task) && t.answered;
    if (t.task->remote)
        ptc_task_out_pictures(out, t.task->remote, t.task->remote_run);
    ptc_worker_task_asks_end(t.task, t.status == PTC_TASK_DONE ? in->asking : NULL, out);
    out->effects = ptc_waits_close(&t.task->waits);
    ptc_worker_task_release(t.task);
    return t.kill_ns != INT64_MAX ? PTC_TASK_CANCELLED : t.status;
}

/* READY is one head and nothing else, so it is read without a reader. */
bool ptc_worker_task_await(PtcWorkerProcess *w, int ms)
{
    struct pollfd p = {.fd = w->fd, .events = POLLIN};
    PtcFrameHead head;
    if (poll(&p, 1, ms) != 1 || recv(w->fd, &head, sizeof head, MSG_DONTWAIT) != sizeof head)
        return false;
    w->ready = head.type == PTC_FRAME_READY && head.len == 0;
    return w->ready;
}
