/* SPDX-License-Identifier: MIT
 * gate.h - how many calls run at once.  At most `max_running` are inside; of the others at most `max_waiting` wait for
 * their turn, in the order they came; the rest is turned away at once. */
#ifndef PTC_MCP_SERVER_GATE_H
#define PTC_MCP_SERVER_GATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct PtcGateWaiter PtcGateWaiter; /* on the stack of who waits */

typedef struct PtcMcpGate {
    pthread_mutex_t lock;
    unsigned max_running, max_waiting;
    unsigned running, waiting;
    PtcGateWaiter *first, *last;
    bool stopped;
} PtcMcpGate;

typedef enum { PTC_GATE_IN, PTC_GATE_BUSY, PTC_GATE_CANCELLED, PTC_GATE_STOPPED } PtcGateAnswer;

void ptc_gate_init(PtcMcpGate *gate, unsigned max_running, unsigned max_waiting);
void ptc_gate_deinit(PtcMcpGate *gate);
/* Waits for a turn; after PTC_GATE_IN, and only then, ptc_gate_leave must follow.  With `again` (a call that was inside
 * and left to wait for something else) it is never busy. */
PtcGateAnswer ptc_gate_enter(PtcMcpGate *gate, const atomic_bool *cancel, bool again);
void ptc_gate_leave(PtcMcpGate *gate);
/* After a cancel flag was set: whoever waits looks at it. */
void ptc_gate_wake(PtcMcpGate *gate);
/* Turns away everyone from now on. */
void ptc_gate_stop(PtcMcpGate *gate);
void ptc_gate_load(PtcMcpGate *gate, unsigned *running, unsigned *waiting);

#endif
