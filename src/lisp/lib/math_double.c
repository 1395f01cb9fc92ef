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

#define DOUBLE_FN(id, ns_, name_, usage_, doc_, examples_, fn_)                                   \
    PTC_BUILTIN(id, ns_, name_, 1, 1, 0, usage_, doc_, examples_)                                 \
    {                                                                                             \
        double x;                                                                                 \
        return ptc_arg_double(vm, argv, 0, &x) && ptc_give(out, ptc_float_new(vm->heap, fn_(x))); \
    }

#define DOUBLE_FN_2(id, ns_, name_, usage_, doc_, examples_, fn_)                    \
    PTC_BUILTIN(id, ns_, name_, 2, 2, 0, usage_, doc_, examples_)                    \
    {                                                                                \
        double x, y;                                                                 \
        return ptc_arg_double(vm, argv, 0, &x) && ptc_arg_double(vm, argv, 1, &y) && \
               ptc_give(out, ptc_float_new(vm->heap, fn_(x, y)));                    \
    }

/* The same row under the name that clojure.math has for it. */
#define AS_CLOJURE(id, of, min_, max_, name_, usage_, doc_, examples_) \
    PTC_BUILTIN_ROW(id, run_##of, "clojure.math", name_, min_, max_, 0, usage_, doc_, examples_)

/* A function of one number under both names, with two examples: each is what follows the name in a call. */
#define DOUBLE_BOTH(id, java_, clj_, doc_, one_, two_, fn_)                         \
    DOUBLE_FN(math_##id, "Math", java_, "(Math/" java_ " num)", doc_,               \
              "(Math/" java_ " " one_ "\n(Math/" java_ " " two_, fn_)               \
    AS_CLOJURE(clj_math_##id, math_##id, 1, 1, clj_, "(clojure.math/" clj_ " num)", \
               "The same as Math/" java_ ".",                                       \
               "(clojure.math/" clj_ " " one_ "\n(clojure.math/" clj_ " " two_);

DOUBLE_FN(core_sqrt, "clojure.core", "sqrt", "(sqrt num)",
          "Square root as a float; ##NaN for negative numbers.",
          "(sqrt 144) => 12.0\n(sqrt -1) => ##NaN\n(sqrt nil) !! type_error", sqrt)
DOUBLE_FN_2(core_pow, "clojure.core", "pow", "(pow base exponent)",
            "The base to the power of the exponent, as a float.",
            "(pow 2 10) => 1024.0\n(pow 2 -2) => 0.25\n(pow 2 nil) !! type_error", power)

DOUBLE_FN(math_sqrt, "Math", "sqrt", "(Math/sqrt num)",
          "Square root as a float; ##NaN for negative numbers.",
          "(Math/sqrt 16) => 4.0\n(Math/sqrt -1) => ##NaN\n(Math/sqrt nil) !! type_error", sqrt)
AS_CLOJURE(clj_math_sqrt, math_sqrt, 1, 1, "sqrt", "(clojure.math/sqrt num)",
           "The same as Math/sqrt.",
           "(clojure.math/sqrt 16) => 4.0\n(clojure.math/sqrt nil) !! type_error");
DOUBLE_BOTH(cbrt, "cbrt", "cbrt", "Cube root as a float.", "27) => 3.0", "nil) !! type_error",
            cube_root)
DOUBLE_FN(math_floor, "Math", "floor", "(Math/floor num)",
          "The largest whole number not above it, as a float.",
          "(Math/floor 2.9) => 2.0\n(Math/floor -2.1) => -3.0\n(Math/floor \"2\") !! type_error",
          floor)
AS_CLOJURE(clj_math_floor, math_floor, 1, 1, "floor", "(clojure.math/floor num)",
           "The same as Math/floor.",
           "(clojure.math/floor 2.9) => 2.0\n(clojure.math/floor \"2\") !! type_error");
DOUBLE_BOTH(ceil, "ceil", "ceil", "The smallest whole number not below it, as a float.",
            "2.1) => 3.0", "\"2\") !! type_error", ceil)
DOUBLE_FN(math_rint, "Math", "rint", "(Math/rint num)",
          "The nearest whole number as a float; halves go to the even one.",
          "(Math/rint 2.5) => 2.0\n(Math/rint 3.5) => 4.0", nearbyint)
AS_CLOJURE(clj_math_rint, math_rint, 1, 1, "rint", "(clojure.math/rint num)",
           "The same as Math/rint.",
           "(clojure.math/rint 2.5) => 2.0\n(clojure.math/rint 3.5) => 4.0");
DOUBLE_BOTH(signum, "signum", "signum", "The sign of a number as a float: -1.0, 0.0 or 1.0.",
            "-8) => -1.0", "0) => 0.0", double_sign)
DOUBLE_BOTH(exp, "exp", "exp", "Euler's number to the power of the argument.", "0) => 1.0",
            "nil) !! type_error", exp)
DOUBLE_BOTH(expm1, "expm1", "expm1",
            "Euler's number to the power of the argument, minus one, exact near zero.", "0) => 0.0",
            "nil) !! type_error", expm1)
DOUBLE_FN(math_log, "Math", "log", "(Math/log num)", "Natural logarithm.",
          "(Math/log 1) => 0.0\n(Math/log 0) => ##-Inf\n(Math/log :x) !! type_error", log)
AS_CLOJURE(clj_math_log, math_log, 1, 1, "log", "(clojure.math/log num)", "The same as Math/log.",
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
AS_CLOJURE(clj_math_to_radians, math_to_radians, 1, 1, "to-radians",
           "(clojure.math/to-radians num)", "The same as Math/toRadians.",
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
AS_CLOJURE(clj_math_pow, math_pow, 2, 2, "pow", "(clojure.math/pow base exponent)",
           "The same as Math/pow.",
           "(clojure.math/pow 2 8) => 256.0\n(clojure.math/pow 2 nil) !! type_error");
DOUBLE_FN_2(math_atan2, "Math", "atan2", "(Math/atan2 y x)",
            "Angle in radians of the point (x, y), seen from the origin.",
            "(Math/atan2 0 1) => 0.0\n(Math/atan2 0 nil) !! type_error", atan2)
AS_CLOJURE(clj_math_atan2, math_atan2, 2, 2, "atan2", "(clojure.math/atan2 y x)",
           "The same as Math/atan2.",
           "(clojure.math/atan2 0 1) => 0.0\n(clojure.math/atan2 0 nil) !! type_error");
DOUBLE_FN_2(math_hypot, "Math", "hypot", "(Math/hypot x y)",
            "Length of the longest side of a right-angled triangle, from the other two.",
            "(Math/hypot 3 4) => 5.0\n(Math/hypot 3 nil) !! type_error", hypot)
AS_CLOJURE(clj_math_hypot, math_hypot, 2, 2, "hypot", "(clojure.math/hypot x y)",
           "The same as Math/hypot.",
           "(clojure.math/hypot 3 4) => 5.0\n(clojure.math/hypot 3 nil) !! type_error");
DOUBLE_FN_2(math_ieeeremainder, "Math", "IEEEremainder", "(Math/IEEEremainder x y)",
            "What is left of x after taking away y as often as is nearest to the quotient.",
            "(Math/IEEEremainder 5 3) => -1.0\n(Math/IEEEremainder 5 nil) !! type_error", remainder)
AS_CLOJURE(
    clj_math_ieeeremainder, math_ieeeremainder, 2, 2, "IEEE-remainder",
    "(clojure.math/IEEE-remainder x y)", "The same as Math/IEEEremainder.",
    "(clojure.math/IEEE-remainder 5 3) => -1.0\n(clojure.math/IEEE-remainder 5 nil) !! type_error");
DOUBLE_FN_2(math_copy_sign, "Math", "copySign", "(Math/copySign x y)",
            "The magnitude of x with the sign of y.",
            "(Math/copySign 3 -0.5) => -3.0\n(Math/copySign 3 nil) !! type_error", copysign)
AS_CLOJURE(clj_math_copy_sign, math_copy_sign, 2, 2, "copy-sign", "(clojure.math/copy-sign x y)",
           "The same as Math/copySign.",
           "(clojure.math/copy-sign 3 -0.5) => -3.0\n(clojure.math/copy-sign 3 nil) !! type_error");
DOUBLE_FN_2(math_next_after, "Math", "nextAfter", "(Math/nextAfter x y)",
            "The next float after x in the direction of y.",
            "(Math/nextAfter 1.0 2) => 1.0000000000000002\n(Math/nextAfter 1.0 nil) !! type_error",
            nextafter)
AS_CLOJURE(clj_math_next_after, math_next_after, 2, 2, "next-after",
           "(clojure.math/next-after x y)", "The same as Math/nextAfter.",
           "(clojure.math/next-after 1.0 2) => 1.0000000000000002\n(clojure.math/next-after 1.0 "
           "nil) !! type_error");

/* --------------------------------------------------------------------------- with integers */

PTC_BUILTIN(math_round, "Math", "round", 1, 1, 0, "(Math/round num)",
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
AS_CLOJURE(clj_math_round, math_round, 1, 1, "round", "(clojure.math/round num)",
           "The same as Math/round.",
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
AS_CLOJURE(clj_math_get_exponent, math_get_exponent, 1, 1, "get-exponent",
           "(clojure.math/get-exponent num)", "The same as Math/getExponent.",
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
AS_CLOJURE(clj_math_scalb, math_scalb, 2, 2, "scalb", "(clojure.math/scalb num n)",
           "The same as Math/scalb.",
           "(clojure.math/scalb 1.5 4) => 24.0\n(clojure.math/scalb 1.5 nil) !! type_error");
static const char *running_builtin_name(const PtcVM *vm)
{
    return ptc_builtin_row(vm->running)->name;
}

/* Two integers of 64 bits, the second no zero. */
static bool arg_division(PtcVM *vm, const PtcValue *argv, int64_t *x, int64_t *y)
{
    if (!ptc_arg_int(vm, argv, 0, x) || !ptc_arg_int(vm, argv, 1, y))
        return false;
    return *y != 0 || ptc_fail(vm, PTC_E_ARITH, "%s: division by zero", running_builtin_name(vm));
}

PTC_BUILTIN(
    math_floor_div, "Math", "floorDiv", 2, 2, 0, "(Math/floorDiv x y)",
    "The quotient of two integers of 64 bits, rounded down.",
    "(Math/floorDiv -7 2) => -4\n(Math/floorDiv 7 2) => 3\n(Math/floorDiv 1 0) !! arithmetic_error")
{
    int64_t x, y;
    if (!arg_division(vm, argv, &x, &y))
        return false;
    if (y == -1) /* of the least integer too, which wraps around as in Java */
        return ptc_give(out, ptc_int_new(vm->heap, (int64_t)(0 - (uint64_t)x)));
    return ptc_give(out, ptc_int_new(vm->heap, x / y - (x % y != 0 && (x < 0) != (y < 0))));
}
AS_CLOJURE(clj_math_floor_div, math_floor_div, 2, 2, "floor-div", "(clojure.math/floor-div x y)",
           "The same as Math/floorDiv.",
           "(clojure.math/floor-div -7 2) => -4\n(clojure.math/floor-div 1 0) !! arithmetic_error");
PTC_BUILTIN(math_floor_mod, "Math", "floorMod", 2, 2, 0, "(Math/floorMod x y)",
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
AS_CLOJURE(clj_math_floor_mod, math_floor_mod, 2, 2, "floor-mod", "(clojure.math/floor-mod x y)",
           "The same as Math/floorMod.",
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
    ptc_fail(vm, PTC_E_ARITH, "%s: the result does not fit 64 bits", running_builtin_name(vm));
    return ptc_fail_hint(vm, "+ - * never overflow");
}

static bool exact(PtcVM *vm, const PtcValue *argv, ExactFn fn, PtcValue *out)
{
    int64_t x, y;
    return ptc_arg_int(vm, argv, 0, &x) && ptc_arg_int(vm, argv, 1, &y) &&
           exact_by(vm, argv, fn, y, out);
}

PTC_BUILTIN_EXPR(math_add_exact, "Math", "addExact", 2, 2, 0, "(Math/addExact x y)",
                 "The sum of two integers of 64 bits; one that does not fit is an error.",
                 "(Math/addExact 1 2) => 3\n(Math/addExact Long/MAX_VALUE 1) !! arithmetic_error",
                 exact(vm, argv, add_overflows, out))
AS_CLOJURE(clj_math_add_exact, math_add_exact, 2, 2, "add-exact", "(clojure.math/add-exact x y)",
           "The same as Math/addExact.",
           "(clojure.math/add-exact 1 2) => 3\n(clojure.math/add-exact Long/MAX_VALUE 1) !! "
           "arithmetic_error");
PTC_BUILTIN_EXPR(
    math_subtract_exact, "Math", "subtractExact", 2, 2, 0, "(Math/subtractExact x y)",
    "The difference of two integers of 64 bits; one that does not fit is an error.",
    "(Math/subtractExact 1 2) => -1\n(Math/subtractExact Long/MIN_VALUE 1) !! arithmetic_error",
    exact(vm, argv, subtract_overflows, out))
AS_CLOJURE(clj_math_subtract_exact, math_subtract_exact, 2, 2, "subtract-exact",
           "(clojure.math/subtract-exact x y)", "The same as Math/subtractExact.",
           "(clojure.math/subtract-exact 1 2) => -1\n(clojure.math/subtract-exact Long/MIN_VALUE "
           "1) !! arithmetic_error");
PTC_BUILTIN_EXPR(
    math_multiply_exact, "Math", "multiplyExact", 2, 2, 0, "(Math/multiplyExact x y)",
    "The product of two integers of 64 bits; one that does not fit is an error.",
    "(Math/multiplyExact 6 7) => 42\n(Math/multiplyExact Long/MAX_VALUE 2) !! arithmetic_error",
    exact(vm, argv, multiply, out))
AS_CLOJURE(clj_math_multiply_exact, math_multiply_exact, 2, 2, "multiply-exact",
           "(clojure.math/multiply-exact x y)", "The same as Math/multiplyExact.",
           "(clojure.math/multiply-exact 6 7) => 42\n(clojure.math/multiply-exact Long/MAX_VALUE "
           "2) !! arithmetic_error");
PTC_BUILTIN_EXPR(
    math_increment_exact, "Math", "incrementExact", 1, 1, 0, "(Math/incrementExact x)",
    "One more, within 64 bits.",
    "(Math/incrementExact 1) => 2\n(Math/incrementExact Long/MAX_VALUE) !! arithmetic_error",
    exact_by(vm, argv, add_overflows, 1, out))
AS_CLOJURE(clj_math_increment_exact, math_increment_exact, 1, 1, "increment-exact",
           "(clojure.math/increment-exact x)", "The same as Math/incrementExact.",
           "(clojure.math/increment-exact 1) => 2\n(clojure.math/increment-exact Long/MAX_VALUE) "
           "!! arithmetic_error");
PTC_BUILTIN_EXPR(
    math_decrement_exact, "Math", "decrementExact", 1, 1, 0, "(Math/decrementExact x)",
    "One less, within 64 bits.",
    "(Math/decrementExact 1) => 0\n(Math/decrementExact Long/MIN_VALUE) !! arithmetic_error",
    exact_by(vm, argv, subtract_overflows, 1, out))
AS_CLOJURE(clj_math_decrement_exact, math_decrement_exact, 1, 1, "decrement-exact",
           "(clojure.math/decrement-exact x)", "The same as Math/decrementExact.",
           "(clojure.math/decrement-exact 1) => 0\n(clojure.math/decrement-exact Long/MIN_VALUE) "
           "!! arithmetic_error");
PTC_BUILTIN_EXPR(
    math_negate_exact, "Math", "negateExact", 1, 1, 0, "(Math/negateExact x)",
    "The number with the other sign, within 64 bits.",
    "(Math/negateExact 1) => -1\n(Math/negateExact Long/MIN_VALUE) !! arithmetic_error",
    exact_by(vm, argv, multiply, -1, out))
AS_CLOJURE(clj_math_negate_exact, math_negate_exact, 1, 1, "negate-exact",
           "(clojure.math/negate-exact x)", "The same as Math/negateExact.",
           "(clojure.math/negate-exact 1) => -1\n(clojure.math/negate-exact Long/MIN_VALUE) !! "
           "arithmetic_error");
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

PTC_BUILTIN_TABLE(ptc_lib_math_double, core_sqrt, core_pow, math_sqrt, clj_math_sqrt, math_cbrt,
                  clj_math_cbrt, math_floor, clj_math_floor, math_ceil, clj_math_ceil, math_rint,
                  clj_math_rint, math_signum, clj_math_signum, math_exp, clj_math_exp, math_expm1,
                  clj_math_expm1, math_log, clj_math_log, math_log10, clj_math_log10, math_log1p,
                  clj_math_log1p, math_sin, clj_math_sin, math_cos, clj_math_cos, math_tan,
                  clj_math_tan, math_asin, clj_math_asin, math_acos, clj_math_acos, math_atan,
                  clj_math_atan, math_sinh, clj_math_sinh, math_cosh, clj_math_cosh, math_tanh,
                  clj_math_tanh, math_to_radians, clj_math_to_radians, math_to_degrees,
                  clj_math_to_degrees, math_ulp, clj_math_ulp, math_next_up, clj_math_next_up,
                  math_next_down, clj_math_next_down, math_pow, clj_math_pow, math_atan2,
                  clj_math_atan2, math_hypot, clj_math_hypot, math_ieeeremainder,
                  clj_math_ieeeremainder, math_copy_sign, clj_math_copy_sign, math_next_after,
                  clj_math_next_after, math_round, clj_math_round, math_get_exponent,
                  clj_math_get_exponent, math_scalb, clj_math_scalb, math_floor_div,
                  clj_math_floor_div, math_floor_mod, clj_math_floor_mod, math_add_exact,
                  clj_math_add_exact, math_subtract_exact, clj_math_subtract_exact,
                  math_multiply_exact, clj_math_multiply_exact, math_increment_exact,
                  clj_math_increment_exact, math_decrement_exact, clj_math_decrement_exact,
                  math_negate_exact, clj_math_negate_exact, math_to_int_exact);
