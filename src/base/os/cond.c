/* SPDX-License-Identifier: MIT
 * Condition variables. */
#include "base/os/cond.h"

#include <time.h>

#include "base/budget.h"
#include "base/units.h"

#ifdef __APPLE__

void ptc_cond_init(pthread_cond_t *cond)
{
    pthread_cond_init(cond, NULL);
}

/* There is no choice of clocks, but a wait of a given length. */
static int wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until_ns)
{
    int64_t now = ptc_clock_ns(NULL), left = until_ns > now ? until_ns - now : 0;
    struct timespec t = {.tv_sec = left / PTC_S, .tv_nsec = left % PTC_S};
    return pthread_cond_timedwait_relative_np(cond, lock, &t);
}

#else

void ptc_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

static int wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until_ns)
{
    struct timespec t = {.tv_sec = until_ns / PTC_S, .tv_nsec = until_ns % PTC_S};
    return pthread_cond_timedwait(cond, lock, &t);
}

#endif

bool ptc_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until_ns)
{
    int late = until_ns == INT64_MAX ? pthread_cond_wait(cond, lock)
                                     : wait_until(cond, lock, until_ns > 0 ? until_ns : 0);
    return late == 0;
}

bool ptc_cond_wait_ms(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t ms)
{
    return ptc_cond_wait_until(cond, lock, ptc_clock_ns(NULL) + ms * PTC_MS);
}
