/* SPDX-License-Identifier: MIT
 * Spans of time: moving dates and times by units, counting units between them, durations. */
#include <stdio.h>

#include "lisp/lib/java/interop.h"
#include "lisp/lib/time/time_give.h"
#include "value/number/decimal.h"

/* -------------------------------------------------------------------------- moving */

/* Which kinds can be moved by a unit with the methods .plusDays and so on. */
static unsigned kinds_with_unit(int unit)
{
    switch (unit) {
    case PTC_U_DAYS: return PTC_K_DATES | PTC_K_DURATION;
    case PTC_U_HOURS:
    case PTC_U_MINUTES: return PTC_K_TIMES | PTC_K_DURATION;
    case PTC_U_SECONDS:
    case PTC_U_NANOS: return PTC_K_TIMES | PTC_K_INSTANT | PTC_K_DURATION;
    case PTC_U_MILLIS: return PTC_K_INSTANT | PTC_K_DURATION;
    case PTC_U_MONTHS: return PTC_K_DATES | PTC_K_YEARMONTH;
    case PTC_U_YEARS: return PTC_K_DATES | PTC_K_MONTHS;
    default: return PTC_K_DATES;
    }
}

static bool give_shifted(PtcVM *vm, PtcValue v, int unit, int64_t n, PtcValue *out)
{
    int64_t days;
    PtcTime t;
    if (ptc_is_record(v, PTC_R_DATE))
        return ptc_calendar_shift_days(ptc_date_days(v), unit, n, &days)
                   ? ptc_give_date(vm, days, out)
                   : ptc_fail_year_range(vm);
    return ptc_calendar_shift(ptc_local_of(v), unit, n, &t) ? ptc_give_like(vm, v, t, out)
                                                            : ptc_fail_year_range(vm);
}

static bool negate(PtcVM *vm, int64_t *n)
{
    if (*n == INT64_MIN)
        return ptc_fail_year_range(vm);
    *n = -*n;
    return true;
}

/* An integer, or a float that is whole: 1e9 seconds. */
static bool arg_whole(PtcVM *vm, const PtcValue *argv, int i, int64_t *n)
{
    double d = ptc_is_float(argv[i]) ? ptc_to_float(argv[i]) : 0.5;
    if (d < -0x1p53 || d > 0x1p53 || d != (double)(int64_t)d)
        return ptc_arg_int(vm, argv, i, n);
    *n = (int64_t)d;
    return true;
}

static bool shift(PtcVM *vm, const PtcValue *argv, int unit, bool back, PtcValue *out)
{
    unsigned kinds = kinds_with_unit(unit);
    const char *expected = !(kinds & PTC_K_DURATION)   ? "a date or date-time"
                           : !(kinds & PTC_K_DATETIME) ? "an instant or duration"
                           : kinds & PTC_K_DATE        ? "a date, date-time or duration"
                           : kinds & PTC_K_INSTANT     ? "a date-time, instant or duration"
                                                       : "a date-time or duration";
    int64_t n;
    return ptc_arg_kind(vm, argv, 0, kinds, expected) && arg_whole(vm, argv, 1, &n) &&
           (!back || negate(vm, &n)) && give_shifted(vm, argv[0], unit, n, out);
}

#define SHIFT(id, name, unit, back, doc, examples)                                         \
    PTC_BUILTIN(id, "java", name, 2, 2, PTC_TAKES(PTC_IS_OTHER) | PTC_GIVES(PTC_IS_OTHER), \
                "(" name " time n)", doc, examples)                                        \
    {                                                                                      \
        return shift(vm, argv, unit, back, out);                                           \
    }

SHIFT(plus_days, ".plusDays", PTC_U_DAYS, false, "The date n days later.",
      "(.plusDays (LocalDate/of 2024 2 28) 2) => \"2024-03-01\"\n"
      "(.plusDays (Instant/ofEpochSecond 0) 1) !! type_error")
SHIFT(minus_days, ".minusDays", PTC_U_DAYS, true, "The date n days earlier.",
      "(.minusDays (LocalDate/of 2024 3 1) 1) => \"2024-02-29\"\n"
      "(.minusDays (LocalDate/of 2024 3 1) 1.5) !! type_error")
SHIFT(plus_weeks, ".plusWeeks", PTC_U_WEEKS, false, "The date n weeks later.",
      "(.plusWeeks (LocalDate/of 2024 12 25) 1) => \"2025-01-01\"\n"
      "(.plusWeeks nil 1) !! type_error")
SHIFT(minus_weeks, ".minusWeeks", PTC_U_WEEKS, true, "The date n weeks earlier.",
      "(.minusWeeks (LocalDate/of 2025 1 1) 1) => \"2024-12-25\"\n"
      "(.minusWeeks \"2025\" 1) !! type_error")
SHIFT(plus_months, ".plusMonths", PTC_U_MONTHS, false,
      "The date n months later; a day that the month does not have becomes its last.",
      "(.plusMonths (LocalDate/of 2024 1 31) 1) => \"2024-02-29\"\n"
      "(.plusMonths (LocalDate/of 2024 1 31) :one) !! type_error")
SHIFT(minus_months, ".minusMonths", PTC_U_MONTHS, true,
      "The date n months earlier; a day that the month does not have becomes its last.",
      "(.minusMonths (LocalDate/of 2024 3 31) 1) => \"2024-02-29\"\n"
      "(.minusMonths 3 1) !! type_error")
SHIFT(plus_years, ".plusYears", PTC_U_YEARS, false, "The date n years later.",
      "(.plusYears (LocalDate/of 2024 2 29) 1) => \"2025-02-28\"\n"
      "(.plusYears (LocalDate/of 2024 2 29) 1000000) !! value_error")
SHIFT(minus_years, ".minusYears", PTC_U_YEARS, true, "The date n years earlier.",
      "(.minusYears (LocalDate/of 2024 2 29) 4) => \"2020-02-29\"\n"
      "(.minusYears [] 4) !! type_error")
SHIFT(plus_hours, ".plusHours", PTC_U_HOURS, false, "The date-time or duration n hours later.",
      "(.plusHours (LocalDateTime/of 2024 5 31 23 0) 2) => \"2024-06-01T01:00\"\n"
      "(.plusHours (LocalDate/of 2024 5 31) 2) !! type_error")
SHIFT(minus_hours, ".minusHours", PTC_U_HOURS, true, "The date-time or duration n hours earlier.",
      "(.minusHours (LocalDateTime/of 2024 6 1 1 0) 2) => \"2024-05-31T23:00\"\n"
      "(.minusHours 5 2) !! type_error")
SHIFT(plus_minutes, ".plusMinutes", PTC_U_MINUTES, false,
      "The date-time or duration n minutes later.",
      "(.plusMinutes (LocalDateTime/of 2024 5 31 23 0) 75) => \"2024-06-01T00:15\"\n"
      "(.plusMinutes (LocalDateTime/of 2024 5 31 23 0) nil) !! type_error")
SHIFT(minus_minutes, ".minusMinutes", PTC_U_MINUTES, true,
      "The date-time or duration n minutes earlier.",
      "(.minusMinutes (Duration/ofHours 1) 15) => PT45M\n(.minusMinutes nil 1) !! type_error")
SHIFT(plus_seconds, ".plusSeconds", PTC_U_SECONDS, false,
      "The instant, date-time or duration n seconds later.",
      "(.plusSeconds (Instant/ofEpochSecond 0) 90) => \"1970-01-01T00:01:30Z\"\n"
      "(.plusSeconds (LocalDate/of 2024 5 31) 1) !! type_error")
SHIFT(minus_seconds, ".minusSeconds", PTC_U_SECONDS, true,
      "The instant, date-time or duration n seconds earlier.",
      "(.minusSeconds (Instant/ofEpochSecond 0) 1) => \"1969-12-31T23:59:59Z\"\n"
      "(.minusSeconds 0 1) !! type_error")
SHIFT(plus_millis, ".plusMillis", PTC_U_MILLIS, false,
      "The instant or duration n milliseconds later.",
      "(.plusMillis (Instant/ofEpochSecond 0) 5) => \"1970-01-01T00:00:00.005Z\"\n"
      "(.plusMillis (LocalDate/of 2024 5 31) 1) !! type_error")
SHIFT(plus_nanos, ".plusNanos", PTC_U_NANOS, false,
      "The instant, date-time or duration n nanoseconds later.",
      "(.plusNanos (Duration/ofSeconds 1) 5) => PT1.000000005S\n(.plusNanos 0 1) !! type_error")
SHIFT(minus_nanos, ".minusNanos", PTC_U_NANOS, true,
      "The instant, date-time or duration n nanoseconds earlier.",
      "(.minusNanos (Duration/ofSeconds 1) 1) => PT0.999999999S\n(.minusNanos 0 1) !! type_error")
SHIFT(minus_millis, ".minusMillis", PTC_U_MILLIS, true,
      "The instant or duration n milliseconds earlier.",
      "(.minusMillis (Duration/ofSeconds 1) 5) => PT0.995S\n(.minusMillis 0 1) !! type_error")

static bool arg_unit(PtcVM *vm, const PtcValue *argv, int i, int *unit)
{
    if (!ptc_arg_enum(vm, argv, i, PTC_G_UNIT, "a unit such as ChronoUnit/DAYS"))
        return false;
    *unit = ptc_enum_ordinal(argv[i]);
    return true;
}

static bool fail_unit(PtcVM *vm, PtcValue v, PtcValue unit)
{
    PtcValue name = ptc_record_field(unit, 1);
    return ptc_fail_here(vm, PTC_E_VALUE | PTC_AS(UNSUPPORTED_TEMPORAL),
                         "%s does not count in %.*s", ptc_type_name(v),
                         PTC_ARG(ptc_str_view(name)));
}

/* Dates have units from days on, instants up to days. */
static bool has_unit(PtcValue v, int unit)
{
    switch (ptc_obj(v)->aux) {
    case PTC_R_DATE: return unit >= PTC_U_DAYS;
    case PTC_R_YEARMONTH: return unit >= PTC_U_MONTHS;
    case PTC_R_YEAR: return unit >= PTC_U_YEARS;
    case PTC_R_CLOCK: return unit < PTC_U_DAYS;
    case PTC_R_DATETIME:
    case PTC_R_ZONED: return true;
    default: return unit <= PTC_U_DAYS;
    }
}

/* Days and months go round. */
static bool turn_enum(PtcVM *vm, const PtcValue *argv, bool back, PtcValue *out)
{
    int64_t n, count = ptc_is_enum(argv[0], PTC_G_DAY) ? 7 : 12;
    if (!ptc_arg_int(vm, argv, 1, &n))
        return false;
    n = ptc_enum_ordinal(argv[0]) + (back ? -(n % count) : n % count);
    return ptc_give(out, ptc_enum_new(vm->heap, count == 7 ? PTC_G_DAY : PTC_G_MONTH,
                                      (int)((n + count) % count)));
}

static bool add_time_span(PtcVM *vm, int argc, const PtcValue *argv, bool back, PtcValue *out)
{
    int unit;
    int64_t n;
    if (argc == 2 && (ptc_is_enum(argv[0], PTC_G_DAY) || ptc_is_enum(argv[0], PTC_G_MONTH)))
        return turn_enum(vm, argv, back, out);
    if (argc == 2 && ptc_is_record(argv[1], PTC_R_PERIOD))
        return ptc_arg_kind(vm, argv, 0, PTC_K_DATES | PTC_K_PERIOD,
                            "a date, date-time or period") &&
               ptc_period_add(vm, argv[0], argv[1], back, out);
    if (argc == 2) {
        if (!ptc_arg_kind(vm, argv, 0, PTC_K_TIMES | PTC_K_INSTANT | PTC_K_DURATION,
                          "a date-time, instant or duration") ||
            !ptc_arg_kind(vm, argv, 1, PTC_K_DURATION, "a duration"))
            return false;
        __int128 by = ptc_time_nanos(ptc_time_of(argv[1]));
        PtcTime t = ptc_time_from_nanos(ptc_time_nanos(ptc_local_of(argv[0])) + (back ? -by : by));
        return ptc_give_like(vm, argv[0], t, out);
    }
    if (!ptc_arg_kind(vm, argv, 0, PTC_K_POINTS | PTC_K_DURATION,
                      "a date, date-time, instant or duration") ||
        !ptc_arg_int(vm, argv, 1, &n) || !arg_unit(vm, argv, 2, &unit))
        return false;
    if (!has_unit(argv[0], unit))
        return fail_unit(vm, argv[0], argv[2]);
    return (!back || negate(vm, &n)) && give_shifted(vm, argv[0], unit, n, out);
}

PTC_BUILTIN_EXPR(
    time_plus, "java", ".plus", 2, 3, 0, "(.plus time n unit) or (.plus time amount)",
    "A time moved on by a duration, a period or n units; days of the week and months by n.",
    "(.plus (LocalDate/of 2024 5 31) 2 ChronoUnit/WEEKS) => \"2024-06-14\"\n"
    "(.plus (Instant/ofEpochSecond 0) (Duration/ofHours 1)) => \"1970-01-01T01:00:00Z\"\n"
    "(.plus (LocalDate/of 2024 1 31) (Period/ofMonths 1)) => \"2024-02-29\"\n"
    "(.plus DayOfWeek/SATURDAY 2) => MONDAY\n"
    "(.plus (LocalDate/of 2024 5 31) 2 ChronoUnit/HOURS) !! value_error",
    add_time_span(vm, argc, argv, false, out))

PTC_BUILTIN_EXPR(
    time_minus, "java", ".minus", 2, 3, 0, "(.minus time n unit) or (.minus time amount)",
    "A time moved back by a duration, a period or n units; days of the week and months by n.",
    "(.minus (LocalDate/of 2024 5 31) 1 ChronoUnit/MONTHS) => \"2024-04-30\"\n"
    "(.minus (Duration/ofHours 1) (Duration/ofMinutes 1)) => PT59M\n"
    "(.minus (LocalDate/of 2024 3 31) (Period/of 1 1 1)) => \"2023-02-27\"\n"
    "(.minus (LocalDate/of 2024 5 31) (Duration/ofHours 1)) !! type_error",
    add_time_span(vm, argc, argv, true, out))

/* ------------------------------------------------------------------------- between */

/* Where the clock of `place` stands at v. */
static PtcTime clock_beside(PtcValue v, PtcValue place)
{
    PtcTime t = ptc_local_of(v);
    if (ptc_is_record(v, PTC_R_ZONED))
        t.seconds += ptc_to_int(ptc_record_field(place, 1)) - ptc_to_int(ptc_record_field(v, 1));
    return t;
}

/* Units from argument a to argument b. */
static bool count_units(PtcVM *vm, const PtcValue *argv, int a, int b, int at, PtcValue *out)
{
    int unit;
    int64_t n;
    char expected[48];
    if (!arg_unit(vm, argv, at, &unit) ||
        !ptc_arg_kind(vm, argv, a, PTC_K_POINTS, "a date, date-time or instant"))
        return false;
    snprintf(expected, sizeof expected, "%s like argument %d", ptc_type_name(argv[a]), a + 1);
    if (!ptc_arg_kind(vm, argv, b, ptc_kind_bit(argv[a]), expected))
        return false;
    if (!has_unit(argv[a], unit))
        return fail_unit(vm, argv[a], argv[at]);
    bool fits =
        ptc_is_record(argv[a], PTC_R_DATE)
            ? ptc_calendar_days_between(ptc_date_days(argv[a]), ptc_date_days(argv[b]), unit, &n)
            : ptc_calendar_between(clock_beside(argv[a], argv[a]), clock_beside(argv[b], argv[a]),
                                   unit, &n);
    return fits ? ptc_give(out, ptc_int_new(vm->heap, n))
                : ptc_fail_here(vm, PTC_E_ARITH, "the number is too large for 64 bits");
}

PTC_BUILTIN_EXPR(
    unit_between, "java", ".between", 3, 3, 0, "(.between unit start end)",
    "How many whole units lie between two dates, date-times or instants.",
    "(.between ChronoUnit/DAYS (LocalDate/of 2024 1 1) (LocalDate/of 2025 1 1)) => 366\n"
    "(.between ChronoUnit/MONTHS (LocalDate/of 2024 1 31) (LocalDate/of 2024 2 29)) => 0\n"
    "(.between ChronoUnit/HOURS (LocalDate/of 2024 1 1) (LocalDate/of 2025 1 1)) !! "
    "value_error",
    count_units(vm, argv, 1, 2, 0, out))

PTC_BUILTIN(
    time_until, "java", ".until", 2, 3, 0, "(.until start end unit?)",
    "How many whole units lie between two dates, date-times or instants; without a unit the "
    "period between two dates.",
    "(.until (LocalDate/of 2024 1 1) (LocalDate/of 2024 3 1) ChronoUnit/DAYS) => 60\n"
    "(.until (LocalDate/of 2024 1 1) (LocalDate/of 2024 3 5)) => P2M4D\n"
    "(.until (LocalDate/of 2024 1 1) nil ChronoUnit/DAYS) !! type_error")
{
    if (argc == 2)
        return ptc_period_between(vm, argv, out);
    return count_units(vm, argv, 0, 1, 2, out);
}

PTC_BUILTIN(truncated_to, "java", ".truncatedTo", 2, 2, 0, "(.truncatedTo time unit)",
            "A date-time or instant without what is smaller than a unit up to days.",
            "(.truncatedTo (Instant/ofEpochSecond 90061) ChronoUnit/HOURS) => "
            "\"1970-01-02T01:00:00Z\"\n"
            "(.truncatedTo (Instant/ofEpochSecond 0) ChronoUnit/MONTHS) !! value_error")
{
    int unit;
    if (!ptc_arg_kind(vm, argv, 0, PTC_K_TIMES | PTC_K_INSTANT, "a date-time or instant") ||
        !arg_unit(vm, argv, 1, &unit))
        return false;
    if (unit > PTC_U_DAYS)
        return fail_unit(vm, argv[0], argv[1]);
    __int128 n = ptc_time_nanos(ptc_local_of(argv[0])), size = ptc_unit_nanos(unit);
    n -= (n % size + size) % size;
    return ptc_give_like(vm, argv[0], ptc_time_from_nanos(n), out);
}

/* ----------------------------------------------------------------------- durations */

static bool give_units(PtcVM *vm, const PtcValue *argv, int unit, PtcValue *out)
{
    if (!ptc_arg_kind(vm, argv, 0, PTC_K_DURATION, "a duration"))
        return false;
    PtcTime t = ptc_time_of(argv[0]);
    __int128 size = ptc_unit_nanos(unit), second = ptc_unit_nanos(PTC_U_SECONDS);
    /* Java counts whole seconds, rounded down, in its larger units. */
    __int128 n = size < second ? ptc_time_nanos(t) / size : t.seconds / (size / second);
    if (n > INT64_MAX || n < INT64_MIN)
        return ptc_fail_here(vm, PTC_E_ARITH, "the number is too large for 64 bits");
    return ptc_give(out, ptc_int_new(vm->heap, (int64_t)n));
}

#define TO_UNITS(id, name, unit, doc, examples)                                          \
    PTC_BUILTIN(id, "java", name, 1, 1, PTC_TAKES(PTC_IS_OTHER) | PTC_GIVES(PTC_IS_INT), \
                "(" name " duration)", doc, examples)                                    \
    {                                                                                    \
        return give_units(vm, argv, unit, out);                                          \
    }

TO_UNITS(to_days, ".toDays", PTC_U_DAYS,
         "The whole days in the seconds of a duration, toward zero.",
         "(.toDays (Duration/ofHours 36)) => 1\n(.toDays (Duration/ofHours -36)) => -1\n"
         "(.toDays 5) !! type_error")
TO_UNITS(to_hours, ".toHours", PTC_U_HOURS,
         "The whole hours in the seconds of a duration, toward zero.",
         "(.toHours (Duration/ofMinutes 90)) => 1\n(.toHours nil) !! type_error")
TO_UNITS(to_minutes, ".toMinutes", PTC_U_MINUTES,
         "The whole minutes in the seconds of a duration, toward zero.",
         "(.toMinutes (Duration/ofSeconds 90)) => 1\n(.toMinutes \"PT1M\") !! type_error")
TO_UNITS(
    to_seconds, ".toSeconds", PTC_U_SECONDS,
    "The seconds of a duration, rounded down, as .getSeconds gives them.",
    "(.toSeconds (Duration/ofMillis 1500)) => 1\n(.toSeconds (Duration/ofMillis -1500)) => -2\n"
    "(.toSeconds 1) !! type_error")
TO_UNITS(to_millis, ".toMillis", PTC_U_MILLIS, "The whole milliseconds of a duration, toward zero.",
         "(.toMillis (Duration/ofSeconds 2)) => 2000\n(.toMillis nil) !! type_error")
TO_UNITS(to_nanos, ".toNanos", PTC_U_NANOS, "The nanoseconds of a duration.",
         "(.toNanos (Duration/ofMillis 2)) => 2000000\n"
         "(.toNanos (Duration/ofDays 200000)) !! arithmetic_error")

PTC_BUILTIN(get_seconds, "java", ".getSeconds", 1, 1, 0, "(.getSeconds duration)",
            "The seconds of a duration, downward; .getNano gives the rest.",
            "(.getSeconds (Duration/ofMinutes 2)) => 120\n"
            "(.getSeconds (Duration/ofMillis -1500)) => -2\n(.getSeconds 120) !! type_error")
{
    return ptc_arg_kind(vm, argv, 0, PTC_K_DURATION, "a duration") &&
           ptc_give(out, ptc_record_field(argv[0], 0));
}

/* A duration times a number. */
static bool scale_duration(PtcVM *vm, PtcValue v, int64_t by, PtcValue *out)
{
    __int128 n = ptc_time_nanos(ptc_time_of(v)), product;
    if (__builtin_mul_overflow(n, (__int128)by, &product))
        product = (__int128)INT64_MAX * PTC_NANOS; /* too long as well */
    return ptc_give_time(vm, PTC_R_DURATION, ptc_time_from_nanos(product), out);
}

/* What a duration and a period have in common. */
static bool arg_amount(PtcVM *vm, const PtcValue *argv)
{
    return ptc_arg_kind(vm, argv, 0, PTC_K_DURATION | PTC_K_PERIOD, "a duration or period");
}

static bool scale_amount(PtcVM *vm, PtcValue v, int64_t by, PtcValue *out)
{
    return ptc_is_record(v, PTC_R_PERIOD) ? ptc_period_scale(vm, v, by, out)
                                          : scale_duration(vm, v, by, out);
}

PTC_BUILTIN(multiplied_by, "java", ".multipliedBy", 2, 2, 0, "(.multipliedBy amount n)",
            "The duration or period n times.",
            "(.multipliedBy (Duration/ofMinutes 25) 4) => PT1H40M\n"
            "(.multipliedBy (Duration/ofMinutes 25) 0.5) !! type_error")
{
    int64_t n;
    return arg_amount(vm, argv) && ptc_arg_int(vm, argv, 1, &n) &&
           scale_amount(vm, argv[0], n, out);
}

PTC_BUILTIN_EXPR(duration_negated, "java", ".negated", 1, 1, 0, "(.negated amount)",
                 "The duration or period with the other sign.",
                 "(.negated (Duration/ofSeconds 5)) => PT-5S\n(.negated 5) !! type_error",
                 arg_amount(vm, argv) && scale_amount(vm, argv[0], -1, out))

PTC_BUILTIN(duration_abs, "java", ".abs", 1, 1, 0, "(.abs x)",
            "A duration or number without its sign.",
            "(.abs (Duration/ofSeconds -5)) => PT5S\n(.abs -1.5M) => 1.5M\n"
            "(.abs \"5\") !! type_error")
{
    if (ptc_is_number(argv[0]) || ptc_is_decimal(argv[0]))
        return ptc_as(vm, "clojure.core/abs", argc, argv, out);
    return ptc_arg_kind(vm, argv, 0, PTC_K_DURATION, "a duration") &&
           scale_duration(vm, argv[0], ptc_date_days(argv[0]) < 0 ? -1 : 1, out);
}

/* Its smallest part, and whether all are zero. */
static int64_t least_part(PtcValue v, bool *zero)
{
    if (!ptc_is_record(v, PTC_R_PERIOD)) {
        *zero = ptc_time_nanos(ptc_time_of(v)) == 0;
        return ptc_time_of(v).seconds;
    }
    PtcPeriod p = ptc_period_of(v);
    int64_t least = p.years < p.months ? p.years : p.months;
    *zero = p.years == 0 && p.months == 0 && p.days == 0;
    return p.days < least ? p.days : least;
}

PTC_BUILTIN(is_negative, "java", ".isNegative", 1, 1, 0, "(.isNegative amount)",
            "Is a duration, or a part of a period, less than zero?",
            "(.isNegative (Duration/ofSeconds -5)) => true\n(.isNegative -5) !! type_error")
{
    bool zero;
    return arg_amount(vm, argv) && ptc_give(out, ptc_bool(least_part(argv[0], &zero) < 0));
}

PTC_BUILTIN(is_zero, "java", ".isZero", 1, 1, 0, "(.isZero amount)",
            "Is a duration or period zero?",
            "(.isZero Duration/ZERO) => true\n(.isZero 0) !! type_error")
{
    bool zero = false;
    if (!arg_amount(vm, argv))
        return false;
    (void)least_part(argv[0], &zero);
    return ptc_give(out, ptc_bool(zero));
}

PTC_BUILTIN_TABLE(ptc_lib_time_span, plus_days, minus_days, plus_weeks, minus_weeks, plus_months,
                  minus_months, plus_years, minus_years, plus_hours, minus_hours, plus_minutes,
                  minus_minutes, plus_seconds, minus_seconds, plus_millis, minus_millis, plus_nanos,
                  minus_nanos, time_plus, time_minus, unit_between, time_until, truncated_to,
                  to_days, to_hours, to_minutes, to_seconds, to_millis, to_nanos, get_seconds,
                  multiplied_by, duration_negated, duration_abs, is_negative, is_zero);
