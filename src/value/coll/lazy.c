/* SPDX-License-Identifier: MIT
 * What this layer needs to know of lazy sequences: whether there is something plain behind one. */
#include "value/coll/lazy.h"

PtcValue ptc_lazy_landing(PtcValue v)
{
    while (ptc_is_lazy(v) && ptc_lazy(v)->from == PTC_NIL && ptc_lazy(v)->first == PTC_UNBOUND)
        v = ptc_lazy(v)->rest;
    return v;
}

PtcValue ptc_lazy_behind(PtcValue v)
{
    v = ptc_lazy_landing(v);
    return ptc_is_sequential(v) || ptc_is(v, PTC_T_RECORD) ? v : PTC_NONE;
}

PtcValue ptc_lazy_compute(PtcHeap *heap, PtcValue v)
{
    PtcValue plain = ptc_lazy_plain(v);
    if (plain == PTC_NONE && heap->force && heap->force(heap->force_vm, v))
        plain = ptc_lazy_plain(v);
    return plain == PTC_NONE ? ptc_lazy_demand(heap, v) : plain;
}

PtcValue ptc_lazy_demand(PtcHeap *heap, PtcValue v)
{
    PtcValue plain = ptc_lazy_plain(v);
    if (plain == PTC_NONE)
        ptc_budget_halt(heap->budget, PTC_STOP_LAZY);
    return plain;
}
