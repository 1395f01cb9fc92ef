/* SPDX-License-Identifier: MIT
 * What makes lazy sequences: lazy-seq, lazy-cat, and concat, mapcat and cycle when they meet one.  force.c
 * computes them. */
#include "lisp/lazy/force.h"
#include "lisp/lazy/produce.h"
#include "value/cell.h"

bool ptc_any_lazy(int argc, const PtcValue *argv)
{
    for (int i = 0; i < argc; i++)
        if (ptc_is_lazy(argv[i]))
            return true;
    return false;
}

/* All parts, as something lazy; it has no end when the last has none. */
static PtcValue concat_lazily(PtcVM *vm, int n, const PtcValue *parts)
{
    PtcValue all = ptc_vec_new(vm->heap, parts, (size_t)n, PTC_SEQ), last = parts[n - 1];
    bool endless = ptc_is_lazy(last) ? ptc_lazy_is_endless(last) : ptc_seq_endless(last);
    return all == PTC_NONE ? all : ptc_force_new(vm, all, PTC_UNBOUND, PTC_NIL, endless);
}

bool ptc_concat_later(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out)
{
    for (int i = 0; i < argc; i++)
        if (!ptc_is_seqable(argv[i]) && !ptc_is_producer(argv[i]))
            return ptc_fail_type(vm, argv, i, "a collection, string or nil");
    return ptc_give(out, concat_lazily(vm, argc, argv));
}

/* The parts, then itself again. */
static PtcValue ring_of(PtcVM *vm, PtcValue lazy)
{
    PtcValue parts[2] = {lazy, PTC_NIL};
    PtcValue all = ptc_vec_new(vm->heap, parts, 2, PTC_SEQ);
    PtcValue ring = all == PTC_NONE ? all : ptc_force_new(vm, all, PTC_UNBOUND, PTC_NIL, true);
    if (ring != PTC_NONE)
        ((PtcFlat *)(uintptr_t)all)->items[1] = ring;
    return ring;
}

bool ptc_cycle_later(PtcVM *vm, PtcValue lazy, PtcValue *out)
{
    bool has;
    if (ptc_lazy_is_endless(lazy))
        return ptc_give(out, lazy);
    if (!ptc_produced_has(vm, lazy, 0, &has))
        return false;
    return ptc_give(out, has ? ring_of(vm, lazy) : ptc_vec_new(vm->heap, NULL, 0, PTC_SEQ)) ||
           ptc_produced_fail(vm);
}

bool ptc_join_rest(PtcVM *vm, PtcValue f, PtcValue *slots, PtcIter *it, PtcValue *out)
{
    PtcValue *parts = ptc_roots(vm, 3), x;
    if (!parts || !ptc_root_done(vm, &slots[0], PTC_SEQ, &parts[0]) ||
        !ptc_root_build(vm, &slots[0]))
        return false;
    while (ptc_each(vm, it, &x))
        if (!ptc_root_push(vm, &slots[0], x))
            return false;
    if (!ptc_iter_end(it) || !ptc_root_done(vm, &slots[0], PTC_SEQ, &parts[2]))
        return false;
    parts[1] = slots[1];
    for (int tries = 0; tries < 2; tries++) {
        PtcValue rest = ptc_producer_add(vm, parts[2], PTC_STEP_MAPCAT, 1, &f);
        rest = ptc_producer_keep(vm, rest, PTC_NONE, PTC_STEP_TAKE);
        PtcValue all[3] = {parts[0], parts[1], rest};
        PtcValue v = rest == PTC_NONE ? rest : concat_lazily(vm, 3, all);
        if (v != PTC_NONE)
            return ptc_give(out, v);
        if (!ptc_recover(vm))
            break;
    }
    return false;
}

PTC_BUILTIN_EXPR(hidden_lazy_seq, "clojure.core", "lazy-seq", 1, 1,
                 PTC_B_HIDDEN | PTC_GIVES(PTC_IS_LIST), "(lazy-seq body...)",
                 "A sequence whose elements the function will compute.", "",
                 ptc_give(out, ptc_force_new(vm, argv[0], PTC_UNBOUND, PTC_NIL, false)))

PTC_BUILTIN(
    core_realized_p, "clojure.core", "realized?", 1, 1, PTC_GIVES(PTC_IS_BOOL), "(realized? x)",
    "Is a delay, or the first element of a lazy sequence, computed already? Other sequences "
    "always are, but for those without end.",
    "(realized? (delay 1)) => false\n(realized? (lazy-seq [1])) => false\n"
    "(let [s (lazy-seq [1])] (first s) (realized? s)) => true\n"
    "(realized? (map inc [1])) => true\n(realized? 5) !! type_error")
{
    PtcValue at = ptc_lazy_landing(argv[0]);
    if (ptc_is_cell(argv[0]) && ptc_cell_kind(argv[0]) == PTC_CELL_DELAY)
        return ptc_give(out, ptc_bool(ptc_cell_get(vm->heap, argv[0]) != PTC_UNBOUND));
    if (!ptc_is_sequential(argv[0]) && !ptc_is_producer(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a delay or a sequence");
    *out = ptc_bool(!ptc_is_producer(at) || (ptc_is_lazy(at) && ptc_lazy(at)->from == PTC_NIL));
    return true;
}

PTC_BUILTIN_TABLE(ptc_lib_lazy_seq, hidden_lazy_seq, core_realized_p);
