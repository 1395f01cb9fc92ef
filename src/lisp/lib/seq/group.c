/* SPDX-License-Identifier: MIT
 * Grouping, counting, summing, and choosing by a key.  A key is given by a function, a keyword, a path
 * such as [:a :b], or a string; keywords, paths and strings find all spellings. */
#include <math.h>

#include "lisp/lazy/produce.h"
#include "lisp/number/num.h"
#include "lisp/vm/many.h"
#include "value/number/decimal.h"

/* -------------------------------------------------------------------------- keys */

bool ptc_arg_keyfn(PtcVM *vm, const PtcValue *argv, int i, PtcKeyFn *key)
{
    key->f = argv[i];
    key->kind = PTC_KEY_CALL;
    if (ptc_is_keyword(argv[i]) || ptc_is_string(argv[i]))
        key->kind = PTC_KEY_LOOKUP;
    else if (ptc_is_sequential(argv[i]) && !ptc_is_seq_flagged(argv[i]))
        key->kind = PTC_KEY_PATH;
    else if (!ptc_is_callable(argv[i]))
        return ptc_fail_type(vm, argv, i, "a function, keyword or path such as [:a :b]");
    return true;
}

static bool key_of_path(PtcVM *vm, PtcValue path, PtcValue x, PtcValue *out)
{
    PtcIter it;
    PtcValue step;
    if (!ptc_iter_init(&it, vm->heap, path))
        return false;
    while (x != PTC_NIL && ptc_next(vm, &it, &step))
        x = ptc_lookup(vm, x, step, PTC_NIL);
    *out = x;
    return ptc_iter_end(&it);
}

/* The key of x.  May collect when the kind is PTC_KEY_CALL, else not. */
static bool key_of(PtcVM *vm, const PtcKeyFn *key, PtcValue x, PtcValue *out)
{
    if (key->kind == PTC_KEY_PATH)
        return key_of_path(vm, key->f, x, out);
    if (key->kind == PTC_KEY_CALL)
        return ptc_call1(vm, key->f, x, out);
    *out = ptc_lookup(vm, x, key->f, PTC_NIL);
    return true;
}

bool ptc_keys_collect(PtcVM *vm, const PtcKeyFn *key, PtcValue seq, PtcValue *slot)
{
    PtcIter it;
    PtcValue x, y;
    if (key->kind != PTC_KEY_CALL)
        return true;
    if (!ptc_iter_init(&it, vm->heap, seq) || !ptc_root_build(vm, slot))
        return false;
    PtcMany many;
    ptc_many_init(vm, &many, key->f, 1);
    while (ptc_each(vm, &it, &x))
        if (!ptc_many1(vm, &many, x, &y) || !ptc_root_push(vm, slot, y))
            return false;
    return ptc_iter_end(&it);
}

bool ptc_key_at(PtcVM *vm, const PtcKeyFn *key, PtcValue keys, size_t i, PtcValue x, PtcValue *out)
{
    if (key->kind != PTC_KEY_CALL)
        return key_of(vm, key, x, out);
    *out = *ptc_build_slot(keys, i);
    return true;
}

/* ---------------------------------------------------------------------- grouping */

enum { GROUP_SOURCE, GROUP_KEYS, GROUP_SLOTS };

/* The second half, which is pure: makes a result of the elements in slots[SOURCE] and their keys.  When out of
 * memory it is run again after a collection. */
typedef bool (*Gather)(PtcVM *vm, const PtcKeyFn *key, const PtcValue *slots, PtcValue *out);

static bool by_keys(PtcVM *vm, const PtcValue *argv, Gather gather, PtcValue *out)
{
    PtcKeyFn key;
    PtcValue *slots = ptc_roots(vm, GROUP_SLOTS);
    return slots && ptc_arg_keyfn(vm, argv, 0, &key) &&
           ptc_root_seq(vm, argv, 1, true, &slots[GROUP_SOURCE]) &&
           ptc_keys_collect(vm, &key, slots[GROUP_SOURCE], &slots[GROUP_KEYS]) &&
           PTC_RETRY(vm, gather(vm, &key, slots, out)) &&
           ptc_key_check(vm, argv[0], argv[1], false);
}

/* Adds x to the vector being built for this key. */
static bool add_to_group(PtcDictBuild *b, PtcValue key, PtcValue x)
{
    int64_t entry = ptc_dict_build_find(b, key);
    if (entry >= 0)
        return ptc_build_add(b->heap, *ptc_dict_build_slot(b, entry), x);
    PtcValue group = ptc_build_new(b->heap);
    return group != PTC_NONE && ptc_build_add(b->heap, group, x) &&
           ptc_dict_build_put(b, key, group);
}

static bool finish_groups(PtcVM *vm, PtcDictBuild *b)
{
    for (int64_t i = 0; i < (int64_t)b->count; i++) {
        PtcValue *slot = ptc_dict_build_slot(b, i);
        PtcValue group = ptc_tick(&vm->budget, 1) ? ptc_build_done(vm->heap, *slot, 0) : PTC_NONE;
        if (group == PTC_NONE)
            return false;
        *slot = group;
    }
    return true;
}

/* Ends a build that went well so far, or releases it. */
static bool end_build(PtcDictBuild *b, bool ok, PtcValue *out)
{
    if (ok)
        return ptc_give(out, ptc_dict_build_done(b));
    ptc_dict_build_cancel(b);
    return false;
}

static bool gather_groups(PtcVM *vm, const PtcKeyFn *key, const PtcValue *slots, PtcValue *out)
{
    PtcDictBuild b;
    PtcIter it;
    PtcValue x, y;
    bool ok = ptc_dict_build_init(&b, vm->heap, false) &&
              ptc_iter_init(&it, vm->heap, slots[GROUP_SOURCE]);
    for (size_t i = 0; ok && ptc_next(vm, &it, &x); i++)
        ok = ptc_key_at(vm, key, slots[GROUP_KEYS], i, x, &y) && add_to_group(&b, y, x);
    return end_build(&b, ok && ptc_iter_end(&it) && finish_groups(vm, &b), out);
}

PTC_BUILTIN_EXPR(
    core_group_by, "clojure.core", "group-by", 2, 2,
    PTC_B_CALLS | PTC_TAKES2(PTC_IS_KEYED, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_MAP) |
        PTC_RULE(GROUP_BY),
    "(group-by key coll)",
    "A map from each key to a vector of the elements that have it, in the order they came.",
    "(group-by even? [1 2 3]) => {false [1 3], true [2]}\n"
    "(group-by [:p :q] [{:p {:q 1}} {}]) => {1 [{:p {:q 1}}], nil [{}]}\n"
    "(group-by 5 [1]) !! type_error",
    by_keys(vm, argv, gather_groups, out))

static bool gather_distinct(PtcVM *vm, const PtcKeyFn *key, const PtcValue *slots, PtcValue *out)
{
    PtcDictBuild b;
    PtcIter it;
    PtcValue x, y, built = ptc_build_new(vm->heap);
    bool ok = built != PTC_NONE && ptc_iter_init(&it, vm->heap, slots[GROUP_SOURCE]);
    ok = ptc_dict_build_init(&b, vm->heap, true) && ok;
    for (size_t i = 0; ok && ptc_next(vm, &it, &x); i++) {
        ok = ptc_key_at(vm, key, slots[GROUP_KEYS], i, x, &y);
        if (ok && ptc_dict_build_find(&b, y) < 0)
            ok = ptc_dict_build_put(&b, y, PTC_NIL) && ptc_build_add(vm->heap, built, x);
    }
    ok = ok && ptc_iter_end(&it);
    ptc_dict_build_cancel(&b);
    return ok && ptc_give(out, ptc_build_done(vm->heap, built, PTC_SEQ));
}

PTC_BUILTIN_EXPR(core_distinct_by, "clojure.core", "distinct-by", 2, 2,
                 PTC_B_CALLS | PTC_TAKES2(PTC_IS_KEYED, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST) |
                     PTC_RULE(SORT_BY),
                 "(distinct-by key coll)", "The first element of each key.",
                 "(distinct-by :k [{:k 1 :n 1} {:k 1 :n 2}]) => [{:k 1, :n 1}]\n"
                 "(distinct-by count [\"a\" \"b\" \"cc\"]) => [\"a\" \"cc\"]",
                 by_keys(vm, argv, gather_distinct, out))

static bool gather_index(PtcVM *vm, const PtcKeyFn *key, const PtcValue *slots, PtcValue *out)
{
    PtcDictBuild b;
    PtcIter it;
    PtcValue x, y;
    bool ok = ptc_dict_build_init(&b, vm->heap, false) &&
              ptc_iter_init(&it, vm->heap, slots[GROUP_SOURCE]);
    for (size_t i = 0; ok && ptc_next(vm, &it, &x); i++)
        ok = ptc_key_at(vm, key, slots[GROUP_KEYS], i, x, &y) && ptc_dict_build_put(&b, y, x);
    return end_build(&b, ok && ptc_iter_end(&it), out);
}

PTC_BUILTIN_EXPR(
    core_index_by, "clojure.core", "index-by", 2, 2,
    PTC_B_CALLS | PTC_TAKES2(PTC_IS_KEYED, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_MAP) |
        PTC_RULE(INDEX_BY),
    "(index-by key coll)",
    "A map from each key to the last element that has it, to look up rows by their key.",
    "(index-by :id [{:id 1 :n 5} {:id 2 :n 6}]) => {1 {:id 1, :n 5}, 2 {:id 2, :n 6}}\n"
    "(index-by count [\"a\" \"bb\" \"c\"]) => {1 \"c\", 2 \"bb\"}\n"
    "(index-by 5 [1]) !! type_error",
    by_keys(vm, argv, gather_index, out))

PTC_BUILTIN(
    core_frequencies, "clojure.core", "frequencies", 1, 1,
    PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_MAP) | PTC_RULE(COUNT_BY), "(frequencies coll)",
    "A map from each different element to how often it occurs.",
    "(frequencies [:a :b :a]) => {:a 2, :b 1}\n(frequencies \"aba\") => {\"a\" 2, \"b\" 1}\n"
    "(frequencies nil) => {}")
{
    PtcDictBuild b;
    PtcIter it;
    PtcValue x;
    if (!ptc_arg_all(vm, argv, 0, &it))
        return false;
    bool ok = ptc_dict_build_init(&b, vm->heap, false);
    while (ok && ptc_next(vm, &it, &x)) {
        int64_t entry = ptc_dict_build_find(&b, x);
        if (entry < 0)
            ok = ptc_dict_build_put(&b, x, ptc_int(1));
        else
            *ptc_dict_build_slot(&b, entry) += 2; /* one more, on the tagged word of an integer */
    }
    return end_build(&b, ok && ptc_iter_end(&it), out);
}

PTC_BUILTIN(
    core_distinct, "clojure.core", "distinct", 0, 1,
    PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST | PTC_IS_FN) | PTC_RULE(SOME_OF),
    "(distinct coll)", "The elements without those that came before; without coll, a transducer.",
    "(distinct [3 1 3 2 1]) => [3 1 2]\n(distinct [1 1.0]) => [1 1.0]\n(distinct 5) !! type_error")
{
    PtcDictBuild b;
    PtcIter it;
    if (argc == 0)
        return ptc_xform(vm, argc, argv, out);
    if (ptc_seq_endless(argv[0]))
        return ptc_stage(vm, PTC_STEP_DISTINCT, argc, argv, out);
    if (!ptc_arg_iter(vm, argv, 0, &it))
        return false;
    PtcValue x, built = ptc_build_new(vm->heap);
    bool ok = ptc_dict_build_init(&b, vm->heap, true) && built != PTC_NONE;
    while (ok && ptc_next(vm, &it, &x))
        if (ptc_dict_build_find(&b, x) < 0)
            ok = ptc_dict_build_put(&b, x, PTC_NIL) && ptc_build_add(vm->heap, built, x);
    ok = ok && ptc_iter_end(&it);
    ptc_dict_build_cancel(&b);
    return ok && ptc_give(out, ptc_build_done(vm->heap, built, PTC_SEQ));
}

PTC_BUILTIN(core_distinct_p, "clojure.core", "distinct?", 1, -1, PTC_GIVES(PTC_IS_BOOL),
            "(distinct? x & more)", "True when no two arguments are the same.",
            "(distinct? 1 2 3) => true\n(distinct? 1 2 1) => false")
{
    PtcDictBuild b;
    bool ok = ptc_dict_build_init(&b, vm->heap, true), distinct = true;
    for (int i = 0; ok && distinct && i < argc; i++) {
        distinct = ptc_dict_build_find(&b, argv[i]) < 0;
        ok = ptc_tick(&vm->budget, 1) && ptc_dict_build_put(&b, argv[i], PTC_NIL);
    }
    ptc_dict_build_cancel(&b);
    *out = ptc_bool(distinct);
    return ok;
}

PTC_BUILTIN(core_dedupe, "clojure.core", "dedupe", 0, 1,
            PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST | PTC_IS_FN) | PTC_RULE(SOME_OF),
            "(dedupe coll)",
            "The elements without those that are the same as their left neighbour; without coll, a "
            "transducer.",
            "(dedupe [1 1 2 2 1]) => [1 2 1]\n(dedupe nil) => []")
{
    PtcIter it;
    if (argc == 0)
        return ptc_xform(vm, argc, argv, out);
    if (ptc_seq_endless(argv[0]))
        return ptc_stage(vm, PTC_STEP_DEDUPE, argc, argv, out);
    if (!ptc_arg_iter(vm, argv, 0, &it))
        return false;
    PtcValue x, last = PTC_NONE, b = ptc_build_new(vm->heap);
    if (b == PTC_NONE)
        return false;
    for (; ptc_next(vm, &it, &x); last = x)
        if ((last == PTC_NONE || !ptc_same(vm->heap, last, x)) && !ptc_build_add(vm->heap, b, x))
            return false;
    return ptc_iter_end(&it) && ptc_give(out, ptc_build_done(vm->heap, b, PTC_SEQ));
}

/* ----------------------------------------------------------------------- summing */

/* A sum in the making.  The total is in a root slot, with what is added to it beside. */
typedef struct Sum {
    PtcValue *total, *x;
    size_t n; /* numbers added, and elements seen */
    size_t seen;
} Sum;

static bool sum_begin(PtcVM *vm, Sum *sum)
{
    PtcValue *slots = ptc_roots(vm, 2);
    if (!slots)
        return false;
    *sum = (Sum){.total = &slots[0], .x = &slots[1]};
    slots[0] = ptc_int(0);
    return true;
}

bool ptc_fail_no_number(PtcVM *vm, size_t number, PtcValue x)
{
    ptc_fail_here(vm, PTC_E_ARITH, "the value of element %zu is %s, expected a number or nil",
                  number, ptc_type_name(x));
    return ptc_fail_hint(vm,
                         "leave out or convert what is not a number first, say with parse-double");
}

/* Adds x, unless it is nil. */
static bool sum_add(PtcVM *vm, Sum *sum, PtcValue x)
{
    int64_t quick;
    sum->seen++;
    if (x == PTC_NIL)
        return true;
    sum->n++;
    if (ptc_is_int(*sum->total) && ptc_is_int(x) &&
        !__builtin_add_overflow((int64_t)*sum->total, (int64_t)(x - 1), &quick)) {
        *sum->total = (PtcValue)quick;
        return true;
    }
    if (!ptc_is_number(x) && !ptc_is_decimal(x))
        return ptc_fail_no_number(vm, sum->seen, x);
    *sum->x = x;
    PtcValue total = ptc_num_add(vm, *sum->total, x);
    if (total == PTC_NONE && ptc_recover(vm))
        total = ptc_num_add(vm, *sum->total, *sum->x);
    if (total != PTC_NONE)
        *sum->total = total;
    return total != PTC_NONE;
}

/* Sums the elements of argument i, or their keys. */
static bool sum_all(PtcVM *vm, const PtcKeyFn *key, const PtcValue *argv, int i, Sum *sum)
{
    PtcIter it;
    PtcValue x;
    if (!ptc_arg_all(vm, argv, i, &it) || !sum_begin(vm, sum))
        return false;
    while (ptc_each(vm, &it, &x))
        if ((key && !key_of(vm, key, x, &x)) || !sum_add(vm, sum, x))
            return false;
    return ptc_iter_end(&it);
}

static bool give_average(PtcVM *vm, const Sum *sum, PtcValue *out)
{
    if (sum->n == 0)
        return ptc_give(out, PTC_NIL);
    double total = ptc_is_decimal(*sum->total) ? ptc_decimal_to_double(vm->heap, *sum->total)
                                               : ptc_num_double(*sum->total);
    double mean = total / (double)sum->n;
    if (vm->budget.stop != PTC_STOP_NONE)
        return false;
    return ptc_give(out, PTC_RETRY(vm, ptc_float_new(vm->heap, mean)));
}

PTC_BUILTIN(core_sum, "clojure.core", "sum", 1, 1,
            PTC_B_CALLS | PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_NUMBER), "(sum coll)",
            "The sum of the numbers in a collection; nil elements are skipped.",
            "(sum [1 2.5 nil]) => 3.5\n(sum []) => 0\n(sum [1 \"2\"]) !! arithmetic_error")
{
    Sum sum;
    return sum_all(vm, NULL, argv, 0, &sum) && ptc_give(out, *sum.total);
}

PTC_BUILTIN(core_avg, "clojure.core", "avg", 1, 1,
            PTC_B_CALLS | PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_NIL | PTC_IS_FLOAT),
            "(avg coll)",
            "The mean of the numbers in a collection, as a float; nil elements are skipped, and "
            "the mean of none "
            "is nil.",
            "(avg [2 4 9]) => 5.0\n(avg [nil]) => nil\n(avg [\"3\"]) !! arithmetic_error")
{
    Sum sum;
    return sum_all(vm, NULL, argv, 0, &sum) && give_average(vm, &sum, out);
}

PTC_BUILTIN(core_sum_by, "clojure.core", "sum-by", 2, 2,
            PTC_B_CALLS | PTC_TAKES2(PTC_IS_KEYED, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_NUMBER) |
                PTC_RULE(NUMBER_BY),
            "(sum-by key coll)", "The sum of a field or function of each element; nil is skipped.",
            "(sum-by :n [{:n 5} {} {:n 7.5}]) => 12.5\n(sum-by count [\"a\" \"bcd\"]) => 4\n"
            "(sum-by :n [{:n \"1\"}]) !! arithmetic_error")
{
    PtcKeyFn key;
    Sum sum;
    return ptc_arg_keyfn(vm, argv, 0, &key) && sum_all(vm, &key, argv, 1, &sum) &&
           ptc_give(out, *sum.total) && ptc_key_check(vm, argv[0], argv[1], false);
}

PTC_BUILTIN(
    core_avg_by, "clojure.core", "avg-by", 2, 2,
    PTC_B_CALLS | PTC_TAKES2(PTC_IS_KEYED, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_NIL | PTC_IS_FLOAT) |
        PTC_RULE(NUMBER_BY),
    "(avg-by key coll)",
    "The mean of a field or function of each element, as a float; nil is skipped, and the mean of "
    "none is nil.",
    "(avg-by :n [{:n 1} {:n 2} {}]) => 1.5\n(avg-by :n []) => nil")
{
    PtcKeyFn key;
    Sum sum;
    return ptc_arg_keyfn(vm, argv, 0, &key) && sum_all(vm, &key, argv, 1, &sum) &&
           give_average(vm, &sum, out) && ptc_key_check(vm, argv[0], argv[1], false);
}

PTC_BUILTIN_ROW(core_mean, run_core_avg, "clojure.core", "mean", 1, 1,
                PTC_B_CALLS | PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_NIL | PTC_IS_FLOAT),
                "(mean coll)",
                "The same as avg: the mean, or average, of numbers as a float; nil elements are "
                "skipped, and the mean of none is nil.",
                "(mean [1 2 nil 6]) => 3.0\n(mean [0.5M 1M]) => 0.75\n(mean []) => nil\n"
                "(mean [\"3\"]) !! arithmetic_error\n(mean 5) !! type_error");
PTC_BUILTIN_ROW(core_mean_by, run_core_avg_by, "clojure.core", "mean-by", 2, 2,
                PTC_B_CALLS | PTC_TAKES2(PTC_IS_KEYED, PTC_IS_SEQABLE) |
                    PTC_GIVES(PTC_IS_NIL | PTC_IS_FLOAT) | PTC_RULE(NUMBER_BY),
                "(mean-by key coll)",
                "The same as avg-by: the mean of a field or function of each element.",
                "(mean-by :n [{:n 1} {:n 2} {}]) => 1.5\n(mean-by 5 [1]) !! type_error");

/* ---------------------------------------------------------------------- choosing */

enum { BEST, BEST_KEY, CANDIDATE, CHOICE_SLOTS };

typedef struct Choice {
    PtcValue *slots;
    int sign;   /* 1: the greatest key wins, -1: the least */
    bool later; /* of equal keys the later one wins */
} Choice;

static bool choice_begin(PtcVM *vm, Choice *c, bool greatest, bool later)
{
    c->slots = ptc_roots(vm, CHOICE_SLOTS);
    c->sign = greatest ? 1 : -1;
    c->later = later;
    return c->slots != NULL;
}

static bool is_nan(PtcValue v)
{
    return ptc_is_float(v) && isnan(ptc_to_float(v));
}

/* Looks at one more element; those whose key is nil do not compete. */
static bool consider(PtcVM *vm, Choice *c, const PtcKeyFn *key, PtcValue x)
{
    PtcValue y;
    c->slots[CANDIDATE] = x;
    if (!key_of(vm, key, x, &y))
        return false;
    if (y == PTC_NIL)
        return true;
    bool ok = true;
    int order = c->sign;
    if (c->slots[BEST_KEY] != PTC_NIL)
        order = ptc_compare(vm->heap, y, c->slots[BEST_KEY], &ok);
    if (is_nan(y) && c->slots[BEST_KEY] != PTC_NIL)
        return true; /* nothing is less or greater than NaN: what stands stays */
    if (!ok) {
        ptc_fail_here(vm, PTC_E_TYPE, "the keys %s and %s have no order",
                      ptc_type_name(c->slots[BEST_KEY]), ptc_type_name(y));
        return ptc_fail_hint(
            vm, "choose by one kind of key: numbers, strings, keywords, dates or vectors");
    }
    if (order * c->sign > 0 || (order == 0 && c->later)) {
        c->slots[BEST] = c->slots[CANDIDATE];
        c->slots[BEST_KEY] = y;
    }
    return vm->budget.stop == PTC_STOP_NONE;
}

/* Among the elements of argument 1 when it is the last, else among the arguments from there on. */
static bool choose_by(PtcVM *vm, int argc, const PtcValue *argv, bool greatest, PtcValue *out)
{
    PtcKeyFn key;
    Choice c;
    PtcIter it;
    PtcValue x;
    if (!ptc_arg_keyfn(vm, argv, 0, &key) || !choice_begin(vm, &c, greatest, false))
        return false;
    if (argc > 2) {
        for (int i = 1; i < argc; i++)
            if (!ptc_tick(&vm->budget, 1) || !consider(vm, &c, &key, argv[i]))
                return false;
        return ptc_give(out, c.slots[BEST]);
    }
    if (!ptc_arg_all(vm, argv, 1, &it))
        return false;
    while (ptc_each(vm, &it, &x))
        if (!consider(vm, &c, &key, x))
            return false;
    return ptc_iter_end(&it) && ptc_give(out, c.slots[BEST]) &&
           ptc_key_check(vm, argv[0], argv[1], false);
}

PTC_BUILTIN_EXPR(
    core_max_by, "clojure.core", "max-by", 2, -1,
    PTC_B_CALLS | PTC_TAKES(PTC_IS_KEYED) | PTC_RULE(PICK_BY), "(max-by key coll)",
    "The first element with the greatest key; those with a nil key do not count.",
    "(max-by :p [{:p 3} {:p 9} {}]) => {:p 9}\n(max-by count [\"a\" \"bb\" \"cc\"]) => \"bb\"\n"
    "(max-by :p []) => nil",
    choose_by(vm, argc, argv, true, out))

PTC_BUILTIN_EXPR(
    core_min_by, "clojure.core", "min-by", 2, -1,
    PTC_B_CALLS | PTC_TAKES(PTC_IS_KEYED) | PTC_RULE(PICK_BY), "(min-by key coll)",
    "The first element with the least key; those with a nil key do not count.",
    "(min-by :p [{:p 3} {} {:p 2}]) => {:p 2}\n(min-by :p [{:p \"b\"} {:p 1}]) !! type_error",
    choose_by(vm, argc, argv, false, out))

static bool choose_key(PtcVM *vm, int argc, const PtcValue *argv, bool greatest, PtcValue *out)
{
    PtcKeyFn key;
    Choice c;
    if (argc == 2)
        return ptc_arg_callable(vm, argv, 0) && ptc_give(out, argv[1]);
    if (!ptc_arg_keyfn(vm, argv, 0, &key) || !choice_begin(vm, &c, greatest, true))
        return false;
    for (int i = 1; i < argc; i++)
        if (!ptc_tick(&vm->budget, 1) || !consider(vm, &c, &key, argv[i]))
            return false;
    return ptc_give(out, c.slots[BEST]);
}

PTC_BUILTIN_EXPR(
    core_max_key, "clojure.core", "max-key", 2, -1, PTC_B_CALLS | PTC_TAKES(PTC_IS_KEYED),
    "(max-key f x & more)",
    "The argument after f with the greatest (f x), the last of those that are equal.",
    "(max-key count \"a\" \"abc\" \"ab\") => \"abc\"\n(apply max-key val {:a 4 :b 2}) => [:a 4]",
    choose_key(vm, argc, argv, true, out))

PTC_BUILTIN_EXPR(core_min_key, "clojure.core", "min-key", 2, -1,
                 PTC_B_CALLS | PTC_TAKES(PTC_IS_KEYED), "(min-key f x & more)",
                 "The argument after f with the least (f x), the last of those that are equal.",
                 "(min-key abs -4 3 -2) => -2\n(min-key count \"ab\" \"c\") => \"c\"",
                 choose_key(vm, argc, argv, false, out))

PTC_BUILTIN_TABLE(ptc_lib_group, core_group_by, core_index_by, core_mean, core_mean_by,
                  core_distinct_by, core_frequencies, core_distinct, core_distinct_p, core_dedupe,
                  core_sum, core_avg, core_sum_by, core_avg_by, core_max_by, core_min_by,
                  core_max_key, core_min_key);
