/* SPDX-License-Identifier: MIT
 * Patterns of DateTimeFormatter/ofPattern, such as "EEE d MMM yyyy 'at' HH:mm": times to text and back.  Names are
 * English.  A pattern is read again each time; it is short.  Formatters with names of their own have patterns too, with
 * letters that ofPattern does not take: F, an optional fraction; O, an optional offset; G, the offset of mail
 * headers. */
#include <stdio.h>

#include "base/ascii.h"
#include "value/str.h"
#include "value/time/time.h"

/* ------------------------------------------------------------------------- tokens */

/* A run of one letter, or (letter 0) text to be taken as it is. */
typedef struct {
    char letter;
    size_t count; /* of letters, of bytes */
    const char *text;
} Token;

/* A quoted text: '' stands for one quote, inside and outside. */
static bool next_quoted(const char **p, const char *end, bool *quoted, Token *t)
{
    const char *from = *p;
    if (end - from >= 2 && from[0] == '\'' && from[1] == '\'') {
        *t = (Token){0, 1, from};
        *p += 2;
        return true;
    }
    if (*from == '\'') {
        *quoted = !*quoted;
        *p += 1;
        *t = (Token){0, 0, from};
        return true;
    }
    while (*p < end && **p != '\'')
        ++*p;
    *t = (Token){0, (size_t)(*p - from), from};
    return true;
}

/* The next token; false at the end. */
static bool next_pattern_token(const char **p, const char *end, bool *quoted, Token *t)
{
    const char *from = *p;
    if (from == end)
        return false;
    if (*quoted || *from == '\'')
        return next_quoted(p, end, quoted, t);
    if (ptc_ascii_is_letter(*from)) {
        while (*p < end && **p == *from)
            ++*p;
        *t = (Token){*from, (size_t)(*p - from), from};
        return true;
    }
    while (*p < end && !ptc_ascii_is_letter(**p) && **p != '\'')
        ++*p;
    *t = (Token){0, (size_t)(*p - from), from};
    return true;
}

static size_t most_of(char letter)
{
    switch (letter) {
    case 'y':
    case 'Y':
    case 'u': return 6;
    case 'M':
    case 'L':
    case 'E': return 5;
    case 'S': return 9;
    case 'X':
    case 'x':
    case 'Z': return 5;
    case 'D': return 3;
    case 'w':
    case 'e': return 2;
    case 'a': return 1;
    case 'd':
    case 'H':
    case 'h':
    case 'm':
    case 's': return 2;
    default: return 0;
    }
}

bool ptc_pattern_check(const char *pattern, size_t len, PtcWhy *why)
{
    const char *p = pattern, *end = pattern + len;
    bool quoted = false;
    Token t;
    if (len > PTC_PATTERN_BYTES)
        return ptc_why_say(why, PTC_WHY_INVALID, "it has %zu bytes, the limit is %d", len,
                           PTC_PATTERN_BYTES);
    while (next_pattern_token(&p, end, &quoted, &t)) {
        size_t most = t.letter ? most_of(t.letter) : 1;
        if (t.letter && most == 0)
            return ptc_why_say(why, PTC_WHY_INVALID, "the letter %c means nothing here", t.letter);
        if (t.letter && t.count > most)
            return ptc_why_say(why, PTC_WHY_INVALID, "%c occurs more than %zu times", t.letter,
                               most);
        for (size_t i = 0; !t.letter && !quoted && i < t.count; i++) {
            if (t.text[i] && strchr("[]{}#", t.text[i]))
                return ptc_why_say(why, PTC_WHY_INVALID, "%c must be in quotes", t.text[i]);
        }
    }
    if (quoted)
        ptc_why_say(why, PTC_WHY_INVALID, "a quote is not closed");
    return !quoted;
}

/* ------------------------------------------------------------------------- writing */

/* A time taken apart. */
typedef struct {
    PtcCivil date;
    int64_t days, second, nano; /* second of the day */
    int64_t offset;
    bool has_time, has_zone, has_date, has_day;
    bool zoned, threes; /* it has an offset of its own; fractions have three, six or nine digits */
} MomentParts;

/* The same point in time in UTC, which ISO_INSTANT writes. */
static void to_utc(MomentParts *p)
{
    int64_t s = p->days * PTC_DAY_SECONDS + p->second - p->offset;
    p->days = ptc_floor_div(s, PTC_DAY_SECONDS);
    p->second = s - p->days * PTC_DAY_SECONDS;
    p->date = ptc_calendar_civil(p->days);
    p->offset = 0;
    p->threes = true;
}

static MomentParts pattern_parts_of(PtcValue v)
{
    unsigned kind = ptc_kind_bit(v);
    MomentParts p = {
        .days = ptc_days_of(v), .second = ptc_second_of(v), .nano = ptc_local_of(v).nanos};
    p.date = ptc_calendar_civil(p.days);
    p.has_date = kind != PTC_K_CLOCK;
    p.has_day = p.has_date && !(kind & (PTC_K_YEARMONTH | PTC_K_YEAR));
    p.has_time = (kind & (PTC_K_DATETIME | PTC_K_INSTANT | PTC_K_CLOCK | PTC_K_ZONED)) != 0;
    p.has_zone = (kind & (PTC_K_INSTANT | PTC_K_ZONED)) != 0;
    p.zoned = (kind & PTC_K_ZONED) != 0;
    p.threes = (kind & PTC_K_INSTANT) != 0;
    if (p.zoned)
        p.offset = ptc_to_int(ptc_record_field(v, 1));
    return p;
}

static bool add_pattern_number(PtcBuf *buf, int64_t n, size_t width)
{
    return ptc_buf_addf(buf, "%0*lld", (int)width, (long long)n);
}

static bool add_pattern_name(PtcBuf *buf, const char *name, size_t count)
{
    return ptc_buf_add(buf, name, count == 5 ? 1 : count == 4 ? strlen(name) : 3);
}

static bool add_year(PtcBuf *buf, const Token *t, int64_t year)
{
    if (t->letter == 'y' && year <= 0) /* of the era before */
        year = 1 - year;
    if (t->count == 2)
        return add_pattern_number(buf, (year % 100 + 100) % 100, 2);
    bool plus = t->count >= 4 && year > 9999;
    return (!plus || ptc_buf_add_char(buf, '+')) && (year >= 0 || ptc_buf_add_char(buf, '-')) &&
           add_pattern_number(buf, year < 0 ? -year : year, t->count);
}

static bool add_date_part(PtcBuf *buf, const Token *t, const MomentParts *p)
{
    int64_t week_year;
    int week = ptc_week_of(p->days, &week_year);
    switch (t->letter) {
    case 'y':
    case 'u': return add_year(buf, t, p->date.year);
    case 'Y': return add_year(buf, t, week_year);
    case 'w': return add_pattern_number(buf, week, t->count);
    case 'e': return add_pattern_number(buf, ptc_calendar_weekday(p->days), t->count);
    case 'd': return add_pattern_number(buf, p->date.day, t->count);
    case 'D': return add_pattern_number(buf, ptc_calendar_day_of_year(p->days), t->count);
    case 'E':
        return add_pattern_name(buf, ptc_calendar_weekday_name(ptc_calendar_weekday(p->days)),
                                t->count);
    default:
        return t->count < 3
                   ? add_pattern_number(buf, p->date.month, t->count)
                   : add_pattern_name(buf, ptc_calendar_month_name(p->date.month), t->count);
    }
}

/* As many digits as it takes, in threes for instants; nothing for zero. */
static bool add_fraction(PtcBuf *buf, const MomentParts *p)
{
    int64_t nano = p->nano, step = p->threes ? 1000 : 10;
    int width = 9;
    if (nano == 0)
        return true;
    for (; nano % step == 0; nano /= step)
        width -= p->threes ? 3 : 1;
    return ptc_buf_addf(buf, ".%0*lld", width, (long long)nano);
}

static bool add_time_part(PtcBuf *buf, const Token *t, const MomentParts *p)
{
    int64_t hour = p->second / 3600, fraction = p->nano;
    switch (t->letter) {
    case 'H': return add_pattern_number(buf, hour, t->count);
    case 'h': return add_pattern_number(buf, hour % 12 == 0 ? 12 : hour % 12, t->count);
    case 'a': return ptc_buf_add_cstr(buf, hour < 12 ? "AM" : "PM");
    case 'm': return add_pattern_number(buf, p->second / 60 % 60, t->count);
    case 's': return add_pattern_number(buf, p->second % 60, t->count);
    case 'F': return add_fraction(buf, p);
    default:
        for (size_t i = t->count; i < 9; i++)
            fraction /= 10;
        return add_pattern_number(buf, fraction, t->count);
    }
}

static bool is_time_letter(char c)
{
    return c != 0 && strchr("HhamsSF", c) != NULL;
}

/* X and x: +02, +0200, +02:00; X has Z for none.  Z: +0200, GMT+02:00, +02:00.  G: GMT or +0200.  O: like X written
 * two or three times. */
static bool add_offset(PtcBuf *buf, const Token *t, const MomentParts *p)
{
    int64_t s = p->offset < 0 ? -p->offset : p->offset;
    int h = (int)(s / 3600), m = (int)(s / 60 % 60);
    char sign = p->offset < 0 ? '-' : '+';
    bool z = t->letter == 'Z', colon = z ? t->count >= 4 : t->count == 3 || t->count == 5;
    if (s == 0 && t->letter == 'G')
        return ptc_buf_add_cstr(buf, "GMT");
    if (s == 0 && (t->letter == 'X' || t->letter == 'O' || (z && t->count == 5)))
        return ptc_buf_add_char(buf, 'Z');
    if (z && t->count == 4)
        return s == 0 ? ptc_buf_add_cstr(buf, "GMT")
                      : ptc_buf_addf(buf, "GMT%c%02d:%02d", sign, h, m);
    if (t->count == 1 && !z && t->letter != 'G' && m == 0)
        return ptc_buf_addf(buf, "%c%02d", sign, h);
    return ptc_buf_addf(buf, colon ? "%c%02d:%02d" : "%c%02d%02d", sign, h, m);
}

static bool is_zone_letter(char c)
{
    return c == 'X' || c == 'x' || c == 'Z' || c == 'G' || c == 'O';
}

static bool is_day_letter(char c)
{
    return c != 0 && strchr("dDEYwe", c) != NULL;
}

static bool add_pattern_token(PtcBuf *buf, const Token *t, const MomentParts *p, PtcWhy *why)
{
    if (!t->letter)
        return ptc_buf_add(buf, t->text, t->count);
    if (t->letter == 'O' && !p->zoned)
        return true;
    if (is_zone_letter(t->letter)) {
        if (!p->has_zone)
            ptc_why_say(why, PTC_WHY_INVALID,
                        "%c asks for an offset, which this time does not have", t->letter);
        return p->has_zone && add_offset(buf, t, p);
    }
    if (!is_time_letter(t->letter)) {
        bool there = is_day_letter(t->letter) ? p->has_day : p->has_date;
        if (!there)
            ptc_why_say(why, PTC_WHY_INVALID, "%c asks for a date, which this does not have",
                        t->letter);
        return there && add_date_part(buf, t, p);
    }
    if (!p->has_time)
        ptc_why_say(why, PTC_WHY_INVALID, "%c asks for a time of day, which a date does not have",
                    t->letter);
    return p->has_time && add_time_part(buf, t, p);
}

bool ptc_pattern_format(PtcValue pattern, PtcBuf *buf, PtcValue v, PtcWhy *why)
{
    const char *p = ptc_str_bytes(pattern), *end = p + ptc_str_len(pattern);
    ptc_iso_malformed(why);
    MomentParts parts = pattern_parts_of(v);
    if (parts.zoned && ptc_text_is((PtcText){p, ptc_str_len(pattern)}, PTC_INSTANT_PATTERN))
        to_utc(&parts);
    bool quoted = false, ok = true;
    Token t;
    while (ok && next_pattern_token(&p, end, &quoted, &t))
        ok = add_pattern_token(buf, &t, &parts, why);
    return ok;
}

/* ------------------------------------------------------------------------- reading */

typedef struct {
    const char *p, *end;
    PtcMoment *out;
    int64_t half, hour12, weekday, of_year; /* -1: not given */
    int64_t week, week_year;                /* the same */
    bool has_year, has_month, has_day;
} Reading;

static bool take_pattern_number(Reading *r, size_t min, size_t max, int64_t *out)
{
    size_t n = 0;
    for (*out = 0; n < max && r->p < r->end && ptc_ascii_is_digit(*r->p); n++)
        *out = *out * 10 + (*r->p++ - '0');
    return n >= min;
}

/* The number from 1 of the name that stands here. */
static bool take_pattern_name(Reading *r, const char *(*name)(int), int n, size_t count,
                              int64_t *out)
{
    for (int i = 1; i <= n; i++) {
        size_t len = count == 4 ? strlen(name(i)) : 3;
        if ((size_t)(r->end - r->p) >= len && memcmp(r->p, name(i), len) == 0) {
            r->p += len;
            *out = i;
            return true;
        }
    }
    return false;
}

static bool take_pattern_year(Reading *r, const Token *t, int64_t *year)
{
    if (t->count == 2) {
        bool ok = take_pattern_number(r, 2, 2, year);
        *year += 2000;
        return ok;
    }
    bool sign = r->p < r->end && (*r->p == '-' || *r->p == '+'), minus = sign && *r->p == '-';
    r->p += sign;
    if (!take_pattern_number(r, t->count, sign || t->count < 4 ? 6 : t->count, year))
        return false;
    if (minus)
        *year = -*year;
    return true;
}

static bool take_pattern_fraction(Reading *r, size_t min, size_t max)
{
    const char *from = r->p;
    if (!take_pattern_number(r, min, max, &r->out->nano))
        return false;
    for (int64_t n = r->p - from; n < 9; n++)
        r->out->nano *= 10;
    return true;
}

static bool take_half(Reading *r)
{
    if (r->end - r->p < 2 || r->p[1] != 'M' || (r->p[0] != 'A' && r->p[0] != 'P'))
        return false;
    r->half = r->p[0] == 'P';
    r->p += 2;
    return true;
}

static bool take_zone(Reading *r)
{
    int64_t h, m = 0;
    r->out->has_offset = true;
    if (r->p < r->end && *r->p == 'Z') {
        r->p++;
        return true;
    }
    if (r->p == r->end || (*r->p != '+' && *r->p != '-'))
        return false;
    int64_t sign = *r->p++ == '-' ? -1 : 1;
    if (!take_pattern_number(r, 2, 2, &h))
        return false;
    r->p += r->p < r->end && *r->p == ':';
    if (r->p < r->end && ptc_ascii_is_digit(*r->p) && !take_pattern_number(r, 2, 2, &m))
        return false;
    r->out->offset = sign * (h * 3600 + m * 60);
    return h <= 18 && m < 60;
}

static bool take_time_part(Reading *r, const Token *t)
{
    r->out->has_time = true;
    switch (t->letter) {
    case 'H': return take_pattern_number(r, t->count, 2, &r->out->hour);
    case 'h': return take_pattern_number(r, t->count, 2, &r->hour12);
    case 'a': return take_half(r);
    case 'm': return take_pattern_number(r, t->count, 2, &r->out->minute);
    case 's': return take_pattern_number(r, t->count, 2, &r->out->second);
    case 'S': return take_pattern_fraction(r, t->count, t->count);
    default:
        if (r->p == r->end || *r->p != '.')
            return true;
        r->p++;
        return take_pattern_fraction(r, 1, 9);
    }
}

static bool take_pattern_token(Reading *r, const Token *t)
{
    switch (t->letter) {
    case 0:
        if ((size_t)(r->end - r->p) < t->count || memcmp(r->p, t->text, t->count) != 0)
            return false;
        r->p += t->count;
        return true;
    case 'y':
    case 'u': r->has_year = true; return take_pattern_year(r, t, &r->out->year);
    case 'Y': return take_pattern_year(r, t, &r->week_year);
    case 'w': return take_pattern_number(r, t->count, 2, &r->week);
    case 'e': return take_pattern_number(r, t->count, 1, &r->weekday);
    case 'O': /* when it is there */ return r->p == r->end || !strchr("Z+-", *r->p) || take_zone(r);
    case 'G':
        if (r->end - r->p >= 3 && memcmp(r->p, "GMT", 3) == 0) {
            r->p += 3;
            r->out->has_offset = true;
            return true;
        }
        return take_zone(r);
    case 'M':
    case 'L':
        r->has_month = true;
        return t->count < 3
                   ? take_pattern_number(r, t->count, 2, &r->out->month)
                   : take_pattern_name(r, ptc_calendar_month_name, 12, t->count, &r->out->month);
    case 'd': r->has_day = true; return take_pattern_number(r, t->count, 2, &r->out->day);
    case 'D': return take_pattern_number(r, t->count, 3, &r->of_year);
    case 'E': return take_pattern_name(r, ptc_calendar_weekday_name, 7, t->count, &r->weekday);
    case 'X':
    case 'x':
    case 'Z': return take_zone(r);
    default: return take_time_part(r, t);
    }
}

/* The date of a day of a week: the first week has the 4th of January in it. */
static void take_week(Reading *r)
{
    int64_t fourth = ptc_calendar_days(r->week_year, 1, 4);
    int64_t monday = fourth - ptc_calendar_weekday(fourth) + 1;
    PtcCivil c = ptc_calendar_civil(monday + (r->week - 1) * 7 + r->weekday - 1);
    r->out->year = c.year;
    r->out->month = c.month;
    r->out->day = c.day;
    r->has_year = r->has_month = r->has_day = true;
}

/* Puts together what is given in parts. */
static bool settle_moment(Reading *r, PtcWhy *why)
{
    PtcMoment *out = r->out;
    if (r->has_year && r->of_year > 0 && r->of_year <= 365 + ptc_calendar_is_leap(out->year)) {
        int64_t first = ptc_calendar_days(out->year, 1, 1);
        PtcCivil c = ptc_calendar_civil(first + r->of_year - 1);
        out->month = c.month;
        out->day = c.day;
        r->has_month = r->has_day = true;
    }
    if (r->week > 0 && r->week <= 53 && r->week_year >= 0 && r->weekday > 0 && r->weekday < 8)
        take_week(r);
    if (r->hour12 >= 0) {
        if (r->hour12 < 1 || r->hour12 > 12 || r->half < 0)
            return ptc_why_say(why, PTC_WHY_INVALID,
                               "the hour h must be from 1 to 12, with AM or PM (letter a)");
        out->hour = r->hour12 % 12 + r->half * 12;
    }
    out->has_date = r->has_year && r->has_month && r->has_day;
    if (!ptc_moment_check(out, why))
        return false;
    if (!out->has_date || r->weekday < 0 ||
        ptc_calendar_weekday(ptc_moment_days(out)) == (int)r->weekday)
        return true;
    return ptc_why_say(why, PTC_WHY_INVALID, "that day is a %s",
                       ptc_calendar_weekday_name(ptc_calendar_weekday(ptc_moment_days(out))));
}

bool ptc_pattern_parse(PtcValue pattern, const char *text, size_t len, PtcMoment *out, PtcWhy *why)
{
    const char *p = ptc_str_bytes(pattern), *end = p + ptc_str_len(pattern);
    Reading r = {.p = text,
                 .end = text + len,
                 .out = out,
                 .half = -1,
                 .hour12 = -1,
                 .weekday = -1,
                 .of_year = -1,
                 .week = -1,
                 .week_year = -1};
    bool quoted = false, ok = true;
    Token t;
    memset(out, 0, sizeof *out);
    ptc_iso_malformed(why);
    while (ok && next_pattern_token(&p, end, &quoted, &t))
        ok = take_pattern_token(&r, &t);
    return ok && r.p == r.end && settle_moment(&r, why);
}
