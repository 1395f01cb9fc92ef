/* SPDX-License-Identifier: MIT
 * gate.h - how many calls run at once, and who waits.
 *
 * At most `max_running` calls are inside.  The others wait for their turn, so long, so many and with messages of so many
 * bytes as the bounds say; the rest is turned away at once.  A call that waits for something else (a tool, the client)
 * goes out meanwhile and comes in again in its turn.
 *
 * Callers are known by their owner.  Of everything an owner has at most a share, and the turn goes to who has waited
 * longest among the owners that have the fewest calls inside: whoever sends many calls waits behind himself. */
#ifndef PTC_MCP_SERVER_GATE_H
#define PTC_MCP_SERVER_GATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

enum { PTC_GATE_SHARES = 128, PTC_GATE_OWNER = 64 };

/* What an owner has of the gate now; free when it has nothing. */
typedef struct PtcGateShare {
    char owner[PTC_GATE_OWNER];
    unsigned running, waiting, paused;
} PtcGateShare;

typedef struct PtcGateBounds {
    unsigned max_running, max_waiting, max_paused;
    size_t max_bytes; /* of the messages of those that wait */
    unsigned share;   /* percent of each that one owner may have */
} PtcGateBounds;

/* A call at the gate.  Zeroed, then ptc_gate_ticket. */
typedef struct PtcGateTicket {
    struct PtcGateTicket *prev, *next; /* among those that wait, while a thread waits for it */
    pthread_cond_t woken;              /* the same */
    PtcGateShare *share;               /* NULL: there is nothing to count it with */
    const char *owner;
    size_t bytes;
    bool queued; /* counts among those that wait */
    bool in, paused;
} PtcGateTicket;

typedef struct PtcMcpGate {
    pthread_mutex_t lock;
    PtcGateBounds bounds, own; /* in all, and of one owner */
    unsigned running, waiting, paused;
    size_t bytes; /* of those that wait */
    PtcGateTicket *first, *last;
    bool stopped;
    PtcGateShare shares[PTC_GATE_SHARES];
} PtcMcpGate;

typedef enum {
    PTC_GATE_IN,
    PTC_GATE_BUSY, /* too many wait */
    PTC_GATE_LATE, /* it has waited too long */
    PTC_GATE_CANCELLED,
    PTC_GATE_STOPPED
} PtcGateAnswer;

void ptc_gate_init(PtcMcpGate *gate, const PtcGateBounds *bounds);
void ptc_gate_deinit(PtcMcpGate *gate);

/* A call of this owner (borrowed while the ticket is used) whose message has so many bytes. */
void ptc_gate_ticket(PtcGateTicket *ticket, const char *owner, size_t bytes);
/* Counts it among those that wait, before a thread does so for it; false: too many do.  Followed by ptc_gate_enter, or by
 * ptc_gate_give_up. */
PTC_MUST_USE bool ptc_gate_queue(PtcMcpGate *gate, PtcGateTicket *ticket);
void ptc_gate_give_up(PtcMcpGate *gate, PtcGateTicket *ticket);
/* Waits for the turn, until a time of the monotonic clock at most; after PTC_GATE_IN, and only then, ptc_gate_leave must
 * follow.  With `again` (a call that was inside) it is never busy. */
PtcGateAnswer ptc_gate_enter(PtcMcpGate *gate, PtcGateTicket *ticket, const atomic_bool *cancel,
                             int64_t until_ns, bool again);
void ptc_gate_leave(PtcMcpGate *gate, PtcGateTicket *ticket);
/* Goes out for a while, unless too many have done so: then the place is kept. */
void ptc_gate_pause(PtcMcpGate *gate, PtcGateTicket *ticket);
/* Comes back; it has its place afterwards, but for a call that was cancelled or a gate that was stopped. */
void ptc_gate_resume(PtcMcpGate *gate, PtcGateTicket *ticket, const atomic_bool *cancel);
/* After a cancel flag was set: whoever waits looks at it. */
void ptc_gate_wake(PtcMcpGate *gate);
/* Turns away everyone from now on. */
void ptc_gate_stop(PtcMcpGate *gate);
void ptc_gate_load(PtcMcpGate *gate, unsigned *running, unsigned *waiting);

#endif
