/* SPDX-License-Identifier: MIT
 * Pouring elements into a collection: behind conj, into and zipmap.  Few elements are added one by
 * one to the collection, which shares with it; many are built together with its own. */
#include "lisp/lazy/produce.h"
#include "lisp/lib/seq/sorted_colls.h"

/* Small maps grow entry by entry, since that finds the shape that others with the same keys have. */
enum { FEW_ENTRIES = 8, SHARE = 4, SORTED_SHARE = 256 };

/* Is it cheaper to build anew than to add `more` elements to `count`? */
static bool worth_building(PtcValue to, size_t count, size_t more)
{
    return more > FEW_ENTRIES && more >= count / (ptc_is_sorted(to) ? SORTED_SHARE : SHARE);
}

/* -------------------------------------------------------------------------- maps */

static bool map_sink_all(PtcMapSink *sink, PtcValue map)
{
    PtcValue key, value;
    for (size_t pos = 0; ptc_map_next(map, &pos, &key, &value);)
        if (!ptc_tick(&sink->vm->budget, 1) || !ptc_map_sink_put(sink, key, value))
            return ptc_map_sink_fail(sink);
    return true;
}

bool ptc_map_sink_init(PtcVM *vm, PtcMapSink *sink, PtcValue to, size_t more)
{
    sink->vm = vm;
    sink->map = to;
    sink->building = worth_building(to, ptc_map_count(to), more);
    if (!sink->building)
        return true;
    return ptc_dict_build_init(&sink->build, vm->heap, false) && map_sink_all(sink, to);
}

bool ptc_map_sink_put(PtcMapSink *sink, PtcValue key, PtcValue value)
{
    if (sink->building) {
        if (ptc_dict_build_put(&sink->build, key, value))
            return true;
        ptc_dict_build_cancel(&sink->build);
        return false;
    }
    sink->map = ptc_map_assoc(sink->vm->heap, sink->map, key, value);
    return sink->map != PTC_NONE;
}

bool ptc_map_sink_fail(PtcMapSink *sink)
{
    if (sink->building)
        ptc_dict_build_cancel(&sink->build);
    return false;
}

/* A pair, a map of several, or nil: what conj accepts on a map. */
static bool sink_item(PtcMapSink *sink, PtcValue x)
{
    if (ptc_is_sequential(x) && ptc_seq_count(x) == 2)
        return ptc_map_sink_put(sink, ptc_seq_nth(x, 0), ptc_seq_nth(x, 1));
    if (x == PTC_NIL)
        return true;
    if (ptc_is_map(x))
        return map_sink_all(sink, x);
    ptc_fail_value_type(sink->vm, x, "an element for the map", "a [key value] pair");
    return ptc_map_sink_fail(sink);
}

PtcValue ptc_map_sink_done(PtcMapSink *sink)
{
    if (!sink->building)
        return sink->map;
    return ptc_is_sorted(sink->map)
               ? ptc_sorted_done(sink->vm, &sink->build, ptc_sorted_by(sink->map))
               : ptc_dict_build_done(&sink->build);
}

static PtcValue pour_map(PtcVM *vm, PtcValue to, PtcIter *it)
{
    PtcMapSink sink;
    PtcValue x;
    if (!ptc_map_sink_init(vm, &sink, to, ptc_iter_hint(it)))
        return PTC_NONE;
    if (ptc_is_map(it->coll))
        return map_sink_all(&sink, it->coll) ? ptc_map_sink_done(&sink) : PTC_NONE;
    while (ptc_next(vm, it, &x))
        if (!sink_item(&sink, x))
            return PTC_NONE;
    if (ptc_iter_end(it))
        return ptc_map_sink_done(&sink);
    ptc_map_sink_fail(&sink);
    return PTC_NONE;
}

/* -------------------------------------------------------------------------- sets */

static PtcValue build_set(PtcVM *vm, PtcValue to, PtcIter *first, PtcIter *second)
{
    PtcDictBuild b;
    PtcValue x;
    bool ok = ptc_dict_build_init(&b, vm->heap, true);
    while (ok && ptc_next(vm, first, &x))
        ok = ptc_dict_build_put(&b, x, PTC_NIL);
    while (ok && ptc_next(vm, second, &x))
        ok = ptc_dict_build_put(&b, x, PTC_NIL);
    if (ok && ptc_iter_end(first) && ptc_iter_end(second))
        return ptc_is_sorted(to) ? ptc_sorted_done(vm, &b, ptc_sorted_by(to))
                                 : ptc_dict_build_done(&b);
    ptc_dict_build_cancel(&b);
    return PTC_NONE;
}

static PtcValue pour_set(PtcVM *vm, PtcValue to, PtcIter *it)
{
    PtcIter own;
    PtcValue x;
    if (worth_building(to, ptc_map_count(to), ptc_iter_hint(it)))
        return ptc_iter_init(&own, vm->heap, to) ? build_set(vm, to, &own, it) : PTC_NONE;
    while (ptc_next(vm, it, &x)) {
        to = ptc_set_add(vm->heap, to, x);
        if (to == PTC_NONE)
            return to;
    }
    return ptc_iter_end(it) ? to : PTC_NONE;
}

/* ------------------------------------------------------------- vectors and lists */

static PtcValue build_vec(PtcVM *vm, PtcIter *first, PtcIter *second)
{
    PtcValue x, b = ptc_build_new(vm->heap);
    bool ok = b != PTC_NONE;
    while (ok && ptc_next(vm, first, &x))
        ok = ptc_build_add(vm->heap, b, x);
    while (ok && ptc_next(vm, second, &x))
        ok = ptc_build_add(vm->heap, b, x);
    ok = ok && ptc_iter_end(first) && ptc_iter_end(second);
    return ok ? ptc_build_done(vm->heap, b, ptc_is_queue(first->coll) ? PTC_QUEUE : 0) : PTC_NONE;
}

static PtcValue pour_vec(PtcVM *vm, PtcValue to, PtcIter *it)
{
    PtcIter own;
    PtcValue x;
    if (worth_building(to, ptc_seq_count(to), ptc_iter_hint(it)))
        return ptc_iter_init(&own, vm->heap, to) ? build_vec(vm, &own, it) : PTC_NONE;
    while (ptc_next(vm, it, &x)) {
        to = ptc_vec_conj(vm->heap, to, x);
        if (to == PTC_NONE)
            return to;
    }
    return ptc_iter_end(it) ? to : PTC_NONE;
}

static PtcValue pour_list(PtcVM *vm, PtcValue to, PtcIter *it)
{
    PtcValue x;
    while (ptc_next(vm, it, &x)) {
        to = ptc_seq_prepend(vm, x, to);
        if (to == PTC_NONE)
            return to;
    }
    return ptc_iter_end(it) ? to : PTC_NONE;
}

/* -------------------------------------------------------------------------- both */

PtcValue ptc_pour(PtcVM *vm, const PtcValue *argv, PtcIter *it)
{
    PtcValue to = argv[0];
    if (ptc_is_map(to))
        return pour_map(vm, to, it);
    if (ptc_is_set(to))
        return pour_set(vm, to, it);
    if (to == PTC_NIL || (ptc_is_sequential(to) && ptc_is_seq_flagged(to)))
        return pour_list(vm, to, it);
    if (ptc_is_sequential(to))
        return pour_vec(vm, to, it);
    ptc_fail_type(vm, argv, 0, "a vector, list, map, set or nil");
    return PTC_NONE;
}

PtcValue ptc_conj_one(PtcVM *vm, const PtcValue *argv, PtcValue coll, PtcValue x)
{
    PtcMapSink sink = {.vm = vm, .map = coll, .building = false};
    switch (ptc_tag(coll)) {
    case PTC_T_SMAP:
    case PTC_T_BMAP: return sink_item(&sink, x) ? sink.map : PTC_NONE;
    case PTC_T_SSET:
    case PTC_T_BSET: return ptc_set_add(vm->heap, coll, x);
    case PTC_T_FLAT:
    case PTC_T_VEC:
    case PTC_T_SLICE:
        if (!ptc_is_seq_flagged(coll))
            return ptc_vec_conj(vm->heap, coll, x);
        return ptc_seq_prepend(vm, x, coll);
    case PTC_T_RANGE:
    case PTC_T_CONS: return ptc_seq_prepend(vm, x, coll);
    default:
        if (coll == PTC_NIL || ptc_is_producer(coll))
            return ptc_seq_prepend(vm, x, coll);
        ptc_fail_type(vm, argv, 0, "a vector, list, map, set or nil");
        return PTC_NONE;
    }
}
