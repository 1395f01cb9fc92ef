/* SPDX-License-Identifier: MIT
 * cond.h - condition variables whose time is that of ptc_clock_ns: nobody who sets the time of day changes a wait. */
#ifndef PTC_BASE_OS_COND_H
#define PTC_BASE_OS_COND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

void ptc_cond_init(pthread_cond_t *cond);
/* With the lock held: waits until somebody signals or the time has come (INT64_MAX: it never does).  False: it has
 * come.  As with every condition variable, it may also wake for nothing. */
bool ptc_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until_ns);
/* For so long from now. */
bool ptc_cond_wait_ms(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t ms);

#endif
