/* SPDX-License-Identifier: MIT
 * The calendar against the C library's, and how strictly ISO 8601 is read. */
#define _GNU_SOURCE /* timegm */
#include "value/calendar.h"

#include <time.h>

#include "check.h"

static uint64_t seed = 88172645463325252u;

static int64_t random_between(int64_t min, int64_t max)
{
    return min + (int64_t)(check_random(&seed) % (uint64_t)(max - min + 1));
}

/* Every day of the range there and back; the C library agrees. */
static void test_days(void)
{
    int64_t first = ptc_calendar_days(-PTC_YEAR_MAX, 1, 1);
    int64_t last = ptc_calendar_days(PTC_YEAR_MAX, 12, 31);
    CHECK(ptc_calendar_days(1970, 1, 1) == 0 && ptc_calendar_days(2000, 3, 1) == 11017);
    CHECK(ptc_calendar_has(first) && !ptc_calendar_has(first - 1));
    CHECK(ptc_calendar_has(last) && !ptc_calendar_has(last + 1));
    for (int i = 0; i < 200000; i++) {
        int64_t days = random_between(first, last);
        PtcCivil c = ptc_calendar_civil(days);
        CHECK(ptc_calendar_days(c.year, c.month, c.day) == days);
        CHECK(c.month >= 1 && c.month <= 12 && c.day >= 1 &&
              c.day <= ptc_calendar_month_length(c.year, c.month));
        struct tm tm = {.tm_year = (int)(c.year - 1900), .tm_mon = c.month - 1, .tm_mday = c.day};
        CHECK((int64_t)timegm(&tm) == days * PTC_DAY_SECONDS);
        CHECK((tm.tm_wday + 6) % 7 + 1 == ptc_calendar_weekday(days));
        CHECK(tm.tm_yday + 1 == ptc_calendar_day_of_year(days));
    }
}

/* Days follow each other without a gap, across leap years and eras. */
static void test_sequence(void)
{
    PtcCivil before = ptc_calendar_civil(ptc_calendar_days(-401, 12, 31));
    for (int64_t d = ptc_calendar_days(-400, 1, 1); d < ptc_calendar_days(2401, 1, 1); d++) {
        PtcCivil c = ptc_calendar_civil(d);
        bool next = c.year == before.year && c.month == before.month && c.day == before.day + 1;
        bool ended =
            before.day == ptc_calendar_month_length(before.year, before.month) && c.day == 1;
        CHECK(next ||
              (ended && (c.month == before.month + 1 ||
                         (c.month == 1 && before.month == 12 && c.year == before.year + 1))));
        before = c;
    }
}

static void test_shifts(void)
{
    int64_t max = ptc_calendar_days(PTC_YEAR_MAX, 12, 31), out, n;
    CHECK(!ptc_calendar_shift_days(0, PTC_U_DAYS, INT64_MAX, &out));
    CHECK(!ptc_calendar_shift_days(0, PTC_U_WEEKS, INT64_MIN, &out));
    CHECK(!ptc_calendar_shift_days(0, PTC_U_CENTURIES, INT64_MAX, &out));
    CHECK(!ptc_calendar_shift_days(max, PTC_U_MONTHS, 1, &out));
    CHECK(!ptc_calendar_shift_days(0, PTC_U_HOURS, 1, &out));
    for (int i = 0; i < 50000; i++) {
        int64_t a = random_between(-3000000, 3000000), months = random_between(-5000, 5000);
        CHECK(ptc_calendar_shift_days(a, PTC_U_MONTHS, months, &out));
        /* Whole months between are as many as were added, but where the day had to be cut. */
        CHECK(ptc_calendar_days_between(a, out, PTC_U_MONTHS, &n));
        bool cut = ptc_calendar_civil(a).day != ptc_calendar_civil(out).day;
        CHECK(n == months || (cut && months > 0 && n == months - 1));
        CHECK(ptc_calendar_days_between(out, a, PTC_U_MONTHS, &n) && (n == -months || cut));
    }
}

static void test_times(void)
{
    int64_t n;
    for (int i = 0; i < 50000; i++) {
        PtcTime a = {random_between(-100000000000, 100000000000), random_between(0, PTC_NANOS - 1)};
        PtcTime b;
        int unit = (int)random_between(PTC_U_NANOS, PTC_U_WEEKS);
        int64_t by = random_between(-1000000, 1000000);
        CHECK(ptc_calendar_shift(a, unit, by, &b));
        CHECK(b.nanos >= 0 && b.nanos < PTC_NANOS);
        CHECK(ptc_calendar_between(a, b, unit, &n) && n == by);
        CHECK(ptc_calendar_shift(b, unit, -by, &b) && b.seconds == a.seconds && b.nanos == a.nanos);
    }
    PtcTime far = ptc_time_from_nanos((__int128)1 << 120);
    CHECK(far.seconds == INT64_MAX);
}

/* Stamps are what the C library writes, before 1970 too. */
static void test_stamps(void)
{
    char stamp[PTC_CALENDAR_TEXT], want[80];
    for (int i = 0; i < 20000; i++) {
        int64_t ms = random_between(-62000000000000, 250000000000000);
        time_t seconds = (time_t)ptc_floor_div(ms, 1000);
        struct tm tm;
        gmtime_r(&seconds, &tm);
        snprintf(want, sizeof want, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900,
                 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
                 (int)(ms - (int64_t)seconds * 1000));
        CHECK(ptc_iso_stamp(stamp, ms) == strlen(want));
        CHECK_STR(stamp, want);
    }
    PtcMoment m = ptc_moment_of((PtcTime){-1, 500000000});
    CHECK(m.year == 1969 && m.month == 12 && m.day == 31 && m.hour == 23 && m.second == 59);
    PtcTime t = ptc_moment_time(&m);
    CHECK(t.seconds == -1 && t.nanos == 500000000);
}

/* Which dialect takes which text: J java, L loose, B boundary. */
static void test_dialects(void)
{
    static const struct {
        const char *text, *taken;
    } rows[] = {
        {"2024-05-01", "JLB"},
        {"2024-05-01T10:20", "JL"},
        {"2024-05-01T10:20:30", "JLB"},
        {"2024-05-01t10:20:30z", "JL"},
        {"2024-05-01 10:20:30Z", "B"},
        {"2024-05-01T10:20:30,5Z", "B"},
        {"2024-05-01T10:20:30.123456789Z", "JLB"},
        {"2024-05-01T10:20:30.1234567891Z", "B"},
        {"2024-05-01T10:20:30+02", "JLB"},
        {"2024-05-01T10:20:30+02:00", "JLB"},
        {"2024-05-01T10:20:30+0200", "LB"},
        {"2024-05-01T10:20:30+02:00:30", "JL"},
        {"2024-05-01T10:20:30+19:00", "B"},
        {"2024-05-01T10:20:30+24:00", ""},
        {"2024-05-01T10:20:30-00:00", "JL"},
        {"+2024-05-01T10:20:30Z", "B"},
        {"+12024-05-01T10:20:30Z", "JL"},
        {"-2024-05-01T10:20:30Z", "JLB"},
        {"2023-02-29", ""},
        {"2024-05-01T24:00:00Z", ""},
        {"2024-05-01T", ""},
        {"", ""},
    };
    PtcMoment m;
    PtcWhy why;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int iso = 0; iso < 3; iso++) {
            bool taken = ptc_iso_parse((PtcIso)iso, rows[i].text, strlen(rows[i].text), &m, &why);
            if (check_count(taken == (strchr(rows[i].taken, "JLB"[iso]) != NULL)))
                printf("%s in dialect %c: %d\n", rows[i].text, "JLB"[iso], taken);
        }
    CHECK(!ptc_iso_parse(PTC_ISO_JAVA, "2023-02-29", 10, &m, &why));
    CHECK_STR(why.text, "February 2023 has only 28 days");
    CHECK(!ptc_iso_parse(PTC_ISO_JAVA, "soon", 4, &m, &why) && why.text[0] == 0);
}

int main(void)
{
    test_days();
    test_sequence();
    test_shifts();
    test_times();
    test_stamps();
    test_dialects();
    return check_done("calendar");
}
