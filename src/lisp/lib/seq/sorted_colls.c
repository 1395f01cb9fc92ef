/* SPDX-License-Identifier: MIT
 * Maps and sets in the order of their keys.  < > and compare are recognised and not called; any other comparator is
 * called whenever a key is added, with collection put off meanwhile, because adding roots nothing. */
#include "lisp/lib/seq/sorted_colls.h"
#include "lisp/lazy/seq_int.h"
#include "lisp/number/num.h"

/* Free memory that must be there before a comparator is called: short of it, the operation is run again after a
 * collection, which is not possible inside. */
enum { HEADROOM = 64 * PTC_KB };

_Static_assert(offsetof(PtcVM, budget) == 0, "the budget of a run's heap is the start of its VM");

/* ------------------------------------------------------------------------- comparing */

/* What (f a b) says as -1, 0 or 1; a boolean means before or not. */
static int ask_sorted_order(PtcVM *vm, PtcValue f, PtcValue a, PtcValue b, bool *ok)
{
    PtcValue y = PTC_NIL;
    if (!(*ok = ptc_call2(vm, f, a, b, &y)))
        return 0;
    if (y == PTC_TRUE)
        return -1;
    if (y == PTC_FALSE) {
        *ok = ptc_call2(vm, f, b, a, &y);
        return *ok && ptc_truthy(y);
    }
    if (ptc_is_number(y)) {
        double d = ptc_num_double(y);
        return (d > 0) - (d < 0);
    }
    *ok = ptc_fail_value_type(vm, y, "the comparator's answer", "a boolean or a number");
    return 0;
}

/* The PtcOrderFn of every run. */
static int compare_by_function(PtcHeap *heap, PtcValue by, PtcValue a, PtcValue b, bool *ok)
{
    PtcVM *vm = (PtcVM *)(void *)heap->budget;
    if (by == PTC_NIL || by == PTC_TRUE) {
        *ok = ptc_fail_here(vm, PTC_E_TYPE, "%s and %s have no order", ptc_type_name(a),
                            ptc_type_name(b));
        ptc_fail_hint(vm, "keys of a sorted collection are of one kind: numbers, strings, "
                          "keywords, dates or vectors "
                          "of these");
        return 0;
    }
    if (!(*ok = ptc_heap_fits(heap, HEADROOM)))
        return 0;
    bool held = vm->held, rooted = vm->rooted;
    vm->held = held || !rooted;
    vm->rooted = false;
    int c = ask_sorted_order(vm, by, a, b, ok);
    vm->held = held;
    vm->rooted = rooted;
    return c;
}

PtcValue ptc_sorted_done(PtcVM *vm, PtcDictBuild *b, PtcValue by)
{
    bool calls = (ptc_builtin_row(vm->running)->flags & PTC_B_CALLS) != 0, ok = true;
    if (calls) {
        PtcValue *slots = ptc_roots(vm, 2);
        ok = slots != NULL;
        if (ok) {
            slots[0] = b->entries;
            slots[1] = by;
        }
    }
    vm->rooted = calls;
    ok = ok && ptc_dict_build_sort(b, by);
    vm->rooted = false;
    if (ok)
        return ptc_dict_build_done_sorted(b, by);
    ptc_dict_build_cancel(b);
    return PTC_NONE;
}

void ptc_sorted_ready(void)
{
    ptc_sorted_use(compare_by_function);
}

/* What orders the keys, from argument i. */
static bool arg_by(PtcVM *vm, const PtcValue *argv, int i, PtcValue *by)
{
    PtcValue f = argv[i];
    *by = f;
    if (ptc_is_builtin(f)) {
        const char *name = ptc_builtin_row(ptc_builtin_index(f))->name;
        if (strcmp(name, "<") == 0 || strcmp(name, "compare") == 0)
            *by = PTC_NIL;
        else if (strcmp(name, ">") == 0)
            *by = PTC_TRUE;
        return true;
    }
    if (ptc_is_keyword(f) || ptc_is_map(f) || ptc_is_set(f) || ptc_is_sequential(f))
        return ptc_fail_type(vm, argv, i, "a comparator such as <, > or compare");
    return ptc_arg_callable(vm, argv, i);
}

/* -------------------------------------------------------------------------- making */

/* A map (step 2) or set (step 1) of the arguments. */
static bool make_sorted_coll(PtcVM *vm, PtcValue by, int argc, const PtcValue *argv, int step,
                             PtcValue *out)
{
    PtcDictBuild b;
    if (!ptc_dict_build_init(&b, vm->heap, step == 1))
        return false;
    for (int i = 0; i < argc; i += step) {
        if (ptc_dict_build_put(&b, argv[i], argv[i + step - 1]) && ptc_tick(&vm->budget, 1))
            continue;
        ptc_dict_build_cancel(&b);
        return false;
    }
    return ptc_give(out, ptc_sorted_done(vm, &b, by));
}

static bool make_sorted_map(PtcVM *vm, PtcValue by, int argc, const PtcValue *argv, PtcValue *out)
{
    if (argc % 2 != 0)
        return ptc_fail_here(vm, PTC_E_ARITY | PTC_AS(ILLEGAL_ARGUMENT),
                             "the last key has no value");
    return make_sorted_coll(vm, by, argc, argv, 2, out);
}

PTC_BUILTIN_EXPR(
    core_sorted_map, "clojure.core", "sorted-map", 0, -1,
    PTC_GIVES(PTC_IS_MAP) | PTC_RULE(HASH_MAP), "(sorted-map key value ...)",
    "A map of these keys and values that stays in the order of its keys.",
    "(sorted-map :b 2 :a 1) => {:a 1, :b 2}\n(assoc (sorted-map 5 :x 9 :y) 7 :z) => {5 :x, "
    "7 :z, 9 :y}\n"
    "(sorted-map 1 :a \"b\" 2) !! type_error\n(sorted-map 1) !! arity_error",
    make_sorted_map(vm, PTC_NIL, argc, argv, out))

PTC_BUILTIN(core_sorted_map_by, "clojure.core", "sorted-map-by", 1, -1,
            PTC_B_CALLS | PTC_TAKES(PTC_IS_FN | PTC_IS_OTHER) | PTC_GIVES(PTC_IS_MAP),
            "(sorted-map-by comparator key value ...)",
            "A map that stays in the order a comparator gives its keys: > for descending, or any "
            "function such as "
            "compare is.",
            "(sorted-map-by > 1 :a 3 :c) => {3 :c, 1 :a}\n"
            "(sorted-map-by (fn [a b] (compare (count a) (count b))) \"xx\" 1 \"y\" 2) => {\"y\" "
            "2, \"xx\" 1}\n"
            "(sorted-map-by :k 1 2) !! type_error")
{
    PtcValue by;
    return arg_by(vm, argv, 0, &by) &&
           (PTC_RETRY(vm, make_sorted_map(vm, by, argc - 1, argv + 1, out)));
}

PTC_BUILTIN_EXPR(core_sorted_set, "clojure.core", "sorted-set", 0, -1, PTC_GIVES(PTC_IS_SET),
                 "(sorted-set & elements)",
                 "The set of the distinct arguments, which stays in order.",
                 "(sorted-set 3 1 2 1) => #{1 2 3}\n(first (conj (sorted-set 5 8) 2)) => 2\n"
                 "(sorted-set 1 :a) !! type_error",
                 make_sorted_coll(vm, PTC_NIL, argc, argv, 1, out))

PTC_BUILTIN(
    core_sorted_set_by, "clojure.core", "sorted-set-by", 1, -1,
    PTC_B_CALLS | PTC_TAKES(PTC_IS_FN | PTC_IS_OTHER) | PTC_GIVES(PTC_IS_SET),
    "(sorted-set-by comparator & elements)",
    "A set that stays in the order a comparator gives; elements it calls equal are one element.",
    "(sorted-set-by > 1 3 2) => #{3 2 1}\n"
    "(sorted-set-by (fn [a b] (compare (count a) (count b))) \"bb\" \"a\" \"cc\") => #{\"a\" "
    "\"bb\"}\n"
    "(sorted-set-by 5 1 2) !! type_error")
{
    PtcValue by;
    return arg_by(vm, argv, 0, &by) &&
           (PTC_RETRY(vm, make_sorted_coll(vm, by, argc - 1, argv + 1, 1, out)));
}

/* --------------------------------------------------------------------------- parts */

/* Element of rank i as seq gives it. */
static PtcValue sorted_element(PtcVM *vm, PtcValue v, size_t i)
{
    PtcValue key = PTC_NIL, value = PTC_NIL;
    ptc_map_next(v, &i, &key, ptc_is_map(v) ? &value : NULL);
    return ptc_is_map(v) ? ptc_vec_pair(vm->heap, key, value) : key;
}

/* The elements of rank from ... to - 1, or back; nil when there are none. */
static bool give_ranks_between(PtcVM *vm, PtcValue v, size_t from, size_t to, bool back,
                               PtcValue *out)
{
    if (from >= to)
        return ptc_give(out, PTC_NIL);
    PtcValue b = ptc_build_new(vm->heap);
    for (size_t k = 0; b != PTC_NONE && k < to - from; k++) {
        PtcValue x = sorted_element(vm, v, back ? to - 1 - k : from + k);
        if (x == PTC_NONE || !ptc_build_add(vm->heap, b, x) || !ptc_tick(&vm->budget, 1))
            return false;
    }
    return b != PTC_NONE && ptc_give(out, ptc_build_done(vm->heap, b, PTC_SEQ));
}

/* Narrows the ranks to those whose keys pass the test at argv[i] with the key at argv[i + 1]. */
static bool narrow_ranks(PtcVM *vm, const PtcValue *argv, int i, size_t *from, size_t *to)
{
    const char *name =
        ptc_is_builtin(argv[i]) ? ptc_builtin_row(ptc_builtin_index(argv[i]))->name : "";
    bool less = strcmp(name, "<") == 0, up_to = strcmp(name, "<=") == 0;
    bool more = strcmp(name, ">") == 0, from_on = strcmp(name, ">=") == 0;
    size_t rank;
    if (!less && !up_to && !more && !from_on)
        return ptc_fail_type(vm, argv, i, "one of < <= > >=");
    if (!ptc_sorted_rank(vm->heap, argv[0], argv[i + 1], up_to || more, &rank))
        return false;
    if ((less || up_to) && rank < *to)
        *to = rank;
    if ((more || from_on) && rank > *from)
        *from = rank;
    return true;
}

static bool give_subseq(PtcVM *vm, int argc, const PtcValue *argv, bool back, PtcValue *out)
{
    if (!ptc_is_sorted(argv[0]))
        return ptc_fail_type(vm, argv, 0,
                             "a sorted map or sorted set; make one with (into (sorted-map) coll)");
    if (argc == 4)
        return ptc_fail_here(vm, PTC_E_ARITY, "the second test has no key");
    size_t from = 0, n = ptc_map_count(argv[0]), to = n;
    if (!narrow_ranks(vm, argv, 1, &from, &to) ||
        (argc == 5 && !narrow_ranks(vm, argv, 3, &from, &to)))
        return false;
    /* As in Clojure: what is walked from its beginning up to a key is a sequence, which may be empty. */
    bool begins = ptc_builtin_row(ptc_builtin_index(argv[1]))->name[0] == (back ? '>' : '<');
    if (from >= to && (argc == 5 ? from < n && to > 0 : begins))
        return ptc_give(out, ptc_vec_new(vm->heap, NULL, 0, PTC_SEQ));
    return give_ranks_between(vm, argv[0], from, to, back, out);
}

PTC_BUILTIN_EXPR(
    core_subseq, "clojure.core", "subseq", 3, 5, 0, "(subseq sorted test key test2? key2?)",
    "The elements of a sorted collection whose keys pass the tests, in order; nil when "
    "there are none.",
    "(subseq (sorted-set 1 3 5 7) > 3) => [5 7]\n(subseq (sorted-map 1 :a 2 :b 3 :c) >= 2 "
    "< 3) => [[2 :b]]\n"
    "(subseq (sorted-set 1) > 9) => nil\n(subseq #{1 2} > 1) !! type_error",
    give_subseq(vm, argc, argv, false, out))

PTC_BUILTIN_EXPR(
    core_rsubseq, "clojure.core", "rsubseq", 3, 5, 0, "(rsubseq sorted test key test2? key2?)",
    "The same as subseq, from the greatest key to the least.",
    "(rsubseq (sorted-set 1 3 5 7) < 7) => [5 3 1]\n"
    "(first (rsubseq (sorted-map 1 :a 10 :b) <= 9)) => [1 :a]\n(rsubseq [1 2] < 2) !! type_error",
    give_subseq(vm, argc, argv, true, out))

PTC_BUILTIN(
    core_rseq, "clojure.core", "rseq", 1, 1,
    PTC_TAKES(PTC_IS_LIST | PTC_IS_SET | PTC_IS_MAP) | PTC_GIVES(PTC_IS_NIL | PTC_IS_LIST),
    "(rseq coll)",
    "The elements of a vector, sorted map or sorted set from last to first; nil when it is empty.",
    "(rseq [1 2 3]) => [3 2 1]\n(rseq (sorted-set 5 9 7)) => [9 7 5]\n(rseq []) => nil\n"
    "(rseq (list 1 2)) !! type_error")
{
    PtcValue v = argv[0];
    if (ptc_is_sorted(v))
        return give_ranks_between(vm, v, 0, ptc_map_count(v), true, out);
    if (!ptc_is_sequential(v) || ptc_is_seq_flagged(v) || ptc_seq_endless(v))
        return ptc_fail_type(vm, argv, 0,
                             "a vector, sorted map or sorted set; reverse takes any collection");
    size_t n = ptc_seq_count(v);
    if (n == 0)
        return ptc_give(out, PTC_NIL);
    PtcValue b = ptc_build_new(vm->heap);
    while (b != PTC_NONE && n-- > 0)
        if (!ptc_build_add(vm->heap, b, ptc_seq_nth(v, n)) || !ptc_tick(&vm->budget, 1))
            return false;
    return b != PTC_NONE && ptc_give(out, ptc_build_done(vm->heap, b, PTC_SEQ));
}

PTC_BUILTIN_TABLE(ptc_lib_sorted_colls, core_sorted_map, core_sorted_map_by, core_sorted_set,
                  core_sorted_set_by, core_subseq, core_rsubseq, core_rseq);
