/* SPDX-License-Identifier: MIT
 * The texts of records of time: as str gives them, as pr-str does. */
#include <stdio.h>

#include "value/str.h"
#include "value/time/time.h"

enum { TIME_TEXT = PTC_CALENDAR_TEXT };

/* PT26H3M-1.5S, as Java writes it. */
static size_t write_duration(char out[TIME_TEXT], PtcTime t)
{
    bool up = t.seconds < 0 && t.nanos > 0; /* write the digits toward zero */
    int64_t s = t.seconds + up, nanos = up ? PTC_NANOS - t.nanos : t.nanos;
    size_t n = (size_t)snprintf(out, TIME_TEXT, "PT");
    if (s / 3600 != 0)
        n += (size_t)snprintf(out + n, TIME_TEXT - n, "%lldH", (long long)(s / 3600));
    if (s / 60 % 60 != 0)
        n += (size_t)snprintf(out + n, TIME_TEXT - n, "%dM", (int)(s / 60 % 60));
    if (s % 60 == 0 && nanos == 0 && n > 2)
        return n;
    n += (size_t)snprintf(out + n, TIME_TEXT - n, "%s%d", up && s % 60 == 0 ? "-" : "",
                          (int)(s % 60));
    if (nanos != 0) {
        n += (size_t)snprintf(out + n, TIME_TEXT - n, ".%09lld", (long long)nanos);
        while (out[n - 1] == '0')
            n--;
    }
    out[n++] = 'S';
    return n;
}

size_t ptc_offset_text(int64_t offset, char out[16])
{
    int64_t s = offset < 0 ? -offset : offset;
    if (s == 0)
        return (size_t)snprintf(out, 16, "Z");
    int n = snprintf(out, 16, "%c%02d:%02d", offset < 0 ? '-' : '+', (int)(s / 3600 % 100),
                     (int)(s / 60 % 60));
    if (s % 60)
        n += snprintf(out + n, 16 - (size_t)n, ":%02d", (int)(s % 60));
    return (size_t)n;
}

/* 2024-05-31T10:20+02:00, with [UTC] for the zone of that name. */
static size_t write_zoned(char out[TIME_TEXT], PtcValue v)
{
    char offset[16];
    size_t n = ptc_iso_time(out, ptc_local_of(v), true);
    size_t m = ptc_offset_text(ptc_to_int(ptc_record_field(v, 1)), offset);
    bool named = ptc_record_field(v, 2) == ptc_int(PTC_ZONE_UTC);
    return n + (size_t)snprintf(out + n, TIME_TEXT - n, "%.*s%s", PTC_ARG_OF(offset, m),
                                named ? "[UTC]" : "");
}

/* A time of day: what stands behind the T of a date-time. */
static size_t write_clock(char out[TIME_TEXT], PtcTime t)
{
    char whole[TIME_TEXT];
    size_t n = ptc_iso_time(whole, t, true), skip = sizeof "1970-01-01T" - 1;
    memcpy(out, whole + skip, n - skip);
    return n - skip;
}

/* 2024-05 or 2024. */
static size_t write_span(char out[TIME_TEXT], PtcValue v)
{
    int64_t n = ptc_date_days(v), year = ptc_floor_div(n, 12);
    if (ptc_is_record(v, PTC_R_YEAR))
        return (size_t)snprintf(out, TIME_TEXT, "%lld", (long long)n);
    return (size_t)snprintf(out, TIME_TEXT, year < 0 ? "-%04lld-%02d" : "%04lld-%02d",
                            (long long)(year < 0 ? -year : year), (int)(n - year * 12) + 1);
}

/* P1Y2M3D; gives the length. */
static size_t write_period_text(PtcValue v, char *out, size_t size)
{
    PtcPeriod p = ptc_period_of(v);
    const struct {
        int64_t n;
        char letter;
    } parts[] = {{p.years, 'Y'}, {p.months, 'M'}, {p.days, 'D'}};
    size_t n = (size_t)snprintf(out, size, "P");
    for (size_t i = 0; i < 3; i++)
        if (parts[i].n != 0)
            n += (size_t)snprintf(out + n, size - n, "%lld%c", (long long)parts[i].n,
                                  parts[i].letter);
    return n > 1 ? n : (size_t)snprintf(out, size, "P0D");
}

static bool add_record_text(PtcBuf *buf, PtcValue v, size_t i)
{
    PtcValue text = ptc_record_field(v, i);
    return ptc_buf_add(buf, ptc_str_bytes(text), ptc_str_len(text));
}

bool ptc_time_text(PtcBuf *buf, PtcValue v)
{
    char text[TIME_TEXT];
    size_t n = 0;
    switch (ptc_is(v, PTC_T_RECORD) ? ptc_obj(v)->aux : PTC_R_NONE) {
    case PTC_R_DATE: n = ptc_iso_date(text, ptc_date_days(v)); break;
    case PTC_R_DATETIME: n = ptc_iso_time(text, ptc_time_of(v), true); break;
    case PTC_R_INSTANT:
        n = ptc_iso_time(text, ptc_time_of(v), false);
        text[n++] = 'Z';
        break;
    case PTC_R_DURATION: n = write_duration(text, ptc_time_of(v)); break;
    case PTC_R_PERIOD: n = write_period_text(v, text, TIME_TEXT); break;
    case PTC_R_CLOCK: n = write_clock(text, ptc_time_of(v)); break;
    case PTC_R_ZONED: n = write_zoned(text, v); break;
    case PTC_R_ZONE: n = ptc_offset_text(ptc_date_days(v), text); break;
    case PTC_R_YEARMONTH:
    case PTC_R_YEAR: n = write_span(text, v); break;
    case PTC_R_ADJUSTER: return ptc_buf_add_cstr(buf, "#adjuster");
    case PTC_R_ENUM: return add_record_text(buf, v, 1);
    case PTC_R_FORMATTER:
        return ptc_buf_add_cstr(buf, "#formatter[") && add_record_text(buf, v, 0) &&
               ptc_buf_add_char(buf, ']');
    default: return false;
    }
    return ptc_buf_add(buf, text, n);
}

bool ptc_is_time_point(PtcValue v)
{
    return (ptc_kind_bit(v) & (PTC_K_DATE | PTC_K_DATETIME | PTC_K_INSTANT | PTC_K_CLOCK |
                               PTC_K_ZONED | PTC_K_YEARMONTH | PTC_K_YEAR)) != 0;
}

bool ptc_time_print(PtcBuf *buf, PtcValue v, bool readable)
{
    if (!readable || !ptc_is_time_point(v))
        return ptc_time_text(buf, v);
    return ptc_buf_add_char(buf, '"') && ptc_time_text(buf, v) && ptc_buf_add_char(buf, '"');
}
