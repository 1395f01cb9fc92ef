/* SPDX-License-Identifier: MIT
 * Sequences: looking at them and taking parts of them.  Whatever has elements works: vectors, seqs,
 * sets, maps (as [key value] entries), strings (as graphemes), nil (no elements).  Parts of vectors and
 * ranges share with the whole. */
#include "lisp/compile/live.h"
#include "lisp/lazy/force.h"
#include "lisp/lazy/produce.h"

/* From so many elements on, what is lazy is let go of while it is walked. */
enum { FAR = 32 };

static bool is_empty_collection(PtcValue v)
{
    return v == PTC_NIL || ptc_obj(v)->count == 0;
}

static bool is_walkable_coll(PtcValue v)
{
    return ptc_is_sequential(v) || ptc_is_seqable(v) || ptc_is_producer(v);
}

/* ---------------------------------------------------------------------- elements */

/* Element n of anything that can be walked; *out is PTC_NONE when there is none. */
static bool find_nth_element(PtcVM *vm, PtcValue coll, size_t n, PtcValue *out)
{
    PtcIter it;
    *out = PTC_NONE;
    if (PTC_LIKELY(ptc_is_sequential(coll))) {
        if (n >= ptc_seq_count(coll))
            return true;
        PtcValue seq = ptc_seq_skip(vm, coll, &n);
        if (seq != PTC_NONE)
            *out = ptc_seq_nth(seq, n);
        return seq != PTC_NONE;
    }
    if (ptc_is_producer(coll))
        return ptc_produced_nth(vm, coll, n, out);
    if (coll == PTC_NIL || n >= ptc_obj(coll)->count)
        return true;
    if (ptc_is_string(coll) && ptc_str_simple(coll))
        return ptc_give(out, ptc_str_new(vm->heap, ptc_str_bytes(coll) + n, 1));
    if (!ptc_iter_init(&it, vm->heap, coll))
        return false;
    for (PtcValue x; ptc_next(vm, &it, &x);) {
        if (n-- == 0)
            return ptc_give(out, x);
    }
    return ptc_iter_end(&it);
}

/* Element n of argument 0, or nil. */
static bool element_or_nil(PtcVM *vm, const PtcValue *argv, size_t n, PtcValue *out)
{
    if (!is_walkable_coll(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a collection, string or nil");
    PtcValue x;
    if (!find_nth_element(vm, argv[0], n, &x))
        return false;
    *out = x == PTC_NONE ? PTC_NIL : x;
    return true;
}

PTC_BUILTIN_EXPR(core_first, "clojure.core", "first", 1, 1,
                 PTC_TAKES(PTC_IS_SEQABLE) | PTC_RULE(FIRST), "(first coll)",
                 "The first element, or nil when there is none.",
                 "(first [9 8]) => 9\n(first \"abc\") => \"a\"\n(first []) => nil\n"
                 "(first 5) !! type_error",
                 element_or_nil(vm, argv, 0, out))

PTC_BUILTIN_EXPR(core_second, "clojure.core", "second", 1, 1,
                 PTC_TAKES(PTC_IS_SEQABLE) | PTC_RULE(SECOND), "(second coll)",
                 "The second element, or nil when there is none.",
                 "(second [9 8]) => 8\n(second [9]) => nil", element_or_nil(vm, argv, 1, out))

PTC_BUILTIN_EXPR(core_fnext, "clojure.core", "fnext", 1, 1,
                 PTC_TAKES(PTC_IS_SEQABLE) | PTC_RULE(SECOND), "(fnext coll)",
                 "The first of the rest, which is the second element, or nil.",
                 "(fnext [6 4 8]) => 4\n(fnext nil) => nil", element_or_nil(vm, argv, 1, out))

/* The last element of a map, set or string, which can only be walked. */
static bool walk_to_last(PtcVM *vm, PtcValue coll, PtcValue *out)
{
    PtcValue x = PTC_NIL, value = PTC_NIL;
    if (!ptc_is_string(coll)) {
        for (size_t pos = 0; ptc_map_next(coll, &pos, &x, &value);)
            if (!ptc_tick(&vm->budget, 1))
                return false;
        return ptc_give(out, ptc_is_map(coll) ? ptc_vec_pair(vm->heap, x, value) : x);
    }
    PtcIter it;
    *out = PTC_NIL;
    if (!ptc_iter_init(&it, vm->heap, coll))
        return false;
    while (ptc_next(vm, &it, &x))
        *out = x;
    return ptc_iter_end(&it);
}

/* The last element of something finite that is argument i or follows it. */
static bool last_of(PtcVM *vm, const PtcValue *coll, PtcValue *out)
{
    if (!ptc_is_seqable(*coll) || is_empty_collection(*coll) || ptc_is_sequential(*coll))
        return element_or_nil(
            vm, coll,
            ptc_is_sequential(*coll) && !is_empty_collection(*coll) ? ptc_seq_count(*coll) - 1 : 0,
            out);
    return walk_to_last(vm, *coll, out);
}

static size_t count_elements(PtcVM *vm, PtcValue coll)
{
    return coll == PTC_NIL       ? 0
           : ptc_is_string(coll) ? ptc_str_graphemes(&vm->budget, coll)
                                 : ptc_obj(coll)->count;
}

/* Walks all of argument 0, which is lazy, or n elements of it, without keeping them: how many there are, at most n, and
 * the last of these. */
static bool walk_lazy(PtcVM *vm, const PtcValue *argv, size_t n, size_t *count, PtcValue *last)
{
    PtcValue *slots = ptc_roots(vm, 2);
    int got = 1;
    *count = 0;
    if (!slots)
        return false;
    slots[0] = argv[0];
    if (n > FAR)
        ptc_live_release(vm, argv, 0);
    while (*count < n && (got = ptc_force_next(vm, &slots[0], &slots[1])) == 1)
        if (++*count, !ptc_tick(&vm->budget, 1))
            return false;
    if (got < 0)
        return ptc_produced_fail(vm);
    *last = slots[1];
    if (got != 2)
        return true;
    size_t more = ptc_is_recipe(slots[0]) ? SIZE_MAX : count_elements(vm, slots[0]);
    if (more == SIZE_MAX && n == SIZE_MAX)
        return ptc_fail_endless(vm, 0) || ptc_produced_fail(vm);
    *count = more < n - *count ? *count + more : n;
    return more == 0 || more == SIZE_MAX || last_of(vm, &slots[0], last) || ptc_produced_fail(vm);
}

PTC_BUILTIN(core_last, "clojure.core", "last", 1, 1, PTC_TAKES(PTC_IS_SEQABLE) | PTC_RULE(LAST),
            "(last coll)", "The last element, or nil when there is none.",
            "(last [4 5 6]) => 6\n(last {:a 1 :b 2}) => [:b 2]\n(last nil) => nil")
{
    size_t count;
    if (ptc_is_lazy(argv[0]) && !ptc_lazy_is_endless(argv[0]))
        return walk_lazy(vm, argv, SIZE_MAX, &count, out);
    return ptc_seq_endless(argv[0]) ? ptc_fail_endless(vm, 0) : last_of(vm, argv, out);
}

PTC_BUILTIN(core_nth, "clojure.core", "nth", 2, 3,
            PTC_TAKES2(PTC_IS_NIL | PTC_IS_STRING | PTC_IS_LIST, PTC_IS_NUMBER) | PTC_RULE(NTH),
            "(nth coll index default?)",
            "The element at an index from 0; the default, or nil, when the index is out of range.",
            "(nth [5 6 7] 2) => 7\n(nth \"abc\" 1) => \"b\"\n(nth [5] 3) => nil\n"
            "(nth [5] 3 :none) => :none\n(nth [1] :a) !! type_error")
{
    PtcValue coll = argv[0], x = PTC_NONE;
    double d;
    if (coll != PTC_NIL && !ptc_is_sequential(coll) && !ptc_is_string(coll) &&
        !ptc_is_producer(coll))
        return ptc_fail_type(vm, argv, 0, "a vector, sequence, string or nil");
    if (!ptc_arg_double(vm, argv, 1, &d))
        return false;
    if (d > FAR)
        ptc_live_release(vm, argv, 0);
    if (d > -1 && d < (double)PTC_ENDLESS &&
        !find_nth_element(vm, coll, (size_t)(d < 0 ? 0 : d), &x))
        return false;
    *out = x != PTC_NONE ? x : argc == 3 ? argv[2] : PTC_NIL;
    return true;
}

/* Do peek and pop take from the front? */
static bool at_front(PtcValue seq)
{
    return ptc_is_seq_flagged(seq) || ptc_is_queue(seq);
}

PTC_BUILTIN(core_peek, "clojure.core", "peek", 1, 1, PTC_TAKES(PTC_IS_NIL | PTC_IS_LIST),
            "(peek coll)",
            "The last element of a vector, the first of a list or sequence; nil when it is empty.",
            "(peek [1 2]) => 2\n(peek (list 7 3)) => 7\n(peek []) => nil")
{
    PtcValue coll = argv[0];
    if (coll != PTC_NIL && !ptc_is_sequential(coll))
        return ptc_fail_type(vm, argv, 0, "a vector, list or nil");
    if (is_empty_collection(coll)) {
        *out = PTC_NIL;
        return true;
    }
    *out = ptc_seq_nth(coll, at_front(coll) ? 0 : ptc_seq_count(coll) - 1);
    return true;
}

/* ------------------------------------------------------------------------- parts */

/* Argument i as something to drop from. */
static PtcValue arg_rest(PtcVM *vm, const PtcValue *argv, int i)
{
    return ptc_is_producer(argv[i]) ? argv[i] : ptc_arg_seq(vm, argv, i);
}

/* All of argument 0 but the first n as a seq; nil instead of an empty one when `or_nil`. */
static bool drop_first_elements(PtcVM *vm, PtcValue seq, size_t n, bool or_nil, PtcValue *out)
{
    if (seq == PTC_NONE)
        return false;
    if (PTC_UNLIKELY(ptc_is_producer(seq)))
        return ptc_produced_next(vm, seq, n, or_nil, out);
    if (or_nil && n >= ptc_seq_count(seq)) {
        *out = PTC_NIL;
        return true;
    }
    return ptc_give(out, ptc_seq_drop(vm, seq, n));
}

PTC_BUILTIN_EXPR(core_rest, "clojure.core", "rest", 1, 1,
                 PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST) | PTC_RULE(SOME_OF),
                 "(rest coll)",
                 "All but the first element; an empty sequence when there are no more.",
                 "(rest [1 2 3]) => [2 3]\n(rest \"abc\") => [\"b\" \"c\"]\n(rest nil) => []",
                 drop_first_elements(vm, arg_rest(vm, argv, 0), 1, false, out))

PTC_BUILTIN_EXPR(core_next, "clojure.core", "next", 1, 1,
                 PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_NIL | PTC_IS_LIST) |
                     PTC_RULE(SOME_OF),
                 "(next coll)", "All but the first element; nil when there are no more.",
                 "(next [1 2 3]) => [2 3]\n(next [1]) => nil",
                 drop_first_elements(vm, arg_rest(vm, argv, 0), 1, true, out))

PTC_BUILTIN_EXPR(core_nnext, "clojure.core", "nnext", 1, 1,
                 PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_NIL | PTC_IS_LIST), "(nnext coll)",
                 "All but the first two elements; nil when there are no more.",
                 "(nnext [9 8 7 6]) => [7 6]\n(nnext [1 2]) => nil",
                 drop_first_elements(vm, arg_rest(vm, argv, 0), 2, true, out))

PTC_BUILTIN(core_ffirst, "clojure.core", "ffirst", 1, 1, PTC_TAKES(PTC_IS_SEQABLE), "(ffirst coll)",
            "The first element of the first element, or nil.",
            "(ffirst [[3 4] [5]]) => 3\n(ffirst [[]]) => nil\n(ffirst [5]) !! type_error")
{
    PtcValue x;
    if (!element_or_nil(vm, argv, 0, &x))
        return false;
    if (!is_walkable_coll(x))
        return ptc_fail_value_type(vm, x, "the first element", "a collection, string or nil");
    return element_or_nil(vm, &x, 0, out) || (ptc_is_producer(argv[0]) && ptc_produced_fail(vm));
}

PTC_BUILTIN(core_nfirst, "clojure.core", "nfirst", 1, 1,
            PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_NIL | PTC_IS_LIST), "(nfirst coll)",
            "All but the first element of the first element; nil when there are none.",
            "(nfirst [[1 2 3] [4]]) => [2 3]\n(nfirst [[1]]) => nil")
{
    PtcValue x;
    if (!element_or_nil(vm, argv, 0, &x))
        return false;
    if (!is_walkable_coll(x))
        return ptc_fail_value_type(vm, x, "the first element", "a collection, string or nil");
    return drop_first_elements(vm, arg_rest(vm, &x, 0), 1, true, out) ||
           (ptc_is_producer(argv[0]) && ptc_produced_fail(vm));
}

/* The first n of the sequential `seq`, or all but the first n. */
static bool take_or_drop(PtcVM *vm, PtcValue seq, size_t n, bool drop, PtcValue *out)
{
    if (seq == PTC_NONE)
        return false;
    return ptc_give(out, drop ? ptc_seq_drop(vm, seq, n) : ptc_seq_take(vm, seq, n));
}

/* The first n elements of a map, set or string, without making the others. */
static bool take_walked(PtcVM *vm, const PtcValue *argv, size_t n, PtcValue *out)
{
    PtcIter it;
    PtcValue x, b = ptc_build_new(vm->heap);
    if (b == PTC_NONE || !ptc_arg_iter(vm, argv, 1, &it))
        return false;
    for (; n > 0 && ptc_next(vm, &it, &x); n--)
        if (!ptc_build_add(vm->heap, b, x))
            return false;
    return ptc_iter_end(&it) && ptc_give(out, ptc_build_done(vm->heap, b, PTC_SEQ));
}

PTC_BUILTIN(
    core_take, "clojure.core", "take", 1, 2,
    PTC_TAKES2(PTC_IS_NUMBER, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST | PTC_IS_FN) |
        PTC_RULE(SOME_OF_2),
    "(take n coll)",
    "The first n elements, or all when there are fewer; without coll, a transducer.",
    "(take 2 [1 2 3]) => [1 2]\n(take 5 \"ab\") => [\"a\" \"b\"]\n(take 3 (repeat 0)) => [0 0 0]\n"
    "(take [1 2] 1) !! type_error")
{
    size_t n;
    if (!ptc_arg_n(vm, argv, 0, &n))
        return false;
    if (argc == 1)
        return ptc_xform(vm, argc, argv, out);
    if (PTC_LIKELY(ptc_is_sequential(argv[1])))
        return take_or_drop(vm, argv[1], n, false, out);
    if (ptc_is_producer(argv[1]))
        return ptc_produced_take(vm, argv[1], n, out);
    return take_walked(vm, argv, n, out);
}

PTC_BUILTIN(core_drop, "clojure.core", "drop", 1, 2,
            PTC_TAKES2(PTC_IS_NUMBER, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST | PTC_IS_FN) |
                PTC_RULE(SOME_OF_2),
            "(drop n coll)", "All but the first n elements; without coll, a transducer.",
            "(drop 1 [7 8 9]) => [8 9]\n(drop 5 [1 2]) => []\n(drop 1 2) !! type_error")
{
    size_t n;
    if (!ptc_arg_n(vm, argv, 0, &n))
        return false;
    if (argc == 1)
        return ptc_xform(vm, argc, argv, out);
    return take_or_drop(vm, arg_rest(vm, argv, 1), n, true, out);
}

PTC_BUILTIN(
    core_nthrest, "clojure.core", "nthrest", 2, 2,
    PTC_TAKES2(PTC_IS_SEQABLE, PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_SEQABLE), "(nthrest coll n)",
    "The collection without its first n elements; the collection itself when n is 0.",
    "(nthrest [7 8 9 0] 3) => [0]\n(nthrest [1 2] 5) => []\n(nthrest 2 [1 2]) !! type_error")
{
    size_t n;
    if (!ptc_arg_n(vm, argv, 1, &n))
        return false;
    if (is_walkable_coll(argv[0]) && (argv[0] == PTC_NIL || n == 0)) {
        *out = argv[0];
        return true;
    }
    return take_or_drop(vm, arg_rest(vm, argv, 0), n, true, out);
}

PTC_BUILTIN(core_nthnext, "clojure.core", "nthnext", 2, 2,
            PTC_TAKES2(PTC_IS_SEQABLE, PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NIL | PTC_IS_LIST) |
                PTC_RULE(SOME_OF),
            "(nthnext coll n)",
            "The collection without its first n elements; nil when nothing is left.",
            "(nthnext [7 8 9] 1) => [8 9]\n(nthnext [1 2] 5) => nil")
{
    size_t n;
    if (!ptc_arg_n(vm, argv, 1, &n))
        return false;
    PtcValue seq = arg_rest(vm, argv, 0);
    if (n > FAR)
        ptc_live_release(vm, argv, 0);
    return drop_first_elements(vm, seq, n, true, out);
}

PTC_BUILTIN(core_take_last, "clojure.core", "take-last", 2, 2,
            PTC_TAKES2(PTC_IS_NUMBER, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_NIL | PTC_IS_LIST) |
                PTC_RULE(SOME_OF_2),
            "(take-last n coll)", "The last n elements; nil when that is none.",
            "(take-last 2 [1 2 3]) => [2 3]\n(take-last 1 []) => nil\n(take-last 0 [1]) => nil")
{
    size_t n;
    PtcValue seq;
    if (!ptc_arg_n(vm, argv, 0, &n) || (seq = ptc_arg_finite(vm, argv, 1)) == PTC_NONE)
        return false;
    size_t count = ptc_seq_count(seq);
    return drop_first_elements(vm, seq, n < count ? count - n : 0, true, out);
}

PTC_BUILTIN(core_drop_last, "clojure.core", "drop-last", 1, 2,
            PTC_TAKES2(PTC_IS_SEQABLE | PTC_IS_NUMBER, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST),
            "(drop-last n? coll)", "All but the last n elements; n is 1 when left out.",
            "(drop-last [1 2 3]) => [1 2]\n(drop-last 2 [1 2 3]) => [1]\n(drop-last 5 [1]) => []")
{
    size_t n = 1;
    PtcValue seq;
    if ((argc == 2 && !ptc_arg_n(vm, argv, 0, &n)) ||
        (seq = ptc_arg_finite(vm, argv, argc - 1)) == PTC_NONE)
        return false;
    size_t count = ptc_seq_count(seq);
    return take_or_drop(vm, seq, n < count ? count - n : 0, false, out);
}

PTC_BUILTIN(core_butlast, "clojure.core", "butlast", 1, 1,
            PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_NIL | PTC_IS_LIST) | PTC_RULE(SOME_OF),
            "(butlast coll)", "All but the last element; nil when that is none.",
            "(butlast [6 5 4]) => [6 5]\n(butlast [1]) => nil")
{
    PtcValue seq = ptc_arg_finite(vm, argv, 0);
    if (seq == PTC_NONE)
        return false;
    size_t count = ptc_seq_count(seq);
    if (count > 1)
        return take_or_drop(vm, seq, count - 1, false, out);
    *out = PTC_NIL;
    return true;
}

PTC_BUILTIN(core_split_at, "clojure.core", "split-at", 2, 2,
            PTC_TAKES2(PTC_IS_NUMBER, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST), "(split-at n coll)",
            "A vector of the first n elements and of the others.",
            "(split-at 2 [1 2 3]) => [[1 2] [3]]\n(split-at 9 [1]) => [[1] []]\n"
            "(split-at nil [1 2]) !! type_error")
{
    size_t n;
    PtcValue seq, parts[2];
    if (!ptc_arg_n(vm, argv, 0, &n) || (seq = arg_rest(vm, argv, 1)) == PTC_NONE)
        return false;
    if (ptc_is_producer(seq))
        return ptc_produced_take(vm, seq, n, &parts[0]) &&
               (((parts[1] = ptc_producer_drop(vm, argv[1], n)) != PTC_NONE &&
                 ptc_give(out, ptc_vec_new(vm->heap, parts, 2, 0))) ||
                ptc_produced_fail(vm));
    return take_or_drop(vm, seq, n, false, &parts[0]) &&
           take_or_drop(vm, seq, n, true, &parts[1]) &&
           ptc_give(out, ptc_vec_new(vm->heap, parts, 2, 0));
}

PTC_BUILTIN(core_take_nth, "clojure.core", "take-nth", 1, 2,
            PTC_TAKES2(PTC_IS_NUMBER, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST | PTC_IS_FN) |
                PTC_RULE(SOME_OF_2),
            "(take-nth n coll)",
            "Every n-th element, beginning with the first; without coll, a transducer.",
            "(take-nth 2 [1 2 3 4 5]) => [1 3 5]\n(take-nth 0 [1]) !! value_error")
{
    PtcIter it;
    size_t n, i = 0;
    if (!ptc_arg_n(vm, argv, 0, &n))
        return false;
    if (n == 0)
        return ptc_fail(vm, PTC_E_VALUE, "take-nth: argument 1 must be at least 1");
    if (argc == 1)
        return ptc_xform(vm, argc, argv, out);
    if (ptc_seq_endless(argv[1]))
        return ptc_stage(vm, PTC_STEP_TAKE_NTH, argc, argv, out);
    if (!ptc_arg_all(vm, argv, 1, &it))
        return false;
    PtcValue x, b = ptc_build_new(vm->heap);
    while (b != PTC_NONE && ptc_next(vm, &it, &x))
        if (i++ % n == 0 && !ptc_build_add(vm->heap, b, x))
            return false;
    return b != PTC_NONE && ptc_iter_end(&it) &&
           ptc_give(out, ptc_build_done(vm->heap, b, PTC_SEQ));
}

PTC_BUILTIN(core_pop, "clojure.core", "pop", 1, 1,
            PTC_TAKES(PTC_IS_NIL | PTC_IS_LIST) | PTC_GIVES(PTC_IS_NIL | PTC_IS_LIST) |
                PTC_RULE(SOME_OF),
            "(pop coll)",
            "A vector without its last element, a list or sequence without its first; nil when it "
            "is empty.",
            "(pop [1 2 3]) => [1 2]\n(pop (list 1 2)) => [2]\n(pop []) => nil")
{
    PtcValue coll = argv[0];
    if (coll != PTC_NIL && !ptc_is_sequential(coll))
        return ptc_fail_type(vm, argv, 0, "a vector, list or nil");
    if (is_empty_collection(coll)) {
        *out = PTC_NIL;
        return true;
    }
    if (ptc_is_queue(coll))
        return ptc_give(out, ptc_seq_slice(vm->heap, coll, 1, ptc_seq_count(coll) - 1, PTC_QUEUE));
    if (ptc_is_seq_flagged(coll))
        return ptc_give(out, ptc_seq_drop(vm, coll, 1));
    return ptc_give(out, ptc_vec_pop(vm->heap, coll));
}

PTC_BUILTIN(core_subvec, "clojure.core", "subvec", 2, 3,
            PTC_TAKES3(PTC_IS_LIST, PTC_IS_NUMBER, PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_LIST) |
                PTC_RULE(SOME_OF),
            "(subvec v start end?)",
            "The part of a vector from start up to but not including end; indexes out of range are "
            "moved to the nearest that is in range.",
            "(subvec [0 1 2 3 4] 1 3) => [1 2]\n(subvec [1 2] 0 99) => [1 2]\n"
            "(subvec \"abc\" 1) !! type_error")
{
    size_t start, end = SIZE_MAX;
    if (!ptc_is_sequential(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a vector");
    if (!ptc_arg_count(vm, argv, 1, &start) || (argc == 3 && !ptc_arg_count(vm, argv, 2, &end)))
        return false;
    size_t count = ptc_seq_count(argv[0]);
    if (end > count)
        end = count;
    if (start > end)
        start = end;
    if (!ptc_is(argv[0], PTC_T_RANGE) && !ptc_is(argv[0], PTC_T_CONS))
        return ptc_give(out, ptc_seq_slice(vm->heap, argv[0], start, end - start, 0));
    PtcIter it; /* a vector must be one that can grow */
    PtcValue part = ptc_seq_slice(vm->heap, argv[0], start, end - start, PTC_SEQ);
    return part != PTC_NONE && ptc_iter_init(&it, vm->heap, part) &&
           ptc_give(out, ptc_seq_copy(vm, &it, 0));
}

/* ------------------------------------------------------------------- as a whole */

PTC_BUILTIN(core_count, "clojure.core", "count", 1, 1,
            PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_INT), "(count coll)",
            "The number of elements; for strings, of graphemes; 0 for nil.",
            "(count [1 nil]) => 2\n(count {:a 1}) => 1\n(count nil) => 0\n(count 12) !! type_error")
{
    PtcValue v = argv[0], last;
    size_t count;
    if (ptc_is_string(v)) {
        *out = ptc_int((int64_t)ptc_str_graphemes(&vm->budget, v));
        return true;
    }
    if (PTC_UNLIKELY(ptc_is_lazy(v)) && !ptc_lazy_is_endless(v))
        return walk_lazy(vm, argv, SIZE_MAX, &count, &last) &&
               ptc_give(out, ptc_int((int64_t)count));
    if (ptc_seq_endless(v))
        return ptc_fail_endless(vm, 0);
    if (!ptc_is_seqable(v))
        return ptc_fail_type(vm, argv, 0, "a collection, string or nil");
    *out = ptc_int(v == PTC_NIL ? 0 : (int64_t)ptc_obj(v)->count);
    return true;
}

PTC_BUILTIN(core_bounded_count, "clojure.core", "bounded-count", 2, 2, 0, "(bounded-count n coll)",
            "How many elements a collection has; of a sequence at most the first n are counted.",
            "(bounded-count 2 (list 1 2 3)) => 2\n(bounded-count 3 (range)) => 3\n(bounded-count 2 "
            "[1 2 3]) => 3\n"
            "(bounded-count 2 5) !! type_error")
{
    PtcIter it;
    PtcValue coll = argv[1], x;
    size_t n, count = 0;
    if (!ptc_arg_n(vm, argv, 0, &n))
        return false;
    if (ptc_is_lazy(coll))
        return walk_lazy(vm, argv + 1, n, &count, &x) && ptc_give(out, ptc_int((int64_t)count));
    if (!ptc_arg_iter(vm, argv, 1, &it))
        return false;
    if (ptc_is_string(coll)) {
        while (count < n && ptc_next(vm, &it, &x))
            count++;
        return ptc_give(out, ptc_int((int64_t)count)) && !it.failed;
    }
    count = coll == PTC_NIL ? 0 : ptc_obj(coll)->count;
    bool bounded = ptc_is_sequential(coll) && ptc_is_seq_flagged(coll);
    return ptc_give(out, ptc_int((int64_t)(bounded && n < count ? n : count)));
}

/* Has argument 0 any elements? */
static bool arg_has_any(PtcVM *vm, const PtcValue *argv, bool *has)
{
    if (ptc_is_producer(argv[0]))
        return ptc_produced_has(vm, argv[0], 0, has);
    *has = ptc_is_seqable(argv[0]) && !is_empty_collection(argv[0]);
    return ptc_is_seqable(argv[0]) || ptc_fail_type(vm, argv, 0, "a collection, string or nil");
}

PTC_BUILTIN(
    core_empty_p, "clojure.core", "empty?", 1, 1,
    PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_BOOL), "(empty? coll)",
    "True when a collection or string has no elements, and for nil.",
    "(empty? []) => true\n(empty? \" \") => false\n(empty? nil) => true\n(empty? 0) !! type_error")
{
    bool has;
    if (!arg_has_any(vm, argv, &has))
        return false;
    *out = ptc_bool(!has);
    return true;
}

PTC_BUILTIN(core_not_empty, "clojure.core", "not-empty", 1, 1,
            PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_SEQABLE) | PTC_RULE(SEQ),
            "(not-empty coll)", "The collection itself, or nil when it has no elements.",
            "(not-empty [0]) => [0]\n(not-empty \"\") => nil")
{
    bool has;
    if (!arg_has_any(vm, argv, &has))
        return false;
    *out = has ? argv[0] : PTC_NIL;
    return true;
}

PTC_BUILTIN(core_empty, "clojure.core", "empty", 1, 1,
            PTC_GIVES(PTC_IS_NIL | PTC_IS_LIST | PTC_IS_SET | PTC_IS_MAP), "(empty coll)",
            "An empty collection of the same kind; nil for anything that is not a collection, "
            "strings included.",
            "(empty [1 2]) => []\n(empty {:a 1}) => {}\n(empty \"abc\") => nil\n(empty nil) => nil")
{
    PtcValue v = argv[0];
    if (v == PTC_NIL)
        return ptc_give(out, PTC_NIL);
    if (ptc_is_producer(v))
        return ptc_give(out, ptc_vec_new(vm->heap, NULL, 0, PTC_SEQ));
    if (ptc_is_sequential(v))
        return ptc_give(out, ptc_vec_new(vm->heap, NULL, 0,
                                         ptc_is_queue(v)         ? PTC_QUEUE
                                         : ptc_is_seq_flagged(v) ? PTC_SEQ
                                                                 : 0));
    if (ptc_is_sorted(v))
        return ptc_give(out, ptc_sorted_empty(vm->heap, ptc_is_set(v), ptc_sorted_by(v)));
    if (ptc_is_map(v))
        return ptc_give(out, ptc_map_empty(vm->heap));
    if (ptc_is_set(v))
        return ptc_give(out, ptc_set_empty(vm->heap));
    return ptc_give(out, PTC_NIL);
}

PTC_BUILTIN_EXPR(
    core_seq, "clojure.core", "seq", 1, 1,
    PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_NIL | PTC_IS_LIST) | PTC_RULE(SEQ), "(seq coll)",
    "The elements as a sequence; nil when there are none.",
    "(seq [1 2]) => [1 2]\n(seq {:a 1}) => [[:a 1]]\n(seq \"\") => nil\n(seq 5) !! type_error",
    drop_first_elements(vm, arg_rest(vm, argv, 0), 0, true, out))

PTC_BUILTIN(core_doall, "clojure.core", "doall", 1, 1,
            PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_SEQABLE) | PTC_RULE(SAME), "(doall coll)",
            "The collection, with all elements of a lazy sequence computed.",
            "(doall (map inc [1])) => [2]\n(realized? (doall (lazy-seq [1]))) => true\n"
            "(doall (iterate inc 1)) !! value_error")
{
    if (ptc_is_producer(argv[0]))
        return ptc_fail_endless(vm, 0);
    if (!ptc_is_seqable(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a collection, string or nil");
    return ptc_give(out, argv[0]);
}

PTC_BUILTIN(core_dorun, "clojure.core", "dorun", 1, 1,
            PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_NIL), "(dorun coll)",
            "nil, after all elements of a lazy sequence are computed.",
            "(dorun (map inc [1])) => nil\n(dorun (iterate inc 1)) !! value_error")
{
    PtcValue last;
    size_t count;
    *out = PTC_NIL;
    if (ptc_is_lazy(argv[0]) && !ptc_lazy_is_endless(argv[0]))
        return walk_lazy(vm, argv, SIZE_MAX, &count, &last);
    if (ptc_seq_endless(argv[0]))
        return ptc_fail_endless(vm, 0);
    return ptc_is_seqable(argv[0]) || ptc_fail_type(vm, argv, 0, "a collection, string or nil");
}

static PtcValue reverse_range(PtcVM *vm, const PtcRange *r)
{
    int64_t last = r->start + ((int64_t)r->obj.count - 1) * r->step;
    return ptc_range_new(vm->heap, last, -r->step, r->obj.count);
}

PTC_BUILTIN(core_reverse, "clojure.core", "reverse", 1, 1,
            PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST) | PTC_RULE(ELEMENTS),
            "(reverse coll)", "The elements from last to first.",
            "(reverse [1 2 3]) => [3 2 1]\n(reverse \"ab\") => [\"b\" \"a\"]\n(reverse nil) => []")
{
    PtcIter it;
    PtcItems items;
    if (!ptc_arg_all(vm, argv, 0, &it))
        return false;
    if (ptc_is(argv[0], PTC_T_RANGE) && !is_empty_collection(argv[0]))
        return ptc_give(out, reverse_range(vm, (const PtcRange *)(uintptr_t)argv[0]));
    if (!ptc_items_init(vm, &items, &it))
        return false;
    for (size_t i = 0, k = items.n; i + 1 < k; i++) {
        PtcValue x = items.at[i];
        items.at[i] = items.at[--k];
        items.at[k] = x;
    }
    PtcValue v = ptc_vec_new(vm->heap, items.at, items.n, PTC_SEQ);
    ptc_items_deinit(vm, &items);
    return ptc_give(out, v);
}

PTC_BUILTIN_TABLE(ptc_lib_seq, core_first, core_second, core_fnext, core_last, core_nth, core_peek,
                  core_rest, core_next, core_nnext, core_ffirst, core_nfirst, core_take, core_drop,
                  core_nthrest, core_nthnext, core_take_last, core_drop_last, core_butlast,
                  core_split_at, core_take_nth, core_pop, core_subvec, core_count, core_empty_p,
                  core_not_empty, core_empty, core_seq, core_reverse, core_doall, core_dorun,
                  core_bounded_count);
