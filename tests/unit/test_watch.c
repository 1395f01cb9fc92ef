/* SPDX-License-Identifier: MIT
 * test_watch.c - runs that tick seldom are reminded of the time.  Nothing here measures how soon: it waits until it is
 * so. */
#include "check.h"

#include "base/os/watch.h"
#include "engine/engine.h"
#include "engine/outcome.h"

enum { PATIENCE_S = 60, BUDGETS = 50 };

static PtcWatch watch;

static void begin(PtcBudget *b, int64_t ms)
{
    ptc_budget_init(b);
    int64_t now = ptc_clock_ns(NULL);
    b->compute_end_ns = now + ms * 1000000;
    ptc_watch_begin(&watch, b, now);
    b->watch_at_ns = now; /* as if it had gone on for a while */
}

/* Waits until the fuel is gone, without a tick. */
static bool is_reminded(const PtcBudget *b)
{
    int64_t until = ptc_clock_ns(NULL) + (int64_t)PATIENCE_S * 1000000000;
    while (ptc_fuel(b) > 0 && ptc_clock_ns(NULL) < until)
        continue;
    return ptc_fuel(b) <= 0;
}

static void test_reminder(void)
{
    PtcBudget b;
    begin(&b, 3);
    bool going = ptc_budget_look(&b);
    if (going) /* else the machine was so busy that the time is over already */
        CHECK(b.watched && is_reminded(&b));
    CHECK(!ptc_tick(&b, 1) && b.stop == PTC_STOP_TIMEOUT);
    ptc_watch_drop(&b);
    CHECK(!b.watched && !watch.first);
}

/* A reminder that comes before the end, because the end has moved, changes nothing, and another one comes. */
static void test_moved(void)
{
    PtcBudget b;
    begin(&b, 3);
    if (ptc_budget_look(&b)) {
        CHECK(is_reminded(&b));
        b.compute_end_ns = ptc_clock_ns(NULL) + (int64_t)PATIENCE_S * 1000000000;
        CHECK(ptc_tick(&b, 1) && ptc_fuel(&b) > 0 && b.watched);
        b.compute_end_ns = ptc_clock_ns(NULL);
        b.watch_at_ns = 0;
        CHECK(!ptc_budget_look(&b) && b.stop == PTC_STOP_TIMEOUT);
    }
    ptc_watch_drop(&b);
}

static void test_pause(void)
{
    PtcBudget b;
    begin(&b, PATIENCE_S * 1000);
    CHECK(ptc_budget_look(&b) && b.watched);
    ptc_watch_pause(&b);
    CHECK(!b.watched && !watch.first);
    PtcBudget copy = b;
    CHECK(ptc_budget_look(&copy) && copy.watched && !b.watched);
    CHECK(ptc_budget_look(&b) && b.watched);
    ptc_watch_drop(&copy);
    CHECK(watch.first == &b && !b.watch_next);
    ptc_watch_drop(&b);
    ptc_watch_drop(&b);
    CHECK(!watch.first && ptc_budget_look(&b) && !b.watched);
}

static void test_many(void)
{
    static PtcBudget all[BUDGETS];
    for (int i = 0; i < BUDGETS; i++) {
        begin(&all[i], 20 + i % 7);
        (void)!ptc_budget_look(&all[i]);
    }
    for (int i = 0; i < BUDGETS; i += 2)
        ptc_watch_drop(&all[i]);
    for (int i = 1; i < BUDGETS; i += 2) {
        CHECK(is_reminded(&all[i]));
        ptc_watch_drop(&all[i]);
    }
    CHECK(!watch.first);
}

static int64_t still(void *unused)
{
    (void)unused;
    return 0;
}

/* Another clock than the system's, a run that is short, no watch at all: nothing is watched, no thread is there. */
static void test_unwatched(void)
{
    PtcBudget b;
    begin(&b, PATIENCE_S * 1000);
    b.clock_ns = still;
    ptc_watch_begin(&watch, &b, 0);
    CHECK(ptc_budget_look(&b) && !b.watched);
    ptc_budget_init(&b);
    b.deadline_ns = ptc_clock_ns(NULL) + (int64_t)PATIENCE_S * 1000000000;
    ptc_watch_begin(NULL, &b, 0);
    CHECK(ptc_budget_look(&b) && !b.watched);
    ptc_watch_begin(&watch, &b, ptc_clock_ns(NULL) + 1000000000);
    CHECK(ptc_budget_look(&b) && !b.watched && !watch.running);
    ptc_watch_drop(&b);
}

/* A run that goes on for a while is watched, to its end and no longer; a process that may start no threads later has
 * the watch beforehand. */
static void test_engine(void)
{
    PtcLimits limits;
    ptc_limits_unset(&limits);
    limits.timeout_ms = 30;
    Ptc *ptc = ptc_engine_with(&limits);
    static const char program[] = "(loop [] (recur))";
    PtcRun run = {.size = sizeof run, .program = program, .program_len = sizeof program - 1};
    PtcOutcome *o = NULL;
    CHECK(!ptc->reminder.running && ptc_engine_run(ptc, &run, &o) == PTC_OK && !o->ok);
    CHECK(ptc->reminder.running && !ptc->reminder.first);
    ptc_outcome_drop(o);
    ptc_engine_free(ptc);
    ptc = ptc_engine_with(&limits);
    CHECK(ptc_engine_start_threads(ptc) && ptc->reminder.running);
    ptc_engine_free(ptc);
}

int main(void)
{
    ptc_watch_init(&watch);
    test_unwatched();
    test_reminder();
    test_moved();
    test_pause();
    test_many();
    CHECK(watch.running);
    ptc_watch_deinit(&watch);
    ptc_watch_init(&watch);
    CHECK(ptc_watch_start(&watch) && watch.running && ptc_watch_start(&watch));
    ptc_watch_deinit(&watch);
    test_engine();
    return check_done("watch");
}
