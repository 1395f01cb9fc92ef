/* SPDX-License-Identifier: MIT
 * read_atom.c - numbers, strings, characters, keywords and symbols. */
#define _GNU_SOURCE /* memmem */
#include "lisp/read/read_int.h"

#include <math.h>

#include "base/ascii.h"
#include "base/text/nearest.h"
#include "base/utf8.h"
#include "value/number/bigint.h"
#include "value/number/decimal.h"
#include "value/number/number.h"

enum {
    RADIX_DIGITS = 256, /* of an integer literal that is not decimal */
    RATIO_DIGITS = 300, /* of both numbers of a ratio together; a quotient needs no more */
};

/* -------------------------------------------------------------- characters */

/* What a byte means between tokens. */
typedef enum { ATOM_IN_TOKEN, ATOM_BLANK, ATOM_ENDS_TOKEN, ATOM_CONTROL, ATOM_WIDE } ByteClass;

static ByteClass byte_class(unsigned char c)
{
    switch (c) {
    case ' ':
    case ',':
    case '\t':
    case '\n':
    case '\v':
    case '\f':
    case '\r': return ATOM_BLANK;
    case '(':
    case ')':
    case '[':
    case ']':
    case '{':
    case '}':
    case '"':
    case ';':
    case '\\':
    case '^':
    case '@':
    case '`':
    case '~': return ATOM_ENDS_TOKEN;
    default: return c < ' ' || c == 0x7f ? ATOM_CONTROL : c < 0x80 ? ATOM_IN_TOKEN : ATOM_WIDE;
    }
}

/* White space of other scripts, no-break and zero-width spaces and byte order marks with them. */
static bool wide_blank(uint32_t c)
{
    return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200b) || c == 0x2028 ||
           c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000 || c == 0xfeff;
}

/* Quotation marks that word processors put in the place of ' and ". */
static bool curly_quote(uint32_t c)
{
    return c >= 0x2018 && c <= 0x201f;
}

static uint32_t decode_source_char(const PtcReading *r, uint32_t at, uint32_t *code)
{
    return (uint32_t)ptc_utf8_decode(r->source + at, r->len - at, code);
}

uint32_t ptc_read_blank(const PtcReading *r, uint32_t at)
{
    ByteClass c = byte_class((unsigned char)r->source[at]);
    uint32_t code;
    if (c != ATOM_WIDE)
        return c == ATOM_BLANK;
    uint32_t n = decode_source_char(r, at, &code);
    return wide_blank(code) ? n : 0;
}

uint32_t ptc_read_token_end(const PtcReading *r, uint32_t at)
{
    while (at < r->len) {
        ByteClass c = byte_class((unsigned char)r->source[at]);
        uint32_t n = 1, code;
        if (c == ATOM_WIDE) {
            n = decode_source_char(r, at, &code);
            c = wide_blank(code) ? ATOM_BLANK : curly_quote(code) ? ATOM_CONTROL : ATOM_IN_TOKEN;
        }
        if (c != ATOM_IN_TOKEN)
            break;
        at += n;
    }
    return at;
}

/* The character at r->pos begins nothing. */
static PtcForm *bad_char(PtcReading *r)
{
    uint32_t code, n = decode_source_char(r, r->pos, &code);
    PtcDiag *d;
    if (curly_quote(code)) {
        d = PTC_READ_FAIL(r, r->pos, r->pos + n, "`%.*s` is not a quotation mark of this language",
                          PTC_ARG_OF(r->source + r->pos, n));
        ptc_diag_hint(d, "write strings with plain quotes: \"text\"");
        return NULL;
    }
    if (code == 0)
        d = PTC_READ_FAIL(r, r->pos, r->pos + n, "NUL byte outside a string");
    else
        d = PTC_READ_FAIL(r, r->pos, r->pos + n, "control character U+%04X outside a string", code);
    ptc_diag_hint(d, "remove it");
    return NULL;
}

/* The value of a digit in radix 36, or 36. */
static PtcForm *text_form(PtcReading *r, PtcFormKind kind, uint32_t first, const char *text,
                          size_t len)
{
    PtcForm *f = ptc_read_new(r, kind, first);
    if (f) {
        f->text = text;
        f->len = len;
    }
    return f;
}

/* -------------------------------------------------------- strings, regexes */

/* From behind the opening quote to the closing one; r->len when it is missing. */
static uint32_t closing_quote(const PtcReading *r, uint32_t at, bool *escapes)
{
    *escapes = false;
    while (at < r->len && r->source[at] != '"') {
        bool skip = r->source[at] == '\\';
        *escapes |= skip;
        at += skip && at + 1 < r->len ? 2 : 1;
    }
    return at;
}

static PtcForm *unclosed_text(PtcReading *r, const char *what)
{
    uint32_t line, column;
    ptc_diag_place(r->source, r->len, r->pos, &line, &column);
    PtcDiag *d = PTC_READ_FAIL(
        r, r->pos, r->len, "the %s opened at line %u, column %u is never closed: `\"` is missing",
        what, line, column);
    if (d)
        d->detail = PTC_DETAIL_UNCLOSED;
    ptc_diag_hint(d, "add `\"` where it ends; a quote inside it is written \\\"");
    return NULL;
}

/* Four hex digits at `at`, before `end`; -1 when they are not there. */
static int32_t read_four_hex(const PtcReading *r, uint32_t at, uint32_t end)
{
    int32_t code = 0;
    if (end - at < 4)
        return -1;
    for (uint32_t i = at; i < at + 4; i++) {
        int d = ptc_ascii_digit_value(r->source[i]);
        if (d > 15)
            return -1;
        code = code * 16 + d;
    }
    return code;
}

/* Reads \uXXXX, or two of them that make a surrogate pair, at `at`; returns the length, 0 when it is
 * no character. */
static uint32_t read_unicode_escape(const PtcReading *r, uint32_t at, uint32_t end, uint32_t *code)
{
    int32_t high = read_four_hex(r, at + 2, end);
    if (high < 0 || (high >= 0xdc00 && high <= 0xdfff))
        return 0;
    *code = (uint32_t)high;
    if (high < 0xd800 || high > 0xdbff)
        return 6;
    if (end - at < 12 || r->source[at + 6] != '\\' || r->source[at + 7] != 'u')
        return 0;
    int32_t low = read_four_hex(r, at + 8, end);
    if (low < 0xdc00 || low > 0xdfff)
        return 0;
    *code = 0x10000 + (((uint32_t)high - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
    return 12;
}

static void bad_escape(PtcReading *r, uint32_t at)
{
    uint32_t code, n = 1 + decode_source_char(r, at + 1, &code);
    const char *c = r->source + at + 1;
    PtcDiag *d = PTC_READ_FAIL(r, at, at + n, "unknown escape `%s` in a string",
                               ptc_read_excerpt(r, at, at + n).text);
    if (*c == 'u')
        ptc_diag_hint(d, "\\u takes four hex digits (\\u00e9), two such for a character beyond "
                         "U+FFFF; or write the character itself");
    else if (ptc_ascii_is_digit(*c) || *c == 'x')
        ptc_diag_hint(d, "write a character by its code as \\u0041, or in octal up to \\377");
    else if (ptc_ascii_digit_value(*c) < 36 || *c == '.' || *c == '[' || *c == '(')
        ptc_diag_hint(
            d, "a backslash is written \\\\; in a regex literal #\"\\%c\" it stays single", *c);
    else
        ptc_diag_hint(d, "write `%.*s` without the backslash", PTC_ARG_OF(c, n - 1));
}

/* Reads one to three octal digits up to 377 behind the backslash at `at`; returns the length, 0 when there are none. */
static uint32_t octal_escape(const PtcReading *r, uint32_t at, uint32_t end, uint32_t *code)
{
    uint32_t n = 1;
    for (*code = 0; n < 4 && at + n < end && ptc_ascii_digit_value(r->source[at + n]) < 8; n++)
        *code = *code * 8 + (uint32_t)ptc_ascii_digit_value(r->source[at + n]);
    return n > 1 && *code <= 0377 ? n : 0;
}

/* Decodes the escape at `at` into out; returns its length in the source, 0 when it is wrong. */
static uint32_t decode_escape(PtcReading *r, uint32_t at, uint32_t end, char **out)
{
    static const char names[] = "ntrbf\"\\", codes[] = "\n\t\r\b\f\"\\";
    const char *name = r->source[at + 1] ? strchr(names, r->source[at + 1]) : NULL;
    uint32_t code, n;
    if (name) {
        *(*out)++ = codes[name - names];
        return 2;
    }
    n = r->source[at + 1] == 'u' ? read_unicode_escape(r, at, end, &code)
                                 : octal_escape(r, at, end, &code);
    if (n != 0) {
        *out += ptc_utf8_encode(code, *out);
        return n;
    }
    bad_escape(r, at);
    return 0;
}

/* The text between `at` and `end` with its escapes decoded; never longer than it was. */
static char *decode_text(PtcReading *r, uint32_t at, uint32_t end, size_t *len)
{
    char *text = ptc_arena_alloc(r->in->arena, end - at), *out = text;
    if (!text)
        return NULL;
    while (at < end) {
        if (r->source[at] != '\\') {
            *out++ = r->source[at++];
            continue;
        }
        uint32_t n = decode_escape(r, at, end, &out);
        if (n == 0)
            return NULL;
        at += n;
    }
    *len = (size_t)(out - text);
    return text;
}

/* "key": value, as JSON has it. */
static PtcForm *json_colon(PtcReading *r, uint32_t colon)
{
    PtcDiag *d = PTC_READ_FAIL(r, colon, colon + 1, "`:` directly after a string, as in JSON");
    ptc_diag_hint(d,
                  "a map is written {\"a\" 1, \"b\" 2} or {:a 1, :b 2}, without `:` after the key");
    return NULL;
}

PtcForm *ptc_read_string(PtcReading *r)
{
    uint32_t first = r->pos, at = first + 1;
    bool escapes;
    uint32_t end = closing_quote(r, at, &escapes);
    if (end == r->len)
        return unclosed_text(r, "string");
    const char *text = r->source + at;
    size_t len = end - at;
    if (escapes && !(text = decode_text(r, at, end, &len)))
        return NULL;
    r->pos = end + 1;
    if (r->pos < r->len && r->source[r->pos] == ':')
        return json_colon(r, r->pos);
    return text_form(r, PTC_F_STRING, first, text, len);
}

PtcForm *ptc_read_regex(PtcReading *r)
{
    uint32_t first = r->pos, at = first + 2;
    bool escapes;
    uint32_t end = closing_quote(r, at, &escapes);
    if (end == r->len)
        return unclosed_text(r, "regex");
    r->pos = end + 1;
    return text_form(r, PTC_F_REGEX, first, r->source + at, end - at);
}

/* ------------------------------------------------------ character literals */

static const struct {
    const char *name, *text;
} char_names[] = {
    {"newline", "\n"}, {"space", " "},      {"tab", "\t"},
    {"return", "\r"},  {"backspace", "\b"}, {"formfeed", "\f"},
};
enum { CHAR_NAMES = sizeof char_names / sizeof char_names[0] };

static PtcForm *bad_char_literal(PtcReading *r, uint32_t end)
{
    const char *name = r->source + r->pos + 1;
    size_t len = end - r->pos - 1;
    PtcNearest near;
    ptc_nearest_init(&near, name, len);
    for (size_t i = 0; i < CHAR_NAMES; i++)
        ptc_nearest_offer(&near, char_names[i].name, strlen(char_names[i].name));
    PtcDiag *d = PTC_READ_FAIL(r, r->pos, end, "`%s` is not a character",
                               ptc_read_excerpt(r, r->pos, end).text);
    if (near.best)
        ptc_diag_hint(d, "did you mean `\\%s`?", near.best);
    else if (*name == 'u' && len > 1 && ptc_ascii_is_digit(name[1]))
        ptc_diag_hint(d, "\\u takes four hex digits: \\u00e9");
    else if (*name == 'o' && len > 1 && ptc_ascii_is_digit(name[1]))
        ptc_diag_hint(d, "\\o takes one to three octal digits up to 377: \\o101");
    else
        ptc_diag_hint(d,
                      "a character is \\a, \\newline, \\space, \\tab, \\return or \\u0041; longer "
                      "text is a \"string\"");
    return NULL;
}

/* The code of uXXXX or oNNN, -1 when it is neither. */
static int32_t coded_char(const PtcReading *r, uint32_t at, uint32_t end)
{
    if (r->source[at] == 'u')
        return end - at == 5 ? read_four_hex(r, at + 1, end) : -1;
    if (r->source[at] != 'o' || end - at < 2 || end - at > 4)
        return -1;
    int32_t code = 0;
    for (uint32_t i = at + 1; i < end; i++) {
        int d = ptc_ascii_digit_value(r->source[i]);
        if (d > 7)
            return -1;
        code = code * 8 + d;
    }
    return code <= 0377 ? code : -1;
}

/* The character that the name between `at` and `end` stands for; NULL when there is none. */
static const char *named_char(PtcReading *r, uint32_t at, uint32_t end, size_t *len)
{
    const char *name = r->source + at;
    for (size_t i = 0; i < CHAR_NAMES; i++) {
        if (strlen(char_names[i].name) == end - at && !memcmp(name, char_names[i].name, end - at)) {
            *len = 1;
            return char_names[i].text;
        }
    }
    char utf8[4];
    int32_t code = coded_char(r, at, end);
    *len = code < 0 ? 0 : ptc_utf8_encode((uint32_t)code, utf8);
    char *text = *len ? ptc_arena_alloc(r->in->arena, *len) : NULL;
    if (text)
        memcpy(text, utf8, *len);
    return text;
}

PtcForm *ptc_read_char(PtcReading *r)
{
    uint32_t first = r->pos, at = first + 1, code = 0;
    if (at == r->len || r->source[at] == '\n' || r->source[at] == '\r' || r->source[at] == 0) {
        PtcDiag *d = PTC_READ_FAIL(r, first, at, "no character follows `\\`");
        ptc_diag_hint(d, "write \\a, \\space or \\newline");
        return NULL;
    }
    /* Any character may be the first, brackets and blanks too. */
    uint32_t end = ptc_read_token_end(r, at + decode_source_char(r, at, &code));
    const char *text = r->source + at;
    size_t len = end - at;
    if (len != ptc_utf8_grapheme(NULL, text, len) && !(text = named_char(r, at, end, &len)))
        return r->in->arena->failed ? NULL : bad_char_literal(r, end);
    r->pos = end;
    return text_form(r, PTC_F_STRING, first, text, len);
}

/* ----------------------------------------------------------------- numbers */

/* A number's text without its sign; the form begins at r->pos and ends at `end`. */
typedef struct {
    const char *text;
    size_t len, digits; /* digits: how many lead the text, at least one */
    uint32_t end;
    bool negative;
} Number;

static PtcForm *number_form(PtcReading *r, const Number *n, PtcValue value)
{
    uint32_t first = r->pos;
    if (value == PTC_NONE)
        return NULL;
    r->pos = n->end;
    PtcForm *f = ptc_read_new(r, PTC_F_NUMBER, first);
    if (f)
        f->value = value;
    return f;
}

/* Where the digits that begin at `at` end. */
static size_t find_digits_end(const char *text, size_t len, size_t at)
{
    while (at < len && ptc_ascii_is_digit(text[at]))
        at++;
    return at;
}

static const char *number_hint(const Number *n)
{
    char next = n->digits < n->len ? n->text[n->digits] : 0;
    if (next == 0)
        return "a leading 0 means octal, with digits from 0 to 7; a decimal number has none";
    if (next == '_')
        return "write the digits without `_`";
    if (next == '-' || next == ':')
        return "a date or time is written as a string: \"2024-01-31\"";
    if (next == 'b' && n->digits == 1 && n->text[0] == '0')
        return "a binary number is written 2r1010";
    return "put a space between a number and a name; text goes in double quotes";
}

static PtcForm *bad_number(PtcReading *r, const Number *n)
{
    PtcDiag *d = PTC_READ_FAIL(r, r->pos, n->end, "`%s` is not a number",
                               ptc_read_excerpt(r, r->pos, n->end).text);
    ptc_diag_hint(d, "%s", number_hint(n));
    return NULL;
}

/* There are no ratios: 1/2 is the quotient, an integer when it is even, else a float, as (/ 1 2) gives. */
static PtcForm *ratio(PtcReading *r, const Number *n)
{
    PtcHeap *heap = r->in->heap;
    size_t below = n->digits + 1;
    if (below == n->len || find_digits_end(n->text, n->len, below) != n->len ||
        n->len > RATIO_DIGITS)
        return bad_number(r, n);
    PtcValue over = ptc_int_parse(heap, n->text - n->negative, n->digits + n->negative);
    PtcValue under = ptc_int_parse(heap, n->text + below, n->len - below);
    if (over == PTC_NONE || under == PTC_NONE)
        return NULL;
    if (ptc_int_sign(under) == 0) {
        PtcDiag *d = PTC_READ_FAIL(r, r->pos, n->end, "this ratio divides by zero");
        ptc_diag_hint(d, "write the number you mean");
        return NULL;
    }
    PtcValue quot, rem;
    if (!ptc_int_divide(heap, over, under, &quot, &rem))
        return NULL;
    if (ptc_int_sign(rem) == 0)
        return number_form(r, n, quot);
    return number_form(r, n,
                       ptc_float_new(heap, ptc_int_to_double(over) / ptc_int_to_double(under)));
}

static PtcForm *too_many_digits(PtcReading *r, const Number *n, size_t digits, int most)
{
    PtcDiag *d = PTC_READ_FAIL(
        r, r->pos, n->end, "integer literal of %zu digits: at most %d are allowed", digits, most);
    ptc_diag_hint(d, "compute the number, or write it as a float: 1.5e300");
    return NULL;
}

static PtcForm *read_decimal_form(PtcReading *r, const Number *n)
{
    if (n->digits > PTC_FORM_INT_DIGITS)
        return too_many_digits(r, n, n->digits, PTC_FORM_INT_DIGITS);
    if (n->digits > 18) {
        const char *text = n->text - n->negative;
        return number_form(r, n, ptc_int_parse(r->in->heap, text, n->digits + n->negative));
    }
    int64_t value = 0;
    for (size_t i = 0; i < n->digits; i++)
        value = value * 10 + (n->text[i] - '0');
    return number_form(r, n, ptc_int(n->negative ? -value : value));
}

/* value * scale + more; PTC_NONE: out of memory. */
static PtcValue shift_in(PtcHeap *heap, PtcValue value, int64_t scale, int64_t more)
{
    PtcValue product = ptc_int_mul(heap, value, ptc_int(scale));
    return product == PTC_NONE ? PTC_NONE : ptc_int_add(heap, product, ptc_int(more));
}

/* The value of checked digits, as many at a time as fit a word. */
static PtcValue radix_value(PtcHeap *heap, const char *digits, size_t len, int radix)
{
    PtcValue value = ptc_int(0);
    int64_t scale = 1, part = 0;
    for (size_t i = 0; i < len && value != PTC_NONE; i++) {
        part = part * radix + ptc_ascii_digit_value(digits[i]);
        scale *= radix;
        if (scale > PTC_INT_MAX / 36 || i + 1 == len) {
            value = shift_in(heap, value, scale, part);
            scale = 1;
            part = 0;
        }
    }
    return value;
}

/* An integer of the digits [from, to) of n's text. */
static PtcForm *read_radix_form(PtcReading *r, const Number *n, size_t from, size_t to, int radix)
{
    PtcHeap *heap = r->in->heap;
    for (size_t i = from; i < to; i++)
        if (ptc_ascii_digit_value(n->text[i]) >= radix)
            return bad_number(r, n);
    if (from >= to)
        return bad_number(r, n);
    if (to - from > RADIX_DIGITS)
        return too_many_digits(r, n, to - from, RADIX_DIGITS);
    PtcValue value = radix_value(heap, n->text + from, to - from, radix);
    if (value != PTC_NONE && n->negative)
        value = ptc_int_sub(heap, ptc_int(0), value);
    return number_form(r, n, value);
}

/* Digits, a point with or without digits behind it, an exponent.  *point: where a bare point is. */
static bool float_syntax(const char *text, size_t len, size_t *point)
{
    size_t at = find_digits_end(text, len, 0);
    *point = 0;
    if (at < len && text[at] == '.') {
        size_t after = find_digits_end(text, len, at + 1);
        *point = after == at + 1 ? at : 0;
        at = after;
    }
    if (at == len || (text[at] != 'e' && text[at] != 'E'))
        return at == len;
    at++;
    if (at < len && (text[at] == '+' || text[at] == '-'))
        at++;
    size_t end = find_digits_end(text, len, at);
    return end > at && end == len;
}

/* 1.5M */
static PtcForm *exact_decimal(PtcReading *r, const Number *n)
{
    if (n->len > PTC_FORM_INT_DIGITS)
        return too_many_digits(r, n, n->len, PTC_FORM_INT_DIGITS);
    PtcValue v = ptc_decimal_parse(r->in->heap, n->text - n->negative, n->len - 1 + n->negative);
    return v == PTC_NIL ? bad_number(r, n) : number_form(r, n, v);
}

/* 1.5, 1e3, 1. */
static PtcForm *floating(PtcReading *r, const Number *n)
{
    const char *text = n->text;
    size_t len = n->len, point;
    double value;
    if (text[len - 1] == 'M')
        return exact_decimal(r, n);
    if (!float_syntax(text, len, &point))
        return bad_number(r, n);
    if (point) { /* a bare point is Clojure's, not the parser's */
        char *copy = ptc_arena_alloc(r->in->arena, len);
        if (!copy)
            return NULL;
        memcpy(copy, text, point);
        memcpy(copy + point, text + point + 1, --len - point);
        text = copy;
    }
    if (!ptc_double_parse(text, len, &value))
        return bad_number(r, n);
    return number_form(r, n, ptc_float_new(r->in->heap, n->negative ? -value : value));
}

/* Is the radix before an `r` one that digits exist for? */
static int radix_of(const Number *n)
{
    int radix = n->text[0] - '0';
    if (n->digits == 2)
        radix = radix * 10 + n->text[1] - '0';
    return n->digits <= 2 && radix >= 2 && radix <= 36 ? radix : 0;
}

static PtcForm *read_number_form(PtcReading *r, const Number *n)
{
    char next = n->digits < n->len ? n->text[n->digits] : 0;
    bool zero = n->text[0] == '0';
    switch (next) {
    case 'N':
    case 0: {
        bool suffix = next == 'N';
        if (n->digits + suffix < n->len)
            return bad_number(r, n);
        return zero && n->digits > 1 ? read_radix_form(r, n, 1, n->digits, 8)
                                     : read_decimal_form(r, n);
    }
    case 'x':
    case 'X':
        if (!zero || n->digits > 1)
            return bad_number(r, n);
        return read_radix_form(r, n, 2, n->len - (n->text[n->len - 1] == 'N'), 16);
    case 'r':
    case 'R':
        return radix_of(n) ? read_radix_form(r, n, n->digits + 1, n->len, radix_of(n))
                           : bad_number(r, n);
    case '.':
    case 'e':
    case 'E':
    case 'M': return floating(r, n);
    case '/': return ratio(r, n);
    default: return bad_number(r, n);
    }
}

PtcForm *ptc_read_special(PtcReading *r)
{
    static const char *const names[] = {"Inf", "-Inf", "NaN"};
    static const double values[] = {INFINITY, -INFINITY, NAN};
    uint32_t at = r->pos + 2;
    Number n = {.end = ptc_read_token_end(r, at)};
    for (size_t i = 0; i < 3; i++)
        if (n.end - at == strlen(names[i]) && !memcmp(r->source + at, names[i], n.end - at))
            return number_form(r, &n, ptc_float_new(r->in->heap, values[i]));
    PtcDiag *d = PTC_READ_FAIL(r, r->pos, n.end, "`%s` is not a number",
                               ptc_read_excerpt(r, r->pos, n.end).text);
    ptc_diag_hint(d, "only ##Inf, ##-Inf and ##NaN are written with `##`");
    return NULL;
}

/* ------------------------------------------------------ keywords, symbols */

/* Why this cannot be a name, as a hint; NULL when it can. */
static const char *name_fault(const char *name, size_t len)
{
    if (name[len - 1] == ':')
        return "a colon comes before the name: :name";
    if (len > 1 && name[0] == '/')
        return name[1] == '/' ? "comments begin with `;`"
                              : "a namespace comes before the slash: ns/name";
    if (len > 1 && name[len - 1] == '/' && name[len - 2] != '/')
        return "a name comes after the slash: ns/name";
    return NULL;
}

/* ::name is :user/name: there is one namespace.  ::other/name keeps the one that is written. */
static PtcForm *own_keyword(PtcReading *r, uint32_t first, const char *name, size_t len)
{
    static const char own[] = "user/";
    if (len > 1 && memchr(name, '/', len))
        return text_form(r, PTC_F_KEYWORD, first, name, len);
    char *full = ptc_arena_alloc(r->in->arena, sizeof own - 1 + len);
    if (!full)
        return NULL;
    memcpy(full, own, sizeof own - 1);
    memcpy(full + sizeof own - 1, name, len);
    return text_form(r, PTC_F_KEYWORD, first, full, sizeof own - 1 + len);
}

PtcForm *ptc_read_keyword(PtcReading *r)
{
    uint32_t first = r->pos, end = ptc_read_token_end(r, first);
    const char *name = r->source + first + 1, *hint = NULL;
    size_t len = end - first - 1;
    bool own = len > 1 && name[0] == ':';
    if (own) {
        name++;
        len--;
    }
    if (len == 0)
        hint = "write :name; in a map no `:` comes between key and value: {:a 1}";
    else if (name[0] == ':')
        hint = "write :name with one colon";
    else
        hint = name_fault(name, len);
    if (hint) {
        PtcDiag *d = PTC_READ_FAIL(r, first, end, "`%s` is not a keyword",
                                   ptc_read_excerpt(r, first, end).text);
        ptc_diag_hint(d, "%s", hint);
        return NULL;
    }
    r->pos = end;
    return own ? own_keyword(r, first, name, len) : text_form(r, PTC_F_KEYWORD, first, name, len);
}

static PtcFormKind symbol_kind(const char *name, size_t len)
{
    if (len == 3 && !memcmp(name, "nil", 3))
        return PTC_F_NIL;
    if (len == 4 && !memcmp(name, "true", 4))
        return PTC_F_TRUE;
    return len == 5 && !memcmp(name, "false", 5) ? PTC_F_FALSE : PTC_F_SYMBOL;
}

/* A name with a colon behind it may end the head of a block in Python; the line says which. */
static const char *block_hint(const PtcReading *r, uint32_t first)
{
    enum { ATOM_LOOKED_AT = 200 };
    uint32_t from = first;
    while (from > 0 && first - from < ATOM_LOOKED_AT && r->source[from - 1] != '\n')
        from--;
    const char *line = r->source + from;
    size_t n = first - from;
    if (memmem(line, n, "for ", 4) && memmem(line, n, " in ", 4))
        return "a loop is (for [x coll] body), or (doseq [x coll] body) to do something with each";
    return memmem(line, n, "lambda ", 7) ? "a function is (fn [x] body), or #(body with %)" : NULL;
}

static PtcForm *read_symbol(PtcReading *r, uint32_t end)
{
    uint32_t first = r->pos;
    const char *name = r->source + first, *hint = name_fault(name, end - first);
    if (hint) {
        PtcDiag *d = PTC_READ_FAIL(r, first, end, "`%s` is not a symbol",
                                   ptc_read_excerpt(r, first, end).text);
        const char *block = name[end - first - 1] == ':' ? block_hint(r, first) : NULL;
        ptc_diag_hint(d, "%s", block ? block : hint);
        return NULL;
    }
    r->pos = end;
    return text_form(r, symbol_kind(name, end - first), first, name, end - first);
}

PtcForm *ptc_read_token(PtcReading *r)
{
    uint32_t end = ptc_read_token_end(r, r->pos);
    if (end == r->pos)
        return bad_char(r);
    Number n = {.text = r->source + r->pos, .len = end - r->pos, .end = end};
    if (n.len > 1 && (n.text[0] == '+' || n.text[0] == '-')) {
        n.negative = n.text[0] == '-';
        n.text++;
        n.len--;
    }
    n.digits = find_digits_end(n.text, n.len, 0);
    return n.digits ? read_number_form(r, &n) : read_symbol(r, end);
}
