/* SPDX-License-Identifier: MIT
 * Arrays grow by doubling, keep what they hold, and stay as they are when there is no room. */
#include "base/grow.h"

#include "check.h"
#include "value/scratch.h"

enum { LIMIT = 1 << 20 };

typedef struct Item {
    uint64_t number;
    char rest[5];
} Item;

static void test_capacities(void)
{
    CHECK(ptc_grow_cap(0, 1, 4) == 8);
    CHECK(ptc_grow_cap(0, 9, 4) == 16);
    CHECK(ptc_grow_cap(8, 9, 4) == 16);
    CHECK(ptc_grow_cap(24, 25, 4) == 48);
    CHECK(ptc_grow_cap(0, SIZE_MAX, 1) == 0);
    CHECK(ptc_grow_cap(0, SIZE_MAX / 2, 1) > SIZE_MAX / 2);
    CHECK(ptc_grow_cap(8, SIZE_MAX / 16 + 1, 8) == 0);
    size_t cap = ptc_grow_cap(0, SIZE_MAX / 48, 24);
    CHECK(cap >= SIZE_MAX / 48 && cap <= SIZE_MAX / 24);
}

static void test_appends(void)
{
    PtcMem mem;
    Item *items = NULL;
    size_t cap = 0, moves = 0;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    for (size_t i = 0; i < 1000; i++) {
        size_t before = cap;
        CHECK(PTC_GROW(&mem, &items, &cap, i + 1) && cap > i);
        moves += cap != before;
        items[i] = (Item){.number = i};
    }
    for (size_t i = 0; i < 1000; i++)
        CHECK(items[i].number == i);
    CHECK(cap == 1024 && moves == 8 && mem.used == cap * sizeof *items);
    ptc_mem_free(&mem, items, cap * sizeof *items);
    CHECK(mem.used == 0);
}

static void test_refused(void)
{
    PtcMem mem;
    Item *items = NULL;
    size_t cap = 0;
    ptc_mem_init(&mem, 20 * sizeof *items);
    CHECK(!PTC_GROW(&mem, &items, &cap, 21) && !items && cap == 0);
    CHECK(PTC_GROW(&mem, &items, &cap, 16) && cap == 16);
    Item *before = items;
    CHECK(!PTC_GROW(&mem, &items, &cap, 17) && items == before && cap == 16);
    CHECK(!PTC_GROW(&mem, &items, &cap, SIZE_MAX) && items == before && cap == 16);
    CHECK(mem.used == 16 * sizeof *items);
    ptc_mem_free(&mem, items, cap * sizeof *items);
}

/* Memory of a heap: what is refused stops the budget. */
static void test_grow_scratch(void)
{
    PtcScratch s;
    Item *items = NULL;
    size_t cap = 0;
    ptc_scratch_init(&s, NULL, LIMIT);
    CHECK(PTC_GROW_SCRATCH(&s.heap, &items, &cap, 9) && cap == 16);
    CHECK(s.heap.scratch == 16 * sizeof *items && s.budget.stop == PTC_STOP_NONE);
    items[8] = (Item){.number = 8};
    CHECK(!PTC_GROW_SCRATCH(&s.heap, &items, &cap, SIZE_MAX / 2) && cap == 16);
    CHECK(s.budget.stop == PTC_STOP_MEMORY);
    s.budget.stop = PTC_STOP_NONE;
    CHECK(!PTC_GROW_SCRATCH(&s.heap, &items, &cap, LIMIT) && cap == 16 && items[8].number == 8);
    CHECK(s.budget.stop == PTC_STOP_MEMORY);
    ptc_heap_scratch_free(&s.heap, items, cap * sizeof *items);
    CHECK(s.heap.scratch == 0);
    ptc_scratch_deinit(&s);
}

int main(void)
{
    CHECK_RUN(test_capacities());
    CHECK_RUN(test_appends());
    CHECK_RUN(test_refused());
    CHECK_RUN(test_grow_scratch());
    return check_done("grow");
}
