/* SPDX-License-Identifier: MIT
 * Sessions: definitions that live on between runs, in a heap of their own.  That heap only grows; when it has
 * doubled, what is still bound is copied to a new one, and the old one is freed with the last outcome that points
 * into it.  What the host can see and change in a session is in session_host.c. */
#include "engine/session.h"

#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "engine/engine.h"
#include "engine/weigh.h"
#include "lisp/vm/vm_int.h"
#include "value/cell.h"
#include "value/coll/walk.h"
#include "value/copy.h"

enum { COMPACT_FIRST = 256 * PTC_KB };

/* *1, *2 ... as the first names, nil for now. */
static bool begin_history(PtcSession *s)
{
    for (uint32_t i = 0; i < s->history; i++) {
        char name[2] = {'*', (char)('1' + i)};
        if (ptc_names_add(&s->names, name, sizeof name) < 0)
            return false;
    }
    if (!ptc_session_room(s, s->history))
        return false;
    for (uint32_t i = 0; i < s->history; i++)
        s->globals[i] = PTC_NIL;
    return true;
}

PtcSession *ptc_session_make(Ptc *ptc, uint32_t history, int64_t bytes)
{
    PtcSession *s = ptc_mem_alloc(&ptc->mem, sizeof *s);
    if (!s)
        return NULL;
    memset(s, 0, sizeof *s);
    s->ptc = ptc;
    s->compact_at = COMPACT_FIRST;
    s->history = history;
    s->history_bytes = PTC_HISTORY_BYTES;
    s->journal = PTC_NIL;
    ptc_names_init(&s->names, &ptc->mem);
    s->box = ptc_box_new(ptc, (size_t)bytes);
    if (s->box && begin_history(s))
        return s;
    ptc_session_drop(s);
    return NULL;
}

PtcSession *ptc_session_open(Ptc *ptc)
{
    return ptc_session_make(ptc, ptc->history, ptc->limits.session_bytes);
}

PtcCache *ptc_session_cache(PtcSession *s)
{
    Ptc *ptc = s->ptc;
    if (s->cache)
        return s->cache;
    PtcCache *cache = ptc_mem_alloc(&ptc->mem, sizeof *cache);
    if (cache &&
        !ptc_cache_init(cache, &ptc->pool, (size_t)ptc->limits.tool_bytes, PTC_CACHE_ENTRIES)) {
        ptc_mem_free(&ptc->mem, cache, sizeof *cache);
        cache = NULL;
    }
    return s->cache = cache;
}

void ptc_session_drop_cache(PtcSession *s)
{
    if (s->cache)
        ptc_cache_deinit(s->cache);
    ptc_mem_free(&s->ptc->mem, s->cache, sizeof *s->cache);
    s->cache = NULL;
}

void ptc_session_drop(PtcSession *s)
{
    if (!s)
        return;
    PtcMem *mem = &s->ptc->mem;
    ptc_session_drop_cache(s);
    if (s->box)
        ptc_box_release(&s->box->heap);
    ptc_names_deinit(&s->names);
    ptc_mem_free(mem, s->globals, s->global_cap * sizeof *s->globals);
    ptc_mem_free(mem, s, sizeof *s);
}

bool ptc_session_room(PtcSession *s, size_t n)
{
    size_t first = s->global_cap;
    if (!PTC_GROW(&s->ptc->mem, &s->globals, &s->global_cap, n))
        return false;
    for (size_t i = first; i < s->global_cap; i++)
        s->globals[i] = PTC_UNBOUND;
    return true;
}

/* Copies what the slots hold, in place. */
static bool copy_slots(PtcCopy *copy, PtcValue *values, size_t n)
{
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++)
        if (values[i] != PTC_UNBOUND)
            ok = (values[i] = ptc_copy_value(copy, values[i])) != PTC_NONE;
    return ok;
}

/* Copies values[0..n) into the heap of `box`; results in place. */
static bool copy_session_values(PtcHeapBox *box, PtcValue *values, size_t n)
{
    PtcCopy copy;
    ptc_copy_init(&copy, &box->heap);
    bool ok = copy_slots(&copy, values, n);
    ptc_copy_deinit(&copy);
    return ok;
}

/* The copies, followed by the journal. */
static bool copy_session(PtcHeapBox *box, PtcValue *copies, const PtcValue *values, size_t n,
                         PtcValue journal)
{
    if (n)
        memcpy(copies, values, n * sizeof *copies);
    copies[n] = journal;
    return copy_session_values(box, copies, n + 1);
}

bool ptc_session_replace(PtcSession *s, PtcHeapBox *box, const PtcValue *values, PtcValue journal,
                         PtcStop *stop)
{
    Ptc *ptc = s->ptc;
    size_t n = s->names.count, bytes = (n + 1) * sizeof(PtcValue);
    PtcValue *copies = box ? ptc_mem_alloc(&ptc->mem, bytes) : NULL;
    bool ok = false;
    *stop = PTC_STOP_MEMORY;
    if (copies) {
        ok = copy_session(box, copies, values, n, journal);
        *stop = box->budget.stop;
    }
    if (ok) {
        if (n)
            memcpy(s->globals, copies, n * sizeof *copies);
        s->journal = copies[n];
        PtcHeapBox *old = s->box;
        s->box = box;
        box = old;
        s->stale = false;
    }
    ptc_mem_free(&ptc->mem, copies, bytes);
    if (box)
        ptc_box_release(&box->heap);
    s->compact_at = s->box->heap.used * 2 > COMPACT_FIRST ? s->box->heap.used * 2 : COMPACT_FIRST;
    return ok;
}

bool ptc_session_compact(PtcSession *s)
{
    PtcStop stop;
    PtcHeapBox *box = ptc_box_new(s->ptc, s->box->heap.limit);
    return ptc_session_replace(s, box, s->globals, s->journal, &stop);
}

/* ------------------------------------------------------------------------------ history */

/* Should this be counted?  Code is small, and functions of letfn refer to each other in circles. */
static bool counts(PtcValue from, PtcValue v)
{
    return ptc_is_obj(v) && !ptc_is(v, PTC_T_PROTO) &&
           !(ptc_is(from, PTC_T_CLOSURE) && ptc_is(v, PTC_T_CLOSURE));
}

/* Does everything that v refers to take more than `most` bytes?  What is shared is counted every time, so that
 * nothing has to be remembered.  Says yes when out of memory. */
static bool is_larger(PtcHeap *heap, PtcValue v, size_t most)
{
    PtcWalk walk;
    size_t sum = 0;
    ptc_walk_init(&walk, heap);
    bool larger = ptc_is_obj(v) && !ptc_walk_push(&walk, v, 0);
    for (PtcFrame *f; !larger && (f = ptc_walk_top(&walk)) != NULL;) {
        PtcLayout at = ptc_object_layout(ptc_obj(f->a));
        sum += f->pos == 0 ? at.size : 0;
        larger = sum > most;
        PtcValue child = f->pos < at.value_count ? at.values[f->pos] : PTC_NONE;
        if (f->pos++ >= at.value_count)
            walk.count--;
        else if (counts(f->a, child))
            larger = larger || !ptc_walk_push(&walk, child, 0);
    }
    ptc_walk_deinit(&walk);
    return larger;
}

/* What takes the place of a result that is too large for the history. */
static PtcValue not_kept(PtcVM *vm, size_t most)
{
    char text[160], limit[40];
    const char *what = ptc_type_name(vm->result);
    bool even = most >= 1024 && most % 1024 == 0;
    snprintf(limit, sizeof limit, "%zu %s", even ? most / 1024 : most, even ? "KiB" : "bytes");
    int n = ptc_is_sequential(vm->result) || ptc_is_map(vm->result) || ptc_is_set(vm->result)
                ? snprintf(text, sizeof text, "not kept: %s of %zu elements, over %s", what,
                           (size_t)ptc_obj(vm->result)->count, limit)
                : snprintf(text, sizeof text, "not kept: %s, over %s", what, limit);
    PtcValue v = ptc_str_new(vm->heap, text, (size_t)n);
    return v == PTC_NONE ? PTC_NIL : v;
}

static PtcValue value_before(const PtcSession *s, size_t i)
{
    return i < s->global_cap ? s->globals[i] : PTC_UNBOUND;
}

/* The values after the run: what it defined if that is kept, and its result in front of those that the session had. */
static void next_values(const PtcSession *s, PtcVM *vm, PtcValue *values, bool keep)
{
    for (size_t i = 0; i < vm->global_count; i++)
        values[i] = keep ? vm->globals[i] : value_before(s, i);
    for (size_t i = 1; i < s->history; i++)
        values[i] = s->globals[i - 1];
    if (s->history == 0)
        return;
    PtcBudget budget = vm->budget; /* the run is over: what happens here is not its failure */
    bool larger = is_larger(vm->heap, vm->result, s->history_bytes);
    values[0] = larger ? not_kept(vm, s->history_bytes) : vm->result;
    vm->budget = budget;
}

/* ------------------------------------------------------------------------------- commit */

static bool fail_commit(PtcSession *s, PtcVM *vm, PtcStop stop)
{
    if (stop == PTC_STOP_MEMORY && !vm->failed) {
        vm->control = PTC_CONTROL_NONE;
        vm->failed = true;
        memset(&vm->error, 0, sizeof vm->error);
        vm->error.kind = PTC_E_MEMORY;
        ptc_diag_format(
            vm->error.message, sizeof vm->error.message,
            "the session's definitions passed their limit of %lld bytes; none were kept",
            (long long)s->box->heap.limit);
        ptc_diag_format(vm->error.hint, sizeof vm->error.hint, "def less data, or end the session");
        return false;
    }
    vm->budget.stop = stop;
    vm->control = PTC_CONTROL_NONE;
    return ptc_vm_stopped(vm);
}

/* The cells of the session that the run changed; NULL: none, or they are not kept. */
static PtcCells *changed_cells(const PtcVM *vm, bool keep)
{
    return keep && vm->heap->cells && vm->heap->cells->count ? vm->heap->cells : NULL;
}

/* Copies the run's values and what it put into cells of the session, so that a cell that both hold stays one. */
static bool copy_commit(PtcSession *s, PtcValue *values, size_t n, const PtcCells *cells,
                        PtcValue *held)
{
    PtcCopy copy;
    PtcValue cell, *slot;
    size_t changed = 0;
    for (size_t pos = 0; ptc_cells_next(cells, &pos, &cell, &slot);)
        held[changed++] = *slot;
    ptc_copy_init(&copy, &s->box->heap);
    bool ok = copy_slots(&copy, values, n) && copy_slots(&copy, held, changed);
    ptc_copy_deinit(&copy);
    return ok;
}

/* A cell that came with the context belongs to another heap and stays as it is. */
static void fill_cells(const PtcSession *s, const PtcCells *cells, const PtcValue *held)
{
    PtcValue cell, *slot;
    for (size_t pos = 0; ptc_cells_next(cells, &pos, &cell, &slot); held++)
        if (ptc_heap_owns(&s->box->heap, cell))
            ((PtcRecord *)(uintptr_t)cell)->fields[PTC_CELL_VALUE] = *held;
}

/* The values are copied in a scratch array first: a failure leaves the session as it was. */
static bool commit_into(PtcSession *s, PtcVM *vm, const PtcValue *values, PtcValue *scratch,
                        const PtcCells *cells)
{
    size_t bytes = vm->global_count * sizeof *scratch;
    size_t more = cells ? cells->count * sizeof *scratch : 0;
    ptc_engine_budget(s->ptc, &s->box->budget, vm->limits.timeout_ms);
    PtcValue *held = more ? ptc_mem_alloc(&s->ptc->mem, more) : NULL;
    if (more && !held)
        return ptc_budget_halt(&s->box->budget, PTC_STOP_MEMORY);
    if (bytes)
        memcpy(scratch, values, bytes);
    bool ok = copy_commit(s, scratch, vm->global_count, cells, held);
    if (ok && bytes)
        memcpy(s->globals, scratch, bytes);
    if (ok)
        fill_cells(s, cells, held);
    ptc_mem_free(&s->ptc->mem, held, more);
    return ok;
}

/* The new heap gets copies of the cells with what the run left in them; those of the old one keep what they had, for
 * outcomes that point there. */
static bool replace_with_cells(PtcSession *s, const PtcValue *values, const PtcCells *cells,
                               PtcStop *stop)
{
    PtcHeapBox *box = ptc_box_new(s->ptc, s->box->heap.limit);
    ptc_cells_exchange(cells);
    bool ok = ptc_session_replace(s, box, values, s->journal, stop);
    ptc_cells_exchange(cells);
    return ok;
}

/* If what the run released is dropped first, it may fit. */
static bool try_commit(PtcSession *s, PtcVM *vm, const PtcValue *values, PtcValue *scratch,
                       const PtcCells *cells, PtcStop *stop)
{
    bool ok = commit_into(s, vm, values, scratch, cells);
    *stop = s->box->budget.stop;
    return ok || (*stop == PTC_STOP_MEMORY && replace_with_cells(s, values, cells, stop));
}

/* Bytes of objects in a heap, including dead ones. */
static size_t bytes_in(const PtcHeap *heap)
{
    return heap->used - (size_t)(heap->end - heap->cur) - (size_t)(heap->over_end - heap->over);
}

bool ptc_session_over(PtcSession *s, PtcVM *vm, size_t most, bool *over)
{
    size_t bytes = 0, first = s->history < vm->global_count ? s->history : vm->global_count;
    *over = false;
    if (vm->context == PTC_NIL && bytes_in(&s->box->heap) + bytes_in(vm->heap) <= most)
        return true; /* everything together takes no more */
    ptc_engine_budget(s->ptc, &s->box->budget, vm->limits.timeout_ms);
    ptc_cells_exchange(vm->heap->cells);
    bool weighed =
        ptc_weigh(&s->box->heap, vm->globals + first, vm->global_count - first, most, &bytes);
    ptc_cells_exchange(vm->heap->cells);
    if (!weighed)
        return fail_commit(s, vm, PTC_STOP_MEMORY);
    *over = bytes > most;
    return true;
}

bool ptc_session_commit(PtcSession *s, PtcVM *vm, PtcOutcome *o, bool keep)
{
    if (keep && !ptc_outcome_note_changes(o, s, vm))
        return fail_commit(s, vm, PTC_STOP_MEMORY);
    size_t bytes = 2 * (vm->global_count + 1) * sizeof(PtcValue);
    PtcValue *values =
        ptc_session_room(s, vm->global_count) ? ptc_mem_alloc(&s->ptc->mem, bytes) : NULL;
    s->box->heap.limit = (size_t)o->limits.session_bytes;
    if (!values)
        return fail_commit(s, vm, PTC_STOP_MEMORY);
    next_values(s, vm, values, keep);
    PtcValue *scratch = values + vm->global_count + 1;
    const PtcCells *cells = changed_cells(vm, keep);
    PtcStop stop;
    bool ok = try_commit(s, vm, values, scratch, cells, &stop);
    if (!ok && stop == PTC_STOP_MEMORY &&
        s->history > 0) { /* give up results to make room for definitions */
        for (size_t i = 0; i < s->history; i++)
            values[i] = PTC_NIL;
        ok = try_commit(s, vm, values, scratch, cells, &stop);
    }
    ptc_mem_free(&s->ptc->mem, values, bytes);
    s->cursor_index = s->cursor_at = 0;
    if (!ok)
        fail_commit(s, vm, stop);
    if (!ok || s->box->heap.used > s->compact_at) /* a failure leaves copies behind */
        ptc_session_compact(s);
    return ok;
}
