/* SPDX-License-Identifier: MIT
 * test_mcp_spin_wait.c - who waits awake, for whom, and when no longer. */
#include "exec/spin_wait.h"

#include "base/budget.h"
#include "unit/check.h"

static void test_cores(void)
{
    PtcSpinWait one_core = {.may = false}, several = {.may = true};
    CHECK(ptc_spin_wait_for_worker(&one_core, 1000) == 0);
    CHECK(ptc_spin_wait_for_server(&one_core, 1000) == 0);
    CHECK(ptc_spin_wait_for_worker(&several, 1000) > 1000);
    CHECK(ptc_spin_wait_for_server(&several, 1000) > 1000);
    CHECK(!ptc_spin_wait_goes_on(&several, 0));
}

/* A server that becomes slow is waited for asleep after a few answers, and awake again once it is quick. */
static void test_usual(void)
{
    PtcSpinWait l = {.may = true};
    ptc_spin_wait_learn(&l, 50 * 1000);
    ptc_spin_wait_learn(&l, 900 * 1000);
    CHECK(ptc_spin_wait_for_server(&l, 1000) != 0);
    for (int i = 0; i < 10; i++)
        ptc_spin_wait_learn(&l, 900 * 1000);
    CHECK(ptc_spin_wait_for_server(&l, 1000) == 0);
    CHECK(ptc_spin_wait_for_worker(&l, 1000) != 0);
    for (int i = 0; i < 20; i++)
        ptc_spin_wait_learn(&l, 50 * 1000);
    CHECK(ptc_spin_wait_for_server(&l, 1000) != 0);
}

static void test_ends(void)
{
    PtcSpinWait l = {.may = true};
    int64_t now = ptc_clock_ns(NULL);
    CHECK(ptc_spin_wait_goes_on(&l, now + (int64_t)60 * 1000000000));
    CHECK(!ptc_spin_wait_goes_on(&l, now));
    atomic_store(&l.busy_ns, now + 1000);
    CHECK(ptc_spin_wait_for_worker(&l, now) == 0 && ptc_spin_wait_for_server(&l, now) == 0);
    CHECK(ptc_spin_wait_for_worker(&l, now + 1001) != 0);
}

static void test_one_at_a_time(void)
{
    PtcSpinWait l = {.may = true};
    CHECK(ptc_spin_wait_take(&l) && !ptc_spin_wait_take(&l));
    ptc_spin_wait_give(&l);
    CHECK(ptc_spin_wait_take(&l));
}

int main(void)
{
    CHECK_RUN(test_cores());
    CHECK_RUN(test_usual());
    CHECK_RUN(test_ends());
    CHECK_RUN(test_one_at_a_time());
    return check_done("linger");
}
