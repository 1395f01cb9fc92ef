/* SPDX-License-Identifier: MIT
 * median, percentile and stdev of numbers, or of a key of each element.  As with sum and avg, nil is skipped, decimals
 * count as the nearest float, and the result is a float, or nil when there are too few numbers for one.  A NaN among
 * the numbers makes the result NaN. */
#include <math.h>

#include "lisp/lazy/seq_int.h"
#include "lisp/number/num.h"
#include "value/number/decimal.h"

typedef struct Statistic {
    /* Computes the result from n numbers, which it may reorder.  False: a limit was hit. */
    bool (*compute)(PtcVM *vm, double *xs, size_t n, double percent, double *result);
    size_t least; /* numbers that it takes at the least */
    double percent;
} Statistic;

/* ----------------------------------------------------------------------- computing */

/* Moves xs[i] down to its place in the heap of n numbers, whose greatest is at the top. */
static void sift_number(double *xs, size_t i, size_t n)
{
    double x = xs[i];
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && xs[child] < xs[child + 1];
        if (xs[child] <= x)
            break;
        xs[i] = xs[child];
    }
    xs[i] = x;
}

/* A heap sort, whose time no order of the numbers makes long. */
static bool sort_numbers(PtcVM *vm, double *xs, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) {
        sift_number(xs, i, n);
        if (!ptc_tick(&vm->budget, 2))
            return false;
    }
    for (size_t end = n; end-- > 1;) {
        double x = xs[end];
        xs[end] = xs[0];
        xs[0] = x;
        sift_number(xs, 0, end);
        if (!ptc_tick(&vm->budget, 8))
            return false;
    }
    return true;
}

/* Interpolates from the nearer of the two, so that equal neighbours give themselves. */
static double between_numbers(double a, double b, double part)
{
    if (a == b)
        return a;
    return part < 0.5 ? a + (b - a) * part : b - (b - a) * (1 - part);
}

static bool compute_percentile(PtcVM *vm, double *xs, size_t n, double percent, double *result)
{
    if (!sort_numbers(vm, xs, n))
        return false;
    double at = percent / 100 * (double)(n - 1), whole = floor(at);
    size_t i = (size_t)whole;
    *result = at == whole ? xs[i] : between_numbers(xs[i], xs[i + 1], at - whole);
    return true;
}

static bool compute_median(PtcVM *vm, double *xs, size_t n, double percent, double *result)
{
    (void)percent;
    if (!sort_numbers(vm, xs, n))
        return false;
    double a = xs[(n - 1) / 2], b = xs[n / 2], sum = a + b;
    *result = isfinite(sum) ? sum / 2 : a / 2 + b / 2; /* halves of large numbers do not overflow */
    return true;
}

/* In two passes: squares of the distances from the mean, less what rounding of the mean has added to them. */
static bool compute_stdev(PtcVM *vm, double *xs, size_t n, double percent, double *result)
{
    (void)percent;
    double sum = 0, squares = 0, rest = 0;
    for (size_t i = 0; i < n && ptc_tick(&vm->budget, 1); i++)
        sum += xs[i];
    double mean = sum / (double)n;
    for (size_t i = 0; i < n && ptc_tick(&vm->budget, 1); i++) {
        squares += (xs[i] - mean) * (xs[i] - mean);
        rest += xs[i] - mean;
    }
    double variance = (squares - rest * rest / (double)n) / (double)(n - 1);
    *result = sqrt(variance < 0 ? 0 : variance);
    return vm->budget.stop == PTC_STOP_NONE;
}

/* ----------------------------------------------------------------------- gathering */

enum { STATS_SOURCE, STATS_KEYS, STATS_SLOTS };

/* The numbers among the elements, or among their keys, into xs, which has room for all; *nan: there is one. */
static bool gather_numbers(PtcVM *vm, const PtcKeyFn *key, const PtcValue *slots, double *xs,
                           size_t *n, bool *nan)
{
    PtcIter it;
    PtcValue x;
    *n = 0;
    *nan = false;
    if (!ptc_iter_init(&it, vm->heap, slots[STATS_SOURCE]))
        return false;
    for (size_t i = 0; ptc_next(vm, &it, &x); i++) {
        if (key && !ptc_key_at(vm, key, slots[STATS_KEYS], i, x, &x))
            return false;
        if (x == PTC_NIL)
            continue;
        if (!ptc_is_number(x) && !ptc_is_decimal(x))
            return ptc_fail_no_number(vm, i + 1, x);
        double d = ptc_is_decimal(x) ? ptc_decimal_to_double(vm->heap, x) : ptc_num_double(x);
        xs[(*n)++] = d;
        *nan |= isnan(d) != 0;
    }
    return ptc_iter_end(&it) && vm->budget.stop == PTC_STOP_NONE;
}

/* This half is pure: when it runs out of memory it is run again after a collection. */
static bool give_statistic(PtcVM *vm, const Statistic *s, const PtcKeyFn *key,
                           const PtcValue *slots, PtcValue *out)
{
    size_t count = ptc_seq_count(slots[STATS_SOURCE]), bytes, n;
    bool nan;
    double result = NAN;
    if (__builtin_mul_overflow(count + 1, sizeof(double), &bytes))
        return ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    double *xs = ptc_vm_scratch(vm, bytes);
    bool ok = xs && gather_numbers(vm, key, slots, xs, &n, &nan) &&
              (nan || n < s->least || s->compute(vm, xs, n, s->percent, &result));
    ptc_heap_scratch_free(vm->heap, xs, bytes);
    return ok && ptc_give(out, n < s->least ? PTC_NIL : ptc_float_new(vm->heap, result));
}

/* Of the elements of the last argument; `by`: of what the argument before it says about each. */
static bool run_statistic(PtcVM *vm, const Statistic *s, bool by, int argc, const PtcValue *argv,
                          PtcValue *out)
{
    PtcKeyFn key;
    const PtcKeyFn *k = by ? &key : NULL;
    PtcValue *slots = ptc_roots(vm, STATS_SLOTS);
    return slots && (!by || ptc_arg_keyfn(vm, argv, argc - 2, &key)) &&
           ptc_root_seq(vm, argv, argc - 1, true, &slots[STATS_SOURCE]) &&
           (!by || ptc_keys_collect(vm, k, slots[STATS_SOURCE], &slots[STATS_KEYS])) &&
           PTC_RETRY(vm, give_statistic(vm, s, k, slots, out)) &&
           (!by || ptc_key_check(vm, argv[argc - 2], argv[argc - 1], false));
}

/* ------------------------------------------------------------------------- builtins */

static const Statistic median_of = {compute_median, 1, 0};
static const Statistic stdev_of = {compute_stdev, 2, 0};

PTC_BUILTIN_EXPR(core_median, "clojure.core", "median", 1, 1,
                 PTC_B_CALLS | PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_NIL | PTC_IS_FLOAT),
                 "(median coll)",
                 "The middle of the numbers in order, as a float; between two, half of their sum. "
                 "nil elements are skipped, and the median of none is nil.",
                 "(median [3 1 20]) => 3.0\n(median [4 1 nil 2 3]) => 2.5\n(median []) => nil\n"
                 "(median [\"1\"]) !! arithmetic_error\n(median 5) !! type_error",
                 run_statistic(vm, &median_of, false, argc, argv, out))

PTC_BUILTIN_EXPR(core_median_by, "clojure.core", "median-by", 2, 2,
                 PTC_B_CALLS | PTC_TAKES2(PTC_IS_KEYED, PTC_IS_SEQABLE) |
                     PTC_GIVES(PTC_IS_NIL | PTC_IS_FLOAT) | PTC_RULE(NUMBER_BY),
                 "(median-by key coll)", "The median of a field or function of each element.",
                 "(median-by :n [{:n 1} {:n 9} {:n 4} {}]) => 4.0\n"
                 "(median-by 5 [1]) !! type_error",
                 run_statistic(vm, &median_of, true, argc, argv, out))

PTC_BUILTIN_EXPR(
    core_stdev, "clojure.core", "stdev", 1, 1,
    PTC_B_CALLS | PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_NIL | PTC_IS_FLOAT), "(stdev coll)",
    "The standard deviation of a sample (divided by n - 1), as a float; its square is the "
    "variance. nil elements are skipped, and of fewer than two numbers it is nil.",
    "(stdev [2 4 4 4 5 5 7 9 nil]) => 2.138089935299395\n(stdev [1 3]) => 1.4142135623730951\n"
    "(stdev [5]) => nil\n(stdev [\"1\" 2]) !! arithmetic_error",
    run_statistic(vm, &stdev_of, false, argc, argv, out))

PTC_BUILTIN_EXPR(core_stdev_by, "clojure.core", "stdev-by", 2, 2,
                 PTC_B_CALLS | PTC_TAKES2(PTC_IS_KEYED, PTC_IS_SEQABLE) |
                     PTC_GIVES(PTC_IS_NIL | PTC_IS_FLOAT) | PTC_RULE(NUMBER_BY),
                 "(stdev-by key coll)",
                 "The standard deviation of a field or function of each element.",
                 "(stdev-by :n [{:n 1} {:n 3}]) => 1.4142135623730951\n"
                 "(stdev-by 5 [1]) !! type_error",
                 run_statistic(vm, &stdev_of, true, argc, argv, out))

static bool run_percentile(PtcVM *vm, bool by, int argc, const PtcValue *argv, PtcValue *out)
{
    Statistic s = {compute_percentile, 1, 0};
    if (!ptc_arg_double(vm, argv, 0, &s.percent))
        return false;
    if (!(s.percent >= 0 && s.percent <= 100)) {
        ptc_fail_here(vm, PTC_E_VALUE, "argument 1 is %g, expected a number from 0 to 100",
                      s.percent);
        return ptc_fail_hint(vm, "(percentile 90 coll) is above nine tenths of the numbers");
    }
    return run_statistic(vm, &s, by, argc, argv, out);
}

PTC_BUILTIN_EXPR(core_percentile, "clojure.core", "percentile", 2, 2,
                 PTC_B_CALLS | PTC_TAKES2(PTC_IS_NUMBER, PTC_IS_SEQABLE) |
                     PTC_GIVES(PTC_IS_NIL | PTC_IS_FLOAT),
                 "(percentile p coll)",
                 "Where p percent of the numbers in order are below, as a float; between two "
                 "numbers it is interpolated, so 50 is the median and 25 the first quartile. nil "
                 "elements are skipped, and the percentile of none is nil.",
                 "(percentile 90 [1 2 3 4 5]) => 4.6\n(percentile 50 [1 nil 3]) => 2.0\n"
                 "(percentile 90 []) => nil\n(percentile 101 [1]) !! value_error\n"
                 "(percentile [1] 90) !! type_error",
                 run_percentile(vm, false, argc, argv, out))

PTC_BUILTIN_EXPR(core_percentile_by, "clojure.core", "percentile-by", 3, 3,
                 PTC_B_CALLS | PTC_TAKES3(PTC_IS_NUMBER, PTC_IS_KEYED, PTC_IS_SEQABLE) |
                     PTC_GIVES(PTC_IS_NIL | PTC_IS_FLOAT),
                 "(percentile-by p key coll)",
                 "The percentile of a field or function of each element.",
                 "(percentile-by 75 :n [{:n 1} {:n 2} {:n 3}]) => 2.5\n"
                 "(percentile-by 75 5 [1]) !! type_error",
                 run_percentile(vm, true, argc, argv, out))

PTC_BUILTIN_TABLE(ptc_lib_statistics, core_median, core_median_by, core_stdev, core_stdev_by,
                  core_percentile, core_percentile_by);
