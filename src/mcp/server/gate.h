/* SPDX-License-Identifier: MIT
 * gate.h - how many calls run at once, and who waits.
 *
 * At most `max_running` calls are inside.  The others wait for their turn, within bounds on how many wait, how long,
 * and how many bytes their messages have; the rest are turned away at once.  A call that waits for something else (a
 * tool, the client) steps out meanwhile and comes back in its turn.
 *
 * Callers are known by their owner.  An owner has at most a share of everything, and the turn goes to whoever has
 * waited longest among the owners with the fewest calls inside: an owner that sends many calls only waits behind its
 * own. */
#ifndef PTC_MCP_SERVER_GATE_H
#define PTC_MCP_SERVER_GATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

enum { PTC_GATE_SHARES = 128, PTC_GATE_OWNER = 64 };

/* What an owner has of the gate at the moment; free when it has nothing. */
typedef struct PtcGateShare {
    char owner[PTC_GATE_OWNER];
    unsigned running, waiting, paused;
} PtcGateShare;

typedef struct PtcGateBounds {
    unsigned max_running, max_waiting, max_paused;
    size_t max_bytes; /* of the messages of waiting calls */
    unsigned share;   /* the percentage of each that one owner may have */
} PtcGateBounds;

/* A call at the gate.  Zero it, then call ptc_gate_ticket. */
typedef struct PtcGateTicket {
    /* in the list of waiting tickets, while a thread waits for it */
    struct PtcGateTicket *prev, *next;
    pthread_cond_t woken; /* the same */
    PtcGateShare *share;  /* NULL: not counted with any owner */
    const char *owner;
    size_t bytes;
    bool queued; /* counts as waiting */
    bool in, paused;
} PtcGateTicket;

typedef struct PtcMcpGate {
    /* It guards everything here and what tickets say is in the list.  Threads of calls take it before and after a
     * handler; no other lock is taken inside, so it may be taken under any. */
    pthread_mutex_t lock;
    PtcGateBounds bounds, own; /* for all, and for one owner */
    unsigned running, waiting, paused;
    size_t bytes; /* of waiting calls */
    PtcGateTicket *first, *last;
    bool stopped;
    PtcGateShare shares[PTC_GATE_SHARES];
} PtcMcpGate;

typedef enum {
    PTC_GATE_IN,
    PTC_GATE_BUSY, /* too many are waiting */
    PTC_GATE_LATE, /* it has waited too long */
    PTC_GATE_CANCELLED,
    PTC_GATE_STOPPED
} PtcGateAnswer;

void ptc_gate_init(PtcMcpGate *gate, const PtcGateBounds *bounds);
void ptc_gate_deinit(PtcMcpGate *gate);

/* A call of this owner (borrowed while the ticket is used) whose message has this many bytes. */
void ptc_gate_ticket(PtcGateTicket *ticket, const char *owner, size_t bytes);
/* Counts it as waiting before a thread waits for it; false: too many are waiting.  Followed by ptc_gate_enter or
 * ptc_gate_give_up. */
PTC_MUST_USE bool ptc_gate_queue(PtcMcpGate *gate, PtcGateTicket *ticket);
void ptc_gate_give_up(PtcMcpGate *gate, PtcGateTicket *ticket);
/* Waits for the turn, at most until until_ns on the monotonic clock.  After PTC_GATE_IN, and only then,
 * ptc_gate_leave must follow.  With `again` (a call that was inside before) the answer is never PTC_GATE_BUSY. */
PtcGateAnswer ptc_gate_enter(PtcMcpGate *gate, PtcGateTicket *ticket, const atomic_bool *cancel,
                             int64_t until_ns, bool again);
void ptc_gate_leave(PtcMcpGate *gate, PtcGateTicket *ticket);
/* Steps out for a while, unless too many have done so: then it keeps its place. */
void ptc_gate_pause(PtcMcpGate *gate, PtcGateTicket *ticket);
/* Comes back; it then has its place again, unless the call was cancelled or the gate was stopped. */
void ptc_gate_resume(PtcMcpGate *gate, PtcGateTicket *ticket, const atomic_bool *cancel);
/* After a cancel flag was set: makes those who wait look at it. */
void ptc_gate_wake(PtcMcpGate *gate);
/* Turns everyone away from now on. */
void ptc_gate_stop(PtcMcpGate *gate);
void ptc_gate_load(PtcMcpGate *gate, unsigned *running, unsigned *waiting);

#endif
