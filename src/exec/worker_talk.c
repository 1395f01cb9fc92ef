/* SPDX-License-Identifier: MIT
 * The worker's end of its socket.  Threads of a program wait for answers here: one of them reads for all (it leads),
 * the others sleep until it has their answer or hands the reading on.  What always holds: only the thread that set
 * `reading` touches the input, and it reads whole frames.  A worker without its socket has nothing left to do, so every
 * failure of it ends the process. */
#define _GNU_SOURCE
#include "exec/worker_talk.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/os/cancel.h"
#include "base/os/cond.h"
#include "base/units.h"
#include "exec/sandbox.h"

enum {
    PIPE = 0,
    SECOND_STACK = 256 * PTC_KB,
    CANCEL_NS = 500 * PTC_US, /* between two cancels of a program that has not noticed the first */
    TALK_KEPT = 64 * PTC_KB,
};

/* -------------------------------------------------------------------------------- writing */

/* Blocking is fine here: the server reads whenever it waits for this worker. */
static void write_frame_parts(struct iovec *parts, int count)
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

void ptc_talk_send(PtcTalk *talk, const PtcBuf *frame)
{
    struct iovec part = {frame->data, frame->len};
    pthread_mutex_lock(&talk->writing);
    write_frame_parts(&part, 1);
    pthread_mutex_unlock(&talk->writing);
}

void ptc_talk_ready(PtcTalk *talk)
{
    PtcFrameHead head = {0, PTC_FRAME_READY, 0};
    PtcBuf frame = {.data = (char *)&head, .len = sizeof head, .cap = sizeof head};
    ptc_talk_send(talk, &frame);
}

/* -------------------------------------------------------------------------------- reading */

/* At least one byte into the empty input.  False: there is none now, and `wait` was not asked for. */
static bool fill_talk_input(PtcTalk *talk, bool wait)
{
    for (;;) {
        ssize_t n = recv(PIPE, talk->input, sizeof talk->input, wait ? 0 : MSG_DONTWAIT);
        if (n > 0) {
            talk->at = 0;
            talk->got = (size_t)n;
            return true;
        }
        if (n < 0 && errno == EAGAIN && !wait)
            return false;
        if (n == 0 || errno != EINTR)
            ptc_sandbox_end();
    }
}

/* What is left of a large payload goes straight to where it belongs. */
static void take_payload_bytes(PtcTalk *talk, char *to, size_t n)
{
    while (n > 0) {
        if (talk->at == talk->got && n < sizeof talk->input)
            (void)fill_talk_input(talk, true);
        if (talk->at < talk->got) {
            size_t part = talk->got - talk->at < n ? talk->got - talk->at : n;
            memcpy(to, talk->input + talk->at, part);
            talk->at += part;
            to += part;
            n -= part;
            continue;
        }
        ssize_t got = recv(PIPE, to, n, 0);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            ptc_sandbox_end();
        if (got > 0) {
            to += got;
            n -= (size_t)got;
        }
    }
}

static PtcFrameHead read_frame(PtcTalk *talk, PtcBuf *payload)
{
    PtcFrameHead head;
    take_payload_bytes(talk, (char *)&head, sizeof head);
    ptc_buf_clear(payload);
    if (head.len > PTC_FRAME_MAX || !ptc_buf_reserve(payload, head.len))
        ptc_sandbox_end();
    take_payload_bytes(talk, payload->data, head.len);
    payload->len = head.len;
    return head;
}

/* An idle worker should not hold on to the memory of its largest frame. */
static void trim_frame_payload(PtcBuf *payload)
{
    if (payload->cap > TALK_KEPT)
        ptc_buf_deinit(payload);
}

/* --------------------------------------------------------------------------------- waits */

/* With the lock held. */
static PtcTalkWait *find_wait(PtcTalk *talk, uint64_t id)
{
    PtcTalkWait *w = talk->waits;
    while (w && w->id != id)
        w = w->next;
    return w;
}

/* With the lock held. */
static void wake_talk_wait(PtcTalkWait *wait)
{
    if (wait->leads)
        pthread_kill(wait->thread, SIGUSR2);
    else
        pthread_cond_signal(&wait->change);
}

/* A result that comes too late finds nobody and is dropped.  With the lock held. */
static void take_answer_frame(PtcTalk *talk, uint64_t id, const PtcBuf *payload)
{
    PtcText text;
    PtcTalkWait *wait = find_wait(talk, id);
    if (!wait || wait->answered)
        return;
    if (!ptc_frame_get_result(payload->data, payload->len, &wait->ok, &text) ||
        !ptc_buf_add(&wait->answer, text.bytes, text.len))
        ptc_sandbox_end();
    wait->answered = true;
    if (!wait->leads)
        wake_talk_wait(wait);
}

/* With the lock held. */
static bool take_cancel(PtcTalk *talk, uint64_t id)
{
    if (!talk->running || id != talk->task)
        return false;
    talk->cancel(talk->user);
    for (PtcTalkWait *w = talk->waits; w; w = w->next)
        if (!w->leads)
            wake_talk_wait(w);
    return true;
}

/* Reads the frames that have begun to arrive.  Without the lock, by the thread that reads.  True: the task was
 * cancelled. */
static bool take_frames(PtcTalk *talk)
{
    bool cancelled = false;
    while (talk->at < talk->got) {
        PtcFrameHead head = read_frame(talk, &talk->payload);
        pthread_mutex_lock(&talk->lock);
        if (head.type == PTC_FRAME_RESULT)
            take_answer_frame(talk, head.id, &talk->payload);
        else if (head.type == PTC_FRAME_CANCEL)
            cancelled = take_cancel(talk, head.id) || cancelled;
        else
            ptc_sandbox_end(); /* a RUN does not come while one is running */
        pthread_mutex_unlock(&talk->lock);
        trim_frame_payload(&talk->payload);
    }
    return cancelled;
}

/* The next task, or the answer of a quick tool, is back before this process could be put to sleep and woken, which
 * costs more than a short program. */
static void spin(PtcTalk *talk, int64_t until)
{
    while (talk->at == talk->got && !fill_talk_input(talk, false) &&
           ptc_spin_wait_goes_on(&talk->spin, until))
        continue;
}

/* Waits until something arrives, the time comes, or a kick. */
static void lead(PtcTalk *talk, int64_t until)
{
    struct pollfd p = {.fd = PIPE, .events = POLLIN};
    int64_t now = ptc_clock_ns(NULL), left = until == INT64_MAX ? 0 : until - now;
    struct timespec t = {.tv_sec = left / PTC_S, .tv_nsec = left % PTC_S};
    if (left < 0)
        return;
    spin(talk, ptc_spin_wait_for_server(&talk->spin, now));
    if (talk->at < talk->got) /* it came with the task */
        (void)take_frames(talk);
    else if (ppoll(&p, 1, until == INT64_MAX ? NULL : &t, &talk->kicked) == 1 &&
             fill_talk_input(talk, false))
        (void)take_frames(talk);
}

/* With the lock held, which is released meanwhile. */
static void lead_once(PtcTalk *talk, PtcTalkWait *wait, int64_t until)
{
    talk->reading = wait->leads = true;
    pthread_mutex_unlock(&talk->lock);
    lead(talk, until);
    pthread_mutex_lock(&talk->lock);
    talk->reading = wait->leads = false;
}

static void wait_for_reader(PtcTalk *talk, PtcTalkWait *wait, int64_t until)
{
    (void)ptc_cond_wait_until(&wait->change, &talk->lock, until);
}

/* Somebody else must read from now on.  With the lock held. */
static void hand_on_reading(PtcTalk *talk, const PtcTalkWait *but)
{
    PtcTalkWait *next = talk->waits;
    while (next && (next == but || next->answered))
        next = next->next;
    if (talk->reading)
        return;
    if (next)
        pthread_cond_signal(&next->change);
    pthread_cond_broadcast(&talk->quiet);
}

static bool is_talk_wait_over(const PtcBudget *b, int64_t end_ns)
{
    return (b && ptc_cancelled(b->cancel)) || (end_ns != INT64_MAX && ptc_clock_ns(NULL) >= end_ns);
}

typedef struct Kick {
    PtcTalk *talk;
    PtcTalkWait *wait;
} Kick;

static void wake_talk_waiter(void *user)
{
    const Kick *k = user;
    pthread_mutex_lock(&k->talk->lock);
    wake_talk_wait(k->wait);
    pthread_mutex_unlock(&k->talk->lock);
}

static void await_talk_answer(PtcTalk *talk, PtcTalkWait *wait, const PtcBudget *b, int64_t end_ns)
{
    pthread_mutex_lock(&talk->lock);
    while (!wait->answered && !is_talk_wait_over(b, end_ns)) {
        if (talk->reading)
            wait_for_reader(talk, wait, end_ns);
        else
            lead_once(talk, wait, end_ns);
    }
    hand_on_reading(talk, wait);
    pthread_mutex_unlock(&talk->lock);
}

bool ptc_talk_wait(PtcTalk *talk, PtcTalkWait *wait, const PtcBudget *b, int64_t end_ns)
{
    Kick k = {talk, wait};
    PtcCancelWait cancel = {.cancel = b ? b->cancel : NULL, .kick = wake_talk_waiter, .user = &k};
    if (b && ptc_budget_end(b) < end_ns)
        end_ns = ptc_budget_end(b);
    if (b)
        ptc_cancel_wait_begin(&cancel);
    int64_t begun = ptc_clock_ns(NULL);
    await_talk_answer(talk, wait, b, end_ns);
    ptc_spin_wait_learn(&talk->spin, ptc_clock_ns(NULL) - begun);
    if (b)
        ptc_cancel_wait_end(&cancel);
    return wait->answered;
}

static void init_wait(PtcTalk *talk, PtcTalkWait *wait)
{
    memset(wait, 0, sizeof *wait);
    wait->thread = pthread_self();
    ptc_buf_init(&wait->answer, talk->mem, PTC_FRAME_MAX);
    ptc_cond_init(&wait->change);
}

void ptc_talk_ask(PtcTalk *talk, PtcTalkWait *wait, PtcFrameType type, const uint32_t *numbers,
                  size_t count, PtcText text)
{
    PtcFrameHead head = {(uint32_t)(text.len + count * sizeof *numbers), type, 0};
    struct iovec parts[] = {{&head, sizeof head},
                            {(uint32_t *)(uintptr_t)numbers, count * sizeof *numbers},
                            {(char *)(uintptr_t)text.bytes, text.len}};
    init_wait(talk, wait);
    pthread_mutex_lock(&talk->writing);
    pthread_mutex_lock(&talk->lock);
    head.id = wait->id = ++talk->last_call;
    wait->next = talk->waits;
    talk->waits = wait;
    pthread_mutex_unlock(&talk->lock);
    write_frame_parts(parts, 3);
    pthread_mutex_unlock(&talk->writing);
}

void ptc_talk_done(PtcTalk *talk, PtcTalkWait *wait)
{
    pthread_mutex_lock(&talk->lock);
    PtcTalkWait **at = &talk->waits;
    while (*at != wait)
        at = &(*at)->next;
    *at = wait->next;
    pthread_mutex_unlock(&talk->lock);
    pthread_cond_destroy(&wait->change);
    ptc_buf_deinit(&wait->answer);
}

/* --------------------------------------------------------------------------------- tasks */

void ptc_talk_next(PtcTalk *talk, PtcBuf *payload)
{
    PtcFrameHead head = {0};
    pthread_mutex_lock(&talk->lock);
    while (talk->reading)
        pthread_cond_wait(&talk->quiet, &talk->lock);
    talk->reading = true;
    pthread_mutex_unlock(&talk->lock);
    if (talk->task > 0)
        spin(talk, ptc_spin_wait_for_worker(&talk->spin, ptc_clock_ns(NULL)));
    while (head.type != PTC_FRAME_RUN)
        head = read_frame(talk, payload); /* skips what came too late for its task */
    pthread_mutex_lock(&talk->lock);
    talk->reading = false;
    talk->task = head.id;
    talk->running = true;
    pthread_mutex_unlock(&talk->lock);
}

void ptc_talk_over(PtcTalk *talk)
{
    pthread_mutex_lock(&talk->lock);
    talk->running = false;
    pthread_cond_broadcast(&talk->quiet);
    pthread_mutex_unlock(&talk->lock);
}

/* ----------------------------------------------------------------------- the second thread */

/* The engine notices a cancel only while it runs, so it is told again and again until the task is over.  With the lock
 * held, which is released meanwhile. */
static void insist(PtcTalk *talk)
{
    const struct timespec a_little = {0, CANCEL_NS};
    uint64_t task = talk->task;
    while (talk->running && talk->task == task) {
        talk->cancel(talk->user);
        pthread_mutex_unlock(&talk->lock);
        nanosleep(&a_little, NULL);
        pthread_mutex_lock(&talk->lock);
    }
}

/* A CANCEL was sent before the signal, so it is there now, or somebody else has read it. */
static void look_for_cancel(PtcTalk *talk)
{
    pthread_mutex_lock(&talk->lock);
    while (talk->running && talk->reading)
        pthread_cond_wait(&talk->quiet, &talk->lock);
    bool mine = talk->running, cancelled = false;
    talk->reading = talk->reading || mine;
    pthread_mutex_unlock(&talk->lock);
    if (!mine)
        return;
    if (talk->at < talk->got || fill_talk_input(talk, false))
        cancelled = take_frames(talk);
    pthread_mutex_lock(&talk->lock);
    talk->reading = false;
    hand_on_reading(talk, NULL);
    if (cancelled)
        insist(talk);
    pthread_mutex_unlock(&talk->lock);
}

static void *listen_for_cancel(void *arg)
{
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    for (;;) {
        sigwait(&set, &number);
        look_for_cancel(arg);
    }
    return NULL;
}

bool ptc_talk_start(PtcTalk *talk)
{
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0)
        return false;
    pthread_attr_setstacksize(&attr, SECOND_STACK);
    bool ok = pthread_create(&talk->second, &attr, listen_for_cancel, talk) == 0;
    pthread_attr_destroy(&attr);
    return ok;
}

static void do_nothing(int number)
{
    (void)number;
}

/* Both are blocked: SIGUSR1 is received with sigwait, SIGUSR2 only interrupts who leads. */
void ptc_talk_signals(void)
{
    sigset_t set;
    struct sigaction action = {.sa_handler = do_nothing};
    sigaction(SIGUSR2, &action, NULL);
    signal(SIGUSR1, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

void ptc_talk_init(PtcTalk *talk, PtcMem *mem, void (*cancel)(void *user), void *user)
{
    memset(talk, 0, sizeof *talk);
    ptc_spin_wait_init(&talk->spin);
    talk->mem = mem;
    talk->cancel = cancel;
    talk->user = user;
    ptc_buf_init(&talk->payload, mem, PTC_FRAME_MAX);
    pthread_mutex_init(&talk->writing, NULL);
    pthread_mutex_init(&talk->lock, NULL);
    pthread_cond_init(&talk->quiet, NULL);
    sigprocmask(SIG_BLOCK, NULL, &talk->kicked);
    sigdelset(&talk->kicked, SIGUSR2);
}
