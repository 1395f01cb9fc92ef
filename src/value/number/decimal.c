/* SPDX-License-Identifier: MIT
 * Exact decimals on top of integers of any size.  What always holds: the scale of a decimal is within
 * PTC_DECIMAL_SCALE, and what two scales have to be aligned by is checked before a number of that length is made. */
#include "value/number/decimal.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "value/number/bigint.h"
#include "value/number/number.h"

/* --------------------------------------------------------------------------------- making */

PtcDecimalParts ptc_decimal_parts(PtcValue v)
{
    if (!ptc_is_decimal(v))
        return (PtcDecimalParts){v, 0};
    const PtcRecord *r = (const PtcRecord *)(uintptr_t)v;
    return (PtcDecimalParts){r->fields[0], ptc_to_int(r->fields[1])};
}

static bool scale_fits(PtcHeap *heap, int64_t scale)
{
    return (scale <= PTC_DECIMAL_SCALE && scale >= -PTC_DECIMAL_SCALE) ||
           ptc_budget_exceed(heap->budget, PTC_STOP_SIZE, "a decimal has more places than",
                             PTC_DECIMAL_SCALE);
}

PtcValue ptc_decimal_new(PtcHeap *heap, PtcValue unscaled, int64_t scale)
{
    if (unscaled == PTC_NONE || !scale_fits(heap, scale))
        return PTC_NONE;
    PtcRecord *o = ptc_heap_object(heap, PTC_T_RECORD, sizeof *o + 2 * sizeof(PtcValue), 2);
    if (!o)
        return PTC_NONE;
    o->obj.aux = PTC_R_DECIMAL;
    o->fields[0] = unscaled;
    o->fields[1] = ptc_int(scale);
    return ptc_from_obj(o);
}

/* 10 to the power of n >= 0. */
static PtcValue power_of_ten(PtcHeap *heap, int64_t n)
{
    PtcValue result = ptc_int(1), base = ptc_int(10);
    if (!scale_fits(heap, n))
        return PTC_NONE;
    for (; n > 0 && result != PTC_NONE; n >>= 1) {
        if (n & 1)
            result = ptc_int_mul(heap, result, base);
        if (n > 1 && (base = ptc_int_mul(heap, base, base)) == PTC_NONE)
            return PTC_NONE;
    }
    return result;
}

/* v times 10 to the power of n >= 0. */
static PtcValue shifted(PtcHeap *heap, PtcValue v, int64_t n)
{
    if (n == 0 || v == ptc_int(0) || v == PTC_NONE)
        return v;
    PtcValue power = power_of_ten(heap, n);
    return power == PTC_NONE ? PTC_NONE : ptc_int_mul(heap, v, power);
}

/* Both with the scale of the one that has more places, which is returned in a->scale. */
static bool align(PtcHeap *heap, PtcDecimalParts *a, PtcDecimalParts *b)
{
    int64_t scale = a->scale > b->scale ? a->scale : b->scale;
    a->unscaled = shifted(heap, a->unscaled, scale - a->scale);
    b->unscaled = shifted(heap, b->unscaled, scale - b->scale);
    a->scale = b->scale = scale;
    return a->unscaled != PTC_NONE && b->unscaled != PTC_NONE;
}

/* ------------------------------------------------------------------------------------ text */

/* Digits without a point, sign included, into a buffer with room for them. */
static PtcValue parse_digits(PtcHeap *heap, const char *text, size_t len, size_t point)
{
    PtcBuf digits;
    ptc_heap_buf_init(heap, &digits);
    bool ok = ptc_buf_add(&digits, text, point) &&
              (point == len || ptc_buf_add(&digits, text + point + 1, len - point - 1));
    PtcValue v = ok ? ptc_int_parse(heap, digits.data, digits.len) : PTC_NONE;
    if (!ok)
        ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
    ptc_buf_deinit(&digits);
    return v;
}

static size_t decimal_digits_end(const char *text, size_t len, size_t at)
{
    while (at < len && ptc_ascii_is_digit(text[at]))
        at++;
    return at;
}

/* The exponent behind an e; false when it is written wrongly. */
static bool read_exponent(const char *text, size_t len, int64_t *out)
{
    size_t at = len > 0 && (text[0] == '+' || text[0] == '-');
    int64_t n = 0;
    if (at == len || decimal_digits_end(text, len, at) != len)
        return false;
    for (; at < len; at++)
        n = n > PTC_DECIMAL_SCALE * 2 ? n : n * 10 + (text[at] - '0');
    *out = text[0] == '-' ? -n : n;
    return true;
}

PtcValue ptc_decimal_parse(PtcHeap *heap, const char *text, size_t len)
{
    size_t sign = len > 0 && (text[0] == '-' || text[0] == '+');
    size_t whole = decimal_digits_end(text, len, sign), end = whole;
    int64_t exponent = 0;
    if (whole < len && text[whole] == '.')
        end = decimal_digits_end(text, len, whole + 1);
    bool any = whole > sign || end > whole + 1;
    if (!any || !ptc_tick(heap->budget, 1 + (int64_t)len / 16))
        return any ? PTC_NONE : PTC_NIL;
    if (end < len &&
        ((text[end] | 32) != 'e' || !read_exponent(text + end + 1, len - end - 1, &exponent)))
        return PTC_NIL;
    size_t skip = sign && text[0] == '+';
    PtcValue unscaled = parse_digits(heap, text + skip, end - skip, whole - skip);
    int64_t places = end > whole ? (int64_t)(end - whole - 1) : 0;
    return ptc_decimal_new(heap, unscaled, places - exponent);
}

PtcValue ptc_decimal_from_double(PtcHeap *heap, double d)
{
    char text[PTC_DOUBLE_TEXT];
    return ptc_decimal_parse(heap, text, ptc_double_print(d, text));
}

static bool add_zeros(PtcBuf *buf, int64_t n)
{
    static const char zeros[] = "0000000000000000000000000000000000000000";
    for (; n > 0; n -= (int64_t)sizeof zeros - 1)
        if (!ptc_buf_add(buf, zeros, n < (int64_t)sizeof zeros - 1 ? (size_t)n : sizeof zeros - 1))
            return false;
    return true;
}

/* d.dddE+n */
static bool add_decimal_scientific(PtcBuf *buf, const char *digits, int64_t n, int64_t exponent)
{
    return ptc_buf_add(buf, digits, 1) &&
           (n == 1 ||
            (ptc_buf_add_char(buf, '.') && ptc_buf_add(buf, digits + 1, (size_t)n - 1))) &&
           (exponent == 0 || ptc_buf_addf(buf, "E%+lld", (long long)exponent));
}

static bool add_decimal_plain(PtcBuf *buf, const char *digits, int64_t n, int64_t scale)
{
    if (scale <= 0)
        return ptc_buf_add(buf, digits, (size_t)n) && (*digits == '0' || add_zeros(buf, -scale));
    if (n <= scale)
        return ptc_buf_add_cstr(buf, "0.") && add_zeros(buf, scale - n) &&
               ptc_buf_add(buf, digits, (size_t)n);
    return ptc_buf_add(buf, digits, (size_t)(n - scale)) && ptc_buf_add_char(buf, '.') &&
           ptc_buf_add(buf, digits + n - scale, (size_t)scale);
}

bool ptc_decimal_print(PtcHeap *heap, PtcBuf *buf, PtcValue v, bool plain)
{
    PtcDecimalParts a = ptc_decimal_parts(v);
    PtcBuf text;
    ptc_buf_init(&text, buf->mem, PTC_UNBOUNDED);
    bool negative = ptc_int_sign(a.unscaled) < 0;
    bool ok = ptc_int_print(heap, &text, a.unscaled) && (!negative || ptc_buf_add_char(buf, '-'));
    if (ok) {
        const char *digits = text.data + negative;
        int64_t n = (int64_t)text.len - negative, exponent = n - 1 - a.scale;
        bool scientific = !plain && (a.scale < 0 || exponent < -6);
        ok = scientific ? add_decimal_scientific(buf, digits, n, exponent)
                        : add_decimal_plain(buf, digits, n, a.scale);
    }
    buf->failed |= text.failed;
    ptc_buf_deinit(&text);
    return ok;
}

/* ------------------------------------------------------------------------------ arithmetic */

PtcValue ptc_decimal_add(PtcHeap *heap, PtcValue x, PtcValue y)
{
    PtcDecimalParts a = ptc_decimal_parts(x), b = ptc_decimal_parts(y);
    if (!align(heap, &a, &b))
        return PTC_NONE;
    return ptc_decimal_new(heap, ptc_int_add(heap, a.unscaled, b.unscaled), a.scale);
}

PtcValue ptc_decimal_sub(PtcHeap *heap, PtcValue x, PtcValue y)
{
    PtcDecimalParts a = ptc_decimal_parts(x), b = ptc_decimal_parts(y);
    if (!align(heap, &a, &b))
        return PTC_NONE;
    return ptc_decimal_new(heap, ptc_int_sub(heap, a.unscaled, b.unscaled), a.scale);
}

PtcValue ptc_decimal_mul(PtcHeap *heap, PtcValue x, PtcValue y)
{
    PtcDecimalParts a = ptc_decimal_parts(x), b = ptc_decimal_parts(y);
    return ptc_decimal_new(heap, ptc_int_mul(heap, a.unscaled, b.unscaled), a.scale + b.scale);
}

int ptc_decimal_sign(PtcValue v)
{
    return ptc_int_sign(ptc_decimal_parts(v).unscaled);
}

static int64_t integer_bit_length(PtcValue n)
{
    int64_t small;
    if (ptc_int_get(n, &small)) {
        uint64_t magnitude = small < 0 ? 0 - (uint64_t)small : (uint64_t)small;
        return magnitude ? 64 - __builtin_clzll(magnitude) : 0;
    }
    const PtcBig *big = (const PtcBig *)(uintptr_t)n;
    return (int64_t)big->obj.count * 64 - __builtin_clzll(big->limbs[big->obj.count - 1]);
}

/* Is the magnitude of a so much above that of b that their lengths tell?  Not that of 0. */
static bool is_far_above(PtcDecimalParts a, PtcDecimalParts b)
{
    /* |a| is at least 10^low, |b| is below 10^high; log10(2) is 0.30103 */
    int64_t low = (integer_bit_length(a.unscaled) - 1) * 30102 / 100000 - a.scale;
    int64_t high = integer_bit_length(b.unscaled) * 30104 / 100000 + 1 - b.scale;
    return low >= high;
}

/* Lengths are looked at first: 1e99999M and 1e-99999M cannot be written with the same number of places. */
int ptc_decimal_compare(PtcHeap *heap, PtcValue x, PtcValue y)
{
    PtcDecimalParts a = ptc_decimal_parts(x), b = ptc_decimal_parts(y);
    int sa = ptc_int_sign(a.unscaled), sb = ptc_int_sign(b.unscaled);
    if (sa != sb || sa == 0)
        return (sa > sb) - (sa < sb);
    if (is_far_above(a, b))
        return sa;
    if (is_far_above(b, a))
        return -sa;
    return align(heap, &a, &b) ? ptc_int_compare(a.unscaled, b.unscaled) : 0;
}

int64_t ptc_decimal_digits(PtcHeap *heap, PtcValue v)
{
    PtcBuf text;
    PtcValue n = ptc_decimal_parts(v).unscaled;
    ptc_heap_buf_init(heap, &text);
    bool ok = ptc_int_print(heap, &text, n);
    int64_t len = ok ? (int64_t)text.len - (ptc_int_sign(n) < 0) : 0;
    if (text.failed || text.full)
        ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
    ptc_buf_deinit(&text);
    return len;
}

/* Without memory, as nearly all of them are. */
static bool small_to_double(PtcDecimalParts a, double *out)
{
    char text[64];
    if (!ptc_is_int(a.unscaled))
        return false;
    int n = snprintf(text, sizeof text, "%lldE%lld", (long long)ptc_to_int(a.unscaled),
                     (long long)-a.scale);
    return ptc_double_parse(text, (size_t)n, out);
}

double ptc_decimal_to_double(PtcHeap *heap, PtcValue v)
{
    PtcBuf text;
    double d = 0;
    PtcDecimalParts a = ptc_decimal_parts(v);
    if (small_to_double(a, &d))
        return d;
    ptc_heap_buf_init(heap, &text);
    bool ok = ptc_int_print(heap, &text, a.unscaled) &&
              ptc_buf_addf(&text, "E%lld", (long long)-a.scale) &&
              ptc_double_parse(text.data, text.len, &d);
    if (!ok && (text.failed || text.full))
        ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
    ptc_buf_deinit(&text);
    return ok ? d : 0;
}

/* -------------------------------------------------------------------------------- rounding */

/* Is the part that is left nearer to the next number than to this, by sign: -1 less than half, 0 half, 1 more. */
static bool compare_half(PtcHeap *heap, PtcValue rem, PtcValue divisor, int *out)
{
    PtcValue twice = ptc_int_add(heap, rem, rem);
    PtcValue x = twice, y = divisor;
    if (x != PTC_NONE && ptc_int_sign(x) < 0)
        x = ptc_int_sub(heap, ptc_int(0), x);
    if (ptc_int_sign(y) < 0)
        y = ptc_int_sub(heap, ptc_int(0), y);
    if (x == PTC_NONE || y == PTC_NONE)
        return false;
    *out = ptc_int_compare(x, y);
    return true;
}

/* Does the quotient move away from zero? */
static bool moves_away(PtcRounding mode, int sign, int half, bool odd)
{
    switch (mode) {
    case PTC_ROUND_UP: return true;
    case PTC_ROUND_CEILING: return sign > 0;
    case PTC_ROUND_FLOOR: return sign < 0;
    case PTC_ROUND_HALF_UP: return half >= 0;
    case PTC_ROUND_HALF_DOWN: return half > 0;
    case PTC_ROUND_HALF_EVEN: return half > 0 || (half == 0 && odd);
    default: return false;
    }
}

/* a / b rounded to an integer; PTC_NIL when that is refused. */
static PtcValue rounded(PtcHeap *heap, PtcValue a, PtcValue b, PtcRounding mode)
{
    PtcValue quot, rem;
    int half;
    if (a == PTC_NONE || b == PTC_NONE || !ptc_int_divide(heap, a, b, &quot, &rem))
        return PTC_NONE;
    if (rem == ptc_int(0))
        return quot;
    if (mode == PTC_ROUND_UNNECESSARY)
        return PTC_NIL;
    int sign = (ptc_int_sign(a) < 0) != (ptc_int_sign(b) < 0) ? -1 : 1;
    if (!compare_half(heap, rem, b, &half))
        return PTC_NONE;
    return moves_away(mode, sign, half, !ptc_int_is_even(quot))
               ? ptc_int_add(heap, quot, ptc_int(sign))
               : quot;
}

static PtcValue scaled_or_nil(PtcHeap *heap, PtcValue unscaled, int64_t scale)
{
    return unscaled == PTC_NIL ? PTC_NIL : ptc_decimal_new(heap, unscaled, scale);
}

PtcValue ptc_decimal_set_scale(PtcHeap *heap, PtcValue v, int64_t scale, PtcRounding mode)
{
    PtcDecimalParts a = ptc_decimal_parts(v);
    if (!scale_fits(heap, scale))
        return PTC_NONE;
    if (scale >= a.scale)
        return ptc_decimal_new(heap, shifted(heap, a.unscaled, scale - a.scale), scale);
    PtcValue power = power_of_ten(heap, a.scale - scale);
    return scaled_or_nil(heap, rounded(heap, a.unscaled, power, mode), scale);
}

PtcValue ptc_decimal_round(PtcHeap *heap, PtcValue v, int64_t digits, PtcRounding mode)
{
    /* Rounding 9.99 up makes one more digit, so that it may be needed twice. */
    for (int i = 0; i < 2 && v != PTC_NONE && v != PTC_NIL; i++) {
        int64_t n = ptc_decimal_digits(heap, v);
        if (n == 0)
            return PTC_NONE;
        if (digits == 0 || n <= digits)
            return ptc_is_decimal(v) ? v : ptc_decimal_new(heap, v, 0);
        v = ptc_decimal_set_scale(heap, v, ptc_decimal_parts(v).scale - (n - digits), mode);
    }
    return v;
}

PtcValue ptc_decimal_strip(PtcHeap *heap, PtcValue v, int64_t least)
{
    PtcDecimalParts a = ptc_decimal_parts(v);
    /* Large steps first, so that many zeros cost few divisions. */
    for (int64_t step = 1 << 16; step > 0; step >>= 1) {
        while (a.scale - step >= least && a.unscaled != ptc_int(0)) {
            PtcValue quot, rem, power;
            if (step > ptc_decimal_digits(heap, a.unscaled))
                break;
            power = power_of_ten(heap, step);
            if (power == PTC_NONE || !ptc_int_divide(heap, a.unscaled, power, &quot, &rem))
                return PTC_NONE;
            if (rem != ptc_int(0))
                break;
            a.unscaled = quot;
            a.scale -= step;
        }
    }
    return ptc_decimal_new(heap, a.unscaled, a.scale);
}

PtcValue ptc_decimal_to_int(PtcHeap *heap, PtcValue v)
{
    PtcValue whole = ptc_decimal_set_scale(heap, v, 0, PTC_ROUND_DOWN);
    return whole == PTC_NONE ? PTC_NONE : ptc_decimal_parts(whole).unscaled;
}

/* -------------------------------------------------------------------------------- division */

PtcValue ptc_decimal_div_scale(PtcHeap *heap, PtcValue x, PtcValue y, int64_t scale,
                               PtcRounding mode)
{
    PtcDecimalParts a = ptc_decimal_parts(x), b = ptc_decimal_parts(y);
    int64_t shift = scale - (a.scale - b.scale);
    PtcValue over = shift > 0 ? shifted(heap, a.unscaled, shift) : a.unscaled;
    PtcValue under = shift < 0 ? shifted(heap, b.unscaled, -shift) : b.unscaled;
    return scaled_or_nil(heap, rounded(heap, over, under, mode), scale);
}

/* A quotient that ends has at most as many more places as the divisor has bits. */
static int64_t most_places(PtcValue divisor)
{
    if (ptc_is_int(divisor)) {
        int64_t n = ptc_to_int(divisor);
        return 64 - __builtin_clzll((uint64_t)(n < 0 ? -n : n));
    }
    return (int64_t)ptc_obj(divisor)->count * 64;
}

PtcValue ptc_decimal_div(PtcHeap *heap, PtcValue x, PtcValue y)
{
    PtcDecimalParts a = ptc_decimal_parts(x), b = ptc_decimal_parts(y);
    int64_t scale = a.scale - b.scale, more = most_places(b.unscaled);
    if (a.unscaled == ptc_int(0))
        return ptc_decimal_new(heap, ptc_int(0), scale);
    PtcValue q = ptc_decimal_div_scale(heap, x, y, scale + more, PTC_ROUND_UNNECESSARY);
    return q == PTC_NONE || q == PTC_NIL ? q : ptc_decimal_strip(heap, q, scale);
}

PtcValue ptc_decimal_div_digits(PtcHeap *heap, PtcValue x, PtcValue y, int64_t digits,
                                PtcRounding mode)
{
    PtcDecimalParts a = ptc_decimal_parts(x), b = ptc_decimal_parts(y);
    int64_t na = ptc_decimal_digits(heap, x), nb = ptc_decimal_digits(heap, y);
    int64_t ideal = a.scale - b.scale;
    if (na == 0 || nb == 0)
        return PTC_NONE;
    if (a.unscaled == ptc_int(0))
        return ptc_decimal_new(heap, ptc_int(0), ideal);
    /* The quotient has na - nb or one more digits before it is shifted. */
    int64_t scale = ideal + digits - (na - nb);
    PtcValue q = ptc_decimal_div_scale(heap, x, y, scale, mode);
    if (q == PTC_NONE || q == PTC_NIL)
        return q;
    if (ptc_decimal_digits(heap, q) > digits)
        q = ptc_decimal_div_scale(heap, x, y, scale - 1, mode);
    if (q == PTC_NONE || q == PTC_NIL)
        return q;
    return ptc_decimal_strip(heap, q, ideal);
}

bool ptc_decimal_divide(PtcHeap *heap, PtcValue x, PtcValue y, PtcValue *quot, PtcValue *rem)
{
    PtcDecimalParts a = ptc_decimal_parts(x), b = ptc_decimal_parts(y);
    PtcValue q, r;
    int64_t ideal = a.scale - b.scale;
    if (!align(heap, &a, &b) || !ptc_int_divide(heap, a.unscaled, b.unscaled, &q, &r))
        return false;
    *quot = ptc_decimal_new(heap, q, 0);
    *rem = ptc_decimal_new(heap, r, a.scale);
    if (*quot != PTC_NONE && ideal > 0)
        *quot = ptc_decimal_set_scale(heap, *quot, ideal, PTC_ROUND_UNNECESSARY);
    return *quot != PTC_NONE && *rem != PTC_NONE;
}
