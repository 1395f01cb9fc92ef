/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* timegm */
#include "lisp/lib/time.h"

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
    int64_t first = ptc_days_from_civil(-PTC_YEAR_MAX, 1, 1);
    int64_t last = ptc_days_from_civil(PTC_YEAR_MAX, 12, 31);
    CHECK(ptc_days_from_civil(1970, 1, 1) == 0 && ptc_days_from_civil(2000, 3, 1) == 11017);
    CHECK(ptc_days_valid(first) && !ptc_days_valid(first - 1));
    CHECK(ptc_days_valid(last) && !ptc_days_valid(last + 1));
    for (int i = 0; i < 200000; i++) {
        int64_t days = random_between(first, last);
        PtcCivil c = ptc_civil_from_days(days);
        CHECK(ptc_days_from_civil(c.year, c.month, c.day) == days);
        CHECK(c.month >= 1 && c.month <= 12 && c.day >= 1 &&
              c.day <= ptc_month_length(c.year, c.month));
        struct tm tm = {.tm_year = (int)(c.year - 1900), .tm_mon = c.month - 1, .tm_mday = c.day};
        CHECK((int64_t)timegm(&tm) == days * PTC_DAY_SECONDS);
        CHECK((tm.tm_wday + 6) % 7 + 1 == ptc_day_of_week(days));
        CHECK(tm.tm_yday + 1 == ptc_day_of_year(days));
    }
}

/* Days follow each other without a gap, across leap years and eras. */
static void test_sequence(void)
{
    PtcCivil before = ptc_civil_from_days(ptc_days_from_civil(-401, 12, 31));
    for (int64_t d = ptc_days_from_civil(-400, 1, 1); d < ptc_days_from_civil(2401, 1, 1); d++) {
        PtcCivil c = ptc_civil_from_days(d);
        bool next = c.year == before.year && c.month == before.month && c.day == before.day + 1;
        bool ended = before.day == ptc_month_length(before.year, before.month) && c.day == 1;
        CHECK(next ||
              (ended && (c.month == before.month + 1 ||
                         (c.month == 1 && before.month == 12 && c.year == before.year + 1))));
        before = c;
    }
}

static void test_shifts(void)
{
    int64_t max = ptc_days_from_civil(PTC_YEAR_MAX, 12, 31), out, n;
    CHECK(!ptc_shift_days(0, PTC_U_DAYS, INT64_MAX, &out));
    CHECK(!ptc_shift_days(0, PTC_U_WEEKS, INT64_MIN, &out));
    CHECK(!ptc_shift_days(0, PTC_U_CENTURIES, INT64_MAX, &out));
    CHECK(!ptc_shift_days(max, PTC_U_MONTHS, 1, &out));
    CHECK(!ptc_shift_days(0, PTC_U_HOURS, 1, &out));
    for (int i = 0; i < 50000; i++) {
        int64_t a = random_between(-3000000, 3000000), months = random_between(-5000, 5000);
        CHECK(ptc_shift_days(a, PTC_U_MONTHS, months, &out));
        /* Whole months between are as many as were added, but where the day had to be cut. */
        CHECK(ptc_days_between(a, out, PTC_U_MONTHS, &n));
        bool cut = ptc_civil_from_days(a).day != ptc_civil_from_days(out).day;
        CHECK(n == months || (cut && months > 0 && n == months - 1));
        CHECK(ptc_days_between(out, a, PTC_U_MONTHS, &n) && (n == -months || cut));
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
        CHECK(ptc_shift_time(a, unit, by, &b));
        CHECK(b.nanos >= 0 && b.nanos < PTC_NANOS);
        CHECK(ptc_time_between(a, b, unit, &n) && n == by);
        CHECK(ptc_shift_time(b, unit, -by, &b) && b.seconds == a.seconds && b.nanos == a.nanos);
    }
    PtcTime far = ptc_time_from_nanos((__int128)1 << 120);
    CHECK(far.seconds == INT64_MAX);
}

/* The text of a record reads back as the same point in time. */
static void test_text(void)
{
    const PtcObj header = {.type = PTC_T_RECORD, .aux = PTC_R_INSTANT, .count = 2};
    PtcValue record[3]; /* as it would lie in the heap */
    memcpy(record, &header, sizeof header);
    char text[80], why[PTC_WHY];
    for (int i = 0; i < 50000; i++) {
        PtcTime t = {random_between(-31000000000000, 31000000000000),
                     random_between(0, 2) ? random_between(0, 999) * 1000000
                                          : random_between(0, PTC_NANOS - 1)};
        PtcBuf buf = {.data = text, .cap = sizeof text, .max = sizeof text};
        PtcParsed p;
        record[1] = ptc_int(t.seconds);
        record[2] = ptc_int(t.nanos);
        CHECK(ptc_time_text(&buf, ptc_from_obj(record)));
        CHECK(ptc_iso_parse(buf.data, buf.len, false, &p, why));
        PtcTime back = ptc_parsed_time(&p);
        CHECK(p.has_offset && back.seconds == t.seconds && back.nanos == t.nanos);
    }
}

/* Any text is either read or refused, within its length. */
static void test_noise(void)
{
    static const char letters[] = "0123456789-+:.TZ ,JanMoWed'yMdHms\0\xc3\xa9";
    char text[40], why[PTC_WHY];
    long read = 0;
    for (int i = 0; i < 300000; i++) {
        size_t len = (size_t)random_between(0, 30);
        static const char base[] = "2024-05-31T10:20:30.500+02:00";
        for (size_t k = 0; k < len; k++)
            text[k] = k < sizeof base - 1 && random_between(0, 12)
                          ? base[k]
                          : letters[random_between(0, sizeof letters - 2)];
        PtcParsed p;
        if (ptc_iso_parse(text, len, i & 1, &p, why)) {
            read++;
            CHECK(p.has_date && ptc_days_valid(ptc_parsed_days(&p)));
        }
        ptc_mail_parse(text, len, &p);
        ptc_pattern_check(text, len, why);
    }
    CHECK(read > 100);
}

int main(void)
{
    test_days();
    test_sequence();
    test_shifts();
    test_times();
    test_text();
    test_noise();
    return check_done("time");
}
