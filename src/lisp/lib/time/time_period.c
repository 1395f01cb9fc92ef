/* SPDX-License-Identifier: MIT
 * Periods: years, months and days, as java.time.Period counts them.  The three are kept apart, each within 32
 * bits as in Java, since how long a month is depends on where it begins. */
#include <stdio.h>

#include "base/ascii.h"
#include "lisp/lib/time/time_give.h"

static bool give_period(PtcVM *vm, PtcPeriod p, PtcValue *out)
{
    if (p.years != (int32_t)p.years || p.months != (int32_t)p.months || p.days != (int32_t)p.days)
        return ptc_fail_here(vm, PTC_E_ARITH, "the period is too long");
    PtcValue fields[3] = {ptc_int(p.years), ptc_int(p.months), ptc_int(p.days)};
    return ptc_give(out, ptc_record_new(vm, PTC_R_PERIOD, fields, 3));
}

static int64_t total_months(PtcPeriod p)
{
    return p.years * 12 + p.months;
}

static PtcPeriod multiply_period(PtcPeriod p, int64_t n)
{
    return (PtcPeriod){p.years * n, p.months * n, p.days * n};
}

/* ------------------------------------------------------------------------- between */

/* As many whole months as fit, then the days that are left, all with one sign. */
static PtcPeriod days_to_period(int64_t from, int64_t to)
{
    PtcCivil a = ptc_calendar_civil(from), b = ptc_calendar_civil(to);
    int64_t months = (b.year - a.year) * 12 + b.month - a.month, days = b.day - a.day, start;
    if (months > 0 && days < 0) {
        months--;
        if (ptc_calendar_shift_days(from, PTC_U_MONTHS, months, &start))
            days = to - start;
    } else if (months < 0 && days > 0) {
        months++;
        days -= ptc_calendar_month_length(b.year, b.month);
    }
    return (PtcPeriod){months / 12, months % 12, days};
}

bool ptc_period_between(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    return ptc_arg_kind(vm, argv, 0, PTC_K_DATE, "a date") &&
           ptc_arg_kind(vm, argv, 1, PTC_K_DATE, "a date") &&
           give_period(vm, days_to_period(ptc_date_days(argv[0]), ptc_date_days(argv[1])), out);
}

PTC_BUILTIN_EXPR(
    period_between, "Period", "between", 2, 2, 0, "(Period/between start end)",
    "The years, months and days from one date to another; negative when that is before it.",
    "(Period/between (LocalDate/of 2020 1 15) (LocalDate/of 2024 3 10)) => P4Y1M24D\n"
    "(.getYears (Period/between (LocalDate/of 1990 6 20) (LocalDate/of 2024 6 15))) => 33\n"
    "(Period/between \"2020-01-15\" (LocalDate/of 2024 3 10)) !! type_error",
    ptc_period_between(vm, argv, out))

/* -------------------------------------------------------------------------- moving */

bool ptc_period_add(PtcVM *vm, PtcValue v, PtcValue period, bool back, PtcValue *out)
{
    PtcPeriod p = multiply_period(ptc_period_of(period), back ? -1 : 1);
    int64_t days;
    PtcTime t;
    if (ptc_is_record(v, PTC_R_PERIOD)) {
        PtcPeriod q = ptc_period_of(v);
        return give_period(vm, (PtcPeriod){q.years + p.years, q.months + p.months, q.days + p.days},
                           out);
    }
    if (ptc_is_record(v, PTC_R_DATE) &&
        ptc_calendar_shift_days(ptc_date_days(v), PTC_U_MONTHS, total_months(p), &days) &&
        ptc_calendar_shift_days(days, PTC_U_DAYS, p.days, &days))
        return ptc_give_date(vm, days, out);
    if (!ptc_is_record(v, PTC_R_DATE) &&
        ptc_calendar_shift(ptc_local_of(v), PTC_U_MONTHS, total_months(p), &t) &&
        ptc_calendar_shift(t, PTC_U_DAYS, p.days, &t))
        return ptc_give_like(vm, v, t, out);
    return ptc_fail_year_range(vm);
}

bool ptc_period_scale(PtcVM *vm, PtcValue v, int64_t by, PtcValue *out)
{
    if (by != (int32_t)by)
        by = (int64_t)INT32_MAX + 1; /* too long, unless nothing is there */
    return give_period(vm, multiply_period(ptc_period_of(v), by), out);
}

/* -------------------------------------------------------------------------- making */

PTC_BUILTIN(period_of, "Period", "of", 3, 3, 0, "(Period/of years months days)",
            "The period of this many years, months and days.",
            "(Period/of 1 2 3) => P1Y2M3D\n(Period/of 0 0 0) => P0D\n(Period/of 1 2 nil) !! "
            "type_error")
{
    PtcPeriod p;
    return ptc_arg_int(vm, argv, 0, &p.years) && ptc_arg_int(vm, argv, 1, &p.months) &&
           ptc_arg_int(vm, argv, 2, &p.days) && give_period(vm, p, out);
}

/* field: how many of it n are. */
#define PERIOD_OF(id, name, field, scale, examples)                 \
    PTC_BUILTIN(id, "Period", name, 1, 1, 0, "(Period/" name " n)", \
                "The period of n of these units.", examples)        \
    {                                                               \
        int64_t n;                                                  \
        PtcPeriod p = {0, 0, 0};                                    \
        if (!ptc_arg_int(vm, argv, 0, &n))                          \
            return false;                                           \
        p.field = n == (int32_t)n ? n * (scale) : INT64_MAX;        \
        return give_period(vm, p, out);                             \
    }

PERIOD_OF(period_years, "ofYears", years, 1,
          "(Period/ofYears 2) => P2Y\n(Period/ofYears 1.5) !! type_error")
PERIOD_OF(period_months, "ofMonths", months, 1,
          "(Period/ofMonths 14) => P14M\n(Period/ofMonths nil) !! type_error")
PERIOD_OF(period_weeks, "ofWeeks", days, 7,
          "(Period/ofWeeks 2) => P14D\n(Period/ofWeeks :a) !! type_error")
PERIOD_OF(period_days, "ofDays", days, 1,
          "(Period/ofDays 45) => P45D\n(Period/ofDays 9999999999) !! arithmetic_error")

/* [+-]digits before a letter; *at moves behind it. */
static bool read_amount(const char *s, size_t len, size_t *at, int64_t *n)
{
    size_t i = *at;
    bool minus = i < len && s[i] == '-';
    i += i < len && (s[i] == '-' || s[i] == '+');
    size_t digits = i;
    for (*n = 0; i < len && ptc_ascii_is_digit(s[i]) && *n <= INT32_MAX; i++)
        *n = *n * 10 + (s[i] - '0');
    *n = minus ? -*n : *n;
    *at = i;
    return i > digits && i < len;
}

/* P1Y2M3W4D: each at most once and in this order, at least one. */
static bool read_period_text(const char *s, size_t len, PtcPeriod *p)
{
    static const char letters[] = "YMWD";
    size_t at = len > 0 && (s[0] == '-' || s[0] == '+'), next = 0;
    int64_t n, sign = len > 0 && s[0] == '-' ? -1 : 1;
    *p = (PtcPeriod){0, 0, 0};
    if (at >= len || (s[at] | 32) != 'p' || at + 1 == len)
        return false;
    for (at++; at < len; at++) {
        if (!read_amount(s, len, &at, &n))
            return false;
        const char *letter = strchr(letters + next, s[at] & ~32);
        if (!letter || !*letter)
            return false;
        next = (size_t)(letter - letters) + 1;
        int64_t *field = *letter == 'Y' ? &p->years : *letter == 'M' ? &p->months : &p->days;
        *field += sign * n * (*letter == 'W' ? 7 : 1);
    }
    return true;
}

PTC_BUILTIN(period_parse, "Period", "parse", 1, 1, 0, "(Period/parse text)",
            "The period that a text such as P1Y2M3D spells.",
            "(.getDays (Period/parse \"P1Y2M3D\")) => 3\n(Period/parse \"P2W\") => P14D\n"
            "(Period/parse \"1 year\") !! value_error\n(Period/parse 5) !! type_error")
{
    const char *text;
    size_t len;
    PtcPeriod p;
    if (!ptc_arg_string(vm, argv, 0, &text, &len))
        return false;
    if (read_period_text(text, len, &p))
        return give_period(vm, p, out);
    ptc_fail(vm, PTC_E_VALUE | PTC_AS(DATE_TIME_PARSE), "Period/parse: cannot read \"%.*s\"",
             PTC_ARG(ptc_text_cut((PtcText){text, len}, 40)));
    return ptc_fail_hint(vm, "expected text like P1Y2M3D");
}

/* -------------------------------------------------------------------------- reading */

static bool arg_period(PtcVM *vm, const PtcValue *argv)
{
    return ptc_arg_kind(vm, argv, 0, PTC_K_PERIOD, "a period");
}

#define PERIOD_PART(id, name, value, doc, examples)                            \
    PTC_BUILTIN(id, "java", name, 1, 1, 0, "(" name " period)", doc, examples) \
    {                                                                          \
        if (!arg_period(vm, argv))                                             \
            return false;                                                      \
        PtcPeriod p = ptc_period_of(argv[0]);                                  \
        return ptc_give(out, ptc_int(value));                                  \
    }

PERIOD_PART(get_years, ".getYears", p.years, "The years of a period.",
            "(.getYears (Period/of 1 2 3)) => 1\n(.getYears (LocalDate/of 2024 5 1)) !! type_error")
PERIOD_PART(get_months, ".getMonths", p.months, "The months of a period, beside its years.",
            "(.getMonths (Period/of 1 2 3)) => 2\n(.getMonths 5) !! type_error")
PERIOD_PART(get_days, ".getDays", p.days, "The days of a period, beside its years and months.",
            "(.getDays (Period/of 1 2 3)) => 3\n(.getDays (Duration/ofDays 3)) !! type_error")
PERIOD_PART(to_total_months, ".toTotalMonths", total_months(p),
            "The years and months of a period as months.",
            "(.toTotalMonths (Period/of 1 2 3)) => 14\n(.toTotalMonths nil) !! type_error")

PTC_BUILTIN(period_normalized, "java", ".normalized", 1, 1, 0, "(.normalized period)",
            "The period with twelve months turned into a year.",
            "(.normalized (Period/ofMonths 14)) => P1Y2M\n(.normalized 14) !! type_error")
{
    if (!arg_period(vm, argv))
        return false;
    PtcPeriod p = ptc_period_of(argv[0]);
    int64_t months = total_months(p);
    return give_period(vm, (PtcPeriod){months / 12, months % 12, p.days}, out);
}

PTC_BUILTIN_TABLE(ptc_lib_time_period, period_between, period_of, period_years, period_months,
                  period_weeks, period_days, period_parse, get_years, get_months, get_days,
                  to_total_months, period_normalized);
