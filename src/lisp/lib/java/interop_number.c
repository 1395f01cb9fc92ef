/* SPDX-License-Identifier: MIT
 * Static functions of Java's number classes, and methods of numbers.  Integer and Long differ in their bits: an
 * argument that does not fit them is an error, and negative numbers show those bits in other radixes. */
#include <math.h>
#include <stdio.h>

#include "base/utf8.h"
#include "lisp/lib/java/interop.h"
#include "lisp/number/num.h"
#include "value/number/decimal.h"

static const char *full_name(PtcVM *vm, char out[64])
{
    const PtcBuiltin *row = ptc_builtin_row(vm->running);
    bool method = row->name[0] == '.';
    snprintf(out, 64, "%s%s%s", method ? "" : row->ns, method ? "" : "/", row->name);
    return out;
}

/* Argument i as an integer of so many bits. */
static bool arg_bits(PtcVM *vm, const PtcValue *argv, int i, int bits, int64_t *n)
{
    char name[64];
    if (!ptc_arg_int(vm, argv, i, n))
        return false;
    if (bits == 64 || *n == (int32_t)*n)
        return true;
    return ptc_fail(vm, PTC_E_VALUE, "%s: %lld does not fit 32 bits", full_name(vm, name),
                    (long long)*n);
}

/* Digits of a magnitude in a radix, with a sign. */
static PtcValue new_radix_string(PtcVM *vm, uint64_t n, unsigned radix, bool negative)
{
    static const char all[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    char text[66];
    size_t at = sizeof text;
    do {
        text[--at] = all[n % radix];
        n /= radix;
    } while (n > 0);
    if (negative)
        text[--at] = '-';
    return ptc_str_new(vm->heap, text + at, sizeof text - at);
}

static uint64_t magnitude(int64_t n)
{
    return n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
}

static uint64_t pattern(int64_t n, int bits)
{
    return bits == 32 ? (uint64_t)(uint32_t)n : (uint64_t)n;
}

static bool give_number_string(PtcVM *vm, int argc, const PtcValue *argv, int bits, PtcValue *out)
{
    int64_t n, radix = 10;
    if (!arg_bits(vm, argv, 0, bits, &n) || (argc == 2 && !ptc_arg_int(vm, argv, 1, &radix)))
        return false;
    if (radix < 2 || radix > 36)
        radix = 10; /* as Java does */
    return ptc_give(out, new_radix_string(vm, magnitude(n), (unsigned)radix, n < 0));
}

static bool give_radix_string(PtcVM *vm, const PtcValue *argv, int bits, unsigned radix,
                              PtcValue *out)
{
    int64_t n;
    return arg_bits(vm, argv, 0, bits, &n) &&
           ptc_give(out, new_radix_string(vm, pattern(n, bits), radix, false));
}

typedef int64_t (*BitsFn)(int64_t n, int bits);

static bool of_bits(PtcVM *vm, const PtcValue *argv, int bits, BitsFn fn, PtcValue *out)
{
    int64_t n;
    return arg_bits(vm, argv, 0, bits, &n) && ptc_give(out, ptc_int_new(vm->heap, fn(n, bits)));
}

static int64_t bit_count(int64_t n, int bits)
{
    return __builtin_popcountll(pattern(n, bits));
}

static int64_t leading_zeros(int64_t n, int bits)
{
    uint64_t p = pattern(n, bits);
    return p == 0 ? bits : __builtin_clzll(p) - (64 - bits);
}

static int64_t trailing_zeros(int64_t n, int bits)
{
    uint64_t p = pattern(n, bits);
    return p == 0 ? bits : __builtin_ctzll(p);
}

/* The bits as a number with a sign. */
static int64_t with_sign(uint64_t p, int bits)
{
    return bits == 32 ? (int64_t)(int32_t)(uint32_t)p : (int64_t)p;
}

static int64_t highest_bit(int64_t n, int bits)
{
    uint64_t p = pattern(n, bits);
    return p == 0 ? 0 : with_sign((uint64_t)1 << (63 - __builtin_clzll(p)), bits);
}

static int64_t lowest_bit(int64_t n, int bits)
{
    uint64_t p = pattern(n, bits);
    return with_sign(p & (0 - p), bits);
}

static int64_t reversed(int64_t n, int bits)
{
    uint64_t p = pattern(n, bits), r = 0;
    for (int i = 0; i < bits; i++)
        r |= (p >> i & 1) << (bits - 1 - i);
    return with_sign(r, bits);
}

static int64_t bits_sign(int64_t n, int bits)
{
    (void)bits;
    return (n > 0) - (n < 0);
}

static bool rotate(PtcVM *vm, const PtcValue *argv, int bits, int direction, PtcValue *out)
{
    int64_t n, by;
    if (!arg_bits(vm, argv, 0, bits, &n) || !ptc_arg_int(vm, argv, 1, &by))
        return false;
    uint64_t p = pattern(n, bits);
    unsigned left = (unsigned)((uint64_t)(by * direction) & (uint64_t)(bits - 1));
    uint64_t r = left == 0 ? p : p << left | p >> ((unsigned)bits - left);
    return ptc_give(out, ptc_int_new(vm->heap, with_sign(pattern((int64_t)r, bits), bits)));
}

static bool compare_bits(PtcVM *vm, const PtcValue *argv, int bits, PtcValue *out)
{
    int64_t a, b;
    return arg_bits(vm, argv, 0, bits, &a) && arg_bits(vm, argv, 1, bits, &b) &&
           ptc_give(out, ptc_int((a > b) - (a < b)));
}

/* --------------------------------------------------------------------- Integer and Long */

PTC_BUILTIN_EXPR(integer_to_string, "Integer", "toString", 1, 2, 0, "(Integer/toString n radix?)",
                 "The text of an integer of 32 bits, to base ten or another from 2 to 36.",
                 "(Integer/toString 255 16) => \"ff\"\n(Integer/toString -5) => "
                 "\"-5\"\n(Integer/toString nil) !! type_error",
                 give_number_string(vm, argc, argv, 32, out))
PTC_BUILTIN_EXPR(
    integer_to_binary_string, "Integer", "toBinaryString", 1, 1, 0, "(Integer/toBinaryString n)",
    "The 32 bits of an integer in binary digits, without leading zeros.",
    "(Integer/toBinaryString 10) => \"1010\"\n(Integer/toBinaryString 1.5) !! type_error",
    give_radix_string(vm, argv, 32, 2, out))
PTC_BUILTIN_EXPR(
    integer_to_hex_string, "Integer", "toHexString", 1, 1, 0, "(Integer/toHexString n)",
    "The 32 bits of an integer in hexadecimal digits, without leading zeros.",
    "(Integer/toHexString -1) => \"ffffffff\"\n(Integer/toHexString 1.5) !! type_error",
    give_radix_string(vm, argv, 32, 16, out))
PTC_BUILTIN_EXPR(integer_to_octal_string, "Integer", "toOctalString", 1, 1, 0,
                 "(Integer/toOctalString n)",
                 "The 32 bits of an integer in octal digits, without leading zeros.",
                 "(Integer/toOctalString 8) => \"10\"\n(Integer/toOctalString 1.5) !! type_error",
                 give_radix_string(vm, argv, 32, 8, out))
PTC_BUILTIN_EXPR(integer_bit_count, "Integer", "bitCount", 1, 1, 0, "(Integer/bitCount n)",
                 "How many of its bits are set.",
                 "(Integer/bitCount 7) => 3\n(Integer/bitCount nil) !! type_error",
                 of_bits(vm, argv, 32, bit_count, out))
PTC_BUILTIN_EXPR(
    integer_number_of_leading_zeros, "Integer", "numberOfLeadingZeros", 1, 1, 0,
    "(Integer/numberOfLeadingZeros n)", "How many zeros come before its highest bit.",
    "(Integer/numberOfLeadingZeros 1) => 31\n(Integer/numberOfLeadingZeros nil) !! type_error",
    of_bits(vm, argv, 32, leading_zeros, out))
PTC_BUILTIN_EXPR(
    integer_number_of_trailing_zeros, "Integer", "numberOfTrailingZeros", 1, 1, 0,
    "(Integer/numberOfTrailingZeros n)", "How many zeros come after its lowest bit.",
    "(Integer/numberOfTrailingZeros 8) => 3\n(Integer/numberOfTrailingZeros nil) !! type_error",
    of_bits(vm, argv, 32, trailing_zeros, out))
PTC_BUILTIN_EXPR(integer_highest_one_bit, "Integer", "highestOneBit", 1, 1, 0,
                 "(Integer/highestOneBit n)", "Its highest bit alone.",
                 "(Integer/highestOneBit 10) => 8\n(Integer/highestOneBit nil) !! type_error",
                 of_bits(vm, argv, 32, highest_bit, out))
PTC_BUILTIN_EXPR(integer_lowest_one_bit, "Integer", "lowestOneBit", 1, 1, 0,
                 "(Integer/lowestOneBit n)", "Its lowest bit alone.",
                 "(Integer/lowestOneBit 10) => 2\n(Integer/lowestOneBit nil) !! type_error",
                 of_bits(vm, argv, 32, lowest_bit, out))
PTC_BUILTIN_EXPR(integer_reverse, "Integer", "reverse", 1, 1, 0, "(Integer/reverse n)",
                 "Its bits in the other order.",
                 "(Integer/reverse 0) => 0\n(Integer/reverse nil) !! type_error",
                 of_bits(vm, argv, 32, reversed, out))
PTC_BUILTIN_EXPR(integer_signum, "Integer", "signum", 1, 1, 0, "(Integer/signum n)",
                 "Its sign: -1, 0 or 1.",
                 "(Integer/signum -9) => -1\n(Integer/signum nil) !! type_error",
                 of_bits(vm, argv, 32, bits_sign, out))
PTC_BUILTIN_EXPR(integer_rotate_left, "Integer", "rotateLeft", 2, 2, 0,
                 "(Integer/rotateLeft n places)", "Its 32 bits moved round to the left.",
                 "(Integer/rotateLeft 1 1) => 2\n(Integer/rotateLeft 1 nil) !! type_error",
                 rotate(vm, argv, 32, 1, out))
PTC_BUILTIN_EXPR(integer_rotate_right, "Integer", "rotateRight", 2, 2, 0,
                 "(Integer/rotateRight n places)", "Its 32 bits moved round to the right.",
                 "(Integer/rotateRight 4 1) => 2\n(Integer/rotateRight 1 nil) !! type_error",
                 rotate(vm, argv, 32, -1, out))
PTC_BUILTIN_EXPR(integer_compare, "Integer", "compare", 2, 2, 0, "(Integer/compare a b)",
                 "-1, 0 or 1: is a less than, equal to or greater than b?",
                 "(Integer/compare 1 2) => -1\n(Integer/compare 1 :a) !! type_error",
                 compare_bits(vm, argv, 32, out))
PTC_BUILTIN_EXPR(integer_max, "Integer", "max", 2, 2, 0, "(Integer/max a b)",
                 "The larger of two numbers.",
                 "(Integer/max 1 2) => 2\n(Integer/max 1 nil) !! type_error",
                 ptc_as(vm, "clojure.core/max", argc, argv, out))
PTC_BUILTIN_EXPR(integer_min, "Integer", "min", 2, 2, 0, "(Integer/min a b)",
                 "The smaller of two numbers.",
                 "(Integer/min 1 2) => 1\n(Integer/min 1 nil) !! type_error",
                 ptc_as(vm, "clojure.core/min", argc, argv, out))
PTC_BUILTIN_EXPR(integer_sum, "Integer", "sum", 2, 2, 0, "(Integer/sum a b)",
                 "The sum of two numbers.",
                 "(Integer/sum 1 2) => 3\n(Integer/sum 1 nil) !! type_error",
                 ptc_as(vm, "clojure.core/+", argc, argv, out))
PTC_BUILTIN_EXPR(
    long_to_string, "Long", "toString", 1, 2, 0, "(Long/toString n radix?)",
    "The text of an integer of 64 bits, to base ten or another from 2 to 36.",
    "(Long/toString 255 16) => \"ff\"\n(Long/toString -5) => \"-5\"\n(Long/toString nil) "
    "!! type_error",
    give_number_string(vm, argc, argv, 64, out))
PTC_BUILTIN_EXPR(long_to_binary_string, "Long", "toBinaryString", 1, 1, 0,
                 "(Long/toBinaryString n)",
                 "The 64 bits of an integer in binary digits, without leading zeros.",
                 "(Long/toBinaryString 10) => \"1010\"\n(Long/toBinaryString 1.5) !! type_error",
                 give_radix_string(vm, argv, 64, 2, out))
PTC_BUILTIN_EXPR(
    long_to_hex_string, "Long", "toHexString", 1, 1, 0, "(Long/toHexString n)",
    "The 64 bits of an integer in hexadecimal digits, without leading zeros.",
    "(Long/toHexString -1) => \"ffffffffffffffff\"\n(Long/toHexString 1.5) !! type_error",
    give_radix_string(vm, argv, 64, 16, out))
PTC_BUILTIN_EXPR(long_to_octal_string, "Long", "toOctalString", 1, 1, 0, "(Long/toOctalString n)",
                 "The 64 bits of an integer in octal digits, without leading zeros.",
                 "(Long/toOctalString 8) => \"10\"\n(Long/toOctalString 1.5) !! type_error",
                 give_radix_string(vm, argv, 64, 8, out))
PTC_BUILTIN_EXPR(long_bit_count, "Long", "bitCount", 1, 1, 0, "(Long/bitCount n)",
                 "How many of its bits are set.",
                 "(Long/bitCount 7) => 3\n(Long/bitCount nil) !! type_error",
                 of_bits(vm, argv, 64, bit_count, out))
PTC_BUILTIN_EXPR(
    long_number_of_leading_zeros, "Long", "numberOfLeadingZeros", 1, 1, 0,
    "(Long/numberOfLeadingZeros n)", "How many zeros come before its highest bit.",
    "(Long/numberOfLeadingZeros 1) => 63\n(Long/numberOfLeadingZeros nil) !! type_error",
    of_bits(vm, argv, 64, leading_zeros, out))
PTC_BUILTIN_EXPR(
    long_number_of_trailing_zeros, "Long", "numberOfTrailingZeros", 1, 1, 0,
    "(Long/numberOfTrailingZeros n)", "How many zeros come after its lowest bit.",
    "(Long/numberOfTrailingZeros 8) => 3\n(Long/numberOfTrailingZeros nil) !! type_error",
    of_bits(vm, argv, 64, trailing_zeros, out))
PTC_BUILTIN_EXPR(long_highest_one_bit, "Long", "highestOneBit", 1, 1, 0, "(Long/highestOneBit n)",
                 "Its highest bit alone.",
                 "(Long/highestOneBit 10) => 8\n(Long/highestOneBit nil) !! type_error",
                 of_bits(vm, argv, 64, highest_bit, out))
PTC_BUILTIN_EXPR(long_lowest_one_bit, "Long", "lowestOneBit", 1, 1, 0, "(Long/lowestOneBit n)",
                 "Its lowest bit alone.",
                 "(Long/lowestOneBit 10) => 2\n(Long/lowestOneBit nil) !! type_error",
                 of_bits(vm, argv, 64, lowest_bit, out))
PTC_BUILTIN_EXPR(long_reverse, "Long", "reverse", 1, 1, 0, "(Long/reverse n)",
                 "Its bits in the other order.",
                 "(Long/reverse 0) => 0\n(Long/reverse nil) !! type_error",
                 of_bits(vm, argv, 64, reversed, out))
PTC_BUILTIN_EXPR(long_signum, "Long", "signum", 1, 1, 0, "(Long/signum n)", "Its sign: -1, 0 or 1.",
                 "(Long/signum -9) => -1\n(Long/signum nil) !! type_error",
                 of_bits(vm, argv, 64, bits_sign, out))
PTC_BUILTIN_EXPR(long_rotate_left, "Long", "rotateLeft", 2, 2, 0, "(Long/rotateLeft n places)",
                 "Its 64 bits moved round to the left.",
                 "(Long/rotateLeft 1 1) => 2\n(Long/rotateLeft 1 nil) !! type_error",
                 rotate(vm, argv, 64, 1, out))
PTC_BUILTIN_EXPR(long_rotate_right, "Long", "rotateRight", 2, 2, 0, "(Long/rotateRight n places)",
                 "Its 64 bits moved round to the right.",
                 "(Long/rotateRight 4 1) => 2\n(Long/rotateRight 1 nil) !! type_error",
                 rotate(vm, argv, 64, -1, out))
PTC_BUILTIN_EXPR(long_compare, "Long", "compare", 2, 2, 0, "(Long/compare a b)",
                 "-1, 0 or 1: is a less than, equal to or greater than b?",
                 "(Long/compare 1 2) => -1\n(Long/compare 1 :a) !! type_error",
                 compare_bits(vm, argv, 64, out))
PTC_BUILTIN_EXPR(long_max, "Long", "max", 2, 2, 0, "(Long/max a b)", "The larger of two numbers.",
                 "(Long/max 1 2) => 2\n(Long/max 1 nil) !! type_error",
                 ptc_as(vm, "clojure.core/max", argc, argv, out))
PTC_BUILTIN_EXPR(long_min, "Long", "min", 2, 2, 0, "(Long/min a b)", "The smaller of two numbers.",
                 "(Long/min 1 2) => 1\n(Long/min 1 nil) !! type_error",
                 ptc_as(vm, "clojure.core/min", argc, argv, out))
PTC_BUILTIN_EXPR(long_sum, "Long", "sum", 2, 2, 0, "(Long/sum a b)", "The sum of two numbers.",
                 "(Long/sum 1 2) => 3\n(Long/sum 1 nil) !! type_error",
                 ptc_as(vm, "clojure.core/+", argc, argv, out))

/* ------------------------------------------------------------------- Double and Float */

#define IS_FLOAT(id, name_, doc_, examples_, test_)                                      \
    PTC_BUILTIN(id, "Double", name_, 1, 1, 0, "(Double/" name_ " num)", doc_, examples_) \
    {                                                                                    \
        double d;                                                                        \
        return ptc_arg_double(vm, argv, 0, &d) && ptc_give(out, ptc_bool(test_(d)));     \
    }

IS_FLOAT(double_is_na_n, "isNaN", "Is it the float that is not a number?",
         "(Double/isNaN ##NaN) => true\n(Double/isNaN nil) !! type_error", isnan)
IS_FLOAT(double_is_infinite, "isInfinite", "Is it infinite?",
         "(Double/isInfinite ##-Inf) => true\n(Double/isInfinite nil) !! type_error", isinf)
IS_FLOAT(double_is_finite, "isFinite", "Is it neither infinite nor NaN?",
         "(Double/isFinite 1.5) => true\n(Double/isFinite nil) !! type_error", isfinite)

PTC_BUILTIN(double_compare, "Double", "compare", 2, 2, 0, "(Double/compare a b)",
            "-1, 0 or 1 by the order of floats, where NaN is above all.",
            "(Double/compare 1 2.5) => -1\n(Double/compare ##NaN ##Inf) => 1\n(Double/compare 1 "
            "nil) !! type_error")
{
    double a, b;
    if (!ptc_arg_double(vm, argv, 0, &a) || !ptc_arg_double(vm, argv, 1, &b))
        return false;
    int order = isnan(a) || isnan(b) ? isnan(a) - isnan(b)
                : a == b             ? !!signbit(b) - !!signbit(a)
                                     : (a > b) - (a < b);
    return ptc_give(out, ptc_int((order > 0) - (order < 0)));
}

PTC_BUILTIN(double_to_string, "Double", "toString", 1, 1, 0, "(Double/toString num)",
            "The text of a float.",
            "(Double/toString 1) => \"1.0\"\n(Double/toString nil) !! type_error")
{
    double d;
    PtcValue v;
    if (!ptc_arg_double(vm, argv, 0, &d) || (v = ptc_float_new(vm->heap, d)) == PTC_NONE)
        return false;
    return ptc_as(vm, "clojure.core/str", argc, &v, out);
}

/* A Float is a Double here. */
PTC_BUILTIN_ROW(float_is_na_n, run_double_is_na_n, "Float", "isNaN", 1, 1, 0, "(Float/isNaN num)",
                "Is it the float that is not a number?",
                "(Float/isNaN ##NaN) => true\n(Float/isNaN nil) !! type_error");
PTC_BUILTIN_ROW(float_is_infinite, run_double_is_infinite, "Float", "isInfinite", 1, 1, 0,
                "(Float/isInfinite num)", "Is it infinite?",
                "(Float/isInfinite ##-Inf) => true\n(Float/isInfinite nil) !! type_error");
PTC_BUILTIN_ROW(float_is_finite, run_double_is_finite, "Float", "isFinite", 1, 1, 0,
                "(Float/isFinite num)", "Is it neither infinite nor NaN?",
                "(Float/isFinite 1.5) => true\n(Float/isFinite nil) !! type_error");
PTC_BUILTIN_ROW(
    float_compare, run_double_compare, "Float", "compare", 2, 2, 0, "(Float/compare a b)",
    "-1, 0 or 1 by the order of floats, where NaN is above all.",
    "(Float/compare 1 2.5) => -1\n(Float/compare ##NaN ##Inf) => 1\n(Float/compare 1 nil) "
    "!! type_error");
PTC_BUILTIN_ROW(float_to_string, run_double_to_string, "Float", "toString", 1, 1, 0,
                "(Float/toString num)", "The text of a float.",
                "(Float/toString 1) => \"1.0\"\n(Float/toString nil) !! type_error");

PTC_BUILTIN_EXPR(double_max, "Double", "max", 2, 2, 0, "(Double/max a b)",
                 "The larger of two numbers.",
                 "(Double/max 1.5 2) => 2\n(Double/max 1 nil) !! type_error",
                 ptc_as(vm, "clojure.core/max", argc, argv, out))
PTC_BUILTIN_EXPR(double_min, "Double", "min", 2, 2, 0, "(Double/min a b)",
                 "The smaller of two numbers.",
                 "(Double/min 1.5 2) => 1.5\n(Double/min 1 nil) !! type_error",
                 ptc_as(vm, "clojure.core/min", argc, argv, out))
PTC_BUILTIN_EXPR(double_sum, "Double", "sum", 2, 2, 0, "(Double/sum a b)",
                 "The sum of two numbers.",
                 "(Double/sum 1.5 2) => 3.5\n(Double/sum 1 nil) !! type_error",
                 ptc_as(vm, "clojure.core/+", argc, argv, out))
PTC_BUILTIN_EXPR(float_value_of, "Float", "valueOf", 1, 1, 0, "(Float/valueOf x)",
                 "A number as a float, or the float that a string spells.",
                 "(Float/valueOf \"4.5\") => 4.5\n(Float/valueOf \"x\") !! value_error",
                 ptc_as(vm, "Double/valueOf", argc, argv, out))

PTC_BUILTIN(boolean_to_string, "Boolean", "toString", 1, 1, 0, "(Boolean/toString x)",
            "true or false as text.",
            "(Boolean/toString false) => \"false\"\n(Boolean/toString 1) !! type_error")
{
    if (!ptc_is_bool(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a boolean");
    return ptc_as(vm, "clojure.core/str", argc, argv, out);
}

/* ------------------------------------------------------------------ methods of numbers */

PTC_BUILTIN(num_int_value, "java", ".intValue", 1, 1, 0, "(.intValue num)",
            "The number without its fraction, within 32 bits.",
            "(.intValue 3.7) => 3\n(.intValue \"3\") !! type_error")
{
    if (!ptc_arg_numeric(vm, argv, 0))
        return false;
    return ptc_as(vm, "clojure.core/int", argc, argv, out);
}

PTC_BUILTIN(num_long_value, "java", ".longValue", 1, 1, 0, "(.longValue num)",
            "The number without its fraction, within 64 bits.",
            "(.longValue 3.7) => 3\n(.longValue \"3\") !! type_error")
{
    if (!ptc_arg_numeric(vm, argv, 0))
        return false;
    return ptc_as(vm, "clojure.core/long", argc, argv, out);
}

PTC_BUILTIN(num_double_value, "java", ".doubleValue", 1, 1, 0, "(.doubleValue num)",
            "The number as a float.", "(.doubleValue 3) => 3.0\n(.doubleValue \"3\") !! type_error")
{
    if (!ptc_arg_numeric(vm, argv, 0))
        return false;
    return ptc_as(vm, "clojure.core/double", argc, argv, out);
}

/* x to the power of n by squaring; the size of the result is bounded by the multiplications. */
static PtcValue int_power(PtcVM *vm, PtcValue x, int64_t n)
{
    PtcValue result =
        n == 0 && ptc_is_decimal(x) ? ptc_decimal_new(vm->heap, ptc_int(1), 0) : ptc_int(1);
    while (n > 0 && result != PTC_NONE && x != PTC_NONE) {
        if (!ptc_tick(&vm->budget, 1))
            return PTC_NONE;
        if (n & 1)
            result = ptc_num_mul(vm, result, x);
        n >>= 1;
        if (n > 0 && result != PTC_NONE)
            x = ptc_num_mul(vm, x, x);
    }
    return x == PTC_NONE ? PTC_NONE : result;
}

PTC_BUILTIN(num_pow, "java", ".pow", 2, 2, 0, "(.pow num n)",
            "The number to the power of an integer that is not negative, exact.",
            "(.pow 2 100) => 1267650600228229401496703205376\n(.pow 2 -1) !! "
            "arithmetic_error\n(.pow 2.5 2) !! type_error")
{
    int64_t n;
    if (!ptc_is_integer(argv[0]) && !ptc_is_decimal(argv[0]))
        return ptc_fail_type(vm, argv, 0, "an integer or a decimal");
    if (!ptc_arg_int(vm, argv, 1, &n))
        return false;
    if (n < 0)
        return ptc_fail(vm, PTC_E_ARITH, ".pow: the exponent %lld is negative", (long long)n);
    return ptc_give(out, int_power(vm, argv[0], n));
}

PTC_BUILTIN_TABLE(ptc_lib_interop_number, integer_to_string, integer_to_binary_string,
                  integer_to_hex_string, integer_to_octal_string, integer_bit_count,
                  integer_number_of_leading_zeros, integer_number_of_trailing_zeros,
                  integer_highest_one_bit, integer_lowest_one_bit, integer_reverse, integer_signum,
                  integer_rotate_left, integer_rotate_right, integer_compare, integer_max,
                  integer_min, integer_sum, long_to_string, long_to_binary_string,
                  long_to_hex_string, long_to_octal_string, long_bit_count,
                  long_number_of_leading_zeros, long_number_of_trailing_zeros, long_highest_one_bit,
                  long_lowest_one_bit, long_reverse, long_signum, long_rotate_left,
                  long_rotate_right, long_compare, long_max, long_min, long_sum, double_is_na_n,
                  double_is_infinite, double_is_finite, double_compare, double_to_string,
                  float_is_na_n, float_is_infinite, float_is_finite, float_compare, float_to_string,
                  double_max, double_min, double_sum, float_value_of, boolean_to_string,
                  num_int_value, num_long_value, num_double_value, num_pow);
