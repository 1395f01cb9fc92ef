/* SPDX-License-Identifier: MIT
 * Arithmetic: + - * / and their kin, integer division, max, min, abs. */
#include "lisp/number/num.h"

#include <math.h>
#include <stdio.h>

#include "lisp/number/decimals.h"
#include "lisp/vm/builtin.h"

static bool division_by_zero(PtcVM *vm)
{
    ptc_fail_here(vm, PTC_E_ARITH, "division by zero");
    return ptc_fail_hint(vm, "test the divisor first: (if (zero? d) nil (%s n d))",
                         ptc_builtin_name(vm->running));
}

/* -------------------------------------------------------------- two operands */

static bool both_integers(PtcValue a, PtcValue b)
{
    return ptc_is_integer(a) && ptc_is_integer(b);
}

static bool both_numbers(PtcVM *vm, PtcValue a, PtcValue b)
{
    PtcValue argv[2] = {a, b};
    return ptc_arg_numeric(vm, argv, 0) && ptc_arg_numeric(vm, argv, 1);
}

bool ptc_arg_numeric(PtcVM *vm, const PtcValue *argv, int i)
{
    return ptc_is_decimal(argv[i]) || ptc_arg_number(vm, argv, i);
}

/* Is one a decimal and the other exact too? */
static bool are_decimals(PtcValue a, PtcValue b)
{
    bool x = ptc_is_decimal(a), y = ptc_is_decimal(b);
    return (x && (y || ptc_is_integer(b))) || (y && ptc_is_integer(a));
}

static double as_double(PtcVM *vm, PtcValue v)
{
    return ptc_is_decimal(v) ? ptc_decimal_to_double(vm->heap, v) : ptc_num_double(v);
}

/* A float that was computed from such doubles, of which none may have failed. */
static PtcValue float_of(PtcVM *vm, double d)
{
    return vm->budget.stop == PTC_STOP_NONE ? ptc_float_new(vm->heap, d) : PTC_NONE;
}

PtcValue ptc_num_add(PtcVM *vm, PtcValue a, PtcValue b)
{
    if (both_integers(a, b))
        return ptc_int_add(vm->heap, a, b);
    if (!both_numbers(vm, a, b))
        return PTC_NONE;
    if (are_decimals(a, b))
        return ptc_decimal_in_context(vm, ptc_decimal_add(vm->heap, a, b));
    return float_of(vm, as_double(vm, a) + as_double(vm, b));
}

PtcValue ptc_num_sub(PtcVM *vm, PtcValue a, PtcValue b)
{
    if (both_integers(a, b))
        return ptc_int_sub(vm->heap, a, b);
    if (!both_numbers(vm, a, b))
        return PTC_NONE;
    if (are_decimals(a, b))
        return ptc_decimal_in_context(vm, ptc_decimal_sub(vm->heap, a, b));
    return float_of(vm, as_double(vm, a) - as_double(vm, b));
}

PtcValue ptc_num_mul(PtcVM *vm, PtcValue a, PtcValue b)
{
    if (both_integers(a, b))
        return ptc_int_mul(vm->heap, a, b);
    if (!both_numbers(vm, a, b))
        return PTC_NONE;
    if (are_decimals(a, b))
        return ptc_decimal_in_context(vm, ptc_decimal_mul(vm->heap, a, b));
    return float_of(vm, as_double(vm, a) * as_double(vm, b));
}

/* The integer as a fraction of magnitude 0.5 to 1 times 2^*exponent, whatever its size. */
static double integer_parts(PtcValue v, int *exponent)
{
    if (ptc_is_int(v))
        return frexp((double)ptc_to_int(v), exponent);
    const PtcBig *big = (const PtcBig *)(uintptr_t)v;
    uint32_t n = big->obj.count;
    double top = (double)big->limbs[n - 1];
    if (n > 1)
        top += ldexp((double)big->limbs[n - 2], -64);
    double fraction = frexp(top, exponent);
    *exponent += (int)(n - 1) * 64;
    return ptc_int_sign(v) < 0 ? -fraction : fraction;
}

/* a / b for integers that do not divide evenly; both may be beyond the range of doubles. */
static double divide_inexact(PtcValue a, PtcValue b)
{
    double x = ptc_int_to_double(a), y = ptc_int_to_double(b);
    if (isfinite(x) && isfinite(y))
        return x / y;
    int ex, ey;
    x = integer_parts(a, &ex);
    y = integer_parts(b, &ey);
    return ldexp(x / y, ex - ey);
}

static PtcValue divide_integers(PtcVM *vm, PtcValue a, PtcValue b)
{
    PtcValue quot, rem;
    if (b == ptc_int(0)) {
        division_by_zero(vm);
        return PTC_NONE;
    }
    if (!ptc_int_divide(vm->heap, a, b, &quot, &rem))
        return PTC_NONE;
    return rem == ptc_int(0) ? quot : ptc_float_new(vm->heap, divide_inexact(a, b));
}

/* With the scale that it has: 0 - x would have another. */
static PtcValue negate_decimal(PtcVM *vm, PtcValue v)
{
    PtcDecimalParts parts = ptc_decimal_parts(v);
    PtcValue unscaled = ptc_int_sub(vm->heap, ptc_int(0), parts.unscaled);
    return unscaled == PTC_NONE ? PTC_NONE : ptc_decimal_new(vm->heap, unscaled, parts.scale);
}

static PtcValue divide_decimals(PtcVM *vm, PtcValue a, PtcValue b)
{
    if (ptc_decimal_sign(b) == 0) {
        division_by_zero(vm);
        return PTC_NONE;
    }
    return ptc_decimal_quotient(vm, a, b);
}

/* Integers that divide evenly give an integer, others a float. */
static PtcValue num_div(PtcVM *vm, PtcValue a, PtcValue b)
{
    if (both_integers(a, b))
        return divide_integers(vm, a, b);
    if (!both_numbers(vm, a, b))
        return PTC_NONE;
    if (are_decimals(a, b))
        return divide_decimals(vm, a, b);
    return float_of(vm, as_double(vm, a) / as_double(vm, b));
}

/* ------------------------------------------------------------- any number of */

typedef PtcValue (*Operation)(PtcVM *vm, PtcValue a, PtcValue b);

/* Argument 0, then each further one.  Checked here, so that errors count all arguments. */
static bool fold_arguments(PtcVM *vm, int argc, const PtcValue *argv, Operation operation,
                           PtcValue *out)
{
    if (!ptc_arg_numeric(vm, argv, 0))
        return false;
    PtcValue sum = argv[0];
    for (int i = 1; i < argc; i++) {
        if (!ptc_tick(&vm->budget, 1) || !ptc_arg_numeric(vm, argv, i))
            return false;
        PtcValue next = operation(vm, sum, argv[i]);
        if (next == PTC_NONE && ptc_recover_keeping(vm, argc, argv, sum))
            next = operation(vm, sum, argv[i]); /* sums so far were garbage */
        if ((sum = next) == PTC_NONE)
            return false;
    }
    return ptc_give(out, sum);
}

PTC_BUILTIN(core_add, "clojure.core", "+", 0, -1,
            PTC_TAKES_ALL(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NUMBER), "(+ & nums)",
            "Sum of the numbers, 0 when there are none; integers of any size are exact.",
            "(+ 1 2 3) => 6\n(+ 1 0.5) => 1.5\n(+) => 0\n(+ 1 nil) !! type_error")
{
    if (PTC_LIKELY(argc == 2 && (argv[0] & argv[1] & 1)))
        return ptc_give(out, ptc_int_new(vm->heap, ptc_to_int(argv[0]) + ptc_to_int(argv[1])));
    if (argc == 0)
        return ptc_give(out, ptc_int(0));
    return fold_arguments(vm, argc, argv, ptc_num_add, out);
}

PTC_BUILTIN(core_sub, "clojure.core", "-", 1, -1,
            PTC_TAKES_ALL(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NUMBER), "(- num & nums)",
            "Takes the other numbers from the first; alone, negates it.",
            "(- 10 3 2) => 5\n(- 4) => -4\n(- 10 \"7\") !! type_error")
{
    if (PTC_LIKELY(argc == 2 && (argv[0] & argv[1] & 1)))
        return ptc_give(out, ptc_int_new(vm->heap, ptc_to_int(argv[0]) - ptc_to_int(argv[1])));
    if (argc > 1)
        return fold_arguments(vm, argc, argv, ptc_num_sub, out);
    if (!ptc_arg_numeric(vm, argv, 0))
        return false;
    if (ptc_is_float(argv[0])) /* 0 - x would lose the sign of zero */
        return ptc_give(out, ptc_float_new(vm->heap, -ptc_to_float(argv[0])));
    if (ptc_is_decimal(argv[0]))
        return ptc_give(out, negate_decimal(vm, argv[0]));
    return ptc_give(out, ptc_int_sub(vm->heap, ptc_int(0), argv[0]));
}

PTC_BUILTIN(core_mul, "clojure.core", "*", 0, -1,
            PTC_TAKES_ALL(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NUMBER), "(* & nums)",
            "Product of the numbers, 1 when there are none; integers of any size are exact.",
            "(* 2 3 4) => 24\n(* 4294967296 4294967296) => 18446744073709551616\n"
            "(* 3 nil) !! type_error")
{
    if (argc == 0)
        return ptc_give(out, ptc_int(1));
    return fold_arguments(vm, argc, argv, ptc_num_mul, out);
}

PTC_BUILTIN(core_div, "clojure.core", "/", 1, -1,
            PTC_TAKES_ALL(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NUMBER), "(/ num & divisors)",
            "Divides the first number by the others (alone: 1 by it); an integer when integers "
            "divide evenly, else a float.",
            "(/ 6 3) => 2\n(/ 7 2) => 3.5\n(/ 4) => 0.25\n(/ 1 0) !! arithmetic_error")
{
    if (argc > 1)
        return fold_arguments(vm, argc, argv, num_div, out);
    return ptc_arg_numeric(vm, argv, 0) && ptc_give(out, num_div(vm, ptc_int(1), argv[0]));
}

PTC_BUILTIN_EXPR(core_inc, "clojure.core", "inc", 1, 1,
                 PTC_TAKES(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NUMBER), "(inc num)",
                 "One more than the number.",
                 "(inc 41) => 42\n(map inc [1 2.5]) => [2 3.5]\n(inc nil) !! type_error",
                 ptc_arg_numeric(vm, argv, 0) &&
                     ptc_give(out, ptc_num_add(vm, argv[0], ptc_int(1))))

PTC_BUILTIN_EXPR(core_dec, "clojure.core", "dec", 1, 1,
                 PTC_TAKES(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NUMBER), "(dec num)",
                 "One less than the number.",
                 "(dec 42) => 41\n(dec 0.5) => -0.5\n(dec \"1\") !! type_error",
                 ptc_arg_numeric(vm, argv, 0) &&
                     ptc_give(out, ptc_num_sub(vm, argv[0], ptc_int(1))))

/* Clojure's overflow-proof variants: here the plain ones never overflow either. */
PTC_BUILTIN_EXPR(core_add_prime, "clojure.core", "+'", 0, -1,
                 PTC_TAKES_ALL(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NUMBER), "(+' & nums)",
                 "The same as +, which never overflows here.",
                 "(+' 9223372036854775807 1) => 9223372036854775808\n(+' 1 nil) !! type_error",
                 run_core_add(vm, argc, argv, out))

PTC_BUILTIN_EXPR(core_sub_prime, "clojure.core", "-'", 1, -1,
                 PTC_TAKES_ALL(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NUMBER), "(-' num & nums)",
                 "The same as -, which never overflows here.",
                 "(-' -9223372036854775808 1) => -9223372036854775809\n(-' 5) => -5",
                 run_core_sub(vm, argc, argv, out))

PTC_BUILTIN_EXPR(core_mul_prime, "clojure.core", "*'", 0, -1,
                 PTC_TAKES_ALL(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NUMBER), "(*' & nums)",
                 "The same as *, which never overflows here.",
                 "(*' 9223372036854775807 2) => 18446744073709551614\n(*') => 1",
                 run_core_mul(vm, argc, argv, out))

PTC_BUILTIN_EXPR(core_inc_prime, "clojure.core", "inc'", 1, 1,
                 PTC_TAKES(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NUMBER), "(inc' num)",
                 "The same as inc, which never overflows here.",
                 "(inc' 9223372036854775807) => 9223372036854775808\n(inc' 1.5) => 2.5",
                 run_core_inc(vm, argc, argv, out))

PTC_BUILTIN_EXPR(core_dec_prime, "clojure.core", "dec'", 1, 1,
                 PTC_TAKES(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NUMBER), "(dec' num)",
                 "The same as dec, which never overflows here.",
                 "(dec' -9223372036854775808) => -9223372036854775809\n(dec' 1.5) => 0.5",
                 run_core_dec(vm, argc, argv, out))

/* ---------------------------------------------------------- integer division */

typedef enum { QUOT, REM, MOD } Division;

/* Truncating quotient and remainder turned into what is asked for; b is not zero. */
static bool divide_big_as(PtcVM *vm, PtcValue a, PtcValue b, Division what, PtcValue *out)
{
    PtcValue quot, rem;
    if (!ptc_int_divide(vm->heap, a, b, &quot, &rem))
        return false;
    bool adjust = rem != ptc_int(0) && ptc_int_sign(rem) != ptc_int_sign(b);
    switch (what) {
    case QUOT: return ptc_give(out, quot);
    case REM: return ptc_give(out, rem);
    case MOD: return ptc_give(out, adjust ? ptc_int_add(vm->heap, rem, b) : rem);
    }
    return false;
}

/* The same for small integers. */
static bool divide_small_as(PtcVM *vm, int64_t a, int64_t b, Division what, PtcValue *out)
{
    int64_t rem = a % b, quot = a / b; /* 63 bits: no overflow */
    bool adjust = rem != 0 && (rem < 0) != (b < 0);
    switch (what) {
    case QUOT: return ptc_give(out, ptc_int_new(vm->heap, quot));
    case REM: return ptc_give(out, ptc_int(rem));
    case MOD: return ptc_give(out, ptc_int(adjust ? rem + b : rem));
    }
    return false;
}

/* As Clojure does it, by way of the rounded quotient; NaN when there is none. */
static double divide_doubles(double a, double b, Division what)
{
    double quot = trunc(a / b);
    if (!isfinite(quot))
        return NAN;
    if (what == QUOT)
        return quot + 0.0; /* never -0.0 */
    double rem = a - quot * b;
    bool adjust = what == MOD && rem != 0 && (a > 0) != (b > 0);
    return adjust ? rem + b : rem;
}

static bool cut_decimals(PtcVM *vm, PtcValue a, PtcValue b, Division what, PtcValue *out)
{
    PtcValue quot, rem;
    if (ptc_decimal_sign(b) == 0)
        return division_by_zero(vm);
    if (!ptc_decimal_divide(vm->heap, a, b, &quot, &rem))
        return false;
    int sign = ptc_decimal_sign(rem);
    if (what == MOD && sign != 0 && sign != ptc_decimal_sign(b))
        rem = ptc_decimal_add(vm->heap, rem, b);
    return ptc_give(out, what == QUOT ? quot : rem);
}

static bool divide_numbers(PtcVM *vm, const PtcValue *argv, Division what, PtcValue *out)
{
    PtcValue a = argv[0], b = argv[1];
    if (!ptc_arg_numeric(vm, argv, 0) || !ptc_arg_numeric(vm, argv, 1))
        return false;
    if (b == ptc_int(0))
        return division_by_zero(vm);
    if (are_decimals(a, b))
        return cut_decimals(vm, a, b, what, out);
    if (ptc_is_int(a) && ptc_is_int(b))
        return divide_small_as(vm, ptc_to_int(a), ptc_to_int(b), what, out);
    if (both_integers(a, b))
        return divide_big_as(vm, a, b, what, out);
    double dividend = as_double(vm, a), divisor = as_double(vm, b);
    if (divisor == 0 && vm->budget.stop == PTC_STOP_NONE)
        return division_by_zero(vm);
    return ptc_give(out, float_of(vm, divide_doubles(dividend, divisor, what)));
}

PTC_BUILTIN_EXPR(core_quot, "clojure.core", "quot", 2, 2,
                 PTC_TAKES2(PTC_IS_NUMBER, PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NUMBER),
                 "(quot num div)", "Quotient without its fraction, cut toward zero.",
                 "(quot 7 2) => 3\n(quot -7 2) => -3\n(quot 7.5 2) => 3.0\n"
                 "(quot 1 0) !! arithmetic_error",
                 divide_numbers(vm, argv, QUOT, out))

PTC_BUILTIN_EXPR(
    core_rem, "clojure.core", "rem", 2, 2,
    PTC_TAKES2(PTC_IS_NUMBER, PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NUMBER), "(rem num div)",
    "What quot leaves over; has the sign of num.",
    "(rem 7 2) => 1\n(rem -7 2) => -1\n(rem 5.5 2) => 1.5\n(rem 1 0) !! arithmetic_error",
    divide_numbers(vm, argv, REM, out))

PTC_BUILTIN_EXPR(
    core_mod, "clojure.core", "mod", 2, 2,
    PTC_TAKES2(PTC_IS_NUMBER, PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NUMBER), "(mod num div)",
    "Remainder of a division rounded down; has the sign of div.",
    "(mod 7 3) => 1\n(mod -1 12) => 11\n(mod 5.5 -2) => -0.5\n(mod 3 0) !! arithmetic_error",
    divide_numbers(vm, argv, MOD, out))

/* ------------------------------------------------------------- max, min, abs */

static bool is_nan(PtcValue v)
{
    return ptc_is_float(v) && isnan(ptc_to_float(v));
}

/* A likely mistake is to pass the collection itself, or something that is not a number. */
static bool arg_extreme(PtcVM *vm, const PtcValue *argv, int i)
{
    char expected[80];
    const char *name = ptc_builtin_name(vm->running);
    if (ptc_is_number(argv[i]) || ptc_is_decimal(argv[i]))
        return true;
    if (ptc_is_sequential(argv[i]) || ptc_is_set(argv[i]))
        snprintf(expected, sizeof expected, "a number; for a collection use (apply %s coll)", name);
    else if (ptc_is_string(argv[i]) || ptc_is(argv[i], PTC_T_RECORD))
        snprintf(expected, sizeof expected, "a number; otherwise use (%s (sort coll))",
                 name[1] == 'a' ? "last" : "first");
    else
        return ptc_arg_number(vm, argv, i);
    return ptc_fail_type(vm, argv, i, expected);
}

/* sign 1: the largest, -1: the smallest.  Of equal ones the last, of NaNs the first. */
static bool extreme(PtcVM *vm, int argc, const PtcValue *argv, int sign, PtcValue *out)
{
    if (!arg_extreme(vm, argv, 0))
        return false;
    PtcValue best = argv[0];
    for (int i = 1; i < argc; i++) {
        bool ok = true;
        if (!ptc_tick(&vm->budget, 1) || !arg_extreme(vm, argv, i))
            return false;
        if (is_nan(best))
            continue;
        if (is_nan(argv[i]) || ptc_compare(vm->heap, best, argv[i], &ok) * sign <= 0)
            best = argv[i];
    }
    return ptc_give(out, best);
}

PTC_BUILTIN_EXPR(core_max, "clojure.core", "max", 1, -1,
                 PTC_TAKES_ALL(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NUMBER), "(max num & nums)",
                 "The largest of the numbers.",
                 "(max 4 8 2) => 8\n(apply max [1 1.5]) => 1.5\n(max [1 2]) !! type_error",
                 extreme(vm, argc, argv, 1, out))

PTC_BUILTIN_EXPR(core_min, "clojure.core", "min", 1, -1,
                 PTC_TAKES_ALL(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NUMBER), "(min num & nums)",
                 "The smallest of the numbers.",
                 "(min 4 8 2) => 2\n(apply min [1 0.5]) => 0.5\n(min nil 4) !! type_error",
                 extreme(vm, argc, argv, -1, out))

PTC_BUILTIN(core_abs, "clojure.core", "abs", 1, 1,
            PTC_TAKES(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NUMBER), "(abs num)",
            "The number without its sign.",
            "(abs -7) => 7\n(abs -0.5) => 0.5\n(abs nil) !! type_error")
{
    if (!ptc_arg_numeric(vm, argv, 0))
        return false;
    if (ptc_is_decimal(argv[0]))
        return ptc_give(out, ptc_decimal_sign(argv[0]) < 0 ? negate_decimal(vm, argv[0]) : argv[0]);
    if (ptc_is_float(argv[0]))
        return ptc_give(out, ptc_float_new(vm->heap, fabs(ptc_to_float(argv[0]))));
    bool negative = ptc_int_sign(argv[0]) < 0;
    return ptc_give(out, negative ? ptc_int_sub(vm->heap, ptc_int(0), argv[0]) : argv[0]);
}

PTC_BUILTIN_EXPR(math_max, "Math", "max", 1, -1,
                 PTC_TAKES_ALL(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NUMBER), "(Math/max num & nums)",
                 "The same as max.", "(Math/max 1 5) => 5\n(Math/max 1 \"5\") !! type_error",
                 extreme(vm, argc, argv, 1, out))

PTC_BUILTIN_EXPR(math_min, "Math", "min", 1, -1,
                 PTC_TAKES_ALL(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NUMBER), "(Math/min num & nums)",
                 "The same as min.", "(Math/min 1 5) => 1\n(Math/min nil 5) !! type_error",
                 extreme(vm, argc, argv, -1, out))

PTC_BUILTIN_EXPR(math_abs, "Math", "abs", 1, 1, PTC_TAKES(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NUMBER),
                 "(Math/abs num)", "The same as abs.",
                 "(Math/abs -4.5) => 4.5\n(Math/abs \"-1\") !! type_error",
                 run_core_abs(vm, argc, argv, out))

PTC_BUILTIN_TABLE(ptc_lib_num, core_add, core_sub, core_mul, core_div, core_inc, core_dec,
                  core_add_prime, core_sub_prime, core_mul_prime, core_inc_prime, core_dec_prime,
                  core_quot, core_rem, core_mod, core_max, core_min, core_abs, math_max, math_min,
                  math_abs);
