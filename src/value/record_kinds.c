/* SPDX-License-Identifier: MIT
 * Records: a few values under a kind. */
#include "value/record_kinds.h"

PtcValue ptc_record_make(PtcHeap *heap, unsigned kind, const PtcValue *fields, size_t n)
{
    PtcRecord *o = ptc_heap_object(heap, PTC_T_RECORD, sizeof *o + n * sizeof *fields, (uint32_t)n);
    if (!o)
        return PTC_NONE;
    o->obj.aux = (uint16_t)kind;
    memcpy(o->fields, fields, n * sizeof *fields);
    return ptc_from_obj(o);
}
