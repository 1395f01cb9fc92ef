/* SPDX-License-Identifier: MIT
 * Equality and order: = == not= identical? < > <= >= compare, and the tests on the sign and evenness of
 * numbers. */
#include "lisp/number/compare.h"

#include <math.h>
#include <stdio.h>

#include "lisp/number/num.h"
#include "lisp/vm/predicate.h"
#include "lisp/vm/record.h"
#include "value/number/decimal.h"

static bool is_comparison_stopped(const PtcVM *vm)
{
    return vm->budget.stop != PTC_STOP_NONE;
}

/* --------------------------------------------------------------------- order */

/* Values are ordered within a class; 0 is for what has no order. */
enum {
    COMPARE_NO_ORDER,
    COMPARE_NUMBERS,
    COMPARE_STRINGS,
    COMPARE_KEYWORDS,
    COMPARE_SEQUENTIALS,
    COMPARE_RECORDS
};

static unsigned order_class(PtcValue v)
{
    if (ptc_is_number(v) || ptc_is_decimal(v))
        return COMPARE_NUMBERS;
    if (ptc_is_string(v))
        return COMPARE_STRINGS;
    if (ptc_is_keyword(v))
        return COMPARE_KEYWORDS;
    if (ptc_is_sequential(v))
        return COMPARE_SEQUENTIALS;
    if (ptc_is(v, PTC_T_RECORD) && !ptc_is_record(v, PTC_R_FN) && !ptc_is_record(v, PTC_R_REDUCED))
        return COMPARE_RECORDS + ptc_obj(v)->aux;
    return COMPARE_NO_ORDER;
}

static const char *class_noun(PtcValue v)
{
    return order_class(v) == COMPARE_NUMBERS ? "a number"
           : ptc_is_sequential(v)            ? "a vector"
                                             : ptc_type_name(v);
}

/* (> :total 15): the key of a row where its value was meant. */
static bool hint_keyword_for_value(PtcVM *vm, const PtcValue *argv, int first, int second)
{
    enum { KEY_SHOWN = 60 };
    PtcValue key = ptc_is_keyword(argv[first]) ? argv[first] : argv[second];
    if (!ptc_is_keyword(key) || ptc_str_len(key) > KEY_SHOWN)
        return false;
    vm->error.hint[0] = 0; /* the usage does not help here */
    return ptc_fail_hint(vm, "to compare a field of each row write #(%s (:%.*s %%) ...)",
                         ptc_builtin_row(vm->running)->name, PTC_ARG(ptc_str_view(key)));
}

/* The type_error for arguments i and j of argv, which cannot be compared. */
static bool fail_uncomparable(PtcVM *vm, const PtcValue *argv, int i, int j)
{
    int first = i < j ? i : j, second = i < j ? j : i;
    unsigned class_first = order_class(argv[first]), class_second = order_class(argv[second]);
    char expected[80];
    if (class_first == COMPARE_NO_ORDER)
        return ptc_fail_type(vm, argv, first, "a number, string, keyword, date or vector");
    if (class_first == class_second)
        return ptc_fail_here(vm, PTC_E_TYPE,
                             "elements of argument %d and argument %d have no order", first + 1,
                             second + 1);
    snprintf(expected, sizeof expected, "%s like argument %d", class_noun(argv[first]), first + 1);
    ptc_fail_type(vm, argv, second, expected);
    return hint_keyword_for_value(vm, argv, first, second);
}

static bool is_nan(PtcValue v)
{
    return ptc_is_float(v) && isnan(ptc_to_float(v));
}

/* argv[i] < argv[j], or <= */
static bool less(PtcVM *vm, const PtcValue *argv, int i, int j, bool or_equal, bool *out)
{
    PtcValue a = argv[i], b = argv[j];
    *out = false;
    if (a == PTC_NIL || b == PTC_NIL) {
        *out = or_equal && a == b;
        return true;
    }
    unsigned class = order_class(a);
    if (class == COMPARE_NO_ORDER || class != order_class(b))
        return fail_uncomparable(vm, argv, i, j);
    if (is_nan(a) || is_nan(b))
        return true;
    bool ok = true;
    int order = ptc_compare(vm->heap, a, b, &ok);
    if (is_comparison_stopped(vm))
        return false;
    if (!ok)
        return fail_uncomparable(vm, argv, i, j);
    *out = order < 0 || (or_equal && order == 0);
    return true;
}

bool ptc_num_less(PtcVM *vm, PtcValue a, PtcValue b, bool or_equal, bool *out)
{
    if (ptc_is_flonum(a) && ptc_is_flonum(b)) { /* no NaN among these */
        double x = ptc_to_float(a), y = ptc_to_float(b);
        *out = x < y || (or_equal && x == y);
        return true;
    }
    bool swapped = ptc_builtin_row(vm->running)->name[0] == '>';
    PtcValue argv[2] = {swapped ? b : a, swapped ? a : b};
    return less(vm, argv, swapped, !swapped, or_equal, out);
}

/* Is every argument in order with the next one? */
static bool ascending(PtcVM *vm, int argc, const PtcValue *argv, bool or_equal, PtcValue *out)
{
    bool holds = true;
    for (int i = 0; i + 1 < argc && holds; i++) {
        if (PTC_LIKELY(argv[i] & argv[i + 1] & 1)) {
            int64_t a = (int64_t)argv[i], b = (int64_t)argv[i + 1];
            holds = a < b || (or_equal && a == b);
        } else if (!less(vm, argv, i, i + 1, or_equal, &holds)) {
            return false;
        }
        if (!ptc_tick(&vm->budget, 1))
            return false;
    }
    return ptc_give(out, ptc_bool(holds));
}

static bool descending(PtcVM *vm, int argc, const PtcValue *argv, bool or_equal, PtcValue *out)
{
    bool holds = true;
    for (int i = 0; i + 1 < argc && holds; i++) {
        if (PTC_LIKELY(argv[i] & argv[i + 1] & 1)) {
            int64_t a = (int64_t)argv[i], b = (int64_t)argv[i + 1];
            holds = a > b || (or_equal && a == b);
        } else if (!less(vm, argv, i + 1, i, or_equal, &holds)) {
            return false;
        }
        if (!ptc_tick(&vm->budget, 1))
            return false;
    }
    return ptc_give(out, ptc_bool(holds));
}

PTC_BUILTIN_EXPR(core_lt, "clojure.core", "<", 1, -1, PTC_GIVES(PTC_IS_BOOL) | PTC_RULE(COMPARE),
                 "(< x & more)",
                 "Is each argument less than the next; false once one of them is nil.",
                 "(< 1 2 3) => true\n(< \"b\" \"a\") => false\n(< nil 5) => false\n"
                 "(< 1 \"2\") !! type_error",
                 ascending(vm, argc, argv, false, out))

PTC_BUILTIN_EXPR(core_le, "clojure.core", "<=", 1, -1, PTC_GIVES(PTC_IS_BOOL) | PTC_RULE(COMPARE),
                 "(<= x & more)", "Is no argument greater than the next; nil goes with nil only.",
                 "(<= 1 1 2) => true\n(<= nil nil) => true\n(<= :a \"a\") !! type_error",
                 ascending(vm, argc, argv, true, out))

PTC_BUILTIN_EXPR(core_gt, "clojure.core", ">", 1, -1, PTC_GIVES(PTC_IS_BOOL) | PTC_RULE(COMPARE),
                 "(> x & more)",
                 "Is each argument greater than the next; false once one of them is nil.",
                 "(> 3 2 1) => true\n(> [1 2] [9]) => true\n(> nil 1) => false\n"
                 "(> {} 1) !! type_error",
                 descending(vm, argc, argv, false, out))

PTC_BUILTIN_EXPR(core_ge, "clojure.core", ">=", 1, -1, PTC_GIVES(PTC_IS_BOOL) | PTC_RULE(COMPARE),
                 "(>= x & more)", "Is no argument less than the next; nil goes with nil only.",
                 "(>= 3 3 2) => true\n(>= ##NaN 1) => false\n(>= true false) !! type_error",
                 descending(vm, argc, argv, true, out))

PTC_BUILTIN(core_compare, "clojure.core", "compare", 2, 2, PTC_GIVES(PTC_IS_INT), "(compare a b)",
            "-1, 0 or 1 as a comes before, with or after b; nil comes first, shorter vectors come "
            "before longer ones.",
            "(compare 1 2) => -1\n(compare \"b\" \"a\") => 1\n(compare nil 40) => -1\n"
            "(compare :a 1) !! type_error")
{
    bool ok = true;
    int order = ptc_compare(vm->heap, argv[0], argv[1], &ok);
    if (is_comparison_stopped(vm))
        return false;
    if (!ok)
        return fail_uncomparable(vm, argv, 0, 1);
    return ptc_give(out, ptc_int((order > 0) - (order < 0)));
}

/* ------------------------------------------------------------------ equality */

static bool all_equal(PtcVM *vm, int argc, const PtcValue *argv, bool *out)
{
    *out = true;
    for (int i = 0; i + 1 < argc && *out; i++) {
        if (!ptc_tick(&vm->budget, 1))
            return false;
        *out = ptc_equal(vm->heap, argv[i], argv[i + 1]);
    }
    return !is_comparison_stopped(vm);
}

PTC_BUILTIN(core_eq, "clojure.core", "=", 1, -1, PTC_GIVES(PTC_IS_BOOL) | PTC_RULE(EQUAL),
            "(= x & more)", "Are all arguments equal: numbers by value, collections by content.",
            "(= 1 1.0) => true\n(= [1 2] (list 1 2)) => true\n(= {:a 1} {:a 2}) => false")
{
    bool equal;
    return all_equal(vm, argc, argv, &equal) && ptc_give(out, ptc_bool(equal));
}

PTC_BUILTIN(core_not_eq, "clojure.core", "not=", 1, -1, PTC_GIVES(PTC_IS_BOOL), "(not= x & more)",
            "The opposite of =.", "(not= 1 2) => true\n(not= :a :a) => false\n(not= 1 1 2) => true")
{
    bool equal;
    return all_equal(vm, argc, argv, &equal) && ptc_give(out, ptc_bool(!equal));
}

PTC_BUILTIN(core_num_eq, "clojure.core", "==", 1, -1,
            PTC_TAKES_ALL(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_BOOL), "(== num & nums)",
            "Are all these numbers equal by value.",
            "(== 2 2.0 2) => true\n(== 1 2) => false\n(== 1 \"1\") !! type_error")
{
    bool equal;
    for (int i = 0; i < argc; i++)
        if (!ptc_tick(&vm->budget, 1) || !ptc_arg_numeric(vm, argv, i))
            return false;
    return all_equal(vm, argc, argv, &equal) && ptc_give(out, ptc_bool(equal));
}

PTC_BUILTIN(
    core_identical, "clojure.core", "identical?", 2, 2, PTC_GIVES(PTC_IS_BOOL), "(identical? a b)",
    "Are both the same value, for collections even the same object?  Use = to compare contents.",
    "(identical? :a :a) => true\n(identical? 1 1.0) => false\n(let [v [1]] (identical? v v)) => "
    "true\n"
    "(identical? 1) !! arity_error")
{
    PtcValue a = argv[0], b = argv[1];
    bool plain = ptc_is_named(a) || ptc_is_number(a);
    *out = ptc_bool(a == b || (plain && ptc_same(vm->heap, a, b)));
    return true;
}

/* -------------------------------------------------------- questions to numbers */

/* -1, 0 or 1; 2 for NaN and for what is no number. */
static int compared_sign(PtcValue v)
{
    if (ptc_is_integer(v) || ptc_is_decimal(v))
        return ptc_decimal_sign(v);
    if (!ptc_is_float(v) || is_nan(v))
        return 2;
    double d = ptc_to_float(v);
    return (d > 0) - (d < 0);
}

/* 0 or 1; 2 for what is no whole number. */
static int parity_of(PtcValue v)
{
    if (ptc_is_integer(v))
        return !ptc_int_is_even(v);
    double d = ptc_is_float(v) ? fabs(fmod(ptc_to_float(v), 2)) : NAN;
    return d == 0 ? 0 : d == 1 ? 1 : 2;
}

PTC_PREDICATE(core_is_zero, "zero?",
              "Is it the number zero; false for anything that is not a number.",
              "(zero? 0) => true\n(zero? -0.0) => true\n(zero? nil) => false",
              compared_sign(x) == 0)
PTC_PREDICATE(core_is_pos, "pos?",
              "Is it a number above zero; false for anything that is not a number.",
              "(pos? 3) => true\n(pos? 0) => false\n(filter pos? [1 nil -1]) => [1]",
              compared_sign(x) == 1)
PTC_PREDICATE(core_is_neg, "neg?",
              "Is it a number below zero; false for anything that is not a number.",
              "(neg? -3) => true\n(neg? -0.0) => false\n(neg? \"-1\") => false",
              compared_sign(x) == -1)
PTC_PREDICATE(core_is_even, "even?", "Is it a whole number divisible by two.",
              "(even? 4) => true\n(even? 4.0) => true\n(even? 2.5) => false\n(even? nil) => false",
              parity_of(x) == 0)
PTC_PREDICATE(core_is_odd, "odd?", "Is it a whole number not divisible by two.",
              "(odd? -3) => true\n(odd? 4) => false\n(odd? \"3\") => false", parity_of(x) == 1)

PTC_BUILTIN_TABLE(ptc_lib_compare, core_lt, core_le, core_gt, core_ge, core_compare, core_eq,
                  core_not_eq, core_num_eq, core_is_zero, core_is_pos, core_is_neg, core_is_even,
                  core_is_odd, core_identical);
