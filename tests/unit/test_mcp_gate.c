/* SPDX-License-Identifier: MIT
 * The gate: places, the queue and its bounds, shares of owners, going out and coming in again. */
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/budget.h"
#include "check.h"
#include "mcp/server/gate.h"

static const int64_t FOREVER = INT64_MAX / 2;
static atomic_bool never;
static PtcMcpGate gate;

static void open_gate(unsigned running, unsigned waiting, unsigned paused, unsigned share)
{
    PtcGateBounds bounds = {.max_running = running,
                            .max_waiting = waiting,
                            .max_paused = paused,
                            .max_bytes = 1000,
                            .share = share};
    ptc_gate_init(&gate, &bounds);
}

/* Nothing is left behind. */
static void close_gate(void)
{
    CHECK(gate.running == 0 && gate.waiting == 0 && gate.paused == 0 && gate.bytes == 0);
    for (size_t i = 0; i < PTC_GATE_SHARES; i++)
        CHECK(gate.shares[i].running + gate.shares[i].waiting + gate.shares[i].paused == 0);
    ptc_gate_deinit(&gate);
}

static PtcGateTicket ticket(const char *owner, size_t bytes)
{
    PtcGateTicket t;
    ptc_gate_ticket(&t, owner, bytes);
    return t;
}

static PtcGateAnswer enter(PtcGateTicket *t)
{
    return ptc_gate_enter(&gate, t, &never, FOREVER, false);
}

/* ------------------------------------------------------------------------------- threads */

static atomic_int turns;

/* A call that waits in a thread of its own. */
typedef struct {
    PtcGateTicket ticket;
    pthread_t thread;
    atomic_bool cancel;
    bool resumes; /* it was inside before, and comes back */
    PtcGateAnswer answer;
    atomic_int turn; /* in which order it came in */
} Waiter;

static void *wait_for_turn(void *user)
{
    Waiter *w = user;
    if (w->resumes)
        ptc_gate_resume(&gate, &w->ticket, &w->cancel);
    else
        w->answer = ptc_gate_enter(&gate, &w->ticket, &w->cancel, FOREVER, false);
    atomic_store(&w->turn, atomic_fetch_add(&turns, 1) + 1);
    return NULL;
}

static unsigned waiting(void)
{
    unsigned running, n;
    ptc_gate_load(&gate, &running, &n);
    return n;
}

/* Starts it and waits until it waits. */
static void begin(Waiter *w, const char *owner)
{
    unsigned before = waiting();
    if (!w->resumes)
        ptc_gate_ticket(&w->ticket, owner, 1);
    pthread_create(&w->thread, NULL, wait_for_turn, w);
    while (waiting() == before)
        sched_yield();
}

static int turn_of(Waiter *w)
{
    pthread_join(w->thread, NULL);
    return atomic_load(&w->turn);
}

static void leave(Waiter *w)
{
    ptc_gate_leave(&gate, &w->ticket);
}

/* --------------------------------------------------------------------------------- cases */

static void test_bounds(void)
{
    open_gate(1, 2, 0, 100);
    PtcGateTicket in = ticket("", 5000), a = ticket("", 600), b = ticket("", 401),
                  c = ticket("", 400), d = ticket("", 1);
    CHECK(enter(&in) == PTC_GATE_IN);
    CHECK(ptc_gate_queue(&gate, &a) && ptc_gate_queue(&gate, &a) && waiting() == 1);
    CHECK(!ptc_gate_queue(&gate, &b) && enter(&b) == PTC_GATE_BUSY); /* too many bytes */
    CHECK(ptc_gate_queue(&gate, &c) && !ptc_gate_queue(&gate, &d));  /* too many calls */
    ptc_gate_give_up(&gate, &c);
    ptc_gate_give_up(&gate, &c);
    CHECK(waiting() == 1);
    CHECK(ptc_gate_enter(&gate, &a, &never, ptc_clock_ns(NULL) + 1000000, false) == PTC_GATE_LATE);
    CHECK(waiting() == 0);
    PtcGateTicket big = ticket("", 5000); /* one may always wait, however large */
    CHECK(ptc_gate_queue(&gate, &big));
    ptc_gate_leave(&gate, &in);
    CHECK(enter(&big) == PTC_GATE_IN && waiting() == 0);
    ptc_gate_leave(&gate, &big);
    close_gate();
}

static void test_order(void)
{
    Waiter w[3] = {0};
    open_gate(1, 10, 0, 100);
    atomic_store(&turns, 0);
    PtcGateTicket in = ticket("", 1);
    CHECK(enter(&in) == PTC_GATE_IN);
    for (int i = 0; i < 3; i++)
        begin(&w[i], "");
    atomic_store(&w[1].cancel, true);
    ptc_gate_wake(&gate);
    CHECK(turn_of(&w[1]) == 1 && w[1].answer == PTC_GATE_CANCELLED);
    ptc_gate_leave(&gate, &in);
    CHECK(turn_of(&w[0]) == 2 && w[0].answer == PTC_GATE_IN);
    leave(&w[0]);
    CHECK(turn_of(&w[2]) == 3);
    leave(&w[2]);
    close_gate();
}

/* Whoever sends many calls waits behind himself. */
static void test_owners(void)
{
    Waiter ann[3] = {0}, bob = {0};
    open_gate(4, 4, 0, 50);
    atomic_store(&turns, 0);
    PtcGateTicket a[3] = {ticket("ann", 1), ticket("ann", 1), ticket("ann", 1)},
                  b = ticket("bob", 1);
    CHECK(enter(&a[0]) == PTC_GATE_IN && enter(&a[1]) == PTC_GATE_IN);
    begin(&ann[0], "ann"); /* places are free, but not for her */
    begin(&ann[1], "ann");
    CHECK(enter(&a[2]) == PTC_GATE_BUSY); /* nor may more of hers wait */
    CHECK(enter(&b) == PTC_GATE_IN);
    ptc_gate_leave(&gate, &a[0]);
    CHECK(turn_of(&ann[0]) == 1);
    ptc_gate_leave(&gate, &b);
    ptc_gate_leave(&gate, &a[1]);
    CHECK(turn_of(&ann[1]) == 2);
    leave(&ann[0]);
    leave(&ann[1]);
    close_gate();
    /* with one place, the one who has none inside comes first */
    memset(ann, 0, sizeof ann);
    open_gate(2, 10, 0, 100);
    atomic_store(&turns, 0);
    a[0] = ticket("ann", 1);
    a[1] = ticket("ann", 1);
    CHECK(enter(&a[0]) == PTC_GATE_IN && enter(&a[1]) == PTC_GATE_IN);
    begin(&ann[0], "ann");
    begin(&bob, "bob");
    ptc_gate_leave(&gate, &a[0]);
    CHECK(turn_of(&bob) == 1);
    ptc_gate_leave(&gate, &a[1]);
    CHECK(turn_of(&ann[0]) == 2);
    leave(&bob);
    leave(&ann[0]);
    close_gate();
}

/* A call that waits for something else gives its place away, and comes back in its turn. */
static void test_pauses(void)
{
    Waiter out = {.resumes = true}, next = {0};
    open_gate(1, 10, 1, 100);
    atomic_store(&turns, 0);
    out.ticket = ticket("", 1);
    CHECK(enter(&out.ticket) == PTC_GATE_IN);
    ptc_gate_pause(&gate, &out.ticket);
    PtcGateTicket in = ticket("", 1);
    CHECK(enter(&in) == PTC_GATE_IN);
    ptc_gate_pause(&gate, &in); /* as many as may be have gone out already: it stays */
    CHECK(in.in);
    begin(&out, "");
    begin(&next, "");
    ptc_gate_resume(&gate, &in, &never);
    ptc_gate_leave(&gate, &in);
    CHECK(turn_of(&out) == 1 && out.ticket.in);
    leave(&out);
    CHECK(turn_of(&next) == 2);
    ptc_gate_pause(&gate, &next.ticket);
    CHECK(!next.ticket.in);
    ptc_gate_stop(&gate);
    ptc_gate_resume(&gate, &next.ticket, &never); /* without a place, but without waiting */
    CHECK(!next.ticket.in && enter(&in) == PTC_GATE_STOPPED);
    close_gate();
}

/* More owners than can be counted are served all the same. */
static void test_many_owners(void)
{
    enum { OWNERS = PTC_GATE_SHARES + 20 };
    static char names[OWNERS][16];
    static PtcGateTicket tickets[OWNERS];
    open_gate(OWNERS, 10, 0, 50);
    for (int i = 0; i < OWNERS; i++) {
        snprintf(names[i], sizeof names[i], "o%d", i);
        tickets[i] = ticket(names[i], 1);
        CHECK(enter(&tickets[i]) == PTC_GATE_IN);
    }
    for (int i = 0; i < OWNERS; i++)
        ptc_gate_leave(&gate, &tickets[i]);
    close_gate();
}

int main(void)
{
    alarm(120);
    test_bounds();
    test_order();
    test_owners();
    test_pauses();
    test_many_owners();
    return check_done("mcp_gate");
}
