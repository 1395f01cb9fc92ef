/* SPDX-License-Identifier: MIT
 * Maps with a type.  What always holds: the entries of a typed map are laid out as those of a plain one, so that only
 * equality, printing and what changes a map need to know of types. */
#include "value/coll/typed.h"

#include "value/coll/vec.h"
#include "value/equal.h"
#include "value/str.h"

static size_t plain_bytes(PtcValue map)
{
    return ptc_is(map, PTC_T_SMAP) ? sizeof(PtcSmap) + ptc_obj(map)->count * sizeof(PtcValue)
                                   : sizeof(PtcDict);
}

/* The place behind a map of this size. */
static PtcValue *slot_behind(PtcValue map)
{
    return (PtcValue *)(uintptr_t)(map + plain_bytes(map));
}

PtcValue ptc_typed_type(PtcValue v)
{
    if (ptc_is_typed(v))
        return *slot_behind(v);
    return ptc_is_object(v) ? ((const PtcRecord *)(uintptr_t)v)->fields[PTC_OBJECT_TYPE] : PTC_NONE;
}

bool ptc_typed_alike(PtcHeap *heap, PtcValue a, PtcValue b)
{
    PtcValue x = ptc_typed_type(a), y = ptc_typed_type(b);
    if (x == y)
        return true;
    return x != PTC_NONE && y != PTC_NONE &&
           ptc_str_same(heap->budget, ptc_type_field(x, PTC_TYPE_NAME),
                        ptc_type_field(y, PTC_TYPE_NAME));
}

int64_t ptc_type_find(PtcHeap *heap, PtcValue type, PtcValue key)
{
    PtcValue basis = ptc_type_field(type, PTC_TYPE_BASIS);
    size_t n = ptc_seq_count(basis);
    for (size_t i = 0; i < n && ptc_tick(heap->budget, 1); i++)
        if (ptc_same(heap, ptc_seq_nth(basis, i), key))
            return (int64_t)i;
    return -1;
}

static PtcValue copy_with(PtcHeap *heap, PtcValue map, PtcValue type)
{
    size_t bytes = plain_bytes(map);
    char *o = ptc_heap_alloc(heap, bytes + (type != PTC_NONE ? sizeof type : 0));
    if (!o)
        return PTC_NONE;
    memcpy(o, ptc_obj(map), bytes);
    ((PtcObj *)(void *)o)->flags = type != PTC_NONE ? PTC_TYPED : 0;
    if (type != PTC_NONE)
        memcpy(o + bytes, &type, sizeof type);
    return ptc_from_obj(o);
}

PtcValue ptc_typed_new(PtcHeap *heap, PtcValue map, PtcValue type)
{
    return copy_with(heap, map, type);
}
