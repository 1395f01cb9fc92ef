/* SPDX-License-Identifier: MIT
 * The thread that reminds runs of the time.  What always holds: it only ever sets fuel to zero; whether a run stops
 * is decided by the run itself. */
#include "base/os/watch.h"

#include "base/os/cond.h"
#include "base/os/thread.h"
#include "base/units.h"

enum {
    WATCH_STACK = 128 * PTC_KB,
    WATCH_AFTER_NS = PTC_MS, /* of a run, before it is watched */
    FIRST_NS = PTC_MS,       /* between reminders: a run may overwrite one while it ticks ... */
    MOST_NS = 64 * PTC_MS,   /* ... and one that waits for a tool does not notice any */
};

void ptc_watch_init(PtcWatch *watch)
{
    pthread_mutex_init(&watch->lock, NULL);
    ptc_cond_init(&watch->changed);
    watch->first = NULL;
    watch->asleep_until = INT64_MAX;
    watch->tried = watch->running = watch->quit = false;
}

void ptc_watch_deinit(PtcWatch *watch)
{
    pthread_mutex_lock(&watch->lock);
    watch->quit = true;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
    if (watch->running)
        pthread_join(watch->thread, NULL);
    pthread_cond_destroy(&watch->changed);
    pthread_mutex_destroy(&watch->lock);
}

/* ------------------------------------------------------------------------------ the thread */

/* Reminds those whose time has come; returns when to do so next. */
static int64_t remind(PtcWatch *watch, int64_t now)
{
    int64_t next = INT64_MAX;
    for (PtcBudget *b = watch->first; b; b = b->watch_next) {
        if (now >= b->alarm_ns) {
            ptc_fuel_set(b, 0);
            b->alarm_ns = now + b->alarm_step_ns;
            b->alarm_step_ns = b->alarm_step_ns < MOST_NS ? b->alarm_step_ns * 2 : MOST_NS;
        }
        next = b->alarm_ns < next ? b->alarm_ns : next;
    }
    return next;
}

static void *run_watch(void *user)
{
    PtcWatch *watch = user;
    pthread_mutex_lock(&watch->lock);
    while (!watch->quit) {
        int64_t until = remind(watch, ptc_clock_ns(NULL));
        watch->asleep_until = until;
        (void)ptc_cond_wait_until(&watch->changed, &watch->lock, until);
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

/* With the lock held.  If it cannot be started it is not tried again: the kernel's answer would be the same. */
static bool ensure_thread(PtcWatch *watch)
{
    if (!watch->tried)
        watch->running = ptc_thread_start(&watch->thread, WATCH_STACK, run_watch, watch);
    watch->tried = true;
    return watch->running;
}

/* ------------------------------------------------------------------------------ the watched */

bool ptc_watch_start(PtcWatch *watch)
{
    pthread_mutex_lock(&watch->lock);
    bool running = ensure_thread(watch);
    pthread_mutex_unlock(&watch->lock);
    return running;
}

void ptc_watch_begin(PtcWatch *watch, PtcBudget *budget, int64_t now)
{
    bool ours = watch && budget->clock_ns == ptc_clock_ns;
    budget->watch = ours ? watch : NULL;
    budget->watched = false;
    budget->watch_at_ns = ours ? now + WATCH_AFTER_NS : INT64_MAX;
}

static int64_t budget_end_ns(const PtcBudget *budget)
{
    return budget->compute_end_ns < budget->deadline_ns ? budget->compute_end_ns
                                                        : budget->deadline_ns;
}

/* A look that finds time left comes here when the run should be watched from now on, or when its end has moved. */
void ptc_watch_look(PtcBudget *budget)
{
    PtcWatch *watch = budget->watch;
    int64_t end = budget_end_ns(budget);
    budget->watch_at_ns = end;
    if (end == INT64_MAX)
        return;
    pthread_mutex_lock(&watch->lock);
    if (!budget->watched) {
        budget->watched = true;
        budget->watch_next = watch->first;
        watch->first = budget;
    }
    budget->alarm_ns = end;
    budget->alarm_step_ns = FIRST_NS;
    if (ensure_thread(watch) &&
        end < watch->asleep_until) /* without the thread, the run keeps time on its own */
        pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
}

static void remove_budget(PtcBudget *budget)
{
    PtcWatch *watch = budget->watch;
    pthread_mutex_lock(&watch->lock);
    PtcBudget **at = &watch->first;
    while (*at != budget)
        at = &(*at)->watch_next;
    *at = budget->watch_next;
    pthread_mutex_unlock(&watch->lock);
    budget->watched = false;
}

void ptc_watch_drop(PtcBudget *budget)
{
    if (budget->watched)
        remove_budget(budget);
    budget->watch_at_ns = INT64_MAX;
}

void ptc_watch_pause(PtcBudget *budget)
{
    if (!budget->watched)
        return;
    remove_budget(budget);
    budget->watch_at_ns = 0;
}
