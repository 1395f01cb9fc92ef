/* SPDX-License-Identifier: MIT
 * Numbers as cl-format writes them.  All work is on decimal digits as text, so that integers of any size and floats go
 * the same way and rounding is that of the digits one sees. */
#include "base/ascii.h"
#include "base/utf8.h"
#include "lisp/lib/text/cl_format.h"
#include "lisp/vm/vm_int.h"
#include "value/number/decimal.h"

enum { DIGITS_MOST = 5000 };

bool ptc_cl_pad(PtcBuf *buf, int64_t character, int64_t n)
{
    char bytes[4];
    size_t len = ptc_utf8_encode((uint32_t)character, bytes);
    for (; n > 0; n--)
        if (!ptc_buf_add(buf, bytes, len))
            return false;
    return true;
}

/* A buffer of the run for a part of the text; its owner stops the budget when it fails. */
static void part_init(PtcVM *vm, PtcBuf *buf)
{
    ptc_heap_buf_init(vm->heap, buf);
}

static bool fail_digits(PtcVM *vm)
{
    return ptc_fail(vm, PTC_E_VALUE, "cl-format: the number has more than %d digits", DIGITS_MOST);
}

/* ------------------------------------------------------------------------------ integers */

/* The digits of |v| in a radix, most significant first. */
static bool add_radix_digits(PtcVM *vm, PtcBuf *out, PtcValue v, int radix, bool *negative)
{
    int64_t n;
    if (radix == 10) {
        size_t at = out->len;
        if (!ptc_vm_write(vm, out, v, false))
            return false;
        *negative = out->len > at && out->data[at] == '-';
        if (*negative) {
            memmove(out->data + at, out->data + at + 1, out->len - at - 1);
            out->len--;
        }
        return true;
    }
    if (!ptc_int_get(v, &n))
        return ptc_fail(vm, PTC_E_VALUE,
                        "cl-format: only integers of 64 bits have a radix other than 10");
    char text[65];
    size_t i = sizeof text;
    uint64_t rest = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    *negative = n < 0;
    do
        text[--i] = "0123456789abcdefghijklmnopqrstuvwxyz"[rest % (uint64_t)radix];
    while ((rest /= (uint64_t)radix) > 0);
    return ptc_buf_add(out, text + i, sizeof text - i);
}

static bool add_grouped(PtcBuf *out, PtcText digits, int64_t comma, int64_t interval)
{
    for (size_t i = 0; i < digits.len; i++) {
        if (i > 0 && interval > 0 && (digits.len - i) % (size_t)interval == 0 &&
            !ptc_cl_pad(out, comma, 1))
            return false;
        if (!ptc_buf_add_char(out, digits.bytes[i]))
            return false;
    }
    return true;
}

/* text after so much padding that it has `width` characters. */
static bool add_padded_number(PtcBuf *out, PtcText text, int64_t width, int64_t pad)
{
    int64_t len = (int64_t)ptc_utf8_count(text.bytes, text.len);
    return ptc_cl_pad(out, pad, width - len) && ptc_buf_add(out, text.bytes, text.len);
}

bool ptc_cl_integer(PtcVM *vm, PtcBuf *buf, PtcValue v, const PtcClDirective *d, int radix,
                    int from)
{
    PtcBuf digits, text;
    bool negative = false;
    double whole = ptc_is_float(v) ? ptc_to_float(v) : 0.5;
    if (whole > -0x1p53 && whole < 0x1p53 && whole == (double)(int64_t)whole)
        v = ptc_int((int64_t)whole); /* 5.0 is written as 5 */
    part_init(vm, &digits);
    part_init(vm, &text);
    bool ok = ptc_is_integer(v) ? add_radix_digits(vm, &digits, v, radix, &negative)
                                : ptc_vm_write(vm, &digits, v, false);
    if (ok && (negative || (d->at && ptc_is_integer(v))))
        ok = ptc_buf_add_char(&text, negative ? '-' : '+');
    int64_t interval = d->colon && ptc_is_integer(v) ? ptc_cl_param(d, from + 3, 3) : 0;
    ok = ok && ptc_tick_bytes(&vm->budget, digits.len) &&
         add_grouped(&text, ptc_buf_view(&digits), ptc_cl_param(d, from + 2, ','), interval) &&
         add_padded_number(buf, ptc_buf_view(&text), ptc_cl_param(d, from, 0),
                           ptc_cl_param(d, from + 1, ' '));
    ptc_buf_deinit(&digits);
    ptc_buf_deinit(&text);
    return ok;
}

/* --------------------------------------------------------------------------------- words */

static const char ones[][10] = {"",        "one",     "two",       "three",    "four",
                                "five",    "six",     "seven",     "eight",    "nine",
                                "ten",     "eleven",  "twelve",    "thirteen", "fourteen",
                                "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
static const char tens[][8] = {"",      "",      "twenty",  "thirty", "forty",
                               "fifty", "sixty", "seventy", "eighty", "ninety"};
static const char scales[][18] = {"",
                                  "thousand",
                                  "million",
                                  "billion",
                                  "trillion",
                                  "quadrillion",
                                  "quintillion",
                                  "sextillion",
                                  "septillion",
                                  "octillion",
                                  "nonillion",
                                  "decillion",
                                  "undecillion",
                                  "duodecillion",
                                  "tredecillion",
                                  "quattuordecillion",
                                  "quindecillion",
                                  "sexdecillion",
                                  "septendecillion",
                                  "octodecillion",
                                  "novemdecillion",
                                  "vigintillion"};
enum { SCALES = sizeof scales / sizeof scales[0] };

/* 1 to 999. */
static bool add_hundreds(PtcBuf *out, int n)
{
    int rest = n % 100;
    bool ok =
        n < 100 || (ptc_buf_add_cstr(out, ones[n / 100]) && ptc_buf_add_cstr(out, " hundred"));
    if (ok && n >= 100 && rest > 0)
        ok = ptc_buf_add_char(out, ' ');
    if (rest < 20)
        return ok && ptc_buf_add_cstr(out, ones[rest]);
    ok = ok && ptc_buf_add_cstr(out, tens[rest / 10]);
    return ok && (rest % 10 == 0 ||
                  (ptc_buf_add_char(out, '-') && ptc_buf_add_cstr(out, ones[rest % 10])));
}

/* Digits without a sign as words, in groups of three with commas between. */
static bool add_cardinal(PtcBuf *out, PtcText digits)
{
    bool first = true;
    size_t groups = (digits.len + 2) / 3;
    for (size_t g = 0, i = 0; g < groups; g++) {
        int n = 0;
        size_t end = digits.len - 3 * (groups - 1 - g);
        for (; i < end; i++)
            n = n * 10 + (digits.bytes[i] - '0');
        if (n == 0)
            continue;
        const char *scale = scales[groups - 1 - g];
        if ((!first && !ptc_buf_add_cstr(out, ", ")) || !add_hundreds(out, n) ||
            (scale[0] && (!ptc_buf_add_char(out, ' ') || !ptc_buf_add_cstr(out, scale))))
            return false;
        first = false;
    }
    return !first || ptc_buf_add_cstr(out, "zero");
}

/* Makes the last word of what begins at `from` an ordinal: "twenty-one" to "twenty-first". */
static bool make_ordinal(PtcBuf *out, size_t from)
{
    static const char odd[][2][8] = {{"one", "first"},     {"two", "second"},   {"three", "third"},
                                     {"five", "fifth"},    {"eight", "eighth"}, {"nine", "ninth"},
                                     {"twelve", "twelfth"}};
    size_t at = out->len;
    while (at > from && out->data[at - 1] != ' ' && out->data[at - 1] != '-')
        at--;
    PtcText word = {out->data + at, out->len - at};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        if (ptc_text_is(word, odd[i][0])) {
            out->len = at;
            return ptc_buf_add_cstr(out, odd[i][1]);
        }
    if (word.len > 0 && word.bytes[word.len - 1] == 'y') {
        out->len--;
        return ptc_buf_add_cstr(out, "ieth");
    }
    return ptc_buf_add_cstr(out, "th");
}

static bool add_roman(PtcBuf *out, int64_t n, bool old)
{
    static const struct {
        int value;
        char text[3];
        bool modern; /* not of the old style: IV for IIII */
    } signs[] = {{1000, "M", false}, {900, "CM", true}, {500, "D", false}, {400, "CD", true},
                 {100, "C", false},  {90, "XC", true},  {50, "L", false},  {40, "XL", true},
                 {10, "X", false},   {9, "IX", true},   {5, "V", false},   {4, "IV", true},
                 {1, "I", false}};
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        for (; n >= signs[i].value && !(old && signs[i].modern); n -= signs[i].value)
            if (!ptc_buf_add_cstr(out, signs[i].text))
                return false;
    return true;
}

bool ptc_cl_words(PtcVM *vm, PtcBuf *buf, PtcValue v, const PtcClDirective *d)
{
    int64_t n;
    bool negative = false, ok;
    if (!ptc_is_integer(v))
        return ptc_fail_value_type(vm, v, "an argument of ~r", "an integer");
    if (d->at && ptc_int_get(v, &n) && n > 0 && n < 4000)
        return add_roman(buf, n, d->colon);
    PtcBuf digits;
    part_init(vm, &digits);
    ok = add_radix_digits(vm, &digits, v, 10, &negative);
    if (ok && (d->at || (digits.len + 2) / 3 > SCALES)) { /* too large for words */
        PtcClDirective plain = {.colon = true};
        ok = ptc_cl_integer(vm, buf, v, &plain, 10, 0);
    } else if (ok) {
        size_t from = buf->len;
        ok = (!negative || ptc_buf_add_cstr(buf, "minus ")) &&
             add_cardinal(buf, ptc_buf_view(&digits)) && (!d->colon || make_ordinal(buf, from));
    }
    ptc_buf_deinit(&digits);
    return ok;
}

/* --------------------------------------------------------------------------- fixed point */

/* Digits and where their point is: 0.d1d2d3... times ten to the power `point`. */
typedef struct {
    PtcBuf digits;
    int64_t point;
    bool negative;
} FixedNumber;

/* Reads -12.34E5 as str writes it. */
static bool fixed_read(PtcVM *vm, FixedNumber *f, PtcValue v)
{
    PtcBuf text;
    int64_t point = -1, exponent = 0, sign = 1;
    part_init(vm, &text);
    part_init(vm, &f->digits);
    bool ok = ptc_vm_write(vm, &text, v, false), after = false;
    for (size_t i = 0; ok && i < text.len; i++) {
        char c = text.data[i];
        if (c == '-' && !after)
            f->negative = true;
        else if (c == '-')
            sign = -1;
        else if (c == '.')
            point = (int64_t)f->digits.len;
        else if (c == 'E' || c == 'e')
            after = true;
        else if (ptc_ascii_is_digit(c) && after)
            exponent = exponent < DIGITS_MOST ? exponent * 10 + (c - '0') : exponent;
        else if (ptc_ascii_is_digit(c))
            ok = ptc_buf_add_char(&f->digits, c);
    }
    bool zero = true; /* -0.0 has no sign here */
    for (size_t i = 0; i < f->digits.len; i++)
        zero = zero && f->digits.data[i] == '0';
    f->negative = f->negative && !zero;
    f->point = (point < 0 ? (int64_t)f->digits.len : point) + sign * exponent;
    ptc_buf_deinit(&text);
    if (ok && (f->point > DIGITS_MOST || f->point < -DIGITS_MOST || f->digits.len > DIGITS_MOST))
        return fail_digits(vm);
    return ok;
}

/* Keeps `places` digits behind the point, half away from zero. */
static bool fixed_round(FixedNumber *f, int64_t places)
{
    int64_t keep = f->point + places;
    if (keep >= (int64_t)f->digits.len)
        return true;
    bool up = keep >= 0 && f->digits.data[keep] >= '5';
    f->digits.len = keep > 0 ? (size_t)keep : 0;
    for (size_t i = f->digits.len; up && i-- > 0;) {
        up = f->digits.data[i] == '9';
        f->digits.data[i] = up ? '0' : (char)(f->digits.data[i] + 1);
    }
    if (!up)
        return true;
    if (!ptc_buf_add_char(&f->digits, '0'))
        return false;
    memmove(f->digits.data + 1, f->digits.data, f->digits.len - 1);
    f->digits.data[0] = '1';
    f->point++;
    return true;
}

/* The digit at this place, 0 being the last before the point. */
static char fixed_digit(const FixedNumber *f, int64_t place)
{
    int64_t i = f->point - 1 - place;
    return i < 0 || i >= (int64_t)f->digits.len ? '0' : f->digits.data[i];
}

/* At least `before` digits, the point and `after` digits. */
static bool fixed_write(PtcVM *vm, const FixedNumber *f, PtcBuf *out, int64_t before, int64_t after)
{
    int64_t top = f->point > before ? f->point : before;
    while (top > before && fixed_digit(f, top - 1) == '0') /* the digits may begin with zeros */
        top--;
    for (int64_t place = top - 1; place >= -after; place--)
        if ((place == -1 && !ptc_buf_add_char(out, '.')) ||
            !ptc_buf_add_char(out, fixed_digit(f, place)))
            return false;
    return ptc_tick_bytes(&vm->budget, out->len) && (after > 0 || ptc_buf_add_char(out, '.'));
}

static bool arg_real(PtcVM *vm, PtcValue v, const char *role)
{
    return ptc_is_number(v) || ptc_is_decimal(v) || ptc_fail_value_type(vm, v, role, "a number");
}

static bool is_finite(PtcValue v)
{
    double x = ptc_is_float(v) ? ptc_to_float(v) : 0;
    return x - x == 0;
}

static bool fixed_text(PtcVM *vm, FixedNumber *f, PtcBuf *text, const PtcClDirective *d)
{
    int64_t width = ptc_cl_param(d, 0, 0), scale = ptc_cl_param(d, 2, 0);
    f->point += scale;
    int64_t all = (int64_t)f->digits.len - f->point; /* as many as there are, at least one */
    int64_t after = ptc_cl_param(d, 1, all > 1 ? all : 1);
    if (!fixed_round(f, after) || (f->negative && !ptc_buf_add_char(text, '-')) ||
        (!f->negative && d->at && !ptc_buf_add_char(text, '+')))
        return false;
    size_t sign = text->len;
    if (!fixed_write(vm, f, text, 1, after))
        return false;
    bool tight = width > 0 && (int64_t)text->len > width && text->data[sign] == '0' && after > 0;
    if (tight) {
        memmove(text->data + sign, text->data + sign + 1, text->len - sign - 1);
        text->len--;
    }
    return true;
}

bool ptc_cl_fixed(PtcVM *vm, PtcBuf *buf, PtcValue v, const PtcClDirective *d)
{
    FixedNumber f = {.point = 0};
    PtcBuf text;
    int64_t width = ptc_cl_param(d, 0, 0);
    if (!arg_real(vm, v, "an argument of ~f"))
        return false;
    if (!is_finite(v))
        return ptc_vm_write(vm, buf, v, false);
    part_init(vm, &text);
    bool ok = fixed_read(vm, &f, v) && fixed_text(vm, &f, &text, d);
    if (ok && d->has[3] && width > 0 && (int64_t)text.len > width)
        ok = ptc_cl_pad(buf, d->param[3], width);
    else if (ok)
        ok = add_padded_number(buf, ptc_buf_view(&text), width, ptc_cl_param(d, 4, ' '));
    ptc_buf_deinit(&f.digits);
    ptc_buf_deinit(&text);
    return ok;
}

bool ptc_cl_money(PtcVM *vm, PtcBuf *buf, PtcValue v, const PtcClDirective *d)
{
    FixedNumber f = {.point = 0};
    PtcBuf text;
    int64_t after = ptc_cl_param(d, 0, 2), width = ptc_cl_param(d, 2, 0),
            pad = ptc_cl_param(d, 3, ' ');
    if (!arg_real(vm, v, "an argument of ~$"))
        return false;
    if (!is_finite(v))
        return ptc_vm_write(vm, buf, v, false);
    part_init(vm, &text);
    bool ok = fixed_read(vm, &f, v) && fixed_round(&f, after) &&
              fixed_write(vm, &f, &text, ptc_cl_param(d, 1, 1), after);
    const char *sign = f.negative ? "-" : d->at ? "+" : "";
    int64_t blanks = width - (int64_t)text.len - (int64_t)strlen(sign);
    ok = ok && (!d->colon || ptc_buf_add_cstr(buf, sign)) && ptc_cl_pad(buf, pad, blanks) &&
         (d->colon || ptc_buf_add_cstr(buf, sign)) && ptc_buf_add(buf, text.data, text.len);
    ptc_buf_deinit(&f.digits);
    ptc_buf_deinit(&text);
    return ok;
}
