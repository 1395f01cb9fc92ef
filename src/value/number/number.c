/* SPDX-License-Identifier: MIT
 * Text of doubles.  In both directions there is an exact path in integers for the numbers that programs mostly use,
 * and the C library for the rest.  It is called in a way that no locale can change: strtod gets digits and an
 * exponent but no decimal point, and of what snprintf writes we only read the digits. */
#include "value/number/number.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/text.h"

typedef unsigned __int128 Wide;

/* ------------------------------------------------------------------ reading */

enum {
    MANTISSA_DIGITS = 19, /* always fit 64 bits */
    LONG_DIGITS = 800,    /* beyond the 768th digit only "is there more?" can matter */
    FAR_EXPONENT = 20000, /* zero or infinite with any LONG_DIGITS digits */
};
#define EXPONENT_CAP ((int64_t)1 << 60)

typedef struct {
    const char *first, *end; /* digits and point */
    const char *point;       /* where the point is, or the end */
    int64_t exponent;        /* as written */
    uint64_t mantissa;       /* the first MANTISSA_DIGITS significant digits ... */
    int64_t scale;           /* ... times ten to this */
    bool negative;
    bool inexact; /* a digit other than 0 did not fit the mantissa */
} NumberScan;

static const double POWER_OF_10[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
enum { EXACT_POWER = 22 };

/* Digits with at most one point, the first being a digit; returns where they end. */
static const char *scan_mantissa(NumberScan *s, const char *p, const char *end)
{
    const char *point = NULL;
    int kept = 0;
    for (; p < end; p++) {
        if (*p == '.' && !point) {
            point = p;
            continue;
        }
        if (!ptc_ascii_is_digit(*p))
            break;
        uint64_t digit = (uint64_t)(*p - '0');
        if (kept < MANTISSA_DIGITS) {
            s->mantissa = s->mantissa * 10 + digit;
            kept += s->mantissa != 0;
            s->scale -= point != NULL;
        } else {
            s->inexact |= digit != 0;
            s->scale += point == NULL;
        }
    }
    s->point = point ? point : p;
    return p;
}

/* Reads what follows the `e`; false unless that is an integer up to the end. */
static bool scan_exponent(NumberScan *s, const char *p, const char *end)
{
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (p == end)
        return false;
    int64_t n = 0;
    for (; p < end; p++) {
        if (!ptc_ascii_is_digit(*p))
            return false;
        if (n < EXPONENT_CAP / 10)
            n = n * 10 + (*p - '0');
    }
    s->exponent = negative ? -n : n;
    s->scale += s->exponent;
    return true;
}

static bool scan_number(NumberScan *s, const char *p, const char *end)
{
    memset(s, 0, sizeof *s);
    s->negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (p == end || !ptc_ascii_is_digit(*p))
        return false;
    s->first = p;
    s->end = p = scan_mantissa(s, p, end);
    return p == end || ((*p == 'e' || *p == 'E') && scan_exponent(s, p + 1, end));
}

/* n / 10^k rounded once: a 128-bit quotient, of which the top 64 bits and a "there is more" bit are converted to a
 * double.  n > 0, k from 1 to 19. */
static double divide_by_power(uint64_t n, int k)
{
    uint64_t divisor = 1;
    for (int i = 0; i < k; i++)
        divisor *= 10;
    int shift = __builtin_clzll(n);
    Wide top = (Wide)(n << shift) << 64;
    Wide quotient = top / divisor;
    bool more = quotient * divisor != top;
    uint64_t high = (uint64_t)(quotient >> 64);
    int drop = high ? 64 - __builtin_clzll(high) : 0;
    uint64_t bits = (uint64_t)(quotient >> drop);
    more |= (Wide)bits << drop != quotient;
    return ldexp((double)(bits | more), drop - 64 - shift);
}

/* By strtod, on a copy of bounded length. */
static double parse_long_number(const NumberScan *s)
{
    char text[LONG_DIGITS + 16];
    size_t n = 0;
    int64_t exponent = s->exponent;
    const char *p = s->first;
    for (; p < s->end && n < LONG_DIGITS; p++) {
        if (p == s->point)
            continue;
        if (n || *p != '0')
            text[n++] = *p;
        exponent -= p > s->point;
    }
    exponent += p < s->point ? s->point - p : 0;
    while (p < s->end && (*p == '0' || *p == '.'))
        p++;
    if (p < s->end) { /* any further digit will do to show that a half is more than a half */
        text[n++] = '1';
        exponent--;
    }
    if (exponent > FAR_EXPONENT)
        exponent = FAR_EXPONENT;
    if (exponent < -FAR_EXPONENT)
        exponent = -FAR_EXPONENT;
    snprintf(text + n, sizeof text - n, "e%d", (int)exponent);
    return strtod(text, NULL);
}

static double scan_value(const NumberScan *s)
{
    if (s->mantissa == 0)
        return 0.0;
    if (s->inexact || s->scale > EXACT_POWER || s->scale < -EXACT_POWER)
        return parse_long_number(s);
    if (s->scale == 0)
        return (double)s->mantissa;
    if (s->mantissa >> 53 == 0) /* both sides exact, so one operation rounds once */
        return s->scale < 0 ? (double)s->mantissa / POWER_OF_10[-s->scale]
                            : (double)s->mantissa * POWER_OF_10[s->scale];
    if (s->scale < 0 && s->scale >= -MANTISSA_DIGITS)
        return divide_by_power(s->mantissa, (int)-s->scale);
    return parse_long_number(s);
}

bool ptc_double_parse(const char *text, size_t len, double *out)
{
    NumberScan s;
    if (!scan_number(&s, text, text + len))
        return false;
    double d = scan_value(&s);
    *out = s.negative ? -d : d;
    return true;
}

/* ----------------------------------------------------------------- printing */

/* 0.d1 d2 d3 ... times ten to `point`. */
typedef struct {
    char digits[32];
    int count;
    int point;
} DoubleDigits;

/* mantissa * 2^exponent */
typedef struct {
    uint64_t mantissa;
    int exponent;
} DoubleParts;

static DoubleParts double_parts_of(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    int biased = (int)(bits >> 52 & 0x7ff);
    if (biased == 0)
        return (DoubleParts){fraction, -1074};
    return (DoubleParts){fraction | (uint64_t)1 << 52, biased - 1075};
}

/* A positive double as whole + rest / 2^bits, exactly, with room to multiply rest by ten.  The
 * unit of rest is a quarter of the distance to the next double. */
typedef struct {
    uint64_t whole;
    Wide rest;
    int bits;
} Fixed;

/* False for doubles below 2^-70, and from 2^53 up. */
static bool to_fixed(double d, Fixed *out)
{
    DoubleParts p = double_parts_of(d);
    if (p.exponent > 0 || p.exponent < -122)
        return false;
    Wide all = (Wide)p.mantissa << 2;
    out->bits = 2 - p.exponent;
    out->whole = (uint64_t)(all >> out->bits);
    out->rest = all & (((Wide)1 << out->bits) - 1);
    return true;
}

/* Takes the next decimal digit out of the rest. */
static int next_digit(Fixed *x)
{
    x->rest *= 10;
    int digit = (int)(x->rest >> x->bits);
    x->rest &= ((Wide)1 << x->bits) - 1;
    return digit;
}

static void add_whole_digits(DoubleDigits *dec, uint64_t whole)
{
    char text[20];
    int n = 0;
    for (; whole; whole /= 10)
        text[n++] = (char)('0' + whole % 10);
    dec->point = n;
    while (n)
        dec->digits[dec->count++] = text[--n];
}

static void add_digit(DoubleDigits *dec, int digit)
{
    if (dec->count == 0 && digit == 0)
        dec->point--;
    else
        dec->digits[dec->count++] = (char)('0' + digit);
}

/* One more in the last place. */
static void increment(DoubleDigits *dec)
{
    while (dec->count && dec->digits[dec->count - 1] == '9')
        dec->count--;
    if (dec->count) {
        dec->digits[dec->count - 1]++;
        return;
    }
    dec->digits[dec->count++] = '1';
    dec->point++;
}

/* Shortest digits by exact arithmetic (the free-format algorithm of Steele and White): digits are taken until what we
 * have, or that plus one in the last place, is nearer to d than to any other double. */
static void shortest_fixed(double d, Fixed x, DoubleDigits *dec)
{
    DoubleParts p = double_parts_of(d);
    bool even = (p.mantissa & 1) == 0; /* then the limits themselves also read back as d */
    Wide above = 2, one = (Wide)1 << x.bits;
    Wide below = p.mantissa == (uint64_t)1 << 52 ? 1 : 2; /* doubles are denser under 2^n */
    add_whole_digits(dec, x.whole);
    for (;;) {
        bool down = x.rest < below || (even && x.rest == below);
        bool up = x.rest + above > one || (even && x.rest + above == one);
        if (down && up) {
            bool odd = dec->count && (dec->digits[dec->count - 1] & 1);
            up = x.rest * 2 > one || (odd && x.rest * 2 == one);
        }
        if (up)
            increment(dec);
        if (up || down)
            return;
        add_digit(dec, next_digit(&x));
        above *= 10;
        below *= 10;
    }
}

static void strip_zeros(DoubleDigits *dec)
{
    while (dec->count > 1 && dec->digits[dec->count - 1] == '0')
        dec->count--;
}

/* d rounded to this many significant digits. */
static void nearest_digits(double d, int digits, DoubleDigits *dec)
{
    char text[64];
    snprintf(text, sizeof text, "%.*e", digits - 1, d);
    const char *p = text;
    dec->count = 0;
    for (; *p && *p != 'e'; p++)
        if (ptc_ascii_is_digit(*p))
            dec->digits[dec->count++] = *p;
    dec->point = *p ? (int)strtol(p + 1, NULL, 10) + 1 : 1;
    strip_zeros(dec);
}

static bool reads_as(const DoubleDigits *dec, double d)
{
    char text[64];
    snprintf(text, sizeof text, "%.*se%d", PTC_ARG_OF(dec->digits, dec->count),
             dec->point - dec->count);
    return strtod(text, NULL) == d;
}

/* Shortest digits by trial, for very large and very small doubles.  15 digits always distinguish them, except among
 * subnormal numbers, and 17 always suffice.  Just above a power of two doubles are twice as far apart as below, so
 * there the second nearest may do where the nearest does not.  At least two digits are sought, as in Java
 * (4.9E-324). */
static void shortest_by_trial(double d, DoubleDigits *dec)
{
    bool power = double_parts_of(d).mantissa == (uint64_t)1 << 52;
    for (int digits = d < 0x1p-1022 ? 2 : 15; digits <= 17; digits++) {
        nearest_digits(d, digits, dec);
        if (digits == 17 || reads_as(dec, d))
            return;
        if (power && dec->count == digits) {
            increment(dec);
            if (reads_as(dec, d))
                return;
        }
    }
}

static char *put_zeros(char *p, int n)
{
    for (; n > 0; n--)
        *p++ = '0';
    return p;
}

static char *put_number_bytes(char *p, const char *bytes, int n)
{
    memcpy(p, bytes, (size_t)n);
    return p + n;
}

/* 123.45, 1200.0, 0.0012 */
static char *put_plain(char *p, const DoubleDigits *dec)
{
    if (dec->point <= 0) {
        p = put_zeros(put_number_bytes(p, "0.", 2), -dec->point);
        return put_number_bytes(p, dec->digits, dec->count);
    }
    int whole = dec->point < dec->count ? dec->point : dec->count;
    p = put_zeros(put_number_bytes(p, dec->digits, whole), dec->point - whole);
    *p++ = '.';
    if (whole == dec->count)
        return put_zeros(p, 1);
    return put_number_bytes(p, dec->digits + whole, dec->count - whole);
}

/* 1.2345E10 */
static char *put_scientific(char *p, const DoubleDigits *dec, char mark)
{
    DoubleDigits unit = *dec;
    unit.point = 1;
    p = put_plain(p, &unit);
    *p++ = mark;
    int exponent = dec->point - 1;
    if (exponent < 0) {
        *p++ = '-';
        exponent = -exponent;
    }
    DoubleDigits text = {.count = 0};
    add_whole_digits(&text, (uint64_t)exponent);
    return text.count ? put_number_bytes(p, text.digits, text.count) : put_zeros(p, 1);
}

/* Finite d, without an exponent from 10^low to below 10^high. */
static size_t format(double d, char *out, int low, int high, char mark)
{
    char *p = out;
    if (signbit(d))
        *p++ = '-';
    d = fabs(d);
    DoubleDigits dec = {.count = 0};
    Fixed fixed;
    if (d == 0)
        dec = (DoubleDigits){.digits = "0", .count = 1, .point = 1};
    else if (to_fixed(d, &fixed))
        shortest_fixed(d, fixed, &dec);
    else
        shortest_by_trial(d, &dec);
    strip_zeros(&dec);
    bool plain = dec.point > low && dec.point <= high;
    p = plain ? put_plain(p, &dec) : put_scientific(p, &dec, mark);
    *p = 0;
    return (size_t)(p - out);
}

size_t ptc_double_print(double d, char out[PTC_DOUBLE_TEXT])
{
    const char *name = isnan(d) ? "##NaN" : d > 0 ? "##Inf" : "##-Inf";
    if (isfinite(d))
        return format(d, out, -3, 7, 'E');
    memcpy(out, name, strlen(name) + 1);
    return strlen(name);
}

size_t ptc_double_json(double d, char out[PTC_DOUBLE_TEXT])
{
    return format(d, out, -6, 16, 'e');
}

/* ----------------------------------------------------------------- rounding */

double ptc_double_round(double d, int precision)
{
    Fixed x;
    if (precision < 0)
        precision = 0;
    if (precision > 15)
        precision = 15;
    if (!isfinite(d) || fabs(d) >= 0x1p53)
        return d; /* nothing after the point */
    if (!to_fixed(fabs(d), &x))
        return copysign(0.0, d);
    DoubleDigits dec = {.count = 0};
    add_whole_digits(&dec, x.whole);
    for (int i = 0; i < precision; i++)
        add_digit(&dec, next_digit(&x));
    if (x.rest * 2 >= (Wide)1 << x.bits)
        increment(&dec);
    if (dec.count == 0)
        return copysign(0.0, d);
    char text[PTC_DOUBLE_TEXT + 8];
    double rounded = 0;
    int n = snprintf(text, sizeof text, "%.*se%d", PTC_ARG_OF(dec.digits, dec.count),
                     dec.point - dec.count);
    return ptc_double_parse(text, (size_t)n, &rounded) ? copysign(rounded, d) : d;
}
