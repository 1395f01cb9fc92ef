/* SPDX-License-Identifier: MIT
 * check.h - all that a unit test needs: checks that are counted, a fixed source of chance, a heap.
 * A test includes this once and ends with `return check_done("name")`. */
#ifndef PTC_TESTS_CHECK_H
#define PTC_TESTS_CHECK_H

#include <stdio.h>
#include <string.h>

#include "value/heap.h"

static struct {
    long passed, failed;
} check_counts;

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
        if (check_count(cond))                                \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #cond); \
    } while (0)

#define CHECK_STR(got, want) check_str(__FILE__, __LINE__, #got, got, want)

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
