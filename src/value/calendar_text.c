/* SPDX-License-Identifier: MIT
 * ISO 8601 text of times, in both directions, and the dates of mail headers.  Readers accept texts of any length and
 * any bytes; they never look past the end. */
#include <stdio.h>

#include "base/ascii.h"
#include "value/calendar.h"

enum { MAIL_BYTES = 1000 }; /* of a date in a mail header, including blanks */

/* ------------------------------------------------------------------------- reading */

typedef struct {
    const char *p, *end;
    PtcIso iso;
} Scan;

static bool take_calendar_char(Scan *s, char c)
{
    if (s->p == s->end || *s->p != c)
        return false;
    s->p++;
    return true;
}

static bool take_either(Scan *s, char a, char b)
{
    return take_calendar_char(s, a) || take_calendar_char(s, b);
}

/* A number of min to max digits. */
static bool take_calendar_digits(Scan *s, int min, int max, int64_t *out)
{
    int n = 0;
    for (*out = 0; n < max && s->p < s->end && ptc_ascii_is_digit(*s->p); n++)
        *out = *out * 10 + (*s->p++ - '0');
    return n >= min;
}

/* In Java a sign belongs to years of more than four digits, which require one; at the boundary signs are not
 * allowed. */
static bool take_calendar_year(Scan *s, int64_t *out)
{
    bool minus = take_calendar_char(s, '-'), plus = !minus && take_calendar_char(s, '+');
    bool longer = s->iso != PTC_ISO_BOUNDARY && (minus || plus);
    const char *from = s->p;
    if (!take_calendar_digits(s, 4, longer ? 6 : 4, out) || (longer && plus && s->p - from < 5))
        return false;
    *out = minus ? -*out : *out;
    return true;
}

static bool take_date(Scan *s, PtcMoment *out)
{
    out->has_date = true;
    return take_calendar_year(s, &out->year) && take_calendar_char(s, '-') &&
           take_calendar_digits(s, 2, 2, &out->month) && take_calendar_char(s, '-') &&
           take_calendar_digits(s, 2, 2, &out->day);
}

/* Up to nine digits; at the boundary more, which are dropped. */
static bool take_calendar_fraction(Scan *s, int64_t *nanos)
{
    const char *from = s->p;
    if (!take_calendar_digits(s, 1, 9, nanos))
        return false;
    for (int64_t n = s->p - from; n < 9; n++)
        *nanos *= 10;
    while (s->iso == PTC_ISO_BOUNDARY && s->p < s->end && ptc_ascii_is_digit(*s->p))
        s->p++;
    return true;
}

static bool take_calendar_time(Scan *s, PtcMoment *out)
{
    bool boundary = s->iso == PTC_ISO_BOUNDARY;
    out->has_time = true;
    if (!take_calendar_digits(s, 2, 2, &out->hour) || !take_calendar_char(s, ':') ||
        !take_calendar_digits(s, 2, 2, &out->minute))
        return false;
    if (!take_calendar_char(s, ':'))
        return !boundary;
    if (!take_calendar_digits(s, 2, 2, &out->second))
        return false;
    bool point = take_calendar_char(s, '.') || (boundary && take_calendar_char(s, ','));
    return !point || take_calendar_fraction(s, &out->nano);
}

/* +02:00, +02, +02:00:30, and +0200 if the dialect allows it. */
static bool take_hours(Scan *s, PtcMoment *out)
{
    bool boundary = s->iso == PTC_ISO_BOUNDARY, plain = boundary || s->iso == PTC_ISO_LOOSE;
    int64_t h, m = 0, sec = 0;
    bool minus = take_calendar_char(s, '-');
    if ((!minus && !take_calendar_char(s, '+')) || !take_calendar_digits(s, 2, 2, &h))
        return false;
    bool colon = take_calendar_char(s, ':');
    if ((colon || (plain && s->p < s->end)) && !take_calendar_digits(s, 2, 2, &m))
        return false;
    if (colon && !boundary && take_calendar_char(s, ':') && !take_calendar_digits(s, 2, 2, &sec))
        return false;
    out->offset = (h * 3600 + m * 60 + sec) * (minus ? -1 : 1);
    if (boundary && minus && colon && out->offset == 0)
        return false;
    return h <= (boundary ? 23 : 18) && m < 60 && sec < 60;
}

static bool take_offset(Scan *s, PtcMoment *out)
{
    out->has_offset = true;
    return take_calendar_char(s, 'Z') ||
           (s->iso != PTC_ISO_BOUNDARY && take_calendar_char(s, 'z')) || take_hours(s, out);
}

bool ptc_iso_parse(PtcIso iso, const char *text, size_t len, PtcMoment *out, PtcWhy *why)
{
    Scan s = {text, text + len, iso};
    *out = (PtcMoment){0};
    ptc_iso_malformed(why);
    if (!take_date(&s, out))
        return false;
    if (take_either(&s, 'T', iso == PTC_ISO_BOUNDARY ? ' ' : 't') &&
        (!take_calendar_time(&s, out) || (s.p < s.end && !take_offset(&s, out))))
        return false;
    return s.p == s.end && ptc_moment_check(out, why);
}

bool ptc_millis_fit(int64_t ms)
{
    return ptc_calendar_has(ptc_floor_div(ms, PTC_DAY_SECONDS * 1000));
}

/* Only digits, possibly after a sign. */
static bool take_millis(Scan *s, int64_t *ms)
{
    bool negative = take_calendar_char(s, '-');
    if (!take_calendar_digits(s, 1, 18, ms) || s->p < s->end)
        return false;
    if (negative)
        *ms = -*ms;
    return true;
}

bool ptc_iso_millis(const char *text, size_t len, int64_t *ms)
{
    PtcMoment m;
    if (take_millis(&(Scan){text, text + len, PTC_ISO_JAVA}, ms))
        return ptc_millis_fit(*ms);
    if (!ptc_iso_parse(PTC_ISO_LOOSE, text, len, &m, NULL))
        return false;
    PtcTime t = ptc_moment_time(&m);
    *ms = t.seconds * 1000 + t.nanos / PTC_MS;
    return ptc_millis_fit(*ms);
}

/* --------------------------------------------------------------------- mail headers */

/* The first three letters of a name, in any case: its number from 1, or 0. */
static int take_calendar_name(Scan *s, const char *(*name)(int), int count)
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

static void skip_calendar_blanks(Scan *s)
{
    while (take_either(s, ' ', '\t'))
        continue;
}

static bool take_mail_zone(Scan *s, PtcMoment *out)
{
    skip_calendar_blanks(s);
    if (s->p == s->end)
        return true;
    PtcText left = {s->p, (size_t)(s->end - s->p)};
    if (ptc_text_is(left, "GMT") || ptc_text_is(left, "UTC") || ptc_text_is(left, "UT")) {
        s->p = s->end;
        return true;
    }
    return take_offset(s, out);
}

bool ptc_mail_parse(const char *text, size_t len, PtcMoment *out)
{
    Scan s = {text, text + len, PTC_ISO_LOOSE};
    *out = (PtcMoment){0};
    if (len > MAIL_BYTES)
        return false;
    if (take_calendar_name(&s, ptc_calendar_weekday_name, 7) && !take_calendar_char(&s, ','))
        return false;
    skip_calendar_blanks(&s);
    if (!take_calendar_digits(&s, 1, 2, &out->day) || !take_calendar_char(&s, ' '))
        return false;
    out->month = take_calendar_name(&s, ptc_calendar_month_name, 12);
    if (out->month == 0 || !take_calendar_char(&s, ' ') ||
        !take_calendar_digits(&s, 4, 4, &out->year) || !take_calendar_char(&s, ' '))
        return false;
    out->has_date = true;
    return take_calendar_time(&s, out) && take_mail_zone(&s, out) && s.p == s.end &&
           ptc_moment_check(out, NULL);
}

/* ------------------------------------------------------------------------- moments */

static bool check_field(const char *name, int64_t n, int64_t min, int64_t max, PtcWhy *why)
{
    if (n >= min && n <= max)
        return true;
    return ptc_why_say(why, PTC_WHY_REFUSED, "the %s is %lld, not from %lld to %lld", name,
                       (long long)n, (long long)min, (long long)max);
}

static bool check_date(const PtcMoment *m, PtcWhy *why)
{
    if (!check_field("year", m->year, -PTC_YEAR_MAX, PTC_YEAR_MAX, why) ||
        !check_field("month", m->month, 1, 12, why) || !check_field("day", m->day, 1, 31, why))
        return false;
    int last = ptc_calendar_month_length(m->year, (int)m->month);
    if (m->day <= last)
        return true;
    return ptc_why_say(why, PTC_WHY_REFUSED, "%s %lld has only %d days",
                       ptc_calendar_month_name((int)m->month), (long long)m->year, last);
}

bool ptc_moment_check(const PtcMoment *m, PtcWhy *why)
{
    return (!m->has_date || check_date(m, why)) && check_field("hour", m->hour, 0, 23, why) &&
           check_field("minute", m->minute, 0, 59, why) &&
           check_field("second", m->second, 0, 59, why) &&
           check_field("nanosecond", m->nano, 0, PTC_NANOS - 1, why);
}

PtcTime ptc_moment_time(const PtcMoment *m)
{
    int64_t days = ptc_moment_days(m);
    return (PtcTime){
        days * PTC_DAY_SECONDS + m->hour * 3600 + m->minute * 60 + m->second - m->offset, m->nano};
}

PtcMoment ptc_moment_of(PtcTime t)
{
    int64_t days = ptc_floor_div(t.seconds, PTC_DAY_SECONDS);
    int64_t s = t.seconds - days * PTC_DAY_SECONDS;
    PtcCivil c = ptc_calendar_civil(days);
    return (PtcMoment){.year = c.year,
                       .month = c.month,
                       .day = c.day,
                       .hour = s / 3600,
                       .minute = s / 60 % 60,
                       .second = s % 60,
                       .nano = t.nanos,
                       .has_date = true,
                       .has_time = true};
}

/* ------------------------------------------------------------------------- writing */

/* Every call of a tool is written with its time, so numbers do not go through printf.  At least `width` digits. */
static size_t write_number(char *out, int64_t n, int width)
{
    char digits[24];
    int count = 0;
    for (; n > 0 || count < width; n /= 10)
        digits[count++] = (char)('0' + n % 10);
    for (int i = 0; i < count; i++)
        out[i] = digits[count - 1 - i];
    out[count] = 0;
    return (size_t)count;
}

/* The same with what stands before it. */
static size_t write_calendar_part(char *out, char before, int64_t n, int width)
{
    *out = before;
    return 1 + write_number(out + 1, n, width);
}

/* Every year has at least four digits, and a sign if it has more. */
static size_t write_calendar_date(char out[PTC_CALENDAR_TEXT], PtcCivil c)
{
    bool is_signed = c.year < 0 || c.year > 9999;
    int64_t year = c.year < 0 ? -c.year : c.year;
    size_t n = is_signed ? write_calendar_part(out, c.year < 0 ? '-' : '+', year, 4)
                         : write_number(out, year, 4);
    n += write_calendar_part(out + n, '-', c.month, 2);
    return n + write_calendar_part(out + n, '-', c.day, 2);
}

size_t ptc_iso_date(char out[PTC_CALENDAR_TEXT], int64_t days)
{
    return write_calendar_date(out, ptc_calendar_civil(days));
}

/* The fraction in three, six or nine digits; nothing for zero. */
static size_t write_fraction(char *out, int64_t nanos)
{
    if (nanos == 0)
        return 0;
    int digits = nanos % PTC_MS == 0 ? 3 : nanos % PTC_US == 0 ? 6 : 9;
    for (int i = digits; i < 9; i += 3)
        nanos /= 1000;
    return write_calendar_part(out, '.', nanos, digits);
}

size_t ptc_iso_time(char out[PTC_CALENDAR_TEXT], PtcTime t, bool brief)
{
    PtcMoment m = ptc_moment_of(t);
    size_t n = write_calendar_date(out, (PtcCivil){m.year, (int)m.month, (int)m.day});
    n += write_calendar_part(out + n, 'T', m.hour, 2);
    n += write_calendar_part(out + n, ':', m.minute, 2);
    if (!brief || m.second != 0 || t.nanos != 0)
        n += write_calendar_part(out + n, ':', m.second, 2);
    return n + write_fraction(out + n, t.nanos);
}

size_t ptc_iso_stamp(char out[PTC_CALENDAR_TEXT], int64_t ms)
{
    int64_t seconds = ptc_floor_div(ms, 1000);
    size_t n = ptc_iso_time(out, (PtcTime){seconds, 0}, false);
    n += write_calendar_part(out + n, '.', ms - seconds * 1000, 3);
    out[n] = 'Z';
    out[n + 1] = 0;
    return n + 1;
}
