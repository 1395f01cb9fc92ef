/* SPDX-License-Identifier: MIT
 * Points in time at the boundary: ISO 8601 with an offset, so that none is ambiguous. */
#include <stdio.h>

#include "tool/sig/sig_int.h"
#include "value/str.h"

bool ptc_sig_datetime_read(PtcValue str, PtcMoment *out, PtcWhy *why)
{
    bool ok = ptc_iso_parse(PTC_ISO_BOUNDARY, ptc_str_bytes(str), ptc_str_len(str), out, why);
    if ((!ok && why->class == PTC_WHY_INVALID) || !out->has_time)
        return ptc_why_say(why, PTC_WHY_INVALID, "write it as 2024-02-29T10:00:00Z");
    if (out->has_offset)
        return ok;
    return ptc_why_say(why, PTC_WHY_INVALID, "it has no offset; end it with Z or +01:00");
}

PtcValue ptc_sig_datetime_new(PtcHeap *heap, const PtcMoment *p)
{
    enum { SIG_TIME_FIELDS = 2 };
    PtcTime t = ptc_moment_time(p);
    PtcRecord *o = ptc_heap_object(
        heap, PTC_T_RECORD, sizeof *o + SIG_TIME_FIELDS * sizeof o->fields[0], SIG_TIME_FIELDS);
    if (!o)
        return PTC_NONE;
    o->obj.aux = PTC_R_INSTANT;
    o->fields[0] = ptc_int(t.seconds);
    o->fields[1] = ptc_int(t.nanos);
    return ptc_from_obj(o);
}

PtcValue ptc_sig_time_text(PtcHeap *heap, PtcValue v)
{
    if (!(ptc_kind_bit(v) & (PTC_K_DATE | PTC_K_DATETIME | PTC_K_INSTANT)))
        return PTC_NONE;
    PtcBuf buf;
    ptc_buf_init(&buf, heap->pool->mem, PTC_SIG_SHOWN);
    ptc_time_text(&buf, v);
    /* Printed date-times omit seconds that are zero. */
    const char *hour = buf.len ? memchr(buf.data, 'T', buf.len) : NULL;
    if (hour && buf.data + buf.len - hour == 6)
        ptc_buf_add_cstr(&buf, ":00");
    PtcValue text = PTC_NONE;
    if (ptc_buf_ok(&buf))
        text = ptc_str_new(heap, buf.data, buf.len);
    else
        ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
    ptc_buf_deinit(&buf);
    return text;
}
