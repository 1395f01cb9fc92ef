/* SPDX-License-Identifier: MIT
 * cell.h - what atom, volatile! and delay make: a place whose value may change.
 *
 * A cell is an anonymous variable of the run, so that the rules of `def` hold for it.  Everything else relies on values
 * that never change, and on heaps that point into older heaps only; therefore:
 *  - A cell of the run's own heap is changed in place.
 *  - A cell of an older heap (the session's) is never changed while a program runs.  What it holds for this run is in a
 *    table beside the run's heap (PtcCells), which ptc_cell_get looks into.  A session that commits takes the table
 *    over; a run that fails drops it with its heap, and the session has what it had.
 *  - The heap of a thread in a pmap is closed: cells of other heaps can be read there, and changing one is refused.  So
 *    every item sees the cells as they were before, whatever thread runs it, and no two threads write to the same
 *    place.
 * A cell may contain itself, directly or not.  Equality and hash therefore never look inside: cells are equal if they
 * are the same one, and the hash comes from a number that each gets when it is made and that copies and snapshots keep.
 * What walks into a cell (printing, JSON) keeps the cell on its stack and looks there first (ptc_cell_is_open). */
#ifndef PTC_VALUE_CELL_H
#define PTC_VALUE_CELL_H

#include "value/coll/walk.h"
#include "value/record_kinds.h"

/* The fields of the record. */
typedef enum {
    PTC_CELL_VALUE,  /* PTC_UNBOUND: a delay that has not been computed */
    PTC_CELL_NUMBER, /* for the hash; need not be unique */
    PTC_CELL_MORE,   /* of a delay: the function that computes it; else nil */
    PTC_CELL_FIELDS
} PtcCellField;

/* What made it, in the flags of the object. */
typedef enum { PTC_CELL_ATOM, PTC_CELL_VOLATILE, PTC_CELL_DELAY, PTC_CELL_KINDS } PtcCellKind;
#define PTC_CELL_KIND_BITS 3

static inline bool ptc_is_cell(PtcValue v)
{
    return ptc_is_record(v, PTC_R_CELL);
}

static inline PtcCellKind ptc_cell_kind(PtcValue cell)
{
    return (PtcCellKind)(ptc_obj(cell)->flags & PTC_CELL_KIND_BITS);
}

/* PTC_NONE when out of memory. */
PTC_MUST_USE PtcValue ptc_cell_new(PtcHeap *heap, PtcCellKind kind, PtcValue value, PtcValue more);

/* What the cell holds, seen from a run with this heap. */
PtcValue ptc_cell_get(const PtcHeap *heap, PtcValue cell);
/* What is in a cell that is in a cell ...; PTC_NONE: only cells, in a circle or in very many. */
PtcValue ptc_cell_inmost(const PtcHeap *heap, PtcValue v);

/* False: the budget is stopped, or, while it goes on, a pmap stands between the cell and this heap. */
PTC_MUST_USE bool ptc_cell_set(PtcHeap *heap, PtcValue cell, PtcValue value);

/* Is the walk inside of this cell already? */
bool ptc_cell_is_open(const PtcWalk *walk, PtcValue cell);

/* --- the table of changed cells of older heaps --- */

typedef struct PtcCells {
    PtcMem *mem;
    size_t count, cap;
    PtcValue *pairs; /* cap pairs of cell and value, open-addressed; PTC_NONE: free */
} PtcCells;

/* Lets a heap read the table of an older one, for a thread in a pmap, and closes it. */
void ptc_cells_share(PtcHeap *heap, const PtcHeap *outer);
void ptc_cells_free(PtcHeap *heap);
void ptc_cells_mark(PtcHeap *heap);
/* The next changed cell from *pos on; false at the end.  The slot holds its value. */
bool ptc_cells_next(const PtcCells *cells, size_t *pos, PtcValue *cell, PtcValue **slot);
/* Exchanges what the cells hold with what the table holds.  Doing it twice changes nothing.  In between the older heap
 * points into the newer: only for copying or weighing. */
void ptc_cells_exchange(const PtcCells *cells);

#endif
