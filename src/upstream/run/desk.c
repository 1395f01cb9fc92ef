/* SPDX-License-Identifier: MIT
 * Desks: a heap and an arena for one piece of work.  Some of them are kept for the next. */
#include "upstream/run/desk.h"

enum { KEPT = 8, KEPT_PAGES = 16 }; /* desks, and pages of each: 4 MiB in all */
enum { WORK_MS = 5000 };

void ptc_desk_init(PtcDesk *desk, PtcMem *mem, size_t limit)
{
    ptc_pool_init(&desk->pool, mem);
    ptc_budget_init(&desk->budget);
    ptc_heap_init(&desk->heap, &desk->pool, &desk->budget, limit);
    ptc_arena_init(&desk->arena, mem);
}

void ptc_desk_deinit(PtcDesk *desk)
{
    ptc_arena_deinit(&desk->arena);
    ptc_heap_deinit(&desk->heap);
    ptc_pool_deinit(&desk->pool);
}

void ptc_desk_hurry(PtcDesk *desk)
{
    desk->budget.deadline_ns = ptc_clock_ns(NULL) + WORK_MS * PTC_MS;
}

/* ------------------------------------------------------------------------------------- kept */

void ptc_desks_init(PtcDesks *desks, PtcMem *mem)
{
    *desks = (PtcDesks){.mem = mem};
    pthread_mutex_init(&desks->lock, NULL);
}

static void free_desk(PtcDesks *desks, PtcDesk *desk)
{
    ptc_desk_deinit(desk);
    ptc_mem_free(desks->mem, desk, sizeof *desk);
}

void ptc_desks_deinit(PtcDesks *desks)
{
    for (PtcDesk *desk; (desk = desks->kept);) {
        desks->kept = desk->next;
        free_desk(desks, desk);
    }
    pthread_mutex_destroy(&desks->lock);
}

PtcDesk *ptc_desks_take(PtcDesks *desks, size_t limit)
{
    pthread_mutex_lock(&desks->lock);
    PtcDesk *desk = desks->kept;
    if (desk) {
        desks->kept = desk->next;
        desks->count--;
    }
    pthread_mutex_unlock(&desks->lock);
    if (!desk) {
        desk = ptc_mem_alloc(desks->mem, sizeof *desk);
        if (desk)
            ptc_desk_init(desk, desks->mem, limit);
    } else {
        ptc_budget_init(&desk->budget);
        ptc_heap_init(&desk->heap, &desk->pool, &desk->budget, limit);
    }
    if (desk)
        ptc_desk_hurry(desk);
    return desk;
}

/* Its pages go to its pool, where the next work finds them. */
void ptc_desks_give(PtcDesks *desks, PtcDesk *desk)
{
    ptc_heap_deinit(&desk->heap);
    ptc_arena_reset(&desk->arena);
    bool small = desk->pool.free_count <= KEPT_PAGES;
    pthread_mutex_lock(&desks->lock);
    bool keep = small && desks->count < KEPT;
    if (keep) {
        desk->next = desks->kept;
        desks->kept = desk;
        desks->count++;
    }
    pthread_mutex_unlock(&desks->lock);
    if (!keep)
        free_desk(desks, desk);
}
