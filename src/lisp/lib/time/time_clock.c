/* SPDX-License-Identifier: MIT
 * Times of day, months and years as values (LocalTime, YearMonth, Year), and durations from text. */
#include <stdio.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "lisp/lib/time/time_give.h"

static bool get_clock_text(PtcVM *vm, const PtcValue *argv, PtcText *out)
{
    *out = ptc_str_text(argv[0]);
    return ptc_is_string(argv[0]) || ptc_fail_type(vm, argv, 0, "a string");
}

/* `min` to `max` digits at *at. */
static bool take_clock_digits(PtcText s, size_t *at, size_t min, size_t max, int64_t *out)
{
    size_t n = 0;
    for (*out = 0; n < max && *at < s.len && ptc_ascii_is_digit(s.bytes[*at]); n++)
        *out = *out * 10 + (s.bytes[(*at)++] - '0');
    return n >= min;
}

static bool take_sign(PtcText s, size_t *at, char c)
{
    if (*at >= s.len || s.bytes[*at] != c)
        return false;
    ++*at;
    return true;
}

/* .5 as nanoseconds. */
static bool take_clock_fraction(PtcText s, size_t *at, int64_t *nanos)
{
    size_t from = *at;
    if (!take_clock_digits(s, at, 0, 9, nanos))
        return false;
    for (size_t n = *at - from; n < 9; n++)
        *nanos *= 10;
    return true;
}

/* ---------------------------------------------------------------------------- LocalTime */

/* 10:20, 10:20:30, 10:20:30.5 */
static bool read_clock(PtcText s, PtcMoment *m)
{
    size_t at = 0;
    *m = (PtcMoment){.has_time = true};
    if (!take_clock_digits(s, &at, 2, 2, &m->hour) || !take_sign(s, &at, ':') ||
        !take_clock_digits(s, &at, 2, 2, &m->minute))
        return false;
    if (take_sign(s, &at, ':') && !take_clock_digits(s, &at, 2, 2, &m->second))
        return false;
    if (take_sign(s, &at, '.') && !take_clock_fraction(s, &at, &m->nano))
        return false;
    return at == s.len && ptc_moment_check(m, NULL);
}

static bool give_clock(PtcVM *vm, const PtcMoment *m, PtcValue *out)
{
    PtcTime t = {m->hour * 3600 + m->minute * 60 + m->second, m->nano};
    return ptc_give_time(vm, PTC_R_CLOCK, t, out);
}

PTC_BUILTIN(clock_of, "LocalTime", "of", 2, 4, 0, "(LocalTime/of hour minute second? nano?)",
            "The time of day of these numbers.",
            "(LocalTime/of 10 20) => \"10:20\"\n(LocalTime/of 10 20 30) => \"10:20:30\"\n"
            "(LocalTime/of 24 0) !! value_error")
{
    int64_t part[4] = {0};
    PtcWhy why;
    for (int i = 0; i < argc; i++)
        if (!ptc_arg_int(vm, argv, i, &part[i]))
            return false;
    PtcMoment m = {.hour = part[0], .minute = part[1], .second = part[2], .nano = part[3]};
    return ptc_moment_check(&m, &why)
               ? give_clock(vm, &m, out)
               : ptc_fail(vm, PTC_E_VALUE | PTC_AS(DATE_TIME), "LocalTime/of: %s", why.text);
}

PTC_BUILTIN(clock_parse, "LocalTime", "parse", 1, 2, 0, "(LocalTime/parse s formatter?)",
            "The time of day that a text spells, as 10:20:30 or by a formatter.",
            "(LocalTime/parse \"10:20:30.5\") => \"10:20:30.500\"\n"
            "(LocalTime/parse \"9.05 PM\" (DateTimeFormatter/ofPattern \"h.mm a\")) => \"21:05\"\n"
            "(LocalTime/parse \"25:00\") !! value_error\n(LocalTime/parse nil) !! type_error")
{
    PtcText s;
    PtcMoment m;
    PtcWhy why;
    if (!get_clock_text(vm, argv, &s))
        return false;
    if (argc == 1)
        return read_clock(s, &m)
                   ? give_clock(vm, &m, out)
                   : ptc_fail_time_text(vm, argv[0], "", "a time of day like 10:20:30");
    if (!ptc_read_formatted(vm, argv, 1, s, &m, &why) || !m.has_time)
        return ptc_fail_time_text(vm, argv[0], "", "a time of day after the pattern");
    return give_clock(vm, &m, out);
}

PTC_BUILTIN(clock_now, "LocalTime", "now", 0, 1, 0, "(LocalTime/now zone?)",
            "The time of day of the run, in UTC.",
            "(<= 0 (.getHour (LocalTime/now)) 23) => true\n(LocalTime/now 1) !! type_error")
{
    int64_t offset = 0;
    if (argc == 1 && !ptc_arg_zone(vm, argv, 0, &offset))
        return false;
    PtcTime t = ptc_run_time(vm);
    t.seconds += offset;
    t.seconds -= ptc_floor_div(t.seconds, PTC_DAY_SECONDS) * PTC_DAY_SECONDS;
    return ptc_give_time(vm, PTC_R_CLOCK, t, out);
}

PTC_BUILTIN(clock_of_second, "LocalTime", "ofSecondOfDay", 1, 1, 0, "(LocalTime/ofSecondOfDay n)",
            "The time of day n seconds after midnight.",
            "(LocalTime/ofSecondOfDay 3661) => \"01:01:01\"\n"
            "(LocalTime/ofSecondOfDay 86400) !! value_error")
{
    int64_t n;
    if (!ptc_arg_int(vm, argv, 0, &n))
        return false;
    if (n < 0 || n >= PTC_DAY_SECONDS)
        return ptc_fail(vm, PTC_E_VALUE | PTC_AS(DATE_TIME),
                        "LocalTime/ofSecondOfDay: a day has no second %lld", (long long)n);
    return ptc_give_time(vm, PTC_R_CLOCK, (PtcTime){n, 0}, out);
}

PTC_BUILTIN(to_second_of_day, "java", ".toSecondOfDay", 1, 1, 0, "(.toSecondOfDay time)",
            "The seconds from midnight to a time of day.",
            "(.toSecondOfDay (LocalTime/of 1 1 1)) => 3661\n(.toSecondOfDay 5) !! type_error")
{
    return ptc_arg_kind(vm, argv, 0, PTC_K_CLOCK, "a time of day") &&
           ptc_give(out, ptc_record_field(argv[0], 0));
}

PTC_BUILTIN(to_nano_of_day, "java", ".toNanoOfDay", 1, 1, 0, "(.toNanoOfDay time)",
            "The nanoseconds from midnight to a time of day.",
            "(.toNanoOfDay (LocalTime/of 0 0 1)) => 1000000000\n(.toNanoOfDay 5) !! type_error")
{
    return ptc_arg_kind(vm, argv, 0, PTC_K_CLOCK, "a time of day") &&
           ptc_give(out, ptc_int((int64_t)ptc_time_nanos(ptc_time_of(argv[0]))));
}

PTC_BUILTIN(at_date, "java", ".atDate", 2, 2, 0, "(.atDate time date)",
            "The date-time of a time of day on a date.",
            "(.atDate LocalTime/NOON (LocalDate/of 2024 5 31)) => \"2024-05-31T12:00\"\n"
            "(.atDate 1 2) !! type_error")
{
    if (!ptc_arg_kind(vm, argv, 0, PTC_K_CLOCK, "a time of day") ||
        !ptc_arg_kind(vm, argv, 1, PTC_K_DATE, "a date"))
        return false;
    PtcTime t = ptc_time_of(argv[0]);
    t.seconds += ptc_local_of(argv[1]).seconds;
    return ptc_give_time(vm, PTC_R_DATETIME, t, out);
}

/* ------------------------------------------------------------------- YearMonth and Year */

static bool give_months(PtcVM *vm, int64_t year, int64_t month, PtcValue *out)
{
    const PtcBuiltin *row = ptc_builtin_row(vm->running);
    if (month < 1 || month > 12 || year > PTC_YEAR_MAX || year < -PTC_YEAR_MAX)
        return ptc_fail(vm, PTC_E_VALUE | PTC_AS(DATE_TIME),
                        "%s/%s: there is no month %lld of year %lld", row->ns, row->name,
                        (long long)month, (long long)year);
    PtcValue field = ptc_int(year * 12 + month - 1);
    return ptc_give(out, ptc_record_new(vm, PTC_R_YEARMONTH, &field, 1));
}

static bool give_year(PtcVM *vm, int64_t year, PtcValue *out)
{
    PtcValue field = ptc_int(year);
    if (year > PTC_YEAR_MAX || year < -PTC_YEAR_MAX)
        return ptc_fail_here(vm, PTC_E_VALUE | PTC_AS(DATE_TIME), "the year is beyond -%d to %d",
                             PTC_YEAR_MAX, PTC_YEAR_MAX);
    return ptc_give(out, ptc_record_new(vm, PTC_R_YEAR, &field, 1));
}

PTC_BUILTIN(month_of_year, "YearMonth", "of", 2, 2, 0, "(YearMonth/of year month)",
            "A month of a year.",
            "(YearMonth/of 2024 2) => \"2024-02\"\n(.lengthOfMonth (YearMonth/of 2024 2)) => 29\n"
            "(YearMonth/of 2024 13) !! value_error")
{
    int64_t year, month;
    if (!ptc_arg_int(vm, argv, 0, &year))
        return false;
    if (ptc_is_enum(argv[1], PTC_G_MONTH))
        month = ptc_enum_ordinal(argv[1]) + 1;
    else if (!ptc_arg_int(vm, argv, 1, &month))
        return false;
    return give_months(vm, year, month, out);
}

PTC_BUILTIN(
    month_parse, "YearMonth", "parse", 1, 1, 0, "(YearMonth/parse s)",
    "The month that a text such as 2024-02 spells.",
    "(YearMonth/parse \"2024-02\") => \"2024-02\"\n(YearMonth/parse \"2024\") !! value_error")
{
    PtcText s;
    int64_t year, month;
    size_t at = 0;
    if (!get_clock_text(vm, argv, &s))
        return false;
    if (!take_clock_digits(s, &at, 4, 4, &year) || !take_sign(s, &at, '-') ||
        !take_clock_digits(s, &at, 2, 2, &month) || at != s.len || month < 1 || month > 12)
        return ptc_fail_time_text(vm, argv[0], "", "a month like 2024-02");
    return give_months(vm, year, month, out);
}

static bool arg_dated(PtcVM *vm, const PtcValue *argv)
{
    return ptc_arg_kind(vm, argv, 0, PTC_K_DATE | PTC_K_DATETIME | PTC_K_ZONED,
                        "a date or date-time");
}

PTC_BUILTIN(
    month_from, "YearMonth", "from", 1, 1, 0, "(YearMonth/from date)",
    "The month of a date or date-time.",
    "(YearMonth/from (LocalDate/of 2024 5 31)) => \"2024-05\"\n(YearMonth/from 5) !! type_error")
{
    if (!arg_dated(vm, argv))
        return false;
    PtcCivil c = ptc_calendar_civil(ptc_days_of(argv[0]));
    return give_months(vm, c.year, c.month, out);
}

PTC_BUILTIN(month_now, "YearMonth", "now", 0, 0, 0, "(YearMonth/now)",
            "The month of the run, in UTC.",
            "(> (.getYear (YearMonth/now)) 2023) => true\n(YearMonth/now 1) !! arity_error")
{
    PtcCivil c = ptc_calendar_civil(ptc_floor_div(ptc_run_time(vm).seconds, PTC_DAY_SECONDS));
    return give_months(vm, c.year, c.month, out);
}

PTC_BUILTIN(
    year_of, "Year", "of", 1, 1, 0, "(Year/of n)", "A year as a value.",
    "(Year/of 2024) => \"2024\"\n(.isLeap (Year/of 2024)) => true\n(Year/of :a) !! type_error")
{
    int64_t n;
    return ptc_arg_int(vm, argv, 0, &n) && give_year(vm, n, out);
}

PTC_BUILTIN(year_parse, "Year", "parse", 1, 1, 0, "(Year/parse s)", "The year that a text spells.",
            "(Year/parse \"2024\") => \"2024\"\n(Year/parse \"x\") !! value_error")
{
    PtcText s;
    int64_t n;
    size_t at = 0;
    if (!get_clock_text(vm, argv, &s))
        return false;
    if (!take_clock_digits(s, &at, 4, 4, &n) || at != s.len)
        return ptc_fail_time_text(vm, argv[0], "", "a year like 2024");
    return give_year(vm, n, out);
}

PTC_BUILTIN(year_now, "Year", "now", 0, 0, 0, "(Year/now)", "The year of the run, in UTC.",
            "(> (.getValue (Year/now)) 2023) => true\n(Year/now 1) !! arity_error")
{
    return give_year(
        vm, ptc_calendar_civil(ptc_floor_div(ptc_run_time(vm).seconds, PTC_DAY_SECONDS)).year, out);
}

PTC_BUILTIN(
    year_is_leap, "Year", "isLeap", 1, 1, 0, "(Year/isLeap n)", "Has this year a 29th of February?",
    "(Year/isLeap 2024) => true\n(Year/isLeap 1900) => false\n(Year/isLeap nil) !! type_error")
{
    int64_t n;
    return ptc_arg_int(vm, argv, 0, &n) && ptc_give(out, ptc_bool(ptc_calendar_is_leap(n)));
}

PTC_BUILTIN(value_is_leap, "java", ".isLeap", 1, 1, 0, "(.isLeap year)",
            "Has this year a 29th of February?",
            "(.isLeap (Year/of 2023)) => false\n(.isLeap 2024) !! type_error")
{
    return ptc_arg_kind(vm, argv, 0, PTC_K_YEAR, "a year, as Year/of gives it") &&
           ptc_give(out, ptc_bool(ptc_calendar_is_leap(ptc_date_days(argv[0]))));
}

PTC_BUILTIN(at_day, "java", ".atDay", 2, 2, 0, "(.atDay month n)",
            "The date of a day of a month, or of a year.",
            "(.atDay (YearMonth/of 2024 5) 31) => \"2024-05-31\"\n"
            "(.atDay (Year/of 2024) 60) => \"2024-02-29\"\n"
            "(.atDay (YearMonth/of 2024 4) 31) !! value_error")
{
    int64_t n, most;
    if (!ptc_arg_kind(vm, argv, 0, PTC_K_YEARMONTH | PTC_K_YEAR, "a month or year") ||
        !ptc_arg_int(vm, argv, 1, &n))
        return false;
    PtcCivil c = ptc_calendar_civil(ptc_days_of(argv[0]));
    most = ptc_is_record(argv[0], PTC_R_YEAR) ? 365 + ptc_calendar_is_leap(c.year)
                                              : ptc_calendar_month_length(c.year, c.month);
    if (n < 1 || n > most)
        return ptc_fail(vm, PTC_E_VALUE | PTC_AS(DATE_TIME), ".atDay: it has no day %lld",
                        (long long)n);
    return ptc_give_date(vm, ptc_days_of(argv[0]) + n - 1, out);
}

PTC_BUILTIN(
    at_end_of_month, "java", ".atEndOfMonth", 1, 1, 0, "(.atEndOfMonth month)",
    "The last date of a month.",
    "(.atEndOfMonth (YearMonth/of 2024 2)) => \"2024-02-29\"\n(.atEndOfMonth 2) !! type_error")
{
    if (!ptc_arg_kind(vm, argv, 0, PTC_K_YEARMONTH, "a month, as YearMonth/of gives it"))
        return false;
    PtcCivil c = ptc_calendar_civil(ptc_days_of(argv[0]));
    return ptc_give_date(vm, ptc_days_of(argv[0]) + ptc_calendar_month_length(c.year, c.month) - 1,
                         out);
}

PTC_BUILTIN(at_month, "java", ".atMonth", 2, 2, 0, "(.atMonth year n)", "A month of a year.",
            "(.atMonth (Year/of 2024) 2) => \"2024-02\"\n(.atMonth 2024 2) !! type_error")
{
    int64_t n;
    return ptc_arg_kind(vm, argv, 0, PTC_K_YEAR, "a year, as Year/of gives it") &&
           ptc_arg_int(vm, argv, 1, &n) && give_months(vm, ptc_date_days(argv[0]), n, out);
}

/* ----------------------------------------------------------------------------- durations */

/* One part of a duration: -1.5S.  Its nanoseconds are added to *sum. */
static bool take_part(PtcText s, size_t *at, const char **letters, __int128 *sum)
{
    int64_t n, nanos = 0;
    bool minus = *at < s.len && s.bytes[*at] == '-';
    *at += *at < s.len && (s.bytes[*at] == '-' || s.bytes[*at] == '+');
    if (!take_clock_digits(s, at, 1, 15, &n))
        return false;
    bool fraction = take_sign(s, at, '.');
    if (fraction && !take_clock_fraction(s, at, &nanos))
        return false;
    const char *letter = *at < s.len ? strchr(*letters, s.bytes[*at] & ~32) : NULL;
    if (!letter || !*letter || (fraction && *letter != 'S'))
        return false;
    ++*at;
    int64_t size = *letter == 'D' ? 86400 : *letter == 'H' ? 3600 : *letter == 'M' ? 60 : 1;
    __int128 part = ((__int128)n * size) * PTC_NANOS + nanos;
    *sum += minus ? -part : part;
    *letters = letter + 1;
    return true;
}

/* P2DT3H4M5.6S */
static bool read_duration(PtcText s, __int128 *out)
{
    size_t at = 0;
    const char *days = "D", *times = "HMS";
    bool minus = s.len > 0 && s.bytes[0] == '-', any = false;
    *out = 0;
    at += s.len > 0 && (minus || s.bytes[0] == '+');
    if (at >= s.len || (s.bytes[at++] | 32) != 'p')
        return false;
    if (at < s.len && (s.bytes[at] | 32) != 't' && !(any = take_part(s, &at, &days, out)))
        return false;
    if (at < s.len && (s.bytes[at++] | 32) == 't') {
        any = false;
        while (at < s.len && (any = take_part(s, &at, &times, out)))
            continue;
    }
    *out = minus ? -*out : *out;
    return any && at == s.len;
}

PTC_BUILTIN(
    duration_parse, "Duration", "parse", 1, 1, 0, "(Duration/parse s)",
    "The duration that a text such as PT1H30M spells.",
    "(Duration/parse \"PT1H30M\") => PT1H30M\n(Duration/parse \"P1DT-0.5S\") => PT23H59M59.5S\n"
    "(Duration/parse \"1 hour\") !! value_error\n(Duration/parse 5) !! type_error")
{
    PtcText s;
    __int128 nanos;
    if (!get_clock_text(vm, argv, &s))
        return false;
    if (!read_duration(s, &nanos))
        return ptc_fail_time_text(vm, argv[0], "", "a duration like PT1H30M or P2DT3H");
    return ptc_give_time(vm, PTC_R_DURATION, ptc_time_from_nanos(nanos), out);
}

PTC_BUILTIN(duration_of, "Duration", "of", 2, 2, 0, "(Duration/of n unit)",
            "The duration of n units up to days.",
            "(Duration/of 90 ChronoUnit/MINUTES) => PT1H30M\n"
            "(Duration/of 1 ChronoUnit/MONTHS) !! value_error")
{
    int64_t n;
    PtcTime t;
    if (!ptc_arg_int(vm, argv, 0, &n) ||
        !ptc_arg_enum(vm, argv, 1, PTC_G_UNIT, "a unit such as ChronoUnit/MINUTES"))
        return false;
    int unit = ptc_enum_ordinal(argv[1]);
    if (unit > PTC_U_DAYS || !ptc_calendar_shift((PtcTime){0, 0}, unit, n, &t))
        return ptc_fail(vm, PTC_E_VALUE | PTC_AS(UNSUPPORTED_TEMPORAL),
                        "Duration/of: durations count in units up to days");
    return ptc_give_time(vm, PTC_R_DURATION, t, out);
}

PTC_BUILTIN_TABLE(ptc_lib_time_clock, clock_of, clock_parse, clock_now, clock_of_second,
                  to_second_of_day, to_nano_of_day, at_date, month_of_year, month_parse, month_from,
                  month_now, year_of, year_parse, year_now, year_is_leap, value_is_leap, at_day,
                  at_end_of_month, at_month, duration_parse, duration_of);
