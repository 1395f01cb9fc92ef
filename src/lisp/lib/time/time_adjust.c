/* SPDX-License-Identifier: MIT
 * Fields of times by name (ChronoField, IsoFields, WeekFields), and changing them: .get, .with, TemporalAdjusters. */
#include <stdio.h>

#include "lisp/lib/time/time_give.h"

/* ------------------------------------------------------------------------------- fields */

static int64_t date_field(int64_t days, PtcField field)
{
    PtcCivil c = ptc_calendar_civil(days);
    int64_t year = c.year, first;
    int week = ptc_week_of(days, &year);
    switch (field) {
    case PTC_FIELD_WEEKDAY: return ptc_calendar_weekday(days);
    case PTC_FIELD_DAY: return c.day;
    case PTC_FIELD_YEAR_DAY: return ptc_calendar_day_of_year(days);
    case PTC_FIELD_EPOCH_DAY: return days;
    case PTC_FIELD_MONTH: return c.month;
    case PTC_FIELD_YEAR: return c.year;
    case PTC_FIELD_WEEK: return week;
    case PTC_FIELD_WEEK_YEAR: return year;
    case PTC_FIELD_QUARTER: return (c.month - 1) / 3 + 1;
    default:
        first = ptc_calendar_days(c.year, (c.month - 1) / 3 * 3 + 1, 1);
        return days - first + 1;
    }
}

static int64_t time_field(int64_t second, int64_t nanos, PtcField field)
{
    switch (field) {
    case PTC_FIELD_NANO: return nanos;
    case PTC_FIELD_MILLI: return nanos / PTC_MS;
    case PTC_FIELD_SECOND: return second % 60;
    case PTC_FIELD_MINUTE: return second / 60 % 60;
    case PTC_FIELD_HOUR: return second / 3600;
    case PTC_FIELD_MINUTE_OF_DAY: return second / 60;
    default: return second;
    }
}

/* A field of a time; false when that has none of it. */
static bool field_get(PtcValue v, PtcField field, int64_t *out)
{
    unsigned kind = ptc_kind_bit(v);
    if (field == PTC_FIELD_OFFSET || field == PTC_FIELD_INSTANT) {
        bool instant = field == PTC_FIELD_INSTANT;
        *out = ptc_to_int(ptc_record_field(v, instant ? 0 : kind & PTC_K_ZONED ? 1 : 0));
        return (kind & (PTC_K_ZONED | (instant ? PTC_K_INSTANT : 0))) != 0;
    }
    if (field <= PTC_FIELD_MINUTE_OF_DAY) {
        *out = time_field(ptc_second_of(v), ptc_local_of(v).nanos, field);
        bool small = field == PTC_FIELD_NANO || field == PTC_FIELD_MILLI;
        return (kind & (PTC_K_TIMES | (small ? PTC_K_INSTANT : 0))) != 0;
    }
    *out = date_field(ptc_days_of(v), field);
    if (field == PTC_FIELD_YEAR)
        return (kind & (PTC_K_DATES | PTC_K_YEARMONTH | PTC_K_YEAR)) != 0;
    return (kind & (PTC_K_DATES | (field == PTC_FIELD_MONTH ? PTC_K_YEARMONTH : 0))) != 0;
}

int64_t ptc_time_field(PtcValue v, PtcField field)
{
    int64_t n;
    (void)field_get(v, field, &n);
    return n;
}

PtcValue ptc_month_of(PtcVM *vm, PtcValue v)
{
    return ptc_enum_new(vm->heap, PTC_G_MONTH, (int)ptc_time_field(v, PTC_FIELD_MONTH) - 1);
}

PtcValue ptc_weekday_of(PtcVM *vm, PtcValue v)
{
    return ptc_enum_new(vm->heap, PTC_G_DAY, (int)ptc_time_field(v, PTC_FIELD_WEEKDAY) - 1);
}

static bool fail_field(PtcVM *vm, PtcValue v, PtcValue field)
{
    PtcValue name = ptc_record_field(field, 1);
    return ptc_fail_here(vm, PTC_E_VALUE | PTC_AS(UNSUPPORTED_TEMPORAL), "%s has no %.*s",
                         ptc_type_name(v), PTC_ARG(ptc_str_view(name)));
}

bool ptc_time_get(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    int64_t n;
    if (!ptc_arg_kind(vm, argv, 0, PTC_K_POINTS, "a date, date-time or instant") ||
        !ptc_arg_enum(vm, argv, 1, PTC_G_FIELD, "a field such as ChronoField/DAY_OF_WEEK"))
        return false;
    if (!field_get(argv[0], (PtcField)ptc_enum_ordinal(argv[1]), &n))
        return fail_field(vm, argv[0], argv[1]);
    return ptc_give(out, ptc_int(n));
}

PTC_BUILTIN_EXPR(get_long, "java", ".getLong", 2, 2, 0, "(.getLong date field)",
                 "A field of a date or time; the same as .get.",
                 "(.getLong (LocalDate/of 1970 1 3) ChronoField/EPOCH_DAY) => 2\n"
                 "(.getLong (LocalDate/of 1970 1 3) ChronoField/HOUR_OF_DAY) !! value_error\n"
                 "(.getLong 5 ChronoField/YEAR) !! type_error",
                 ptc_time_get(vm, argv, out))

#define WEEK_FIELD(id, name, field, doc, examples)                                     \
    PTC_BUILTIN(id, "java", name, 1, 1, 0, "(" name " WeekFields/ISO)", doc, examples) \
    {                                                                                  \
        return ptc_arg_enum(vm, argv, 0, PTC_G_WEEKS, "WeekFields/ISO") &&             \
               ptc_give(out, ptc_enum_new(vm->heap, PTC_G_FIELD, field));              \
    }

WEEK_FIELD(week_of_week_year, ".weekOfWeekBasedYear", PTC_FIELD_WEEK,
           "The field for the week of its year, as ISO 8601 counts.",
           "(.get (LocalDate/of 2024 12 30) (.weekOfWeekBasedYear WeekFields/ISO)) => 1\n"
           "(.weekOfWeekBasedYear 5) !! type_error")
WEEK_FIELD(week_based_year, ".weekBasedYear", PTC_FIELD_WEEK_YEAR,
           "The field for the year that a week belongs to.",
           "(.get (LocalDate/of 2024 12 30) (.weekBasedYear WeekFields/ISO)) => 2025\n"
           "(.weekBasedYear 5) !! type_error")
WEEK_FIELD(week_day, ".dayOfWeek", PTC_FIELD_WEEKDAY, "The field for the day of the week, from 1.",
           "(.get (LocalDate/of 2024 12 30) (.dayOfWeek WeekFields/ISO)) => 1\n"
           "(.dayOfWeek 5) !! type_error")

/* ------------------------------------------------------------------------------ changing */

/* A place of the clock with a field of the time of day replaced; false when n is none. */
static bool set_time(PtcTime *t, PtcField field, int64_t n)
{
    int64_t day = ptc_floor_div(t->seconds, PTC_DAY_SECONDS) * PTC_DAY_SECONDS;
    int64_t s = t->seconds - day, h = s / 3600, m = s / 60 % 60, sec = s % 60;
    int64_t most = field == PTC_FIELD_HOUR            ? 24
                   : field == PTC_FIELD_NANO          ? PTC_NANOS
                   : field == PTC_FIELD_MILLI         ? 1000
                   : field == PTC_FIELD_SECOND_OF_DAY ? PTC_DAY_SECONDS
                   : field == PTC_FIELD_MINUTE_OF_DAY ? 1440
                                                      : 60;
    if (n < 0 || n >= most)
        return false;
    if (field == PTC_FIELD_NANO || field == PTC_FIELD_MILLI)
        t->nanos = field == PTC_FIELD_NANO ? n : n * PTC_MS;
    h = field == PTC_FIELD_HOUR ? n : field == PTC_FIELD_MINUTE_OF_DAY ? n / 60 : h;
    m = field == PTC_FIELD_MINUTE ? n : field == PTC_FIELD_MINUTE_OF_DAY ? n % 60 : m;
    sec = field == PTC_FIELD_SECOND ? n : sec;
    t->seconds = day + (field == PTC_FIELD_SECOND_OF_DAY ? n : h * 3600 + m * 60 + sec);
    return true;
}

/* The day of a date with a field replaced. */
static bool set_date(int64_t *days, PtcField field, int64_t n)
{
    PtcCivil c = ptc_calendar_civil(*days);
    switch (field) {
    case PTC_FIELD_WEEKDAY: *days += n - ptc_calendar_weekday(*days); return n >= 1 && n <= 7;
    case PTC_FIELD_DAY:
        *days += n - c.day;
        return n >= 1 && n <= ptc_calendar_month_length(c.year, c.month);
    case PTC_FIELD_YEAR_DAY:
        *days = ptc_calendar_days(c.year, 1, 1) + n - 1;
        return n >= 1 && n <= 365 + ptc_calendar_is_leap(c.year);
    case PTC_FIELD_EPOCH_DAY: *days = n; return ptc_calendar_has(n);
    case PTC_FIELD_MONTH:
        return n >= 1 && n <= 12 && ptc_calendar_shift_days(*days, PTC_U_MONTHS, n - c.month, days);
    case PTC_FIELD_YEAR:
        return n <= PTC_YEAR_MAX && n >= -PTC_YEAR_MAX &&
               ptc_calendar_shift_days(*days, PTC_U_YEARS, n - c.year, days);
    default: return false;
    }
}

static bool give_with_field(PtcVM *vm, const PtcValue *argv, PtcField field, int64_t n,
                            PtcValue *out)
{
    int64_t ignored;
    PtcTime t = ptc_local_of(argv[0]);
    int64_t days = ptc_days_of(argv[0]);
    if (!field_get(argv[0], field, &ignored))
        return ptc_fail_here(vm, PTC_E_VALUE | PTC_AS(UNSUPPORTED_TEMPORAL), "%s has no such field",
                             ptc_type_name(argv[0]));
    bool fits =
        field <= PTC_FIELD_MINUTE_OF_DAY ? set_time(&t, field, n) : set_date(&days, field, n);
    if (!fits)
        return ptc_fail_here(vm, PTC_E_VALUE | PTC_AS(DATE_TIME), "%lld is out of range",
                             (long long)n);
    if (field > PTC_FIELD_MINUTE_OF_DAY)
        t.seconds += (days - ptc_days_of(argv[0])) * PTC_DAY_SECONDS;
    return ptc_give_like(vm, argv[0], t, out);
}

#define ADJUST_WITH(id, name, field, doc, examples)                                      \
    PTC_BUILTIN(id, "java", name, 2, 2, 0, "(" name " time n)", doc, examples)           \
    {                                                                                    \
        int64_t n;                                                                       \
        return ptc_arg_kind(vm, argv, 0,                                                 \
                            field > PTC_FIELD_MINUTE_OF_DAY ? PTC_K_DATES : PTC_K_TIMES, \
                            "a date-time or time of day") &&                             \
               ptc_arg_int(vm, argv, 1, &n) && give_with_field(vm, argv, field, n, out); \
    }

ADJUST_WITH(
    with_hour, ".withHour", PTC_FIELD_HOUR, "The same with another hour.",
    "(.withHour (LocalTime/of 10 20) 5) => \"05:20\"\n(.withHour (LocalTime/of 10 20) 24) !! "
    "value_error")
ADJUST_WITH(with_minute, ".withMinute", PTC_FIELD_MINUTE, "The same with another minute.",
            "(.withMinute (LocalDateTime/of 2024 5 31 10 20) 0) => \"2024-05-31T10:00\"\n"
            "(.withMinute 5 1) !! type_error")
ADJUST_WITH(with_second, ".withSecond", PTC_FIELD_SECOND, "The same with another second.",
            "(.withSecond (LocalTime/of 10 20 30) 0) => \"10:20\"\n(.withSecond 5 1) !! type_error")
ADJUST_WITH(
    with_nano, ".withNano", PTC_FIELD_NANO, "The same with other nanoseconds.",
    "(.withNano (LocalTime/of 10 20 30 5) 0) => \"10:20:30\"\n(.withNano 5 1) !! type_error")
ADJUST_WITH(
    with_year_day, ".withDayOfYear", PTC_FIELD_YEAR_DAY, "The same on another day of its year.",
    "(.withDayOfYear (LocalDate/of 2024 5 31) 1) => \"2024-01-01\"\n(.withDayOfYear 5 1) !! "
    "type_error")

/* ----------------------------------------------------------------------------- adjusters */

typedef enum {
    FIRST_OF_MONTH,
    LAST_OF_MONTH,
    FIRST_OF_NEXT_MONTH,
    FIRST_OF_YEAR,
    LAST_OF_YEAR,
    FIRST_OF_NEXT_YEAR,
    IN_MONTH, /* argument: which one, from the end when it is below zero */
    NEXT,
    NEXT_OR_SAME,
    PREVIOUS,
    PREVIOUS_OR_SAME
} Adjuster;

static int64_t first_of_month(int64_t year, int64_t month)
{
    int64_t all = year * 12 + month - 1, y = ptc_floor_div(all, 12);
    return ptc_calendar_days(y, (int)(all - y * 12) + 1, 1);
}

/* The n-th such day of the week of a month, from its end when n is below zero. */
static int64_t day_in_month(PtcCivil c, int64_t n, int weekday)
{
    int64_t first = first_of_month(c.year, c.month), last = first_of_month(c.year, c.month + 1) - 1;
    if (n >= 0)
        return first + (weekday - ptc_calendar_weekday(first) + 7) % 7 + (n - 1) * 7;
    return last - (ptc_calendar_weekday(last) - weekday + 7) % 7 + (n + 1) * 7;
}

static int64_t adjusted(int64_t days, Adjuster how, int64_t n, int weekday)
{
    PtcCivil c = ptc_calendar_civil(days);
    int64_t ahead = (weekday - ptc_calendar_weekday(days) + 7) % 7;
    switch (how) {
    case FIRST_OF_MONTH: return first_of_month(c.year, c.month);
    case LAST_OF_MONTH: return first_of_month(c.year, c.month + 1) - 1;
    case FIRST_OF_NEXT_MONTH: return first_of_month(c.year, c.month + 1);
    case FIRST_OF_YEAR: return first_of_month(c.year, 1);
    case LAST_OF_YEAR: return first_of_month(c.year + 1, 1) - 1;
    case FIRST_OF_NEXT_YEAR: return first_of_month(c.year + 1, 1);
    case IN_MONTH: return day_in_month(c, n, weekday);
    case NEXT: return days + (ahead == 0 ? 7 : ahead);
    case NEXT_OR_SAME: return days + ahead;
    case PREVIOUS: return days - (ahead == 0 ? 7 : 7 - ahead);
    case PREVIOUS_OR_SAME: break;
    }
    return days - (7 - ahead) % 7;
}

static bool give_adjuster(PtcVM *vm, Adjuster how, int64_t n, int weekday, PtcValue *out)
{
    PtcValue fields[3] = {ptc_int(how), ptc_int(n), ptc_int(weekday)};
    return ptc_give(out, ptc_record_new(vm, PTC_R_ADJUSTER, fields, 3));
}

/* With a day of the week as the last argument. */
static bool give_weekday(PtcVM *vm, const PtcValue *argv, int i, Adjuster how, int64_t n,
                         PtcValue *out)
{
    return ptc_arg_enum(vm, argv, i, PTC_G_DAY, "a day such as DayOfWeek/MONDAY") &&
           give_adjuster(vm, how, n, ptc_enum_ordinal(argv[i]) + 1, out);
}

#define ADJUSTER(id, name, n, doc, examples, body)                                            \
    PTC_BUILTIN(id, "TemporalAdjusters", name, n, n, 0,                                       \
                n ? "(TemporalAdjusters/" name " day)" : "(TemporalAdjusters/" name ")", doc, \
                examples)                                                                     \
    {                                                                                         \
        return body;                                                                          \
    }
#define ADJUST_ON "(.with (LocalDate/of 2024 5 31) (TemporalAdjusters/"

ADJUSTER(
    first_day_of_month, "firstDayOfMonth", 0, "For .with: the first day of the month.",
    ADJUST_ON
    "firstDayOfMonth)) => \"2024-05-01\"\n(TemporalAdjusters/firstDayOfMonth 1) !! arity_error",
    give_adjuster(vm, FIRST_OF_MONTH, 0, 1, out))
ADJUSTER(last_day_of_month, "lastDayOfMonth", 0, "For .with: the last day of the month.",
         ADJUST_ON
         "lastDayOfMonth)) => \"2024-05-31\"\n(TemporalAdjusters/lastDayOfMonth 1) !! arity_error",
         give_adjuster(vm, LAST_OF_MONTH, 0, 1, out))
ADJUSTER(first_day_of_next_month, "firstDayOfNextMonth", 0,
         "For .with: the first day of the month after.",
         ADJUST_ON "firstDayOfNextMonth)) => \"2024-06-01\"\n"
                   "(TemporalAdjusters/firstDayOfNextMonth 1) !! arity_error",
         give_adjuster(vm, FIRST_OF_NEXT_MONTH, 0, 1, out))
ADJUSTER(first_day_of_year, "firstDayOfYear", 0, "For .with: the first day of the year.",
         ADJUST_ON
         "firstDayOfYear)) => \"2024-01-01\"\n(TemporalAdjusters/firstDayOfYear 1) !! arity_error",
         give_adjuster(vm, FIRST_OF_YEAR, 0, 1, out))
ADJUSTER(last_day_of_year, "lastDayOfYear", 0, "For .with: the last day of the year.",
         ADJUST_ON
         "lastDayOfYear)) => \"2024-12-31\"\n(TemporalAdjusters/lastDayOfYear 1) !! arity_error",
         give_adjuster(vm, LAST_OF_YEAR, 0, 1, out))
ADJUSTER(first_day_of_next_year, "firstDayOfNextYear", 0,
         "For .with: the first day of the year after.",
         ADJUST_ON "firstDayOfNextYear)) => \"2025-01-01\"\n"
                   "(TemporalAdjusters/firstDayOfNextYear 1) !! arity_error",
         give_adjuster(vm, FIRST_OF_NEXT_YEAR, 0, 1, out))
ADJUSTER(first_in_month, "firstInMonth", 1, "For .with: the first such day of the month.",
         ADJUST_ON "firstInMonth DayOfWeek/MONDAY)) => \"2024-05-06\"\n"
                   "(TemporalAdjusters/firstInMonth 1) !! type_error",
         give_weekday(vm, argv, 0, IN_MONTH, 1, out))
ADJUSTER(last_in_month, "lastInMonth", 1, "For .with: the last such day of the month.",
         ADJUST_ON "lastInMonth DayOfWeek/MONDAY)) => \"2024-05-27\"\n"
                   "(TemporalAdjusters/lastInMonth 1) !! type_error",
         give_weekday(vm, argv, 0, IN_MONTH, -1, out))
ADJUSTER(adjust_next, "next", 1, "For .with: the next such day after this one.",
         ADJUST_ON
         "next DayOfWeek/FRIDAY)) => \"2024-06-07\"\n(TemporalAdjusters/next 1) !! type_error",
         give_weekday(vm, argv, 0, NEXT, 0, out))
ADJUSTER(adjust_next_same, "nextOrSame", 1, "For .with: this day, or the next such one.",
         ADJUST_ON "nextOrSame DayOfWeek/FRIDAY)) => \"2024-05-31\"\n"
                   "(TemporalAdjusters/nextOrSame 1) !! type_error",
         give_weekday(vm, argv, 0, NEXT_OR_SAME, 0, out))
ADJUSTER(
    adjust_previous, "previous", 1, "For .with: the last such day before this one.",
    ADJUST_ON
    "previous DayOfWeek/FRIDAY)) => \"2024-05-24\"\n(TemporalAdjusters/previous 1) !! type_error",
    give_weekday(vm, argv, 0, PREVIOUS, 0, out))
ADJUSTER(adjust_previous_same, "previousOrSame", 1, "For .with: this day, or the last such one.",
         ADJUST_ON "previousOrSame DayOfWeek/MONDAY)) => \"2024-05-27\"\n"
                   "(TemporalAdjusters/previousOrSame 1) !! type_error",
         give_weekday(vm, argv, 0, PREVIOUS_OR_SAME, 0, out))

PTC_BUILTIN(day_of_week_in_month, "TemporalAdjusters", "dayOfWeekInMonth", 2, 2, 0,
            "(TemporalAdjusters/dayOfWeekInMonth n day)",
            "For .with: the n-th such day of the month, from its end when n is below zero.",
            ADJUST_ON "dayOfWeekInMonth 2 DayOfWeek/MONDAY)) => \"2024-05-13\"\n"
                      "(TemporalAdjusters/dayOfWeekInMonth 2 2) !! type_error")
{
    int64_t n;
    if (!ptc_arg_int(vm, argv, 0, &n))
        return false;
    if (n < -1000 || n > 1000)
        return ptc_fail(vm, PTC_E_VALUE | PTC_AS(DATE_TIME),
                        "dayOfWeekInMonth: %lld is out of range", (long long)n);
    return give_weekday(vm, argv, 1, IN_MONTH, n, out);
}

static bool with_adjuster(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    if (!ptc_arg_kind(vm, argv, 0, PTC_K_DATES, "a date or date-time") ||
        !ptc_arg_kind(vm, argv, 1, PTC_K_ADJUSTER | PTC_K_DATE | PTC_K_CLOCK,
                      "an adjuster such as (TemporalAdjusters/lastDayOfMonth)"))
        return false;
    PtcTime t = ptc_local_of(argv[0]);
    int64_t days = ptc_days_of(argv[0]);
    if (ptc_is_record(argv[1], PTC_R_CLOCK)) { /* another time of the day */
        if (!ptc_arg_kind(vm, argv, 0, PTC_K_TIMES, "a date-time"))
            return false;
        PtcTime clock = ptc_time_of(argv[1]);
        clock.seconds += days * PTC_DAY_SECONDS;
        return ptc_give_like(vm, argv[0], clock, out);
    }
    int64_t to = ptc_is_record(argv[1], PTC_R_DATE)
                     ? ptc_date_days(argv[1])
                     : adjusted(days, (Adjuster)ptc_date_days(argv[1]),
                                ptc_to_int(ptc_record_field(argv[1], 1)),
                                (int)ptc_to_int(ptc_record_field(argv[1], 2)));
    t.seconds += (to - days) * PTC_DAY_SECONDS;
    return ptc_give_like(vm, argv[0], t, out);
}

PTC_BUILTIN(
    time_with, "java", ".with", 2, 3, 0, "(.with date adjuster), (.with date field n)",
    "A date or time with something else: what an adjuster makes of it, another date or time "
    "of day, or a field with another value.",
    "(.with (LocalDate/of 2024 5 15) (TemporalAdjusters/lastDayOfMonth)) => \"2024-05-31\"\n"
    "(.with (LocalDate/of 2024 5 15) ChronoField/DAY_OF_WEEK 1) => \"2024-05-13\"\n"
    "(.with (LocalDateTime/of 2024 5 15 10 20) LocalTime/NOON) => \"2024-05-15T12:00\"\n"
    "(.with (LocalDate/of 2024 5 15) 5) !! type_error")
{
    int64_t n;
    if (argc == 2)
        return with_adjuster(vm, argv, out);
    return ptc_arg_kind(vm, argv, 0, PTC_K_DATES | PTC_K_TIMES,
                        "a date, date-time or time of day") &&
           ptc_arg_enum(vm, argv, 1, PTC_G_FIELD, "a field such as ChronoField/DAY_OF_WEEK") &&
           ptc_arg_int(vm, argv, 2, &n) &&
           give_with_field(vm, argv, (PtcField)ptc_enum_ordinal(argv[1]), n, out);
}

/* -------------------------------------------------------------------- from and valueOf */

PTC_BUILTIN_EXPR(
    day_from, "DayOfWeek", "from", 1, 1, 0, "(DayOfWeek/from date)",
    "The day of the week of a date.",
    "(DayOfWeek/from (LocalDate/of 2024 5 31)) => FRIDAY\n(DayOfWeek/from 5) !! type_error",
    ptc_arg_kind(vm, argv, 0, PTC_K_DATES, "a date or date-time") &&
        ptc_give(out, ptc_weekday_of(vm, argv[0])))
PTC_BUILTIN_EXPR(month_from, "Month", "from", 1, 1, 0, "(Month/from date)", "The month of a date.",
                 "(Month/from (LocalDate/of 2024 5 31)) => MAY\n(Month/from 5) !! type_error",
                 ptc_arg_kind(vm, argv, 0, PTC_K_DATES, "a date or date-time") &&
                     ptc_give(out, ptc_month_of(vm, argv[0])))

/* The constant of a class by its name. */
static bool find_time_constant(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    char name[80];
    const char *class = ptc_builtin_row(vm->running)->ns;
    if (!ptc_is_string(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a string");
    size_t len = ptc_str_len(argv[0]);
    int n = snprintf(name, sizeof name, "%s/%.*s", class,
                     PTC_ARG(ptc_text_cut((PtcText){ptc_str_bytes(argv[0]), len}, 40)));
    *out = len < 40 && n > 0 ? ptc_interop_constant(vm->heap, name, (size_t)n) : PTC_NONE;
    if (*out == PTC_NONE && vm->budget.stop == PTC_STOP_NONE)
        return ptc_fail(vm, PTC_E_VALUE, "%s/valueOf: there is no such constant", class);
    return *out != PTC_NONE;
}

#define VALUE_OF(id, class, examples)                                      \
    PTC_BUILTIN(id, class, "valueOf", 1, 1, 0, "(" class "/valueOf name)", \
                "The constant of this name.", examples)                    \
    {                                                                      \
        return find_time_constant(vm, argv, out);                          \
    }

VALUE_OF(day_value_of, "DayOfWeek",
         "(DayOfWeek/valueOf \"FRIDAY\") => FRIDAY\n(DayOfWeek/valueOf \"x\") !! value_error")
VALUE_OF(month_value_of, "Month", "(Month/valueOf \"MAY\") => MAY\n(Month/valueOf 5) !! type_error")

PTC_BUILTIN_TABLE(ptc_lib_time_adjust, get_long, week_of_week_year, week_based_year, week_day,
                  with_hour, with_minute, with_second, with_nano, with_year_day, first_day_of_month,
                  last_day_of_month, first_day_of_next_month, first_day_of_year, last_day_of_year,
                  first_day_of_next_year, first_in_month, last_in_month, adjust_next,
                  adjust_next_same, adjust_previous, adjust_previous_same, day_of_week_in_month,
                  time_with, day_from, month_from, day_value_of, month_value_of);
