/* SPDX-License-Identifier: MIT
 * Values as text: str, join, and format after Java's Formatter.  Text is made in a buffer that counts
 * against the run's memory limit, or, when its length is known, in place. */
#include "lisp/lib/text/format.h"

#include <math.h>
#include <stdio.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "lisp/lazy/seq_int.h"
#include "lisp/lib/java/interop.h"
#include "lisp/vm/predicate.h"
#include "value/number/decimal.h"
#include "value/number/number.h"

/* ------------------------------------------------------------------------- str */

enum { INT_TEXT = 24, NOT_PLAIN = -1 };

static size_t write_int(char out[INT_TEXT], int64_t n)
{
    char digits[INT_TEXT];
    size_t k = 0, len = 0;
    uint64_t u = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    do {
        digits[k++] = (char)('0' + u % 10);
    } while (u /= 10);
    if (n < 0)
        out[len++] = '-';
    while (k > 0)
        out[len++] = digits[--k];
    return len;
}

/* Text of what is quick to write, as str gives it: bytes in *text or in scratch.  Else NOT_PLAIN. */
static int64_t plain_text(PtcValue v, char scratch[INT_TEXT], const char **text)
{
    *text = scratch;
    if (ptc_is_int(v))
        return (int64_t)write_int(scratch, ptc_to_int(v));
    if (ptc_is_string(v)) {
        *text = ptc_str_bytes(v);
        return (int64_t)ptc_str_len(v);
    }
    if (v == PTC_NIL)
        return 0;
    if (ptc_is_bool(v)) {
        *text = v == PTC_TRUE ? "true" : "false";
        return v == PTC_TRUE ? 4 : 5;
    }
    return NOT_PLAIN;
}

/* Appends a value as str shows it. */
static bool add_str_text(PtcVM *vm, PtcBuf *buf, PtcValue v)
{
    char scratch[INT_TEXT];
    const char *text;
    int64_t n = plain_text(v, scratch, &text);
    if (n != NOT_PLAIN)
        return ptc_buf_add(buf, text, (size_t)n) && ptc_tick(&vm->budget, 1 + n / 64);
    if (ptc_is_float(v) && !isfinite(ptc_to_float(v))) {
        double d = ptc_to_float(v);
        return ptc_buf_add_cstr(buf, isnan(d) ? "NaN" : d < 0 ? "-Infinity" : "Infinity");
    }
    return ptc_vm_write(vm, buf, v, false) && ptc_tick(&vm->budget, 1);
}

/* Several texts in one string of exactly known length: first measured, then written. */
typedef struct {
    size_t len;
    char *to; /* NULL while measuring */
} Exact;

static bool exact_add(PtcVM *vm, Exact *e, PtcValue v)
{
    char scratch[INT_TEXT];
    const char *text;
    int64_t n = plain_text(v, scratch, &text);
    if (n == NOT_PLAIN || !ptc_tick(&vm->budget, 1 + (e->to ? n / 64 : 0)))
        return false;
    if (e->to) {
        memcpy(e->to, text, (size_t)n);
        e->to += n;
        return true;
    }
    return !__builtin_add_overflow(e->len, (size_t)n, &e->len);
}

/* All arguments, if all are plain: PTC_NIL when one is not, PTC_NONE on failure. */
static PtcValue exact_str(PtcVM *vm, int argc, const PtcValue *argv)
{
    Exact e = {0};
    for (int i = 0; i < argc; i++)
        if (!exact_add(vm, &e, argv[i]))
            return vm->budget.stop == PTC_STOP_NONE ? PTC_NIL : PTC_NONE;
    PtcValue str = ptc_str_begin(vm->heap, PTC_T_STRING, e.len);
    if (str == PTC_NONE)
        return str;
    e.to = ptc_str_room(str);
    for (int i = 0; i < argc; i++)
        if (!exact_add(vm, &e, argv[i]))
            return PTC_NONE;
    ptc_str_seal(str);
    return str;
}

/* Short results of plain values are gathered on the C stack: one pass, one copy.  PTC_NIL: no. */
static PtcValue short_str(PtcVM *vm, int argc, const PtcValue *argv)
{
    char all[128] = {0}, scratch[INT_TEXT];
    size_t len = 0;
    for (int i = 0; i < argc; i++) {
        const char *text;
        int64_t n = plain_text(argv[i], scratch, &text);
        if (n == NOT_PLAIN || (size_t)n > sizeof all - len)
            return PTC_NIL;
        memcpy(all + len, text, (size_t)n);
        len += (size_t)n;
    }
    return ptc_str_new(vm->heap, all, len);
}

PTC_BUILTIN(
    core_str, "clojure.core", "str", 0, -1, PTC_GIVES(PTC_IS_STRING), "(str & values)",
    "The texts of all arguments joined; nil is nothing, collections print as pr-str shows them.",
    "(str \"a\" 1 :k nil 2.5) => \"a1:k2.5\"\n(str [1 \"b\"]) => \"[1 \\\"b\\\"]\"\n(str) => \"\"")
{
    if (argc == 1 && ptc_is_string(argv[0]))
        return ptc_give(out, argv[0]);
    PtcValue str = short_str(vm, argc, argv);
    if (str == PTC_NIL)
        str = exact_str(vm, argc, argv);
    if (str != PTC_NIL)
        return ptc_give(out, str);
    PtcBuf buf;
    ptc_heap_buf_init(vm->heap, &buf);
    bool ok = true;
    for (int i = 0; ok && i < argc; i++)
        ok = add_str_text(vm, &buf, argv[i]);
    return ptc_format_give(vm, &buf, ok, out);
}

/* Elements of a sequential with sep between, if all are plain; as exact_str. */
static PtcValue exact_join(PtcVM *vm, PtcValue sep, PtcValue coll)
{
    Exact e = {0};
    PtcValue str = PTC_NIL;
    for (int pass = 0; pass < 2; pass++) {
        PtcIter it;
        PtcValue x;
        bool first = true;
        if (!ptc_iter_init(&it, vm->heap, coll))
            return PTC_NIL;
        for (; ptc_iter_next(&it, &x); first = false)
            if ((!first && !exact_add(vm, &e, sep)) || !exact_add(vm, &e, x))
                return vm->budget.stop == PTC_STOP_NONE ? PTC_NIL : PTC_NONE;
        if (pass == 1)
            break;
        if ((str = ptc_str_begin(vm->heap, PTC_T_STRING, e.len)) == PTC_NONE)
            return str;
        e.to = ptc_str_room(str);
    }
    ptc_str_seal(str);
    return str;
}

PTC_BUILTIN(
    string_join, "clojure.string", "join", 1, 2,
    PTC_TAKES2(PTC_IS_SEQABLE, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_STRING),
    "(str/join separator? coll)",
    "The texts of all elements as one string, with the separator between them.",
    "(str/join \", \" [1 \"b\" :c]) => \"1, b, :c\"\n(str/join [\"a\" \"b\"]) => \"ab\"\n(str/join "
    "\",\" nil) => \"\"\n"
    "(str/join [\"a\"] \",\") !! type_error")
{
    PtcIter it;
    PtcValue x, sep = argc == 2 ? argv[0] : PTC_NIL;
    if (sep != PTC_NIL && !ptc_is_string(sep))
        return ptc_fail_type(vm, argv, 0,
                             "a string, the separator, which comes before the collection");
    if (!ptc_arg_all(vm, argv, argc - 1, &it))
        return false;
    PtcValue str =
        ptc_is_sequential(argv[argc - 1]) ? exact_join(vm, sep, argv[argc - 1]) : PTC_NIL;
    if (str != PTC_NIL)
        return ptc_give(out, str);
    PtcBuf buf;
    ptc_heap_buf_init(vm->heap, &buf);
    bool ok = true;
    for (bool first = true; ok && ptc_iter_next(&it, &x); first = false)
        ok = (first || add_str_text(vm, &buf, sep)) && add_str_text(vm, &buf, x);
    return ptc_format_give(vm, &buf, ok && ptc_iter_end(&it), out);
}

/* -------------------------------------------------- format: numbers as decimals */

/* 0.d1d2d3... times 10 to the power of `point`; no digits: zero.  There is room before the first digit. */
typedef struct {
    char *digits;
    int64_t count, point;
    bool negative;
    char room[PTC_DOUBLE_TEXT + 1];
} Decimal;

/* The shortest digits that mean this finite double, which is what Java rounds. */
static void decimal_of_double(Decimal *d, double x)
{
    char text[PTC_DOUBLE_TEXT];
    size_t len = ptc_double_print(fabs(x), text), i = 0;
    bool after = false;
    d->digits = d->room + 1;
    d->count = d->point = 0;
    d->negative = signbit(x) != 0;
    for (; i < len && text[i] != 'E'; i++) {
        if (text[i] == '.') {
            after = true;
            continue;
        }
        if (d->count > 0 || text[i] != '0')
            d->digits[d->count++] = text[i];
        d->point += after ? (d->count == 0 ? -1 : 0) : (d->count > 0 ? 1 : 0);
    }
    int power = 0;
    bool down = ++i < len && text[i] == '-';
    for (i += down; i < len; i++)
        power = power * 10 + (text[i] - '0');
    d->point = d->count == 0 ? 0 : d->point + (down ? -power : power);
}

/* The decimal text of an integer in `buf` (begun) is its digits. */
static bool decimal_of_int(PtcVM *vm, Decimal *d, PtcBuf *buf, PtcValue v)
{
    if (!ptc_buf_add_char(buf, '0') || !ptc_int_print(vm->heap, buf, v))
        return false;
    d->negative = ptc_int_sign(v) < 0;
    d->digits = buf->data + (d->negative ? 2 : 1);
    d->count = ptc_int_sign(v) == 0 ? 0 : (int64_t)buf->len - (d->negative ? 2 : 1);
    d->point = d->count;
    return true;
}

/* Rounds half up to `keep` digits. */
static void decimal_round(Decimal *d, int64_t keep)
{
    if (keep >= d->count)
        return;
    bool up = keep >= 0 && d->digits[keep] >= '5';
    d->count = keep < 0 ? 0 : keep;
    if (!up)
        return;
    int64_t i = keep - 1;
    for (; i >= 0 && d->digits[i] == '9'; i--)
        d->digits[i] = '0';
    if (i >= 0) {
        d->digits[i]++;
        return;
    }
    *--d->digits = '1';
    d->count++;
    d->point++;
}

static bool pad_format(PtcVM *vm, PtcBuf *buf, char c, int64_t n)
{
    char run[64];
    memset(run, c, sizeof run);
    for (; n > 0; n -= (int64_t)sizeof run)
        if (!ptc_buf_add(buf, run, n < (int64_t)sizeof run ? (size_t)n : sizeof run) ||
            !ptc_tick(&vm->budget, 1))
            return false;
    return true;
}

/* Digits from .. to, with zeros where there are none. */
static bool add_decimal_digits(PtcVM *vm, PtcBuf *buf, const Decimal *d, int64_t from, int64_t to)
{
    int64_t before = from < 0 ? (to < 0 ? to : 0) - from : 0;
    int64_t a = from < 0 ? 0 : from, b = to < d->count ? to : d->count;
    if (!pad_format(vm, buf, '0', before))
        return false;
    if (b > a && !ptc_buf_add(buf, d->digits + a, (size_t)(b - a)))
        return false;
    a = a > b ? a : b;
    return pad_format(vm, buf, '0', to - a);
}

/* The digits before the point, in groups of three if wanted. */
static bool add_grouped_whole(PtcVM *vm, PtcBuf *buf, const Decimal *d, bool groups)
{
    if (d->point <= 0)
        return ptc_buf_add_char(buf, '0');
    int64_t step = groups ? 3 : d->point;
    for (int64_t from = 0, to = (d->point - 1) % step + 1; from < d->point; from = to, to += step)
        if ((from > 0 && !ptc_buf_add_char(buf, ',')) || !add_decimal_digits(vm, buf, d, from, to))
            return false;
    return true;
}

static bool add_fixed(PtcVM *vm, PtcBuf *buf, Decimal *d, int64_t precision, bool groups, bool dot)
{
    decimal_round(d, d->point + precision);
    return add_grouped_whole(vm, buf, d, groups) &&
           ((precision == 0 && !dot) || ptc_buf_add_char(buf, '.')) &&
           add_decimal_digits(vm, buf, d, d->point, d->point + precision);
}

static bool format_scientific(PtcVM *vm, PtcBuf *buf, Decimal *d, int64_t precision)
{
    decimal_round(d, precision + 1);
    int64_t power = d->count ? d->point - 1 : 0;
    return add_decimal_digits(vm, buf, d, 0, 1) && (precision == 0 || ptc_buf_add_char(buf, '.')) &&
           add_decimal_digits(vm, buf, d, 1, precision + 1) &&
           ptc_buf_addf(buf, "e%c%02lld", power < 0 ? '-' : '+',
                        (long long)(power < 0 ? -power : power));
}

static bool add_general(PtcVM *vm, PtcBuf *buf, Decimal *d, int64_t precision, bool groups)
{
    precision = precision == 0 ? 1 : precision;
    decimal_round(d, precision);
    if (d->count == 0)
        return add_fixed(vm, buf, d, precision - 1, groups, false);
    if (d->point > -4 && d->point <= precision)
        return add_fixed(vm, buf, d, precision - d->point, groups, false);
    return format_scientific(vm, buf, d, precision - 1);
}

/* ---------------------------------------------------------------------- format */

/* One %-directive. */
typedef struct {
    const char *text; /* where it begins, for messages */
    size_t len;
    bool left, plus, space, zero, groups, parens, alternate, upper;
    int64_t width, precision; /* -1: none */
    int64_t index;            /* of the argument, from 1; 0: the next, -1: the same again */
    char conversion;
} Directive;

/* As much of a directive as a message shows. */
static PtcText shown_directive(const Directive *d)
{
    return ptc_text_cut((PtcText){d->text, d->len}, 20);
}

static bool fail_directive(PtcVM *vm, const Directive *d, unsigned class, const char *why)
{
    ptc_fail(vm, PTC_E_VALUE | class, "format: %.*s %s", PTC_ARG(shown_directive(d)), why);
    return ptc_fail_hint(vm, "conversions are %%s %%d %%f %%e %%g %%x %%o %%b %%c %%n %%%%");
}

/* Digits at *p; -1 when there are none or too many. */
static int64_t read_directive_number(const char **p, const char *end)
{
    int64_t n = -1;
    for (; *p < end && ptc_ascii_is_digit(**p); ++*p)
        n = n > 99999999 ? n : (n < 0 ? 0 : n) * 10 + (**p - '0');
    return n;
}

static bool read_flag(Directive *d, char c)
{
    switch (c) {
    case '-': return d->left = true;
    case '+': return d->plus = true;
    case ' ': return d->space = true;
    case '0': return d->zero = true;
    case ',': return d->groups = true;
    case '(': return d->parens = true;
    case '#': return d->alternate = true;
    default: return false;
    }
}

/* Reads what follows a %; *p is left after it. */
static bool read_percent_directive(PtcVM *vm, Directive *d, const char **p, const char *end)
{
    const char *q = *p;
    *d = (Directive){.text = *p - 1, .width = -1, .precision = -1};
    int64_t n = read_directive_number(&q, end);
    if (n > 0 && **p != '0' && q < end && *q == '$') {
        d->index = n;
        *p = q + 1;
    } else if (*p < end && **p == '<') {
        d->index = -1;
        ++*p;
    }
    while (*p < end && read_flag(d, **p))
        ++*p;
    d->width = read_directive_number(p, end);
    if (*p < end && **p == '.') {
        ++*p;
        d->precision = read_directive_number(p, end);
        d->len = (size_t)(*p - d->text);
        if (d->precision < 0)
            return fail_directive(vm, d, PTC_AS(UNKNOWN_CONVERSION),
                                  "has no digits after the point");
    }
    uint32_t code = 0;
    *p += *p < end ? ptc_utf8_decode(*p, (size_t)(end - *p), &code) : 0;
    d->len = (size_t)(*p - d->text);
    d->conversion = code < 0x80 ? (char)code : 0;
    d->upper = d->conversion && strchr("SBC", d->conversion);
    if (d->upper)
        d->conversion |= 32;
    if (!d->conversion || !strchr("sdfeEgGxXobcn%", d->conversion))
        return fail_directive(vm, d, PTC_AS(UNKNOWN_CONVERSION), "is not a directive of format");
    if ((d->left || d->zero) && d->width < 0)
        return fail_directive(vm, d, PTC_AS(MISSING_WIDTH), "needs a width after its flag");
    if (d->precision >= 0 && strchr("dxXocn%", d->conversion))
        return fail_directive(vm, d, PTC_AS(FORMAT_PRECISION), "takes no precision");
    return true;
}

/* Text to its width, counted in graphemes, and cut to its precision. */
static bool add_padded_directive(PtcVM *vm, PtcBuf *buf, const Directive *d, const char *text,
                                 size_t len)
{
    int64_t count = 0;
    size_t end = 0;
    bool cut = d->precision >= 0 && strchr("sb", d->conversion);
    while (end < len && !(cut && count == d->precision)) {
        end += ptc_utf8_grapheme(&vm->budget, text + end, len - end);
        count++;
        if (!ptc_tick(&vm->budget, 1))
            return false;
    }
    return (d->left || pad_format(vm, buf, ' ', d->width - count)) && ptc_buf_add(buf, text, end) &&
           (!d->left || pad_format(vm, buf, ' ', d->width - count));
}

/* A number to its width: sign, zeros, digits. */
static bool add_signed(PtcVM *vm, PtcBuf *buf, const Directive *d, bool negative,
                       const PtcBuf *digits, bool zeros)
{
    const char *before = negative ? (d->parens ? "(" : "-") : d->plus ? "+" : d->space ? " " : "";
    const char *after = negative && d->parens ? ")" : "";
    int64_t fill = d->width - (int64_t)(strlen(before) + digits->len + strlen(after));
    zeros = zeros && d->zero && !d->left;
    return (d->left || zeros || pad_format(vm, buf, ' ', fill)) && ptc_buf_add_cstr(buf, before) &&
           (!zeros || pad_format(vm, buf, '0', fill)) &&
           ptc_buf_add(buf, digits->data, digits->len) && ptc_buf_add_cstr(buf, after) &&
           (!d->left || pad_format(vm, buf, ' ', fill));
}

/* Digits of base 2^bits of an integer: of its 64-bit form when it fits that, else of its magnitude. */
static bool add_binary(PtcVM *vm, PtcBuf *buf, PtcValue v, unsigned bits, bool *negative)
{
    uint64_t word = ptc_is_int(v) ? (uint64_t)ptc_to_int(v) : 0;
    const PtcBig *big = (const PtcBig *)(uintptr_t)v;
    const uint64_t *limbs = ptc_is_int(v) ? &word : big->limbs;
    size_t n = ptc_is_int(v) ? 1 : big->obj.count;
    *negative = !ptc_is_int(v) && (big->obj.flags & PTC_BIG_NEGATIVE) != 0;
    if (n == 1 && !ptc_is_int(v) && big->limbs[0] <= (uint64_t)INT64_MAX + *negative) {
        word = *negative ? 0 - big->limbs[0] : big->limbs[0];
        limbs = &word;
        *negative = false;
    }
    bool begun = false;
    for (size_t at = (n * 64 + bits - 1) / bits; at-- > 0;) {
        size_t bit = at * bits, limb = bit / 64, shift = bit % 64;
        uint64_t x = limbs[limb] >> shift;
        if (shift + bits > 64 && limb + 1 < n)
            x |= limbs[limb + 1] << (64 - shift);
        x &= (1u << bits) - 1;
        begun = begun || x != 0 || at == 0;
        if (!ptc_tick(&vm->budget, 1) || (begun && !ptc_buf_add_char(buf, "0123456789abcdef"[x])))
            return false;
    }
    return true;
}

static bool fail_conversion(PtcVM *vm, const Directive *d, PtcValue v, const char *expected)
{
    char role[48];
    snprintf(role, sizeof role, "the argument for %.*s", PTC_ARG(shown_directive(d)));
    return ptc_fail_value_type(vm, v, role, expected);
}

/* %d %x %X %o */
static bool format_integer(PtcVM *vm, PtcBuf *buf, PtcBuf *part, const Directive *d, PtcValue v)
{
    bool negative = false, ok;
    if (!ptc_is_integer(v))
        return fail_conversion(vm, d, v, "an integer; (int x) makes one");
    if (d->conversion == 'd') {
        Decimal dec;
        PtcBuf digits;
        ptc_heap_buf_init(vm->heap, &digits);
        ok = decimal_of_int(vm, &dec, &digits, v) && add_grouped_whole(vm, part, &dec, d->groups);
        negative = ok && dec.negative;
        ok = ptc_format_check(vm, &digits, ok);
        ptc_buf_deinit(&digits);
    } else {
        const char *mark = d->conversion == 'o' ? "0" : "0x";
        ok = (!d->alternate || ptc_buf_add_cstr(part, mark)) &&
             add_binary(vm, part, v, d->conversion == 'o' ? 3 : 4, &negative);
    }
    return ok && add_signed(vm, buf, d, negative, part, true);
}

/* %f %e %g */
static bool format_float(PtcVM *vm, PtcBuf *buf, PtcBuf *part, const Directive *d, PtcValue v)
{
    int64_t precision = d->precision < 0 ? 6 : d->precision;
    PtcDecimalParts parts = ptc_decimal_parts(v);
    if (!ptc_is_number(v) && !ptc_is_decimal(v))
        return fail_conversion(vm, d, v, "a number");
    if (ptc_is_float(v) && !isfinite(ptc_to_float(v))) {
        double x = ptc_to_float(v);
        return isnan(x) ? add_padded_directive(vm, buf, d, "NaN", 3)
                        : ptc_buf_add_cstr(part, "Infinity") &&
                              add_signed(vm, buf, d, x < 0, part, false);
    }
    Decimal dec = {0};
    PtcBuf digits;
    ptc_heap_buf_init(vm->heap, &digits);
    bool ok = true;
    if (ptc_is_float(v))
        decimal_of_double(&dec, ptc_to_float(v));
    else
        ok = decimal_of_int(vm, &dec, &digits, parts.unscaled);
    dec.point -= dec.count ? parts.scale : 0;
    if (ok && d->conversion == 'f')
        ok = add_fixed(vm, part, &dec, precision, d->groups, d->alternate);
    else if (ok && (d->conversion == 'e' || d->conversion == 'E'))
        ok = format_scientific(vm, part, &dec, precision);
    else if (ok)
        ok = add_general(vm, part, &dec, precision, d->groups);
    ok = ptc_format_check(vm, &digits, ok);
    ptc_buf_deinit(&digits);
    return ok && add_signed(vm, buf, d, dec.negative, part, true);
}

/* %s %b %c */
static bool format_text_directive(PtcVM *vm, PtcBuf *buf, PtcBuf *part, const Directive *d,
                                  PtcValue v)
{
    if (d->conversion == 'b')
        v = ptc_bool(ptc_truthy(v));
    if (d->conversion == 'c' && !ptc_is_char(vm, v))
        return fail_conversion(vm, d, v, "a string of one character");
    if (ptc_is_string(v))
        return add_padded_directive(vm, buf, d, ptc_str_bytes(v), ptc_str_len(v));
    return add_str_text(vm, part, v) && add_padded_directive(vm, buf, d, part->data, part->len);
}

/* %S %B %C: what was written since `from`, in capitals. */
static bool raise_case(PtcVM *vm, PtcBuf *buf, size_t from)
{
    PtcValue upper, text = ptc_str_new(vm->heap, buf->data + from, buf->len - from);
    if (text == PTC_NONE || !ptc_as(vm, "clojure.string/upper-case", 1, &text, &upper))
        return false;
    buf->len = from;
    return ptc_buf_add(buf, ptc_str_bytes(upper), ptc_str_len(upper));
}

/* One directive with its argument; `part` is an empty buffer for its parts. */
static bool format_one(PtcVM *vm, PtcBuf *buf, PtcBuf *part, const Directive *d, PtcValue v)
{
    size_t from = buf->len;
    if (v == PTC_NIL && d->conversion != 'b') { /* a text like any other */
        Directive text = *d;
        text.conversion = 's';
        return add_padded_directive(vm, buf, &text,
                                    d->upper || d->conversion <= 'Z' ? "NULL" : "null", 4);
    }
    if (strchr("sbc", d->conversion))
        return format_text_directive(vm, buf, part, d, v) &&
               (!d->upper || raise_case(vm, buf, from));
    bool ok = (strchr("feEgG", d->conversion) ? format_float : format_integer)(vm, buf, part, d, v);
    if (ok && d->conversion <= 'Z') /* %X %E %G */
        for (; from < buf->len; from++)
            if (ptc_ascii_is_lower(buf->data[from]))
                buf->data[from] ^= 0x20;
    return ok;
}

static bool format_all(PtcVM *vm, int argc, const PtcValue *argv, PtcBuf *buf, PtcBuf *part)
{
    const char *p = ptc_str_bytes(argv[0]), *end = p + ptc_str_len(argv[0]);
    int64_t next = 1, used = 0;
    while (p < end) {
        const char *at = memchr(p, '%', (size_t)(end - p));
        size_t n = (size_t)((at ? at : end) - p);
        if (!ptc_buf_add(buf, p, n) || !ptc_tick(&vm->budget, 1 + (int64_t)(n / 64)))
            return false;
        p += n;
        if (!at)
            break;
        Directive d;
        p++;
        if (!read_percent_directive(vm, &d, &p, end))
            return false;
        if (d.conversion == '%' || d.conversion == 'n') {
            if (!add_padded_directive(vm, buf, &d, d.conversion == '%' ? "%" : "\n", 1))
                return false;
            continue;
        }
        used = d.index > 0 ? d.index : d.index < 0 ? used : next++;
        if (used < 1 || used >= argc)
            return fail_directive(vm, &d, PTC_AS(MISSING_ARGUMENT), "has no argument");
        ptc_buf_clear(part);
        bool ok = format_one(vm, buf, part, &d, argv[used]);
        if (!ptc_format_check(vm, part, ok))
            return false;
    }
    return true;
}

bool ptc_format_text(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out)
{
    PtcBuf buf, part;
    if (!ptc_is_string(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a string, the template");
    ptc_heap_buf_init(vm->heap, &buf);
    ptc_heap_buf_init(vm->heap, &part);
    bool ok = format_all(vm, argc, argv, &buf, &part);
    ptc_buf_deinit(&part);
    return ptc_format_give(vm, &buf, ok, out);
}

PTC_BUILTIN_EXPR(
    core_format, "clojure.core", "format", 1, -1,
    PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_STRING), "(format template & args)",
    "The template with its directives replaced by the arguments, as Java's formatter does: "
    "%s %d %f %e %g %x %o %b %c %n %%, with flags, width and precision.",
    "(format \"%s has %d\" \"cart\" 3) => \"cart has 3\"\n"
    "(format \"%8.2f|%-4s|%04d\" 3.14159 \"ab\" 7) => \"    3.14|ab  |0007\"\n"
    "(format \"%,d %x %e\" 1234567 255 1234.5) => \"1,234,567 ff 1.234500e+03\"\n"
    "(format \"%s %s\" 1) !! value_error\n(format \"%d\" 1.5) !! type_error",
    ptc_format_text(vm, argc, argv, out))

PTC_BUILTIN_TABLE(ptc_lib_format, core_str, string_join, core_format);
