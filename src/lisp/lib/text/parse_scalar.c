/* SPDX-License-Identifier: MIT
 * Reading integers, floats, booleans and UUIDs from strings.  Clojure's functions give nil for text that spells none,
 * Java's fail. */
#include <math.h>
#include <stdio.h>

#include "base/ascii.h"
#include "base/text.h"
#include "base/text/uuid.h"
#include "lisp/vm/builtin.h"
#include "value/number/number.h"
#include "value/str.h"
#include "value/time/time.h"

/* Charges for a walk along a string. */
static bool charge_string_scan(PtcVM *vm, PtcValue v)
{
    return !ptc_is_string(v) || ptc_tick_scan(&vm->budget, ptc_str_len(v));
}

/* ------------------------------------------------- reading numbers: integers */

static PtcText text_of_string(PtcValue string)
{
    return (PtcText){ptc_str_bytes(string), ptc_str_len(string)};
}

/* The whole text as sign? digits, within min and max. */
static bool read_integer(PtcText t, int radix, int64_t min, int64_t max, int64_t *out)
{
    bool negative = t.len > 0 && t.bytes[0] == '-';
    size_t i = negative || (t.len > 0 && t.bytes[0] == '+');
    int64_t n = 0; /* built below zero, where there is room for one more */
    if (i == t.len)
        return false;
    for (; i < t.len; i++) {
        int digit = ptc_ascii_digit_value(t.bytes[i]);
        if (digit >= radix || __builtin_mul_overflow(n, radix, &n) ||
            __builtin_sub_overflow(n, digit, &n))
            return false;
    }
    if (!negative && n == INT64_MIN)
        return false;
    *out = negative ? n : -n;
    return *out >= min && *out <= max;
}

static bool parse_long_string(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    int64_t n;
    if (!charge_string_scan(vm, argv[0]))
        return false;
    if (!ptc_is_string(argv[0]) ||
        !read_integer(text_of_string(argv[0]), 10, INT64_MIN, INT64_MAX, &n))
        return ptc_give(out, PTC_NIL);
    return ptc_give(out, ptc_int_new(vm->heap, n));
}

PTC_BUILTIN_EXPR(
    core_parse_long, "clojure.core", "parse-long", 1, 1, PTC_GIVES(PTC_IS_NIL | PTC_IS_INT),
    "(parse-long s)", "The integer of 64 bits that the whole string spells, else nil.",
    "(parse-long \"-17\") => -17\n(parse-long \"4.2\") => nil\n(parse-long nil) => nil",
    parse_long_string(vm, argv, out))

PTC_BUILTIN_EXPR(core_parse_int, "clojure.core", "parse-int", 1, 1,
                 PTC_GIVES(PTC_IS_NIL | PTC_IS_INT), "(parse-int s)", "The same as parse-long.",
                 "(parse-int \"128\") => 128\n(parse-int \"12 \") => nil",
                 parse_long_string(vm, argv, out))

static bool fail_number_parse(PtcVM *vm, const char *noun, const char *gentle)
{
    const PtcBuiltin *row = ptc_builtin_row(vm->running);
    ptc_fail(vm, PTC_E_VALUE | PTC_AS(NUMBER_FORMAT), "%s/%s: the string does not spell %s",
             row->ns, row->name, noun);
    return ptc_fail_hint(vm, "(%s s) gives nil instead of an error", gentle);
}

/* Java's parsers throw where ours give nil. */
static bool java_integer(PtcVM *vm, int argc, const PtcValue *argv, int bits, PtcValue *out)
{
    int64_t radix = 10, n;
    int64_t max = (int64_t)(UINT64_MAX >> (65 - bits)), min = -max - 1;
    char noun[40];
    if (!ptc_is_string(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a string");
    if (!charge_string_scan(vm, argv[0]))
        return false;
    if (argc == 2 && !ptc_arg_int(vm, argv, 1, &radix))
        return false;
    if (radix < 2 || radix > 36)
        return ptc_fail_here(vm, PTC_E_VALUE | PTC_AS(NUMBER_FORMAT),
                             "the radix must be from 2 to 36");
    if (!read_integer(text_of_string(argv[0]), (int)radix, min, max, &n)) {
        snprintf(noun, sizeof noun, "an integer of %d bits", bits);
        return fail_number_parse(vm, noun, "parse-long");
    }
    return ptc_give(out, ptc_int_new(vm->heap, n));
}

PTC_BUILTIN_EXPR(java_parse_int, "Integer", "parseInt", 1, 2,
                 PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_INT), "(Integer/parseInt s radix?)",
                 "The integer of 32 bits that the whole string spells; anything else is an error.",
                 "(Integer/parseInt \"+4\") => 4\n(Integer/parseInt \"ff\" 16) => 255\n"
                 "(Integer/parseInt \"x\") !! value_error",
                 java_integer(vm, argc, argv, 32, out))

PTC_BUILTIN_EXPR(java_parse_long, "Long", "parseLong", 1, 2,
                 PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_INT), "(Long/parseLong s radix?)",
                 "The integer of 64 bits that the whole string spells; anything else is an error.",
                 "(Long/parseLong \"-12\") => -12\n(Long/parseLong \"12L\") !! value_error\n"
                 "(Long/parseLong nil) !! type_error",
                 java_integer(vm, argc, argv, 64, out))

PTC_BUILTIN_EXPR(java_parse_short, "Short", "parseShort", 1, 2, 0, "(Short/parseShort s radix?)",
                 "The integer of 16 bits that the whole string spells; anything else is an error.",
                 "(Short/parseShort \"-12\") => -12\n(Short/parseShort \"40000\") !! value_error",
                 java_integer(vm, argc, argv, 16, out))

PTC_BUILTIN_EXPR(java_parse_byte, "Byte", "parseByte", 1, 2, 0, "(Byte/parseByte s radix?)",
                 "The integer of 8 bits that the whole string spells; anything else is an error.",
                 "(Byte/parseByte \"7f\" 16) => 127\n(Byte/parseByte \"128\") !! value_error",
                 java_integer(vm, argc, argv, 8, out))

/* --------------------------------------------------- reading numbers: floats */

static PtcText skip_text_start(PtcText t, size_t n)
{
    return (PtcText){t.bytes + n, t.len - n};
}

/* As much of a mantissa in hexadecimal as a double can hold; *scale counts bits dropped or after
 * the point.  Returns the length read. */
static size_t read_hex_digits(PtcText t, uint64_t *mantissa, int64_t *scale, bool *any)
{
    bool point = false;
    size_t i = 0;
    *mantissa = 0;
    *scale = 0;
    *any = false;
    for (; i < t.len; i++) {
        int digit = ptc_ascii_digit_value(t.bytes[i]);
        if (t.bytes[i] == '.' && !point) {
            point = true;
        } else if (digit < 16) {
            *any = true;
            if (*mantissa >> 59) {
                *mantissa |= digit != 0; /* rounds as if all were there */
                *scale += point ? 0 : 4;
            } else {
                *mantissa = *mantissa << 4 | (uint64_t)digit;
                *scale -= point ? 4 : 0;
            }
        } else {
            break;
        }
    }
    return i;
}

/* What follows 0x: digits, p, exponent. */
static bool read_hex_double(PtcText t, double *out)
{
    uint64_t mantissa;
    int64_t scale, exponent;
    bool any;
    size_t n = read_hex_digits(t, &mantissa, &scale, &any);
    if (!any || n == t.len || (t.bytes[n] | 32) != 'p')
        return false;
    if (!read_integer(skip_text_start(t, n + 1), 10, -100000, 100000, &exponent))
        return false;
    scale += exponent;
    *out = ldexp((double)mantissa, scale > 5000 ? 5000 : scale < -5000 ? -5000 : (int)scale);
    return true;
}

/* Digits with a point or exponent; a point may come first, which ptc_double_parse does not take. */
static bool read_point_number(PtcVM *vm, PtcText t, double *out)
{
    if (t.len < 2 || t.bytes[0] != '.')
        return t.len > 0 && ptc_ascii_digit_value(t.bytes[0]) < 10 &&
               ptc_double_parse(t.bytes, t.len, out);
    if (ptc_ascii_digit_value(t.bytes[1]) > 9)
        return false;
    PtcBuf buf;
    ptc_buf_init(&buf, vm->mem, t.len + 1);
    bool ok = ptc_buf_add_char(&buf, '0') && ptc_buf_add(&buf, t.bytes, t.len);
    if (ok)
        ok = ptc_double_parse(buf.data, buf.len, out);
    else
        ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    ptc_buf_deinit(&buf);
    return ok;
}

/* As Java reads doubles: blanks around it, hexadecimal, NaN, Infinity and a type suffix go. */
static bool read_java_double(PtcVM *vm, PtcText t, double *out)
{
    while (t.len > 0 && (unsigned char)t.bytes[t.len - 1] <= ' ')
        t.len--;
    while (t.len > 0 && (unsigned char)t.bytes[0] <= ' ')
        t = skip_text_start(t, 1);
    bool negative = t.len > 0 && t.bytes[0] == '-', ok = true;
    if (negative || (t.len > 0 && t.bytes[0] == '+'))
        t = skip_text_start(t, 1);
    if (ptc_text_is(t, "NaN") || ptc_text_is(t, "Infinity")) {
        *out = t.bytes[0] == 'N' ? NAN : INFINITY;
    } else {
        char last = t.len > 1 ? (char)(t.bytes[t.len - 1] | 32) : 0;
        if (last == 'f' || last == 'd')
            t.len--;
        if (t.len > 2 && t.bytes[0] == '0' && (t.bytes[1] | 32) == 'x')
            ok = read_hex_double(skip_text_start(t, 2), out);
        else
            ok = read_point_number(vm, t, out);
    }
    if (ok && negative)
        *out = -*out;
    return ok;
}

PTC_BUILTIN(core_parse_double, "clojure.core", "parse-double", 1, 1,
            PTC_GIVES(PTC_IS_NIL | PTC_IS_FLOAT), "(parse-double s)",
            "The float that the whole string spells, else nil.",
            "(parse-double \"3.14\") => 3.14\n(parse-double \"1e3\") => 1000.0\n"
            "(parse-double \"1.5 kg\") => nil\n(parse-double nil) => nil")
{
    double d;
    if (!charge_string_scan(vm, argv[0]))
        return false;
    bool ok = ptc_is_string(argv[0]) && read_java_double(vm, text_of_string(argv[0]), &d);
    if (vm->budget.stop != PTC_STOP_NONE)
        return false;
    return ptc_give(out, ok ? ptc_float_new(vm->heap, d) : PTC_NIL);
}

static bool java_double(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    double d;
    if (!ptc_is_string(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a string");
    if (!charge_string_scan(vm, argv[0]))
        return false;
    if (!read_java_double(vm, text_of_string(argv[0]), &d))
        return fail_number_parse(vm, "a number", "parse-double");
    return ptc_give(out, ptc_float_new(vm->heap, d));
}

PTC_BUILTIN_EXPR(
    java_parse_double, "Double", "parseDouble", 1, 1,
    PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_FLOAT), "(Double/parseDouble s)",
    "The float that the whole string spells; anything else is an error.",
    "(Double/parseDouble \"2.50\") => 2.5\n(Double/parseDouble \"two\") !! value_error",
    java_double(vm, argv, out))

PTC_BUILTIN_EXPR(java_parse_float, "Float", "parseFloat", 1, 1, 0, "(Float/parseFloat s)",
                 "The same as Double/parseDouble.",
                 "(Float/parseFloat \"0.1\") => 0.1\n(Float/parseFloat \"\") !! value_error",
                 java_double(vm, argv, out))

/* ------------------------------------------------------------------ booleans */

PTC_BUILTIN(core_parse_boolean, "clojure.core", "parse-boolean", 1, 1,
            PTC_GIVES(PTC_IS_NIL | PTC_IS_BOOL), "(parse-boolean s)",
            "true for \"true\", false for \"false\", else nil.",
            "(parse-boolean \"true\") => true\n(parse-boolean \"false\") => false\n"
            "(parse-boolean \"yes\") => nil")
{
    PtcText t = ptc_is_string(argv[0]) ? text_of_string(argv[0]) : (PtcText){"", 0};
    return ptc_give(out, ptc_text_is(t, "true")    ? PTC_TRUE
                         : ptc_text_is(t, "false") ? PTC_FALSE
                                                   : PTC_NIL);
}

PTC_BUILTIN(java_parse_boolean, "Boolean", "parseBoolean", 1, 1, 0, "(Boolean/parseBoolean s)",
            "Is it \"true\", in capital or small letters; false for any other string and for nil.",
            "(Boolean/parseBoolean \"TRUE\") => true\n(Boolean/parseBoolean \"yes\") => false\n"
            "(Boolean/parseBoolean 1) !! type_error")
{
    if (argv[0] == PTC_NIL)
        return ptc_give(out, PTC_FALSE);
    if (!ptc_is_string(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a string or nil");
    PtcText t = text_of_string(argv[0]);
    bool same = t.len == 4;
    for (size_t i = 0; i < 4 && same; i++)
        same = (t.bytes[i] | 32) == "true"[i];
    return ptc_give(out, ptc_bool(same));
}

/* --------------------------------------------------------------------- UUIDs */

PTC_BUILTIN(core_parse_uuid, "clojure.core", "parse-uuid", 1, 1, 0, "(parse-uuid s)",
            "The UUID in a string, as a string in lower case; nil when it is none.",
            "(parse-uuid \"B6883C0A-0342-4007-9966-BC2DFA6B109E\") => "
            "\"b6883c0a-0342-4007-9966-bc2dfa6b109e\"\n"
            "(parse-uuid \"x\") => nil\n(parse-uuid 5) !! type_error")
{
    const char *s;
    size_t len;
    char lower[36];
    if (!ptc_arg_string(vm, argv, 0, &s, &len))
        return false;
    if (!ptc_is_uuid(s, len))
        return ptc_give(out, PTC_NIL);
    for (size_t i = 0; i < sizeof lower; i++)
        lower[i] = ptc_ascii_lower(s[i]);
    return ptc_give(out, ptc_str_new(vm->heap, lower, sizeof lower));
}

PTC_BUILTIN_TABLE(ptc_lib_parse_scalar, core_parse_long, core_parse_int, java_parse_int,
                  java_parse_long, java_parse_short, java_parse_byte, core_parse_double,
                  java_parse_double, java_parse_float, core_parse_boolean, java_parse_boolean,
                  core_parse_uuid);
