/* SPDX-License-Identifier: MIT
 * Rounding and conversion of numbers, and bits of integers.
 *
 * Bits are those of two's complement without end, so negative numbers have ones on the left forever,
 * and no shift to the left drops a bit.  Big integers are kept by sign and magnitude; only `and` of two
 * natural numbers looks at limbs, the rest is arithmetic on top of it. */
#include <math.h>

#include "base/utf8.h"
#include "lisp/number/decimals.h"
#include "lisp/number/num.h"
#include "lisp/vm/builtin.h"

/* ------------------------------------------------------------------ rounding */

typedef double (*DoubleFn)(double);

static bool round_decimal(PtcVM *vm, PtcValue v, DoubleFn fn, PtcValue *out)
{
    PtcRounding mode = fn == floor   ? PTC_ROUND_FLOOR
                       : fn == ceil  ? PTC_ROUND_CEILING
                       : fn == trunc ? PTC_ROUND_DOWN
                                     : PTC_ROUND_HALF_UP;
    PtcValue whole = ptc_decimal_set_scale(vm->heap, v, 0, mode);
    return whole != PTC_NONE && ptc_give(out, ptc_decimal_parts(whole).unscaled);
}

/* To an integer; what is none already and has none near it (NaN, infinity) stays as it is. */
static bool round_with(PtcVM *vm, const PtcValue *argv, DoubleFn fn, PtcValue *out)
{
    if (ptc_is_decimal(argv[0]))
        return round_decimal(vm, argv[0], fn, out);
    if (!ptc_arg_number(vm, argv, 0))
        return false;
    if (ptc_is_integer(argv[0]) || !isfinite(ptc_to_float(argv[0])))
        return ptc_give(out, argv[0]);
    return ptc_give(out, ptc_int_from_double(vm->heap, fn(ptc_to_float(argv[0]))));
}

PTC_BUILTIN_EXPR(core_floor, "clojure.core", "floor", 1, 1,
                 PTC_TAKES(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_INT | PTC_IS_FLOAT), "(floor num)",
                 "The largest integer that is not above the number.",
                 "(floor 2.9) => 2\n(floor -2.1) => -3\n(floor nil) !! type_error",
                 round_with(vm, argv, floor, out))

PTC_BUILTIN_EXPR(core_ceil, "clojure.core", "ceil", 1, 1,
                 PTC_TAKES(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_INT | PTC_IS_FLOAT), "(ceil num)",
                 "The smallest integer that is not below the number.",
                 "(ceil 2.1) => 3\n(ceil -2.9) => -2\n(ceil \"2.1\") !! type_error",
                 round_with(vm, argv, ceil, out))

PTC_BUILTIN(core_round, "clojure.core", "round", 1, 3,
            PTC_TAKES2(PTC_IS_NUMBER, PTC_IS_INT) | PTC_GIVES(PTC_IS_NUMBER),
            "(round num places? mode?)",
            "The nearest integer; with places, the number rounded to so many decimal places as it "
            "is printed, a decimal to exactly so many. Halves go away from zero, or as a mode "
            "such as :half-even says; negative places round to tens and hundreds.",
            "(round 2.5) => 3\n(round -2.5) => -3\n(round 2.675 2) => 2.68\n"
            "(round 2.675 2 :half-even) => 2.68\n(round 2.5M 0 :half-even) => 2M\n"
            "(round 19.9M 2) => 19.90M\n(round 1250 -2) => 1300\n(round nil) !! type_error\n"
            "(round 1.5 :up) !! type_error")
{
    return argc == 1 ? round_with(vm, argv, round, out)
                     : ptc_decimal_round_number(vm, argc, argv, out);
}

PTC_BUILTIN_EXPR(core_trunc, "clojure.core", "trunc", 1, 1,
                 PTC_TAKES(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_INT | PTC_IS_FLOAT), "(trunc num)",
                 "The number without its fraction, as an integer.",
                 "(trunc 3.99) => 3\n(trunc -3.99) => -3\n(trunc :x) !! type_error",
                 round_with(vm, argv, trunc, out))

PTC_BUILTIN_EXPR(math_trunc, "Math", "trunc", 1, 1,
                 PTC_TAKES(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_INT | PTC_IS_FLOAT),
                 "(Math/trunc num)", "The same as trunc.",
                 "(Math/trunc 8.7) => 8\n(Math/trunc nil) !! type_error",
                 round_with(vm, argv, trunc, out))

/* --------------------------------------------------------------- conversion */

static bool fail_bit_range(PtcVM *vm, int bits)
{
    ptc_fail_here(vm, PTC_E_ARITH | PTC_AS(ILLEGAL_ARGUMENT), "the number does not fit %d bits",
                  bits);
    return ptc_fail_hint(vm, bits == 32 ? "long takes 64 bits, trunc any number"
                                        : "trunc takes any number");
}

/* The code point of a string that holds just one. */
static bool single_code(PtcValue v, uint32_t *code)
{
    return ptc_is_string(v) && ptc_str_len(v) > 0 &&
           ptc_utf8_decode(ptc_str_bytes(v), ptc_str_len(v), code) == ptc_str_len(v);
}

/* Drops the fraction; a result outside of so many bits is an error, but NaN gives 0 as in Java. */
static bool to_integer(PtcVM *vm, const PtcValue *argv, int bits, PtcValue *out)
{
    uint32_t code;
    int64_t n;
    if (ptc_is_decimal(argv[0])) {
        PtcValue whole = ptc_decimal_to_int(vm->heap, argv[0]);
        return whole != PTC_NONE && to_integer(vm, &whole, bits, out);
    }
    if (single_code(argv[0], &code))
        return ptc_give(out, ptc_int(code));
    if (ptc_is_string(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a number; (parse-long s) reads a string");
    if (!ptc_arg_number(vm, argv, 0))
        return false;
    if (ptc_is_float(argv[0])) {
        double d = ptc_to_float(argv[0]);
        if (!isnan(d) && !(d < 0x1p63 && d >= -0x1p63))
            return fail_bit_range(vm, bits);
        if (bits == 32 && (d > INT32_MAX || d < INT32_MIN))
            return fail_bit_range(vm, bits);
        n = isnan(d) ? 0 : (int64_t)d;
    } else if (!ptc_is_integer(argv[0]) || !ptc_int_get(argv[0], &n)) {
        return fail_bit_range(vm, bits);
    }
    if (bits == 32 && n != (int32_t)n)
        return fail_bit_range(vm, bits);
    return ptc_give(out, ptc_int_new(vm->heap, n));
}

PTC_BUILTIN_EXPR(core_int, "clojure.core", "int", 1, 1,
                 PTC_TAKES(PTC_IS_NUMBER | PTC_IS_STRING) | PTC_GIVES(PTC_IS_INT), "(int x)",
                 "The number without its fraction, within 32 bits; of a character its code.",
                 "(int 3.7) => 3\n(int \"A\") => 65\n(int 3000000000) !! arithmetic_error\n"
                 "(int \"42\") !! type_error",
                 to_integer(vm, argv, 32, out))

PTC_BUILTIN_EXPR(
    core_long, "clojure.core", "long", 1, 1,
    PTC_TAKES(PTC_IS_NUMBER | PTC_IS_STRING) | PTC_GIVES(PTC_IS_INT), "(long x)",
    "The number without its fraction, within 64 bits; of a character its code.",
    "(long 3.7) => 3\n(long 3000000000) => 3000000000\n(long 1e20) !! arithmetic_error",
    to_integer(vm, argv, 64, out))

static bool to_double(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    double d;
    if (ptc_is_string(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a number; (parse-double s) reads a string");
    return ptc_arg_double(vm, argv, 0, &d) && ptc_give(out, ptc_float_new(vm->heap, d));
}

PTC_BUILTIN_EXPR(core_double, "clojure.core", "double", 1, 1,
                 PTC_TAKES(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_FLOAT), "(double num)",
                 "The number as a float.",
                 "(double 3) => 3.0\n(double 2.5) => 2.5\n(double \"2.5\") !! type_error",
                 to_double(vm, argv, out))

PTC_BUILTIN(core_float, "clojure.core", "float", 1, 1,
            PTC_TAKES(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_FLOAT), "(float num)",
            "The same as double, but a number beyond the range of Java's floats is an error.",
            "(float 1) => 1.0\n(float 0.1) => 0.1\n(float 1e300) !! arithmetic_error\n"
            "(float nil) !! type_error")
{
    if (!to_double(vm, argv, out))
        return false;
    double d = fabs(ptc_to_float(*out));
    if (isfinite(d) && d > 0x1.fffffep127)
        return ptc_fail(vm, PTC_E_ARITH | PTC_AS(ILLEGAL_ARGUMENT),
                        "float: the number is beyond the range of floats") ||
               ptc_fail_hint(vm, "double takes it");
    return true;
}

/* The answer for what is no float is false. */
#define FLOAT_TEST(id, name_, doc_, examples_, test)                                            \
    PTC_BUILTIN(id, "clojure.core", name_, 1, 1, PTC_GIVES(PTC_IS_BOOL), "(" name_ " x)", doc_, \
                examples_)                                                                      \
    {                                                                                           \
        return ptc_give(out, ptc_bool(ptc_is_float(argv[0]) && test(ptc_to_float(argv[0]))));   \
    }

FLOAT_TEST(core_is_nan, "NaN?", "Is it the float that is not a number.",
           "(NaN? ##NaN) => true\n(NaN? 1) => false\n(NaN? nil) => false", isnan)
FLOAT_TEST(core_is_infinite, "infinite?", "Is it an infinite float.",
           "(infinite? ##-Inf) => true\n(infinite? 1e308) => false\n(infinite? nil) => false",
           isinf)

/* ---------------------------------------------------------------------- bits */

/* These pass a failed operand (PTC_NONE) on. */
static PtcValue add_or_none(PtcVM *vm, PtcValue a, PtcValue b)
{
    return a && b ? ptc_int_add(vm->heap, a, b) : PTC_NONE;
}

static PtcValue subtract_or_none(PtcVM *vm, PtcValue a, PtcValue b)
{
    return a && b ? ptc_int_sub(vm->heap, a, b) : PTC_NONE;
}

static PtcValue invert(PtcVM *vm, PtcValue a)
{
    return subtract_or_none(vm, ptc_int(-1), a);
}

/* The value of a big object without its leading zeros. */
static PtcValue normal(PtcBig *big)
{
    uint32_t n = big->obj.count;
    while (n && big->limbs[n - 1] == 0)
        n--;
    if (n == 0)
        return ptc_int(0);
    if (n == 1 && big->limbs[0] <= (uint64_t)PTC_INT_MAX)
        return ptc_int((int64_t)big->limbs[0]);
    big->obj.count = n;
    return ptc_from_obj(big);
}

/* Neither is negative, one is big. */
static PtcValue and_natural(PtcVM *vm, PtcValue a, PtcValue b)
{
    if (ptc_is_int(b))
        return and_natural(vm, b, a);
    const PtcBig *y = (const PtcBig *)(uintptr_t)b;
    if (ptc_is_int(a))
        return ptc_int((int64_t)((uint64_t)ptc_to_int(a) & y->limbs[0]));
    const PtcBig *x = (const PtcBig *)(uintptr_t)a;
    uint32_t n = x->obj.count < y->obj.count ? x->obj.count : y->obj.count;
    size_t size = sizeof(PtcBig) + n * sizeof(uint64_t);
    PtcBig *big =
        ptc_tick(&vm->budget, n) ? ptc_heap_object(vm->heap, PTC_T_BIGINT, size, n) : NULL;
    if (!big)
        return PTC_NONE;
    for (uint32_t i = 0; i < n; i++)
        big->limbs[i] = x->limbs[i] & y->limbs[i];
    return normal(big);
}

static PtcValue bits_and(PtcVM *vm, PtcValue a, PtcValue b)
{
    if (!a || !b)
        return PTC_NONE;
    if (a & b & 1)
        return a & b; /* the tag bit too */
    bool na = ptc_int_sign(a) < 0, nb = ptc_int_sign(b) < 0;
    if (!na && !nb)
        return and_natural(vm, a, b);
    if (!na) /* what a has without what the inverse of b has */
        return subtract_or_none(vm, a, bits_and(vm, a, invert(vm, b)));
    if (!nb)
        return bits_and(vm, b, a);
    PtcValue x = invert(vm, a), y = invert(vm, b); /* not (x or y) */
    return invert(vm, add_or_none(vm, x, subtract_or_none(vm, y, bits_and(vm, x, y))));
}

static PtcValue bits_and_not(PtcVM *vm, PtcValue a, PtcValue b)
{
    return subtract_or_none(vm, a, bits_and(vm, a, b));
}

static PtcValue bits_or(PtcVM *vm, PtcValue a, PtcValue b)
{
    return a & b & 1 ? a | b : add_or_none(vm, a, bits_and_not(vm, b, a));
}

static PtcValue bits_xor(PtcVM *vm, PtcValue a, PtcValue b)
{
    return a & b & 1 ? (a ^ b) | 1
                     : add_or_none(vm, bits_and_not(vm, a, b), bits_and_not(vm, b, a));
}

static PtcValue power_of_two(PtcVM *vm, int64_t n)
{
    int left = 0; /* bits of n not looked at */
    while (n >> left >= 62)
        left++;
    PtcValue p = ptc_int((int64_t)1 << (n >> left));
    while (left-- > 0 && p) {
        p = ptc_int_mul(vm->heap, p, p);
        if (n >> left & 1)
            p = add_or_none(vm, p, p);
    }
    return p;
}

static PtcValue shift_left(PtcVM *vm, PtcValue x, int64_t n)
{
    if (x == ptc_int(0))
        return x;
    PtcValue p = power_of_two(vm, n);
    return p ? ptc_int_mul(vm->heap, x, p) : PTC_NONE;
}

static PtcValue shift_right(PtcVM *vm, PtcValue x, int64_t n)
{
    if (ptc_is_int(x))
        return ptc_int(ptc_to_int(x) >> (n > 63 ? 63 : n));
    const PtcBig *big = (const PtcBig *)(uintptr_t)x;
    uint32_t limbs = big->obj.count;
    bool negative = ptc_int_sign(x) < 0;
    if (n >= (int64_t)limbs * 64 - __builtin_clzll(big->limbs[limbs - 1]))
        return ptc_int(-negative);
    PtcValue p = power_of_two(vm, n), quot, rem;
    if (!p || !ptc_int_divide(vm->heap, x, p, &quot, &rem))
        return PTC_NONE;
    return negative && rem != ptc_int(0) ? subtract_or_none(vm, quot, ptc_int(1)) : quot;
}

static bool arg_integer(PtcVM *vm, const PtcValue *argv, int i)
{
    return ptc_is_integer(argv[i]) || ptc_fail_type(vm, argv, i, "an integer");
}

/* Argument 0 is an integer and argument 1 a number of bits (clamped to 64 bits). */
static bool arg_bit(PtcVM *vm, const PtcValue *argv, int64_t *n)
{
    if (!arg_integer(vm, argv, 0))
        return false;
    if (!ptc_is_integer(argv[1]) || ptc_int_sign(argv[1]) < 0)
        return ptc_fail_type(vm, argv, 1, "an integer that is not negative");
    *n = ptc_is_int(argv[1]) ? ptc_to_int(argv[1]) : INT64_MAX;
    return true;
}

typedef PtcValue (*BitwiseFn)(PtcVM *vm, PtcValue a, PtcValue b);

static bool fold_bits(PtcVM *vm, int argc, const PtcValue *argv, BitwiseFn fn, PtcValue *out)
{
    if (!arg_integer(vm, argv, 0))
        return false;
    PtcValue bits = argv[0];
    for (int i = 1; i < argc && bits; i++) {
        if (!ptc_tick(&vm->budget, 1) || !arg_integer(vm, argv, i))
            return false;
        bits = fn(vm, bits, argv[i]);
    }
    return ptc_give(out, bits);
}

PTC_BUILTIN_EXPR(core_bit_and, "clojure.core", "bit-and", 2, -1,
                 PTC_TAKES_ALL(PTC_IS_INT) | PTC_GIVES(PTC_IS_INT), "(bit-and x y & more)",
                 "The bits that are set in all of the integers.",
                 "(bit-and 12 10) => 8\n(bit-and -1 255) => 255\n(bit-and 5 1.0) !! type_error",
                 fold_bits(vm, argc, argv, bits_and, out))

PTC_BUILTIN_EXPR(core_bit_or, "clojure.core", "bit-or", 2, -1,
                 PTC_TAKES_ALL(PTC_IS_INT) | PTC_GIVES(PTC_IS_INT), "(bit-or x y & more)",
                 "The bits that are set in any of the integers.",
                 "(bit-or 12 10) => 14\n(bit-or -8 3) => -5\n(bit-or 1 nil) !! type_error",
                 fold_bits(vm, argc, argv, bits_or, out))

PTC_BUILTIN_EXPR(core_bit_xor, "clojure.core", "bit-xor", 2, -1,
                 PTC_TAKES_ALL(PTC_IS_INT) | PTC_GIVES(PTC_IS_INT), "(bit-xor x y & more)",
                 "The bits that are set in an odd number of the integers.",
                 "(bit-xor 12 10) => 6\n(bit-xor 1 2 3) => 0\n(bit-xor true false) !! type_error",
                 fold_bits(vm, argc, argv, bits_xor, out))

PTC_BUILTIN_EXPR(core_bit_and_not, "clojure.core", "bit-and-not", 2, -1,
                 PTC_TAKES_ALL(PTC_IS_INT) | PTC_GIVES(PTC_IS_INT), "(bit-and-not x y & more)",
                 "The bits of the first integer that none of the others has.",
                 "(bit-and-not 15 9) => 6\n(bit-and-not 255 1 2 4) => 248\n"
                 "(bit-and-not 1 \"1\") !! type_error",
                 fold_bits(vm, argc, argv, bits_and_not, out))

PTC_BUILTIN_EXPR(core_bit_not, "clojure.core", "bit-not", 1, 1,
                 PTC_TAKES_ALL(PTC_IS_INT) | PTC_GIVES(PTC_IS_INT), "(bit-not x)",
                 "The integer with every bit turned over.",
                 "(bit-not 0) => -1\n(bit-not -8) => 7\n(bit-not 1.5) !! type_error",
                 arg_integer(vm, argv, 0) && ptc_give(out, invert(vm, argv[0])))

PTC_BUILTIN(core_shift_left, "clojure.core", "bit-shift-left", 2, 2,
            PTC_TAKES_ALL(PTC_IS_INT) | PTC_GIVES(PTC_IS_INT), "(bit-shift-left x n)",
            "The integer with its bits moved n places up; none is lost.",
            "(bit-shift-left 1 10) => 1024\n(bit-shift-left 5 64) => 92233720368547758080\n"
            "(bit-shift-left 9 -2) !! type_error")
{
    int64_t n;
    return arg_bit(vm, argv, &n) && ptc_give(out, shift_left(vm, argv[0], n));
}

PTC_BUILTIN(core_shift_right, "clojure.core", "bit-shift-right", 2, 2,
            PTC_TAKES_ALL(PTC_IS_INT) | PTC_GIVES(PTC_IS_INT), "(bit-shift-right x n)",
            "The integer with its bits moved n places down, the sign kept.",
            "(bit-shift-right 1024 3) => 128\n(bit-shift-right -9 1) => -5\n"
            "(bit-shift-right 1 nil) !! type_error")
{
    int64_t n;
    return arg_bit(vm, argv, &n) && ptc_give(out, shift_right(vm, argv[0], n));
}

PTC_BUILTIN(core_shift_unsigned, "clojure.core", "unsigned-bit-shift-right", 2, 2,
            PTC_TAKES_ALL(PTC_IS_INT) | PTC_GIVES(PTC_IS_INT), "(unsigned-bit-shift-right x n)",
            "An integer of 64 bits with its bits moved n places down and zeros put in above.",
            "(unsigned-bit-shift-right -1 60) => 15\n(unsigned-bit-shift-right 1024 3) => 128\n"
            "(unsigned-bit-shift-right 1.5 1) !! type_error")
{
    int64_t n, x;
    if (!arg_bit(vm, argv, &n) || !ptc_arg_int(vm, argv, 0, &x))
        return false;
    if (n > 0)
        x = n > 63 ? 0 : (int64_t)((uint64_t)x >> n);
    return ptc_give(out, ptc_int_new(vm->heap, x));
}

/* Is bit n of argument 0 set? */
static bool test_bit(PtcVM *vm, const PtcValue *argv, int64_t n, bool *set)
{
    PtcValue rest = shift_right(vm, argv[0], n);
    *set = rest && !ptc_int_is_even(rest);
    return rest != PTC_NONE;
}

PTC_BUILTIN(core_bit_test, "clojure.core", "bit-test", 2, 2,
            PTC_TAKES_ALL(PTC_IS_INT) | PTC_GIVES(PTC_IS_BOOL), "(bit-test x n)",
            "Is bit n of the integer set, counted from 0.",
            "(bit-test 6 1) => true\n(bit-test 6 0) => false\n(bit-test 5 1.0) !! type_error")
{
    int64_t n;
    bool set;
    return arg_bit(vm, argv, &n) && test_bit(vm, argv, n, &set) && ptc_give(out, ptc_bool(set));
}

/* Sets (1), clears (0) or turns over (-1) a bit. */
static bool change_bit(PtcVM *vm, const PtcValue *argv, int to, PtcValue *out)
{
    int64_t n;
    bool set;
    if (!arg_bit(vm, argv, &n) || !test_bit(vm, argv, n, &set))
        return false;
    if (to == set)
        return ptc_give(out, argv[0]);
    PtcValue bit = power_of_two(vm, n);
    return ptc_give(out, set ? subtract_or_none(vm, argv[0], bit) : add_or_none(vm, argv[0], bit));
}

PTC_BUILTIN_EXPR(core_bit_set, "clojure.core", "bit-set", 2, 2,
                 PTC_TAKES_ALL(PTC_IS_INT) | PTC_GIVES(PTC_IS_INT), "(bit-set x n)",
                 "The integer with bit n set to 1.",
                 "(bit-set 0 5) => 32\n(bit-set 32 5) => 32\n(bit-set 0 -1) !! type_error",
                 change_bit(vm, argv, 1, out))

PTC_BUILTIN_EXPR(core_bit_clear, "clojure.core", "bit-clear", 2, 2,
                 PTC_TAKES_ALL(PTC_IS_INT) | PTC_GIVES(PTC_IS_INT), "(bit-clear x n)",
                 "The integer with bit n set to 0.",
                 "(bit-clear 15 0) => 14\n(bit-clear -1 3) => -9\n(bit-clear nil 0) !! type_error",
                 change_bit(vm, argv, 0, out))

PTC_BUILTIN_EXPR(core_bit_flip, "clojure.core", "bit-flip", 2, 2,
                 PTC_TAKES_ALL(PTC_IS_INT) | PTC_GIVES(PTC_IS_INT), "(bit-flip x n)",
                 "The integer with bit n turned over.",
                 "(bit-flip 5 1) => 7\n(bit-flip 7 1) => 5\n(bit-flip 1 \"0\") !! type_error",
                 change_bit(vm, argv, -1, out))

PTC_BUILTIN_TABLE(ptc_lib_math, core_floor, core_ceil, core_round, core_trunc, math_trunc, core_int,
                  core_long, core_double, core_float, core_is_nan, core_is_infinite, core_bit_and,
                  core_bit_or, core_bit_xor, core_bit_and_not, core_bit_not, core_shift_left,
                  core_shift_right, core_shift_unsigned, core_bit_test, core_bit_set,
                  core_bit_clear, core_bit_flip);
