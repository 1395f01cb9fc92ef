/* SPDX-License-Identifier: MIT
 * Static functions of Java's number classes, and methods of numbers.  Integer and Long differ in their bits: an
 * argument that does not fit them is an error, and negative numbers show those bits in other radixes. */
#include <math.h>
#include <stdio.h>

#include "base/utf8.h"
#include "lisp/lib/java/interop.h"
#include "lisp/number/num.h"
#include "value/number/decimal.h"

/* Argument i as an integer of so many bits. */
static bool arg_bits(PtcVM *vm, const PtcValue *argv, int i, int bits, int64_t *n)
{
    if (!ptc_arg_int(vm, argv, i, n))
        return false;
    if (bits == 64 || *n == (int32_t)*n)
        return true;
    return ptc_fail_full(vm, PTC_E_VALUE, "%lld does not fit 32 bits", (long long)*n);
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

/* A function of one integer's bits, with an example that follows the name in a call. */
#define OF_BITS(id, class, name, bits, doc, example, fn)                                        \
    PTC_BUILTIN_EXPR(id, class, name, 1, 1, 0, "(" class "/" name " n)", doc,                   \
                     "(" class "/" name " " example "\n(" class "/" name " nil) !! type_error", \
                     of_bits(vm, argv, bits, fn, out))

/* What clojure.core does with two numbers. */
#define OF_TWO(id, class, name, doc, example, core)                                               \
    PTC_BUILTIN_EXPR(id, class, name, 2, 2, 0, "(" class "/" name " a b)", doc,                   \
                     "(" class "/" name " " example "\n(" class "/" name " 1 nil) !! type_error", \
                     ptc_as(vm, "clojure.core/" core, argc, argv, out))

/* The same functions for both classes.  ones: -1 in hexadecimal digits, zeros: those before the bit of 1. */
#define CLASS_OF_BITS(c, class, bits, ones, zeros)                                                 \
    PTC_BUILTIN_EXPR(                                                                              \
        c##_to_string, class, "toString", 1, 2, 0, "(" class "/toString n radix?)",                \
        "The text of an integer of " #bits " bits, to base ten or another from 2 to 36.",          \
        "(" class "/toString 255 16) => \"ff\"\n(" class "/toString -5) => \"-5\"\n"               \
                                                         "(" class "/toString nil) !! type_error", \
        give_number_string(vm, argc, argv, bits, out))                                             \
    PTC_BUILTIN_EXPR(                                                                              \
        c##_to_binary_string, class, "toBinaryString", 1, 1, 0, "(" class "/toBinaryString n)",    \
        "The " #bits " bits of an integer in binary digits, without leading zeros.",               \
        "(" class "/toBinaryString 10) => \"1010\"\n(" class "/toBinaryString 1.5) !! type_error", \
        give_radix_string(vm, argv, bits, 2, out))                                                 \
    PTC_BUILTIN_EXPR(                                                                              \
        c##_to_hex_string, class, "toHexString", 1, 1, 0, "(" class "/toHexString n)",             \
        "The " #bits " bits of an integer in hexadecimal digits, without leading zeros.",          \
        "(" class "/toHexString -1) => \"" ones "\"\n(" class "/toHexString 1.5) !! type_error",   \
        give_radix_string(vm, argv, bits, 16, out))                                                \
    PTC_BUILTIN_EXPR(                                                                              \
        c##_to_octal_string, class, "toOctalString", 1, 1, 0, "(" class "/toOctalString n)",       \
        "The " #bits " bits of an integer in octal digits, without leading zeros.",                \
        "(" class "/toOctalString 8) => \"10\"\n(" class "/toOctalString 1.5) !! type_error",      \
        give_radix_string(vm, argv, bits, 8, out))                                                 \
    OF_BITS(c##_bit_count, class, "bitCount", bits, "How many of its bits are set.", "7) => 3",    \
            bit_count)                                                                             \
    OF_BITS(c##_number_of_leading_zeros, class, "numberOfLeadingZeros", bits,                      \
            "How many zeros come before its highest bit.", "1) => " zeros, leading_zeros)          \
    OF_BITS(c##_number_of_trailing_zeros, class, "numberOfTrailingZeros", bits,                    \
            "How many zeros come after its lowest bit.", "8) => 3", trailing_zeros)                \
    OF_BITS(c##_highest_one_bit, class, "highestOneBit", bits, "Its highest bit alone.",           \
            "10) => 8", highest_bit)                                                               \
    OF_BITS(c##_lowest_one_bit, class, "lowestOneBit", bits, "Its lowest bit alone.", "10) => 2",  \
            lowest_bit)                                                                            \
    OF_BITS(c##_reverse, class, "reverse", bits, "Its bits in the other order.", "0) => 0",        \
            reversed)                                                                              \
    OF_BITS(c##_signum, class, "signum", bits, "Its sign: -1, 0 or 1.", "-9) => -1", bits_sign)    \
    PTC_BUILTIN_EXPR(                                                                              \
        c##_rotate_left, class, "rotateLeft", 2, 2, 0, "(" class "/rotateLeft n places)",          \
        "Its " #bits " bits moved round to the left.",                                             \
        "(" class "/rotateLeft 1 1) => 2\n(" class "/rotateLeft 1 nil) !! type_error",             \
        rotate(vm, argv, bits, 1, out))                                                            \
    PTC_BUILTIN_EXPR(                                                                              \
        c##_rotate_right, class, "rotateRight", 2, 2, 0, "(" class "/rotateRight n places)",       \
        "Its " #bits " bits moved round to the right.",                                            \
        "(" class "/rotateRight 4 1) => 2\n(" class "/rotateRight 1 nil) !! type_error",           \
        rotate(vm, argv, bits, -1, out))                                                           \
    PTC_BUILTIN_EXPR(c##_compare, class, "compare", 2, 2, 0, "(" class "/compare a b)",            \
                     "-1, 0 or 1: is a less than, equal to or greater than b?",                    \
                     "(" class "/compare 1 2) => -1\n(" class "/compare 1 :a) !! type_error",      \
                     compare_bits(vm, argv, bits, out))                                            \
    OF_TWO(c##_max, class, "max", "The larger of two numbers.", "1 2) => 2", "max")                \
    OF_TWO(c##_min, class, "min", "The smaller of two numbers.", "1 2) => 1", "min")               \
    OF_TWO(c##_sum, class, "sum", "The sum of two numbers.", "1 2) => 3", "+")

CLASS_OF_BITS(integer, "Integer", 32, "ffffffff", "31")
CLASS_OF_BITS(long, "Long", 64, "ffffffffffffffff", "63")

/* ------------------------------------------------------------------- Double and Float */

#define IS_FLOAT(id, class, name, doc, example, test)                                      \
    PTC_BUILTIN(id, class, name, 1, 1, 0, "(" class "/" name " num)", doc,                 \
                "(" class "/" name " " example "\n(" class "/" name " nil) !! type_error") \
    {                                                                                      \
        double d;                                                                          \
        return ptc_arg_double(vm, argv, 0, &d) && ptc_give(out, ptc_bool(test(d)));        \
    }

static bool compare_floats(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    double a, b;
    if (!ptc_arg_double(vm, argv, 0, &a) || !ptc_arg_double(vm, argv, 1, &b))
        return false;
    int order = isnan(a) || isnan(b) ? isnan(a) - isnan(b)
                : a == b             ? !!signbit(b) - !!signbit(a)
                                     : (a > b) - (a < b);
    return ptc_give(out, ptc_int((order > 0) - (order < 0)));
}

static bool give_float_string(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    double d;
    PtcValue v;
    if (!ptc_arg_double(vm, argv, 0, &d) || (v = ptc_float_new(vm->heap, d)) == PTC_NONE)
        return false;
    return ptc_as(vm, "clojure.core/str", 1, &v, out);
}

/* A Float is a Double here. */
#define CLASS_OF_FLOATS(c, class)                                                                 \
    IS_FLOAT(c##_is_na_n, class, "isNaN", "Is it the float that is not a number?",                \
             "##NaN) => true", isnan)                                                             \
    IS_FLOAT(c##_is_infinite, class, "isInfinite", "Is it infinite?", "##-Inf) => true", isinf)   \
    IS_FLOAT(c##_is_finite, class, "isFinite", "Is it neither infinite nor NaN?", "1.5) => true", \
             isfinite)                                                                            \
    PTC_BUILTIN_EXPR(                                                                             \
        c##_compare, class, "compare", 2, 2, 0, "(" class "/compare a b)",                        \
        "-1, 0 or 1 by the order of floats, where NaN is above all.",                             \
        "(" class "/compare 1 2.5) => -1\n(" class "/compare ##NaN ##Inf) => 1\n"                 \
                                                   "(" class "/compare 1 nil) !! type_error",     \
        compare_floats(vm, argv, out))                                                            \
    PTC_BUILTIN_EXPR(c##_to_string, class, "toString", 1, 1, 0, "(" class "/toString num)",       \
                     "The text of a float.",                                                      \
                     "(" class "/toString 1) => \"1.0\"\n(" class "/toString nil) !! type_error", \
                     give_float_string(vm, argv, out))

CLASS_OF_FLOATS(double, "Double")
CLASS_OF_FLOATS(float, "Float")

OF_TWO(double_max, "Double", "max", "The larger of two numbers.", "1.5 2) => 2", "max")
OF_TWO(double_min, "Double", "min", "The smaller of two numbers.", "1.5 2) => 1.5", "min")
OF_TWO(double_sum, "Double", "sum", "The sum of two numbers.", "1.5 2) => 3.5", "+")
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

#define NUMBER_AS(id, name, core, doc, examples)                                 \
    PTC_BUILTIN_EXPR(id, "java", name, 1, 1, 0, "(" name " num)", doc, examples, \
                     ptc_arg_numeric(vm, argv, 0) &&                             \
                         ptc_as(vm, "clojure.core/" core, argc, argv, out))

NUMBER_AS(num_int_value, ".intValue", "int", "The number without its fraction, within 32 bits.",
          "(.intValue 3.7) => 3\n(.intValue \"3\") !! type_error")
NUMBER_AS(num_long_value, ".longValue", "long", "The number without its fraction, within 64 bits.",
          "(.longValue 3.7) => 3\n(.longValue \"3\") !! type_error")
NUMBER_AS(num_double_value, ".doubleValue", "double", "The number as a float.",
          "(.doubleValue 3) => 3.0\n(.doubleValue \"3\") !! type_error")

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

#define ROWS_OF_BITS(c)                                                                         \
    c##_to_string, c##_to_binary_string, c##_to_hex_string, c##_to_octal_string, c##_bit_count, \
        c##_number_of_leading_zeros, c##_number_of_trailing_zeros, c##_highest_one_bit,         \
        c##_lowest_one_bit, c##_reverse, c##_signum, c##_rotate_left, c##_rotate_right,         \
        c##_compare, c##_max, c##_min, c##_sum
PTC_BUILTIN_TABLE(ptc_lib_interop_number, ROWS_OF_BITS(integer), ROWS_OF_BITS(long), double_is_na_n,
                  double_is_infinite, double_is_finite, double_compare, double_to_string,
                  float_is_na_n, float_is_infinite, float_is_finite, float_compare, float_to_string,
                  double_max, double_min, double_sum, float_value_of, boolean_to_string,
                  num_int_value, num_long_value, num_double_value, num_pow);
