/* SPDX-License-Identifier: MIT
 * The calendar and its arithmetic.  What always holds: a day that is in range stays in range, or the function returns
 * false; nothing overflows, whatever it is given. */
#include "value/calendar.h"

/* ----------------------------------------------------------------------------- days */

/* Years begin in March here, so that the leap day comes last; eras have 400 years. */
int64_t ptc_calendar_days(int64_t year, int month, int day)
{
    int64_t y = year - (month <= 2);
    int64_t era = ptc_floor_div(y, 400), of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

PtcCivil ptc_calendar_civil(int64_t days)
{
    int64_t z = days + 719468, era = ptc_floor_div(z, 146097), d = z - era * 146097;
    int64_t y = (d - d / 1460 + d / 36524 - d / 146096) / 365;
    int64_t of_year = d - (365 * y + y / 4 - y / 100), m = (5 * of_year + 2) / 153;
    PtcCivil c = {y + era * 400, (int)(m < 10 ? m + 3 : m - 9),
                  (int)(of_year - (153 * m + 2) / 5 + 1)};
    c.year += c.month <= 2;
    return c;
}

bool ptc_calendar_is_leap(int64_t y)
{
    return y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
}

int ptc_calendar_month_length(int64_t year, int month)
{
    static const int8_t lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && ptc_calendar_is_leap(year) ? 29 : lengths[month - 1];
}

int ptc_calendar_weekday(int64_t days)
{
    int64_t n = (days + 3) % 7;
    return (int)(n < 0 ? n + 8 : n + 1);
}

int ptc_calendar_day_of_year(int64_t days)
{
    return (int)(days - ptc_calendar_days(ptc_calendar_civil(days).year, 1, 1)) + 1;
}

bool ptc_calendar_has(int64_t days)
{
    return days >= ptc_calendar_days(-PTC_YEAR_MAX, 1, 1) &&
           days <= ptc_calendar_days(PTC_YEAR_MAX, 12, 31);
}

static const char *const month_names[] = {"January",   "February", "March",    "April",
                                          "May",       "June",     "July",     "August",
                                          "September", "October",  "November", "December"};
static const char *const weekday_names[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                            "Friday", "Saturday", "Sunday"};

const char *ptc_calendar_month_name(int month)
{
    return month_names[month - 1];
}

const char *ptc_calendar_weekday_name(int day)
{
    return weekday_names[day - 1];
}

/* --------------------------------------------------------------------- arithmetic */

static int64_t unit_months(int unit)
{
    switch (unit) {
    case PTC_U_YEARS: return 12;
    case PTC_U_DECADES: return 120;
    case PTC_U_CENTURIES: return 1200;
    default: return 1;
    }
}

int64_t ptc_unit_nanos(int unit)
{
    static const int64_t seconds[] = {1, 60, 3600, 43200, 86400, 604800};
    static const int64_t small[] = {1, PTC_US, PTC_MS};
    return unit < PTC_U_SECONDS ? small[unit] : seconds[unit - PTC_U_SECONDS] * PTC_NANOS;
}

PtcTime ptc_time_from_nanos(__int128 nanos)
{
    __int128 s = nanos / PTC_NANOS - (nanos % PTC_NANOS < 0);
    if (s > INT64_MAX || s < INT64_MIN) /* outside every range that is checked for */
        return (PtcTime){s > 0 ? INT64_MAX : INT64_MIN, 0};
    return (PtcTime){(int64_t)s, (int64_t)(nanos - s * PTC_NANOS)};
}

/* A day that the month does not have becomes its last one. */
static bool shift_months(int64_t days, __int128 n, int64_t *out)
{
    PtcCivil c = ptc_calendar_civil(days);
    __int128 month = (__int128)c.year * 12 + c.month - 1 + n;
    if (month < -(__int128)PTC_YEAR_MAX * 12 || month >= ((__int128)PTC_YEAR_MAX + 1) * 12)
        return false;
    int64_t year = ptc_floor_div((int64_t)month, 12);
    int m = (int)((int64_t)month - year * 12) + 1, last = ptc_calendar_month_length(year, m);
    *out = ptc_calendar_days(year, m, c.day < last ? c.day : last);
    return true;
}

bool ptc_calendar_shift_days(int64_t days, int unit, int64_t n, int64_t *out)
{
    if (unit < PTC_U_DAYS)
        return false;
    if (unit >= PTC_U_MONTHS)
        return shift_months(days, (__int128)n * unit_months(unit), out);
    if (__builtin_mul_overflow(n, unit == PTC_U_WEEKS ? 7 : 1, &n) ||
        __builtin_add_overflow(days, n, out))
        return false;
    return ptc_calendar_has(*out);
}

bool ptc_calendar_shift(PtcTime t, int unit, int64_t n, PtcTime *out)
{
    if (unit < PTC_U_MONTHS) {
        *out = ptc_time_from_nanos(ptc_time_nanos(t) + (__int128)ptc_unit_nanos(unit) * n);
        return true;
    }
    int64_t days = ptc_floor_div(t.seconds, PTC_DAY_SECONDS), shifted;
    if (!ptc_calendar_shift_days(days, unit, n, &shifted))
        return false;
    *out = (PtcTime){t.seconds + (shifted - days) * PTC_DAY_SECONDS, t.nanos};
    return true;
}

bool ptc_calendar_days_between(int64_t a, int64_t b, int unit, int64_t *out)
{
    if (unit < PTC_U_DAYS)
        return false;
    if (unit < PTC_U_MONTHS) {
        *out = (b - a) / (unit == PTC_U_WEEKS ? 7 : 1);
        return true;
    }
    PtcCivil x = ptc_calendar_civil(a), y = ptc_calendar_civil(b);
    int64_t from = (x.year * 12 + x.month) * 32 + x.day;
    *out = ((y.year * 12 + y.month) * 32 + y.day - from) / 32 / unit_months(unit);
    return true;
}

bool ptc_calendar_between(PtcTime a, PtcTime b, int unit, int64_t *out)
{
    if (unit < PTC_U_MONTHS) {
        __int128 n = (ptc_time_nanos(b) - ptc_time_nanos(a)) / ptc_unit_nanos(unit);
        *out = (int64_t)n;
        return n <= INT64_MAX && n >= INT64_MIN;
    }
    int64_t x = ptc_floor_div(a.seconds, PTC_DAY_SECONDS);
    int64_t y = ptc_floor_div(b.seconds, PTC_DAY_SECONDS);
    PtcTime in_x = {a.seconds - x * PTC_DAY_SECONDS, a.nanos};
    PtcTime in_y = {b.seconds - y * PTC_DAY_SECONDS, b.nanos};
    __int128 later = ptc_time_nanos(in_y) - ptc_time_nanos(in_x);
    if (y > x && later < 0) /* the last day is not complete */
        y--;
    else if (y < x && later > 0)
        y++;
    return ptc_calendar_days_between(x, y, unit, out);
}
