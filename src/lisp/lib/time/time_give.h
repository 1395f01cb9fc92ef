/* SPDX-License-Identifier: MIT
 * time_give.h - what the files with functions of time share; value/time/time.h has the values. */
#ifndef PTC_LISP_LIB_TIME_TIME_GIVE_H
#define PTC_LISP_LIB_TIME_TIME_GIVE_H

#include "lisp/vm/record.h"
#include "value/time/time.h"

/* Kinds that functions take: with a date, with a time of day, without a day, any but spans of time. */
enum {
    PTC_K_DATES = PTC_K_DATE | PTC_K_DATETIME | PTC_K_ZONED,
    PTC_K_TIMES = PTC_K_DATETIME | PTC_K_ZONED | PTC_K_CLOCK,
    PTC_K_MONTHS = PTC_K_YEARMONTH | PTC_K_YEAR,
    PTC_K_POINTS = PTC_K_DATES | PTC_K_TIMES | PTC_K_MONTHS | PTC_K_INSTANT
};

/* --- arguments and results (time_give.c) --- */

/* One time for the whole run: the same program with the same data gives the same answer. */
PtcTime ptc_run_time(const PtcVM *vm);
/* The value_error for a result that is out of range. */
bool ptc_fail_year_range(PtcVM *vm);
/* That for a text that cannot be read; why may be "". */
bool ptc_fail_time_text(PtcVM *vm, PtcValue text, const char *why, const char *expected);
/* Reads a text by the formatter in argument i.  False with an error, or with a `why` that says what does not fit. */
bool ptc_read_formatted(PtcVM *vm, const PtcValue *argv, int i, PtcText text, PtcMoment *m,
                        PtcWhy *why);

/* Results, or a value_error when they are out of range.  kind: DATETIME, INSTANT or DURATION. */
bool ptc_give_date(PtcVM *vm, int64_t days, PtcValue *out);
bool ptc_give_time(PtcVM *vm, unsigned kind, PtcTime t, PtcValue *out);

/* Is argument i a record of one of these kinds (bits 1 << PTC_R_...)?  Else a type_error. */
bool ptc_arg_kind(PtcVM *vm, const PtcValue *argv, int i, unsigned kinds, const char *expected);
bool ptc_arg_enum(PtcVM *vm, const PtcValue *argv, int i, PtcGroup group, const char *expected);
/* A value of the same kind at another place of that clock; a time of day goes round. */
bool ptc_give_like(PtcVM *vm, PtcValue like, PtcTime local, PtcValue *out);

/* --- offsets (time_zone.c) --- */
/* Argument i, a zone, as seconds east of UTC. */
bool ptc_arg_zone(PtcVM *vm, const PtcValue *argv, int i, int64_t *offset);
bool ptc_give_zoned(PtcVM *vm, PtcTime utc, int64_t offset, PtcZoneForm form, PtcValue *out);

/* --- fields (time_adjust.c) --- */
/* A field that this kind of time has. */
int64_t ptc_time_field(PtcValue v, PtcField field);
/* As constants. */
PtcValue ptc_month_of(PtcVM *vm, PtcValue v);
PtcValue ptc_weekday_of(PtcVM *vm, PtcValue v);
/* (.get time field) */
bool ptc_time_get(PtcVM *vm, const PtcValue *argv, PtcValue *out);

/* --- periods (time_period.c) --- */
/* From date argv[0] to date argv[1]. */
bool ptc_period_between(PtcVM *vm, const PtcValue *argv, PtcValue *out);
/* A date, date-time or period and a period. */
bool ptc_period_add(PtcVM *vm, PtcValue v, PtcValue period, bool back, PtcValue *out);
bool ptc_period_scale(PtcVM *vm, PtcValue v, int64_t by, PtcValue *out);

#endif
