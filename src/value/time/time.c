/* SPDX-License-Identifier: MIT
 * Records of points in time, and constants; no text and no builtins. */
#include "value/time/time.h"

#include "value/str.h"

/* -------------------------------------------------------------------- the local clock */

static PtcTime at_midnight(int64_t days)
{
    return (PtcTime){days * PTC_DAY_SECONDS, 0};
}

PtcTime ptc_local_of(PtcValue v)
{
    int64_t first = ptc_date_days(v), year;
    switch (ptc_obj(v)->aux) {
    case PTC_R_DATE: return at_midnight(first);
    case PTC_R_ZONED:
        return (PtcTime){first + ptc_to_int(ptc_record_field(v, 1)),
                         ptc_to_int(ptc_record_field(v, 3))};
    case PTC_R_YEARMONTH:
        year = ptc_floor_div(first, 12);
        return at_midnight(ptc_calendar_days(year, (int)(first - year * 12) + 1, 1));
    case PTC_R_YEAR: return at_midnight(ptc_calendar_days(first, 1, 1));
    default: return ptc_time_of(v);
    }
}

PtcPeriod ptc_period_of(PtcValue v)
{
    return (PtcPeriod){ptc_to_int(ptc_record_field(v, 0)), ptc_to_int(ptc_record_field(v, 1)),
                       ptc_to_int(ptc_record_field(v, 2))};
}

int ptc_week_of(int64_t days, int64_t *year)
{
    int64_t thursday = days + 4 - ptc_calendar_weekday(days);
    *year = ptc_calendar_civil(thursday).year;
    return (ptc_calendar_day_of_year(thursday) - 1) / 7 + 1;
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
static const char *const roundings[] = {"UP",        "DOWN",      "CEILING",     "FLOOR", "HALF_UP",
                                        "HALF_DOWN", "HALF_EVEN", "UNNECESSARY", NULL};

/* In the order of PtcField; those from WEEK on are of IsoFields. */
static const char *const field_names[] = {"NANO_OF_SECOND",
                                          "SECOND_OF_MINUTE",
                                          "MINUTE_OF_HOUR",
                                          "HOUR_OF_DAY",
                                          "MILLI_OF_SECOND",
                                          "SECOND_OF_DAY",
                                          "MINUTE_OF_DAY",
                                          "DAY_OF_WEEK",
                                          "DAY_OF_MONTH",
                                          "DAY_OF_YEAR",
                                          "EPOCH_DAY",
                                          "MONTH_OF_YEAR",
                                          "YEAR",
                                          "OFFSET_SECONDS",
                                          "INSTANT_SECONDS",
                                          "WEEK_OF_WEEK_BASED_YEAR",
                                          "WEEK_BASED_YEAR",
                                          "QUARTER_OF_YEAR",
                                          "DAY_OF_QUARTER",
                                          NULL};
static const char *const weeks[] = {"ISO", NULL};

static const struct {
    const char *name, *package;
    const char *const *constants;
} groups[PTC_G_COUNT] = {
    [PTC_G_FIELD] = {"ChronoField", "java.time.temporal.", field_names},
    [PTC_G_WEEKS] = {"WeekFields", "java.time.temporal.", weeks},
    [PTC_G_DAY] = {"DayOfWeek", "java.time.", days},
    [PTC_G_MONTH] = {"Month", "java.time.", months},
    [PTC_G_UNIT] = {"ChronoUnit", "java.time.temporal.", units},
    [PTC_G_ZONE] = {"ZoneOffset", "java.time.", zones},
    [PTC_G_ROUNDING] = {"RoundingMode", "java.math.", roundings},
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
    return ptc_record_make(heap, PTC_R_ENUM, fields, 3);
}

static bool is_time_word(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && memcmp(text, word, len) == 0;
}

bool ptc_is_enum(PtcValue v, PtcGroup group)
{
    if (!ptc_is_record(v, PTC_R_ENUM))
        return false;
    PtcValue name = ptc_record_field(v, 0);
    return is_time_word(ptc_str_bytes(name), ptc_str_len(name), groups[group].name);
}

/* Formatters that have names; F is known to time_pattern.c only. */
static const struct {
    const char *name, *pattern;
} formatters[] = {
    {"ISO_LOCAL_DATE", "uuuu-MM-dd"},
    {"ISO_DATE", "uuuu-MM-ddOOO"},
    {"ISO_LOCAL_DATE_TIME", "uuuu-MM-dd'T'HH:mm:ssF"},
    {"ISO_DATE_TIME", "uuuu-MM-dd'T'HH:mm:ssFOOO"},
    {"ISO_INSTANT", PTC_INSTANT_PATTERN},
    {"ISO_LOCAL_TIME", "HH:mm:ssF"},
    {"ISO_TIME", "HH:mm:ssFOOO"},
    {"BASIC_ISO_DATE", "uuuuMMddOO"},
    {"ISO_OFFSET_DATE_TIME", "uuuu-MM-dd'T'HH:mm:ssFXXX"},
    {"ISO_ZONED_DATE_TIME", "uuuu-MM-dd'T'HH:mm:ssFXXX"},
    {"ISO_WEEK_DATE", "YYYY-'W'ww-eOOO"},
    {"ISO_ORDINAL_DATE", "uuuu-DDDOOO"},
    {"RFC_1123_DATE_TIME", "EEE, d MMM uuuu HH:mm:ss G"},
};

static PtcValue formatter_constant(PtcHeap *heap, const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof formatters / sizeof formatters[0]; i++) {
        if (!is_time_word(name, len, formatters[i].name))
            continue;
        const char *pattern = formatters[i].pattern;
        PtcValue field = ptc_str_new(heap, pattern, strlen(pattern));
        return field == PTC_NONE ? field : ptc_record_make(heap, PTC_R_FORMATTER, &field, 1);
    }
    return PTC_NONE;
}

/* Is the class, with or without its package, this one? */
static bool class_is(const char *text, size_t len, const char *package, const char *name)
{
    size_t n = strlen(package);
    return is_time_word(text, len, name) ||
           (len > n && memcmp(text, package, n) == 0 && is_time_word(text + n, len - n, name));
}

static PtcValue zero(PtcHeap *heap, unsigned kind)
{
    PtcValue fields[3] = {ptc_int(0), ptc_int(0), ptc_int(0)};
    return ptc_record_make(heap, kind, fields, kind == PTC_R_PERIOD ? 3 : 2);
}

static PtcValue clock_constant(PtcHeap *heap, const char *name, size_t len)
{
    bool max = is_time_word(name, len, "MAX"), noon = is_time_word(name, len, "NOON");
    if (!max && !noon && !is_time_word(name, len, "MIDNIGHT") && !is_time_word(name, len, "MIN"))
        return PTC_NONE;
    int64_t second = max ? PTC_DAY_SECONDS - 1 : noon ? PTC_DAY_SECONDS / 2 : 0;
    PtcValue parts[2] = {ptc_int(second), ptc_int(max ? PTC_NANOS - 1 : 0)};
    return ptc_record_make(heap, PTC_R_CLOCK, parts, 2);
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
            if (is_time_word(slash + 1, n, groups[g].constants[i]))
                return ptc_enum_new(heap, (PtcGroup)g, i);
        return PTC_NONE;
    }
    if (class_is(name, class_len, "java.time.temporal.", "IsoFields"))
        for (int i = PTC_FIELD_WEEK; field_names[i]; i++)
            if (is_time_word(slash + 1, n, field_names[i]))
                return ptc_enum_new(heap, PTC_G_FIELD, i);
    if (class_is(name, class_len, "java.time.", "LocalTime"))
        return clock_constant(heap, slash + 1, n);
    if (class_is(name, class_len, "java.time.", "Instant") && is_time_word(slash + 1, n, "EPOCH"))
        return zero(heap, PTC_R_INSTANT);
    if (class_is(name, class_len, "java.time.", "Duration") && is_time_word(slash + 1, n, "ZERO"))
        return zero(heap, PTC_R_DURATION);
    if (class_is(name, class_len, "java.time.", "Period") && is_time_word(slash + 1, n, "ZERO"))
        return zero(heap, PTC_R_PERIOD);
    if (class_is(name, class_len, "java.time.format.", "DateTimeFormatter"))
        return formatter_constant(heap, slash + 1, n);
    return PTC_NONE;
}

PtcValue ptc_time_inst(PtcHeap *heap, const char *text, size_t len)
{
    static const char rest[] = "0000-01-01";
    char full[sizeof rest];
    PtcMoment m;
    if (len == 4 || len == 7) {
        memcpy(full, rest, sizeof rest);
        memcpy(full, text, len);
        text = full;
        len = sizeof rest - 1;
    }
    if (!ptc_iso_parse(PTC_ISO_LOOSE, text, len, &m, NULL) || !m.has_date)
        return PTC_NIL;
    PtcTime t = ptc_moment_time(&m);
    PtcValue fields[2] = {ptc_int(t.seconds), ptc_int(t.nanos)};
    return ptc_record_make(heap, PTC_R_INSTANT, fields, 2);
}
