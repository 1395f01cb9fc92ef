/* SPDX-License-Identifier: MIT
 * One task in one worker, as the server sees it: send RUN, serve the tool calls that come back, take DONE.  What
 * always holds: nothing a worker sends is trusted.  A worker that breaks the protocol, misses its deadline or
 * ignores a cancel is killed, never waited for; only one that answered cleanly is handed back for another task. */
#define _GNU_SOURCE
#include "exec/flight.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    CHUNK = 16 * 1024,
    CANCEL_MS = 4,      /* how often the cancel flag is looked at */
    LOOK_MS = 50,       /* how often the clock is looked at when there is no cancel flag */
    CANCEL_GRACE = 50,  /* ms a worker has to react to a cancel */
    GRACE = 500,        /* ms beyond its time limit; it may use half of that to write its answer */
    DONE_BESIDE = 2048, /* bytes of a DONE apart from its buffers */
};

/* One task, from the point of view of the thread that waits for it. */
typedef struct Trip {
    const PtcFlightPlan *plan;
    PtcWorkerProcess *worker;
    PtcFlight *flight;
    const PtcCancel *cancel;
    PtcTaskOut *out;
    uint64_t id;
    int64_t timeout_ms, deadline_ms, calls_left;
    int64_t begun_ns, looked_ns;
    int64_t compute_ns; /* waited while no tool was under way */
    int64_t kill_ns;    /* after a cancel; INT64_MAX before */
    bool cancel_sent;
    bool over;
    bool answered; /* with a DONE, after which the worker is as it was before */
    PtcTaskStatus status;
} Trip;

/* ------------------------------------------------------------------------------- flights */

static PtcFlight *new_flight(PtcMem *mem, int fd, const PtcTaskTurn *turn)
{
    PtcFlight *f = ptc_mem_alloc(mem, sizeof *f);
    if (!f)
        return NULL;
    memset(f, 0, sizeof *f);
    f->mem = mem;
    f->fd = fd;
    atomic_init(&f->refs, 1);
    pthread_mutex_init(&f->lock, NULL);
    ptc_waits_init(&f->waits, turn);
    return f;
}

/* The task and each of its tool calls hold a reference, because a call may end long after its task. */
void ptc_flight_release(PtcFlight *f)
{
    if (atomic_fetch_sub(&f->refs, 1) > 1)
        return;
    ptc_waits_deinit(&f->waits);
    pthread_mutex_destroy(&f->lock);
    ptc_mem_free(f->mem, f, sizeof *f);
}

/* Never blocks in send(): a worker that stops reading must not hold up this thread beyond the flight's end or its
 * deadline. */
bool ptc_flight_send(PtcFlight *f, const PtcBuf *frame)
{
    size_t sent = 0;
    while (sent < frame->len) {
        ssize_t n = send(f->fd, frame->data + sent, frame->len - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            sent += (size_t)n;
            continue;
        }
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        struct pollfd p = {.fd = f->fd, .events = POLLOUT};
        if (poll(&p, 1, CANCEL_MS) < 0 && errno != EINTR)
            return false;
        if (atomic_load(&f->closing) || ptc_clock_ns(NULL) > f->deadline_ns)
            return false;
    }
    return true;
}

/* From here on no tool call may use the socket.  Returns true when the stream is intact, so that the worker can be
 * reused. */
static bool close_flight(PtcFlight *f)
{
    atomic_store(&f->closing, true);
    atomic_store(&f->cancel.asked, true);
    pthread_mutex_lock(&f->lock);
    f->fd = -1;
    bool good = !f->broken;
    pthread_mutex_unlock(&f->lock);
    return good;
}

/* --------------------------------------------------------------------------- how it ends */

static void end(Trip *t, PtcTaskStatus status)
{
    t->status = status;
    t->over = true;
}

/* For a worker that is gone or silent: how far the program got is not known, and the message says so. */
static void lose(Trip *t, const char *what)
{
    end(t, PTC_TASK_LOST);
    snprintf(t->out->message, sizeof t->out->message, "%s; the program may have run in part", what);
}

/* For a worker that did not keep its time.  A program whose worker had to be killed is reported like one that the
 * engine stopped: it ran too long either way. */
static void overrun(Trip *t, bool computing)
{
    int64_t limit = computing ? t->timeout_ms : t->deadline_ms;
    end(t, ptc_task_out_overrun(t->out, computing, limit) ? PTC_TASK_DONE : PTC_TASK_NO_MEMORY);
}

/* For a worker that broke the protocol.  Unlike lose(), this says what it sent: the fault is in the worker, not in
 * the program. */
static void accuse(Trip *t, const char *what)
{
    end(t, PTC_TASK_LOST);
    t->answered = false;
    snprintf(t->out->message, sizeof t->out->message, "the worker process sent %s and was ended",
             what);
}

static void end_process(const PtcWorkerProcess *w)
{
    syscall(SYS_pidfd_send_signal, w->pidfd, SIGKILL, NULL, 0);
}

/* -------------------------------------------------------------------------------- frames */

/* Ids must grow, so that no call can be answered twice. */
static void take_call(Trip *t)
{
    PtcWorkerProcess *w = t->worker;
    const PtcBuf *payload = &w->reader.payload;
    uint64_t id = w->reader.head.id;
    uint32_t tool;
    PtcText arguments;
    const char *why;
    if (!ptc_frame_get_call(payload->data, payload->len, &tool, &arguments, &why))
        accuse(t, why);
    else if (id <= w->last_call || !ptc_tool_crew_has(t->plan->crew, tool))
        accuse(t, "a call of a tool that does not exist");
    else if (t->calls_left-- <= 0 || atomic_load(&t->flight->under_way) >= PTC_FLIGHT_CALLS)
        accuse(t, "more tool calls than its limit");
    else if (!ptc_tool_crew_call(t->plan->crew, t->flight, id, tool, arguments))
        end(t, PTC_TASK_NO_MEMORY);
    w->last_call = id;
}

static void take_done(Trip *t)
{
    const PtcFrameReader *r = &t->worker->reader;
    PtcTaskStatus status;
    const char *why = NULL;
    t->answered = true;
    if (r->head.id != t->id)
        accuse(t, "the answer of another task");
    else if (ptc_frame_get_done(r->payload.data, r->payload.len, t->out, &status, &why))
        end(t, status);
    else if (why)
        accuse(t, why);
    else
        end(t, PTC_TASK_NO_MEMORY);
}

static void take_frame(Trip *t)
{
    PtcWorkerProcess *w = t->worker;
    uint32_t type = w->reader.head.type;
    if (w->ready == (type == PTC_FRAME_READY)) /* READY must come first, and only once */
        accuse(t, "frames in the wrong order");
    else if (type == PTC_FRAME_READY)
        w->ready = true;
    else if (type == PTC_FRAME_CALL)
        take_call(t);
    else
        take_done(t);
}

/* Bytes after DONE are a breach too: the worker has no business to send anything until its next task. */
static void take_bytes(Trip *t, const char *bytes, size_t len)
{
    while (!t->over) {
        PtcFrameState state = ptc_frame_feed(&t->worker->reader, &bytes, &len);
        if (state == PTC_FRAME_BAD)
            accuse(t, "bytes that are not a frame");
        else if (state == PTC_FRAME_NO_MEMORY)
            end(t, PTC_TASK_NO_MEMORY);
        else if (state == PTC_FRAME_WHOLE)
            take_frame(t);
        else
            return;
    }
    if (t->status == PTC_TASK_DONE && len > 0)
        accuse(t, "more bytes after its answer");
}

static void receive(Trip *t)
{
    char chunk[CHUNK];
    ssize_t n = recv(t->worker->fd, chunk, sizeof chunk, MSG_DONTWAIT);
    if (n > 0)
        take_bytes(t, chunk, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        lose(t, "the worker process ended before it answered");
}

/* --------------------------------------------------------------------------------- time */

static bool is_cancelled(const Trip *t)
{
    return ptc_cancelled(t->cancel);
}

/* Asks the worker to stop.  While a tool result is being sent the lock is taken; then the next round tries again,
 * because a CANCEL in the middle of a RESULT would break the stream. */
static void send_cancel(Trip *t)
{
    PtcFrameHead head = {0, PTC_FRAME_CANCEL, t->id};
    PtcBuf frame = {.data = (char *)&head, .len = sizeof head, .cap = sizeof head};
    if (t->cancel_sent || pthread_mutex_trylock(&t->flight->lock) != 0)
        return;
    t->flight->broken = t->flight->broken || !ptc_flight_send(t->flight, &frame);
    pthread_mutex_unlock(&t->flight->lock);
    t->cancel_sent = true;
    syscall(SYS_pidfd_send_signal, t->worker->pidfd, SIGUSR1, NULL, 0);
}

/* Gives the worker a short time to stop by itself, so that it can be reused; then it is killed. */
static void check_cancel(Trip *t, int64_t now)
{
    if (t->kill_ns == INT64_MAX && is_cancelled(t)) {
        t->kill_ns = now + (int64_t)CANCEL_GRACE * 1000000;
        atomic_store(&t->flight->cancel.asked, true);
    }
    if (t->kill_ns == INT64_MAX)
        return;
    send_cancel(t);
    if (now > t->kill_ns)
        lose(t, "the worker process did not stop when it was asked to");
}

/* A worker enforces its own limits; one that overruns them by this much has gone wrong. */
static void check_time(Trip *t)
{
    int64_t now = ptc_clock_ns(NULL);
    int64_t resumed = atomic_load(&t->flight->resumed_ns);
    int64_t since = t->looked_ns > resumed ? t->looked_ns : resumed;
    if (atomic_load(&t->flight->under_way) == 0 && since < now)
        t->compute_ns += now - since;
    t->looked_ns = now;
    if (t->compute_ns / 1000000 > t->timeout_ms + GRACE)
        overrun(t, true);
    else if (now > t->flight->deadline_ns)
        overrun(t, false);
    else
        check_cancel(t, now);
}

static void await(Trip *t)
{
    struct pollfd p = {.fd = t->worker->fd, .events = POLLIN};
    int n = poll(&p, 1, t->cancel ? CANCEL_MS : LOOK_MS);
    if (n > 0)
        receive(t);
    if (!t->over)
        check_time(t);
}

/* --------------------------------------------------------------------------------- trip */

/* A worker may send no more than the submitter's buffers can take. */
static void set_maxima(const Trip *t)
{
    PtcFrameReader *r = &t->worker->reader;
    r->max_call = (size_t)t->plan->limits.tool_bytes + sizeof(uint32_t);
    r->max_done = DONE_BESIDE;
    for (size_t i = 0; i < PTC_TASK_PARTS; i++) {
        size_t max = t->out->parts[i].max;
        r->max_done += max < PTC_FRAME_MAX ? max : PTC_FRAME_MAX;
    }
}

static bool send_run(Trip *t, const PtcTaskIn *in)
{
    PtcBuf frame;
    ptc_buf_init(&frame, t->plan->mem, PTC_FRAME_MAX);
    if (!ptc_frame_put_run(&frame, t->id, in, t->out)) {
        ptc_buf_deinit(&frame);
        end(t, PTC_TASK_NO_MEMORY);
        return false;
    }
    bool sent = ptc_flight_send(t->flight, &frame);
    ptc_buf_deinit(&frame);
    if (!sent && ptc_clock_ns(NULL) > t->flight->deadline_ns)
        overrun(t, false);
    else if (!sent)
        lose(t, "the worker process does not take tasks");
    return sent;
}

/* Capped, so that adding times cannot overflow. */
static int64_t or_default(int64_t n, int64_t otherwise)
{
    const int64_t most = (int64_t)1 << 40;
    return n == PTC_UNSET ? otherwise : n < most ? n : most;
}

static void begin(Trip *t, const PtcTaskIn *in)
{
    const PtcLimits *l = &t->plan->limits;
    t->id = ++t->worker->tasks;
    t->timeout_ms = or_default(in->timeout_ms, l->timeout_ms);
    t->calls_left = or_default(in->max_tool_calls, l->max_tool_calls);
    t->deadline_ms = or_default(in->deadline_ms ? in->deadline_ms : PTC_UNSET, l->deadline_ms);
    t->begun_ns = t->looked_ns = ptc_clock_ns(NULL);
    t->kill_ns = INT64_MAX;
    t->flight->deadline_ns = t->begun_ns + (t->deadline_ms + GRACE) * 1000000;
    set_maxima(t);
}

PtcTaskStatus ptc_flight(const PtcFlightPlan *plan, PtcWorkerProcess *worker, const PtcTaskIn *in,
                         const PtcCancel *cancel, PtcTaskOut *out, bool *keep)
{
    Trip t = {.plan = plan, .worker = worker, .cancel = cancel, .out = out};
    t.flight = new_flight(plan->mem, worker->fd, in->turn);
    *keep = t.flight != NULL; /* true so far: the worker was not touched */
    if (!t.flight)
        return PTC_TASK_NO_MEMORY;
    begin(&t, in);
    send_run(&t, in);
    while (!t.over)
        await(&t);
    /* An answered task leaves its worker as it was before; in any other case the stream is in an unknown state. */
    if (!t.answered)
        end_process(worker);
    *keep = close_flight(t.flight) && t.answered;
    out->effects = ptc_waits_close(&t.flight->waits);
    ptc_flight_release(t.flight);
    return t.kill_ns != INT64_MAX ? PTC_TASK_CANCELLED : t.status;
}

/* READY is one head and nothing else, so it is read without a reader. */
bool ptc_flight_await(PtcWorkerProcess *w, int ms)
{
    struct pollfd p = {.fd = w->fd, .events = POLLIN};
    PtcFrameHead head;
    if (poll(&p, 1, ms) != 1 || recv(w->fd, &head, sizeof head, MSG_DONTWAIT) != sizeof head)
        return false;
    w->ready = head.type == PTC_FRAME_READY && head.len == 0;
    return w->ready;
}
