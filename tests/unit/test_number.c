/* SPDX-License-Identifier: MIT */
#include "value/number/number.h"

#include <math.h>
#include <stdlib.h>

#include "check.h"

static uint64_t bits_of(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static double from_bits(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static const char *print(double d)
{
    static char text[PTC_DOUBLE_TEXT];
    size_t len = ptc_double_print(d, text);
    return len == strlen(text) ? text : "wrong length";
}

static const char *json(double d)
{
    static char text[PTC_DOUBLE_TEXT];
    size_t len = ptc_double_json(d, text);
    return len == strlen(text) ? text : "wrong length";
}

static void test_print(void)
{
    CHECK_STR(print(0.0), "0.0");
    CHECK_STR(print(-0.0), "-0.0");
    CHECK_STR(print(1.0), "1.0");
    CHECK_STR(print(-1.5), "-1.5");
    CHECK_STR(print(0.1), "0.1");
    CHECK_STR(print(0.1 + 0.2), "0.30000000000000004");
    CHECK_STR(print(1.0 / 3), "0.3333333333333333");
    CHECK_STR(print(2.0 / 3), "0.6666666666666666");
    CHECK_STR(print(100.0), "100.0");
    CHECK_STR(print(0.001), "0.001");
    CHECK_STR(print(0.0009999), "9.999E-4");
    CHECK_STR(print(1e-4), "1.0E-4");
    CHECK_STR(print(9999999.0), "9999999.0");
    CHECK_STR(print(9999999.999999998), "9999999.999999998");
    CHECK_STR(print(1e7), "1.0E7");
    CHECK_STR(print(12345678.0), "1.2345678E7");
    CHECK_STR(print(123456.789), "123456.789");
    CHECK_STR(print(1e21), "1.0E21");
    CHECK_STR(print(1e23), "1.0E23");
    CHECK_STR(print(2e23), "2.0E23");
    CHECK_STR(print(9007199254740993.0), "9.007199254740992E15");
    CHECK_STR(print(0x1p-44), "5.684341886080802E-14");
    CHECK_STR(print(0x1p-1022), "2.2250738585072014E-308");
    CHECK_STR(print(0x1p-1074), "4.9E-324");
    CHECK_STR(print(0x1p-1073), "9.9E-324");
    CHECK_STR(print(1.7976931348623157e308), "1.7976931348623157E308");
    CHECK_STR(print(9.5367431640625e-7), "9.5367431640625E-7");
    CHECK_STR(print(INFINITY), "##Inf");
    CHECK_STR(print(-INFINITY), "##-Inf");
    CHECK_STR(print(NAN), "##NaN");
}

static void test_json(void)
{
    CHECK_STR(json(0.0), "0.0");
    CHECK_STR(json(-0.0), "-0.0");
    CHECK_STR(json(1.0), "1.0");
    CHECK_STR(json(12345678.0), "12345678.0");
    CHECK_STR(json(9999999999999998.0), "9999999999999998.0");
    CHECK_STR(json(1e16), "1.0e16");
    CHECK_STR(json(1e21), "1.0e21");
    CHECK_STR(json(1.5e-7), "1.5e-7");
    CHECK_STR(json(1e-6), "0.000001");
    CHECK_STR(json(-123456789.25), "-123456789.25");
    CHECK_STR(json(-1.7976931348623157e308), "-1.7976931348623157e308");
}

static void test_round(void)
{
    CHECK(ptc_double_round(3.14159, 2) == 3.14);
    CHECK(ptc_double_round(2.5, 0) == 3.0);
    CHECK(ptc_double_round(-2.5, 0) == -3.0);
    CHECK(ptc_double_round(0.125, 2) == 0.13);
    CHECK(ptc_double_round(1.005, 2) == 1.0); /* it is a little less than that */
    CHECK(ptc_double_round(0.0004, 3) == 0.0);
    CHECK(ptc_double_round(0.0006, 3) == 0.001);
    CHECK(ptc_double_round(9.999, 2) == 10.0);
    CHECK(ptc_double_round(0.999, 2) == 1.0);
    CHECK(ptc_double_round(1e300, 2) == 1e300);
    CHECK(signbit(ptc_double_round(-1e-300, 2)) && ptc_double_round(-1e-300, 2) == 0);
    CHECK(ptc_double_round(1e-15, 15) == 1e-15);
    CHECK(ptc_double_round(0.1, 15) == 0.1);
    CHECK(isnan(ptc_double_round(NAN, 2)) && isinf(ptc_double_round(INFINITY, 2)));
}

/* Is d, exactly, half way between two numbers of that precision? */
static bool is_tie(double d, int precision)
{
    char text[160];
    snprintf(text, sizeof text, "%.*f", precision + 110, fabs(d));
    const char *p = strchr(text, '.') + 1 + precision;
    return *p == '5' && strspn(p + 1, "0") == strlen(p + 1);
}

static void test_round_random(void)
{
    uint64_t state = 99;
    for (int i = 0; i < 50000; i++) {
        uint64_t r = check_random(&state);
        int precision = (int)(r % 16);
        double d = ldexp((double)(int64_t)r, -(int)(check_random(&state) % 90) - 11);
        char text[64];
        snprintf(text, sizeof text, "%.*f", precision, d);
        double got = ptc_double_round(d, precision), want = strtod(text, NULL);
        if (is_tie(d, precision)) /* which the C library rounds to even */
            CHECK(fabs(got) >= fabs(d) && fabs(got) >= fabs(want));
        else
            CHECK(got == want);
    }
}

static void check_parse(const char *text)
{
    double got = -1, want = strtod(text, NULL);
    CHECK(ptc_double_parse(text, strlen(text), &got));
    if (check_count(bits_of(got) == bits_of(want)))
        printf("%.40s: %a, not %a\n", text, got, want);
}

static void test_parse(void)
{
    static const char *const good[] = {
        "0",
        "-0",
        "+1",
        "1.",
        "0.1",
        "1e5",
        "1E+5",
        "1e-5",
        "00012.500",
        "9007199254740993",
        "9007199254740992.9999999999999999999",
        "9007199254740993.0000000000000000000000000000001",
        "18446744073709551615",
        "99999999999999999999",
        "1e22",
        "1e23",
        "123456789012345678e-19",
        "1e308",
        "1e309",
        "-1e400",
        "1e-400",
        "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.2250738585072011e-308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "0e999999999999999999999",
        "1e999999999999999999999",
        "1e-999999999999999999999",
        "0.000000000000000000000000000000000000000000000000000001",
    };
    static const char *const bad[] = {"",    "-",    ".5",  "1e",   "1e+",  "1.2.3", " 1",
                                      "1 ",  "0x10", "inf", "nan",  "1,5",  "1_000", "--1",
                                      "1ee", "1e5x", "e5",  "1e1.", "+-1e3"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        check_parse(good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double d;
        CHECK(!ptc_double_parse(bad[i], strlen(bad[i]), &d));
    }
    double d;
    CHECK(!ptc_double_parse("1\0", 2, &d));
    CHECK(ptc_double_parse("123", 2, &d) && d == 12); /* the length counts, not a NUL */
}

/* Exactly half way between two doubles, and a hair more, a thousand digits later. */
static void test_parse_long(void)
{
    static char text[3000];
    const char *half = "9007199254740993";
    memcpy(text, half, 16);
    text[16] = '.';
    memset(text + 17, '0', 2000);
    check_parse(text);
    text[1800] = '1';
    check_parse(text);
    memset(text, '1', 2500);
    text[2500] = 0;
    check_parse(text); /* infinite */
    strcpy(text + 2500, "e-2400");
    check_parse(text);
    memset(text, '0', 2000);
    text[1] = '.';
    strcpy(text + 2000, "123e1999");
    check_parse(text);
}

/* Fewer digits must not do: the shortest text is as short as the C library can find. */
static bool is_shortest(double d, const char *text)
{
    int digits = 0, zeros = 0;
    for (const char *p = text; *p && *p != 'E'; p++) {
        if (*p < '0' || *p > '9' || (digits == 0 && *p == '0'))
            continue;
        digits++;
        zeros = *p == '0' ? zeros + 1 : 0;
    }
    digits -= zeros;
    char shorter[64];
    if (digits <= 2)
        return true;
    snprintf(shorter, sizeof shorter, "%.*e", digits - 2, d);
    return strtod(shorter, NULL) != d;
}

static void check_both_ways(double d)
{
    char text[PTC_DOUBLE_TEXT];
    double back = 0;
    size_t len = ptc_double_print(d, text);
    CHECK(ptc_double_parse(text, len, &back) && bits_of(back) == bits_of(d));
    CHECK(bits_of(strtod(text, NULL)) == bits_of(d));
    if (check_count(is_shortest(d, text)))
        printf("not the shortest: %s\n", text);
    len = ptc_double_json(d, text);
    CHECK(ptc_double_parse(text, len, &back) && bits_of(back) == bits_of(d));
}

static void test_both_ways(void)
{
    uint64_t state = 20240607;
    for (int i = 0; i < 200000; i++) {
        double d = from_bits(check_random(&state));
        if (isfinite(d))
            check_both_ways(d);
        /* exponents as programs have them, and as many places as prices have */
        uint64_t r = check_random(&state);
        check_both_ways(from_bits((r & 0x800fffffffffffff) | (948 + (r >> 52) % 140) << 52));
        check_both_ways((double)(int64_t)(check_random(&state) >> 30) / 1000);
    }
    for (int e = -1074; e < 1024; e++) {
        check_both_ways(ldexp(1, e));
        check_both_ways(nextafter(ldexp(1, e), 0));
        check_both_ways(nextafter(ldexp(1, e), INFINITY));
    }
}

/* Texts of any number of digits and any exponent, against strtod. */
static void test_parse_random(void)
{
    uint64_t state = 31337;
    for (int i = 0; i < 200000; i++) {
        char text[80];
        size_t n = 0, digits = 1 + check_random(&state) % 30, point = check_random(&state) % 32;
        for (size_t k = 0; k < digits; k++) {
            if (k == point && k > 0)
                text[n++] = '.';
            text[n++] = (char)('0' + check_random(&state) % 10);
        }
        int range = i & 1 ? 700 : 40;
        snprintf(text + n, sizeof text - n, "e%d",
                 (int)(check_random(&state) % (2 * (unsigned)range)) - range);
        if (i % 5 == 0)
            text[n] = 0;
        check_parse(text);
    }
}

static void check_word(uint64_t bits)
{
    double d = from_bits(bits);
    PtcValue v = ptc_flonum(d);
    uint64_t exponent = bits >> 52 & 0x7ff;
    bool middle = exponent >= 0x300 && exponent < 0x500 && bits != 0x3000000000000000;
    CHECK((v != PTC_NONE) == (middle || bits == 0));
    if (v == PTC_NONE)
        return;
    CHECK(ptc_is_flonum(v) && ptc_is_float(v) && ptc_is_number(v));
    CHECK(!ptc_is_int(v) && !ptc_is_obj(v) && ptc_truthy(v));
    CHECK(bits_of(ptc_to_float(v)) == bits);
}

static void test_words(void)
{
    static const uint64_t special[] = {
        0,
        0x8000000000000000, /* -0.0 */
        0x3000000000000000, /* would be the word of 0.0 */
        0xb000000000000000,
        0x3000000000000001,
        0x2fffffffffffffff,
        0x4fffffffffffffff,
        0x5000000000000000,
        1,
        0x000fffffffffffff,
        0x7ff0000000000000,
        0xfff0000000000000,
        0x7ff8000000000000,
        0x3ff0000000000000,
    };
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        check_word(special[i]);
    uint64_t state = 5;
    for (int i = 0; i < 200000; i++)
        check_word(check_random(&state));
}

int main(void)
{
    test_print();
    test_json();
    test_round();
    test_round_random();
    test_parse();
    test_parse_long();
    test_both_ways();
    test_parse_random();
    test_words();
    return check_done("number");
}
