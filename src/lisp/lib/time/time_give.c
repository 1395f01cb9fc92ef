/* SPDX-License-Identifier: MIT
 * Arguments and results of functions of time. */
#include "lisp/lib/time/time_give.h"

PtcTime ptc_run_time(const PtcVM *vm)
{
    return ptc_time_from_nanos((__int128)vm->now_ms * PTC_MS);
}

bool ptc_fail_year_range(PtcVM *vm)
{
    return ptc_fail_here(vm, PTC_E_VALUE | PTC_AS(DATE_TIME),
                         "the result is beyond the years -%d to %d", PTC_YEAR_MAX, PTC_YEAR_MAX);
}

bool ptc_fail_time_text(PtcVM *vm, PtcValue text, const char *why, const char *expected)
{
    enum { SHOWN = 40 };
    PtcText shown = ptc_text_cut(ptc_str_view(text), SHOWN);
    return ptc_fail_full(vm, PTC_E_VALUE | PTC_AS(DATE_TIME_PARSE),
                         "cannot read \"%.*s%s\"%s%s; expected %s", PTC_ARG(shown),
                         shown.len < ptc_str_len(text) ? "..." : "", why[0] ? ", " : "", why,
                         expected);
}

bool ptc_read_formatted(PtcVM *vm, const PtcValue *argv, int i, PtcText text, PtcMoment *m,
                        PtcWhy *why)
{
    *why = (PtcWhy){0};
    if (!ptc_arg_kind(vm, argv, i, PTC_K_FORMATTER, "a formatter, as ofPattern gives it"))
        return false;
    PtcValue pattern = ptc_record_field(argv[i], 0);
    return ptc_tick(&vm->budget, 1 + ptc_str_len(pattern) / 16) &&
           ptc_pattern_parse(pattern, text.bytes, text.len, m, why);
}

bool ptc_give_date(PtcVM *vm, int64_t days, PtcValue *out)
{
    if (!ptc_calendar_has(days))
        return ptc_fail_year_range(vm);
    PtcValue field = ptc_int(days);
    return ptc_give(out, ptc_record_new(vm, PTC_R_DATE, &field, 1));
}

bool ptc_give_time(PtcVM *vm, unsigned kind, PtcTime t, PtcValue *out)
{
    if (kind == PTC_R_DURATION && (t.seconds > PTC_DURATION_MAX || t.seconds < -PTC_DURATION_MAX))
        return ptc_fail_here(vm, PTC_E_ARITH, "the duration is too long");
    if (kind != PTC_R_DURATION && !ptc_calendar_has(ptc_floor_div(t.seconds, PTC_DAY_SECONDS)))
        return ptc_fail_year_range(vm);
    PtcValue fields[2] = {ptc_int(t.seconds), ptc_int(t.nanos)};
    return ptc_give(out, ptc_record_new(vm, kind, fields, 2));
}

bool ptc_arg_kind(PtcVM *vm, const PtcValue *argv, int i, unsigned kinds, const char *expected)
{
    return (ptc_kind_bit(argv[i]) & kinds) != 0 || ptc_fail_type(vm, argv, i, expected);
}

/* A month or a year. */
static bool give_span(PtcVM *vm, unsigned kind, int64_t days, PtcValue *out)
{
    PtcCivil c = ptc_calendar_civil(days);
    PtcValue field = ptc_int(kind == PTC_R_YEAR ? c.year : c.year * 12 + c.month - 1);
    return ptc_give(out, ptc_record_new(vm, kind, &field, 1));
}

bool ptc_give_like(PtcVM *vm, PtcValue like, PtcTime local, PtcValue *out)
{
    unsigned kind = ptc_obj(like)->aux;
    int64_t days = ptc_floor_div(local.seconds, PTC_DAY_SECONDS), offset;
    if (kind == PTC_R_DURATION)
        return ptc_give_time(vm, kind, local, out);
    if (kind == PTC_R_CLOCK) {
        local.seconds -= days * PTC_DAY_SECONDS;
        return ptc_give_time(vm, kind, local, out);
    }
    if (!ptc_calendar_has(days))
        return ptc_fail_year_range(vm);
    switch (kind) {
    case PTC_R_DATE: return ptc_give_date(vm, days, out);
    case PTC_R_YEARMONTH:
    case PTC_R_YEAR: return give_span(vm, kind, days, out);
    case PTC_R_ZONED:
        offset = ptc_to_int(ptc_record_field(like, 1));
        local.seconds -= offset;
        return ptc_give_zoned(vm, local, offset, (PtcZoneForm)ptc_to_int(ptc_record_field(like, 2)),
                              out);
    default: return ptc_give_time(vm, kind, local, out);
    }
}

bool ptc_arg_enum(PtcVM *vm, const PtcValue *argv, int i, PtcGroup group, const char *expected)
{
    return ptc_is_enum(argv[i], group) || ptc_fail_type(vm, argv, i, expected);
}
