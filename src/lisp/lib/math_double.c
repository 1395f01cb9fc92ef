/* SPDX-License-Identifier: MIT
 * Functions of floats: those of Java's Math and, under the names of Clojure 1.11, of clojure.math; and sqrt and pow of
 * our own.  One body serves both names.  Whole numbers come out as floats, as Java gives them. */
#include <math.h>

#include "lisp/number/num.h"
#include "lisp/vm/builtin.h"

/* ------------------------------------------------------------------ what Java does otherwise than C */

/* C answers 1 where Java sees NaN. */
static double power(double x, double y)
{
    if (isnan(y) || (fabs(x) == 1 && isinf(y)))
        return NAN;
    return pow(x, y);
}

/* cbrt of the C library may miss the nearest double by a bit. */
static double cube_root(double d)
{
    return (double)cbrtl(d);
}

static double double_sign(double d)
{
    return d > 0 ? 1 : d < 0 ? -1 : d;
}

static double radians(double d)
{
    return d * (M_PI / 180); /* as Java: the last digit depends on it */
}

static double degrees(double d)
{
    return d * (180 / M_PI);
}

static double next_up(double d)
{
    return d == 0 ? 0x1p-1074 : nextafter(d, INFINITY);
}

static double next_down(double d)
{
    return d == 0 ? -0x1p-1074 : nextafter(d, -INFINITY);
}

static double ulp(double d)
{
    d = fabs(d);
    if (!isfinite(d))
        return d;
    return d == 0x1.fffffffffffffp1023 ? 0x1p971 : nextafter(d, INFINITY) - d;
}

/* floor(d + 1/2) without the error of that sum */
static double round_half_up(double d)
{
    double low = floor(d);
    return d - low >= 0.5 ? low + 1 : low;
}

/* -------------------------------------------------------------------------------- one and two floats */

#define TO_DOUBLE (PTC_TAKES_ALL(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_FLOAT))
#define DOUBLE_FN(id, ns_, name_, usage_, doc_, examples_, fn_)                                   \
    PTC_BUILTIN(id, ns_, name_, 1, 1, TO_DOUBLE, usage_, doc_, examples_)                         \
    {                                                                                             \
        double x;                                                                                 \
        return ptc_arg_double(vm, argv, 0, &x) && ptc_give(out, ptc_float_new(vm->heap, fn_(x))); \
    }

#define DOUBLE_FN_2(id, ns_, name_, usage_, doc_, examples_, fn_)                    \
    PTC_BUILTIN(id, ns_, name_, 2, 2, TO_DOUBLE, usage_, doc_, examples_)            \
    {                                                                                \
        double x, y;                                                                 \
        return ptc_arg_double(vm, argv, 0, &x) && ptc_arg_double(vm, argv, 1, &y) && \
               ptc_give(out, ptc_float_new(vm->heap, fn_(x, y)));                    \
    }

/* The row math_##id under the name that clojure.math has for it; args: as the usage names them. */
#define AS_CLOJURE(id, n, java_, clj_, args, examples_)                          \
    PTC_BUILTIN_ROW(clj_math_##id, run_math_##id, "clojure.math", clj_, n, n, 0, \
                    "(clojure.math/" clj_ " " args ")", "The same as Math/" java_ ".", examples_)

/* A function under both names, with two examples: each is what follows the name in a call. */
#define UNDER_BOTH(DEFINE, id, n, java_, clj_, args, doc_, one_, two_, fn_) \
    DEFINE(math_##id, "Math", java_, "(Math/" java_ " " args ")", doc_,     \
           "(Math/" java_ " " one_ "\n(Math/" java_ " " two_, fn_)          \
    AS_CLOJURE(id, n, java_, clj_, args,                                    \
               "(clojure.math/" clj_ " " one_ "\n(clojure.math/" clj_ " " two_);
#define DOUBLE_BOTH(id, java_, clj_, doc_, one_, two_, fn_) \
    UNDER_BOTH(DOUBLE_FN, id, 1, java_, clj_, "num", doc_, one_, two_, fn_)

DOUBLE_FN(core_sqrt, "clojure.core", "sqrt", "(sqrt num)",
          "Square root as a float; ##NaN for negative numbers.",
          "(sqrt 144) => 12.0\n(sqrt -1) => ##NaN\n(sqrt nil) !! type_error", sqrt)
DOUBLE_FN_2(core_pow, "clojure.core", "pow", "(pow base exponent)",
            "The base to the power of the exponent, as a float.",
            "(pow 2 10) => 1024.0\n(pow 2 -2) => 0.25\n(pow 2 nil) !! type_error", power)

DOUBLE_FN(math_sqrt, "Math", "sqrt", "(Math/sqrt num)",
          "Square root as a float; ##NaN for negative numbers.",
          "(Math/sqrt 16) => 4.0\n(Math/sqrt -1) => ##NaN\n(Math/sqrt nil) !! type_error", sqrt)
AS_CLOJURE(sqrt, 1, "sqrt", "sqrt", "num",
           "(clojure.math/sqrt 16) => 4.0\n(clojure.math/sqrt nil) !! type_error");
DOUBLE_BOTH(cbrt, "cbrt", "cbrt", "Cube root as a float.", "27) => 3.0", "nil) !! type_error",
            cube_root)
DOUBLE_FN(math_floor, "Math", "floor", "(Math/floor num)",
          "The largest whole number not above it, as a float.",
          "(Math/floor 2.9) => 2.0\n(Math/floor -2.1) => -3.0\n(Math/floor \"2\") !! type_error",
          floor)
AS_CLOJURE(floor, 1, "floor", "floor", "num",
           "(clojure.math/floor 2.9) => 2.0\n(clojure.math/floor \"2\") !! type_error");
DOUBLE_BOTH(ceil, "ceil", "ceil", "The smallest whole number not below it, as a float.",
            "2.1) => 3.0", "\"2\") !! type_error", ceil)
DOUBLE_BOTH(rint, "rint", "rint", "The nearest whole number as a float; halves go to the even one.",
            "2.5) => 2.0", "3.5) => 4.0", nearbyint)
DOUBLE_BOTH(signum, "signum", "signum", "The sign of a number as a float: -1.0, 0.0 or 1.0.",
            "-8) => -1.0", "0) => 0.0", double_sign)
DOUBLE_BOTH(exp, "exp", "exp", "Euler's number to the power of the argument.", "0) => 1.0",
            "nil) !! type_error", exp)
DOUBLE_BOTH(expm1, "expm1", "expm1",
            "Euler's number to the power of the argument, minus one, exact near zero.", "0) => 0.0",
            "nil) !! type_error", expm1)
DOUBLE_FN(math_log, "Math", "log", "(Math/log num)", "Natural logarithm.",
          "(Math/log 1) => 0.0\n(Math/log 0) => ##-Inf\n(Math/log :x) !! type_error", log)
AS_CLOJURE(log, 1, "log", "log", "num",
           "(clojure.math/log 1) => 0.0\n(clojure.math/log :x) !! type_error");
DOUBLE_BOTH(log10, "log10", "log10", "Logarithm to base ten.", "100) => 2.0", "-1) => ##NaN", log10)
DOUBLE_BOTH(log1p, "log1p", "log1p",
            "Natural logarithm of one more than the argument, exact near zero.", "0) => 0.0",
            "nil) !! type_error", log1p)
DOUBLE_BOTH(sin, "sin", "sin", "Sine of an angle in radians.", "0) => 0.0", "nil) !! type_error",
            sin)
DOUBLE_BOTH(cos, "cos", "cos", "Cosine of an angle in radians.", "0) => 1.0", "nil) !! type_error",
            cos)
DOUBLE_BOTH(tan, "tan", "tan", "Tangent of an angle in radians.", "0) => 0.0", "nil) !! type_error",
            tan)
DOUBLE_BOTH(asin, "asin", "asin", "Angle in radians whose sine this is.", "0) => 0.0",
            "2) => ##NaN", asin)
DOUBLE_BOTH(acos, "acos", "acos", "Angle in radians whose cosine this is.", "1) => 0.0",
            "2) => ##NaN", acos)
DOUBLE_BOTH(atan, "atan", "atan", "Angle in radians whose tangent this is.", "0) => 0.0",
            "nil) !! type_error", atan)
DOUBLE_BOTH(sinh, "sinh", "sinh", "Hyperbolic sine.", "0) => 0.0", "nil) !! type_error", sinh)
DOUBLE_BOTH(cosh, "cosh", "cosh", "Hyperbolic cosine.", "0) => 1.0", "nil) !! type_error", cosh)
DOUBLE_BOTH(tanh, "tanh", "tanh", "Hyperbolic tangent.", "0) => 0.0", "nil) !! type_error", tanh)
DOUBLE_FN(math_to_radians, "Math", "toRadians", "(Math/toRadians num)",
          "An angle in degrees turned into radians.",
          "(Math/toRadians 0) => 0.0\n(Math/toRadians 180) => 3.141592653589793\n(Math/toRadians "
          "nil) !! type_error",
          radians)
AS_CLOJURE(to_radians, 1, "toRadians", "to-radians", "num",
           "(clojure.math/to-radians 0) => 0.0\n(clojure.math/to-radians nil) !! type_error");
DOUBLE_BOTH(to_degrees, "toDegrees", "to-degrees", "An angle in radians turned into degrees.",
            "0) => 0.0", "nil) !! type_error", degrees)
DOUBLE_BOTH(ulp, "ulp", "ulp", "How far the next float is from this one.",
            "1.0) => 2.220446049250313E-16", "nil) !! type_error", ulp)
DOUBLE_BOTH(next_up, "nextUp", "next-up", "The next float above.", "1.0) => 1.0000000000000002",
            "nil) !! type_error", next_up)
DOUBLE_BOTH(next_down, "nextDown", "next-down", "The next float below.",
            "1.0) => 0.9999999999999999", "nil) !! type_error", next_down)
DOUBLE_FN_2(math_pow, "Math", "pow", "(Math/pow base exponent)",
            "The base to the power of the exponent, as a float.",
            "(Math/pow 2 8) => 256.0\n(Math/pow 2 -2) => 0.25\n(Math/pow 2 nil) !! type_error",
            power)
AS_CLOJURE(pow, 2, "pow", "pow", "base exponent",
           "(clojure.math/pow 2 8) => 256.0\n(clojure.math/pow 2 nil) !! type_error");
UNDER_BOTH(DOUBLE_FN_2, atan2, 2, "atan2", "atan2", "y x",
           "Angle in radians of the point (x, y), seen from the origin.", "0 1) => 0.0",
           "0 nil) !! type_error", atan2)
UNDER_BOTH(DOUBLE_FN_2, hypot, 2, "hypot", "hypot", "x y",
           "Length of the longest side of a right-angled triangle, from the other two.",
           "3 4) => 5.0", "3 nil) !! type_error", hypot)
DOUBLE_FN_2(math_ieeeremainder, "Math", "IEEEremainder", "(Math/IEEEremainder x y)",
            "What is left of x after taking away y as often as is nearest to the quotient.",
            "(Math/IEEEremainder 5 3) => -1.0\n(Math/IEEEremainder 5 nil) !! type_error", remainder)
AS_CLOJURE(
    ieeeremainder, 2, "IEEEremainder", "IEEE-remainder", "x y",
    "(clojure.math/IEEE-remainder 5 3) => -1.0\n(clojure.math/IEEE-remainder 5 nil) !! type_error");
UNDER_BOTH(DOUBLE_FN_2, copy_sign, 2, "copySign", "copy-sign", "x y",
           "The magnitude of x with the sign of y.", "3 -0.5) => -3.0", "3 nil) !! type_error",
           copysign)
UNDER_BOTH(DOUBLE_FN_2, next_after, 2, "nextAfter", "next-after", "x y",
           "The next float after x in the direction of y.", "1.0 2) => 1.0000000000000002",
           "1.0 nil) !! type_error", nextafter)

/* --------------------------------------------------------------------------- with integers */

PTC_BUILTIN(math_round, "Math", "round", 1, 1,
            PTC_TAKES(PTC_IS_INT | PTC_IS_FLOAT) | PTC_GIVES(PTC_IS_INT), "(Math/round num)",
            "The nearest integer; halves go up, and the result is kept within 64 bits.",
            "(Math/round 2.5) => 3\n(Math/round -2.5) => -2\n(Math/round ##NaN) => 0\n(Math/round "
            "nil) !! type_error")
{
    if (!ptc_arg_number(vm, argv, 0))
        return false;
    if (ptc_is_integer(argv[0]))
        return ptc_give(out, argv[0]);
    double d = round_half_up(ptc_num_double(argv[0]));
    int64_t n = isnan(d) ? 0 : d >= 0x1p63 ? INT64_MAX : d < -0x1p63 ? INT64_MIN : (int64_t)d;
    return ptc_give(out, ptc_int_new(vm->heap, n));
}
AS_CLOJURE(round, 1, "round", "round", "num",
           "(clojure.math/round 2.5) => 3\n(clojure.math/round nil) !! type_error");
PTC_BUILTIN(math_get_exponent, "Math", "getExponent", 1, 1, 0, "(Math/getExponent num)",
            "The exponent of a float to base two, as it is stored.",
            "(Math/getExponent 8.5) => 3\n(Math/getExponent 0) => -1023\n(Math/getExponent nil) !! "
            "type_error")
{
    double d;
    if (!ptc_arg_double(vm, argv, 0, &d))
        return false;
    int exponent = !isfinite(d) ? 1024 : fabs(d) < 0x1p-1022 ? -1023 : ilogb(d);
    return ptc_give(out, ptc_int(exponent));
}
AS_CLOJURE(get_exponent, 1, "getExponent", "get-exponent", "num",
           "(clojure.math/get-exponent 8.5) => 3\n(clojure.math/get-exponent nil) !! type_error");
PTC_BUILTIN(math_scalb, "Math", "scalb", 2, 2, 0, "(Math/scalb num n)",
            "The float times two to the power of n.",
            "(Math/scalb 1.5 4) => 24.0\n(Math/scalb 1.5 nil) !! type_error")
{
    double d;
    int64_t n;
    if (!ptc_arg_double(vm, argv, 0, &d) || !ptc_arg_int(vm, argv, 1, &n))
        return false;
    n = n > 5000 ? 5000 : n < -5000 ? -5000 : n;
    return ptc_give(out, ptc_float_new(vm->heap, scalbn(d, (int)n)));
}
AS_CLOJURE(scalb, 2, "scalb", "scalb", "num n",
           "(clojure.math/scalb 1.5 4) => 24.0\n(clojure.math/scalb 1.5 nil) !! type_error");
/* Two integers of 64 bits, the second no zero. */
static bool arg_division(PtcVM *vm, const PtcValue *argv, int64_t *x, int64_t *y)
{
    if (!ptc_arg_int(vm, argv, 0, x) || !ptc_arg_int(vm, argv, 1, y))
        return false;
    return *y != 0 || ptc_fail_here(vm, PTC_E_ARITH, "division by zero");
}

PTC_BUILTIN(
    math_floor_div, "Math", "floorDiv", 2, 2, PTC_TAKES_ALL(PTC_IS_INT) | PTC_GIVES(PTC_IS_INT),
    "(Math/floorDiv x y)", "The quotient of two integers of 64 bits, rounded down.",
    "(Math/floorDiv -7 2) => -4\n(Math/floorDiv 7 2) => 3\n(Math/floorDiv 1 0) !! arithmetic_error")
{
    int64_t x, y;
    if (!arg_division(vm, argv, &x, &y))
        return false;
    if (y == -1) /* of the least integer too, which wraps around as in Java */
        return ptc_give(out, ptc_int_new(vm->heap, (int64_t)(0 - (uint64_t)x)));
    return ptc_give(out, ptc_int_new(vm->heap, x / y - (x % y != 0 && (x < 0) != (y < 0))));
}
AS_CLOJURE(floor_div, 2, "floorDiv", "floor-div", "x y",
           "(clojure.math/floor-div -7 2) => -4\n(clojure.math/floor-div 1 0) !! arithmetic_error");
PTC_BUILTIN(math_floor_mod, "Math", "floorMod", 2, 2,
            PTC_TAKES_ALL(PTC_IS_INT) | PTC_GIVES(PTC_IS_INT), "(Math/floorMod x y)",
            "What floorDiv leaves, with the sign of the divisor.",
            "(Math/floorMod -7 2) => 1\n(Math/floorMod 7 -2) => -1\n(Math/floorMod 1 0) !! "
            "arithmetic_error")
{
    int64_t x, y;
    if (!arg_division(vm, argv, &x, &y))
        return false;
    int64_t left = y == -1 ? 0 : x % y;
    return ptc_give(out,
                    ptc_int_new(vm->heap, left != 0 && (left < 0) != (y < 0) ? left + y : left));
}
AS_CLOJURE(floor_mod, 2, "floorMod", "floor-mod", "x y",
           "(clojure.math/floor-mod -7 2) => 1\n(clojure.math/floor-mod 1 0) !! arithmetic_error");

/* ------------------------------------------------------------------- 64 bits or an error */

/* True: the result does not fit. */
typedef bool (*ExactFn)(int64_t x, int64_t y, int64_t *n);

static bool add_overflows(int64_t x, int64_t y, int64_t *n)
{
    return __builtin_add_overflow(x, y, n);
}

static bool subtract_overflows(int64_t x, int64_t y, int64_t *n)
{
    return __builtin_sub_overflow(x, y, n);
}

static bool multiply(int64_t x, int64_t y, int64_t *n)
{
    return __builtin_mul_overflow(x, y, n);
}

/* The first argument and y. */
static bool exact_by(PtcVM *vm, const PtcValue *argv, ExactFn fn, int64_t y, PtcValue *out)
{
    int64_t x, n;
    if (!ptc_arg_int(vm, argv, 0, &x))
        return false;
    if (!fn(x, y, &n))
        return ptc_give(out, ptc_int_new(vm->heap, n));
    ptc_fail_here(vm, PTC_E_ARITH, "the result does not fit 64 bits");
    return ptc_fail_hint(vm, "+ - * never overflow");
}

static bool exact(PtcVM *vm, const PtcValue *argv, ExactFn fn, PtcValue *out)
{
    int64_t x, y;
    return ptc_arg_int(vm, argv, 0, &x) && ptc_arg_int(vm, argv, 1, &y) &&
           exact_by(vm, argv, fn, y, out);
}

#define EXACT_FN(id, ns_, name_, usage_, doc_, examples_, fn_) \
    PTC_BUILTIN_EXPR(id, ns_, name_, 2, 2, 0, usage_, doc_, examples_, exact(vm, argv, fn_, out))
#define EXACT_BY(id, ns_, name_, usage_, doc_, examples_, expr_) \
    PTC_BUILTIN_EXPR(id, ns_, name_, 1, 1, 0, usage_, doc_, examples_, expr_)

UNDER_BOTH(EXACT_FN, add_exact, 2, "addExact", "add-exact", "x y",
           "The sum of two integers of 64 bits; one that does not fit is an error.", "1 2) => 3",
           "Long/MAX_VALUE 1) !! arithmetic_error", add_overflows)
UNDER_BOTH(EXACT_FN, subtract_exact, 2, "subtractExact", "subtract-exact", "x y",
           "The difference of two integers of 64 bits; one that does not fit is an error.",
           "1 2) => -1", "Long/MIN_VALUE 1) !! arithmetic_error", subtract_overflows)
UNDER_BOTH(EXACT_FN, multiply_exact, 2, "multiplyExact", "multiply-exact", "x y",
           "The product of two integers of 64 bits; one that does not fit is an error.",
           "6 7) => 42", "Long/MAX_VALUE 2) !! arithmetic_error", multiply)
UNDER_BOTH(EXACT_BY, increment_exact, 1, "incrementExact", "increment-exact", "x",
           "One more, within 64 bits.", "1) => 2", "Long/MAX_VALUE) !! arithmetic_error",
           exact_by(vm, argv, add_overflows, 1, out))
UNDER_BOTH(EXACT_BY, decrement_exact, 1, "decrementExact", "decrement-exact", "x",
           "One less, within 64 bits.", "1) => 0", "Long/MIN_VALUE) !! arithmetic_error",
           exact_by(vm, argv, subtract_overflows, 1, out))
UNDER_BOTH(EXACT_BY, negate_exact, 1, "negateExact", "negate-exact", "x",
           "The number with the other sign, within 64 bits.", "1) => -1",
           "Long/MIN_VALUE) !! arithmetic_error", exact_by(vm, argv, multiply, -1, out))
PTC_BUILTIN(math_to_int_exact, "Math", "toIntExact", 1, 1, 0, "(Math/toIntExact n)",
            "The integer itself; one that does not fit 32 bits is an error.",
            "(Math/toIntExact 5) => 5\n(Math/toIntExact 3000000000) !! arithmetic_error")
{
    int64_t n;
    if (!ptc_arg_int(vm, argv, 0, &n))
        return false;
    if (n != (int32_t)n)
        return ptc_fail(vm, PTC_E_ARITH, "toIntExact: the number does not fit 32 bits");
    return ptc_give(out, argv[0]);
}

#define BOTH(id) math_##id, clj_math_##id
PTC_BUILTIN_TABLE(ptc_lib_math_double, core_sqrt, core_pow, BOTH(sqrt), BOTH(cbrt), BOTH(floor),
                  BOTH(ceil), BOTH(rint), BOTH(signum), BOTH(exp), BOTH(expm1), BOTH(log),
                  BOTH(log10), BOTH(log1p), BOTH(sin), BOTH(cos), BOTH(tan), BOTH(asin), BOTH(acos),
                  BOTH(atan), BOTH(sinh), BOTH(cosh), BOTH(tanh), BOTH(to_radians),
                  BOTH(to_degrees), BOTH(ulp), BOTH(next_up), BOTH(next_down), BOTH(pow),
                  BOTH(atan2), BOTH(hypot), BOTH(ieeeremainder), BOTH(copy_sign), BOTH(next_after),
                  BOTH(round), BOTH(get_exponent), BOTH(scalb), BOTH(floor_div), BOTH(floor_mod),
                  BOTH(add_exact), BOTH(subtract_exact), BOTH(multiply_exact),
                  BOTH(increment_exact), BOTH(decrement_exact), BOTH(negate_exact),
                  math_to_int_exact);
