/* SPDX-License-Identifier: MIT
 * A task's waiting for tools: when its turn is given away, when it has it again, what counts as an effect. */
#include <sched.h>
#include <unistd.h>

#include "check.h"
#include "exec/waits.h"

static atomic_int inside, left, entered, wrong;
static atomic_bool hold_back;

static void leave(void *user)
{
    (void)user;
    if (atomic_fetch_sub(&inside, 1) != 1)
        atomic_fetch_add(&wrong, 1);
    atomic_fetch_add(&left, 1);
}

static void enter(void *user)
{
    (void)user;
    while (atomic_load(&hold_back))
        sched_yield();
    if (atomic_fetch_add(&inside, 1) != 0)
        atomic_fetch_add(&wrong, 1);
    atomic_fetch_add(&entered, 1);
}

static const PtcTaskTurn turn = {leave, enter, NULL};

static void reset(void)
{
    atomic_store(&inside, 1);
    atomic_store(&left, 0);
    atomic_store(&entered, 0);
    atomic_store(&wrong, 0);
    atomic_store(&hold_back, false);
}

static void test_alone(void)
{
    PtcWaits w;
    reset();
    ptc_waits_init(&w, &turn, NULL);
    ptc_waits_begin(&w, true);
    CHECK(atomic_load(&inside) == 0);
    ptc_waits_begin(&w, false);
    ptc_waits_end(&w); /* one is still under way */
    CHECK(atomic_load(&inside) == 0 && atomic_load(&left) == 1);
    ptc_waits_end(&w);
    CHECK(atomic_load(&inside) == 1 && atomic_load(&entered) == 1);
    ptc_waits_begin(&w, false);
    CHECK(ptc_waits_close(&w) ==
          2); /* the task is over while a tool runs: nobody comes back for it */
    ptc_waits_end(&w);
    ptc_waits_begin(&w, false);
    ptc_waits_end(&w);
    CHECK(atomic_load(&left) == 2 && atomic_load(&entered) == 1);
    ptc_waits_deinit(&w);
    ptc_waits_init(&w, NULL, NULL); /* no turn to give: it only counts */
    ptc_waits_begin(&w, false);
    ptc_waits_end(&w);
    CHECK(ptc_waits_close(&w) == 1);
    ptc_waits_deinit(&w);
}

static void *call_often(void *user)
{
    for (int i = 0; i < 2000; i++) {
        ptc_waits_begin(user, true);
        if (i % 64 == 0)
            sched_yield();
        ptc_waits_end(user);
    }
    return NULL;
}

static void test_threads(void)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    PtcWaits w;
    reset();
    ptc_waits_init(&w, &turn, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, call_often, &w);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(atomic_load(&wrong) == 0 && atomic_load(&inside) == 1);
    CHECK(atomic_load(&left) == atomic_load(&entered) && atomic_load(&left) > 0);
    CHECK(ptc_waits_close(&w) == 0);
    ptc_waits_deinit(&w);
}

static atomic_bool ended;

static void *end_one(void *user)
{
    ptc_waits_end(user);
    atomic_store(&ended, true);
    return NULL;
}

static bool is_entering(PtcWaits *w)
{
    pthread_mutex_lock(&w->lock);
    bool entering = w->place == PTC_WAITS_ENTERING;
    pthread_mutex_unlock(&w->lock);
    return entering;
}

/* The program goes on when its turn has come, not when its tool is done; others may begin calls meanwhile. */
static void test_turn(void)
{
    pthread_t thread;
    PtcWaits w;
    reset();
    atomic_store(&ended, false);
    ptc_waits_init(&w, &turn, NULL);
    ptc_waits_begin(&w, true);
    atomic_store(&hold_back, true);
    pthread_create(&thread, NULL, end_one, &w);
    while (!is_entering(&w))
        sched_yield();
    CHECK(!atomic_load(&ended));
    ptc_waits_begin(&w, true);
    atomic_store(&hold_back, false);
    pthread_join(thread, NULL);
    CHECK(atomic_load(&inside) == 0 && atomic_load(&left) == 2);
    ptc_waits_end(&w);
    CHECK(atomic_load(&inside) == 1 && atomic_load(&wrong) == 0);
    ptc_waits_deinit(&w);
}

int main(void)
{
    alarm(120);
    test_alone();
    test_threads();
    test_turn();
    return check_done("mcp_waits");
}
