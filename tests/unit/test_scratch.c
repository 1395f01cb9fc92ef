/* SPDX-License-Identifier: MIT
 * Memory for one piece of work: heap and arena share a ledger, which bounds both, and nothing is left of either. */
#include "check.h"

#include <string.h>

#include "value/scratch.h"
#include "value/str.h"

enum { LIMIT = 4 << 20 };

static bool fill(PtcScratch *s)
{
    PtcValue v = ptc_str_new(&s->heap, "text", 4);
    char *bytes = ptc_arena_alloc(&s->arena, 5000);
    if (bytes)
        memset(bytes, 'x', 5000);
    return v != PTC_NONE && bytes;
}

static void test_given_ledger(void)
{
    PtcMem mem;
    PtcScratch s;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    ptc_scratch_init(&s, &mem, LIMIT);
    CHECK(s.mem == &mem && mem.used == 0);
    CHECK(fill(&s) && mem.used >= 5000);
    ptc_scratch_deinit(&s);
    CHECK(mem.used == 0);
}

/* Without a ledger the arena is bounded by the limit of the heap. */
static void test_own_ledger(void)
{
    PtcScratch s;
    ptc_scratch_init(&s, NULL, LIMIT);
    CHECK(s.mem == &s.own && fill(&s));
    CHECK(!ptc_arena_alloc(&s.arena, 3 * (size_t)LIMIT));
    size_t n = 0;
    while (n < 100 && ptc_arena_alloc(&s.arena, LIMIT / 8))
        n++;
    CHECK(n >= 8 && n <= 16);
    ptc_scratch_deinit(&s);
    CHECK(s.own.used == 0);
    ptc_scratch_init(&s, NULL, PTC_UNBOUNDED);
    CHECK(fill(&s));
    ptc_scratch_deinit(&s);
    CHECK(s.own.used == 0);
}

/* What is given back is clean when it is borrowed again: no stop, no values, and the clock runs anew. */
static void test_kept(void)
{
    PtcMem mem;
    PtcScratches all;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    ptc_scratches_init(&all, &mem);
    PtcScratch *first = ptc_scratches_borrow(&all, LIMIT);
    CHECK(first && first->budget.deadline_ns > 0 && fill(first));
    first->budget.deadline_ns = 1;
    ptc_scratches_give_back(&all, first);
    PtcScratch *again = ptc_scratches_borrow(&all, LIMIT / 2),
               *other = ptc_scratches_borrow(&all, LIMIT);
    CHECK(again == first && other && other != first);
    CHECK(again->budget.deadline_ns > 1 && again->heap.limit == LIMIT / 2 && fill(again));
    ptc_scratches_give_back(&all, again);
    ptc_scratches_give_back(&all, other);
    ptc_scratches_deinit(&all);
    CHECK(mem.used == 0);
}

/* Whichever allocation fails, nothing is lost and nothing is used that is not there. */
static void test_no_memory(void)
{
    bool done = false;
    for (unsigned at = 1; !done && at < 100; at++) {
        PtcMem mem;
        PtcScratches all;
        ptc_mem_init(&mem, PTC_UNBOUNDED);
        ptc_mem_fail_at(&mem, at);
        ptc_scratches_init(&all, &mem);
        PtcScratch *s = ptc_scratches_borrow(&all, LIMIT);
        done = s && fill(s);
        if (s)
            ptc_scratches_give_back(&all, s);
        ptc_scratches_deinit(&all);
        CHECK(mem.used == 0);
    }
    CHECK(done);
}

int main(void)
{
    CHECK_RUN(test_given_ledger());
    CHECK_RUN(test_own_ledger());
    CHECK_RUN(test_kept());
    CHECK_RUN(test_no_memory());
    return check_done("scratch");
}
