/* SPDX-License-Identifier: MIT
 * Budgets.  What always holds: once a run must stop, every later tick fails too, so no loop can continue by
 * accident. */
#include "base/budget.h"

#include <string.h>
#include <time.h>

#include "base/units.h"

int64_t ptc_clock_ns(void *unused)
{
    (void)unused;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * PTC_S + t.tv_nsec;
}

int64_t ptc_clock_wall_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / PTC_MS;
}

/* A counter of the processor and, roughly, what it counts in a microsecond.  It is read in 9 ns, the clock in 21, and a
 * call of a tool needs the time twice: without the counter it takes 40% longer. */
#if defined __x86_64__
static inline uint64_t count_cycles(void)
{
    return __builtin_ia32_rdtsc();
}

static inline uint64_t microsecond_cycles(void)
{
    return 2048; /* it runs with 1 to 5 GHz */
}
#elif defined __aarch64__
static inline uint64_t count_cycles(void)
{
    uint64_t count;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
}

static inline uint64_t microsecond_cycles(void)
{
    uint64_t hertz;
    __asm__("mrs %0, cntfrq_el0" : "=r"(hertz));
    return hertz >> 20;
}
#else
static inline uint64_t count_cycles(void)
{
    return 0;
}

static inline uint64_t microsecond_cycles(void)
{
    return 0;
}
#endif

int64_t ptc_budget_now(PtcBudget *budget)
{
    if (budget->clock_ns != ptc_clock_ns)
        return budget->clock_ns(budget->clock_user);
    uint64_t count = count_cycles();
    if (count - budget->read_count >= microsecond_cycles() || budget->read_ns == 0) {
        budget->read_count = count;
        budget->read_ns = ptc_clock_ns(NULL);
    }
    return budget->read_ns;
}

void ptc_budget_init(PtcBudget *budget)
{
    memset(budget, 0, sizeof *budget);
    ptc_fuel_fill(budget);
    budget->compute_end_ns = budget->deadline_ns = budget->hard_ns = INT64_MAX;
    budget->watch_at_ns = INT64_MAX;
    budget->max_int_bits = 1 << 18;
    budget->clock_ns = ptc_clock_ns;
}

#ifdef PTC_LOOKS
static int64_t thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * PTC_S + t.tv_nsec;
}

static void note_clock_gap(PtcBudget *budget)
{
    int64_t now = thread_ns(), gap = now - budget->looked_ns;
    if (budget->looked_ns > 0 && gap > budget->gap_ns)
        budget->gap_ns = gap;
    budget->looked_ns = now;
    budget->looks++;
}

void ptc_looks_begin(PtcBudget *budget)
{
    budget->gap_ns = budget->looks = 0;
    budget->looked_ns = thread_ns();
}

int64_t ptc_looks_end(PtcBudget *budget)
{
    note_clock_gap(budget);
    return budget->gap_ns;
}
#else
static void note_clock_gap(PtcBudget *budget)
{
    (void)budget;
}
#endif

/* Before the clock is read: false when the run must stop. */
static inline bool may_read_clock(PtcBudget *budget)
{
    note_clock_gap(budget);
    if (budget->stop != PTC_STOP_NONE) {
        ptc_fuel_set(budget, 0); /* a stop is final: every later tick must see it too */
        return false;
    }
    ptc_fuel_set(budget, PTC_TICKS_PER_LOOK);
    return !ptc_cancelled(budget->cancel) || ptc_budget_halt(budget, PTC_STOP_CANCELLED);
}

static inline bool before_deadline(PtcBudget *budget, int64_t now)
{
    if (now < ptc_budget_end(budget))
        return true;
    if (budget->pmap_ms == 0 || now >= budget->hard_ns)
        return ptc_budget_halt(budget, PTC_STOP_DEADLINE);
    return ptc_budget_exceed(budget, PTC_STOP_DEADLINE, "pmap or pcalls took longer than",
                             budget->pmap_ms);
}

static inline bool has_time(PtcBudget *budget, int64_t now)
{
    bool paused = atomic_load_explicit(&budget->paused, memory_order_relaxed);
    if (now >= budget->compute_end_ns && !paused)
        return ptc_budget_halt(budget, PTC_STOP_TIMEOUT);
    if (!before_deadline(budget, now))
        return false;
    if (now >= budget->watch_at_ns)
        ptc_watch_look(budget);
    return true;
}

bool ptc_budget_look_at(PtcBudget *budget, int64_t now)
{
    return may_read_clock(budget) && has_time(budget, now);
}

bool ptc_budget_look(PtcBudget *budget)
{
    budget->read_ns = 0;
    if (!may_read_clock(budget))
        return false;
    return (budget->compute_end_ns == INT64_MAX && budget->deadline_ns == INT64_MAX &&
            budget->hard_ns == INT64_MAX) ||
           has_time(budget, budget->clock_ns(budget->clock_user));
}

bool ptc_budget_look_waiting(PtcBudget *budget)
{
    budget->read_ns = 0;
    return may_read_clock(budget) && before_deadline(budget, budget->clock_ns(budget->clock_user));
}

static void postpone_end(int64_t *end, int64_t ns)
{
    if (*end < INT64_MAX - ns)
        *end += ns;
}

void ptc_budget_waited(PtcBudget *budget, int64_t ns)
{
    postpone_end(&budget->compute_end_ns, ns);
}

void ptc_budget_resume(PtcBudget *budget, int64_t ns)
{
    postpone_end(&budget->compute_end_ns, ns);
    postpone_end(&budget->deadline_ns, ns);
    atomic_store_explicit(&budget->paused, false, memory_order_relaxed);
}
