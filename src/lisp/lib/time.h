/* SPDX-License-Identifier: MIT
 * time.h - dates, date-times, instants, durations and periods as values: their records, constants and texts.
 * The calendar behind them is value/calendar.h. */
#ifndef PTC_LISP_LIB_TIME_H
#define PTC_LISP_LIB_TIME_H

#include "json/write.h"
#include "lisp/record.h"
#include "value/calendar.h"

enum { PTC_PATTERN_BYTES = 1000 }; /* of the pattern of a formatter */

#define PTC_DURATION_MAX ((int64_t)9000000000000000) /* seconds, so that milliseconds fit 64 bits */

/* Constants: the group of a PTC_R_ENUM; units are known by their ordinal, PTC_U_DAYS ... */
typedef enum {
    PTC_G_DAY,
    PTC_G_MONTH,
    PTC_G_UNIT,
    PTC_G_ZONE,
    PTC_G_ROUNDING,
    PTC_G_COUNT
} PtcGroup;

/* --- records (time.c) --- */
PTC_MUST_USE PtcValue ptc_enum_new(PtcHeap *heap, PtcGroup group, int ordinal);
bool ptc_is_enum(PtcValue v, PtcGroup group);
/* The constant called name, such as ChronoUnit/DAYS; PTC_NONE: there is none, or out of memory. */
PtcValue ptc_interop_constant(PtcHeap *heap, const char *name, size_t len);

/* The instant of #inst "2024-01-31T10:20:30Z", where all after the year may be missing; PTC_NIL: the text is none. */
PTC_MUST_USE PtcValue ptc_time_inst(PtcHeap *heap, const char *text, size_t len);
/* xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx (parse_scalar.c) */
bool ptc_is_uuid(const char *text, size_t len);

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
bool ptc_pattern_parse(PtcValue pattern, const char *text, size_t len, PtcMoment *out,
                       char why[PTC_WHY]);

#endif
