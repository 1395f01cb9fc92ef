/* SPDX-License-Identifier: MIT
 * calendar.h - days, points in time and their ISO 8601 text, for builtins, tools, traces and logs alike.
 *
 * The calendar is the proleptic Gregorian one, with years -999999 to 999999; everything is UTC.  Days count from
 * 1970-01-01, seconds as POSIX does: no leap seconds.  A PtcTime is seconds plus 0 .. 999999999 nanoseconds, so half
 * a second before zero is {-1, 500000000}.  No function here allocates or reads a clock. */
#ifndef PTC_VALUE_CALENDAR_H
#define PTC_VALUE_CALENDAR_H

#include "base/buf.h"
#include "base/units.h"
#include "base/why.h"

enum {
    PTC_YEAR_MAX = 999999,
    PTC_DAY_SECONDS = 86400,
    PTC_NANOS = PTC_S,
    PTC_CALENDAR_TEXT = 64 /* room for the text of any point in time */
};

typedef struct PtcCivil {
    int64_t year;
    int month, day; /* from 1 */
} PtcCivil;

typedef struct PtcTime {
    int64_t seconds, nanos;
} PtcTime;

/* Units, as Java numbers them. */
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

/* --- days (calendar.c) --- */
int64_t ptc_calendar_days(int64_t year, int month, int day);
PtcCivil ptc_calendar_civil(int64_t days);
bool ptc_calendar_is_leap(int64_t year);
int ptc_calendar_month_length(int64_t year, int month);
int ptc_calendar_weekday(int64_t days); /* 1 is Monday, 7 Sunday */
int ptc_calendar_day_of_year(int64_t days);
bool ptc_calendar_has(int64_t days); /* is its year within the range? */
/* English names of months (1..12) and weekdays (1..7). */
const char *ptc_calendar_month_name(int month);
const char *ptc_calendar_weekday_name(int day);

/* a / b rounded down; b > 0. */
static inline int64_t ptc_floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* --- arithmetic (calendar.c) --- */

/* n units later; false if that is out of range or the unit is too small for a date. */
bool ptc_calendar_shift_days(int64_t days, int unit, int64_t n, int64_t *out);
bool ptc_calendar_shift(PtcTime t, int unit, int64_t n, PtcTime *out);
/* Whole units from a to b, rounded toward zero; false if they do not fit 64 bits. */
bool ptc_calendar_days_between(int64_t a, int64_t b, int unit, int64_t *out);
bool ptc_calendar_between(PtcTime a, PtcTime b, int unit, int64_t *out);
/* Length of a unit up to weeks. */
int64_t ptc_unit_nanos(int unit);
PtcTime ptc_time_from_nanos(__int128 nanos);
static inline __int128 ptc_time_nanos(PtcTime t)
{
    return (__int128)t.seconds * PTC_NANOS + t.nanos;
}

/* --- text (calendar_text.c) --- */

/* What a text said, or the parts of a point in time. */
typedef struct PtcMoment {
    int64_t year, month, day, hour, minute, second, nano;
    int64_t offset; /* seconds east */
    bool has_date, has_time, has_offset;
} PtcMoment;

static inline int64_t ptc_moment_days(const PtcMoment *m)
{
    return ptc_calendar_days(m->year, (int)m->month, (int)m->day);
}
/* Seconds and nanoseconds of date and time, minus the offset. */
PtcTime ptc_moment_time(const PtcMoment *m);
/* The reverse, without an offset. */
PtcMoment ptc_moment_of(PtcTime t);
/* Are the fields in range?  If not, why says which one is not. */
bool ptc_moment_check(const PtcMoment *m, PtcWhy *why);

/* How strictly ISO 8601 is read. */
typedef enum {
    PTC_ISO_JAVA,  /* 2024-05-01, 2024-05-01T10:20:30.5, with Z or +02:00 */
    PTC_ISO_LOOSE, /* also accepts +0200 */
    PTC_ISO_BOUNDARY /* what tools and clients write: a blank for the T, a comma for the point, any number of digits
                      * after it, offsets up to +23:59; but whole seconds, and no -00:00, which says that nobody
                      * knows */
} PtcIso;

/* Says so before it is known what is wrong. */
static inline void ptc_iso_malformed(PtcWhy *why)
{
    if (why) {
        ptc_why_init(why);
        why->class = PTC_WHY_INVALID;
    }
}
/* Reads the whole text.  False: it is malformed (invalid, without a text), or something is out of range (refused). */
bool ptc_iso_parse(PtcIso iso, const char *text, size_t len, PtcMoment *out, PtcWhy *why);
/* A point in time as milliseconds since 1970: ISO 8601, in UTC if it has no offset and at midnight if it has no time,
 * or the number itself.  False: it is neither, or out of range. */
bool ptc_iso_millis(const char *text, size_t len, int64_t *ms);
/* Is it within the range of the calendar? */
bool ptc_millis_fit(int64_t ms);
/* Thu, 8 Jan 2026 14:30:00 +0000, where the name of the day and the offset may be missing. */
bool ptc_mail_parse(const char *text, size_t len, PtcMoment *out);

/* Return the length of what is written; nothing is NUL-terminated. */
size_t ptc_iso_date(char out[PTC_CALENDAR_TEXT], int64_t days);
/* Date and time of day without an offset; `brief` omits seconds that are zero. */
size_t ptc_iso_time(char out[PTC_CALENDAR_TEXT], PtcTime t, bool brief);
/* 2026-01-08T14:30:00.123Z, for milliseconds since 1970: for records and logs, NUL-terminated. */
size_t ptc_iso_stamp(char out[PTC_CALENDAR_TEXT], int64_t ms);

#endif
