/* SPDX-License-Identifier: MIT
 * Lets calls in, makes them wait, turns them away.  What always holds, under the lock: while a place is free, nobody
 * waits who could take it; a ticket that is `in` counts as running, one that is `queued` as waiting, and never both. */
#include "mcp/server/gate.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/os/cond.h"
#include "base/units.h"

/* That percentage of a number, rounded up, so that there is at least one where there are any. */
static size_t percentage_of(size_t all, unsigned percent)
{
    return percent >= 100 ? all : all / 100 * percent + (all % 100 * percent + 99) / 100;
}

/* The bounds of one owner are computed once from the share. */
void ptc_gate_init(PtcMcpGate *gate, const PtcGateBounds *bounds)
{
    memset(gate, 0, sizeof *gate);
    pthread_mutex_init(&gate->lock, NULL);
    gate->bounds = *bounds;
    gate->own = (PtcGateBounds){
        .max_running = (unsigned)percentage_of(bounds->max_running, bounds->share),
        .max_waiting = (unsigned)percentage_of(bounds->max_waiting, bounds->share),
        .max_paused = (unsigned)percentage_of(bounds->max_paused, bounds->share),
    };
}

void ptc_gate_deinit(PtcMcpGate *gate)
{
    pthread_mutex_destroy(&gate->lock);
}

void ptc_gate_ticket(PtcGateTicket *ticket, const char *owner, size_t bytes)
{
    *ticket = (PtcGateTicket){.owner = owner, .bytes = bytes};
}

/* -------------------------------------------------------------------- with the lock held */

static bool is_free(const PtcGateShare *share)
{
    return share->running + share->waiting + share->paused == 0;
}

/* The share of the ticket's owner, for as long as it counts.  If there are more owners than shares, some are not
 * counted. */
static PtcGateShare *share_of(PtcMcpGate *gate, PtcGateTicket *t)
{
    PtcGateShare *unused = NULL;
    if (t->share)
        return t->share;
    for (size_t i = 0; i < PTC_GATE_SHARES && !t->share; i++) {
        PtcGateShare *s = &gate->shares[i];
        if (is_free(s))
            unused = unused ? unused : s;
        else if (strncmp(s->owner, t->owner, PTC_GATE_OWNER - 1) == 0)
            t->share = s;
    }
    if (!t->share && unused)
        snprintf(unused->owner, sizeof unused->owner, "%s", t->owner);
    t->share = t->share ? t->share : unused;
    return t->share;
}

static void count_with_share(unsigned *all, unsigned *own, int by)
{
    *all += (unsigned)by;
    if (own)
        *own += (unsigned)by;
}

static void count_running(PtcMcpGate *gate, PtcGateTicket *t, int by)
{
    count_with_share(&gate->running, t->share ? &t->share->running : NULL, by);
}

static void count_waiting(PtcMcpGate *gate, PtcGateTicket *t, int by)
{
    count_with_share(&gate->waiting, t->share ? &t->share->waiting : NULL, by);
    gate->bytes = by > 0 ? gate->bytes + t->bytes : gate->bytes - t->bytes;
    t->queued = by > 0;
}

/* A share that nothing counts with any more is free for another owner. */
static void let_share_go(PtcGateTicket *t)
{
    if (!t->queued && !t->in && !t->paused)
        t->share = NULL;
}

static bool has_place(const PtcMcpGate *gate, const PtcGateShare *share)
{
    return gate->running < gate->bounds.max_running &&
           (!share || share->running < gate->own.max_running);
}

static void take_place(PtcMcpGate *gate, PtcGateTicket *t)
{
    if (t->queued)
        count_waiting(gate, t, -1);
    count_running(gate, t, 1);
    t->in = true;
}

/* A single message may be larger than the bound on bytes, or a server with small bounds could never accept it. */
static bool queue_gate_ticket(PtcMcpGate *gate, PtcGateTicket *t, bool again)
{
    const PtcGateShare *share = share_of(gate, t);
    if (t->queued)
        return true;
    bool room = gate->waiting < gate->bounds.max_waiting &&
                (!share || share->waiting < gate->own.max_waiting) &&
                (gate->waiting == 0 || (gate->bytes <= gate->bounds.max_bytes &&
                                        t->bytes <= gate->bounds.max_bytes - gate->bytes));
    if (room || again)
        count_waiting(gate, t, 1);
    return t->queued;
}

static void link_last(PtcMcpGate *gate, PtcGateTicket *t)
{
    t->prev = gate->last;
    t->next = NULL;
    *(gate->last ? &gate->last->next : &gate->first) = t;
    gate->last = t;
}

static void unlink_ticket(PtcMcpGate *gate, PtcGateTicket *t)
{
    *(t->prev ? &t->prev->next : &gate->first) = t->next;
    *(t->next ? &t->next->prev : &gate->last) = t->prev;
}

/* Whose turn it is: among those who may enter, the first one whose owner has the fewest inside. */
static PtcGateTicket *next_gate_ticket(const PtcMcpGate *gate)
{
    PtcGateTicket *best = NULL;
    unsigned fewest = 0;
    for (PtcGateTicket *t = gate->first; t; t = t->next) {
        unsigned n = t->share ? t->share->running : 0;
        if (!has_place(gate, t->share) || (best && n >= fewest))
            continue;
        best = t;
        if ((fewest = n) == 0)
            break;
    }
    return best;
}

/* Lets in everyone who may enter now. */
static void admit_gate_tickets(PtcMcpGate *gate)
{
    PtcGateTicket *t;
    while (gate->first && gate->running < gate->bounds.max_running &&
           (t = next_gate_ticket(gate))) {
        unlink_ticket(gate, t);
        take_place(gate, t);
        pthread_cond_signal(&t->woken);
    }
}

/* The thread that leaves a place hands it over under the lock, so no newcomer can take it first. */
static PtcGateAnswer wait_turn(PtcMcpGate *gate, PtcGateTicket *t, const atomic_bool *cancel,
                               int64_t until_ns)
{
    ptc_cond_init(&t->woken);
    link_last(gate, t);
    while (!t->in && !gate->stopped && !atomic_load(cancel) &&
           ptc_cond_wait_until(&t->woken, &gate->lock, until_ns))
        continue;
    if (!t->in)
        unlink_ticket(gate, t);
    pthread_cond_destroy(&t->woken);
    return t->in                 ? PTC_GATE_IN
           : gate->stopped       ? PTC_GATE_STOPPED
           : atomic_load(cancel) ? PTC_GATE_CANCELLED
                                 : PTC_GATE_LATE;
}

static void give_ticket_up(PtcMcpGate *gate, PtcGateTicket *t)
{
    if (t->queued)
        count_waiting(gate, t, -1);
    let_share_go(t);
}

static void leave_gate(PtcMcpGate *gate, PtcGateTicket *t)
{
    count_running(gate, t, -1);
    t->in = false;
    let_share_go(t);
    admit_gate_tickets(gate);
}

/* Newcomers may only pass if there is a place; admit_gate_tickets() has already served those who wait. */
static PtcGateAnswer enter_gate(PtcMcpGate *gate, PtcGateTicket *t, const atomic_bool *cancel,
                                int64_t until_ns, bool again)
{
    PtcGateAnswer answer = PTC_GATE_IN;
    if (gate->stopped)
        answer = PTC_GATE_STOPPED;
    else if (atomic_load(cancel))
        answer = PTC_GATE_CANCELLED;
    else if (has_place(gate, share_of(gate, t)))
        take_place(gate, t);
    else if (!queue_gate_ticket(gate, t, again))
        answer = PTC_GATE_BUSY;
    else
        answer = wait_turn(gate, t, cancel, until_ns);
    if (answer != PTC_GATE_IN)
        give_ticket_up(gate, t);
    return answer;
}

/* ------------------------------------------------------------------------- for everybody */

bool ptc_gate_queue(PtcMcpGate *gate, PtcGateTicket *t)
{
    pthread_mutex_lock(&gate->lock);
    bool ok = queue_gate_ticket(gate, t, false);
    let_share_go(t);
    pthread_mutex_unlock(&gate->lock);
    return ok;
}

void ptc_gate_give_up(PtcMcpGate *gate, PtcGateTicket *t)
{
    pthread_mutex_lock(&gate->lock);
    give_ticket_up(gate, t);
    pthread_mutex_unlock(&gate->lock);
}

PtcGateAnswer ptc_gate_enter(PtcMcpGate *gate, PtcGateTicket *t, const atomic_bool *cancel,
                             int64_t until_ns, bool again)
{
    pthread_mutex_lock(&gate->lock);
    PtcGateAnswer answer = enter_gate(gate, t, cancel, until_ns, again);
    pthread_mutex_unlock(&gate->lock);
    return answer;
}

void ptc_gate_leave(PtcMcpGate *gate, PtcGateTicket *t)
{
    pthread_mutex_lock(&gate->lock);
    leave_gate(gate, t);
    pthread_mutex_unlock(&gate->lock);
}

/* Too many paused calls would mean too many threads, so beyond the bound a call keeps its place. */
void ptc_gate_pause(PtcMcpGate *gate, PtcGateTicket *t)
{
    pthread_mutex_lock(&gate->lock);
    unsigned *own = t->share ? &t->share->paused : NULL;
    if (t->in && gate->paused < gate->bounds.max_paused && (!own || *own < gate->own.max_paused)) {
        count_with_share(&gate->paused, own, 1);
        t->paused = true;
        leave_gate(gate, t);
    }
    pthread_mutex_unlock(&gate->lock);
}

void ptc_gate_resume(PtcMcpGate *gate, PtcGateTicket *t, const atomic_bool *cancel)
{
    pthread_mutex_lock(&gate->lock);
    if (t->paused) {
        /* It still counts as paused while it waits, so there are never more handlers than places and pauses
         * together. */
        (void)enter_gate(gate, t, cancel, PTC_UNBOUNDED, true);
        count_with_share(&gate->paused, t->share ? &t->share->paused : NULL, -1);
        t->paused = false;
        let_share_go(t);
    }
    pthread_mutex_unlock(&gate->lock);
}

void ptc_gate_wake(PtcMcpGate *gate)
{
    pthread_mutex_lock(&gate->lock);
    for (PtcGateTicket *t = gate->first; t; t = t->next)
        pthread_cond_signal(&t->woken);
    pthread_mutex_unlock(&gate->lock);
}

void ptc_gate_stop(PtcMcpGate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->stopped = true;
    pthread_mutex_unlock(&gate->lock);
    ptc_gate_wake(gate);
}

void ptc_gate_load(PtcMcpGate *gate, unsigned *running, unsigned *waiting)
{
    pthread_mutex_lock(&gate->lock);
    *running = gate->running;
    *waiting = gate->waiting;
    pthread_mutex_unlock(&gate->lock);
}
