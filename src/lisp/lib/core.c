/* SPDX-License-Identifier: MIT
 * What the compiler itself calls: access for destructuring.  Hidden from programs. */
#include "lisp/lazy/produce.h"
#include "lisp/lib/java/interop.h"
#include "lisp/vm/vm_int.h"

static bool fail_destructure(PtcVM *vm, PtcValue v)
{
    ptc_fail(vm, PTC_E_TYPE | PTC_AS(UNSUPPORTED), "cannot take %s apart by position",
             ptc_type_name(v));
    return ptc_fail_hint(vm, "[a b] patterns need a vector, sequence, string, map or nil");
}

static bool nth_produced(PtcVM *vm, PtcValue producer, size_t i, PtcValue *out)
{
    if (!ptc_produced_nth(vm, producer, i, out))
        return false;
    *out = *out == PTC_NONE ? PTC_NIL : *out;
    return true;
}

PTC_BUILTIN(core_nth, "ptc", "nth", 2, 2, PTC_B_HIDDEN | PTC_TAKES(PTC_IS_SEQABLE) | PTC_RULE(NTH),
            "[a b]", "Element of a destructured value, or nil.", "")
{
    size_t i = (size_t)ptc_to_int(argv[1]);
    PtcValue coll = argv[0];
    if (ptc_is_sequential(coll)) {
        *out = i < ptc_seq_count(coll) ? ptc_seq_nth(coll, i) : PTC_NIL;
        return true;
    }
    if (ptc_is_producer(coll))
        return nth_produced(vm, coll, i, out);
    PtcIter it;
    if (!ptc_iter_init(&it, vm->heap, coll))
        return fail_destructure(vm, coll);
    PtcValue x = PTC_NIL;
    for (size_t k = 0; k <= i; k++) {
        if (!ptc_tick(&vm->budget, 1))
            return false;
        if (!ptc_iter_next(&it, &x)) {
            *out = PTC_NIL;
            return ptc_iter_end(&it);
        }
    }
    *out = x;
    return true;
}

static bool rest_of_other(PtcVM *vm, PtcValue coll, size_t skip, PtcValue *out)
{
    PtcIter it;
    PtcValue x, b = ptc_build_new(vm->heap);
    if (!ptc_iter_init(&it, vm->heap, coll))
        return fail_destructure(vm, coll);
    for (size_t k = 0; b != PTC_NONE && ptc_iter_next(&it, &x); k++) {
        if (!ptc_tick(&vm->budget, 1) || (k >= skip && !ptc_build_add(vm->heap, b, x)))
            return false;
    }
    if (b == PTC_NONE || it.failed)
        return false;
    if (ptc_build_count(b) == 0) {
        *out = PTC_NIL;
        return true;
    }
    return ptc_give(out, ptc_build_done(vm->heap, b, PTC_SEQ));
}

PTC_BUILTIN(core_nthrest, "ptc", "nthrest", 2, 2,
            PTC_B_HIDDEN | PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_NIL | PTC_IS_LIST) |
                PTC_RULE(SOME_OF),
            "[a & more]", "What follows in a destructured value, nil when nothing does.", "")
{
    size_t skip = (size_t)ptc_to_int(argv[1]);
    if (ptc_is_producer(argv[0]))
        return ptc_produced_rest(vm, argv[0], skip, out);
    if (!ptc_is_sequential(argv[0]))
        return rest_of_other(vm, argv[0], skip, out);
    if (ptc_seq_endless(argv[0]))
        return ptc_give(out, ptc_seq_drop(vm, argv[0], skip));
    size_t n = ptc_seq_count(argv[0]);
    if (skip >= n) {
        *out = PTC_NIL;
        return true;
    }
    return ptc_give(out, ptc_seq_slice(vm->heap, argv[0], skip, n - skip, PTC_SEQ));
}

/* A map after the pairs adds to them; nil adds nothing. */
static bool merge_options(PtcVM *vm, PtcValue map, PtcValue more, PtcValue *out)
{
    PtcValue key, value;
    for (size_t pos = 0; more != PTC_NIL && ptc_map_next(more, &pos, &key, &value);)
        if (!ptc_tick(&vm->budget, 1) ||
            (map = ptc_map_assoc(vm->heap, map, key, value)) == PTC_NONE)
            return false;
    return ptc_give(out, map);
}

/* Keys and values one after the other as a map. */
static bool options(PtcVM *vm, PtcValue from, PtcValue *out)
{
    PtcValue map = ptc_map_empty(vm->heap), key, value;
    PtcIter it;
    if (!ptc_is_sequential(from))
        return ptc_give(out, from);
    if (map == PTC_NONE || !ptc_iter_init(&it, vm->heap, from))
        return false;
    while (ptc_iter_next(&it, &key)) {
        if (!ptc_tick(&vm->budget, 1))
            return false;
        if (!ptc_iter_next(&it, &value)) {
            if (ptc_map_count(map) == 0 && (ptc_is_map(key) || key == PTC_NIL))
                return ptc_give(out, key);
            if (ptc_is_map(key) || key == PTC_NIL)
                return merge_options(vm, map, key, out);
            ptc_fail(vm, PTC_E_VALUE, "keyword arguments come in pairs; the last key has no value");
            return ptc_fail_hint(vm, "call it as (f :key value)");
        }
        if ((map = ptc_map_assoc(vm->heap, map, key, value)) == PTC_NONE)
            return false;
    }
    return ptc_give(out, map);
}

PTC_BUILTIN(core_get, "ptc", "get", 2, 3, PTC_B_HIDDEN | PTC_RULE(GET), "{a :a}",
            "Value under a key of a destructured map.", "")
{
    PtcValue from = argv[0];
    /* A list is taken for keyword arguments, as Clojure does. */
    if (ptc_is_sequential(from) && ptc_is_seq_flagged(from) && !options(vm, from, &from))
        return false;
    if (ptc_is_string(from))
        return ptc_as(vm, "clojure.core/get", argc, argv, out);
    *out = ptc_lookup(vm, from, argv[1], argc == 3 ? argv[2] : PTC_NIL);
    return true;
}

/* Keyword arguments: (f :a 1 :b 2) for [& {:keys [a b]}]; a map may follow or stand alone. */
PTC_BUILTIN_EXPR(core_options, "ptc", "options", 1, 1, PTC_B_HIDDEN, "[& {:keys [a]}]",
                 "The rest arguments as a map.", "", options(vm, argv[0], out))

PTC_BUILTIN(core_as_map, "ptc", "as-map", 1, 1, PTC_B_HIDDEN, "{:as m}",
            "A destructured map; a list is taken for keyword arguments.", "")
{
    bool list = ptc_is_sequential(argv[0]) && ptc_is_seq_flagged(argv[0]);
    return list ? options(vm, argv[0], out) : ptc_give(out, argv[0]);
}

PTC_BUILTIN_TABLE(ptc_lib_core, core_nth, core_nthrest, core_get, core_options, core_as_map);
