/* SPDX-License-Identifier: MIT
 * Memory for one piece of work.  What always holds: heap and arena take from one ledger, which bounds both, and are
 * freed together. */
#include "value/scratch.h"

#include "base/units.h"

enum { KEPT = 8, KEPT_PAGES = 16 }; /* scratches, and pages of each: 4 MiB in all */
enum { WORK_MS = 5000 };

void ptc_scratch_init(PtcScratch *s, PtcMem *mem, size_t limit)
{
    if (!mem)
        ptc_mem_init(&s->own, limit > PTC_UNBOUNDED / 2 ? PTC_UNBOUNDED : 2 * limit);
    s->mem = mem ? mem : &s->own;
    ptc_pool_init(&s->pool, s->mem);
    ptc_budget_init(&s->budget);
    ptc_heap_init(&s->heap, &s->pool, &s->budget, limit);
    ptc_arena_init(&s->arena, s->mem);
}

void ptc_scratch_deinit(PtcScratch *s)
{
    ptc_arena_deinit(&s->arena);
    ptc_heap_deinit(&s->heap);
    ptc_pool_deinit(&s->pool);
}

/* The pages go to the pool, where the next work finds them. */
static void empty_scratch(PtcScratch *s)
{
    ptc_heap_deinit(&s->heap);
    ptc_arena_reset(&s->arena);
}

static void begin_scratch(PtcScratch *s, size_t limit)
{
    ptc_budget_init(&s->budget);
    ptc_heap_init(&s->heap, &s->pool, &s->budget, limit);
}

void ptc_scratch_hurry(PtcScratch *s)
{
    s->budget.deadline_ns = ptc_clock_ns(NULL) + WORK_MS * PTC_MS;
}

/* ------------------------------------------------------------------------------------- kept */

void ptc_scratches_init(PtcScratches *all, PtcMem *mem)
{
    *all = (PtcScratches){.mem = mem};
    pthread_mutex_init(&all->lock, NULL);
}

static void free_scratch(PtcScratches *all, PtcScratch *s)
{
    ptc_scratch_deinit(s);
    ptc_mem_free(all->mem, s, sizeof *s);
}

void ptc_scratches_deinit(PtcScratches *all)
{
    for (PtcScratch *s; (s = all->kept);) {
        all->kept = s->next;
        free_scratch(all, s);
    }
    pthread_mutex_destroy(&all->lock);
}

static PtcScratch *take_kept(PtcScratches *all)
{
    pthread_mutex_lock(&all->lock);
    PtcScratch *s = all->kept;
    if (s) {
        all->kept = s->next;
        all->count--;
    }
    pthread_mutex_unlock(&all->lock);
    return s;
}

PtcScratch *ptc_scratches_borrow(PtcScratches *all, size_t limit)
{
    PtcScratch *s = take_kept(all);
    if (s)
        begin_scratch(s, limit);
    else if ((s = ptc_mem_alloc(all->mem, sizeof *s)))
        ptc_scratch_init(s, all->mem, limit);
    if (s)
        ptc_scratch_hurry(s);
    return s;
}

void ptc_scratches_give_back(PtcScratches *all, PtcScratch *s)
{
    empty_scratch(s);
    bool small = s->pool.free_count <= KEPT_PAGES;
    pthread_mutex_lock(&all->lock);
    bool keep = small && all->count < KEPT;
    if (keep) {
        s->next = all->kept;
        all->kept = s;
        all->count++;
    }
    pthread_mutex_unlock(&all->lock);
    if (!keep)
        free_scratch(all, s);
}
