/* SPDX-License-Identifier: MIT */
#include "mcp/server/gate.h"

#include <string.h>

struct PtcGateWaiter {
    PtcGateWaiter *prev, *next;
    pthread_cond_t woken;
    bool in; /* who left gave its place to this one */
};

void ptc_gate_init(PtcMcpGate *gate, unsigned max_running, unsigned max_waiting)
{
    memset(gate, 0, sizeof *gate);
    pthread_mutex_init(&gate->lock, NULL);
    gate->max_running = max_running;
    gate->max_waiting = max_waiting;
}

void ptc_gate_deinit(PtcMcpGate *gate)
{
    pthread_mutex_destroy(&gate->lock);
}

static void add_last(PtcMcpGate *gate, PtcGateWaiter *w)
{
    w->prev = gate->last;
    *(gate->last ? &gate->last->next : &gate->first) = w;
    gate->last = w;
    gate->waiting++;
}

static void take_out(PtcMcpGate *gate, PtcGateWaiter *w)
{
    *(w->prev ? &w->prev->next : &gate->first) = w->next;
    *(w->next ? &w->next->prev : &gate->last) = w->prev;
    gate->waiting--;
}

static PtcGateAnswer wait_turn(PtcMcpGate *gate, const atomic_bool *cancel)
{
    PtcGateWaiter w = {.in = false};
    pthread_cond_init(&w.woken, NULL);
    add_last(gate, &w);
    while (!w.in && !gate->stopped && !atomic_load(cancel))
        pthread_cond_wait(&w.woken, &gate->lock);
    if (!w.in)
        take_out(gate, &w);
    pthread_cond_destroy(&w.woken);
    return w.in ? PTC_GATE_IN : gate->stopped ? PTC_GATE_STOPPED : PTC_GATE_CANCELLED;
}

PtcGateAnswer ptc_gate_enter(PtcMcpGate *gate, const atomic_bool *cancel, bool again)
{
    PtcGateAnswer answer = PTC_GATE_IN;
    pthread_mutex_lock(&gate->lock);
    if (gate->stopped)
        answer = PTC_GATE_STOPPED;
    else if (gate->running < gate->max_running)
        gate->running++;
    else if (!again && gate->waiting >= gate->max_waiting)
        answer = PTC_GATE_BUSY;
    else
        answer = wait_turn(gate, cancel);
    pthread_mutex_unlock(&gate->lock);
    return answer;
}

void ptc_gate_leave(PtcMcpGate *gate)
{
    pthread_mutex_lock(&gate->lock);
    PtcGateWaiter *w = gate->first;
    if (w) {
        take_out(gate, w);
        w->in = true;
        pthread_cond_signal(&w->woken);
    } else {
        gate->running--;
    }
    pthread_mutex_unlock(&gate->lock);
}

void ptc_gate_wake(PtcMcpGate *gate)
{
    pthread_mutex_lock(&gate->lock);
    for (PtcGateWaiter *w = gate->first; w; w = w->next)
        pthread_cond_signal(&w->woken);
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
