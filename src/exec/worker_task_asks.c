/* SPDX-License-Identifier: MIT
 * What a worker asks of other servers.  Everything here runs on the task's own thread but ready(), which comes from
 * any: it links the ask into an inbox and wakes the task's thread.  What always holds: an ask lives from its frame to
 * its finish_worker_ask(); the remote checks what is in it, since the worker may lie. */
#include "exec/worker_task.h"

#include <poll.h>
#include <sched.h>

#include "exec/asking.h"

typedef struct PtcWorkerTaskAsk {
    PtcRemoteAsk base; /* first */
    struct PtcWorkerTaskAsk *next, **link;
    PtcWorkerTask *task;
    uint64_t id;
    int64_t begun_ns;
    size_t len;
    char text[];
} PtcWorkerTaskAsk;

static bool is_call_ask(const PtcWorkerTaskAsk *ask)
{
    return ask->base.op == PTC_REMOTE_CALL || ask->base.op == PTC_REMOTE_CALL_NAMED;
}

/* No lock: the task's thread may run as soon as it is kicked, on this very core, and would only wait for it.  The
 * task lasts until nobody is in here, see await_kicks(). */
static void on_ask_ready(PtcRemoteAsk *base)
{
    PtcWorkerTask *f = ((PtcWorkerTaskAsk *)(void *)base)->task;
    atomic_fetch_add(&f->kicking, 1);
    base->next = atomic_load(&f->inbox);
    while (!atomic_compare_exchange_weak(&f->inbox, &base->next, base))
        ;
    if (atomic_exchange(&f->asleep, false))
        ptc_worker_task_kick(f->kick);
    atomic_fetch_sub(&f->kicking, 1);
}

bool ptc_worker_task_asks_begin(PtcWorkerTask *f, PtcRemote *remote, const char *owner,
                                PtcTaskAsking *asking, uint64_t *version)
{
    f->remote_run = ptc_asking_begin(asking, remote, owner, f->deadline_ns, &f->cancel, version);
    f->remote = f->remote_run ? remote : NULL;
    return f->remote != NULL;
}

static void free_ask(PtcWorkerTaskAsk *ask)
{
    PtcWorkerTask *f = ask->task;
    *ask->link = ask->next;
    if (ask->next)
        ask->next->link = ask->link;
    f->ask_count--;
    ptc_mem_free(f->mem, ask, sizeof *ask + ask->len);
}

/* Makes the answer and sends it, unless the task is over.  The turn is taken back before the result is sent, so that
 * the program never computes without one. */
static void finish_worker_ask(PtcWorkerTaskAsk *ask, bool pending, bool send)
{
    PtcWorkerTask *f = ask->task;
    PtcRemoteAnswer answer = {.heap = NULL}; /* text: it goes into a frame */
    ptc_buf_init(&answer.text, f->mem, PTC_FRAME_MAX / 2);
    bool told = f->remote->finish(f->remote_run, &ask->base, &answer) && ptc_buf_ok(&answer.text);
    if (pending && is_call_ask(ask) && told && answer.may_repeat)
        ptc_waits_harmless(&f->waits);
    else if (!pending && is_call_ask(ask) && !(told && answer.may_repeat))
        ptc_waits_effect(&f->waits);
    if (pending && send)
        ptc_waits_end(&f->waits);
    if (pending) {
        int64_t now = ptc_clock_ns(NULL);
        atomic_store(&f->resumed_ns, now);
        if (is_call_ask(ask))
            ptc_spin_wait_learn(f->spin, now - ask->begun_ns);
        atomic_fetch_sub(&f->under_way, 1);
    }
    if (send)
        ptc_worker_task_post_result(f, ask->id, told, answer.ok, ptc_buf_view(&answer.text));
    ptc_buf_deinit(&answer.text);
    free_ask(ask);
}

/* The remote knows this at once, so it does not become an ask of the run. */
static void answer_knows(PtcWorkerTask *f, uint64_t id, PtcText ns)
{
    PtcBuf nearest;
    ptc_buf_init(&nearest, f->mem, 256);
    bool known = f->remote->knows(f->remote, ns, &nearest);
    ptc_worker_task_post_result(f, id, true, known, ptc_buf_view(&nearest));
    ptc_buf_deinit(&nearest);
}

static PtcWorkerTaskAsk *new_ask(PtcWorkerTask *f, uint64_t id, const PtcFrameAsk *frame)
{
    PtcWorkerTaskAsk *ask = ptc_mem_alloc(f->mem, sizeof *ask + frame->text.len);
    if (!ask)
        return NULL;
    *ask = (PtcWorkerTaskAsk){
        .task = f, .id = id, .begun_ns = ptc_clock_ns(NULL), .len = frame->text.len};
    memcpy(ask->text, frame->text.bytes, frame->text.len);
    ask->base = (PtcRemoteAsk){.op = (PtcRemoteOp)frame->op,
                               .slot = frame->slot,
                               .tool = frame->tool,
                               .id = frame->id,
                               .text = {ask->text, ask->len},
                               .ready = on_ask_ready};
    ask->next = f->asks;
    ask->link = &f->asks;
    if (f->asks)
        f->asks->link = &ask->next;
    f->asks = ask;
    f->ask_count++;
    return ask;
}

/* Counted before it is asked: ready() may come before ask() returns. */
bool ptc_worker_task_ask(PtcWorkerTask *f, uint64_t id, const PtcFrameAsk *frame)
{
    if (frame->op == PTC_FRAME_KNOWS) {
        answer_knows(f, id, frame->text);
        return true;
    }
    PtcWorkerTaskAsk *ask = new_ask(f, id, frame);
    if (!ask)
        return false;
    PtcRemoteStatus status = f->remote->ask(f->remote_run, &ask->base);
    if (status == PTC_REMOTE_NO_MEMORY) {
        free_ask(ask);
        ptc_worker_task_post_result(f, id, false, false, (PtcText){NULL, 0});
    } else if (status == PTC_REMOTE_NOW) {
        finish_worker_ask(ask, false, true);
    } else {
        atomic_fetch_add(&f->under_way, 1);
        ptc_waits_begin(&f->waits, !is_call_ask(ask));
    }
    return true;
}

/* Several asks at once take long anyway, and their answers come together: waiting awake would gain nothing. */
int64_t ptc_worker_task_asks_spin(const PtcWorkerTask *f, const PtcSpinWait *spin)
{
    unsigned under_way = atomic_load(&f->under_way);
    int64_t now = ptc_clock_ns(NULL);
    if (under_way == 0)
        return ptc_spin_wait_for_worker(spin, now);
    return under_way == 1 && f->ask_count == 1 ? ptc_spin_wait_for_server(spin, now) : 0;
}

bool ptc_worker_task_asks_have_come(const PtcWorkerTask *f)
{
    return atomic_load(&f->inbox) != NULL;
}

bool ptc_worker_task_asks_sleep(PtcWorkerTask *f)
{
    if (f->ask_count == 0)
        return true;
    atomic_store(&f->asleep, true); /* first: whoever comes after our look at the inbox kicks */
    bool empty = atomic_load(&f->inbox) == NULL;
    if (!empty)
        atomic_store(&f->asleep, false);
    return empty;
}

static void take_ready_asks(PtcWorkerTask *f, bool send)
{
    if (f->ask_count == 0)
        return;
    atomic_store(&f->asleep, false);
    PtcRemoteAsk *base = atomic_exchange(&f->inbox, NULL);
    for (PtcRemoteAsk *next; base; base = next) {
        next = base->next;
        finish_worker_ask((PtcWorkerTaskAsk *)(void *)base, true, send);
    }
}

void ptc_worker_task_asks_take(PtcWorkerTask *f)
{
    take_ready_asks(f, true);
}

/* All asks are finished, so a thread that is still inside ready() only has its kick left to do. */
static void await_kicks(PtcWorkerTask *f)
{
    while (atomic_load(&f->kicking) > 0)
        sched_yield();
}

/* Those that are in the inbox already need no cancel, so they are taken first; one that becomes ready in between is
 * cancelled in vain, which the remote allows for as long as it was not finished. */
void ptc_worker_task_asks_end(PtcWorkerTask *f, PtcTaskAsking *asking, PtcTaskOut *out)
{
    if (!f->remote)
        return;
    take_ready_asks(f, false);
    for (PtcWorkerTaskAsk *ask = f->asks; ask; ask = ask->next)
        f->remote->cancel(f->remote_run, &ask->base);
    while (f->ask_count > 0) {
        struct pollfd p = {.fd = f->kick, .events = POLLIN};
        if (ptc_worker_task_asks_sleep(f))
            (void)poll(&p, 1, -1);
        ptc_worker_task_drain(f->kick);
        take_ready_asks(f, false);
    }
    await_kicks(f);
    ptc_asking_end(asking, f->remote, f->remote_run, out);
    f->remote = NULL;
}
