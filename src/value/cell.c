/* SPDX-License-Identifier: MIT
 * Cells and the table of those that a run has changed.  What always holds: only ptc_cell_set, and a session that
 * commits, write into a cell, and only into one of their own heap. */
#include "value/cell.h"

enum { FIRST_CELLS = 16, INMOST = 1000, OPEN_PER_TICK = 16 };

static PtcValue *cell_value_slot(PtcValue cell)
{
    return &((PtcRecord *)(uintptr_t)cell)->fields[PTC_CELL_VALUE];
}

PtcValue ptc_cell_new(PtcHeap *heap, PtcCellKind kind, PtcValue value, PtcValue more)
{
    size_t size = sizeof(PtcRecord) + PTC_CELL_FIELDS * sizeof(PtcValue);
    PtcRecord *r = ptc_heap_object(heap, PTC_T_RECORD, size, PTC_CELL_FIELDS);
    if (!r)
        return PTC_NONE;
    r->obj.aux = PTC_R_CELL;
    r->obj.flags = (uint8_t)kind;
    r->fields[PTC_CELL_VALUE] = value;
    r->fields[PTC_CELL_NUMBER] = ptc_int(heap->cell_count++);
    r->fields[PTC_CELL_MORE] = more;
    return ptc_from_obj(r);
}

/* The pair of a cell, or the free one where it belongs. */
static PtcValue *cell_pair_place(PtcValue *pairs, size_t cap, PtcValue cell)
{
    size_t at = (size_t)((cell >> 3) * 0x9e3779b97f4a7c15u >> 32) & (cap - 1);
    while (pairs[at * 2] != PTC_NONE && pairs[at * 2] != cell)
        at = (at + 1) & (cap - 1);
    return &pairs[at * 2];
}

PtcValue ptc_cell_get(const PtcHeap *heap, PtcValue cell)
{
    const PtcCells *cells = heap->cells;
    if (cells && cells->count && !ptc_heap_owns(heap, cell)) {
        const PtcValue *pair = cell_pair_place(cells->pairs, cells->cap, cell);
        if (pair[0] == cell)
            return pair[1];
    }
    return *cell_value_slot(cell);
}

PtcValue ptc_cell_inmost(const PtcHeap *heap, PtcValue v)
{
    for (int i = 0; i < INMOST; i++) {
        if (!ptc_is_cell(v))
            return v;
        v = ptc_cell_get(heap, v);
    }
    return PTC_NONE;
}

static bool grow_cells(PtcCells *cells)
{
    size_t cap = cells->cap ? cells->cap * 2 : FIRST_CELLS, bytes = cap * 2 * sizeof(PtcValue);
    PtcValue *pairs = ptc_mem_alloc(cells->mem, bytes);
    if (!pairs)
        return false;
    memset(pairs, 0, bytes);
    for (size_t i = 0; i < cells->cap; i++)
        if (cells->pairs[i * 2] != PTC_NONE)
            memcpy(cell_pair_place(pairs, cap, cells->pairs[i * 2]), &cells->pairs[i * 2],
                   2 * sizeof *pairs);
    ptc_mem_free(cells->mem, cells->pairs, cells->cap * 2 * sizeof *pairs);
    cells->pairs = pairs;
    cells->cap = cap;
    return true;
}

static PtcCells *heap_cells(PtcHeap *heap)
{
    if (heap->cells)
        return heap->cells;
    PtcMem *mem = heap->pool->mem;
    PtcCells *cells = ptc_mem_alloc(mem, sizeof *cells);
    if (cells)
        *cells = (PtcCells){.mem = mem};
    return heap->cells = cells;
}

bool ptc_cell_set(PtcHeap *heap, PtcValue cell, PtcValue value)
{
    if (ptc_heap_owns(heap, cell)) {
        *cell_value_slot(cell) = value;
        return true;
    }
    if (heap->cells_closed)
        return false;
    PtcCells *cells = heap_cells(heap);
    if (!cells || (cells->count * 2 >= cells->cap && !grow_cells(cells)))
        return ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
    PtcValue *pair = cell_pair_place(cells->pairs, cells->cap, cell);
    cells->count += pair[0] == PTC_NONE;
    pair[0] = cell;
    pair[1] = value;
    return true;
}

bool ptc_cell_is_open(const PtcWalk *walk, PtcValue cell)
{
    for (size_t i = walk->count; i > 0; i--) {
        if (walk->frames[i - 1].a == cell)
            return true;
        if (i % OPEN_PER_TICK == 0 && !ptc_tick(walk->heap->budget, 1))
            return true;
    }
    return false;
}

/* ---------------------------------------------------------------------------- the table */

void ptc_cells_share(PtcHeap *heap, const PtcHeap *outer)
{
    heap->cells = outer->cells;
    heap->cells_closed = true;
}

void ptc_cells_free(PtcHeap *heap)
{
    PtcCells *cells = heap->cells;
    if (cells && !heap->cells_closed) {
        ptc_mem_free(cells->mem, cells->pairs, cells->cap * 2 * sizeof *cells->pairs);
        ptc_mem_free(cells->mem, cells, sizeof *cells);
    }
    heap->cells = NULL;
}

bool ptc_cells_next(const PtcCells *cells, size_t *pos, PtcValue *cell, PtcValue **slot)
{
    while (cells && *pos < cells->cap) {
        PtcValue *pair = &cells->pairs[(*pos)++ * 2];
        if (pair[0] != PTC_NONE) {
            *cell = pair[0];
            *slot = &pair[1];
            return true;
        }
    }
    return false;
}

void ptc_cells_mark(PtcHeap *heap)
{
    PtcValue cell, *slot;
    for (size_t pos = 0; !heap->cells_closed && ptc_cells_next(heap->cells, &pos, &cell, &slot);)
        ptc_heap_mark(heap, *slot);
}

void ptc_cells_exchange(const PtcCells *cells)
{
    PtcValue cell, *slot;
    for (size_t pos = 0; ptc_cells_next(cells, &pos, &cell, &slot);) {
        PtcValue held = *cell_value_slot(cell);
        *cell_value_slot(cell) = *slot;
        *slot = held;
    }
}
