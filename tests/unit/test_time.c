/* SPDX-License-Identifier: MIT
 * Records of time and their text. */
#include "value/time/time.h"

#include "check.h"

static uint64_t seed = 88172645463325252u;

static int64_t random_between(int64_t min, int64_t max)
{
    return min + (int64_t)(check_random(&seed) % (uint64_t)(max - min + 1));
}

/* The text of a record reads back as the same point in time. */
static void test_text(void)
{
    const PtcObj header = {.type = PTC_T_RECORD, .aux = PTC_R_INSTANT, .count = 2};
    PtcValue record[3]; /* as it would lie in the heap */
    memcpy(record, &header, sizeof header);
    char text[80];
    for (int i = 0; i < 50000; i++) {
        PtcTime t = {random_between(-31000000000000, 31000000000000),
                     random_between(0, 2) ? random_between(0, 999) * 1000000
                                          : random_between(0, PTC_NANOS - 1)};
        PtcBuf buf = {.data = text, .cap = sizeof text, .max = sizeof text};
        PtcMoment p;
        record[1] = ptc_int(t.seconds);
        record[2] = ptc_int(t.nanos);
        CHECK(ptc_time_text(&buf, ptc_from_obj(record)));
        CHECK(ptc_iso_parse(PTC_ISO_JAVA, buf.data, buf.len, &p, NULL));
        PtcTime back = ptc_moment_time(&p);
        CHECK(p.has_offset && back.seconds == t.seconds && back.nanos == t.nanos);
    }
}

/* Any text is either read or refused, within its length. */
static void test_noise(void)
{
    static const char letters[] = "0123456789-+:.TZ ,JanMoWed'yMdHms\0\xc3\xa9";
    char text[40];
    long read = 0;
    for (int i = 0; i < 300000; i++) {
        size_t len = (size_t)random_between(0, 30);
        static const char base[] = "2024-05-31T10:20:30.500+02:00";
        for (size_t k = 0; k < len; k++)
            text[k] = k < sizeof base - 1 && random_between(0, 12)
                          ? base[k]
                          : letters[random_between(0, sizeof letters - 2)];
        PtcMoment p;
        if (ptc_iso_parse((PtcIso)(i % 3), text, len, &p, NULL)) {
            read++;
            CHECK(p.has_date && ptc_calendar_has(ptc_moment_days(&p)));
        }
        ptc_mail_parse(text, len, &p);
        ptc_pattern_check(text, len, NULL);
    }
    CHECK(read > 100);
}

int main(void)
{
    test_text();
    test_noise();
    return check_done("time");
}
