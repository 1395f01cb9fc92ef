/* SPDX-License-Identifier: MIT
 * Points in time at the boundary: ISO 8601 with an offset, so that none is ambiguous. */
#include <stdio.h>

#include "tool/sig/sig_int.h"
#include "value/str.h"

typedef struct {
    const char *p, *end;
} Scan;

static bool take(Scan *s, const char *chars)
{
    if (s->p == s->end || *s->p == 0 || !strchr(chars, *s->p))
        return false;
    s->p++;
    return true;
}

static bool take_digits(Scan *s, int count, int64_t *out)
{
    *out = 0;
    for (int i = 0; i < count; i++) {
        if (s->p == s->end || *s->p < '0' || *s->p > '9')
            return false;
        *out = *out * 10 + (*s->p++ - '0');
    }
    return true;
}

static bool take_date(Scan *s, PtcParsed *out)
{
    bool minus = s->p < s->end && *s->p == '-';
    take(s, "+-");
    out->has_date = true;
    if (!take_digits(s, 4, &out->year) || !take(s, "-") || !take_digits(s, 2, &out->month) ||
        !take(s, "-") || !take_digits(s, 2, &out->day))
        return false;
    out->year = minus ? -out->year : out->year;
    return true;
}

/* Digits beyond the nanoseconds are dropped. */
static bool take_fraction(Scan *s, int64_t *nanos)
{
    int64_t unit = PTC_NANOS;
    const char *from = s->p;
    for (; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++) {
        unit /= 10;
        *nanos += (*s->p - '0') * unit;
    }
    return s->p > from;
}

static bool take_time(Scan *s, PtcParsed *out)
{
    out->has_time = true;
    return take_digits(s, 2, &out->hour) && take(s, ":") && take_digits(s, 2, &out->minute) &&
           take(s, ":") && take_digits(s, 2, &out->second) &&
           (!take(s, ".,") || take_fraction(s, &out->nano));
}

/* Z, +01:00, +0100, +01; not -00:00, which says that nobody knows. */
static bool take_offset(Scan *s, PtcParsed *out)
{
    int64_t hours, minutes = 0;
    out->has_offset = true;
    if (take(s, "Z"))
        return true;
    bool minus = s->p < s->end && *s->p == '-';
    if (!take(s, "+-") || !take_digits(s, 2, &hours))
        return false;
    bool colon = take(s, ":");
    if ((colon || s->p < s->end) && !take_digits(s, 2, &minutes))
        return false;
    out->offset = (hours * 60 + minutes) * (minus ? -60 : 60);
    return hours < 24 && minutes < 60 && !(minus && colon && out->offset == 0);
}

bool ptc_sig_datetime_read(PtcValue str, PtcParsed *out, char why[PTC_WHY])
{
    Scan s = {ptc_str_bytes(str), ptc_str_bytes(str) + ptc_str_len(str)};
    memset(out, 0, sizeof *out);
    snprintf(why, PTC_WHY, "write it as 2024-02-29T10:00:00Z");
    if (!take_date(&s, out) || !take(&s, "T ") || !take_time(&s, out))
        return false;
    if (s.p == s.end) {
        snprintf(why, PTC_WHY, "it has no offset; end it with Z or +01:00");
        return false;
    }
    return take_offset(&s, out) && s.p == s.end && ptc_parsed_check(out, why);
}

PtcValue ptc_sig_datetime_new(PtcHeap *heap, const PtcParsed *p)
{
    enum { FIELDS = 2 };
    PtcTime t = ptc_parsed_time(p);
    PtcRecord *o =
        ptc_heap_object(heap, PTC_T_RECORD, sizeof *o + FIELDS * sizeof o->fields[0], FIELDS);
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
    /* Printed date-times leave out seconds that are zero. */
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
