/* SPDX-License-Identifier: MIT
 * Sequences: making them, joining them, and dividing them into pieces. */
#include <math.h>

#include "lisp/lazy/produce.h"
#include "lisp/number/num.h"
#include "value/coll/visit.h"

/* ------------------------------------------------------------------------ making */

PTC_BUILTIN_EXPR(core_list, "clojure.core", "list", 0, -1, PTC_GIVES(PTC_IS_LIST) | PTC_RULE(TUPLE),
                 "(list & xs)", "A list of the arguments; conj adds at its front.",
                 "(list 1 2) => [1 2]\n(conj (list 1 2) 3) => [3 1 2]",
                 ptc_give(out, ptc_vec_new(vm->heap, argv, (size_t)argc, PTC_SEQ)))

/* Argument i as something to put elements in front of; nil stays. */
static PtcValue arg_tail(PtcVM *vm, const PtcValue *argv, int i)
{
    return argv[i] == PTC_NIL || ptc_is_producer(argv[i]) ? argv[i] : ptc_arg_seq(vm, argv, i);
}

PTC_BUILTIN(core_list_star, "clojure.core", "list*", 1, -1, PTC_GIVES(PTC_IS_NIL | PTC_IS_LIST),
            "(list* & xs coll)",
            "A sequence of the first arguments followed by the elements of the last.",
            "(list* 1 2 [3 4]) => [1 2 3 4]\n(list* []) => nil")
{
    PtcValue seq = arg_tail(vm, argv, argc - 1);
    if (ptc_is_sequential(seq) && ptc_seq_count(seq) == 0)
        seq = PTC_NIL;
    for (int i = argc - 2; i >= 0 && seq != PTC_NONE; i--)
        seq = ptc_tick(&vm->budget, 1) ? ptc_seq_prepend(vm, argv[i], seq) : PTC_NONE;
    return ptc_give(out, seq);
}

PTC_BUILTIN_EXPR(core_vector, "clojure.core", "vector", 0, -1,
                 PTC_GIVES(PTC_IS_LIST) | PTC_RULE(TUPLE), "(vector & xs)",
                 "A vector of the arguments.", "(vector 1 [2]) => [1 [2]]\n(vector) => []",
                 ptc_give(out, ptc_vec_new(vm->heap, argv, (size_t)argc, 0)))

PTC_BUILTIN(
    core_vec, "clojure.core", "vec", 1, 1,
    PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST) | PTC_RULE(ELEMENTS), "(vec coll)",
    "A vector of all elements.",
    "(vec (list 1 2)) => [1 2]\n(vec {:a 1}) => [[:a 1]]\n(vec nil) => []\n(vec 5) !! type_error")
{
    PtcIter it;
    PtcTag tag = ptc_tag(argv[0]);
    if (tag == PTC_T_FLAT && ptc_is_seq_flagged(argv[0]))
        return ptc_give(out, ptc_vec_new(vm->heap, ((PtcFlat *)(uintptr_t)argv[0])->items,
                                         ptc_seq_count(argv[0]), 0));
    if (tag == PTC_T_VEC || tag == PTC_T_SLICE || tag == PTC_T_FLAT)
        return ptc_give(out, ptc_seq_slice(vm->heap, argv[0], 0, ptc_seq_count(argv[0]), 0));
    return ptc_arg_all(vm, argv, 0, &it) && ptc_give(out, ptc_seq_copy(vm, &it, 0));
}

/* A ring of cells: the items again and again, without end. */
static PtcValue new_ring(PtcVM *vm, const PtcValue *items, size_t n)
{
    PtcCons *first = NULL, *last = NULL;
    for (size_t i = 0; i < n; i++) {
        PtcCons *cell = ptc_heap_object(vm->heap, PTC_T_CONS, sizeof *cell, PTC_ENDLESS);
        if (!cell || !ptc_tick(&vm->budget, 1))
            return PTC_NONE;
        cell->first = items[i];
        cell->rest = PTC_NIL;
        if (last)
            last->rest = ptc_from_obj(cell);
        else
            first = cell;
        last = cell;
    }
    last->rest = ptc_from_obj(first);
    return ptc_from_obj(first);
}

/* n integers from start; checked against the limit on lengths. */
static PtcValue new_range(PtcVM *vm, int64_t start, int64_t step, __int128 n)
{
    if (n <= 0)
        return ptc_vec_new(vm->heap, NULL, 0, PTC_SEQ);
    if (n < PTC_ENDLESS)
        return ptc_range_new(vm->heap, start, step, (size_t)n);
    ptc_fail_too_long(vm);
    return PTC_NONE;
}

/* From start on and on. */
static PtcValue endless_range(PtcVM *vm, int64_t start, int64_t step)
{
    int64_t far = PTC_INT_MAX / 2;
    if (start < far && start > -far && step < PTC_ENDLESS && step > -PTC_ENDLESS)
        return ptc_range_new(vm->heap, start, step, PTC_ENDLESS);
    ptc_fail_too_long(vm);
    return PTC_NONE;
}

/* More integers than a collection may have: they are computed when they are asked for. */
static PtcValue long_range(PtcVM *vm, int64_t start, int64_t step, __int128 n)
{
    PtcValue all = endless_range(vm, start, step);
    PtcValue most = ptc_int(n < PTC_INT_MAX ? (int64_t)n : PTC_INT_MAX);
    return all == PTC_NONE
               ? all
               : ptc_producer_keep(vm, ptc_producer_add(vm, all, PTC_STEP_TAKE, 1, &most), PTC_NONE,
                                   PTC_STEP_TAKE);
}

/* Integer start and step, neither too large for the word; end is any number. */
static PtcValue int_range(PtcVM *vm, int64_t start, PtcValue end, int64_t step)
{
    __int128 last;
    if (ptc_is_int(end)) {
        last = ptc_to_int(end);
    } else {
        double d = ptc_num_double(end);
        if (isnan(d))
            return ptc_vec_new(vm->heap, NULL, 0, PTC_SEQ);
        if (isinf(d) && (d > 0) == (step > 0))
            return endless_range(vm, start, step);
        d = step > 0 ? ceil(d) : floor(d);
        last = (__int128)(d > 1e30 ? 1e30 : d < -1e30 ? -1e30 : d);
    }
    __int128 n = step > 0 ? (last - start + step - 1) / step : (start - last - step - 1) / -step;
    return n < PTC_ENDLESS ? new_range(vm, start, step, n) : long_range(vm, start, step, n);
}

static int order_of_values(PtcVM *vm, PtcValue a, PtcValue b)
{
    bool ok = true;
    return ptc_compare(vm->heap, a, b, &ok);
}

/* Any numbers, by adding the step again and again. */
static PtcValue number_range(PtcVM *vm, PtcValue start, PtcValue end, PtcValue step)
{
    PtcValue b = ptc_build_new(vm->heap);
    int sign = order_of_values(vm, step, ptc_int(0));
    if (b == PTC_NONE)
        return b;
    while (sign && order_of_values(vm, start, end) == -sign) {
        if (!ptc_tick(&vm->budget, 1) || !ptc_build_add(vm->heap, b, start))
            return PTC_NONE;
        start = ptc_num_add(vm, start, step);
        if (start == PTC_NONE)
            return start;
    }
    return ptc_build_done(vm->heap, b, PTC_SEQ);
}

PTC_BUILTIN(
    core_range, "clojure.core", "range", 0, 3,
    PTC_TAKES_ALL(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_LIST), "(range start? end step?)",
    "The numbers from start (0) up to but not including end, by step (1); without end when there "
    "are no arguments or the step is 0, so only take and similar functions may use them.",
    "(range 4) => [0 1 2 3]\n(range 10 0 -3) => [10 7 4 1]\n(take 2 (range)) => [0 1]\n"
    "(range \"5\") !! type_error")
{
    for (int i = 0; i < argc; i++)
        if (!ptc_arg_number(vm, argv, i))
            return false;
    if (argc == 0)
        return ptc_give(out, endless_range(vm, 0, 1));
    PtcValue start = argc == 1 ? ptc_int(0) : argv[0], end = argv[argc > 1];
    PtcValue step = argc == 3 ? argv[2] : ptc_int(1);
    if (order_of_values(vm, step, ptc_int(0)) == 0 && order_of_values(vm, start, end) != 0)
        return ptc_give(out, ptc_is_int(start) ? endless_range(vm, ptc_to_int(start), 0)
                                               : new_ring(vm, &start, 1));
    if (ptc_is_int(start) && ptc_is_int(step) && step != ptc_int(0) && !ptc_is_bigint(end))
        return ptc_give(out, int_range(vm, ptc_to_int(start), end, ptc_to_int(step)));
    return ptc_give(out, number_range(vm, start, end, step));
}

PTC_BUILTIN(
    core_repeat, "clojure.core", "repeat", 1, 2, PTC_GIVES(PTC_IS_LIST), "(repeat n? x)",
    "x n times over; without n there is no end, so only take and similar functions may use it.",
    "(repeat 3 :a) => [:a :a :a]\n(take 2 (repeat 1)) => [1 1]\n(count (repeat 1)) !! value_error")
{
    size_t n;
    PtcValue x = argv[argc - 1];
    if (argc == 1)
        return ptc_give(out, new_ring(vm, &x, 1));
    if (!ptc_arg_n(vm, argv, 0, &n))
        return false;
    if (ptc_is_float(argv[0]) && n > 0 && (double)n > ptc_to_float(argv[0]))
        n--; /* the number is cut, not rounded up as where elements are taken */
    if (ptc_is_int(x))
        return ptc_give(out, new_range(vm, ptc_to_int(x), 0, (__int128)n));
    PtcValue b = ptc_build_new(vm->heap);
    if (b == PTC_NONE)
        return false;
    for (; n > 0; n--)
        if (!ptc_tick(&vm->budget, 1) || !ptc_build_add(vm->heap, b, x))
            return false;
    return ptc_give(out, ptc_build_done(vm->heap, b, PTC_SEQ));
}

PTC_BUILTIN(
    core_cycle, "clojure.core", "cycle", 1, 1, PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST),
    "(cycle coll)",
    "The elements again and again, without end, so only take and similar functions may use them.",
    "(take 5 (cycle [1 2])) => [1 2 1 2 1]\n(cycle []) => []")
{
    PtcIter it;
    PtcItems items;
    if (ptc_is_lazy(argv[0]))
        return ptc_cycle_later(vm, argv[0], out);
    if (ptc_seq_endless(argv[0]))
        return ptc_give(out, argv[0]);
    if (!ptc_arg_iter(vm, argv, 0, &it) || !ptc_items_init(vm, &items, &it))
        return false;
    PtcValue v =
        items.n ? new_ring(vm, items.at, items.n) : ptc_vec_new(vm->heap, NULL, 0, PTC_SEQ);
    ptc_items_deinit(vm, &items);
    return ptc_give(out, v);
}

/* ------------------------------------------------------------------------ adding */

PTC_BUILTIN(core_cons, "clojure.core", "cons", 2, 2,
            PTC_TAKES2(0, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST), "(cons x coll)",
            "A sequence of x and then the elements of coll.",
            "(cons 1 [2 3]) => [1 2 3]\n(cons 1 nil) => [1]\n(cons 1 2) !! type_error")
{
    PtcValue seq = arg_tail(vm, argv, 1);
    return seq != PTC_NONE && ptc_give(out, ptc_seq_prepend(vm, argv[0], seq));
}

PTC_BUILTIN(
    core_conj, "clojure.core", "conj", 0, -1,
    PTC_B_LONE | PTC_TAKES(PTC_IS_NIL | PTC_IS_LIST | PTC_IS_SET | PTC_IS_MAP) |
        PTC_GIVES(PTC_IS_LIST | PTC_IS_SET | PTC_IS_MAP) | PTC_RULE(CONJ),
    "(conj coll & xs)",
    "The collection with the elements added: at the end of a vector, at the front of a list or "
    "sequence; to a map, [key value] pairs or maps.",
    "(conj [1] 2 3) => [1 2 3]\n(conj nil 1 2) => [2 1]\n(conj {:a 1} [:b 2]) => {:a 1, :b 2}\n"
    "(conj {} 5) !! type_error")
{
    if (argc == 0)
        return ptc_give(out, ptc_vec_new(vm->heap, NULL, 0, 0));
    PtcValue coll = argv[0];
    for (int i = 1; i < argc && coll != PTC_NONE; i++)
        coll = ptc_tick(&vm->budget, 1) ? ptc_conj_one(vm, argv, coll, argv[i]) : PTC_NONE;
    return ptc_give(out, coll);
}

static bool pour(PtcVM *vm, int argc, const PtcValue *argv, PtcValue from, PtcValue *out)
{
    PtcIter it;
    if (ptc_seq_endless(from))
        return ptc_fail_endless(vm, argc - 1);
    if (!ptc_iter_init(&it, vm->heap, from))
        return ptc_fail_type(vm, argv, argc - 1, "a collection, string or nil");
    return ptc_give(out, ptc_pour(vm, argv, &it));
}

PTC_BUILTIN(core_into, "clojure.core", "into", 0, 3,
            PTC_B_CALLS | PTC_B_LONE |
                PTC_TAKES3(PTC_IS_NIL | PTC_IS_LIST | PTC_IS_SET | PTC_IS_MAP,
                           PTC_IS_SEQABLE | PTC_IS_FN | PTC_IS_OTHER, PTC_IS_SEQABLE) |
                PTC_GIVES(PTC_IS_NIL | PTC_IS_LIST | PTC_IS_SET | PTC_IS_MAP) | PTC_RULE(INTO),
            "(into to xform? from)",
            "The collection `to` with all elements of `from` added as conj does, run through a "
            "transducer such as (map f) when one is given.",
            "(into [1] [2 3]) => [1 2 3]\n(into {} [[:a 1] [:b 2]]) => {:a 1, :b 2}\n"
            "(into [] (map inc) [1 2]) => [2 3]\n(into {} [[1 2 3]]) !! type_error")
{
    if (argc == 0)
        return ptc_give(out, ptc_vec_new(vm->heap, NULL, 0, 0));
    if (argc == 1)
        return ptc_give(out, argv[0]);
    PtcValue *slots = ptc_roots(vm, 2);
    if (!slots)
        return false;
    slots[0] = argv[argc - 1];
    if (argc == 3 && !ptc_xform_run(vm, argv, 1, 2, &slots[0], &slots[1]))
        return false;
    if (argc == 3 && ptc_is(argv[0], PTC_T_FLAT) && ptc_obj(argv[0])->count == 0 &&
        (ptc_obj(argv[0])->flags & ~PTC_FROM_TOOL) == 0)
        return ptc_xform_end(vm, slots[1], slots[0], out);
    if (!PTC_RETRY(vm, pour(vm, argc, argv, slots[0], out)))
        return false;
    return argc < 3 || ptc_xform_end(vm, slots[1], *out, out);
}

/* The elements of arguments 0 to argc - 1 into a builder. */
static bool add_all_elements(PtcVM *vm, int argc, const PtcValue *argv, PtcValue build)
{
    PtcIter it;
    PtcValue x;
    for (int i = 0; i < argc; i++) {
        if (!ptc_arg_all(vm, argv, i, &it))
            return false;
        while (ptc_next(vm, &it, &x))
            if (!ptc_build_add(vm->heap, build, x))
                return false;
        if (!ptc_iter_end(&it))
            return false;
    }
    return true;
}

PTC_BUILTIN(core_concat, "clojure.core", "concat", 0, -1,
            PTC_TAKES_ALL(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST) | PTC_RULE(CONCAT),
            "(concat & colls)", "One sequence of the elements of all collections in turn.",
            "(concat [1] nil [2 [3]]) => [1 2 [3]]\n(concat) => []\n(concat [1] 2) !! type_error")
{
    if (PTC_UNLIKELY(ptc_any_lazy(argc, argv)))
        return ptc_concat_later(vm, argc, argv, out);
    for (int i = 0; i + 1 < argc; i++)
        if (ptc_seq_endless(argv[i])) /* what follows is never reached */
            argc = i + 1;
    PtcValue b = ptc_build_new(vm->heap), seq = PTC_NIL;
    bool tail = argc > 0 && (argc == 1 || ptc_seq_endless(argv[argc - 1]));
    if (tail) {
        seq = ptc_is_producer(argv[argc - 1]) ? argv[argc - 1] : ptc_arg_seq(vm, argv, argc - 1);
        seq = seq == PTC_NONE ? seq : ptc_seq_drop(vm, seq, 0);
    }
    if (b == PTC_NONE || seq == PTC_NONE || !add_all_elements(vm, argc - tail, argv, b))
        return false;
    if (!tail)
        return ptc_give(out, ptc_build_done(vm->heap, b, PTC_SEQ));
    for (size_t i = ptc_build_count(b); i > 0 && seq != PTC_NONE; i--)
        seq = ptc_tick(&vm->budget, 1) ? ptc_seq_prepend(vm, *ptc_build_slot(b, i - 1), seq)
                                       : PTC_NONE;
    return ptc_give(out, seq);
}

/* ----------------------------------------------------------------------- weaving */

static bool all_endless(int argc, const PtcValue *argv)
{
    int n = 0;
    while (n < argc && ptc_seq_endless(argv[n]))
        n++;
    return argc > 0 && n == argc;
}

static bool interleave_later(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out)
{
    PtcValue rows;
    return ptc_stage_rows(vm, argc, argv, 0, &rows) && ptc_stage(vm, PTC_STEP_CAT, 1, &rows, out);
}

PTC_BUILTIN(core_interleave, "clojure.core", "interleave", 0, -1,
            PTC_TAKES_ALL(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST), "(interleave & colls)",
            "The first of each collection, then the second of each, to the end of the shortest.",
            "(interleave [1 2 3] [:a :b]) => [1 :a 2 :b]\n(interleave) => []\n"
            "(interleave [1] 2) !! type_error")
{
    PtcZip zip;
    size_t bytes = (size_t)argc * sizeof(PtcValue);
    if (all_endless(argc, argv) || ptc_any_lazy(argc, argv))
        return interleave_later(vm, argc, argv, out);
    if (PTC_UNLIKELY(ptc_any_producer(argc, argv)))
        return ptc_produced_beside(vm, argc, argv, out);
    if (!ptc_zip_init(vm, &zip, argc, argv, 0, false))
        return false;
    PtcValue b = ptc_build_new(vm->heap), *row = argc ? ptc_vm_scratch(vm, bytes) : NULL;
    bool ok = b != PTC_NONE && (row || argc == 0);
    while (ok && ptc_zip_next(vm, &zip, row))
        for (int i = 0; ok && i < argc; i++)
            ok = ptc_build_add(vm->heap, b, row[i]);
    ok = ok && !zip.failed;
    ptc_heap_scratch_free(vm->heap, row, bytes);
    ptc_zip_deinit(vm, &zip);
    return ok && ptc_give(out, ptc_build_done(vm->heap, b, PTC_SEQ));
}

PTC_BUILTIN(core_interpose, "clojure.core", "interpose", 1, 2,
            PTC_TAKES2(0, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST | PTC_IS_FN),
            "(interpose separator coll)",
            "The elements with the separator between each two; without coll, a transducer.",
            "(interpose 0 [7 8 9]) => [7 0 8 0 9]\n(interpose \"-\" []) => []")
{
    PtcIter it;
    if (argc == 1)
        return ptc_xform(vm, argc, argv, out);
    if (ptc_seq_endless(argv[1]))
        return ptc_stage(vm, PTC_STEP_INTERPOSE, argc, argv, out);
    PtcValue x, b = ptc_build_new(vm->heap);
    if (b == PTC_NONE || !ptc_arg_all(vm, argv, 1, &it))
        return false;
    while (ptc_next(vm, &it, &x))
        if ((ptc_build_count(b) && !ptc_build_add(vm->heap, b, argv[0])) ||
            !ptc_build_add(vm->heap, b, x))
            return false;
    return ptc_iter_end(&it) && ptc_give(out, ptc_build_done(vm->heap, b, PTC_SEQ));
}

PTC_BUILTIN(core_zip, "clojure.core", "zip", 2, 2,
            PTC_TAKES2(PTC_IS_SEQABLE, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST),
            "(zip coll1 coll2)",
            "Pairs [a b] of the elements side by side, to the end of the shorter collection.",
            "(zip [1 2] [:a :b]) => [[1 :a] [2 :b]]\n(zip [1] []) => []")
{
    PtcZip zip;
    PtcValue row[2];
    if (all_endless(argc, argv) || ptc_any_lazy(argc, argv))
        return ptc_stage_rows(vm, argc, argv, 0, out);
    if (PTC_UNLIKELY(ptc_any_producer(argc, argv)))
        return ptc_produced_beside(vm, argc, argv, out);
    if (!ptc_zip_init(vm, &zip, argc, argv, 0, false))
        return false;
    PtcValue b = ptc_build_new(vm->heap), pair = PTC_NIL;
    while (b != PTC_NONE && ptc_zip_next(vm, &zip, row)) {
        pair = ptc_vec_new(vm->heap, row, 2, 0);
        if (pair == PTC_NONE || !ptc_build_add(vm->heap, b, pair))
            return false;
    }
    return b != PTC_NONE && !zip.failed && ptc_give(out, ptc_build_done(vm->heap, b, PTC_SEQ));
}

PTC_BUILTIN(core_zipmap, "clojure.core", "zipmap", 2, 2,
            PTC_TAKES2(PTC_IS_SEQABLE, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_MAP) | PTC_RULE(ZIPMAP),
            "(zipmap keys vals)",
            "A map from each key to the value beside it, to the end of the shorter collection.",
            "(zipmap [:a :b :c] [1 2]) => {:a 1, :b 2}\n(zipmap [:a] 5) !! type_error")
{
    PtcZip zip;
    PtcMapSink sink;
    if (PTC_UNLIKELY(ptc_any_producer(argc, argv)))
        return all_endless(argc, argv) ? ptc_fail_endless(vm, 0)
                                       : ptc_produced_beside(vm, argc, argv, out);
    PtcValue row[2], empty = ptc_map_empty(vm->heap);
    if (empty == PTC_NONE || !ptc_zip_init(vm, &zip, argc, argv, 0, false))
        return false;
    size_t keys = ptc_iter_hint(&zip.its[0]), values = ptc_iter_hint(&zip.its[1]);
    if (!ptc_map_sink_init(vm, &sink, empty, keys < values ? keys : values))
        return false;
    while (ptc_zip_next(vm, &zip, row))
        if (!ptc_map_sink_put(&sink, row[0], row[1]))
            return false;
    if (zip.failed)
        return ptc_map_sink_fail(&sink);
    return ptc_give(out, ptc_map_sink_done(&sink));
}

/* coll is a sequential or nil, or PTC_NONE: out of memory. */
static bool flatten(PtcVM *vm, PtcValue coll, PtcValue *out)
{
    PtcWalk walk;
    PtcValue x, b = coll == PTC_NONE ? coll : ptc_build_new(vm->heap);
    ptc_walk_init(&walk, vm->heap);
    bool ok = b != PTC_NONE && (coll == PTC_NIL || ptc_visit_begin(&walk, coll));
    while (ok && walk.count) {
        if (!ptc_tick(&vm->budget, 1))
            ok = false;
        else if (ptc_visit_next(ptc_walk_top(&walk), &x) == PTC_VISIT_END)
            walk.count--;
        else if (ptc_is_lazy(x) && (x = ptc_lazy_demand(vm->heap, x)) == PTC_NONE)
            ok = false;
        else if (ptc_is_sequential(x))
            ok = ptc_visit_begin(&walk, x);
        else
            ok = ptc_build_add(vm->heap, b, x);
    }
    ptc_walk_deinit(&walk);
    return ok && ptc_give(out, ptc_build_done(vm->heap, b, PTC_SEQ));
}

/* The elements of x, or x itself when it is no sequence: what flatten does with each element of a producer. */
PTC_BUILTIN_EXPR(hidden_flatten_one, "clojure.core", "flatten-one", 1, 1, PTC_B_HIDDEN,
                 "(flatten x)", "The elements of nested sequences, or x alone.", "",
                 flatten(vm, ptc_vec_new(vm->heap, argv, 1, 0), out))

static bool flatten_later(PtcVM *vm, PtcValue coll, PtcValue *out)
{
    PtcValue args[2] = {ptc_builtin((uint32_t)ptc_builtin_find("%flatten-one", 12)), coll};
    return ptc_stage(vm, PTC_STEP_MAPCAT, 2, args, out);
}

PTC_BUILTIN(
    core_flatten, "clojure.core", "flatten", 1, 1,
    PTC_TAKES(PTC_IS_NIL | PTC_IS_LIST) | PTC_GIVES(PTC_IS_LIST), "(flatten coll)",
    "The elements of nested vectors and sequences in one sequence; maps, sets and strings "
    "stay as they are.",
    "(flatten [1 [2 [[3]]] []]) => [1 2 3]\n(flatten nil) => []\n(flatten \"abc\") !! type_error")
{
    if (ptc_seq_endless(argv[0]))
        return flatten_later(vm, argv[0], out);
    if (argv[0] != PTC_NIL && !ptc_is_sequential(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a vector, sequence or nil");
    return flatten(vm, argv[0], out);
}
/* What stands for x: the value of that key, or the element at that index; PTC_NONE: nothing does. */
static PtcValue substitute(PtcVM *vm, PtcValue by, PtcValue x)
{
    if (ptc_is_map(by))
        return ptc_map_get(vm->heap, by, x);
    int64_t i = ptc_is_int(x) ? ptc_to_int(x) : -1;
    if (ptc_is(by, PTC_T_CONS) && i > 0 && !ptc_tick(&vm->budget, i)) /* walked from the front */
        return PTC_NONE;
    return i >= 0 && (size_t)i < ptc_seq_count(by) ? ptc_seq_nth(by, (size_t)i) : PTC_NONE;
}

static bool replace_elements(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    PtcIter it;
    PtcValue x, by = argv[0], b = ptc_build_new(vm->heap);
    if (!ptc_is_map(by) && !ptc_is_sequential(by))
        return ptc_fail_type(vm, argv, 0, "a map or vector");
    if (b == PTC_NONE || !ptc_arg_all(vm, argv, 1, &it))
        return false;
    while (ptc_next(vm, &it, &x)) {
        PtcValue y = substitute(vm, by, x);
        if (!ptc_build_add(vm->heap, b, y == PTC_NONE ? x : y))
            return false;
    }
    bool vector = ptc_is_sequential(argv[1]) && !ptc_is_seq_flagged(argv[1]);
    return ptc_iter_end(&it) && ptc_give(out, ptc_build_done(vm->heap, b, vector ? 0 : PTC_SEQ));
}

/* The same as a function to map: over a sequence that is lazy or has no end, or as a transducer. */
static bool replace_later(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out)
{
    PtcValue *args = ptc_roots(vm, 2);
    if (!ptc_is_map(argv[0]) && !ptc_is_sequential(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a map or vector");
    PtcValue f = PTC_RETRY(vm, ptc_fn_record(vm, "replaced", argv, 1));
    if (f == PTC_NONE || !args)
        return false;
    args[0] = f;
    args[1] = argc == 2 ? argv[1] : PTC_NIL;
    vm->running = (uint32_t)ptc_builtin_find("map", 3);
    return argc == 2 ? ptc_stage(vm, PTC_STEP_MAP, 2, args, out) : ptc_xform(vm, 1, args, out);
}

PTC_BUILTIN(hidden_replaced, "clojure.core", "replaced", 2, 2, PTC_B_HIDDEN, "(replace map coll)",
            "What stands for an element in replace.", "")
{
    PtcValue by = ptc_record_field(argv[0], 1);
    if (!ptc_is_map(by) && !ptc_is_sequential(by)) /* it may come from a snapshot */
        return ptc_fail_value_type(vm, by, "what replaces elements", "a map or vector");
    PtcValue y = substitute(vm, by, argv[1]);
    return ptc_give(out, y == PTC_NONE ? argv[1] : y);
}

PTC_BUILTIN(core_replace, "clojure.core", "replace", 1, 3, PTC_B_CALLS, "(replace map coll)",
            "The elements with those that are keys of the map (or indexes of a vector) replaced by "
            "their values; without coll, a transducer; with three arguments, the same as "
            "str/replace.",
            "(replace {1 :one} [1 2]) => [:one 2]\n(into [] (replace {1 :one}) [1 2]) => [:one 2]\n"
            "(replace \"a-b\" \"-\" \"+\") => \"a+b\"\n"
            "(replace 5 [1]) !! type_error")
{
    if (argc == 2 && ptc_is_string(argv[0])) {
        ptc_fail(vm, PTC_E_ARITY, "replace takes 3 arguments on a string, got 2");
        return ptc_fail_hint(vm, "usage: (replace s part by)");
    }
    if (argc == 1 || (argc == 2 && ptc_seq_endless(argv[1])))
        return replace_later(vm, argc, argv, out);
    if (argc == 2)
        return PTC_RETRY(vm, replace_elements(vm, argv, out));
    vm->running = (uint32_t)ptc_builtin_find("str/replace", 11);
    return ptc_builtin_row(vm->running)->fn(vm, argc, argv, out);
}

/* ------------------------------------------------------------------------ pieces */

static bool arg_positive(PtcVM *vm, const PtcValue *argv, int i, size_t *n)
{
    if (!ptc_is_int(argv[i]) || ptc_to_int(argv[i]) <= 0)
        return ptc_fail_type(vm, argv, i, "a positive integer");
    *n = (size_t)ptc_to_int(argv[i]);
    return true;
}

typedef struct Pieces {
    size_t size, step;
    bool all;     /* shorter ones at the end too */
    PtcValue pad; /* what to fill the first shorter one with, or PTC_NONE */
} Pieces;

/* The last piece, filled up from the pad as far as that goes. */
static PtcValue padded(PtcVM *vm, PtcValue piece, const Pieces *p)
{
    PtcIter it;
    PtcValue x, b = ptc_build_new(vm->heap);
    if (b == PTC_NONE || !ptc_iter_init(&it, vm->heap, piece))
        return PTC_NONE;
    while (ptc_next(vm, &it, &x))
        if (!ptc_build_add(vm->heap, b, x))
            return PTC_NONE;
    if (!ptc_iter_init(&it, vm->heap, p->pad))
        return PTC_NONE;
    while (ptc_build_count(b) < p->size && ptc_next(vm, &it, &x))
        if (!ptc_build_add(vm->heap, b, x))
            return PTC_NONE;
    return ptc_iter_end(&it) ? ptc_build_done(vm->heap, b, PTC_SEQ) : PTC_NONE;
}

/* What has no end: its pieces are made when they are asked for. */
static bool divide_later(PtcVM *vm, PtcValue coll, const Pieces *p, PtcValue *out)
{
    PtcValue args[4] = {ptc_int((int64_t)p->size), ptc_int((int64_t)p->step)};
    int n = 2;
    if (ptc_is_lazy(coll) && (p->all || p->pad != PTC_NONE))
        args[n++] = p->all ? PTC_TRUE : p->pad;
    args[n++] = coll;
    return ptc_stage(vm, PTC_STEP_PARTITION, n, args, out);
}

static bool divide_into_pieces(PtcVM *vm, PtcValue seq, const Pieces *p, PtcValue *out)
{
    seq = seq == PTC_NONE ? seq : ptc_seq_flat(vm, seq);
    PtcValue b = ptc_build_new(vm->heap);
    if (seq == PTC_NONE || b == PTC_NONE)
        return false;
    for (size_t at = 0, count = ptc_seq_count(seq); at < count; at += p->step) {
        size_t left = count - at;
        if (left < p->size && !p->all && p->pad == PTC_NONE)
            break;
        PtcValue piece = ptc_seq_slice(vm->heap, seq, at, left < p->size ? left : p->size, PTC_SEQ);
        if (piece != PTC_NONE && left < p->size && !p->all)
            piece = padded(vm, piece, p);
        if (piece == PTC_NONE || !ptc_tick(&vm->budget, 1) || !ptc_build_add(vm->heap, b, piece))
            return false;
        if (left <= p->step || (left < p->size && !p->all))
            break;
    }
    return ptc_give(out, ptc_build_done(vm->heap, b, PTC_SEQ));
}

/* Pieces of no element: as many as there are steps; less than none never come together. */
static bool divide_empty(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out)
{
    size_t step = 0;
    PtcValue seq = ptc_arg_finite(vm, argv, argc - 1);
    if (seq != PTC_NONE)
        seq = ptc_seq_flat(vm, seq);
    PtcValue none = seq == PTC_NONE ? PTC_NONE : ptc_vec_new(vm->heap, NULL, 0, PTC_SEQ);
    if (none == PTC_NONE || ptc_seq_count(seq) == 0 || ptc_to_int(argv[0]) < 0)
        return ptc_give(out, none);
    if (argc == 2) {
        ptc_fail(vm, PTC_E_VALUE, "partition: pieces of 0 elements that begin 0 apart never end");
        return ptc_fail_hint(vm, "give a step: (partition 0 1 coll)");
    }
    if (!arg_positive(vm, argv, 1, &step))
        return false;
    PtcValue b = ptc_build_new(vm->heap);
    for (size_t at = 0; b != PTC_NONE && at < ptc_seq_count(seq); at += step) {
        if (!ptc_tick(&vm->budget, 1) || !ptc_build_add(vm->heap, b, none))
            return false;
        if (ptc_seq_count(seq) - at <= step)
            break;
    }
    return b != PTC_NONE && ptc_give(out, ptc_build_done(vm->heap, b, PTC_SEQ));
}

PTC_BUILTIN(
    core_partition, "clojure.core", "partition", 2, 4,
    PTC_TAKES(PTC_IS_INT) | PTC_GIVES(PTC_IS_LIST) | PTC_RULE(PARTITION),
    "(partition n step? pad? coll)",
    "Pieces of n elements that begin step (n) apart; a shorter rest is left out, or filled up from "
    "pad when that is given.",
    "(partition 2 [1 2 3 4 5]) => [[1 2] [3 4]]\n(partition 2 1 [1 2 3]) => [[1 2] [2 3]]\n"
    "(partition 3 3 [0] [1 2 3 4]) => [[1 2 3] [4 0]]\n(partition 0 1 [1 2]) => [[] "
    "[]]\n(partition 0 [1]) !! value_error")
{
    Pieces p = {.pad = argc == 4 ? argv[2] : PTC_NONE};
    if (ptc_is_int(argv[0]) && ptc_to_int(argv[0]) <= 0)
        return divide_empty(vm, argc, argv, out);
    if (!arg_positive(vm, argv, 0, &p.size))
        return false;
    p.step = p.size;
    if (argc > 2 && !arg_positive(vm, argv, 1, &p.step))
        return false;
    if (argc == 4 && !ptc_is_seqable(argv[2]))
        return ptc_fail_type(vm, argv, 2, "a collection, string or nil");
    if (ptc_seq_endless(argv[argc - 1]))
        return divide_later(vm, argv[argc - 1], &p, out);
    return divide_into_pieces(vm, ptc_arg_finite(vm, argv, argc - 1), &p, out);
}

PTC_BUILTIN(
    core_partition_all, "clojure.core", "partition-all", 1, 3,
    PTC_TAKES3(PTC_IS_INT, PTC_IS_SEQABLE | PTC_IS_INT, PTC_IS_SEQABLE) |
        PTC_GIVES(PTC_IS_LIST | PTC_IS_FN),
    "(partition-all n step? coll)",
    "Pieces of n elements that begin step (n) apart, a shorter rest included; without coll, a "
    "transducer.",
    "(partition-all 2 [1 2 3]) => [[1 2] [3]]\n(partition-all 2 1 [1 2 3]) => [[1 2] [2 3] [3]]\n"
    "(partition-all -1 [1]) !! type_error")
{
    Pieces p = {.pad = PTC_NONE, .all = true};
    if (!arg_positive(vm, argv, 0, &p.size))
        return false;
    if (argc == 1)
        return ptc_xform(vm, argc, argv, out);
    p.step = p.size;
    if (argc == 3 && !arg_positive(vm, argv, 1, &p.step))
        return false;
    if (ptc_seq_endless(argv[argc - 1]))
        return divide_later(vm, argv[argc - 1], &p, out);
    return divide_into_pieces(vm, ptc_arg_finite(vm, argv, argc - 1), &p, out);
}

/* Moves to the next choice of n out of count, in order; false after the last. */
static bool next_choice(size_t *at, size_t n, size_t count)
{
    size_t i = n;
    while (i > 0 && at[i - 1] == count - n + i - 1)
        i--;
    if (i == 0)
        return false;
    at[i - 1]++;
    for (; i < n; i++)
        at[i] = at[i - 1] + 1;
    return true;
}

static bool choose_combinations(PtcVM *vm, const PtcItems *items, size_t n, PtcValue build)
{
    size_t bytes = (n + 1) * (sizeof(size_t) + sizeof(PtcValue));
    PtcValue *chosen = ptc_vm_scratch(vm, bytes);
    if (!chosen)
        return false;
    size_t *at = (size_t *)(chosen + n + 1);
    bool ok = true;
    for (size_t i = 0; i < n; i++)
        at[i] = i;
    do {
        for (size_t i = 0; i < n; i++)
            chosen[i] = items->at[at[i]];
        PtcValue v =
            ptc_tick(&vm->budget, 1 + (int64_t)n) ? ptc_vec_new(vm->heap, chosen, n, 0) : PTC_NONE;
        ok = v != PTC_NONE && ptc_build_add(vm->heap, build, v);
    } while (ok && next_choice(at, n, items->n));
    ptc_heap_scratch_free(vm->heap, chosen, bytes);
    return ok;
}

PTC_BUILTIN(core_combinations, "clojure.core", "combinations", 2, 2,
            PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST), "(combinations coll n)",
            "All ways to choose n of the elements, each a vector in the order of the collection.",
            "(combinations [1 2 3] 2) => [[1 2] [1 3] [2 3]]\n(combinations [1 2] 0) => [[]]\n"
            "(combinations [1] 2) => []")
{
    PtcIter it;
    PtcItems items;
    PtcValue b = ptc_build_new(vm->heap);
    if (b == PTC_NONE || !ptc_arg_number(vm, argv, 1) || !ptc_arg_all(vm, argv, 0, &it) ||
        !ptc_items_init(vm, &items, &it))
        return false;
    int64_t n = ptc_is_int(argv[1]) ? ptc_to_int(argv[1]) : -1;
    bool ok = n < 0 || (size_t)n > items.n || choose_combinations(vm, &items, (size_t)n, b);
    ptc_items_deinit(vm, &items);
    return ok && ptc_give(out, ptc_build_done(vm->heap, b, PTC_SEQ));
}

PTC_BUILTIN_TABLE(ptc_lib_seq_part, core_list, core_list_star, core_vector, core_vec, core_range,
                  core_repeat, core_cycle, core_cons, core_conj, core_into, core_concat,
                  core_interleave, core_interpose, core_zip, core_zipmap, hidden_flatten_one,
                  core_flatten, core_replace, hidden_replaced, core_partition, core_partition_all,
                  core_combinations);
