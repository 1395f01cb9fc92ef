/* SPDX-License-Identifier: MIT
 * Methods of dates, date-times, instants and constants: parts, comparison, conversion, text. */
#include <stdio.h>

#include "lisp/lib/java/interop.h"
#include "lisp/lib/time/time_give.h"

/* --------------------------------------------------------------------------- parts */

static int64_t length_of_month_of(PtcValue v)
{
    PtcCivil c = ptc_calendar_civil(ptc_days_of(v));
    return ptc_calendar_month_length(c.year, c.month);
}

static bool is_in_leap_year(PtcValue v)
{
    return ptc_calendar_is_leap(ptc_calendar_civil(ptc_days_of(v)).year);
}

#define METHOD_PART(id, name, kinds, expected, usage, doc, examples, part)                         \
    PTC_BUILTIN_EXPR(id, "java", name, 1, 1,                                                       \
                     PTC_TAKES(PTC_IS_OTHER) | PTC_GIVES(PTC_IS_BOOL | PTC_IS_INT | PTC_IS_OTHER), \
                     usage, doc, examples,                                                         \
                     ptc_arg_kind(vm, argv, 0, kinds, expected) && ptc_give(out, part))
#define DATE_PART(id, name, doc, examples, part)                                                   \
    METHOD_PART(id, name, PTC_K_DATES | PTC_K_YEARMONTH, "a date or date-time", "(" name " date)", \
                doc, examples, part)
#define ONLY_DATE_PART(id, name, doc, examples, part)                                     \
    METHOD_PART(id, name, PTC_K_DATE | PTC_K_YEARMONTH, "a date", "(" name " date)", doc, \
                examples, part)
#define TIME_PART(id, name, doc, examples, field)                                            \
    METHOD_PART(id, name, PTC_K_TIMES, "a date-time", "(" name " date-time)", doc, examples, \
                ptc_int(ptc_time_field(argv[0], field)))

DATE_PART(get_year, ".getYear", "The year of a date or date-time.",
          "(.getYear (LocalDate/of 2024 5 31)) => 2024\n(.getYear \"2024\") !! type_error",
          ptc_int(ptc_time_field(argv[0], PTC_FIELD_YEAR)))
DATE_PART(get_month_value, ".getMonthValue", "The month, from 1 to 12.",
          "(.getMonthValue (LocalDate/of 2024 5 31)) => 5\n(.getMonthValue nil) !! type_error",
          ptc_int(ptc_time_field(argv[0], PTC_FIELD_MONTH)))
DATE_PART(get_month, ".getMonth", "The month as a constant such as Month/MAY.",
          "(.getMonth (LocalDate/of 2024 5 31)) => MAY\n"
          "(= Month/MAY (.getMonth (LocalDate/of 2024 5 31))) => true\n"
          "(.getMonth 5) !! type_error",
          ptc_month_of(vm, argv[0]))
DATE_PART(get_day, ".getDayOfMonth", "The day in the month, from 1.",
          "(.getDayOfMonth (LocalDate/of 2024 5 31)) => 31\n(.getDayOfMonth {}) !! type_error",
          ptc_int(ptc_time_field(argv[0], PTC_FIELD_DAY)))
DATE_PART(get_weekday, ".getDayOfWeek",
          "The day of the week as a constant such as DayOfWeek/MONDAY; business days are those but "
          "SATURDAY and SUNDAY.",
          "(.getDayOfWeek (LocalDate/of 2024 5 31)) => FRIDAY\n"
          "(.getValue (.getDayOfWeek (LocalDate/of 2024 5 31))) => 5\n"
          "(.getDayOfWeek \"Friday\") !! type_error",
          ptc_weekday_of(vm, argv[0]))
DATE_PART(get_year_day, ".getDayOfYear", "The day in the year, from 1.",
          "(.getDayOfYear (LocalDate/of 2024 3 1)) => 61\n(.getDayOfYear 61) !! type_error",
          ptc_int(ptc_time_field(argv[0], PTC_FIELD_YEAR_DAY)))
ONLY_DATE_PART(length_of_month, ".lengthOfMonth", "How many days the month of a date has.",
               "(.lengthOfMonth (LocalDate/of 2024 2 1)) => 29\n"
               "(.lengthOfMonth (Instant/ofEpochSecond 0)) !! type_error",
               ptc_int(length_of_month_of(argv[0])))
ONLY_DATE_PART(length_of_year, ".lengthOfYear", "How many days the year of a date has.",
               "(.lengthOfYear (LocalDate/of 2024 2 1)) => 366\n(.lengthOfYear 2024) !! type_error",
               ptc_int(365 + is_in_leap_year(argv[0])))
ONLY_DATE_PART(is_leap_year, ".isLeapYear", "Has the year of a date a 29th of February?",
               "(.isLeapYear (LocalDate/of 2024 5 31)) => true\n"
               "(.isLeapYear (LocalDate/of 1900 1 1)) => false\n(.isLeapYear 2024) !! type_error",
               ptc_bool(is_in_leap_year(argv[0])))
TIME_PART(get_hour, ".getHour", "The hour of the day, from 0 to 23.",
          "(.getHour (LocalDateTime/of 2024 5 31 10 20 30)) => 10\n"
          "(.getHour (LocalDate/of 2024 5 31)) !! type_error",
          PTC_FIELD_HOUR)
TIME_PART(get_minute, ".getMinute", "The minute of the hour.",
          "(.getMinute (LocalDateTime/of 2024 5 31 10 20 30)) => 20\n(.getMinute 5) !! type_error",
          PTC_FIELD_MINUTE)
TIME_PART(get_second, ".getSecond", "The second of the minute.",
          "(.getSecond (LocalDateTime/of 2024 5 31 10 20 30)) => 30\n"
          "(.getSecond nil) !! type_error",
          PTC_FIELD_SECOND)

PTC_BUILTIN(get_nano, "java", ".getNano", 1, 1, 0, "(.getNano time)",
            "The nanoseconds after the whole second of a date-time, instant or duration.",
            "(.getNano (Instant/ofEpochMilli 1500)) => 500000000\n(.getNano 1) !! type_error")
{
    return ptc_arg_kind(vm, argv, 0, PTC_K_TIMES | PTC_K_INSTANT | PTC_K_DURATION,
                        "a date-time, instant or duration") &&
           ptc_give(out, ptc_int(ptc_local_of(argv[0]).nanos));
}

/* --------------------------------------------------------------------------- order */

static bool same_kind(PtcVM *vm, const PtcValue *argv, unsigned kinds)
{
    char expected[64];
    if (!ptc_arg_kind(vm, argv, 0, kinds, "a date, date-time or instant"))
        return false;
    snprintf(expected, sizeof expected, "%s like argument 1", ptc_type_name(argv[0]));
    return ptc_arg_kind(vm, argv, 1, ptc_kind_bit(argv[0]), expected);
}

static int order_of_times(PtcVM *vm, const PtcValue *argv)
{
    bool ok = true;
    return ptc_compare(vm->heap, argv[0], argv[1], &ok);
}

PTC_BUILTIN(is_before, "java", ".isBefore", 2, 2,
            PTC_TAKES2(PTC_IS_OTHER, PTC_IS_OTHER) | PTC_GIVES(PTC_IS_BOOL), "(.isBefore a b)",
            "Is a date, date-time or instant before another of the same kind?",
            "(.isBefore (LocalDate/of 2024 1 31) (LocalDate/of 2024 2 1)) => true\n"
            "(.isBefore (LocalDate/of 2024 1 1) (Instant/ofEpochSecond 0)) !! type_error")
{
    return same_kind(vm, argv, PTC_K_POINTS) &&
           ptc_give(out, ptc_bool(order_of_times(vm, argv) < 0));
}

PTC_BUILTIN(is_after, "java", ".isAfter", 2, 2,
            PTC_TAKES2(PTC_IS_OTHER, PTC_IS_OTHER) | PTC_GIVES(PTC_IS_BOOL), "(.isAfter a b)",
            "Is a date, date-time or instant after another of the same kind?",
            "(.isAfter (LocalDate/of 2024 1 31) (LocalDate/of 2024 2 1)) => false\n"
            "(.isAfter \"2024-01-01\" \"2023-01-01\") !! type_error")
{
    return same_kind(vm, argv, PTC_K_POINTS) &&
           ptc_give(out, ptc_bool(order_of_times(vm, argv) > 0));
}

PTC_BUILTIN(is_equal, "java", ".isEqual", 2, 2,
            PTC_TAKES2(PTC_IS_OTHER, PTC_IS_OTHER) | PTC_GIVES(PTC_IS_BOOL), "(.isEqual a b)",
            "Are two dates, or two date-times, the same?",
            "(.isEqual (LocalDate/of 2024 1 31) (LocalDate/parse \"2024-01-31\")) => true\n"
            "(.isEqual (LocalDate/of 2024 1 31) nil) !! type_error")
{
    return same_kind(vm, argv, PTC_K_POINTS) &&
           ptc_give(out, ptc_bool(order_of_times(vm, argv) == 0));
}

/* --------------------------------------------------------------------- conversion */

PTC_BUILTIN(to_epoch_day, "java", ".toEpochDay", 1, 1,
            PTC_TAKES(PTC_IS_OTHER) | PTC_GIVES(PTC_IS_INT), "(.toEpochDay date)",
            "Days from 1970-01-01 to a date.",
            "(.toEpochDay (LocalDate/of 1970 1 2)) => 1\n"
            "(.toEpochDay (java.util.Date. 0)) !! type_error")
{
    return ptc_arg_kind(vm, argv, 0, PTC_K_DATE, "a date") &&
           ptc_give(out, ptc_record_field(argv[0], 0));
}

PTC_BUILTIN(to_epoch_second, "java", ".toEpochSecond", 1, 2, 0,
            "(.toEpochSecond date-time ZoneOffset/UTC)",
            "Seconds from 1970-01-01T00:00:00Z to a date-time in a zone; one with an offset needs "
            "none.",
            "(.toEpochSecond (LocalDateTime/of 1970 1 1 0 1) ZoneOffset/UTC) => 60\n"
            "(.toEpochSecond (OffsetDateTime/parse \"1970-01-01T01:00+01:00\")) => 0\n"
            "(.toEpochSecond (LocalDateTime/of 1970 1 1 0 1) \"UTC\") !! type_error")
{
    int64_t offset = 0;
    if (argc == 1)
        return ptc_arg_kind(vm, argv, 0, PTC_K_ZONED, "a date-time with an offset") &&
               ptc_give(out, ptc_record_field(argv[0], 0));
    return ptc_arg_kind(vm, argv, 0, PTC_K_DATETIME, "a date-time") &&
           ptc_arg_zone(vm, argv, 1, &offset) &&
           ptc_give(out, ptc_int(ptc_date_days(argv[0]) - offset));
}

PTC_BUILTIN(get_epoch_second, "java", ".getEpochSecond", 1, 1, 0, "(.getEpochSecond instant)",
            "Seconds from 1970-01-01T00:00:00Z to an instant.",
            "(.getEpochSecond (Instant/parse \"1970-01-01T00:01:00Z\")) => 60\n"
            "(.getEpochSecond 60) !! type_error")
{
    return ptc_arg_kind(vm, argv, 0, PTC_K_INSTANT, "an instant") &&
           ptc_give(out, ptc_record_field(argv[0], 0));
}

static bool give_millis(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    if (!ptc_arg_kind(vm, argv, 0, PTC_K_INSTANT, "an instant"))
        return false;
    PtcTime t = ptc_time_of(argv[0]);
    return ptc_give(out, ptc_int(t.seconds * 1000 + t.nanos / PTC_MS));
}

PTC_BUILTIN_EXPR(to_epoch_milli, "java", ".toEpochMilli", 1, 1,
                 PTC_TAKES(PTC_IS_OTHER) | PTC_GIVES(PTC_IS_INT), "(.toEpochMilli instant)",
                 "Milliseconds from 1970-01-01T00:00:00Z to an instant.",
                 "(.toEpochMilli (Instant/parse \"1970-01-01T00:00:01.5Z\")) => 1500\n"
                 "(.toEpochMilli (LocalDate/of 2024 1 1)) !! type_error",
                 give_millis(vm, argv, out))

PTC_BUILTIN_EXPR(get_time, "java", ".getTime", 1, 1, 0, "(.getTime instant)",
                 "Milliseconds from 1970-01-01T00:00:00Z to an instant.",
                 "(.getTime (java.util.Date. \"1970-01-01T00:01:00Z\")) => 60000\n"
                 "(.getTime (LocalDate/of 2024 1 1)) !! type_error\n(.getTime nil) !! type_error",
                 give_millis(vm, argv, out))

PTC_BUILTIN(to_local_date, "java", ".toLocalDate", 1, 1, 0, "(.toLocalDate date-time)",
            "The date of a date-time.",
            "(.toLocalDate (LocalDateTime/of 2024 5 31 10 20)) => \"2024-05-31\"\n"
            "(.toLocalDate \"2024-05-31\") !! type_error")
{
    return ptc_arg_kind(vm, argv, 0, PTC_K_DATETIME | PTC_K_ZONED, "a date-time") &&
           ptc_give_date(vm, ptc_days_of(argv[0]), out);
}

/* The instant of what knows its offset. */
static bool give_instant(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    if (!ptc_arg_kind(vm, argv, 0, PTC_K_INSTANT | PTC_K_ZONED,
                      "an instant, or a date-time with an offset"))
        return false;
    PtcTime t = {ptc_date_days(argv[0]), ptc_local_of(argv[0]).nanos};
    return ptc_give_time(vm, PTC_R_INSTANT, t, out);
}

PTC_BUILTIN(to_instant, "java", ".toInstant", 1, 2, 0, "(.toInstant date-time ZoneOffset/UTC)",
            "The instant of a date-time in a zone; one with an offset, and an instant, need none.",
            "(.toInstant (LocalDateTime/of 2024 5 31 10 20) ZoneOffset/UTC) => "
            "\"2024-05-31T10:20:00Z\"\n(.toInstant (LocalDate/of 2024 5 31)) !! type_error")
{
    int64_t offset = 0;
    if (argc == 1)
        return give_instant(vm, argv, out);
    if (!ptc_arg_kind(vm, argv, 0, PTC_K_DATETIME, "a date-time") ||
        !ptc_arg_zone(vm, argv, 1, &offset))
        return false;
    PtcTime t = ptc_time_of(argv[0]);
    t.seconds -= offset;
    return ptc_give_time(vm, PTC_R_INSTANT, t, out);
}

PTC_BUILTIN(at_start_of_day, "java", ".atStartOfDay", 1, 1, 0, "(.atStartOfDay date)",
            "The date-time at which a date begins.",
            "(.atStartOfDay (LocalDate/of 2024 5 31)) => \"2024-05-31T00:00\"\n"
            "(.atStartOfDay nil) !! type_error")
{
    return ptc_arg_kind(vm, argv, 0, PTC_K_DATE, "a date") &&
           ptc_give_time(vm, PTC_R_DATETIME, (PtcTime){ptc_date_days(argv[0]) * PTC_DAY_SECONDS, 0},
                         out);
}

/* A date and a time of day, both values. */
static bool join_time(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    if (!ptc_arg_kind(vm, argv, 1, PTC_K_CLOCK, "a time of day"))
        return false;
    PtcTime t = ptc_time_of(argv[1]);
    t.seconds += ptc_date_days(argv[0]) * PTC_DAY_SECONDS;
    return ptc_give_time(vm, PTC_R_DATETIME, t, out);
}

PTC_BUILTIN(at_time, "java", ".atTime", 2, 4, 0, "(.atTime date hour minute second?)",
            "The date-time of a date and a time of day.",
            "(.atTime (LocalDate/of 2024 5 31) 10 20) => \"2024-05-31T10:20\"\n"
            "(.atTime (LocalDate/of 2024 5 31) LocalTime/NOON) => \"2024-05-31T12:00\"\n"
            "(.atTime (LocalDate/of 2024 5 31) 24 0) !! value_error")
{
    int64_t parts[3] = {0};
    PtcWhy why;
    if (!ptc_arg_kind(vm, argv, 0, PTC_K_DATE, "a date"))
        return false;
    if (argc == 2)
        return join_time(vm, argv, out);
    for (int i = 1; i < argc; i++)
        if (!ptc_arg_int(vm, argv, i, &parts[i - 1]))
            return false;
    PtcMoment p = {.hour = parts[0], .minute = parts[1], .second = parts[2]};
    if (!ptc_moment_check(&p, &why))
        return ptc_fail(vm, PTC_E_VALUE | PTC_AS(DATE_TIME), ".atTime: %s", why.text);
    int64_t s = ptc_date_days(argv[0]) * PTC_DAY_SECONDS + p.hour * 3600 + p.minute * 60 + p.second;
    return ptc_give_time(vm, PTC_R_DATETIME, (PtcTime){s, 0}, out);
}

/* The same time of day on another day. */
static bool give_moved(PtcVM *vm, PtcValue v, int64_t days, PtcValue *out)
{
    PtcTime t = ptc_local_of(v);
    t.seconds += (days - ptc_days_of(v)) * PTC_DAY_SECONDS;
    return ptc_give_like(vm, v, t, out);
}

/* A date with its year, month or day replaced.  Only a given day must exist in the month. */
static bool give_with(PtcVM *vm, const PtcValue *argv, PtcField part, PtcValue *out)
{
    int64_t n;
    if (!ptc_arg_kind(vm, argv, 0, PTC_K_DATES, "a date or date-time"))
        return false;
    if (part == PTC_FIELD_MONTH && ptc_is_enum(argv[1], PTC_G_MONTH))
        n = ptc_enum_ordinal(argv[1]) + 1;
    else if (!ptc_arg_int(vm, argv, 1, &n))
        return false;
    PtcCivil c = ptc_calendar_civil(ptc_days_of(argv[0]));
    PtcMoment p = {.year = part == PTC_FIELD_YEAR ? n : c.year,
                   .month = part == PTC_FIELD_MONTH ? n : c.month,
                   .day = part == PTC_FIELD_DAY ? n : 1,
                   .has_date = true};
    PtcWhy why;
    if (!ptc_moment_check(&p, &why))
        return ptc_fail_here(vm, PTC_E_VALUE | PTC_AS(DATE_TIME), "%s", why.text);
    int last = ptc_calendar_month_length(p.year, (int)p.month);
    if (part != PTC_FIELD_DAY)
        p.day = c.day < last ? c.day : last;
    return give_moved(vm, argv[0], ptc_moment_days(&p), out);
}

#define METHOD_WITH(id, name, part, usage, doc, examples)        \
    PTC_BUILTIN(id, "java", name, 2, 2, 0, usage, doc, examples) \
    {                                                            \
        return give_with(vm, argv, part, out);                   \
    }

METHOD_WITH(with_day, ".withDayOfMonth", PTC_FIELD_DAY, "(.withDayOfMonth date n)",
            "The date with another day of the same month.",
            "(.withDayOfMonth (LocalDate/of 2024 5 31) 1) => \"2024-05-01\"\n"
            "(.withDayOfMonth (LocalDate/of 2024 4 1) 31) !! value_error")
METHOD_WITH(with_month, ".withMonth", PTC_FIELD_MONTH, "(.withMonth date n)",
            "The date with another month; a day that it does not have becomes its last.",
            "(.withMonth (LocalDate/of 2024 5 31) 2) => \"2024-02-29\"\n"
            "(.withMonth (LocalDate/of 2024 5 31) 0) !! value_error")
METHOD_WITH(with_year, ".withYear", PTC_FIELD_YEAR, "(.withYear date n)",
            "The date with another year; the 29th of February becomes the 28th where it must.",
            "(.withYear (LocalDate/of 2024 2 29) 2023) => \"2023-02-28\"\n"
            "(.withYear (LocalDate/of 2024 2 29) \"2023\") !! type_error")

/* ----------------------------------------------------------------------- constants */

PTC_BUILTIN(get_value, "java", ".getValue", 1, 1, 0, "(.getValue day-or-month-or-entry)",
            "The number of a day of the week or month, from 1; the value of a map entry.",
            "(.getValue (first {:a 5})) => 5\n(.getValue DayOfWeek/MONDAY) => 1\n(.getValue "
            "Month/DECEMBER) => 12\n"
            "(.getValue ChronoUnit/DAYS) !! type_error")
{
    if (ptc_is_sequential(argv[0]))
        return ptc_as(vm, "clojure.core/val", argc, argv, out);
    if (ptc_is_record(argv[0], PTC_R_YEAR))
        return ptc_give(out, ptc_record_field(argv[0], 0));
    if (!ptc_is_enum(argv[0], PTC_G_DAY) && !ptc_is_enum(argv[0], PTC_G_MONTH))
        return ptc_fail_type(vm, argv, 0, "a day of the week or month");
    return ptc_give(out, ptc_int(ptc_enum_ordinal(argv[0]) + 1));
}

PTC_BUILTIN(enum_name, "java", ".name", 1, 1, 0, "(.name constant)", "The name of a constant.",
            "(.name DayOfWeek/FRIDAY) => \"FRIDAY\"\n(.name :friday) !! type_error")
{
    return ptc_arg_kind(vm, argv, 0, PTC_K_ENUM, "a constant such as DayOfWeek/FRIDAY") &&
           ptc_give(out, ptc_record_field(argv[0], 1));
}

/* ---------------------------------------------------------------------------- text */

PTC_BUILTIN(time_format, "java", ".format", 2, 2, 0, "(.format date formatter)",
            "The text of a date, date-time or instant (in UTC) after a formatter, in either order.",
            "(.format (LocalDate/of 2024 5 1) (DateTimeFormatter/ofPattern \"dd.MM.yyyy\")) => "
            "\"01.05.2024\"\n"
            "(.format DateTimeFormatter/ISO_LOCAL_DATE (LocalDate/of 2024 5 1)) => \"2024-05-01\"\n"
            "(.format (LocalDate/of 2024 5 1) (DateTimeFormatter/ofPattern \"HH:mm\")) !! "
            "value_error\n(.format (LocalDate/of 2024 5 1) \"yyyy\") !! type_error")
{
    int f = ptc_is_record(argv[0], PTC_R_FORMATTER) ? 0 : 1;
    if (!ptc_arg_kind(vm, argv, 1 - f, PTC_K_POINTS, "a date, date-time or instant") ||
        !ptc_arg_kind(vm, argv, f, PTC_K_FORMATTER, "a formatter, as ofPattern gives it"))
        return false;
    PtcValue pattern = ptc_record_field(argv[f], 0);
    PtcBuf buf;
    PtcWhy why;
    ptc_heap_buf_init(vm->heap, &buf);
    bool ok = ptc_tick(&vm->budget, 1 + ptc_str_len(pattern) / 8) &&
              ptc_pattern_format(pattern, &buf, argv[1 - f], &why);
    if (ok)
        ok = ptc_give(out, ptc_str_take(vm->heap, &buf));
    else if (!ptc_buf_ok(&buf))
        ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    else if (vm->budget.stop == PTC_STOP_NONE)
        ptc_fail(vm, PTC_E_VALUE | PTC_AS(DATE_TIME), ".format: %s", why.text);
    ptc_buf_deinit(&buf);
    return ok;
}

PTC_BUILTIN(time_reparse, "java", ".parse", 2, 2, 0, "(.parse formatter s)",
            "The date, date-time or instant that a text spells, after a formatter.",
            "(.parse (DateTimeFormatter/ofPattern \"d/M/yyyy\") \"1/5/2024\") => \"2024-05-01\"\n"
            "(.parse DateTimeFormatter/ISO_LOCAL_DATE \"1/5/2024\") !! value_error")
{
    PtcMoment p;
    PtcWhy why;
    if (!ptc_arg_kind(vm, argv, 0, PTC_K_FORMATTER, "a formatter"))
        return false;
    if (!ptc_is_string(argv[1]))
        return ptc_fail_type(vm, argv, 1, "a string");
    if (!ptc_read_formatted(vm, argv, 0, ptc_str_view(argv[1]), &p, &why))
        return ptc_fail(vm, PTC_E_VALUE | PTC_AS(DATE_TIME_PARSE),
                        ".parse: the text does not follow the pattern%s%s", why.text[0] ? ": " : "",
                        why.text);
    if (!p.has_date)
        return ptc_fail(vm, PTC_E_VALUE | PTC_AS(DATE_TIME),
                        ".parse: the pattern holds no whole date");
    if (!p.has_time)
        return ptc_give_date(vm, ptc_moment_days(&p), out);
    return ptc_give_time(vm, p.has_offset ? PTC_R_INSTANT : PTC_R_DATETIME, ptc_moment_time(&p),
                         out);
}

PTC_BUILTIN_TABLE(ptc_lib_time_method, get_year, get_month_value, get_month, get_day, get_weekday,
                  get_year_day, length_of_month, length_of_year, is_leap_year, get_hour, get_minute,
                  get_second, get_nano, is_before, is_after, is_equal, to_epoch_day,
                  to_epoch_second, get_epoch_second, to_epoch_milli, get_time, to_local_date,
                  to_instant, at_start_of_day, at_time, with_day, with_month, with_year, get_value,
                  enum_name, time_format, time_reparse);
