/* SPDX-License-Identifier: MIT */
#include "value/copy.h"

#include "value/str.h"

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

/* Where the pair of `old` is or belongs. */
static PtcValue *place(PtcValue *table, size_t cap, PtcValue old)
{
    size_t at = (size_t)((old >> 3) * 0x9e3779b97f4a7c15u >> 32) & (cap - 1);
    while (table[at * 2] != PTC_NONE && table[at * 2] != old)
        at = (at + 1) & (cap - 1);
    return &table[at * 2];
}

static bool grow_table(PtcCopy *copy)
{
    PtcMem *mem = copy->to->pool->mem;
    size_t cap = copy->cap ? copy->cap * 2 : 64;
    PtcValue *table = ptc_mem_alloc(mem, cap * 2 * sizeof *table);
    if (!table)
        return ptc_budget_halt(copy->to->budget, PTC_STOP_MEMORY);
    memset(table, 0, cap * 2 * sizeof *table);
    for (size_t i = 0; i < copy->cap; i++)
        if (copy->table[i * 2] != PTC_NONE)
            memcpy(place(table, cap, copy->table[i * 2]), &copy->table[i * 2], 2 * sizeof *table);
    ptc_mem_free(mem, copy->table, copy->cap * 2 * sizeof *table);
    copy->table = table;
    copy->cap = cap;
    return true;
}

static bool push_work(PtcCopy *copy, PtcValue v)
{
    if (copy->work_count == copy->work_cap) {
        size_t cap = copy->work_cap ? copy->work_cap * 2 : 64;
        PtcValue *p = ptc_mem_resize(copy->to->pool->mem, copy->work,
                                     copy->work_cap * sizeof *p, cap * sizeof *p);
        if (!p)
            return ptc_budget_halt(copy->to->budget, PTC_STOP_MEMORY);
        copy->work = p;
        copy->work_cap = cap;
    }
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

/* The counterpart of v; its own values are fixed later. */
static PtcValue shallow(PtcCopy *copy, PtcValue v)
{
    if (!ptc_is_obj(v) || ptc_heap_owns(copy->to, v))
        return v;
    if (copy->count * 2 >= copy->cap && !grow_table(copy))
        return PTC_NONE;
    PtcValue *pair = place(copy->table, copy->cap, v);
    if (pair[0] == v)
        return pair[1];
    PtcLayout at = ptc_object_layout(ptc_obj(v));
    void *o = ptc_heap_alloc(copy->to, at.size);
    if (!o)
        return PTC_NONE;
    copy_object(o, ptc_obj(v), at.size);
    pair[0] = v;
    pair[1] = ptc_from_obj(o);
    copy->count++;
    if (at.value_count && !push_work(copy, pair[1]))
        return PTC_NONE;
    return pair[1];
}

PtcValue ptc_copy_value(PtcCopy *copy, PtcValue v)
{
    PtcValue top = shallow(copy, v);
    while (top != PTC_NONE && copy->work_count) {
        PtcLayout at = ptc_object_layout(ptc_obj(copy->work[--copy->work_count]));
        if (!ptc_tick(copy->to->budget, 1 + (int64_t)at.value_count))
            return PTC_NONE;
        for (size_t i = 0; i < at.value_count; i++)
            if (at.values[i] != PTC_NONE && (at.values[i] = shallow(copy, at.values[i])) == PTC_NONE)
                return PTC_NONE;
    }
    return top;
}
