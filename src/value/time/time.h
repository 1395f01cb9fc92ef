/* SPDX-License-Identifier: MIT
 * time.h - dates, date-times, instants, durations and periods as values: their records, constants and texts.
 * The calendar behind them is value/calendar.h. */
#ifndef PTC_VALUE_TIME_TIME_H
#define PTC_VALUE_TIME_TIME_H

#include "base/buf.h"
#include "base/why.h"
#include "value/calendar.h"
#include "value/number/number.h"
#include "value/record_kinds.h"

enum { PTC_PATTERN_BYTES = 1000 }; /* of the pattern of a formatter */
/* Of DateTimeFormatter/ISO_INSTANT, which is always in UTC. */
#define PTC_INSTANT_PATTERN "uuuu-MM-dd'T'HH:mm:ssFX"

#define PTC_DURATION_MAX ((int64_t)9000000000000000) /* seconds, so that milliseconds fit 64 bits */

/* Constants: the group of a PTC_R_ENUM; units are known by their ordinal, PTC_U_DAYS ... */
typedef enum {
    PTC_G_DAY,
    PTC_G_MONTH,
    PTC_G_UNIT,
    PTC_G_ZONE,
    PTC_G_ROUNDING,
    PTC_G_FIELD, /* ChronoField/HOUR_OF_DAY, IsoFields/QUARTER_OF_YEAR ...: PtcField */
    PTC_G_WEEKS, /* WeekFields/ISO */
    PTC_G_COUNT
} PtcGroup;

/* What a point in time with an offset is. */
typedef enum { PTC_ZONE_OFFSET, PTC_ZONE_FIXED, PTC_ZONE_UTC } PtcZoneForm;

/* Fields of times, the ordinals of PTC_G_FIELD. */
typedef enum {
    PTC_FIELD_NANO,
    PTC_FIELD_SECOND,
    PTC_FIELD_MINUTE,
    PTC_FIELD_HOUR,
    PTC_FIELD_MILLI,
    PTC_FIELD_SECOND_OF_DAY,
    PTC_FIELD_MINUTE_OF_DAY,
    PTC_FIELD_WEEKDAY,
    PTC_FIELD_DAY,
    PTC_FIELD_YEAR_DAY,
    PTC_FIELD_EPOCH_DAY,
    PTC_FIELD_MONTH,
    PTC_FIELD_YEAR,
    PTC_FIELD_OFFSET,
    PTC_FIELD_INSTANT,
    PTC_FIELD_WEEK,
    PTC_FIELD_WEEK_YEAR,
    PTC_FIELD_QUARTER,
    PTC_FIELD_QUARTER_DAY,
    PTC_FIELD_COUNT
} PtcField;

/* --- records (time.c) --- */
PTC_MUST_USE PtcValue ptc_enum_new(PtcHeap *heap, PtcGroup group, int ordinal);
bool ptc_is_enum(PtcValue v, PtcGroup group);
/* The constant called name, such as ChronoUnit/DAYS; PTC_NONE: there is none, or out of memory. */
PtcValue ptc_interop_constant(PtcHeap *heap, const char *name, size_t len);

/* The instant of #inst "2024-01-31T10:20:30Z", where all after the year may be missing; PTC_NIL: the text is none. */
PTC_MUST_USE PtcValue ptc_time_inst(PtcHeap *heap, const char *text, size_t len);

static inline int ptc_enum_ordinal(PtcValue v)
{
    return (int)ptc_to_int(ptc_record_field(v, 2));
}
static inline int64_t ptc_date_days(PtcValue v)
{
    return ptc_to_int(ptc_record_field(v, 0));
}
static inline PtcTime ptc_time_of(PtcValue v)
{
    return (PtcTime){ptc_to_int(ptc_record_field(v, 0)), ptc_to_int(ptc_record_field(v, 1))};
}
/* Where the clock of its place stands: seconds since 1970-01-01T00:00 there.  Dates, months and years begin at
 * midnight, a time of day is one of the first day. */
PtcTime ptc_local_of(PtcValue v);
static inline int64_t ptc_days_of(PtcValue v)
{
    return ptc_floor_div(ptc_local_of(v).seconds, PTC_DAY_SECONDS);
}
/* Seconds of the day. */
static inline int64_t ptc_second_of(PtcValue v)
{
    return ptc_local_of(v).seconds - ptc_days_of(v) * PTC_DAY_SECONDS;
}

static inline unsigned ptc_kind_bit(PtcValue v)
{
    return ptc_is(v, PTC_T_RECORD) ? 1u << ptc_obj(v)->aux : 0;
}
enum {
    PTC_K_DATE = 1 << PTC_R_DATE,
    PTC_K_DATETIME = 1 << PTC_R_DATETIME,
    PTC_K_INSTANT = 1 << PTC_R_INSTANT,
    PTC_K_DURATION = 1 << PTC_R_DURATION,
    PTC_K_PERIOD = 1 << PTC_R_PERIOD,
    PTC_K_ENUM = 1 << PTC_R_ENUM,
    PTC_K_FORMATTER = 1 << PTC_R_FORMATTER,
    PTC_K_CLOCK = 1 << PTC_R_CLOCK,
    PTC_K_ZONED = 1 << PTC_R_ZONED,
    PTC_K_ZONE = 1 << PTC_R_ZONE,
    PTC_K_YEARMONTH = 1 << PTC_R_YEARMONTH,
    PTC_K_YEAR = 1 << PTC_R_YEAR,
    PTC_K_ADJUSTER = 1 << PTC_R_ADJUSTER
};

/* --- offsets --- */
enum { PTC_OFFSET_MAX = 18 * 3600 };
/* Z or +02:00; gives the length. */
size_t ptc_offset_text(int64_t offset, char out[16]);
/* The week of a day and the year that the week belongs to, as ISO 8601 counts them. */
int ptc_week_of(int64_t days, int64_t *year);

/* --- periods --- */
typedef struct PtcPeriod {
    int64_t years, months, days;
} PtcPeriod;

PtcPeriod ptc_period_of(PtcValue v);

/* --- text (time_text.c, time_pattern.c) --- */

/* Appends the text of a record of time.h as str gives it; false when v is none, or buf is full. */
bool ptc_time_text(PtcBuf *buf, PtcValue v);
/* Is it a point in time, or one that is less exact: a day, a month, a time of day? */
bool ptc_is_time_point(PtcValue v);
/* The text in the way of pr-str: points in time are quoted. */
bool ptc_time_print(PtcBuf *buf, PtcValue v, bool readable);

/* Patterns as DateTimeFormatter/ofPattern takes them; false with why. */
bool ptc_pattern_check(const char *pattern, size_t len, PtcWhy *why);
/* Appends a date, date-time or instant (as UTC).  False with a text in why, or when buf is full. */
bool ptc_pattern_format(PtcValue pattern, PtcBuf *buf, PtcValue v, PtcWhy *why);
bool ptc_pattern_parse(PtcValue pattern, const char *text, size_t len, PtcMoment *out, PtcWhy *why);

#endif
