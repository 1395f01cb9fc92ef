/* SPDX-License-Identifier: MIT
 * time.h - dates, date-times, instants, durations and periods: calendar arithmetic, records, text.
 *
 * The calendar is the proleptic Gregorian one, with years -999999 to 999999; everything is UTC.  Seconds
 * are counted as POSIX does: no leap seconds.  A PtcTime is seconds plus 0 .. 999999999 nanoseconds, so
 * half a second before zero is {-1, 500000000}. */
#ifndef PTC_LISP_LIB_TIME_H
#define PTC_LISP_LIB_TIME_H

#include "json/write.h"
#include "lisp/record.h"

enum {
    PTC_YEAR_MAX = 999999,
    PTC_DAY_SECONDS = 86400,
    PTC_NANOS = 1000000000,
    PTC_WHY = 96 /* room for why a text is no date */
};

#define PTC_DURATION_MAX ((int64_t)9000000000000000) /* seconds, so that milliseconds fit 64 bits */

typedef struct PtcCivil {
    int64_t year;
    int month, day; /* from 1 */
} PtcCivil;

typedef struct PtcTime {
    int64_t seconds, nanos;
} PtcTime;

/* Constants: the group of a PTC_R_ENUM, and units by their ordinal, as in Java. */
typedef enum { PTC_G_DAY, PTC_G_MONTH, PTC_G_UNIT, PTC_G_ZONE, PTC_G_COUNT } PtcGroup;
enum {
    PTC_U_NANOS,
    PTC_U_MICROS,
    PTC_U_MILLIS,
    PTC_U_SECONDS,
    PTC_U_MINUTES,
    PTC_U_HOURS,
    PTC_U_HALF_DAYS,
    PTC_U_DAYS,
    PTC_U_WEEKS,
    PTC_U_MONTHS,
    PTC_U_YEARS,
    PTC_U_DECADES,
    PTC_U_CENTURIES
};

/* --- the calendar (time.c) --- */
int64_t ptc_days_from_civil(int64_t year, int month, int day); /* since 1970-01-01 */
PtcCivil ptc_civil_from_days(int64_t days);
bool ptc_is_leap_year(int64_t year);
int ptc_month_length(int64_t year, int month);
int ptc_day_of_week(int64_t days); /* 1 is Monday, 7 Sunday */
int ptc_day_of_year(int64_t days);
bool ptc_days_valid(int64_t days);
int64_t ptc_floor_div(int64_t a, int64_t b); /* b > 0 */

/* n units later; false when that is out of range or the unit is too small for a date. */
bool ptc_shift_days(int64_t days, int unit, int64_t n, int64_t *out);
bool ptc_shift_time(PtcTime t, int unit, int64_t n, PtcTime *out);
/* Whole units from a to b, toward zero; false when they do not fit 64 bits. */
bool ptc_days_between(int64_t a, int64_t b, int unit, int64_t *out);
bool ptc_time_between(PtcTime a, PtcTime b, int unit, int64_t *out);
/* Length of a unit up to weeks. */
int64_t ptc_unit_nanos(int unit);
PtcTime ptc_time_from_nanos(__int128 nanos);
static inline __int128 ptc_time_nanos(PtcTime t)
{
    return (__int128)t.seconds * PTC_NANOS + t.nanos;
}

/* --- records (time.c) --- */
PTC_MUST_USE PtcValue ptc_enum_new(PtcHeap *heap, PtcGroup group, int ordinal);
bool ptc_is_enum(PtcValue v, PtcGroup group);
/* The constant called name, such as ChronoUnit/DAYS; PTC_NONE: there is none, or the heap is full. */
PtcValue ptc_interop_constant(PtcHeap *heap, const char *name, size_t len);

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
/* Days of a date or date-time. */
static inline int64_t ptc_days_of(PtcValue v)
{
    return ptc_is_record(v, PTC_R_DATE) ? ptc_date_days(v)
                                        : ptc_floor_div(ptc_date_days(v), PTC_DAY_SECONDS);
}

/* Results, or a value_error when they are out of range.  kind: DATETIME, INSTANT or DURATION. */
bool ptc_give_date(PtcVM *vm, int64_t days, PtcValue *out);
bool ptc_give_time(PtcVM *vm, unsigned kind, PtcTime t, PtcValue *out);

/* Is argument i a record of one of these kinds (bits 1 << PTC_R_...)?  Else a type_error. */
bool ptc_arg_kind(PtcVM *vm, const PtcValue *argv, int i, unsigned kinds, const char *expected);
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
    PTC_K_FORMATTER = 1 << PTC_R_FORMATTER
};
bool ptc_arg_enum(PtcVM *vm, const PtcValue *argv, int i, PtcGroup group, const char *expected);

/* --- periods (time_period.c) --- */
typedef struct PtcPeriod {
    int64_t years, months, days;
} PtcPeriod;

PtcPeriod ptc_period_of(PtcValue v);
bool ptc_give_period(PtcVM *vm, PtcPeriod p, PtcValue *out);
/* From date argv[0] to date argv[1]. */
bool ptc_period_between(PtcVM *vm, const PtcValue *argv, PtcValue *out);
/* A date, date-time or period and a period. */
bool ptc_period_add(PtcVM *vm, PtcValue v, PtcValue period, bool back, PtcValue *out);
bool ptc_period_scale(PtcVM *vm, PtcValue v, int64_t by, PtcValue *out);
/* P1Y2M3D; gives the length.  48 bytes are enough. */
size_t ptc_period_text(PtcValue v, char *out, size_t size);

/* --- text (time_text.c, time_pattern.c) --- */

/* What a text said. */
typedef struct PtcParsed {
    int64_t year, month, day, hour, minute, second, nano;
    int64_t offset; /* seconds east */
    bool has_date, has_time, has_offset;
} PtcParsed;

static inline int64_t ptc_parsed_days(const PtcParsed *p)
{
    return ptc_days_from_civil(p->year, (int)p->month, (int)p->day);
}
/* Seconds and nanoseconds of date and time, minus the offset. */
PtcTime ptc_parsed_time(const PtcParsed *p);
/* Are the fields in range?  Else why says which is not. */
bool ptc_parsed_check(const PtcParsed *p, char why[PTC_WHY]);

/* 2024-05-01, 2024-05-01T10:20:30.5, with Z or +02:00; `loose` takes +0200 too.  False with why. */
bool ptc_iso_parse(const char *text, size_t len, bool loose, PtcParsed *out, char why[PTC_WHY]);
/* Thu, 8 Jan 2026 14:30:00 +0000, where the day's name and the offset may be missing. */
bool ptc_mail_parse(const char *text, size_t len, PtcParsed *out);

/* Appends the text of a record of time.h as str gives it; false when v is none, or buf is full. */
bool ptc_time_text(PtcBuf *buf, PtcValue v);
/* The same in the way of pr-str: points in time are quoted. */
bool ptc_time_print(PtcBuf *buf, PtcValue v, bool readable);
/* For PtcJsonWriter.other. */
bool ptc_time_json(const PtcJsonWriter *writer, PtcBuf *buf, PtcValue v, const char **what);

/* Patterns as DateTimeFormatter/ofPattern takes them; false with why. */
bool ptc_pattern_check(const char *pattern, size_t len, char why[PTC_WHY]);
/* Appends a date, date-time or instant (as UTC).  False with why[0] set, or when buf is full. */
bool ptc_pattern_format(PtcValue pattern, PtcBuf *buf, PtcValue v, char why[PTC_WHY]);
bool ptc_pattern_parse(PtcValue pattern, const char *text, size_t len, PtcParsed *out,
                       char why[PTC_WHY]);
/* English name of a month (1..12) or weekday (1..7) */
const char *ptc_month_name(int month);
const char *ptc_weekday_name(int day);

#endif
