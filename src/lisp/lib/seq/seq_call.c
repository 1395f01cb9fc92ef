/* SPDX-License-Identifier: MIT
 * Sequence functions that call a function for each element: map, filter, reduce and their kin.  Across a call only
 * arguments, root slots and iterators over them stay valid. */
#include "lisp/lazy/produce.h"
#include "lisp/vm/many.h"
#include "lisp/vm/record.h"

/* Slots of the functions below that build a sequence. */
enum { SEQ_BUILT, SEQ_CURRENT, SEQ_SLOTS };

/* A function as argument 0, a collection as argument i, an empty builder and a slot beside it. */
static PtcValue *begin_seq_build(PtcVM *vm, const PtcValue *argv, int i, PtcIter *it)
{
    if (!ptc_arg_callable(vm, argv, 0) || !ptc_arg_all(vm, argv, i, it))
        return NULL;
    PtcValue *slots = ptc_roots(vm, SEQ_SLOTS);
    return slots && ptc_root_build(vm, &slots[SEQ_BUILT]) ? slots : NULL;
}

static bool finish_seq_build(PtcVM *vm, const PtcIter *it, PtcValue *slots, int flags,
                             PtcValue *out)
{
    return ptc_iter_end(it) && ptc_root_done(vm, &slots[SEQ_BUILT], flags, out);
}

/* Is the collection after the function one without end, so that the work must wait? */
static bool is_endless_call(int argc, const PtcValue *argv)
{
    return argc == 2 && PTC_UNLIKELY(ptc_seq_endless(argv[1]));
}

/* The same as a step on it. */
static bool as_stage(PtcVM *vm, PtcStepKind kind, const PtcValue *argv, PtcValue *out)
{
    return ptc_arg_callable(vm, argv, 0) && ptc_stage(vm, kind, 2, argv, out);
}

/* The function alone, as a transducer. */
static bool as_xform(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out)
{
    return ptc_arg_callable(vm, argv, 0) && ptc_xform(vm, argc, argv, out);
}

/* --------------------------------------------------------------------------- map */

/* What becomes of a result: pushed, or its elements are. */
typedef bool (*Emit)(PtcVM *vm, PtcValue *slots, PtcValue y);

static bool emit_one(PtcVM *vm, PtcValue *slots, PtcValue y)
{
    return ptc_root_push(vm, &slots[SEQ_BUILT], y);
}

static bool emit_all(PtcVM *vm, PtcValue *slots, PtcValue y)
{
    PtcIter it;
    PtcValue x;
    slots[SEQ_CURRENT] = y;
    if (!ptc_iter_init(&it, vm->heap, y))
        return ptc_fail_value_type(vm, y, "a result of the function",
                                   "a collection, string or nil");
    while (ptc_each(vm, &it, &x))
        if (!ptc_root_push(vm, &slots[SEQ_BUILT], x))
            return false;
    return ptc_iter_end(&it);
}

/* Over several collections side by side. */
static bool map_rows(PtcVM *vm, int argc, const PtcValue *argv, Emit emit, PtcValue *slots)
{
    PtcZip zip;
    PtcValue y, *row = ptc_roots(vm, argc - 1);
    if (!row || !ptc_zip_init(vm, &zip, argc, argv, 1, true))
        return false;
    bool ok = true;
    while (ok && ptc_zip_next(vm, &zip, row))
        ok = ptc_call(vm, argv[0], argc - 1, row, &y) && emit(vm, slots, y);
    ok = ok && !zip.failed;
    ptc_zip_deinit(vm, &zip);
    return ok;
}

/* Is one of the collections lazy, or have all of them no end? */
static bool all_wait(int argc, const PtcValue *argv, int from)
{
    bool endless = argc > from;
    for (int i = from; i < argc; i++) {
        if (ptc_is_lazy(argv[i]))
            return true;
        endless = endless && ptc_seq_endless(argv[i]);
    }
    return endless;
}

/* Over collections that are lazy or have no end: nothing is called yet. */
static bool map_later(PtcVM *vm, int argc, const PtcValue *argv, Emit emit, PtcValue *out)
{
    if (argc == 2)
        return as_stage(vm, emit == emit_all ? PTC_STEP_MAPCAT : PTC_STEP_MAP, argv, out);
    PtcValue *slot = ptc_roots(vm, 1);
    if (!slot || !ptc_arg_callable(vm, argv, 0) || !ptc_stage_rows(vm, argc, argv, 1, slot))
        return false;
    return emit == emit_all ? ptc_stage(vm, PTC_STEP_CAT, 1, slot, out) : ptc_give(out, *slot);
}

static bool map_into(PtcVM *vm, int argc, const PtcValue *argv, Emit emit, int flags, PtcValue *out)
{
    PtcIter it;
    PtcValue x, y;
    if (argc == 1)
        return as_xform(vm, argc, argv, out);
    if (flags == PTC_SEQ && PTC_UNLIKELY(all_wait(argc, argv, 1)))
        return map_later(vm, argc, argv, emit, out);
    if (argc > 2) {
        PtcValue *slots = ptc_arg_callable(vm, argv, 0) ? ptc_roots(vm, SEQ_SLOTS) : NULL;
        return slots && ptc_root_build(vm, &slots[SEQ_BUILT]) &&
               map_rows(vm, argc, argv, emit, slots) &&
               ptc_root_done(vm, &slots[SEQ_BUILT], flags, out);
    }
    PtcValue *slots = begin_seq_build(vm, argv, 1, &it);
    if (!slots)
        return false;
    PtcMany many;
    ptc_many_init(vm, &many, argv[0], 1);
    while (ptc_each(vm, &it, &x)) {
        if (!ptc_many1(vm, &many, x, &y))
            return false;
        if (emit == emit_all && PTC_UNLIKELY(ptc_seq_endless(y))) {
            slots[SEQ_CURRENT] = y;
            return ptc_join_rest(vm, argv[0], slots, &it, out);
        }
        if (!emit(vm, slots, y))
            return false;
    }
    return finish_seq_build(vm, &it, slots, flags, out);
}

/* (map :prise rows) */
static bool check_mapped_key(PtcVM *vm, int argc, const PtcValue *argv)
{
    return argc != 2 || !(ptc_is_keyword(argv[0]) || ptc_is_string(argv[0])) ||
           ptc_key_check(vm, argv[0], argv[1], true);
}

PTC_BUILTIN_EXPR(
    core_map, "clojure.core", "map", 1, -1,
    PTC_B_CALLS | PTC_TAKES3(PTC_IS_KEYED, PTC_IS_SEQABLE, PTC_IS_SEQABLE) |
        PTC_GIVES(PTC_IS_LIST | PTC_IS_FN) | PTC_RULE(MAP),
    "(map f & colls)",
    "The results of f for each element, or for the elements of several collections side by side "
    "to the end of the shortest; without a collection, a transducer.",
    "(map inc [1 2]) => [2 3]\n(map :a [{:a 1} {}]) => [1 nil]\n(map + [1 2] [10 20 30]) => [11 "
    "22]\n"
    "(map inc 5) !! type_error",
    map_into(vm, argc, argv, emit_one, PTC_SEQ, out) && check_mapped_key(vm, argc, argv))

PTC_BUILTIN_EXPR(
    core_mapv, "clojure.core", "mapv", 2, -1,
    PTC_B_CALLS | PTC_TAKES3(PTC_IS_KEYED, PTC_IS_SEQABLE, PTC_IS_SEQABLE) |
        PTC_GIVES(PTC_IS_LIST) | PTC_RULE(MAP),
    "(mapv f & colls)", "A vector of the results of f for each element.",
    "(mapv inc (list 4 5)) => [5 6]\n(mapv vector [1 2] \"ab\") => [[1 \"a\"] [2 \"b\"]]",
    map_into(vm, argc, argv, emit_one, 0, out) && check_mapped_key(vm, argc, argv))

PTC_BUILTIN_EXPR(
    core_mapcat, "clojure.core", "mapcat", 1, -1,
    PTC_B_CALLS | PTC_TAKES3(PTC_IS_KEYED, PTC_IS_SEQABLE, PTC_IS_SEQABLE) |
        PTC_GIVES(PTC_IS_LIST | PTC_IS_FN) | PTC_RULE(MAPCAT),
    "(mapcat f & colls)",
    "The elements of all results of f, which must be collections; without a collection, a "
    "transducer.",
    "(mapcat range [1 2]) => [0 0 1]\n(mapcat :tags [{:tags [\"a\"]} {}]) => [\"a\"]\n"
    "(mapcat inc [1]) !! type_error",
    map_into(vm, argc, argv, emit_all, PTC_SEQ, out) && check_mapped_key(vm, argc, argv))

PTC_BUILTIN(core_map_indexed, "clojure.core", "map-indexed", 1, 2,
            PTC_B_CALLS | PTC_TAKES2(PTC_IS_CALLED, PTC_IS_SEQABLE) |
                PTC_GIVES(PTC_IS_LIST | PTC_IS_FN) | PTC_RULE(MAP_INDEXED),
            "(map-indexed f coll)",
            "The results of (f index element) for each element; without coll, a transducer.",
            "(map-indexed vector [:a :b]) => [[0 :a] [1 :b]]\n(map-indexed dec [1]) !! arity_error")
{
    PtcIter it;
    PtcValue x, y;
    if (argc == 1)
        return as_xform(vm, argc, argv, out);
    if (is_endless_call(argc, argv))
        return as_stage(vm, PTC_STEP_MAP_INDEXED, argv, out);
    PtcValue *slots = begin_seq_build(vm, argv, 1, &it);
    if (!slots)
        return false;
    for (int64_t i = 0; ptc_each(vm, &it, &x); i++)
        if (!ptc_call2(vm, argv[0], ptc_int(i), x, &y) || !ptc_root_push(vm, &slots[SEQ_BUILT], y))
            return false;
    return finish_seq_build(vm, &it, slots, PTC_SEQ, out);
}

/* ------------------------------------------------------------------------ filter */

/* The elements for which f is truthy, or (want false) those for which it is not. */
static bool filter_into(PtcVM *vm, int argc, const PtcValue *argv, bool want, int flags,
                        PtcValue *out)
{
    PtcIter it;
    PtcValue x, y;
    if (argc == 1)
        return as_xform(vm, argc, argv, out);
    if (flags == PTC_SEQ && is_endless_call(argc, argv))
        return as_stage(vm, want ? PTC_STEP_FILTER : PTC_STEP_REMOVE, argv, out);
    PtcValue *slots = begin_seq_build(vm, argv, 1, &it);
    if (!slots)
        return false;
    PtcMany many;
    ptc_many_init(vm, &many, argv[0], 1);
    while (ptc_each(vm, &it, &x)) {
        slots[SEQ_CURRENT] = x;
        if (!ptc_many1(vm, &many, x, &y))
            return false;
        if (ptc_truthy(y) == want && !ptc_root_push(vm, &slots[SEQ_BUILT], slots[SEQ_CURRENT]))
            return false;
    }
    return finish_seq_build(vm, &it, slots, flags, out);
}

PTC_BUILTIN_EXPR(
    core_filter, "clojure.core", "filter", 1, 2,
    PTC_B_CALLS | PTC_TAKES2(PTC_IS_KEYED, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST | PTC_IS_FN) |
        PTC_RULE(FILTER),
    "(filter pred coll)",
    "The elements for which pred is neither false nor nil; without coll, a transducer.",
    "(filter even? [1 2 3 4]) => [2 4]\n(filter :on [{:on 1} {}]) => [{:on 1}]\n"
    "(filter #{\"b\"} [\"a\" \"b\"]) => [\"b\"]\n(filter [1 2] even?) !! type_error",
    filter_into(vm, argc, argv, true, PTC_SEQ, out) && check_mapped_key(vm, argc, argv))

PTC_BUILTIN_EXPR(core_filterv, "clojure.core", "filterv", 2, 2,
                 PTC_B_CALLS | PTC_TAKES2(PTC_IS_KEYED, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST) |
                     PTC_RULE(FILTER),
                 "(filterv pred coll)",
                 "A vector of the elements for which pred is neither false nor nil.",
                 "(filterv even? (range 5)) => [0 2 4]",
                 filter_into(vm, argc, argv, true, 0, out) && check_mapped_key(vm, argc, argv))

PTC_BUILTIN_EXPR(core_remove, "clojure.core", "remove", 1, 2,
                 PTC_B_CALLS | PTC_TAKES2(PTC_IS_KEYED, PTC_IS_SEQABLE) |
                     PTC_GIVES(PTC_IS_LIST | PTC_IS_FN) | PTC_RULE(REMOVE),
                 "(remove pred coll)",
                 "The elements for which pred is false or nil; without coll, a transducer.",
                 "(remove even? [1 2 3]) => [1 3]\n(remove #{1} [1 2]) => [2]",
                 filter_into(vm, argc, argv, false, PTC_SEQ, out) &&
                     check_mapped_key(vm, argc, argv))

PTC_BUILTIN(
    core_keep, "clojure.core", "keep", 1, 2,
    PTC_B_CALLS | PTC_TAKES2(PTC_IS_KEYED, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST | PTC_IS_FN) |
        PTC_RULE(KEEP),
    "(keep f coll)",
    "The results of f for each element, without those that are nil; without coll, a transducer.",
    "(keep :a [{:a 1} {} {:a false}]) => [1 false]\n(keep #{1 2} [0 1 2]) => [1 2]")
{
    PtcIter it;
    PtcValue x, y;
    if (argc == 1)
        return as_xform(vm, argc, argv, out);
    if (is_endless_call(argc, argv))
        return as_stage(vm, PTC_STEP_KEEP, argv, out);
    PtcValue *slots = begin_seq_build(vm, argv, 1, &it);
    if (!slots)
        return false;
    while (ptc_each(vm, &it, &x))
        if (!ptc_call_element(vm, argv[0], x, &y) ||
            (y != PTC_NIL && !ptc_root_push(vm, &slots[SEQ_BUILT], y)))
            return false;
    return finish_seq_build(vm, &it, slots, PTC_SEQ, out) && check_mapped_key(vm, argc, argv);
}

PTC_BUILTIN(
    core_keep_indexed, "clojure.core", "keep-indexed", 1, 2,
    PTC_B_CALLS | PTC_TAKES2(PTC_IS_CALLED, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST | PTC_IS_FN),
    "(keep-indexed f coll)",
    "The results of (f index element), without those that are nil; without coll, a transducer.",
    "(keep-indexed (fn [i x] (when (neg? x) i)) [3 -1 4 -5]) => [1 3]")
{
    PtcIter it;
    PtcValue x, y;
    if (argc == 1)
        return as_xform(vm, argc, argv, out);
    if (is_endless_call(argc, argv))
        return as_stage(vm, PTC_STEP_KEEP_INDEXED, argv, out);
    PtcValue *slots = begin_seq_build(vm, argv, 1, &it);
    if (!slots)
        return false;
    for (int64_t i = 0; ptc_each(vm, &it, &x); i++)
        if (!ptc_call2(vm, argv[0], ptc_int(i), x, &y) ||
            (y != PTC_NIL && !ptc_root_push(vm, &slots[SEQ_BUILT], y)))
            return false;
    return finish_seq_build(vm, &it, slots, PTC_SEQ, out);
}

/* ------------------------------------------------------------------------- tests */

/* Stops at the first element for which f is truthy (or, want false, is not); *found is that result,
 * or PTC_NONE. */
static bool search_elements(PtcVM *vm, const PtcValue *argv, bool want, PtcValue *found)
{
    PtcIter it;
    PtcValue x, y;
    *found = PTC_NONE;
    if (!ptc_arg_callable(vm, argv, 0) || !ptc_arg_pull(vm, argv, 1, &it))
        return false;
    const char *outer = ptc_walk(vm, argv, 1);
    while (*found == PTC_NONE && ptc_each(vm, &it, &x)) {
        if (!ptc_call_element(vm, argv[0], x, &y))
            return false;
        if (ptc_truthy(y) == want)
            *found = y;
    }
    return ptc_iter_end(&it) && ptc_walked(vm, outer);
}

/* Searches, and answers whether it was in vain. */
static bool in_vain(PtcVM *vm, const PtcValue *argv, bool want, bool vain, PtcValue *out)
{
    PtcValue found;
    if (!search_elements(vm, argv, want, &found))
        return false;
    *out = ptc_bool((found == PTC_NONE) == vain);
    return true;
}

PTC_BUILTIN(
    core_some, "clojure.core", "some", 2, 2,
    PTC_B_CALLS | PTC_TAKES2(PTC_IS_KEYED, PTC_IS_SEQABLE) | PTC_RULE(SOME), "(some pred coll)",
    "The first result of pred that is neither false nor nil; nil when there is none.",
    "(some even? [1 3 6]) => true\n(some #{\"y\"} [\"x\" \"y\"]) => \"y\"\n(some even? [1]) => nil")
{
    PtcValue found;
    if (!search_elements(vm, argv, true, &found))
        return false;
    *out = found == PTC_NONE ? PTC_NIL : found;
    return true;
}

PTC_BUILTIN_EXPR(
    core_every_p, "clojure.core", "every?", 2, 2,
    PTC_B_CALLS | PTC_TAKES2(PTC_IS_KEYED, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_BOOL) |
        PTC_RULE(EVERY),
    "(every? pred coll)", "True when pred holds for all elements, and when there are none.",
    "(every? pos? [1 2]) => true\n(every? pos? [1 0]) => false\n(every? pos? nil) => true",
    in_vain(vm, argv, false, true, out))

PTC_BUILTIN_EXPR(core_not_every_p, "clojure.core", "not-every?", 2, 2,
                 PTC_B_CALLS | PTC_TAKES2(PTC_IS_KEYED, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_BOOL) |
                     PTC_RULE(EVERY),
                 "(not-every? pred coll)", "True when pred fails for some element.",
                 "(not-every? even? [2 3]) => true\n(not-every? even? []) => false",
                 in_vain(vm, argv, false, false, out))

PTC_BUILTIN_EXPR(core_not_any_p, "clojure.core", "not-any?", 2, 2,
                 PTC_B_CALLS | PTC_TAKES2(PTC_IS_KEYED, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_BOOL) |
                     PTC_RULE(EVERY),
                 "(not-any? pred coll)", "True when pred holds for no element.",
                 "(not-any? neg? [1 2]) => true\n(not-any? neg? [1 -2]) => false",
                 in_vain(vm, argv, true, true, out))

/* -------------------------------------------------------------------- up to a place */

/* Argument 1 as a sequential in *slot, and how many of its first elements satisfy argument 0. */
static bool count_while(PtcVM *vm, const PtcValue *argv, PtcValue *slot, size_t *n)
{
    PtcIter it;
    PtcValue x, y;
    if (!ptc_arg_callable(vm, argv, 0) || !ptc_root_seq(vm, argv, 1, false, slot) ||
        !ptc_iter_init(&it, vm->heap, *slot))
        return false;
    for (*n = 0; ptc_each(vm, &it, &x); ++*n) {
        if (!ptc_call_element(vm, argv[0], x, &y))
            return false;
        if (!ptc_truthy(y))
            return true;
    }
    return ptc_iter_end(&it);
}

/* The first n elements (part 0), the others (1), or a vector of both (2). */
static PtcValue split_part_of(PtcVM *vm, PtcValue seq, size_t n, int part)
{
    if (part == 0)
        return ptc_seq_take(vm, seq, n);
    if (part == 1)
        return ptc_seq_drop(vm, seq, n);
    PtcValue both[2] = {ptc_seq_take(vm, seq, n), ptc_seq_drop(vm, seq, n)};
    if (both[0] == PTC_NONE || both[1] == PTC_NONE)
        return PTC_NONE;
    return ptc_vec_new(vm->heap, both, 2, 0);
}

/* The elements of a producer before the first for which argument 0 fails.  They are computed when they are asked for:
 * what takes them may need fewer. */
static bool take_produced(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    if (!ptc_arg_callable(vm, argv, 0))
        return false;
    PtcValue v = PTC_RETRY(
        vm, ptc_producer_keep(vm, ptc_producer_add(vm, argv[1], PTC_STEP_TAKE_WHILE, 1, argv),
                              PTC_NONE, PTC_STEP_TAKE_WHILE));
    if (v != PTC_NONE)
        ptc_obj(v)->flags |= PTC_LAZY_BOUNDED;
    return ptc_give(out, v);
}

/* The same parts as part_of gives, of a producer. */
static bool split_produced(PtcVM *vm, const PtcValue *argv, int part, PtcValue *out)
{
    if (part == 0 && ptc_is_lazy(argv[1]))
        return as_stage(vm, PTC_STEP_TAKE_WHILE, argv, out);
    if (part == 0)
        return take_produced(vm, argv, out);
    if (part == 1)
        return as_stage(vm, PTC_STEP_DROP_WHILE, argv, out);
    PtcValue *both = ptc_roots(vm, 2);
    if (!both || !split_produced(vm, argv, 0, &both[0]) ||
        !as_stage(vm, PTC_STEP_DROP_WHILE, argv, &both[1]))
        return false;
    return ptc_give(out, PTC_RETRY(vm, ptc_vec_new(vm->heap, both, 2, 0)));
}

static bool split_while(PtcVM *vm, int argc, const PtcValue *argv, int part, PtcValue *out)
{
    size_t n;
    if (argc == 1)
        return as_xform(vm, argc, argv, out);
    if (PTC_UNLIKELY(ptc_is_producer(argv[1])) || (part != 1 && is_endless_call(argc, argv)))
        return split_produced(vm, argv, part, out);
    PtcValue *slot = ptc_roots(vm, 1);
    if (!slot || !count_while(vm, argv, slot, &n))
        return false;
    PtcValue v = PTC_RETRY(vm, split_part_of(vm, *slot, n, part));
    return ptc_give(out, v);
}

PTC_BUILTIN_EXPR(core_take_while, "clojure.core", "take-while", 1, 2,
                 PTC_B_CALLS | PTC_TAKES2(PTC_IS_KEYED, PTC_IS_SEQABLE) |
                     PTC_GIVES(PTC_IS_LIST | PTC_IS_FN) | PTC_RULE(WHILE),
                 "(take-while pred coll)",
                 "The elements before the first for which pred fails; without coll, a transducer.",
                 "(take-while pos? [1 2 -3 4]) => [1 2]\n(take-while #(< % 3) (range)) => [0 1 2]",
                 split_while(vm, argc, argv, 0, out))

PTC_BUILTIN_EXPR(core_drop_while, "clojure.core", "drop-while", 1, 2,
                 PTC_B_CALLS | PTC_TAKES2(PTC_IS_KEYED, PTC_IS_SEQABLE) |
                     PTC_GIVES(PTC_IS_LIST | PTC_IS_FN) | PTC_RULE(WHILE),
                 "(drop-while pred coll)",
                 "The elements from the first for which pred fails; without coll, a transducer.",
                 "(drop-while neg? [-2 -1 0 -5]) => [0 -5]\n(drop-while nil? [nil]) => []",
                 split_while(vm, argc, argv, 1, out))

PTC_BUILTIN_EXPR(
    core_split_with, "clojure.core", "split-with", 2, 2,
    PTC_B_CALLS | PTC_TAKES2(PTC_IS_KEYED, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST),
    "(split-with pred coll)",
    "A vector of the elements before the first for which pred fails, and of the others.",
    "(split-with pos? [1 2 -3 4]) => [[1 2] [-3 4]]", split_while(vm, argc, argv, 2, out))

/* The elements from `start` to `end` of slots[CURRENT] as one more piece. */
static bool push_run(PtcVM *vm, PtcValue *slots, size_t start, size_t end)
{
    PtcValue run =
        PTC_RETRY(vm, ptc_seq_slice(vm->heap, slots[SEQ_CURRENT], start, end - start, PTC_SEQ));
    return run != PTC_NONE && ptc_root_push(vm, &slots[SEQ_BUILT], run);
}

PTC_BUILTIN(core_partition_by, "clojure.core", "partition-by", 1, 2,
            PTC_B_CALLS | PTC_TAKES2(PTC_IS_KEYED, PTC_IS_SEQABLE) |
                PTC_GIVES(PTC_IS_LIST | PTC_IS_FN) | PTC_RULE(PARTITION_BY),
            "(partition-by f coll)",
            "Runs of neighbours for which f gives the same; without coll, a transducer.",
            "(partition-by even? [2 4 1 8]) => [[2 4] [1] [8]]\n(partition-by :k nil) => []")
{
    PtcIter it;
    PtcValue x, y;
    if (argc == 1)
        return as_xform(vm, argc, argv, out);
    if (is_endless_call(argc, argv))
        return as_stage(vm, PTC_STEP_PARTITION_BY, argv, out);
    PtcValue *slots = ptc_arg_callable(vm, argv, 0) ? ptc_roots(vm, SEQ_SLOTS + 1) : NULL;
    if (!slots || !ptc_root_build(vm, &slots[SEQ_BUILT]) ||
        !ptc_root_seq(vm, argv, 1, true, &slots[SEQ_CURRENT]) ||
        !ptc_iter_init(&it, vm->heap, slots[SEQ_CURRENT]))
        return false;
    size_t start = 0, i = 0;
    for (; ptc_each(vm, &it, &x); i++) {
        if (!ptc_call_element(vm, argv[0], x, &y))
            return false;
        bool same = i == 0 || ptc_same(vm->heap, slots[SEQ_SLOTS], y);
        slots[SEQ_SLOTS] = y;
        if (same)
            continue;
        if (!push_run(vm, slots, start, i))
            return false;
        start = i;
    }
    if (!ptc_iter_end(&it) || (i > start && !push_run(vm, slots, start, i)))
        return false;
    return ptc_root_done(vm, &slots[SEQ_BUILT], PTC_SEQ, out);
}

/* ------------------------------------------------------------------------ reduce */

PTC_BUILTIN(
    core_reduce, "clojure.core", "reduce", 2, 3,
    PTC_B_CALLS | PTC_TAKES3(PTC_IS_CALLED, 0, PTC_IS_SEQABLE) | PTC_RULE(REDUCE),
    "(reduce f init? coll)",
    "Folds the elements into one value with (f acc element), beginning with init or the first "
    "element; a (reduced x) result ends it at once.",
    "(reduce + [1 2 3]) => 6\n(reduce conj [] \"ab\") => [\"a\" \"b\"]\n(reduce + []) => 0\n"
    "(reduce + 1 2) !! type_error")
{
    PtcIter it;
    if (!ptc_arg_callable(vm, argv, 0) || !ptc_arg_pull(vm, argv, argc - 1, &it))
        return false;
    PtcValue *acc = ptc_roots(vm, 1);
    if (!acc)
        return false;
    if (argc == 3)
        *acc = argv[1];
    else if (!ptc_each(vm, &it, acc))
        return ptc_iter_end(&it) && ptc_call(vm, argv[0], 0, NULL, out);
    const char *outer = ptc_walk(vm, argv, argc - 1);
    return ptc_fold(vm, argv[0], &it, acc) && ptc_walked(vm, outer) && ptc_give(out, *acc);
}

/* One step of reduce-kv; false in *more after a (reduced x). */
static bool step_kv(PtcVM *vm, PtcValue f, PtcValue *acc, PtcValue key, PtcValue value, bool *more)
{
    PtcValue y, args[3] = {*acc, key, value};
    if (!ptc_call(vm, f, 3, args, &y))
        return false;
    *more = !ptc_is_record(y, PTC_R_REDUCED);
    *acc = *more ? y : ptc_record_field(y, 0);
    return true;
}

PTC_BUILTIN(
    core_reduce_kv, "clojure.core", "reduce-kv", 3, 3,
    PTC_B_CALLS | PTC_TAKES3(PTC_IS_CALLED, 0, PTC_IS_ASSOCIATIVE) | PTC_RULE(REDUCE_KV),
    "(reduce-kv f init coll)",
    "Folds the entries of a map, or the indexes and elements of a vector, with (f acc key value).",
    "(reduce-kv (fn [m k v] (assoc m v k)) {} {:a 1}) => {1 :a}\n"
    "(reduce-kv (fn [n i x] (+ n (* i x))) 0 [5 6]) => 6\n(reduce-kv + 0 #{1}) !! type_error")
{
    PtcIter it;
    PtcValue key, value, coll = argv[2];
    bool more = true;
    if (coll != PTC_NIL && !ptc_is_map(coll) && !ptc_is_sequential(coll))
        return ptc_fail_type(vm, argv, 2, "a map, vector or nil");
    PtcValue *acc = ptc_arg_callable(vm, argv, 0) ? ptc_roots(vm, 1) : NULL;
    if (!acc || !ptc_iter_init(&it, vm->heap, coll))
        return false;
    *acc = argv[1];
    if (ptc_is_map(coll)) {
        for (size_t pos = 0; more && ptc_map_next(coll, &pos, &key, &value);)
            if (!ptc_tick(&vm->budget, 1) || !step_kv(vm, argv[0], acc, key, value, &more))
                return false;
        return ptc_give(out, *acc);
    }
    for (int64_t i = 0; more && ptc_each(vm, &it, &value); i++)
        if (!step_kv(vm, argv[0], acc, ptc_int(i), value, &more))
            return false;
    return ptc_iter_end(&it) && ptc_give(out, *acc);
}

/* The same over what has no end: init goes in front of the others. */
static bool reductions_later(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out)
{
    PtcValue *slot = ptc_roots(vm, 1);
    if (!slot || !ptc_arg_callable(vm, argv, 0) ||
        !ptc_stage(vm, PTC_STEP_REDUCTIONS, argc, argv, slot))
        return false;
    if (argc == 2)
        return ptc_give(out, *slot);
    return ptc_give(out, PTC_RETRY(vm, ptc_producer_cons(vm, argv[1], *slot)));
}

PTC_BUILTIN(core_reductions, "clojure.core", "reductions", 2, 3,
            PTC_B_CALLS | PTC_TAKES3(PTC_IS_CALLED, 0, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST),
            "(reductions f init? coll)",
            "All the values that reduce goes through, one after the other.",
            "(reductions + [1 2 3]) => [1 3 6]\n(reductions conj [] [1]) => [[] [1]]")
{
    PtcIter it;
    PtcValue x, y;
    if (PTC_UNLIKELY(ptc_seq_endless(argv[argc - 1])))
        return reductions_later(vm, argc, argv, out);
    PtcValue *slots = begin_seq_build(vm, argv, argc - 1, &it), *acc;
    if (!slots)
        return false;
    acc = &slots[SEQ_CURRENT];
    if (argc == 3)
        *acc = argv[1];
    else if (!ptc_each(vm, &it, acc) &&
             (!ptc_iter_end(&it) || !ptc_call(vm, argv[0], 0, NULL, acc)))
        return false;
    if (!ptc_root_push(vm, &slots[SEQ_BUILT], *acc))
        return false;
    while (ptc_each(vm, &it, &x)) {
        if (!ptc_call2(vm, argv[0], *acc, x, &y))
            return false;
        bool done = ptc_is_record(y, PTC_R_REDUCED);
        *acc = done ? ptc_record_field(y, 0) : y;
        if (!ptc_root_push(vm, &slots[SEQ_BUILT], *acc))
            return false;
        if (done)
            break;
    }
    return finish_seq_build(vm, &it, slots, PTC_SEQ, out);
}

/* ----------------------------------------------------------------------- effects */

PTC_BUILTIN(core_run, "clojure.core", "run!", 2, 2,
            PTC_B_CALLS | PTC_TAKES2(PTC_IS_CALLED, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_NIL) |
                PTC_RULE(EACH),
            "(run! f coll)", "Calls f for each element, for its effects; the result is nil.",
            "(run! inc [1 2]) => nil\n(run! inc 5) !! type_error")
{
    PtcIter it;
    PtcValue x, y;
    if (!ptc_arg_callable(vm, argv, 0) || !ptc_arg_pull(vm, argv, 1, &it))
        return false;
    const char *outer = ptc_walk(vm, argv, 1);
    while (ptc_each(vm, &it, &x)) {
        if (!ptc_call1(vm, argv[0], x, &y))
            return false;
        if (ptc_is_record(y, PTC_R_REDUCED))
            break;
    }
    *out = PTC_NIL;
    return ptc_iter_end(&it) && ptc_walked(vm, outer);
}

PTC_BUILTIN_TABLE(ptc_lib_seq_call, core_map, core_mapv, core_mapcat, core_map_indexed, core_filter,
                  core_filterv, core_remove, core_keep, core_keep_indexed, core_some, core_every_p,
                  core_not_every_p, core_not_any_p, core_take_while, core_drop_while,
                  core_split_with, core_partition_by, core_reduce, core_reduce_kv, core_reductions,
                  core_run);
