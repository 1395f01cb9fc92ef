/* SPDX-License-Identifier: MIT
 * ISO 8601 text of times, both ways, and the dates of mail headers. */
#include <stdio.h>

#include "lisp/lib/time.h"

/* ------------------------------------------------------------------------- reading */

typedef struct {
    const char *p, *end;
} Scan;

static bool take(Scan *s, char c)
{
    if (s->p == s->end || *s->p != c)
        return false;
    s->p++;
    return true;
}

static bool take_either(Scan *s, char a, char b)
{
    return take(s, a) || take(s, b);
}

/* A number of min to max digits. */
static bool take_digits(Scan *s, int min, int max, int64_t *out)
{
    int n = 0;
    for (*out = 0; n < max && s->p < s->end && *s->p >= '0' && *s->p <= '9'; n++)
        *out = *out * 10 + (*s->p++ - '0');
    return n >= min;
}

/* Years of more than four digits have a sign. */
static bool take_date(Scan *s, PtcParsed *out)
{
    bool minus = take(s, '-'), plus = !minus && take(s, '+');
    const char *from = s->p;
    if (!take_digits(s, 4, minus || plus ? 6 : 4, &out->year) || (plus && s->p - from < 5))
        return false;
    if (minus)
        out->year = -out->year;
    out->has_date = true;
    return take(s, '-') && take_digits(s, 2, 2, &out->month) && take(s, '-') &&
           take_digits(s, 2, 2, &out->day);
}

static bool take_fraction(Scan *s, int64_t *nanos)
{
    const char *from = s->p;
    if (!take_digits(s, 1, 9, nanos))
        return false;
    for (int64_t n = s->p - from; n < 9; n++)
        *nanos *= 10;
    return true;
}

static bool take_time(Scan *s, PtcParsed *out)
{
    out->has_time = true;
    if (!take_digits(s, 2, 2, &out->hour) || !take(s, ':') || !take_digits(s, 2, 2, &out->minute))
        return false;
    if (!take(s, ':'))
        return true;
    return take_digits(s, 2, 2, &out->second) && (!take(s, '.') || take_fraction(s, &out->nano));
}

/* Z, +02:00, +02, +02:00:30; loose: +0200 too. */
static bool take_offset(Scan *s, bool loose, PtcParsed *out)
{
    out->has_offset = true;
    if (take_either(s, 'Z', 'z'))
        return true;
    int64_t h, m = 0, sec = 0;
    bool minus = take(s, '-');
    if ((!minus && !take(s, '+')) || !take_digits(s, 2, 2, &h))
        return false;
    bool colon = take(s, ':');
    if ((colon || (loose && s->p < s->end)) && !take_digits(s, 2, 2, &m))
        return false;
    if (colon && take(s, ':') && !take_digits(s, 2, 2, &sec))
        return false;
    out->offset = (h * 3600 + m * 60 + sec) * (minus ? -1 : 1);
    return h <= 18 && m < 60 && sec < 60;
}

static bool check_field(const char *name, int64_t n, int64_t min, int64_t max, char why[PTC_WHY])
{
    if (n >= min && n <= max)
        return true;
    snprintf(why, PTC_WHY, "the %s is %lld, not from %lld to %lld", name, (long long)n,
             (long long)min, (long long)max);
    return false;
}

bool ptc_parsed_check(const PtcParsed *p, char why[PTC_WHY])
{
    if (p->has_date) {
        if (!check_field("year", p->year, -PTC_YEAR_MAX, PTC_YEAR_MAX, why) ||
            !check_field("month", p->month, 1, 12, why) || !check_field("day", p->day, 1, 31, why))
            return false;
        int last = ptc_month_length(p->year, (int)p->month);
        if (p->day > last) {
            snprintf(why, PTC_WHY, "%s %lld has only %d days", ptc_month_name((int)p->month),
                     (long long)p->year, last);
            return false;
        }
    }
    return check_field("hour", p->hour, 0, 23, why) &&
           check_field("minute", p->minute, 0, 59, why) &&
           check_field("second", p->second, 0, 59, why) &&
           check_field("nanosecond", p->nano, 0, PTC_NANOS - 1, why);
}

PtcTime ptc_parsed_time(const PtcParsed *p)
{
    int64_t days = ptc_parsed_days(p);
    return (PtcTime){
        days * PTC_DAY_SECONDS + p->hour * 3600 + p->minute * 60 + p->second - p->offset, p->nano};
}

bool ptc_iso_parse(const char *text, size_t len, bool loose, PtcParsed *out, char why[PTC_WHY])
{
    Scan s = {text, text + len};
    memset(out, 0, sizeof *out);
    why[0] = 0;
    if (!take_date(&s, out))
        return false;
    if (take_either(&s, 'T', 't') &&
        (!take_time(&s, out) || (s.p < s.end && !take_offset(&s, loose, out))))
        return false;
    return s.p == s.end && ptc_parsed_check(out, why);
}

/* --------------------------------------------------------------------- mail headers */

/* A name's first three letters, any case: its number from 1, else 0. */
static int take_name(Scan *s, const char *(*name)(int), int count)
{
    for (int i = 1; i <= count && s->end - s->p >= 3; i++) {
        const char *n = name(i);
        if ((s->p[0] | 32) == (n[0] | 32) && (s->p[1] | 32) == n[1] && (s->p[2] | 32) == n[2]) {
            s->p += 3;
            return i;
        }
    }
    return 0;
}

static void skip_blanks(Scan *s)
{
    while (take_either(s, ' ', '\t'))
        continue;
}

static bool take_mail_zone(Scan *s, PtcParsed *out)
{
    skip_blanks(s);
    if (s->p == s->end)
        return true;
    size_t left = (size_t)(s->end - s->p);
    if ((left == 3 && (memcmp(s->p, "GMT", 3) == 0 || memcmp(s->p, "UTC", 3) == 0)) ||
        (left == 2 && memcmp(s->p, "UT", 2) == 0)) {
        s->p = s->end;
        return true;
    }
    return take_offset(s, true, out);
}

bool ptc_mail_parse(const char *text, size_t len, PtcParsed *out)
{
    char why[PTC_WHY];
    Scan s = {text, text + len};
    memset(out, 0, sizeof *out);
    if (take_name(&s, ptc_weekday_name, 7) && !take(&s, ','))
        return false;
    skip_blanks(&s);
    if (!take_digits(&s, 1, 2, &out->day) || !take(&s, ' '))
        return false;
    out->month = take_name(&s, ptc_month_name, 12);
    if (out->month == 0 || !take(&s, ' ') || !take_digits(&s, 4, 4, &out->year) || !take(&s, ' '))
        return false;
    out->has_date = true;
    return take_time(&s, out) && take_mail_zone(&s, out) && s.p == s.end &&
           ptc_parsed_check(out, why);
}

/* ------------------------------------------------------------------------- writing */

enum { TEXT = 64 };

static size_t write_year(char *out, size_t size, int64_t year)
{
    int64_t a = year < 0 ? -year : year;
    return (size_t)snprintf(out, size, "%s%04lld",
                            year < 0      ? "-"
                            : year > 9999 ? "+"
                                          : "",
                            (long long)a);
}

static size_t write_date(char *out, size_t size, int64_t days)
{
    PtcCivil c = ptc_civil_from_days(days);
    size_t n = write_year(out, size, c.year);
    return n + (size_t)snprintf(out + n, size - n, "-%02d-%02d", c.month, c.day);
}

/* The fraction in three, six or nine digits; nothing for zero. */
static size_t write_fraction(char *out, size_t size, int64_t nanos)
{
    if (nanos == 0)
        return 0;
    int digits = nanos % 1000000 == 0 ? 3 : nanos % 1000 == 0 ? 6 : 9;
    for (int i = digits; i < 9; i += 3)
        nanos /= 1000;
    return (size_t)snprintf(out, size, ".%0*lld", digits, (long long)nanos);
}

/* A time of day; `brief` leaves out seconds that are zero. */
static size_t write_point(char out[TEXT], PtcTime t, bool brief)
{
    int64_t days = ptc_floor_div(t.seconds, PTC_DAY_SECONDS),
            s = t.seconds - days * PTC_DAY_SECONDS;
    size_t n = write_date(out, TEXT, days);
    n += (size_t)snprintf(out + n, TEXT - n, "T%02d:%02d", (int)(s / 3600), (int)(s / 60 % 60));
    if (!brief || s % 60 != 0 || t.nanos != 0)
        n += (size_t)snprintf(out + n, TEXT - n, ":%02d", (int)(s % 60));
    return n + write_fraction(out + n, TEXT - n, t.nanos);
}

/* PT26H3M-1.5S, as Java writes it. */
static size_t write_duration(char out[TEXT], PtcTime t)
{
    bool up = t.seconds < 0 && t.nanos > 0; /* write the digits toward zero */
    int64_t s = t.seconds + up, nanos = up ? PTC_NANOS - t.nanos : t.nanos;
    size_t n = (size_t)snprintf(out, TEXT, "PT");
    if (s / 3600 != 0)
        n += (size_t)snprintf(out + n, TEXT - n, "%lldH", (long long)(s / 3600));
    if (s / 60 % 60 != 0)
        n += (size_t)snprintf(out + n, TEXT - n, "%dM", (int)(s / 60 % 60));
    if (s % 60 == 0 && nanos == 0 && n > 2)
        return n;
    n += (size_t)snprintf(out + n, TEXT - n, "%s%d", up && s % 60 == 0 ? "-" : "", (int)(s % 60));
    if (nanos != 0) {
        n += (size_t)snprintf(out + n, TEXT - n, ".%09lld", (long long)nanos);
        while (out[n - 1] == '0')
            n--;
    }
    out[n++] = 'S';
    return n;
}

static bool add_field(PtcBuf *buf, PtcValue v, size_t i)
{
    PtcValue text = ptc_record_field(v, i);
    return ptc_buf_add(buf, ptc_str_bytes(text), ptc_str_len(text));
}

bool ptc_time_text(PtcBuf *buf, PtcValue v)
{
    char text[TEXT];
    size_t n = 0;
    switch (ptc_is(v, PTC_T_RECORD) ? ptc_obj(v)->aux : PTC_R_NONE) {
    case PTC_R_DATE: n = write_date(text, TEXT, ptc_date_days(v)); break;
    case PTC_R_DATETIME: n = write_point(text, ptc_time_of(v), true); break;
    case PTC_R_INSTANT:
        n = write_point(text, ptc_time_of(v), false);
        text[n++] = 'Z';
        break;
    case PTC_R_DURATION: n = write_duration(text, ptc_time_of(v)); break;
    case PTC_R_PERIOD: n = ptc_period_text(v, text, TEXT); break;
    case PTC_R_ENUM: return add_field(buf, v, 1);
    case PTC_R_FORMATTER:
        return ptc_buf_add_cstr(buf, "#formatter[") && add_field(buf, v, 0) &&
               ptc_buf_add_char(buf, ']');
    default: return false;
    }
    return ptc_buf_add(buf, text, n);
}

static bool is_point(PtcValue v)
{
    return (ptc_kind_bit(v) & (PTC_K_DATE | PTC_K_DATETIME | PTC_K_INSTANT)) != 0;
}

bool ptc_time_print(PtcBuf *buf, PtcValue v, bool readable)
{
    if (!readable || !is_point(v))
        return ptc_time_text(buf, v);
    return ptc_buf_add_char(buf, '"') && ptc_time_text(buf, v) && ptc_buf_add_char(buf, '"');
}

bool ptc_time_json(const PtcJsonWriter *writer, PtcBuf *buf, PtcValue v, const char **what)
{
    PTC_UNUSED(writer);
    if (!is_point(v) && !(ptc_kind_bit(v) & (PTC_K_DURATION | PTC_K_PERIOD | PTC_K_ENUM))) {
        if (ptc_is_record(v, PTC_R_FORMATTER))
            *what = "a formatter";
        return false;
    }
    return ptc_buf_add_char(buf, '"') && ptc_time_text(buf, v) && ptc_buf_add_char(buf, '"');
}
