/* SPDX-License-Identifier: MIT
 * Copies values between heaps.  What always holds: no C recursion; what is shared stays shared; memory that a value
 * cannot reach is left behind if that is worthwhile. */
#include "value/copy.h"

#include "base/grow.h"
#include "value/cell.h"
#include "value/coll/dict.h"
#include "value/coll/lazy.h"
#include "value/coll/typed.h"
#include "value/coll/vec.h"
#include "value/equal.h"
#include "value/str.h"

enum { PARTED_MAX = 32 * PTC_KB }; /* elements that may be copied separately in any case */

void ptc_copy_init(PtcCopy *copy, PtcHeap *to)
{
    memset(copy, 0, sizeof *copy);
    copy->to = to;
}

void ptc_copy_deinit(PtcCopy *copy)
{
    PtcMem *mem = copy->to->pool->mem;
    ptc_mem_free(mem, copy->table, copy->cap * 2 * sizeof(PtcValue));
    ptc_mem_free(mem, copy->work, copy->work_cap * sizeof(PtcValue));
    copy->table = copy->work = NULL;
    copy->cap = copy->count = copy->work_cap = copy->work_count = 0;
}

/* Where the pair of `old` is, or belongs. */
static PtcValue *copied_pair_place(PtcValue *table, size_t cap, PtcValue old)
{
    size_t at = (size_t)((old >> 3) * 0x9e3779b97f4a7c15u >> 32) & (cap - 1);
    while (table[at * 2] != PTC_NONE && table[at * 2] != old)
        at = (at + 1) & (cap - 1);
    return &table[at * 2];
}

static bool grow_copy_table(PtcCopy *copy)
{
    PtcMem *mem = copy->to->pool->mem;
    size_t cap = copy->cap ? copy->cap * 2 : 64;
    PtcValue *table = ptc_mem_alloc(mem, cap * 2 * sizeof *table);
    if (!table)
        return ptc_budget_halt(copy->to->budget, PTC_STOP_MEMORY);
    memset(table, 0, cap * 2 * sizeof *table);
    for (size_t i = 0; i < copy->cap; i++)
        if (copy->table[i * 2] != PTC_NONE)
            memcpy(copied_pair_place(table, cap, copy->table[i * 2]), &copy->table[i * 2],
                   2 * sizeof *table);
    ptc_mem_free(mem, copy->table, copy->cap * 2 * sizeof *table);
    copy->table = table;
    copy->cap = cap;
    return true;
}

static bool push_work(PtcCopy *copy, PtcValue v)
{
    if (!PTC_GROW(copy->to->pool->mem, &copy->work, &copy->work_cap, copy->work_count + 1))
        return ptc_budget_halt(copy->to->budget, PTC_STOP_MEMORY);
    copy->work[copy->work_count++] = v;
    return true;
}

/* Another thread may be caching the hash of a string meanwhile. */
static void copy_object(void *to, const PtcObj *from, size_t size)
{
    if (!ptc_is_named(ptc_from_obj(from))) {
        memcpy(to, from, size);
        return;
    }
    PtcStr *s = to;
    const PtcStr *old = (const PtcStr *)(const void *)from;
    s->obj = old->obj;
    atomic_init(&s->hash, atomic_load_explicit(&old->hash, memory_order_relaxed));
    memcpy(s->bytes, old->bytes, old->obj.count + 1);
}

static PtcValue copy_plain_object(PtcCopy *copy, PtcValue v)
{
    PtcLayout at = ptc_object_layout(ptc_obj(v));
    void *o = ptc_heap_alloc(copy->to, at.size);
    if (!o)
        return PTC_NONE;
    copy_object(o, ptc_obj(v), at.size);
    copy->own |= ptc_is_cell(v) || ptc_is_object(v);
    if (!copy->from) /* into a heap of another kind */
        ((PtcObj *)o)->flags &= (uint8_t)~PTC_FROM_TOOL;
    if (at.value_count && !push_work(copy, ptc_from_obj(o)))
        return PTC_NONE;
    return ptc_from_obj(o);
}

/* A slice that is much shorter than its base becomes a separate vector: the rest of the base stays behind. */
static PtcValue copy_slice(PtcCopy *copy, PtcValue v)
{
    size_t count = ptc_seq_count(v), n;
    PtcValue b = ptc_build_new(copy->to);
    for (size_t i = 0; b != PTC_NONE && i < count; i += n) {
        const PtcValue *items = ptc_vec_chunk(v, i, &n);
        if (!ptc_tick(copy->to->budget, 1))
            return PTC_NONE;
        for (size_t k = 0; k < n; k++)
            if (!ptc_build_add(copy->to, b, items[k]))
                return PTC_NONE;
    }
    PtcValue new =
        b == PTC_NONE ? b : ptc_build_done(copy->to, b, ptc_obj(v)->flags & ~PTC_FROM_TOOL);
    if (new == PTC_NONE || ptc_is(new, PTC_T_FLAT))
        return new == PTC_NONE || push_work(copy, new) ? new : PTC_NONE;
    for (size_t i = 0; i < count; i += n) { /* the leaves hold old values */
        const char *leaf = (const char *)ptc_vec_chunk(new, i, &n) - offsetof(PtcNode, slots);
        if (!push_work(copy, ptc_from_obj(leaf)))
            return PTC_NONE;
    }
    return new;
}

/* Entries of a large map or set, including holes. */
static size_t entry_count(PtcValue v)
{
    return ptc_seq_count(((const PtcDict *)(uintptr_t)v)->entries) /
           (ptc_is(v, PTC_T_BMAP) ? 2 : 1);
}

/* An index for the entries of v alone; `slots` has room for twice as many. */
static PtcIndex *new_copied_index(PtcHeap *to, PtcValue v, PtcValue *slots)
{
    PtcValue entries = ((const PtcDict *)(uintptr_t)v)->entries;
    size_t count = entry_count(v), step = ptc_is(v, PTC_T_BMAP) ? 2 : 1, n = 0;
    PtcIndex *index = ptc_heap_object(to, PTC_T_INDEX, sizeof *index, (uint32_t)count);
    if (!index)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        PtcValue key = ptc_seq_nth(entries, i * step);
        if (key != PTC_UNBOUND)
            slots[n++] = ptc_hamt_slot(ptc_hash(to, key), (uint32_t)i);
    }
    index->root = ptc_hamt_build(to, ptc_from_obj(index), slots, slots + count, n);
    return index->root == PTC_NONE || to->budget->stop != PTC_STOP_NONE ? NULL : index;
}

/* A map or set whose index also serves newer versions: it gets its own, and what they added stays behind. */
static PtcValue copy_dict(PtcCopy *copy, PtcValue v)
{
    PtcMem *mem = copy->to->pool->mem;
    size_t bytes = (2 * entry_count(v) + 1) * sizeof(PtcValue);
    PtcValue *slots = ptc_mem_alloc(mem, bytes);
    if (!slots) {
        ptc_budget_halt(copy->to->budget, PTC_STOP_MEMORY);
        return PTC_NONE;
    }
    PtcIndex *index = new_copied_index(copy->to, v, slots);
    ptc_mem_free(mem, slots, bytes);
    PtcValue new = index ? copy_plain_object(copy, v) : PTC_NONE;
    if (new != PTC_NONE)
        ((PtcDict *)(uintptr_t) new)->index = ptc_from_obj(index);
    return new;
}

/* Is it worth copying `cost` elements separately in order to leave `hidden` ones behind?  Many values may hide the
 * same ones, and would share them in a plain copy, so there is a limit. */
static bool worth_parting(PtcCopy *copy, size_t cost, size_t hidden)
{
    if (hidden <= cost || copy->parted + cost > (hidden > PARTED_MAX ? hidden : PARTED_MAX))
        return false;
    copy->parted += cost;
    return true;
}

static bool hides_much(PtcCopy *copy, PtcValue v)
{
    if (ptc_is(v, PTC_T_SLICE)) {
        size_t base = ptc_seq_count(((const PtcSlice *)(uintptr_t)v)->base),
               count = ptc_seq_count(v);
        return worth_parting(copy, count, base - count);
    }
    if (!ptc_is(v, PTC_T_BMAP) && !ptc_is(v, PTC_T_BSET))
        return false;
    size_t indexed = ptc_obj(((const PtcDict *)(uintptr_t)v)->index)->count, count = entry_count(v);
    return worth_parting(copy, count, indexed - count);
}

/* The counterpart of v; the values inside it are fixed later. */
static PtcValue copy_shallow(PtcCopy *copy, PtcValue v)
{
    PtcValue plain = ptc_lazy_plain(v);
    v = plain == PTC_NONE ? v : plain;
    if (!ptc_is_obj(v) || ptc_heap_owns(copy->to, v) ||
        (copy->from && !ptc_heap_owns(copy->from, v)))
        return v;
    if (copy->count * 2 >= copy->cap && !grow_copy_table(copy))
        return PTC_NONE;
    PtcValue *pair = copied_pair_place(copy->table, copy->cap, v);
    if (pair[0] == v)
        return pair[1];
    PtcValue new = !hides_much(copy, v)     ? copy_plain_object(copy, v)
                   : ptc_is(v, PTC_T_SLICE) ? copy_slice(copy, v)
                                            : copy_dict(copy, v);
    if (new == PTC_NONE)
        return PTC_NONE;
    pair[0] = v;
    pair[1] = new;
    copy->count++;
    return new;
}

PtcValue ptc_copy_value(PtcCopy *copy, PtcValue v)
{
    PtcValue top = copy_shallow(copy, v);
    while (top != PTC_NONE && copy->work_count) {
        PtcLayout at = ptc_object_layout(ptc_obj(copy->work[--copy->work_count]));
        if (!ptc_tick(copy->to->budget, 1 + (int64_t)at.value_count))
            return PTC_NONE;
        for (size_t i = 0; i < at.value_count; i++)
            if (at.values[i] != PTC_NONE &&
                (at.values[i] = copy_shallow(copy, at.values[i])) == PTC_NONE)
                return PTC_NONE;
    }
    return top;
}
