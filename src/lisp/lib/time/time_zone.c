/* SPDX-License-Identifier: MIT
 * Offsets from UTC, and points in time that have one: OffsetDateTime and ZonedDateTime.  Zones are fixed offsets and
 * UTC: the rules of places change from year to year, and a program must give the same answer on every machine. */
#include <stdio.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "lisp/lib/time/time_give.h"

/* ------------------------------------------------------------------------------- zones */

static bool give_zone(PtcVM *vm, int64_t offset, PtcValue *out)
{
    PtcValue field = ptc_int(offset);
    if (offset > PTC_OFFSET_MAX || offset < -PTC_OFFSET_MAX)
        return ptc_fail_full(vm, PTC_E_VALUE | PTC_AS(DATE_TIME), "an offset is at most 18 hours");
    return ptc_give(out, offset == 0 ? ptc_enum_new(vm->heap, PTC_G_ZONE, 0)
                                     : ptc_record_new(vm, PTC_R_ZONE, &field, 1));
}

bool ptc_arg_zone(PtcVM *vm, const PtcValue *argv, int i, int64_t *offset)
{
    *offset = 0;
    if (ptc_is_enum(argv[i], PTC_G_ZONE))
        return true;
    if (!ptc_arg_kind(vm, argv, i, PTC_K_ZONE, "ZoneOffset/UTC or another zone"))
        return false;
    *offset = ptc_date_days(argv[i]);
    return true;
}

/* Z, UTC, GMT, +2, +02, +0200, +02:00, also behind UTC or GMT. */
static bool read_offset(PtcText text, int64_t *offset)
{
    int64_t part[3] = {0}, sign;
    size_t i = 0, parts = 0;
    static const char names[][4] = {"UTC", "GMT", "UT", "Z"};
    *offset = 0;
    for (size_t k = 0; i == 0 && k < sizeof names / sizeof names[0]; k++)
        if (ptc_text_starts(text, names[k]))
            i = strlen(names[k]);
    if (i > 0 && i == text.len)
        return true;
    if (i >= text.len || (text.bytes[i] != '+' && text.bytes[i] != '-'))
        return false;
    sign = text.bytes[i++] == '-' ? -1 : 1;
    for (; i < text.len && parts < 3; parts++) {
        size_t digits = 0;
        for (; digits < 2 && i < text.len && ptc_ascii_is_digit(text.bytes[i]); digits++)
            part[parts] = part[parts] * 10 + (text.bytes[i++] - '0');
        if (digits != 2 && (parts > 0 || digits != 1 || i < text.len))
            return false;
        i += i < text.len && text.bytes[i] == ':';
    }
    *offset = sign * (part[0] * 3600 + part[1] * 60 + part[2]);
    return parts > 0 && i == text.len && part[1] < 60 && part[2] < 60;
}

static bool zone_of_text(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    int64_t offset;
    if (!ptc_is_string(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a string");
    PtcText text = {ptc_str_bytes(argv[0]), ptc_str_len(argv[0])};
    if (text.len < 20 && read_offset(text, &offset))
        return give_zone(vm, offset, out);
    ptc_fail_full(vm, PTC_E_VALUE | PTC_AS(DATE_TIME), "\"%.*s\" is not an offset",
                  PTC_ARG(ptc_text_cut(text, 40)));
    return ptc_fail_hint(vm,
                         "zones are UTC and fixed offsets such as +02:00; places are not known");
}

PTC_BUILTIN_EXPR(zone_of, "ZoneOffset", "of", 1, 1, 0, "(ZoneOffset/of text)",
                 "The offset from UTC that a text such as +02:00 spells.",
                 "(ZoneOffset/of \"+02:00\") => +02:00\n(ZoneOffset/of \"Z\") => Z\n"
                 "(ZoneOffset/of \"two\") !! value_error",
                 zone_of_text(vm, argv, out))

PTC_BUILTIN_EXPR(zone_id_of, "ZoneId", "of", 1, 1, 0, "(ZoneId/of text)",
                 "The zone of a text: UTC, or an offset such as +02:00.",
                 "(ZoneId/of \"UTC\") => Z\n(ZoneId/of \"UTC+1\") => +01:00\n"
                 "(ZoneId/of \"Europe/Paris\") !! value_error",
                 zone_of_text(vm, argv, out))

PTC_BUILTIN_EXPR(zone_id_default, "ZoneId", "systemDefault", 0, 0, 0, "(ZoneId/systemDefault)",
                 "UTC: a run does not know where it is.",
                 "(ZoneId/systemDefault) => Z\n(ZoneId/systemDefault 1) !! arity_error",
                 give_zone(vm, 0, out))

PTC_BUILTIN(zone_of_hours, "ZoneOffset", "ofHours", 1, 1, 0, "(ZoneOffset/ofHours n)",
            "The offset of n hours east of UTC.",
            "(ZoneOffset/ofHours -5) => -05:00\n(ZoneOffset/ofHours 19) !! value_error")
{
    int64_t n;
    return ptc_arg_int(vm, argv, 0, &n) &&
           give_zone(vm, n > 100 || n < -100 ? INT32_MAX : n * 3600, out);
}

PTC_BUILTIN(zone_of_hours_minutes, "ZoneOffset", "ofHoursMinutes", 2, 2, 0,
            "(ZoneOffset/ofHoursMinutes hours minutes)", "The offset of hours and minutes.",
            "(ZoneOffset/ofHoursMinutes 5 30) => +05:30\n"
            "(ZoneOffset/ofHoursMinutes 1 99) !! value_error")
{
    int64_t h, m;
    if (!ptc_arg_int(vm, argv, 0, &h) || !ptc_arg_int(vm, argv, 1, &m))
        return false;
    bool far = h > 18 || h < -18 || m > 59 || m < -59 || (h > 0 && m < 0) || (h < 0 && m > 0);
    return give_zone(vm, far ? INT32_MAX : h * 3600 + m * 60, out);
}

PTC_BUILTIN(
    zone_of_seconds, "ZoneOffset", "ofTotalSeconds", 1, 1, 0, "(ZoneOffset/ofTotalSeconds n)",
    "The offset of n seconds east of UTC.",
    "(ZoneOffset/ofTotalSeconds 3600) => +01:00\n(ZoneOffset/ofTotalSeconds :a) !! type_error")
{
    int64_t n;
    return ptc_arg_int(vm, argv, 0, &n) && give_zone(vm, n, out);
}

PTC_BUILTIN(get_total_seconds, "java", ".getTotalSeconds", 1, 1, 0, "(.getTotalSeconds offset)",
            "The seconds of an offset from UTC.",
            "(.getTotalSeconds (ZoneOffset/ofHours 1)) => 3600\n(.getTotalSeconds 1) !! type_error")
{
    int64_t n;
    return ptc_arg_zone(vm, argv, 0, &n) && ptc_give(out, ptc_int(n));
}

PTC_BUILTIN(get_id, "java", ".getId", 1, 1, 0, "(.getId zone)", "The text of a zone.",
            "(.getId ZoneOffset/UTC) => \"Z\"\n(.getId (ZoneOffset/ofHours 1)) => \"+01:00\"\n"
            "(.getId 1) !! type_error")
{
    int64_t n;
    char text[16];
    return ptc_arg_zone(vm, argv, 0, &n) &&
           ptc_give(out, ptc_str_new(vm->heap, text, ptc_offset_text(n, text)));
}

/* --------------------------------------------------------------------- points in time */

bool ptc_give_zoned(PtcVM *vm, PtcTime utc, int64_t offset, PtcZoneForm form, PtcValue *out)
{
    PtcValue checked,
        fields[4] = {ptc_int(utc.seconds), ptc_int(offset), ptc_int(form), ptc_int(utc.nanos)};
    PtcTime local = {utc.seconds + offset, utc.nanos};
    return ptc_give_time(vm, PTC_R_DATETIME, local, &checked) && /* is it within the calendar? */
           ptc_give(out, ptc_record_new(vm, PTC_R_ZONED, fields, 4));
}

/* What stands before [UTC], which Java adds to times in a zone with a name. */
static PtcText without_region(PtcText text, bool *utc)
{
    static const char *const names[] = {"[UTC]", "[Z]", "[GMT]"};
    *utc = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t n = strlen(names[i]);
        if (text.len > n && memcmp(text.bytes + text.len - n, names[i], n) == 0) {
            *utc = true;
            return (PtcText){text.bytes, text.len - n};
        }
    }
    return text;
}

static bool fail_zone_text(PtcVM *vm, PtcValue text, const char *why)
{
    ptc_fail_time_text(vm, text, why, "a time like 2024-05-31T10:20:30+02:00");
    return ptc_fail_hint(vm, "it needs Z or an offset; zones such as [Europe/Paris] are not known");
}

static bool parse_zoned(PtcVM *vm, int argc, const PtcValue *argv, PtcZoneForm form, PtcValue *out)
{
    PtcWhy why;
    PtcMoment m;
    bool utc = false;
    if (!ptc_is_string(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a string");
    PtcText text = {ptc_str_bytes(argv[0]), ptc_str_len(argv[0])};
    if (argc == 2) {
        if (!ptc_read_formatted(vm, argv, 1, text, &m, &why))
            return fail_zone_text(vm, argv[0], why.text);
    } else {
        if (form != PTC_ZONE_OFFSET)
            text = without_region(text, &utc);
        if (!ptc_iso_parse(PTC_ISO_JAVA, text.bytes, text.len, &m, &why))
            return fail_zone_text(vm, argv[0], why.text);
    }
    if (!m.has_date || !m.has_time || !m.has_offset)
        return fail_zone_text(vm, argv[0], "");
    return ptc_give_zoned(vm, ptc_moment_time(&m), m.offset, utc ? PTC_ZONE_UTC : form, out);
}

/* (of date-time zone), (of date time zone) or (of year month day hour minute second nano zone). */
static bool make_zoned(PtcVM *vm, int argc, const PtcValue *argv, PtcZoneForm form, PtcValue *out)
{
    int64_t offset, part[7];
    PtcTime t;
    PtcWhy why;
    if (!ptc_arg_zone(vm, argv, argc - 1, &offset))
        return false;
    if (argc == 2) {
        if (!ptc_arg_kind(vm, argv, 0, PTC_K_DATETIME, "a date-time"))
            return false;
        t = ptc_time_of(argv[0]);
    } else if (argc == 3) {
        if (!ptc_arg_kind(vm, argv, 0, PTC_K_DATE, "a date") ||
            !ptc_arg_kind(vm, argv, 1, PTC_K_CLOCK, "a time of day"))
            return false;
        t = ptc_time_of(argv[1]);
        t.seconds += ptc_local_of(argv[0]).seconds;
    } else {
        for (int i = 0; i < 7; i++)
            if (!ptc_arg_int(vm, argv, i, &part[i]))
                return false;
        PtcMoment m = {.year = part[0],
                       .month = part[1],
                       .day = part[2],
                       .hour = part[3],
                       .minute = part[4],
                       .second = part[5],
                       .nano = part[6],
                       .has_date = true};
        if (!ptc_moment_check(&m, &why))
            return ptc_fail_full(vm, PTC_E_VALUE | PTC_AS(DATE_TIME), "%s", why.text);
        t = ptc_moment_time(&m);
    }
    t.seconds -= offset;
    return ptc_give_zoned(vm, t, offset, form, out);
}

static bool check_zoned_arity(PtcVM *vm, int argc)
{
    return argc == 2 || argc == 3 || argc == 8 ||
           ptc_fail(vm, PTC_E_ARITY, "%s/of takes 2, 3 or 8 arguments, got %d",
                    ptc_builtin_row(vm->running)->ns, argc);
}

static bool zoned_of_instant(PtcVM *vm, const PtcValue *argv, PtcZoneForm form, PtcValue *out)
{
    int64_t offset;
    return ptc_arg_kind(vm, argv, 0, PTC_K_INSTANT, "an instant") &&
           ptc_arg_zone(vm, argv, 1, &offset) &&
           ptc_give_zoned(vm, ptc_time_of(argv[0]), offset, form, out);
}

static bool zoned_now(PtcVM *vm, int argc, const PtcValue *argv, PtcZoneForm form, PtcValue *out)
{
    int64_t offset = 0;
    PtcTime t = ptc_run_time(vm);
    return (argc == 0 || ptc_arg_zone(vm, argv, 0, &offset)) &&
           ptc_give_zoned(vm, t, offset, form, out);
}

#define POINT(id, class, name, min, max, usage, doc, examples, body)                           \
    PTC_BUILTIN(id, class, name, min, max, 0, "(" class "/" name " " usage ")", doc, examples) \
    {                                                                                          \
        return body;                                                                           \
    }

POINT(offset_parse, "OffsetDateTime", "parse", 1, 2, "s formatter?",
      "The point in time with an offset that a text spells.",
      "(OffsetDateTime/parse \"2024-05-31T10:20:30+02:00\") => \"2024-05-31T10:20:30+02:00\"\n"
      "(OffsetDateTime/parse \"2024-05-31T10:20Z\") => \"2024-05-31T10:20Z\"\n"
      "(OffsetDateTime/parse \"2024-05-31T10:20\") !! value_error",
      parse_zoned(vm, argc, argv, PTC_ZONE_OFFSET, out))
POINT(zoned_parse, "ZonedDateTime", "parse", 1, 2, "s formatter?",
      "The point in time in a zone, UTC or a fixed offset, that a text spells.",
      "(ZonedDateTime/parse \"2024-05-31T10:20:30Z[UTC]\") => \"2024-05-31T10:20:30Z[UTC]\"\n"
      "(ZonedDateTime/parse \"2024-05-31T10:20+02:00[Europe/Paris]\") !! value_error",
      parse_zoned(vm, argc, argv, PTC_ZONE_FIXED, out))
POINT(offset_of, "OffsetDateTime", "of", 2, 8, "date-time offset",
      "A date-time with an offset; also from a date, a time of day and an offset, or from seven "
      "numbers and an offset.",
      "(OffsetDateTime/of (LocalDateTime/of 2024 5 31 10 20) (ZoneOffset/ofHours 2)) => "
      "\"2024-05-31T10:20+02:00\"\n"
      "(OffsetDateTime/of 2024 5 31 10 20 30 0 ZoneOffset/UTC) => \"2024-05-31T10:20:30Z\"\n"
      "(OffsetDateTime/of 1 2) !! type_error",
      check_zoned_arity(vm, argc) && make_zoned(vm, argc, argv, PTC_ZONE_OFFSET, out))
POINT(zoned_of, "ZonedDateTime", "of", 2, 8, "date-time zone",
      "A date-time in a zone; also from a date, a time of day and a zone, or from seven numbers "
      "and a zone.",
      "(ZonedDateTime/of (LocalDateTime/of 2024 5 31 10 20) (ZoneId/of \"+02:00\")) => "
      "\"2024-05-31T10:20+02:00\"\n(ZonedDateTime/of 1 2) !! type_error",
      check_zoned_arity(vm, argc) && make_zoned(vm, argc, argv, PTC_ZONE_FIXED, out))
POINT(offset_of_instant, "OffsetDateTime", "ofInstant", 2, 2, "instant zone",
      "An instant as the clocks of an offset show it.",
      "(OffsetDateTime/ofInstant (Instant/ofEpochSecond 0) (ZoneOffset/ofHours 1)) => "
      "\"1970-01-01T01:00+01:00\"\n(OffsetDateTime/ofInstant 0 ZoneOffset/UTC) !! type_error",
      zoned_of_instant(vm, argv, PTC_ZONE_OFFSET, out))
POINT(zoned_of_instant_row, "ZonedDateTime", "ofInstant", 2, 2, "instant zone",
      "An instant as the clocks of a zone show it.",
      "(ZonedDateTime/ofInstant (Instant/ofEpochSecond 0) (ZoneId/of \"UTC\")) => "
      "\"1970-01-01T00:00Z\"\n(ZonedDateTime/ofInstant 0 ZoneOffset/UTC) !! type_error",
      zoned_of_instant(vm, argv, PTC_ZONE_FIXED, out))
POINT(offset_now, "OffsetDateTime", "now", 0, 1, "zone?", "The time of the run, with an offset.",
      "(> (.getYear (OffsetDateTime/now)) 2023) => true\n(OffsetDateTime/now 1) !! type_error",
      zoned_now(vm, argc, argv, PTC_ZONE_OFFSET, out))
POINT(zoned_now_row, "ZonedDateTime", "now", 0, 1, "zone?", "The time of the run, in a zone.",
      "(> (.getYear (ZonedDateTime/now ZoneOffset/UTC)) 2023) => true\n"
      "(ZonedDateTime/now 1) !! type_error",
      zoned_now(vm, argc, argv, PTC_ZONE_FIXED, out))

/* ------------------------------------------------------------------------------ methods */

/* A date-time or instant with an offset, or one with another offset. */
static bool at_zone(PtcVM *vm, const PtcValue *argv, PtcZoneForm form, PtcValue *out)
{
    int64_t offset;
    if (!ptc_arg_kind(vm, argv, 0, PTC_K_DATETIME | PTC_K_INSTANT, "a date-time or instant") ||
        !ptc_arg_zone(vm, argv, 1, &offset))
        return false;
    PtcTime t = ptc_time_of(argv[0]);
    if (ptc_is_record(argv[0], PTC_R_DATETIME))
        t.seconds -= offset;
    return ptc_give_zoned(vm, t, offset, form, out);
}

/* Same instant, or same local time. */
static bool with_zone(PtcVM *vm, const PtcValue *argv, bool same_instant, PtcValue *out)
{
    int64_t offset;
    if (!ptc_arg_kind(vm, argv, 0, PTC_K_ZONED, "a date-time with an offset") ||
        !ptc_arg_zone(vm, argv, 1, &offset))
        return false;
    PtcTime t = ptc_local_of(argv[0]);
    PtcZoneForm form = (PtcZoneForm)ptc_to_int(ptc_record_field(argv[0], 2));
    t.seconds -= same_instant ? ptc_to_int(ptc_record_field(argv[0], 1)) : offset;
    return ptc_give_zoned(vm, t, offset, form == PTC_ZONE_OFFSET ? form : PTC_ZONE_FIXED, out);
}

static bool in_form(PtcVM *vm, const PtcValue *argv, PtcZoneForm form, PtcValue *out)
{
    if (!ptc_arg_kind(vm, argv, 0, PTC_K_ZONED, "a date-time with an offset"))
        return false;
    int64_t offset = ptc_to_int(ptc_record_field(argv[0], 1));
    PtcTime t = {ptc_date_days(argv[0]), ptc_local_of(argv[0]).nanos};
    return ptc_give_zoned(vm, t, offset, form, out);
}

static bool local_part(PtcVM *vm, const PtcValue *argv, unsigned kind, PtcValue *out)
{
    if (!ptc_arg_kind(vm, argv, 0, PTC_K_ZONED | (kind == PTC_R_CLOCK ? PTC_K_DATETIME : 0),
                      "a date-time"))
        return false;
    PtcTime t = ptc_local_of(argv[0]);
    if (kind == PTC_R_CLOCK)
        t.seconds = ptc_second_of(argv[0]);
    return ptc_give_time(vm, kind, t, out);
}

#define METHOD(id, name, n, usage, doc, examples, body)                           \
    PTC_BUILTIN(id, "java", name, n, n, 0, "(" name " " usage ")", doc, examples) \
    {                                                                             \
        return body;                                                              \
    }

METHOD(at_offset, ".atOffset", 2, "time offset", "A date-time or instant with an offset.",
       "(.atOffset (LocalDateTime/of 2024 5 31 10 20) (ZoneOffset/ofHours 2)) => "
       "\"2024-05-31T10:20+02:00\"\n(.atOffset 5 ZoneOffset/UTC) !! type_error",
       at_zone(vm, argv, PTC_ZONE_OFFSET, out))
METHOD(at_zone_row, ".atZone", 2, "time zone", "A date-time or instant in a zone.",
       "(.atZone (Instant/ofEpochSecond 0) (ZoneOffset/ofHours 2)) => \"1970-01-01T02:00+02:00\"\n"
       "(.atZone 5 ZoneOffset/UTC) !! type_error",
       at_zone(vm, argv, PTC_ZONE_FIXED, out))
METHOD(
    with_offset_instant, ".withOffsetSameInstant", 2, "time offset",
    "The same point in time as the clocks of another offset show it.",
    "(.withOffsetSameInstant (OffsetDateTime/parse \"2024-05-31T10:20Z\") (ZoneOffset/ofHours 2)) "
    "=> \"2024-05-31T12:20+02:00\"\n(.withOffsetSameInstant 1 2) !! type_error",
    with_zone(vm, argv, true, out))
METHOD(with_offset_local, ".withOffsetSameLocal", 2, "time offset",
       "The same date and time of day with another offset.",
       "(.withOffsetSameLocal (OffsetDateTime/parse \"2024-05-31T10:20Z\") (ZoneOffset/ofHours 2)) "
       "=> \"2024-05-31T10:20+02:00\"\n(.withOffsetSameLocal 1 2) !! type_error",
       with_zone(vm, argv, false, out))
METHOD(with_zone_instant, ".withZoneSameInstant", 2, "time zone",
       "The same point in time as the clocks of another zone show it.",
       "(.withZoneSameInstant (ZonedDateTime/parse \"2024-05-31T10:20Z\") (ZoneId/of \"+02:00\")) "
       "=> \"2024-05-31T12:20+02:00\"\n(.withZoneSameInstant 1 2) !! type_error",
       with_zone(vm, argv, true, out))
METHOD(with_zone_local, ".withZoneSameLocal", 2, "time zone",
       "The same date and time of day in another zone.",
       "(.withZoneSameLocal (ZonedDateTime/parse \"2024-05-31T10:20Z\") (ZoneId/of \"+02:00\")) "
       "=> \"2024-05-31T10:20+02:00\"\n(.withZoneSameLocal 1 2) !! type_error",
       with_zone(vm, argv, false, out))
METHOD(to_offset, ".toOffsetDateTime", 1, "time", "The same as an OffsetDateTime.",
       "(.toOffsetDateTime (ZonedDateTime/parse \"2024-05-31T10:20Z[UTC]\")) => "
       "\"2024-05-31T10:20Z\"\n(.toOffsetDateTime 5) !! type_error",
       in_form(vm, argv, PTC_ZONE_OFFSET, out))
METHOD(to_zoned, ".toZonedDateTime", 1, "time", "The same as a ZonedDateTime.",
       "(.toZonedDateTime (OffsetDateTime/parse \"2024-05-31T10:20Z\")) => \"2024-05-31T10:20Z\"\n"
       "(.toZonedDateTime 5) !! type_error",
       in_form(vm, argv, PTC_ZONE_FIXED, out))
METHOD(to_local_datetime, ".toLocalDateTime", 1, "time",
       "The date and time of day without an offset.",
       "(.toLocalDateTime (OffsetDateTime/parse \"2024-05-31T10:20+02:00\")) => "
       "\"2024-05-31T10:20\"\n(.toLocalDateTime 5) !! type_error",
       local_part(vm, argv, PTC_R_DATETIME, out))
METHOD(to_local_time, ".toLocalTime", 1, "date-time", "The time of day of a date-time.",
       "(.toLocalTime (LocalDateTime/of 2024 5 31 10 20)) => \"10:20\"\n(.toLocalTime 5) !! "
       "type_error",
       local_part(vm, argv, PTC_R_CLOCK, out))

static bool give_own_zone(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    return ptc_arg_kind(vm, argv, 0, PTC_K_ZONED, "a date-time with an offset") &&
           give_zone(vm, ptc_to_int(ptc_record_field(argv[0], 1)), out);
}

METHOD(get_offset, ".getOffset", 1, "time", "The offset of a point in time.",
       "(.getOffset (OffsetDateTime/parse \"2024-05-31T10:20+02:00\")) => +02:00\n"
       "(.getOffset 5) !! type_error",
       give_own_zone(vm, argv, out))
METHOD(get_zone, ".getZone", 1, "time", "The zone of a point in time.",
       "(.getZone (ZonedDateTime/parse \"2024-05-31T10:20Z\")) => Z\n(.getZone 5) !! type_error",
       give_own_zone(vm, argv, out))

PTC_BUILTIN_TABLE(ptc_lib_time_zone, zone_of, zone_id_of, zone_id_default, zone_of_hours,
                  zone_of_hours_minutes, zone_of_seconds, get_total_seconds, get_id, offset_parse,
                  zoned_parse, offset_of, zoned_of, offset_of_instant, zoned_of_instant_row,
                  offset_now, zoned_now_row, at_offset, at_zone_row, with_offset_instant,
                  with_offset_local, with_zone_instant, with_zone_local, to_offset, to_zoned,
                  to_local_datetime, to_local_time, get_offset, get_zone);
