/* SPDX-License-Identifier: MIT
 * The items of nested collections, one by one.  What always holds: nothing is allocated in the heap and there is no C
 * recursion. */
#include "value/coll/visit.h"

#include "value/cell.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"

bool ptc_visit_begin(PtcWalk *walk, PtcValue coll)
{
    return ptc_walk_push(walk, coll, 0);
}

static PtcVisit next_visited_entry(PtcFrame *f, PtcValue *out)
{
    if (f->acc != PTC_NONE) {
        *out = f->acc;
        f->acc = PTC_NONE;
        return PTC_VISIT_VALUE;
    }
    PtcValue value;
    if (!ptc_map_next(f->a, &f->pos, &f->b, &value))
        return PTC_VISIT_END;
    f->acc = value;
    *out = f->b;
    return PTC_VISIT_KEY;
}

static PtcValue range_nth(PtcValue range, size_t i)
{
    const PtcRange *r = (const PtcRange *)(const void *)ptc_obj(range);
    return ptc_int(r->start + (int64_t)i * r->step);
}

/* The next item when none is at hand; false at the end. */
static bool next_of_seq(PtcFrame *f, PtcValue *out)
{
    size_t i = f->pos - (size_t)f->b;
    if (ptc_is(f->a, PTC_T_CONS)) {
        const PtcCons *cell = (const PtcCons *)(const void *)ptc_obj(f->a);
        *out = cell->first;
        f->a = cell->rest;
        f->b = f->pos + 1;
        return true;
    }
    if (i >= ptc_seq_count(f->a))
        return false;
    if (ptc_is(f->a, PTC_T_RANGE)) {
        *out = range_nth(f->a, i);
        return true;
    }
    const PtcValue *at = ptc_vec_chunk(f->a, i, &f->pos_b);
    *out = *at++;
    f->pos_b--;
    f->acc = (uint64_t)(uintptr_t)at;
    return true;
}

bool ptc_visit_cell(PtcWalk *walk, PtcValue cell)
{
    if (!ptc_walk_push(walk, cell, 0))
        return false;
    ptc_walk_top(walk)->acc = ptc_cell_get(walk->heap, cell);
    return true;
}

PtcVisit ptc_visit_next(PtcFrame *f, PtcValue *out)
{
    if (PTC_UNLIKELY(ptc_is_cell(f->a))) {
        *out = f->acc;
        return f->pos++ == 0 ? PTC_VISIT_ITEM : PTC_VISIT_END;
    }
    if (ptc_is_map(f->a))
        return next_visited_entry(f, out);
    if (ptc_is_set(f->a))
        return ptc_map_next(f->a, &f->pos, out, NULL) ? PTC_VISIT_ITEM : PTC_VISIT_END;
    if (f->pos_b) {
        const PtcValue *at = (const PtcValue *)(uintptr_t)f->acc;
        *out = *at++;
        f->pos_b--;
        f->acc = (uint64_t)(uintptr_t)at;
    } else if (!next_of_seq(f, out)) {
        return PTC_VISIT_END;
    }
    f->pos++;
    return PTC_VISIT_ITEM;
}
