/* SPDX-License-Identifier: MIT
 * budget.h - how long a run may go on.  Every loop whose length a program or its data controls calls ptc_tick; every
 * few thousand ticks the clock and the cancel flag are checked.  A stop is sticky and terminal: no program can catch
 * it. */
#ifndef PTC_BASE_BUDGET_H
#define PTC_BASE_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

typedef enum {
    PTC_STOP_NONE = 0,
    PTC_STOP_TIMEOUT,
    PTC_STOP_DEADLINE,
    PTC_STOP_CANCELLED,
    PTC_STOP_MEMORY, /* an allocation failed or would pass the heap's limit */
    PTC_STOP_LOOP,
    PTC_STOP_DEPTH,
    PTC_STOP_SIZE,  /* an integer, string or collection larger than its limit */
    PTC_STOP_LAZY,  /* no limit: a lazy sequence must be computed first, then it is tried again */
    PTC_STOP_ASIDE, /* no limit: a person must be asked first, then the program is run again */
} PtcStop;

/* A tick is about 10 nanoseconds of work: a call, an element, a code point.  Work on bytes is charged at these rates,
 * before or while it is done, so that the time between two looks does not depend on what a program works on. */
enum {
    PTC_TICKS_PER_LOOK = 4096, /* about 10 to 100 microseconds */
    PTC_TICK_BYTES = 64,       /* copied, compared or searched by the C library per tick */
    PTC_TICK_SCAN = 16,        /* examined one by one per tick */
};

/* A request to stop, from any thread; a request to an outer one counts too. */
typedef struct PtcCancel {
    atomic_bool asked;
    bool of_item; /* it ends an item of a pmap because one before it failed; nobody outside asks */
    const struct PtcCancel *outer; /* or NULL */
} PtcCancel;

/* What may end a call that changes something: a request from outside.  That another item of a pmap failed only keeps
 * the next call from being made. */
static inline const PtcCancel *ptc_cancel_from_outside(const PtcCancel *cancel)
{
    while (cancel && cancel->of_item)
        cancel = cancel->outer;
    return cancel;
}

static inline bool ptc_cancelled(const PtcCancel *cancel)
{
    for (; cancel; cancel = cancel->outer)
        if (atomic_load_explicit(&cancel->asked, memory_order_relaxed))
            return true;
    return false;
}

/* What a piece of work may still use, and why it has stopped.  It belongs to the thread that works, which ticks;
 * others may only set `fuel` to 0, so that the next tick looks, and the watch (base/os/watch.h) guards the members
 * that it keeps here. */
typedef struct PtcBudget {
    /* Ticks until the next look.  Another thread may set it to 0, so that the next tick looks. */
    _Atomic int64_t fuel;
    bool wake; /* the next safepoint has work to do: a collection is wanted */
    PtcStop stop;
    /* PTC_STOP_DEPTH, PTC_STOP_SIZE: what passed its limit, a constant text ... */
    const char *what;
    int64_t limit; /* ... that is followed by this number: "calls nested deeper than" 10000 */
    int64_t max_int_bits; /* of an integer */
    uint32_t nesting;     /* C recursion of walks over keys and comparisons */
    /* Waiting moves the end of compute time; waiting that does not count at all (a pause) moves the deadline too;
     * nothing moves the last one. */
    int64_t compute_end_ns, deadline_ns, hard_ns;
    int64_t pmap_ms;    /* the deadline is that of a pmap with this limit; 0: it is the run's */
    atomic_bool paused; /* in a pause; other threads may read this */
    const PtcCancel *cancel; /* may be NULL */
    int64_t (*clock_ns)(void *user);
    void *clock_user;
    uint64_t read_count; /* the processor's counter when ptc_budget_now read the clock, */
    int64_t read_ns;     /* and what it said; 0: not since the last look */
    /* for watch.h; the last three are protected by its lock */
    struct PtcWatch *watch; /* or NULL */
    int64_t watch_at_ns;    /* from then on a look notifies the watch */
    bool watched;
    struct PtcBudget *watch_next;
    int64_t alarm_ns, alarm_step_ns;
#ifdef PTC_LOOKS
    int64_t looked_ns; /* CPU time of the thread at the last look ... */
    int64_t gap_ns;    /* ... the longest between two ... */
    int64_t looks;     /* ... and how many there were */
#endif
} PtcBudget;

/* The system's monotonic clock, in nanoseconds. */
int64_t ptc_clock_ns(void *unused);
/* The time of day: milliseconds since 1970 in UTC. */
int64_t ptc_clock_wall_ms(void);

void ptc_budget_init(PtcBudget *budget);

/* Notifies the watch of a budget; see watch.h. */
void ptc_watch_look(PtcBudget *budget);

/* Checks the clock and the cancel flag and refuels; false when the run must stop. */
bool ptc_budget_look(PtcBudget *budget);

/* The same for a caller that has `now` from ptc_budget_now. */
bool ptc_budget_look_at(PtcBudget *budget, int64_t now);

/* The same for a caller that is waiting: compute time does not pass meanwhile. */
bool ptc_budget_look_waiting(PtcBudget *budget);

/* When a caller that waits must stop waiting. */
static inline int64_t ptc_budget_end(const PtcBudget *budget)
{
    bool hard = budget->hard_ns < budget->deadline_ns ||
                atomic_load_explicit(&budget->paused, memory_order_relaxed);
    return hard ? budget->hard_ns : budget->deadline_ns;
}

/* This much time was spent waiting. */
void ptc_budget_waited(PtcBudget *budget, int64_t ns);
/* From here on time does not count, except for hard_ns, until resume is told how long it took. */
static inline void ptc_budget_pause(PtcBudget *budget)
{
    atomic_store_explicit(&budget->paused, true, memory_order_relaxed);
}
void ptc_budget_resume(PtcBudget *budget, int64_t ns);

#ifdef PTC_LOOKS
/* Forgets the gaps so far. */
void ptc_looks_begin(PtcBudget *budget);
/* The longest time between two looks since then, in nanoseconds of CPU; now counts as a look. */
int64_t ptc_looks_end(PtcBudget *budget);
#endif

static inline int64_t ptc_fuel(const PtcBudget *budget)
{
    return atomic_load_explicit(&budget->fuel, memory_order_relaxed);
}

static inline void ptc_fuel_set(PtcBudget *budget, int64_t fuel)
{
    atomic_store_explicit(&budget->fuel, fuel, memory_order_relaxed);
}

/* For a budget that goes on with something else. */
static inline void ptc_fuel_fill(PtcBudget *budget)
{
    ptc_fuel_set(budget, PTC_TICKS_PER_LOOK);
    budget->read_ns = 0;
}

/* The budget's clock for a caller that asks often: it may say what it said a microsecond ago, but never goes back. */
int64_t ptc_budget_now(PtcBudget *budget);

/* Was the last look with the time of ptc_budget_now, and only a tick or two ago? */
static inline bool ptc_budget_just_looked(const PtcBudget *budget)
{
    return budget->read_ns != 0 && ptc_fuel(budget) > PTC_TICKS_PER_LOOK - 4;
}

/* Charges n ticks and returns what is left, without a look: for code that reaches a tick soon. */
static inline int64_t ptc_fuel_use(PtcBudget *budget, int64_t n)
{
    int64_t left = ptc_fuel(budget) - n;
    ptc_fuel_set(budget, left);
    return left;
}

/* Records why the run must stop, unless there is a reason already, and makes the next tick fail.  Always false. */
static inline bool ptc_budget_halt(PtcBudget *budget, PtcStop stop)
{
    if (budget->stop == PTC_STOP_NONE)
        budget->stop = stop;
    ptc_fuel_set(budget, 0);
    return false;
}

/* For hosts that read a text and can tell what is wrong with it: a number that is too large is no reason to stop. */
static inline void ptc_budget_go_on(PtcBudget *budget)
{
    if (budget->stop == PTC_STOP_SIZE)
        budget->stop = PTC_STOP_NONE;
}

/* ptc_budget_halt for limits of several kinds: the message will read "<what> <limit>".  Always false. */
static inline bool ptc_budget_exceed(PtcBudget *budget, PtcStop stop, const char *what,
                                     int64_t limit)
{
    if (budget->stop == PTC_STOP_NONE) {
        budget->what = what;
        budget->limit = limit;
    }
    return ptc_budget_halt(budget, stop);
}

static inline PTC_MUST_USE bool ptc_tick(PtcBudget *budget, int64_t n)
{
    return PTC_LIKELY(ptc_fuel_use(budget, n) > 0) || ptc_budget_look(budget);
}

/* For n bytes that memcpy, memcmp and the like go over. */
static inline PTC_MUST_USE bool ptc_tick_bytes(PtcBudget *budget, size_t n)
{
    return n < PTC_TICK_BYTES || ptc_tick(budget, (int64_t)(n / PTC_TICK_BYTES));
}

/* For n bytes that are examined one by one. */
static inline PTC_MUST_USE bool ptc_tick_scan(PtcBudget *budget, size_t n)
{
    return n < PTC_TICK_SCAN || ptc_tick(budget, (int64_t)(n / PTC_TICK_SCAN));
}

#endif
