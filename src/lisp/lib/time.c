/* SPDX-License-Identifier: MIT
 * The calendar, its records and constants; no text and no builtins. */
#include "lisp/lib/time.h"

#include <stdio.h>

/* ------------------------------------------------------------------ the calendar */

int64_t ptc_floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Years begin in March here, so that the leap day is the last; eras have 400 years. */
int64_t ptc_days_from_civil(int64_t year, int month, int day)
{
    int64_t y = year - (month <= 2);
    int64_t era = ptc_floor_div(y, 400), of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

PtcCivil ptc_civil_from_days(int64_t days)
{
    int64_t z = days + 719468, era = ptc_floor_div(z, 146097), d = z - era * 146097;
    int64_t y = (d - d / 1460 + d / 36524 - d / 146096) / 365;
    int64_t of_year = d - (365 * y + y / 4 - y / 100), m = (5 * of_year + 2) / 153;
    PtcCivil c = {y + era * 400, (int)(m < 10 ? m + 3 : m - 9),
                  (int)(of_year - (153 * m + 2) / 5 + 1)};
    c.year += c.month <= 2;
    return c;
}

bool ptc_is_leap_year(int64_t y)
{
    return y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
}

int ptc_month_length(int64_t year, int month)
{
    static const int8_t lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && ptc_is_leap_year(year) ? 29 : lengths[month - 1];
}

int ptc_day_of_week(int64_t days)
{
    int64_t n = (days + 3) % 7;
    return (int)(n < 0 ? n + 8 : n + 1);
}

int ptc_day_of_year(int64_t days)
{
    return (int)(days - ptc_days_from_civil(ptc_civil_from_days(days).year, 1, 1)) + 1;
}

bool ptc_days_valid(int64_t days)
{
    return days >= ptc_days_from_civil(-PTC_YEAR_MAX, 1, 1) &&
           days <= ptc_days_from_civil(PTC_YEAR_MAX, 12, 31);
}

/* --------------------------------------------------------------------- arithmetic */

static int64_t unit_months(int unit)
{
    switch (unit) {
    case PTC_U_YEARS: return 12;
    case PTC_U_DECADES: return 120;
    case PTC_U_CENTURIES: return 1200;
    default: return 1;
    }
}

int64_t ptc_unit_nanos(int unit)
{
    static const int64_t seconds[] = {1, 60, 3600, 43200, 86400, 604800};
    static const int64_t small[] = {1, 1000, 1000000};
    return unit < PTC_U_SECONDS ? small[unit] : seconds[unit - PTC_U_SECONDS] * PTC_NANOS;
}

PtcTime ptc_time_from_nanos(__int128 nanos)
{
    __int128 s = nanos / PTC_NANOS - (nanos % PTC_NANOS < 0);
    if (s > INT64_MAX || s < INT64_MIN) /* out of every range that is checked for */
        return (PtcTime){s > 0 ? INT64_MAX : INT64_MIN, 0};
    return (PtcTime){(int64_t)s, (int64_t)(nanos - s * PTC_NANOS)};
}

/* A day that the month does not have becomes its last one. */
static bool shift_months(int64_t days, __int128 n, int64_t *out)
{
    PtcCivil c = ptc_civil_from_days(days);
    __int128 month = (__int128)c.year * 12 + c.month - 1 + n;
    if (month < -(__int128)PTC_YEAR_MAX * 12 || month >= ((__int128)PTC_YEAR_MAX + 1) * 12)
        return false;
    int64_t year = ptc_floor_div((int64_t)month, 12);
    int m = (int)((int64_t)month - year * 12) + 1, last = ptc_month_length(year, m);
    *out = ptc_days_from_civil(year, m, c.day < last ? c.day : last);
    return true;
}

bool ptc_shift_days(int64_t days, int unit, int64_t n, int64_t *out)
{
    if (unit < PTC_U_DAYS)
        return false;
    if (unit >= PTC_U_MONTHS)
        return shift_months(days, (__int128)n * unit_months(unit), out);
    if (__builtin_mul_overflow(n, unit == PTC_U_WEEKS ? 7 : 1, &n) ||
        __builtin_add_overflow(days, n, out))
        return false;
    return ptc_days_valid(*out);
}

bool ptc_shift_time(PtcTime t, int unit, int64_t n, PtcTime *out)
{
    if (unit < PTC_U_MONTHS) {
        *out = ptc_time_from_nanos(ptc_time_nanos(t) + (__int128)ptc_unit_nanos(unit) * n);
        return true;
    }
    int64_t days = ptc_floor_div(t.seconds, PTC_DAY_SECONDS), shifted;
    if (!ptc_shift_days(days, unit, n, &shifted))
        return false;
    *out = (PtcTime){t.seconds + (shifted - days) * PTC_DAY_SECONDS, t.nanos};
    return true;
}

bool ptc_days_between(int64_t a, int64_t b, int unit, int64_t *out)
{
    if (unit < PTC_U_DAYS)
        return false;
    if (unit < PTC_U_MONTHS) {
        *out = (b - a) / (unit == PTC_U_WEEKS ? 7 : 1);
        return true;
    }
    PtcCivil x = ptc_civil_from_days(a), y = ptc_civil_from_days(b);
    int64_t from = (x.year * 12 + x.month) * 32 + x.day;
    *out = ((y.year * 12 + y.month) * 32 + y.day - from) / 32 / unit_months(unit);
    return true;
}

bool ptc_time_between(PtcTime a, PtcTime b, int unit, int64_t *out)
{
    if (unit < PTC_U_MONTHS) {
        __int128 n = (ptc_time_nanos(b) - ptc_time_nanos(a)) / ptc_unit_nanos(unit);
        *out = (int64_t)n;
        return n <= INT64_MAX && n >= INT64_MIN;
    }
    int64_t x = ptc_floor_div(a.seconds, PTC_DAY_SECONDS);
    int64_t y = ptc_floor_div(b.seconds, PTC_DAY_SECONDS);
    PtcTime in_x = {a.seconds - x * PTC_DAY_SECONDS, a.nanos};
    PtcTime in_y = {b.seconds - y * PTC_DAY_SECONDS, b.nanos};
    __int128 later = ptc_time_nanos(in_y) - ptc_time_nanos(in_x);
    if (y > x && later < 0) /* the last day is not over */
        y--;
    else if (y < x && later > 0)
        y++;
    return ptc_days_between(x, y, unit, out);
}

/* ------------------------------------------------------------------------- records */

static PtcValue new_record(PtcHeap *heap, unsigned kind, const PtcValue *fields, size_t n)
{
    PtcRecord *o = ptc_heap_object(heap, PTC_T_RECORD, sizeof *o + n * sizeof *fields, (uint32_t)n);
    if (!o)
        return PTC_NONE;
    o->obj.aux = (uint16_t)kind;
    memcpy(o->fields, fields, n * sizeof *fields);
    return ptc_from_obj(o);
}

static bool fail_range(PtcVM *vm)
{
    return ptc_fail(vm, PTC_E_VALUE, "%s: the result is beyond the years -%d to %d",
                    ptc_builtin_row(vm->running)->name, PTC_YEAR_MAX, PTC_YEAR_MAX);
}

bool ptc_give_date(PtcVM *vm, int64_t days, PtcValue *out)
{
    if (!ptc_days_valid(days))
        return fail_range(vm);
    PtcValue field = ptc_int(days);
    return ptc_give(out, new_record(vm->heap, PTC_R_DATE, &field, 1));
}

bool ptc_give_time(PtcVM *vm, unsigned kind, PtcTime t, PtcValue *out)
{
    if (kind == PTC_R_DURATION && (t.seconds > PTC_DURATION_MAX || t.seconds < -PTC_DURATION_MAX))
        return ptc_fail(vm, PTC_E_ARITH, "%s: the duration is too long",
                        ptc_builtin_row(vm->running)->name);
    if (kind != PTC_R_DURATION && !ptc_days_valid(ptc_floor_div(t.seconds, PTC_DAY_SECONDS)))
        return fail_range(vm);
    PtcValue fields[2] = {ptc_int(t.seconds), ptc_int(t.nanos)};
    return ptc_give(out, new_record(vm->heap, kind, fields, 2));
}

bool ptc_arg_kind(PtcVM *vm, const PtcValue *argv, int i, unsigned kinds, const char *expected)
{
    return (ptc_kind_bit(argv[i]) & kinds) != 0 || ptc_fail_type(vm, argv, i, expected);
}

/* ----------------------------------------------------------------------- constants */

static const char *const days[] = {"MONDAY", "TUESDAY",  "WEDNESDAY", "THURSDAY",
                                   "FRIDAY", "SATURDAY", "SUNDAY",    NULL};
static const char *const months[] = {"JANUARY",  "FEBRUARY", "MARCH",  "APRIL",     "MAY",
                                     "JUNE",     "JULY",     "AUGUST", "SEPTEMBER", "OCTOBER",
                                     "NOVEMBER", "DECEMBER", NULL};
static const char *const units[] = {"NANOS", "MICROS",    "MILLIS",    "SECONDS", "MINUTES",
                                    "HOURS", "HALF_DAYS", "DAYS",      "WEEKS",   "MONTHS",
                                    "YEARS", "DECADES",   "CENTURIES", NULL};
static const char *const zones[] = {"UTC", NULL};

static const struct {
    const char *name, *package;
    const char *const *constants;
} groups[PTC_G_COUNT] = {
    [PTC_G_DAY] = {"DayOfWeek", "java.time.", days},
    [PTC_G_MONTH] = {"Month", "java.time.", months},
    [PTC_G_UNIT] = {"ChronoUnit", "java.time.temporal.", units},
    [PTC_G_ZONE] = {"ZoneOffset", "java.time.", zones},
};

PtcValue ptc_enum_new(PtcHeap *heap, PtcGroup group, int ordinal)
{
    const char *group_name = groups[group].name, *name = groups[group].constants[ordinal];
    if (group == PTC_G_ZONE)
        name = "Z";
    PtcValue fields[3] = {ptc_keyword_new(heap, group_name, strlen(group_name)), PTC_NONE,
                          ptc_int(ordinal)};
    if (fields[0] == PTC_NONE || (fields[1] = ptc_str_new(heap, name, strlen(name))) == PTC_NONE)
        return PTC_NONE;
    return new_record(heap, PTC_R_ENUM, fields, 3);
}

static bool text_is(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && memcmp(text, word, len) == 0;
}

bool ptc_is_enum(PtcValue v, PtcGroup group)
{
    if (!ptc_is_record(v, PTC_R_ENUM))
        return false;
    PtcValue name = ptc_record_field(v, 0);
    return text_is(ptc_str_bytes(name), ptc_str_len(name), groups[group].name);
}

bool ptc_arg_enum(PtcVM *vm, const PtcValue *argv, int i, PtcGroup group, const char *expected)
{
    return ptc_is_enum(argv[i], group) || ptc_fail_type(vm, argv, i, expected);
}

/* Formatters that have names; F is known to time_pattern.c only. */
static const struct {
    const char *name, *pattern;
} formatters[] = {
    {"ISO_LOCAL_DATE", "uuuu-MM-dd"},
    {"ISO_DATE", "uuuu-MM-dd"},
    {"ISO_LOCAL_DATE_TIME", "uuuu-MM-dd'T'HH:mm:ssF"},
    {"ISO_DATE_TIME", "uuuu-MM-dd'T'HH:mm:ssF"},
    {"ISO_INSTANT", "uuuu-MM-dd'T'HH:mm:ssFX"},
    {"ISO_LOCAL_TIME", "HH:mm:ssF"},
    {"BASIC_ISO_DATE", "uuuuMMdd"},
};

static PtcValue formatter_constant(PtcHeap *heap, const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof formatters / sizeof formatters[0]; i++) {
        if (!text_is(name, len, formatters[i].name))
            continue;
        const char *pattern = formatters[i].pattern;
        PtcValue field = ptc_str_new(heap, pattern, strlen(pattern));
        return field == PTC_NONE ? field : new_record(heap, PTC_R_FORMATTER, &field, 1);
    }
    return PTC_NONE;
}

/* Is the class, with or without its package, this one? */
static bool class_is(const char *text, size_t len, const char *package, const char *name)
{
    size_t n = strlen(package);
    return text_is(text, len, name) ||
           (len > n && memcmp(text, package, n) == 0 && text_is(text + n, len - n, name));
}

static PtcValue zero(PtcHeap *heap, unsigned kind)
{
    PtcValue fields[3] = {ptc_int(0), ptc_int(0), ptc_int(0)};
    return new_record(heap, kind, fields, kind == PTC_R_PERIOD ? 3 : 2);
}

PtcValue ptc_interop_constant(PtcHeap *heap, const char *name, size_t len)
{
    const char *slash = len > 1 ? memchr(name + 1, '/', len - 1) : NULL;
    if (!slash)
        return PTC_NONE;
    size_t class_len = (size_t)(slash - name), n = len - class_len - 1;
    for (size_t g = 0; g < PTC_G_COUNT; g++) {
        if (!class_is(name, class_len, groups[g].package, groups[g].name))
            continue;
        for (int i = 0; groups[g].constants[i]; i++)
            if (text_is(slash + 1, n, groups[g].constants[i]))
                return ptc_enum_new(heap, (PtcGroup)g, i);
        return PTC_NONE;
    }
    if (class_is(name, class_len, "java.time.", "Duration") && text_is(slash + 1, n, "ZERO"))
        return zero(heap, PTC_R_DURATION);
    if (class_is(name, class_len, "java.time.", "Period") && text_is(slash + 1, n, "ZERO"))
        return zero(heap, PTC_R_PERIOD);
    if (class_is(name, class_len, "java.time.format.", "DateTimeFormatter"))
        return formatter_constant(heap, slash + 1, n);
    return PTC_NONE;
}
