/* SPDX-License-Identifier: MIT
 * check.h - all that a unit test needs: checks that are counted, an end by itself, time that holds on a busy machine, a
 * fixed source of chance, a heap.  A test includes this once and ends with `return check_done("name")`. */
#ifndef PTC_TESTS_CHECK_H
#define PTC_TESTS_CHECK_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "base/sanitized.h"
#include "value/heap.h"

static struct {
    long passed, failed;
    const char *volatile test, *volatile file; /* what was begun last */
    volatile int line;
} check_counts;

/* ---------------------------------------------------------------------- end */

/* Says where, past the buffer of stdout, whose lock may be held by whoever hangs. */
static inline void check_hung(int number)
{
    (void)number;
    const char *test = check_counts.test;
    dprintf(1, "%s:%d: %s hung in this check or after it\n%s: %ld passed, %ld failed\n",
            check_counts.file, check_counts.line, test ? test : "it", __BASE_FILE__,
            check_counts.passed, check_counts.failed + 1);
    _Exit(1);
}

/* A test that does not end is ended, after many times what the slowest build needs on a busy machine.
 * PTC_TEST_SECONDS is another time.  The first check begins it; a child that a test forks calls it again. */
static inline void check_watch(void)
{
    enum { SECONDS = 300 };
    const char *other = getenv("PTC_TEST_SECONDS");
    long seconds = other ? strtol(other, NULL, 10) : SECONDS;
    setvbuf(stdout, NULL, _IOLBF, 0); /* so that what failed before is told */
    signal(SIGALRM, check_hung);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {seconds > 0 ? seconds : SECONDS, 0}}, NULL);
}

/* ------------------------------------------------------------------- checks */

/* Runs a test that is known by name when it hangs: CHECK_RUN(test_that(1)). */
#define CHECK_RUN(call) (check_at(__FILE__, __LINE__), check_counts.test = #call, call)

static inline void check_at(const char *file, int line)
{
    if (!check_counts.file)
        check_watch();
    check_counts.file = file;
    check_counts.line = line;
}

/* Counts; true when the failure should still be shown. */
static inline bool check_count(bool ok)
{
    enum { SHOWN = 20 };
    if (ok)
        check_counts.passed++;
    else
        check_counts.failed++;
    return !ok && check_counts.failed <= SHOWN;
}

#define CHECK(cond)                                           \
    do {                                                      \
        check_at(__FILE__, __LINE__);                         \
        if (check_count(cond))                                \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #cond); \
    } while (0)

#define CHECK_STR(got, want) \
    (check_at(__FILE__, __LINE__), check_str(__FILE__, __LINE__, #got, got, want))

static inline void check_str(const char *file, int line, const char *what, const char *got,
                             const char *want)
{
    if (check_count(strcmp(got, want) == 0))
        printf("%s:%d: %s\n  got:  %s\n  want: %s\n", file, line, what, got, want);
}

static inline int check_done(const char *name)
{
    printf("%s: %ld passed, %ld failed\n", name, check_counts.passed, check_counts.failed);
    return check_counts.failed != 0;
}

/* --------------------------------------------------------------------- time */

static inline void check_pause_us(long us)
{
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

/* What this process has computed, in milliseconds.  "Ends soon" is a bound on this: on a busy machine there is none on
 * the time of day. */
static inline int64_t check_cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* -------------------------------------------------------------- chance, heap */

/* How many rounds of chance to play: all of them in a plain build, where they are cheap, and with PTC_TEST_FULL
 * (script/test --full); under a sanitizer, which makes them many times slower, a fifth. */
static inline int check_rounds(int all)
{
    return PTC_SANITIZED && !getenv("PTC_TEST_FULL") ? (all + 4) / 5 : all;
}

/* Marsaglia's xorshift; the state must not be 0. */
static inline uint64_t check_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A heap with all that it rests on. */
typedef struct {
    PtcMem mem;
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
} CheckHeap;

static inline void check_heap_init(CheckHeap *h)
{
    ptc_mem_init(&h->mem, SIZE_MAX / 2);
    ptc_pool_init(&h->pool, &h->mem);
    ptc_budget_init(&h->budget);
    ptc_heap_init(&h->heap, &h->pool, &h->budget, SIZE_MAX / 4);
}

/* Gives everything back and checks that it was everything. */
static inline void check_heap_deinit(CheckHeap *h)
{
    ptc_heap_deinit(&h->heap);
    ptc_pool_deinit(&h->pool);
    CHECK(atomic_load(&h->mem.used) == 0);
}

#endif
