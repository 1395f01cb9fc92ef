/* SPDX-License-Identifier: MIT
 * Making times: what Java has as static functions of its classes, and (java.util.Date. x). */
#include <stdio.h>

#include "base/ascii.h"
#include "base/units.h"
#include "base/utf8.h"
#include "lisp/lib/time/time_give.h"

/* ------------------------------------------------------------------------- parsing */

static bool check_time_text(PtcVM *vm, const PtcValue *argv, int i)
{
    return ptc_is_string(argv[i]) || ptc_fail_type(vm, argv, i, "a string");
}

/* Reads argument 0 as ISO text, or by the formatter in argument 1. */
static bool parse_arg(PtcVM *vm, int argc, const PtcValue *argv, const char *expected,
                      PtcMoment *out)
{
    PtcWhy why;
    if (!check_time_text(vm, argv, 0))
        return false;
    PtcText text = ptc_str_view(argv[0]);
    if (argc == 1)
        return ptc_iso_parse(PTC_ISO_JAVA, text.bytes, text.len, out, &why) ||
               ptc_fail_time_text(vm, argv[0], why.text, expected);
    if (ptc_read_formatted(vm, argv, 1, text, out, &why))
        return true;
    if (vm->failed) /* it is no formatter */
        return false;
    char want[80];
    PtcText pattern = ptc_str_view(ptc_record_field(argv[1], 0));
    snprintf(want, sizeof want, "text like %.*s", PTC_ARG(ptc_text_cut(pattern, 60)));
    return ptc_fail_time_text(vm, argv[0], why.text, want);
}

#define DATE_FORMAT "a date like 2024-05-31"
#define DATETIME_FORMAT "a date and time like 2024-05-31T10:20:30"
#define INSTANT_FORMAT "an instant like 2024-05-31T10:20:30Z"

PTC_BUILTIN(date_parse, "LocalDate", "parse", 1, 2,
            PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_OTHER), "(LocalDate/parse s formatter?)",
            "The date that a text spells, as 2024-05-31 or by a formatter.",
            "(LocalDate/parse \"2024-02-29\") => \"2024-02-29\"\n"
            "(LocalDate/parse \"31.12.2024\" (DateTimeFormatter/ofPattern \"dd.MM.yyyy\")) => "
            "\"2024-12-31\"\n"
            "(LocalDate/parse \"2023-02-29\") !! value_error\n(LocalDate/parse nil) !! type_error")
{
    PtcMoment p;
    if (!parse_arg(vm, argc, argv, DATE_FORMAT, &p))
        return false;
    if (!p.has_date || (argc == 1 && p.has_time)) {
        ptc_fail_time_text(vm, argv[0], p.has_date ? "it has a time" : "it has no whole date",
                           DATE_FORMAT);
        return ptc_fail_hint(vm, "(parse s) takes dates and instants; "
                                 "LocalDateTime/parse and Instant/parse take times");
    }
    return ptc_give_date(vm, ptc_moment_days(&p), out);
}

PTC_BUILTIN(datetime_parse, "LocalDateTime", "parse", 1, 2,
            PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_OTHER),
            "(LocalDateTime/parse s formatter?)",
            "The date and time of day, without a zone, that a text spells.",
            "(LocalDateTime/parse \"2024-05-31T10:20:30\") => \"2024-05-31T10:20:30\"\n"
            "(LocalDateTime/parse \"2024-05-31T10:20\") => \"2024-05-31T10:20\"\n"
            "(LocalDateTime/parse \"2024-05-31\") !! value_error")
{
    PtcMoment p;
    if (!parse_arg(vm, argc, argv, DATETIME_FORMAT, &p))
        return false;
    if (!p.has_date || !p.has_time || (argc == 1 && p.has_offset)) {
        ptc_fail_time_text(vm, argv[0],
                           p.has_offset ? "it has an offset" : "a date or time is missing",
                           DATETIME_FORMAT);
        return ptc_fail_hint(vm, "Instant/parse takes offsets, LocalDate/parse takes dates");
    }
    p.offset = 0;
    return ptc_give_time(vm, PTC_R_DATETIME, ptc_moment_time(&p), out);
}

PTC_BUILTIN(instant_parse, "Instant", "parse", 1, 1,
            PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_OTHER), "(Instant/parse s)",
            "The point in time that a text with Z or an offset spells.",
            "(Instant/parse \"2024-05-31T10:20:30Z\") => \"2024-05-31T10:20:30Z\"\n"
            "(Instant/parse \"2024-05-31T10:20:30+02:00\") => \"2024-05-31T08:20:30Z\"\n"
            "(Instant/parse \"2024-05-31 10:20:30Z\") !! value_error")
{
    PtcMoment p;
    if (!parse_arg(vm, argc, argv, INSTANT_FORMAT, &p))
        return false;
    if (!p.has_offset) {
        ptc_fail_time_text(vm, argv[0], p.has_time ? "it has no offset" : "it has no time",
                           INSTANT_FORMAT);
        return ptc_fail_hint(vm, "end it with Z, or use (parse s), which takes it as UTC");
    }
    return ptc_give_time(vm, PTC_R_INSTANT, ptc_moment_time(&p), out);
}

PTC_BUILTIN(
    time_parse, "java.time", "parse", 1, 1, 0, "(parse s)",
    "A date from text without a time of day, else an instant, in UTC unless it has an offset.",
    "(parse \"2024-05-31\") => \"2024-05-31\"\n"
    "(parse \"2024-05-31T10:20:30\") => \"2024-05-31T10:20:30Z\"\n"
    "(parse \"2024-05-31T10:20:30-0530\") => \"2024-05-31T15:50:30Z\"\n"
    "(parse \"today\") !! value_error")
{
    PtcMoment p;
    PtcWhy why;
    if (!check_time_text(vm, argv, 0))
        return false;
    if (!ptc_iso_parse(PTC_ISO_LOOSE, ptc_str_bytes(argv[0]), ptc_str_len(argv[0]), &p, &why))
        return ptc_fail_time_text(vm, argv[0], why.text, "2024-05-31 or 2024-05-31T10:20:30Z");
    if (!p.has_time)
        return ptc_give_date(vm, ptc_moment_days(&p), out);
    return ptc_give_time(vm, PTC_R_INSTANT, ptc_moment_time(&p), out);
}

/* ---------------------------------------------------------------------- the clock */

static bool millis_now(PtcVM *vm, PtcValue *out)
{
    return ptc_give(out, ptc_int_new(vm->heap, vm->now_ms));
}

PTC_BUILTIN_EXPR(system_millis, "System", "currentTimeMillis", 0, 0, PTC_GIVES(PTC_IS_INT),
                 "(System/currentTimeMillis)",
                 "Milliseconds since 1970-01-01T00:00:00Z, the same throughout a run.",
                 "(pos? (System/currentTimeMillis)) => true\n"
                 "(System/currentTimeMillis 1) !! arity_error",
                 millis_now(vm, out))

PTC_BUILTIN(system_nanos, "System", "nanoTime", 0, 0, 0, "(System/nanoTime)",
            "The time of the run in nanoseconds; the same throughout it, so that nothing can be "
            "measured with it.",
            "(- (System/nanoTime) (System/nanoTime)) => 0\n(System/nanoTime 1) !! arity_error")
{
    PtcValue unit = ptc_int(PTC_MS), ms = ptc_int_new(vm->heap, vm->now_ms);
    return ms != PTC_NONE && ptc_give(out, ptc_int_mul(vm->heap, ms, unit));
}

PTC_BUILTIN_EXPR(time_millis, "java.time", "currentTimeMillis", 0, 0, 0, "(currentTimeMillis)",
                 "The same as System/currentTimeMillis.",
                 "(integer? (currentTimeMillis)) => true\n(currentTimeMillis 1) !! arity_error",
                 millis_now(vm, out))

PTC_BUILTIN(date_now, "LocalDate", "now", 0, 1, PTC_GIVES(PTC_IS_OTHER), "(LocalDate/now)",
            "Today's date in UTC, the same throughout a run.",
            "(.isAfter (LocalDate/now) (LocalDate/of 2024 1 1)) => true\n"
            "(LocalDate/now \"UTC\") !! type_error")
{
    int64_t offset = 0;
    if (argc == 1 && !ptc_arg_zone(vm, argv, 0, &offset))
        return false;
    return ptc_give_date(vm, ptc_floor_div(ptc_run_time(vm).seconds + offset, PTC_DAY_SECONDS),
                         out);
}

PTC_BUILTIN(datetime_now, "LocalDateTime", "now", 0, 1, PTC_GIVES(PTC_IS_OTHER),
            "(LocalDateTime/now)", "The date and time in UTC, the same throughout a run.",
            "(> (.getYear (LocalDateTime/now)) 2023) => true\n"
            "(LocalDateTime/now 5) !! type_error")
{
    int64_t offset = 0;
    if (argc == 1 && !ptc_arg_zone(vm, argv, 0, &offset))
        return false;
    PtcTime t = ptc_run_time(vm);
    t.seconds += offset;
    return ptc_give_time(vm, PTC_R_DATETIME, t, out);
}

PTC_BUILTIN_EXPR(instant_now, "Instant", "now", 0, 0, PTC_GIVES(PTC_IS_OTHER), "(Instant/now)",
                 "This point in time, the same throughout a run.",
                 "(pos? (.toEpochMilli (Instant/now))) => true\n(Instant/now 1) !! arity_error",
                 ptc_give_time(vm, PTC_R_INSTANT, ptc_run_time(vm), out))

/* ---------------------------------------------------------------------- from parts */

/* Integers from arguments first .. argc-1; a month may be a constant. */
static bool arg_parts(PtcVM *vm, int argc, const PtcValue *argv, int64_t *parts)
{
    for (int i = 0; i < argc; i++) {
        if (i == 1 && ptc_is_enum(argv[i], PTC_G_MONTH))
            parts[i] = ptc_enum_ordinal(argv[i]) + 1;
        else if (!ptc_arg_int(vm, argv, i, &parts[i]))
            return false;
    }
    return true;
}

static bool make_moment(PtcVM *vm, int argc, const PtcValue *argv, PtcMoment *p)
{
    int64_t parts[7] = {0};
    PtcWhy why;
    if (!arg_parts(vm, argc, argv, parts))
        return false;
    *p = (PtcMoment){.year = parts[0],
                     .month = parts[1],
                     .day = parts[2],
                     .hour = parts[3],
                     .minute = parts[4],
                     .second = parts[5],
                     .nano = parts[6],
                     .has_date = true};
    return ptc_moment_check(p, &why) ||
           ptc_fail_full(vm, PTC_E_VALUE | PTC_AS(DATE_TIME), "%s", why.text);
}

PTC_BUILTIN(date_of, "LocalDate", "of", 3, 3, PTC_TAKES_ALL(PTC_IS_INT) | PTC_GIVES(PTC_IS_OTHER),
            "(LocalDate/of year month day)",
            "The date of a year, month (1 to 12, or a constant such as Month/MAY) and day.",
            "(LocalDate/of 2024 2 29) => \"2024-02-29\"\n"
            "(LocalDate/of 2024 Month/MAY 1) => \"2024-05-01\"\n"
            "(LocalDate/of 2024 13 1) !! value_error")
{
    PtcMoment p;
    return make_moment(vm, argc, argv, &p) && ptc_give_date(vm, ptc_moment_days(&p), out);
}

PTC_BUILTIN(datetime_of, "LocalDateTime", "of", 2, 7, 0,
            "(LocalDateTime/of year month day hour minute second? nano?)",
            "The date and time of day of these numbers.",
            "(LocalDateTime/of 2024 5 31 10 20) => \"2024-05-31T10:20\"\n"
            "(LocalDateTime/of 2024 5 31 10 20 30) => \"2024-05-31T10:20:30\"\n"
            "(LocalDateTime/of (LocalDate/of 2024 5 31) LocalTime/NOON) => \"2024-05-31T12:00\"\n"
            "(LocalDateTime/of 2024 5 31 24 0) !! value_error")
{
    PtcMoment p;
    if (argc == 2 && ptc_is_record(argv[0], PTC_R_DATE) && ptc_is_record(argv[1], PTC_R_CLOCK)) {
        PtcTime t = ptc_time_of(argv[1]);
        t.seconds += ptc_local_of(argv[0]).seconds;
        return ptc_give_time(vm, PTC_R_DATETIME, t, out);
    }
    if (argc < 5)
        return ptc_fail(vm, PTC_E_ARITY, "LocalDateTime/of takes 5 to 7 arguments, got %d", argc);
    return make_moment(vm, argc, argv, &p) &&
           ptc_give_time(vm, PTC_R_DATETIME, ptc_moment_time(&p), out);
}

PTC_BUILTIN(date_of_epoch_day, "LocalDate", "ofEpochDay", 1, 1, 0, "(LocalDate/ofEpochDay n)",
            "The date n days after 1970-01-01.",
            "(LocalDate/ofEpochDay 19000) => \"2022-01-08\"\n"
            "(LocalDate/ofEpochDay -1) => \"1969-12-31\"\n"
            "(LocalDate/ofEpochDay \"1\") !! type_error")
{
    int64_t n;
    return ptc_arg_int(vm, argv, 0, &n) && ptc_give_date(vm, n, out);
}

PTC_BUILTIN(date_of_year_day, "LocalDate", "ofYearDay", 2, 2, 0, "(LocalDate/ofYearDay year day)",
            "The date of a day counted from 1 in its year.",
            "(LocalDate/ofYearDay 2024 60) => \"2024-02-29\"\n"
            "(LocalDate/ofYearDay 2023 366) !! value_error")
{
    int64_t year, day;
    if (!ptc_arg_int(vm, argv, 0, &year) || !ptc_arg_int(vm, argv, 1, &day))
        return false;
    if (year < -PTC_YEAR_MAX || year > PTC_YEAR_MAX || day < 1 ||
        day > 365 + ptc_calendar_is_leap(year))
        return ptc_fail(vm, PTC_E_VALUE | PTC_AS(DATE_TIME),
                        "LocalDate/ofYearDay: year %lld has no day %lld", (long long)year,
                        (long long)day);
    return ptc_give_date(vm, ptc_calendar_days(year, 1, 1) + day - 1, out);
}

/* Argument 0 counts units since 1970. */
static bool from_epoch(PtcVM *vm, const PtcValue *argv, unsigned kind, int unit, PtcValue *out)
{
    int64_t n;
    PtcTime t;
    return ptc_arg_int(vm, argv, 0, &n) && ptc_calendar_shift((PtcTime){0, 0}, unit, n, &t) &&
           ptc_give_time(vm, kind, t, out);
}

PTC_BUILTIN_EXPR(instant_of_second, "Instant", "ofEpochSecond", 1, 1,
                 PTC_TAKES_ALL(PTC_IS_INT) | PTC_GIVES(PTC_IS_OTHER), "(Instant/ofEpochSecond n)",
                 "The instant n seconds after 1970-01-01T00:00:00Z.",
                 "(Instant/ofEpochSecond 1700000000) => \"2023-11-14T22:13:20Z\"\n"
                 "(Instant/ofEpochSecond -1) => \"1969-12-31T23:59:59Z\"\n"
                 "(Instant/ofEpochSecond nil) !! type_error",
                 from_epoch(vm, argv, PTC_R_INSTANT, PTC_U_SECONDS, out))

PTC_BUILTIN_EXPR(instant_of_milli, "Instant", "ofEpochMilli", 1, 1,
                 PTC_TAKES_ALL(PTC_IS_INT) | PTC_GIVES(PTC_IS_OTHER), "(Instant/ofEpochMilli n)",
                 "The instant n milliseconds after 1970-01-01T00:00:00Z.",
                 "(Instant/ofEpochMilli 1500) => \"1970-01-01T00:00:01.500Z\"\n"
                 "(Instant/ofEpochMilli 1.5) !! type_error",
                 from_epoch(vm, argv, PTC_R_INSTANT, PTC_U_MILLIS, out))

PTC_BUILTIN(datetime_of_second, "LocalDateTime", "ofEpochSecond", 3, 3, 0,
            "(LocalDateTime/ofEpochSecond seconds nanos ZoneOffset/UTC)",
            "The date and time in UTC this many seconds after 1970-01-01T00:00:00Z.",
            "(LocalDateTime/ofEpochSecond 60 0 ZoneOffset/UTC) => \"1970-01-01T00:01\"\n"
            "(LocalDateTime/ofEpochSecond 60 0 nil) !! type_error")
{
    int64_t s, nanos, offset;
    if (!ptc_arg_int(vm, argv, 0, &s) || !ptc_arg_int(vm, argv, 1, &nanos) ||
        !ptc_arg_zone(vm, argv, 2, &offset))
        return false;
    if (nanos < 0 || nanos >= PTC_NANOS)
        return ptc_fail(vm, PTC_E_VALUE | PTC_AS(DATE_TIME),
                        "ofEpochSecond: %lld is not a number of nanoseconds below one second",
                        (long long)nanos);
    if (__builtin_add_overflow(s, offset, &s))
        s = INT64_MAX; /* out of range as well */
    return ptc_give_time(vm, PTC_R_DATETIME, (PtcTime){s, nanos}, out);
}

/* An instant as the clock of a zone shows it. */
static bool arg_instant_at(PtcVM *vm, const PtcValue *argv, PtcTime *t)
{
    int64_t offset;
    if (!ptc_arg_kind(vm, argv, 0, PTC_K_INSTANT, "an instant") ||
        !ptc_arg_zone(vm, argv, 1, &offset))
        return false;
    *t = ptc_time_of(argv[0]);
    t->seconds += offset;
    return true;
}

PTC_BUILTIN(datetime_of_instant, "LocalDateTime", "ofInstant", 2, 2, 0,
            "(LocalDateTime/ofInstant instant zone)", "The date and time of an instant in a zone.",
            "(LocalDateTime/ofInstant (Instant/ofEpochSecond 61) ZoneOffset/UTC) => "
            "\"1970-01-01T00:01:01\"\n(LocalDateTime/ofInstant 61 ZoneOffset/UTC) !! type_error")
{
    PtcTime t;
    return arg_instant_at(vm, argv, &t) && ptc_give_time(vm, PTC_R_DATETIME, t, out);
}

PTC_BUILTIN(date_of_instant, "LocalDate", "ofInstant", 2, 2, 0,
            "(LocalDate/ofInstant instant zone)", "The date of an instant in a zone.",
            "(LocalDate/ofInstant (Instant/ofEpochSecond -1) ZoneOffset/UTC) => \"1969-12-31\"\n"
            "(LocalDate/ofInstant nil ZoneOffset/UTC) !! type_error")
{
    PtcTime t;
    return arg_instant_at(vm, argv, &t) &&
           ptc_give_date(vm, ptc_floor_div(t.seconds, PTC_DAY_SECONDS), out);
}

/* ------------------------------------------------------------------ java.util.Date. */

static bool date_from_text(PtcVM *vm, PtcValue text, PtcValue *out)
{
    PtcMoment p;
    PtcWhy why;
    const char *bytes = ptc_str_bytes(text);
    if (!ptc_iso_parse(PTC_ISO_LOOSE, bytes, ptc_str_len(text), &p, &why) &&
        !ptc_mail_parse(bytes, ptc_str_len(text), &p))
        return ptc_fail_time_text(vm, text, why.text,
                                  "2024-05-31T10:20:30Z, 2024-05-31 or 31 May 2024 10:20:30 +0000");
    return ptc_give_time(vm, PTC_R_INSTANT, ptc_moment_time(&p), out);
}

PTC_BUILTIN(
    util_date, "java.util", "java.util.Date.", 0, 1, 0, "(java.util.Date. x?)",
    "An instant from milliseconds since 1970, from text (ISO, or as in mail headers), from a "
    "date or time; without an argument, now.",
    "(java.util.Date. 1500) => \"1970-01-01T00:00:01.500Z\"\n"
    "(java.util.Date. \"Thu, 8 Jan 2026 14:30:00 +0000\") => \"2026-01-08T14:30:00Z\"\n"
    "(java.util.Date. (LocalDate/of 2024 5 31)) => \"2024-05-31T00:00:00Z\"\n"
    "(java.util.Date. nil) !! type_error")
{
    if (argc == 0)
        return ptc_give_time(vm, PTC_R_INSTANT, ptc_run_time(vm), out);
    if (ptc_is_integer(argv[0]))
        return from_epoch(vm, argv, PTC_R_INSTANT, PTC_U_MILLIS, out);
    if (ptc_is_string(argv[0]))
        return date_from_text(vm, argv[0], out);
    if (ptc_is_record(argv[0], PTC_R_DATE))
        return ptc_give_time(vm, PTC_R_INSTANT,
                             (PtcTime){ptc_date_days(argv[0]) * PTC_DAY_SECONDS, 0}, out);
    return ptc_arg_kind(vm, argv, 0, PTC_K_DATETIME | PTC_K_INSTANT,
                        "milliseconds, a string, a date or a time") &&
           ptc_give_time(vm, PTC_R_INSTANT, ptc_time_of(argv[0]), out);
}

/* ------------------------------------------------------------------------ durations */

PTC_BUILTIN(duration_between, "Duration", "between", 2, 2,
            PTC_TAKES2(PTC_IS_OTHER, PTC_IS_OTHER) | PTC_GIVES(PTC_IS_OTHER),
            "(Duration/between start end)",
            "The time from one instant (or date-time) to another; negative when that is before it.",
            "(Duration/between (Instant/ofEpochSecond 0) (Instant/ofEpochSecond 90)) => PT1M30S\n"
            "(Duration/between (LocalDate/of 2024 1 1) (LocalDate/of 2024 1 2)) !! type_error")
{
    if (ptc_is_record(argv[0], PTC_R_DATE)) {
        ptc_fail(vm, PTC_E_TYPE,
                 "Duration/between: argument 1 is a date, which has no time of day");
        return ptc_fail_hint(vm, "count days: (.between ChronoUnit/DAYS start end)");
    }
    if (!ptc_arg_kind(vm, argv, 0, PTC_K_DATETIME | PTC_K_INSTANT | PTC_K_CLOCK | PTC_K_ZONED,
                      "an instant or date-time") ||
        !ptc_arg_kind(vm, argv, 1, ptc_kind_bit(argv[0]),
                      ptc_is_record(argv[0], PTC_R_INSTANT) ? "an instant like argument 1"
                                                            : "a date-time like argument 1"))
        return false;
    PtcTime from = {ptc_date_days(argv[0]), ptc_local_of(argv[0]).nanos};
    PtcTime to = {ptc_date_days(argv[1]), ptc_local_of(argv[1]).nanos};
    __int128 n = ptc_time_nanos(to) - ptc_time_nanos(from);
    return ptc_give_time(vm, PTC_R_DURATION, ptc_time_from_nanos(n), out);
}

#define DURATION_OF(id, name, unit, examples)                           \
    PTC_BUILTIN(id, "Duration", name, 1, 1, 0, "(Duration/" name " n)", \
                "The duration of n of these units.", examples)          \
    {                                                                   \
        return from_epoch(vm, argv, PTC_R_DURATION, unit, out);         \
    }

DURATION_OF(duration_days, "ofDays", PTC_U_DAYS,
            "(Duration/ofDays 2) => PT48H\n(Duration/ofDays 1.5) !! type_error")
DURATION_OF(duration_hours, "ofHours", PTC_U_HOURS,
            "(Duration/ofHours 36) => PT36H\n(Duration/ofHours \"1\") !! type_error")
DURATION_OF(duration_minutes, "ofMinutes", PTC_U_MINUTES,
            "(Duration/ofMinutes 90) => PT1H30M\n(Duration/ofMinutes nil) !! type_error")
DURATION_OF(duration_seconds, "ofSeconds", PTC_U_SECONDS,
            "(Duration/ofSeconds 61) => PT1M1S\n"
            "(Duration/ofSeconds 9999999999999999) !! arithmetic_error")
DURATION_OF(duration_millis, "ofMillis", PTC_U_MILLIS,
            "(Duration/ofMillis -1500) => PT-1.5S\n(Duration/ofMillis :a) !! type_error")
DURATION_OF(duration_nanos, "ofNanos", PTC_U_NANOS,
            "(Duration/ofNanos 5) => PT0.000000005S\n(Duration/ofNanos []) !! type_error")

/* --------------------------------------------------------- constants and formatters */

static bool enum_of(PtcVM *vm, const PtcValue *argv, PtcGroup group, int count, PtcValue *out)
{
    int64_t n;
    if (!ptc_arg_int(vm, argv, 0, &n))
        return false;
    if (n < 1 || n > count)
        return ptc_fail_full(vm, PTC_E_VALUE | PTC_AS(DATE_TIME), "%lld is not from 1 to %d",
                             (long long)n, count);
    return ptc_give(out, ptc_enum_new(vm->heap, group, (int)n - 1));
}

PTC_BUILTIN_EXPR(day_of, "DayOfWeek", "of", 1, 1, 0, "(DayOfWeek/of n)",
                 "The day of the week with this number: 1 is Monday, 7 is Sunday.",
                 "(DayOfWeek/of 5) => FRIDAY\n(DayOfWeek/of 0) !! value_error",
                 enum_of(vm, argv, PTC_G_DAY, 7, out))

PTC_BUILTIN_EXPR(month_of, "Month", "of", 1, 1, 0, "(Month/of n)", "The month with this number.",
                 "(Month/of 5) => MAY\n(Month/of 13) !! value_error",
                 enum_of(vm, argv, PTC_G_MONTH, 12, out))

PTC_BUILTIN(
    formatter_of, "DateTimeFormatter", "ofPattern", 1, 1,
    PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_OTHER), "(DateTimeFormatter/ofPattern pattern)",
    "A formatter after a pattern of letters: yyyy MM dd HH hh a mm ss SSS, MMM and MMMM for "
    "names of months, EEE and EEEE of days, D day of the year, YYYY ww e for weeks (ISO), X x Z "
    "offset; text in 'quotes'.",
    "(.format (LocalDate/of 2024 5 1) (DateTimeFormatter/ofPattern \"EEE, d MMM yyyy\")) => "
    "\"Wed, 1 May 2024\"\n"
    "(DateTimeFormatter/ofPattern \"yyyy-QQ\") !! value_error\n"
    "(DateTimeFormatter/ofPattern nil) !! type_error")
{
    PtcWhy why;
    if (!check_time_text(vm, argv, 0) || !ptc_tick(&vm->budget, 1 + ptc_str_len(argv[0]) / 16))
        return false;
    if (!ptc_pattern_check(ptc_str_bytes(argv[0]), ptc_str_len(argv[0]), &why)) {
        ptc_fail_time_text(vm, argv[0], why.text, "a pattern like yyyy-MM-dd HH:mm:ss");
        vm->error.thrown = PTC_C_ILLEGAL_ARGUMENT;
        return ptc_fail_hint(
            vm, "letters are y u M d D E Y w e H h a m s S X x Z; put text in 'quotes'");
    }
    return ptc_give(out, ptc_record_new(vm, PTC_R_FORMATTER, argv, 1));
}

PTC_BUILTIN_TABLE(ptc_lib_time_make, date_parse, datetime_parse, instant_parse, time_parse,
                  system_millis, time_millis, system_nanos, date_now, datetime_now, instant_now,
                  date_of, datetime_of, date_of_epoch_day, date_of_year_day, instant_of_second,
                  instant_of_milli, datetime_of_second, datetime_of_instant, date_of_instant,
                  util_date, duration_between, duration_days, duration_hours, duration_minutes,
                  duration_seconds, duration_millis, duration_nanos, day_of, month_of,
                  formatter_of);
