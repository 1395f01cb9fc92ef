/* SPDX-License-Identifier: MIT
 * Exact decimals: bigdec, with-precision, and the methods of Java's BigDecimal.  Sums, differences and products are
 * exact; a quotient is exact or an error, unless with-precision or .divide says how to round. */
#include "lisp/number/decimals.h"

#include <math.h>

#include "lisp/number/num.h"
#include "lisp/vm/record.h"
#include "value/time/time.h"

/* ------------------------------------------------------------------------------- contexts */

static PtcValue refuse_rounding(PtcVM *vm)
{
    ptc_fail_here(vm, PTC_E_ARITH, "rounding is necessary");
    ptc_fail_hint(vm, "give a rounding mode, such as RoundingMode/HALF_UP");
    return PTC_NONE;
}

PtcValue ptc_decimal_in_context(PtcVM *vm, PtcValue v)
{
    if (v == PTC_NONE || vm->math_digits == 0)
        return v;
    v = ptc_decimal_round(vm->heap, v, vm->math_digits, (PtcRounding)vm->math_mode);
    return v == PTC_NIL ? refuse_rounding(vm) : v;
}

PtcValue ptc_decimal_quotient(PtcVM *vm, PtcValue a, PtcValue b)
{
    PtcValue q = vm->math_digits ? ptc_decimal_div_digits(vm->heap, a, b, vm->math_digits,
                                                          (PtcRounding)vm->math_mode)
                                 : ptc_decimal_div(vm->heap, a, b);
    if (q != PTC_NIL)
        return q;
    if (vm->math_digits)
        return refuse_rounding(vm);
    ptc_fail_here(vm, PTC_E_ARITH, "the quotient of these decimals has no end");
    ptc_fail_hint(vm, "say how to round: (with-precision 10 (/ a b)), or "
                      "(.divide a b 2 RoundingMode/HALF_UP)");
    return PTC_NONE;
}

/* Is it the name of a mode, HALF_EVEN, or how Clojure would write that, half-even? */
static bool is_mode_name(PtcText said, const char *name)
{
    for (size_t i = 0; i < said.len; i++) {
        char c = said.bytes[i], lower = name[i] == '_' ? '-' : (char)(name[i] | 0x20);
        if (name[i] == 0 || (c != name[i] && c != lower))
            return false;
    }
    return name[said.len] == 0;
}

/* A rounding mode: a constant, Java's number for it, or the name of it as a keyword. */
static bool arg_mode(PtcVM *vm, const PtcValue *argv, int i, PtcRounding *mode)
{
    static const char *const names[] = {"UP",      "DOWN",      "CEILING",   "FLOOR",
                                        "HALF_UP", "HALF_DOWN", "HALF_EVEN", "UNNECESSARY"};
    int64_t n = ptc_is_int(argv[i]) ? ptc_to_int(argv[i]) : -1;
    if (ptc_is_enum(argv[i], PTC_G_ROUNDING))
        n = ptc_enum_ordinal(argv[i]);
    for (int k = 0; ptc_is_keyword(argv[i]) && k <= PTC_ROUND_UNNECESSARY; k++)
        if (is_mode_name((PtcText){ptc_str_bytes(argv[i]), ptc_str_len(argv[i])}, names[k]))
            n = k;
    *mode = (PtcRounding)n;
    return (n >= 0 && n <= PTC_ROUND_UNNECESSARY) ||
           ptc_fail_type(vm, argv, i, "a rounding mode such as :half-even or RoundingMode/HALF_UP");
}

PTC_BUILTIN(core_with_precision, "ptc", "with-precision", 3, 3, PTC_B_HIDDEN | PTC_B_CALLS,
            "(with-precision digits :rounding HALF_UP body...)",
            "Calls a function while results of decimals are rounded.", "")
{
    int64_t digits, outer_digits = vm->math_digits;
    int outer_mode = vm->math_mode;
    PtcRounding mode;
    if (!ptc_arg_int(vm, argv, 0, &digits) || !arg_mode(vm, argv, 1, &mode))
        return false;
    if (digits < 0 || digits > PTC_DECIMAL_SCALE)
        return ptc_fail(vm, PTC_E_VALUE,
                        "with-precision: %lld is not a number of digits from 0 to %d",
                        (long long)digits, (int)PTC_DECIMAL_SCALE);
    vm->math_digits = digits;
    vm->math_mode = (int)mode;
    bool ok = ptc_call(vm, argv[2], 0, NULL, out);
    vm->math_digits = outer_digits;
    vm->math_mode = outer_mode;
    return ok;
}

/* --------------------------------------------------------------------------------- making */

static bool from_text(PtcVM *vm, PtcValue text, PtcValue *out)
{
    PtcValue v = ptc_decimal_parse(vm->heap, ptc_str_bytes(text), ptc_str_len(text));
    if (v != PTC_NIL)
        return ptc_give(out, v);
    ptc_fail_here(vm, PTC_E_VALUE | PTC_AS(NUMBER_FORMAT), "the string does not spell a number");
    return ptc_fail_hint(vm, "digits with a point and an exponent, as \"12.50\"");
}

static bool to_decimal(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    PtcValue v = argv[0];
    if (ptc_is_string(v))
        return from_text(vm, v, out);
    if (ptc_is_decimal(v))
        return ptc_give(out, v);
    if (!ptc_arg_number(vm, argv, 0))
        return false;
    if (ptc_is_integer(v))
        return ptc_give(out, ptc_decimal_new(vm->heap, v, 0));
    if (!isfinite(ptc_to_float(v)))
        return ptc_fail_here(vm, PTC_E_VALUE | PTC_AS(NUMBER_FORMAT),
                             "NaN and the infinities cannot be decimals");
    return ptc_give(out, ptc_decimal_from_double(vm->heap, ptc_to_float(v)));
}

PTC_BUILTIN_EXPR(core_bigdec, "clojure.core", "bigdec", 1, 1,
                 PTC_TAKES(PTC_IS_NUMBER | PTC_IS_STRING) | PTC_GIVES(PTC_IS_DECIMAL), "(bigdec x)",
                 "A number, or the number that a string spells, as an exact decimal.",
                 "(bigdec 0.1) => 0.1M\n(bigdec 3) => 3M\n(bigdec \"12.50\") => 12.50M\n"
                 "(bigdec \"x\") !! value_error\n(bigdec nil) !! type_error",
                 to_decimal(vm, argv, out))

PTC_BUILTIN_EXPR(new_big_decimal, "clojure.core", "BigDecimal.", 1, 1, 0, "(BigDecimal. x)",
                 "The same as bigdec.",
                 "(BigDecimal. \"0.10\") => 0.10M\n(BigDecimal. \"ten\") !! value_error",
                 to_decimal(vm, argv, out))

PTC_BUILTIN(
    decimal_value_of, "BigDecimal", "valueOf", 1, 2, 0, "(BigDecimal/valueOf x scale?)",
    "A number as a decimal; with a scale, an integer whose last digits come after the point.",
    "(BigDecimal/valueOf 1250 2) => 12.50M\n(BigDecimal/valueOf 2.5) => 2.5M\n"
    "(BigDecimal/valueOf nil) !! type_error")
{
    int64_t scale;
    if (argc == 1)
        return to_decimal(vm, argv, out);
    if (!ptc_is_integer(argv[0]))
        return ptc_fail_type(vm, argv, 0, "an integer");
    return ptc_arg_int(vm, argv, 1, &scale) &&
           ptc_give(out, ptc_decimal_new(vm->heap, argv[0], scale));
}

/* -------------------------------------------------------------------------------- methods */

static bool arg_decimal(PtcVM *vm, const PtcValue *argv, int i)
{
    return ptc_is_decimal(argv[i]) || ptc_is_integer(argv[i]) ||
           ptc_fail_type(vm, argv, i, "a decimal, such as 1.5M");
}

static bool give_rounded(PtcVM *vm, PtcValue v, PtcValue *out)
{
    return ptc_give(out, v == PTC_NIL ? refuse_rounding(vm) : v);
}

PTC_BUILTIN(decimal_set_scale, "java", ".setScale", 2, 3, 0, "(.setScale d places mode?)",
            "The decimal with this many places after the point; rounding needs a mode.",
            "(.setScale 2.345M 2 RoundingMode/HALF_UP) => 2.35M\n(.setScale 2M 2) => 2.00M\n"
            "(.setScale 2.345M 2) !! arithmetic_error\n(.setScale \"2\" 2) !! type_error")
{
    int64_t places;
    PtcRounding mode = PTC_ROUND_UNNECESSARY;
    if (!arg_decimal(vm, argv, 0) || !ptc_arg_int(vm, argv, 1, &places) ||
        (argc == 3 && !arg_mode(vm, argv, 2, &mode)))
        return false;
    return give_rounded(vm, ptc_decimal_set_scale(vm->heap, argv[0], places, mode), out);
}

/* Beyond these places a float is zero, or has no digits left to round. */
enum { FLOAT_PLACES = 400 };

/* A decimal with so many places; negative places leave no exponent behind, as 1.3E+3M would be. */
static PtcValue round_decimal_to(PtcVM *vm, PtcValue d, int64_t places, PtcRounding mode)
{
    PtcValue v = ptc_decimal_set_scale(vm->heap, d, places, mode);
    if (v == PTC_NIL)
        return refuse_rounding(vm);
    return v == PTC_NONE || places >= 0
               ? v
               : ptc_decimal_set_scale(vm->heap, v, 0, PTC_ROUND_UNNECESSARY);
}

bool ptc_decimal_round_number(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out)
{
    PtcRounding mode = PTC_ROUND_HALF_UP;
    int64_t places;
    PtcValue v = argv[0];
    if (!ptc_arg_numeric(vm, argv, 0) || !ptc_arg_int(vm, argv, 1, &places) ||
        (argc == 3 && !arg_mode(vm, argv, 2, &mode)))
        return false;
    bool is_float = ptc_is_float(v), is_whole = !is_float && !ptc_is_decimal(v);
    if (is_float && !isfinite(ptc_to_float(v)))
        return ptc_give(out, v);
    if (is_float && (places > FLOAT_PLACES || places < -FLOAT_PLACES))
        places = places < 0 ? -FLOAT_PLACES : FLOAT_PLACES;
    if (is_whole && places >= 0)
        return ptc_give(out, v);
    PtcValue d = is_float ? ptc_decimal_from_double(vm->heap, ptc_to_float(v)) : v;
    d = d == PTC_NONE ? d : round_decimal_to(vm, d, places, mode);
    if (d == PTC_NONE || !is_float)
        return ptc_give(out, d == PTC_NONE || !is_whole ? d : ptc_decimal_parts(d).unscaled);
    double rounded = ptc_decimal_to_double(vm->heap, d);
    return vm->budget.stop == PTC_STOP_NONE && ptc_give(out, ptc_float_new(vm->heap, rounded));
}

PTC_BUILTIN(decimal_divide, "java", ".divide", 2, 4, 0, "(.divide a b places? mode?)",
            "The exact quotient; or rounded by a mode, to this many places or to those of a.",
            "(.divide 10M 3M 2 RoundingMode/HALF_UP) => 3.33M\n(.divide 1M 8M) => 0.125M\n"
            "(.divide 10.0M 3M RoundingMode/DOWN) => 3.3M\n(.divide 1M 3M) !! arithmetic_error\n"
            "(.divide 1M 0M) !! arithmetic_error")
{
    PtcRounding mode;
    int64_t places;
    if (!arg_decimal(vm, argv, 0) || !arg_decimal(vm, argv, 1))
        return false;
    if (ptc_decimal_sign(argv[1]) == 0)
        return ptc_fail(vm, PTC_E_ARITH, ".divide: division by zero");
    if (argc == 2)
        return ptc_give(out, ptc_decimal_quotient(vm, argv[0], argv[1]));
    places = ptc_decimal_parts(argv[0]).scale;
    if (!arg_mode(vm, argv, argc - 1, &mode) || (argc == 4 && !ptc_arg_int(vm, argv, 2, &places)))
        return false;
    return give_rounded(vm, ptc_decimal_div_scale(vm->heap, argv[0], argv[1], places, mode), out);
}

#define DECIMAL_TWO(id, name_, fn_, doc_, examples_)                            \
    PTC_BUILTIN(id, "java", name_, 2, 2, 0, "(" name_ " a b)", doc_, examples_) \
    {                                                                           \
        return arg_decimal(vm, argv, 0) && arg_decimal(vm, argv, 1) &&          \
               ptc_give(out, fn_(vm->heap, argv[0], argv[1]));                  \
    }

DECIMAL_TWO(decimal_plus, ".add", ptc_decimal_add, "The sum of two decimals.",
            "(.add 1.50M 2.5M) => 4.00M\n(.add 1.5M nil) !! type_error")
DECIMAL_TWO(decimal_minus, ".subtract", ptc_decimal_sub, "The difference of two decimals.",
            "(.subtract 1.50M 2M) => -0.50M\n(.subtract 1.5M nil) !! type_error")
DECIMAL_TWO(decimal_times, ".multiply", ptc_decimal_mul, "The product of two decimals.",
            "(.multiply 1.50M 2.0M) => 3.000M\n(.multiply 1.5M nil) !! type_error")

PTC_BUILTIN(decimal_negate, "java", ".negate", 1, 1, 0, "(.negate d)",
            "The decimal with the other sign.",
            "(.negate 1.50M) => -1.50M\n(.negate \"1\") !! type_error")
{
    return arg_decimal(vm, argv, 0) &&
           ptc_give(out, ptc_decimal_sub(vm->heap, ptc_int(0), argv[0]));
}

PTC_BUILTIN_EXPR(decimal_scale, "java", ".scale", 1, 1, 0, "(.scale d)",
                 "How many digits come after the point.",
                 "(.scale 1.50M) => 2\n(.scale 1.5) !! type_error",
                 arg_decimal(vm, argv, 0) &&
                     ptc_give(out, ptc_int(ptc_decimal_parts(argv[0]).scale)))

PTC_BUILTIN(decimal_precision, "java", ".precision", 1, 1, 0, "(.precision d)",
            "How many digits a decimal has in all.",
            "(.precision 1.50M) => 3\n(.precision 1.5) !! type_error")
{
    if (!arg_decimal(vm, argv, 0))
        return false;
    int64_t n = ptc_decimal_digits(vm->heap, argv[0]);
    return n > 0 && ptc_give(out, ptc_int(n));
}

PTC_BUILTIN_EXPR(decimal_unscaled, "java", ".unscaledValue", 1, 1, 0, "(.unscaledValue d)",
                 "All digits of a decimal as an integer.",
                 "(.unscaledValue 1.50M) => 150\n(.unscaledValue 1.5) !! type_error",
                 arg_decimal(vm, argv, 0) && ptc_give(out, ptc_decimal_parts(argv[0]).unscaled))

PTC_BUILTIN(decimal_strip, "java", ".stripTrailingZeros", 1, 1, 0, "(.stripTrailingZeros d)",
            "The decimal without zeros at its end.",
            "(.stripTrailingZeros 1.500M) => 1.5M\n(.stripTrailingZeros 1.5) !! type_error")
{
    if (!arg_decimal(vm, argv, 0))
        return false;
    if (ptc_decimal_sign(argv[0]) == 0)
        return ptc_give(out, ptc_decimal_new(vm->heap, ptc_int(0), 0));
    return ptc_give(out, ptc_decimal_strip(vm->heap, argv[0], -PTC_DECIMAL_SCALE));
}

PTC_BUILTIN(decimal_plain, "java", ".toPlainString", 1, 1, 0, "(.toPlainString d)",
            "The text of a decimal without an exponent.",
            "(.toPlainString 1E+3M) => \"1000\"\n(.toPlainString 1.5) !! type_error")
{
    PtcBuf buf;
    if (!arg_decimal(vm, argv, 0))
        return false;
    ptc_heap_buf_init(vm->heap, &buf);
    return ptc_format_give(vm, &buf, ptc_decimal_print(vm->heap, &buf, argv[0], true), out);
}

PTC_BUILTIN_TABLE(ptc_lib_decimals, core_with_precision, core_bigdec, new_big_decimal,
                  decimal_value_of, decimal_set_scale, decimal_divide, decimal_plus, decimal_minus,
                  decimal_times, decimal_negate, decimal_scale, decimal_precision, decimal_unscaled,
                  decimal_strip, decimal_plain);
