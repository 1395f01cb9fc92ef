/* SPDX-License-Identifier: MIT
 * visit.h - the items of nested collections one by one, for code that turns values into text.  Allocates nothing in
 * the heap; the frames of a PtcWalk hold the positions. */
#ifndef PTC_VALUE_COLL_VISIT_H
#define PTC_VALUE_COLL_VISIT_H

#include "value/coll/walk.h"

typedef enum {
    PTC_VISIT_END,
    PTC_VISIT_ITEM, /* of a sequential or set */
    PTC_VISIT_KEY,  /* of a map; its value comes next */
    PTC_VISIT_VALUE
} PtcVisit;

/* How such a visit uses a frame:
 *   a      the collection; of a cons list, what is left of it
 *   pos    sequentials: items given so far; maps and sets: cursor of ptc_map_next
 *   b      maps: the key given last; sequentials: items given before `a` was what it is
 *   acc    maps: the value that comes next, or 0; sequentials: address of the next item
 *   pos_b  sequentials: items that lie there
 * A cell: a is the cell, acc what it holds, pos 1 once that was given. */

static inline bool ptc_visit_is_first(const PtcFrame *frame)
{
    return frame->pos == 0;
}

/* Can v be visited?  A cell can too, as a collection of what it holds, but only by those who ask whether it is one. */
static inline bool ptc_visit_can(PtcValue v)
{
    return ptc_is_sequential(v) || ptc_is_map(v) || ptc_is_set(v);
}

/* A new innermost collection.  False if out of memory; the budget is then stopped. */
PTC_MUST_USE bool ptc_visit_begin(PtcWalk *walk, PtcValue coll);

/* The same for a cell that is not open yet (ptc_cell_is_open). */
PTC_MUST_USE bool ptc_visit_cell(PtcWalk *walk, PtcValue cell);

/* The next item of the collection in this frame. */
PtcVisit ptc_visit_next(PtcFrame *frame, PtcValue *out);

#endif
