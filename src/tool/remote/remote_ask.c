/* SPDX-License-Identifier: MIT
 * Asks one question and waits.  What always holds: when this returns, ready() has come and finish_remote_ask() was
 * called, so that nothing of the ask is left anywhere. */
#include "tool/remote/remote_ask.h"

#include <pthread.h>
#include <time.h>

#include "base/os/cancel.h"
#include "base/os/cond.h"

/* How often the clock is looked at: for clocks that are not the system's, and flags that a signal handler sets. */
enum { REMOTE_LOOK_MS = 50 };

/* Whoever waits for one ask. */
typedef struct Waiter {
    /* It guards the two flags.  ready() takes it under locks of the upstream layer, and kick() under the lock of
     * base/os/cancel.c; so nothing else is locked inside. */
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool ready, kicked;
} Waiter;

static void wake_remote_waiter(Waiter *w, bool *what)
{
    pthread_mutex_lock(&w->lock);
    *what = true;
    pthread_cond_signal(&w->change);
    pthread_mutex_unlock(&w->lock);
}

static void wake_on_ready(PtcRemoteAsk *ask)
{
    Waiter *w = ask->user;
    wake_remote_waiter(w, &w->ready);
}

static void wake_on_remote_cancel(void *user)
{
    Waiter *w = user;
    wake_remote_waiter(w, &w->kicked);
}

static void init_waiter(Waiter *w)
{
    pthread_mutex_init(&w->lock, NULL);
    ptc_cond_init(&w->change);
    w->ready = w->kicked = false;
}

static void deinit(Waiter *w)
{
    pthread_cond_destroy(&w->change);
    pthread_mutex_destroy(&w->lock);
}

static bool is_remote_wait_over(const PtcBudget *b)
{
    return ptc_cancelled(b->cancel) || b->clock_ns(b->clock_user) >= ptc_budget_end(b);
}

/* With the lock held. */
static void sleep_a_while(Waiter *w, const PtcBudget *b)
{
    int64_t left = ptc_budget_end(b) - b->clock_ns(b->clock_user), most = REMOTE_LOOK_MS * PTC_MS;
    int64_t until = ptc_clock_ns(NULL) + (left < most ? left : most);
    (void)ptc_cond_wait_until(&w->change, &w->lock, until);
}

/* The ordinary way to wait. */
static void await_remote(Waiter *w, PtcBudget *b)
{
    PtcCancelWait cancel = {.cancel = b->cancel, .kick = wake_on_remote_cancel, .user = w};
    ptc_cancel_wait_begin(&cancel);
    pthread_mutex_lock(&w->lock);
    while (!w->ready && !is_remote_wait_over(b))
        sleep_a_while(w, b);
    pthread_mutex_unlock(&w->lock);
    ptc_cancel_wait_end(&cancel);
}

/* Nobody wants the answer any more, but its owner must have let go of it before we return. */
static void give_up_remote_ask(const PtcRemoteRun *run, Waiter *w, PtcRemoteAsk *ask)
{
    pthread_mutex_lock(&w->lock);
    bool ready = w->ready;
    pthread_mutex_unlock(&w->lock);
    if (!ready)
        run->remote->cancel(run->run, ask);
    pthread_mutex_lock(&w->lock);
    while (!w->ready)
        pthread_cond_wait(&w->change, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

static bool is_remote_call(PtcRemoteOp op)
{
    return op == PTC_REMOTE_CALL || op == PTC_REMOTE_CALL_NAMED;
}

/* A call that changes something is awaited even if another item of its pmap has failed, as in tool/call.c. */
static void wait_for_remote(const PtcRemoteRun *run, Waiter *w, PtcRemoteAsk *ask, bool reads,
                            PtcBudget *b)
{
    int64_t begun = b->clock_ns(b->clock_user);
    const PtcCancel *cancel = b->cancel;
    if (is_remote_call(ask->op) && !reads)
        b->cancel = ptc_cancel_from_outside(cancel);
    if (run->wait)
        run->wait(run->run, ask, b);
    else
        await_remote(w, b);
    b->cancel = cancel;
    give_up_remote_ask(run, w, ask);
    ptc_budget_waited(b, b->clock_ns(b->clock_user) - begun);
}

static bool finish_remote_ask(const PtcRemoteRun *run, PtcRemoteAsk *ask, PtcRemoteAnswer *answer)
{
    if (answer->heap)
        ptc_heap_tool_begin(answer->heap);
    bool told = run->remote->finish(run->run, ask, answer) && ptc_buf_ok(&answer->text);
    if (answer->heap)
        ptc_heap_tool_end(answer->heap, answer->value);
    return told;
}

/* The turn is given away while waiting, and taken back after finish_remote_ask(): the answer may still have to be made.
 * */
bool ptc_remote_ask(const PtcRemoteRun *run, PtcBudget *budget, const PtcRemoteQuestion *question,
                    PtcRemoteAnswer *answer)
{
    Waiter w;
    const PtcRemoteWatch *watch = run->watch;
    PtcRemoteAsk ask = {.op = question->op,
                        .slot = question->slot,
                        .tool = question->tool,
                        .text = question->text,
                        .id = question->id,
                        .ready = wake_on_ready,
                        .user = &w};
    bool call = is_remote_call(question->op);
    answer->ok = false;
    answer->may_repeat = true;
    answer->took = PTC_TOOK_NO_EFFECT;
    answer->value = PTC_NONE;
    answer->kind = NULL;
    init_waiter(&w);
    PtcRemoteStatus status = run->remote->ask(run->run, &ask);
    bool pending = status == PTC_REMOTE_PENDING;
    if (pending && watch)
        watch->begin(watch->user, !call);
    if (pending)
        wait_for_remote(run, &w, &ask, question->reads, budget);
    bool told = status != PTC_REMOTE_NO_MEMORY && finish_remote_ask(run, &ask, answer);
    if (watch && !pending && call && told && !answer->may_repeat) {
        watch->begin(watch->user, false);
        watch->end(watch->user, false);
    }
    int64_t begun = budget->clock_ns(budget->clock_user);
    if (pending && watch)
        watch->end(watch->user, call && told && answer->may_repeat);
    if (pending)
        ptc_budget_waited(budget, budget->clock_ns(budget->clock_user) - begun);
    deinit(&w);
    if (!ptc_budget_look_waiting(budget))
        return false;
    return told || ptc_budget_halt(budget, PTC_STOP_MEMORY);
}
