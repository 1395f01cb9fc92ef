/* SPDX-License-Identifier: MIT
 * Lazy sequences: lazy-seq, and what map, filter, concat and their kin give when they are handed one.
 *
 * One mechanism, two forms.  A producer (produce.h) is a recipe: it never changes and each walk computes its
 * elements anew.  A PtcLazy (lazy.h) is computed once and kept: from the body of lazy-seq, from a recipe that is
 * pulled element by element through a cursor, or from collections that follow each other.  (map f lazy) is a PtcLazy
 * over a recipe whose source is `lazy`; (rest producer) is one over the producer, so that each further `rest` costs the
 * same.
 *
 * Who needs elements:
 *  - Builtins that know of lazy sequences pull them one by one (cursors, ptc_force_next): demand is bounded by what is
 *    used.
 *  - All others fail with a type error, or with PTC_STOP_LAZY from inside of =, hash or print.  ptc_vm_builtin sees
 *    that nothing else was wrong, computes the arguments and runs the builtin again.  So the usual case, no lazy
 *    argument, costs nothing; and a builtin that is run twice has done nothing before it looks at its arguments.
 *  - Builtins with effects get arguments that are computed already, if the run has made anything lazy at all.
 *  - What leaves the program (result, session, other threads, tools, JSON) is computed before, up to PTC_FORCE_MOST
 *    elements.
 *
 * What always holds: a body runs once, unless it failed, in which case the next demand runs it again; a sequence that
 * needs itself meets from == PTC_FALSE, an error; one whose body gives another lazy one is followed in a loop, not in C
 * recursion; other nesting is counted by vm->native_depth and goes on in the stack of deep.h.  A PtcLazy is
 * changed only by the VM whose heap owns it, since heaps never point into younger ones. */
#include "lisp/lazy/force.h"

#include "lisp/lazy/later.h"
#include "lisp/lazy/produce.h"
#include "lisp/vm/deep.h"
#include "lisp/vm/registry.h"
#include "lisp/vm/vm_int.h"

/* Root slots of one that is being computed.  FIRST and REST are what came out. */
enum { FORCE_HEAD, FORCE_CUR, FORCE_FROM, FORCE_FIRST, FORCE_REST, FORCE_SLOTS };

/* Hash, equality and order meet something lazy.  A builtin that calls functions cannot begin again, so it is computed
 * on the spot; nothing is collected meanwhile, because it is not known what is rooted.  The others are run again. */
static bool force_in_builtin(void *user, PtcValue lazy)
{
    PtcVM *vm = user;
    const PtcBuiltin *row = ptc_builtin_row(vm->running);
    if (!(row->flags & (PTC_B_CALLS | PTC_B_EFFECT)))
        return false;
    bool held = vm->held;
    vm->held = true;
    bool ok = ptc_force_deep(vm, lazy, false, row->name, SIZE_MAX);
    vm->held = held;
    return ok;
}

static PtcValue new_lazy(PtcVM *vm, PtcValue from, PtcValue first, PtcValue rest, bool endless)
{
    PtcLazy *o = ptc_heap_object(vm->heap, PTC_T_LAZY, sizeof *o, 0);
    if (!o)
        return PTC_NONE;
    o->obj.flags = endless ? PTC_LAZY_ENDLESS : 0;
    o->from = from;
    o->first = first;
    o->rest = rest;
    vm->made_lazy = true;
    vm->heap->force = force_in_builtin;
    vm->heap->force_vm = vm;
    return ptc_from_obj(o);
}

PtcValue ptc_force_new(PtcVM *vm, PtcValue from, PtcValue first, PtcValue rest, bool endless)
{
    return new_lazy(vm, from, first, rest, endless);
}

static bool is_pending(PtcValue v)
{
    return ptc_is_lazy(v) && ptc_lazy(v)->from != PTC_NIL;
}

/* --------------------------------------------------------------------- sources */

/* One more that goes on with `from`, into a root slot; it has no end if slots[CUR] has none. */
static bool new_tail(PtcVM *vm, PtcValue *slots, PtcValue from)
{
    bool endless = ptc_lazy_is_endless(slots[FORCE_CUR]);
    PtcValue v = new_lazy(vm, from, PTC_UNBOUND, PTC_NIL, endless);
    if (v == PTC_NONE && ptc_recover_keeping(vm, 1, &from, PTC_NIL))
        v = new_lazy(vm, from, PTC_UNBOUND, PTC_NIL, endless);
    slots[FORCE_REST] = v == PTC_NONE ? PTC_NIL : v;
    return v != PTC_NONE;
}

static bool from_cursor(PtcVM *vm, PtcValue *slots)
{
    if (ptc_is_recipe(slots[FORCE_FROM]) &&
        !ptc_cursor_open(vm, slots[FORCE_FROM], PTC_NIL, &slots[FORCE_FROM]))
        return false;
    int got = ptc_cursor_next(vm, slots[FORCE_FROM], &slots[FORCE_FIRST]);
    if (got <= 0) {
        slots[FORCE_FIRST] = PTC_UNBOUND;
        return got == 0;
    }
    return new_tail(vm, slots, slots[FORCE_FROM]);
}

/* The same from a `for` that waits. */
static bool from_later(PtcVM *vm, PtcValue *slots)
{
    int got = ptc_later_next(vm, slots[FORCE_FROM], &slots[FORCE_FIRST]);
    if (got > 0)
        return new_tail(vm, slots, slots[FORCE_FROM]);
    slots[FORCE_FIRST] = PTC_UNBOUND;
    return got == 0;
}

static bool from_body(PtcVM *vm, PtcValue *slots)
{
    PtcValue v;
    if (!ptc_call(vm, slots[FORCE_FROM], 0, NULL, &v))
        return false;
    slots[FORCE_REST] = v;
    if (ptc_is_seqable(v) || ptc_is_producer(v))
        return true;
    ptc_fail(vm, PTC_E_TYPE | PTC_AS(ILLEGAL_ARGUMENT),
             "the body of lazy-seq gave %s, expected a sequence, collection or nil",
             ptc_type_name(v));
    return ptc_fail_hint(vm, "usage: (lazy-seq (cons x more))");
}

/* Parts that follow each other; `part` is what is left of the first, in its slot. */
static PtcValue parts_after(PtcVM *vm, PtcValue part, PtcValue parts)
{
    PtcValue tail = ptc_seq_slice(vm->heap, parts, 1, ptc_seq_count(parts) - 1, PTC_SEQ);
    return tail == PTC_NONE || part == PTC_NONE ? PTC_NONE : ptc_cons_new(vm->heap, part, tail);
}

/* REST becomes one that goes on with REST and the parts after the first. */
static bool continue_with_rest(PtcVM *vm, PtcValue *slots)
{
    PtcValue parts = PTC_RETRY(vm, parts_after(vm, slots[FORCE_REST], slots[FORCE_FROM]));
    return parts != PTC_NONE && new_tail(vm, slots, parts);
}

int ptc_force_first(PtcVM *vm, PtcValue *pos, PtcValue *x)
{
    int got = ptc_force_next(vm, pos, x);
    if (got != 2 || ptc_is_producer(*pos))
        return got;
    for (int tries = 0; tries < 2; tries++) {
        PtcValue seq = ptc_arg_seq(vm, pos, 0);
        PtcValue rest = seq == PTC_NONE || ptc_seq_count(seq) == 0 ? seq : ptc_seq_drop(vm, seq, 1);
        if (rest != PTC_NONE) {
            if (ptc_seq_count(seq) == 0)
                return 0;
            *x = ptc_seq_nth(seq, 0);
            *pos = rest;
            return 1;
        }
        if (!ptc_recover(vm))
            break;
    }
    return -1;
}

static bool force_next_part(PtcVM *vm, PtcValue *slots)
{
    size_t n = ptc_seq_count(slots[FORCE_FROM]) - 1;
    PtcValue more = PTC_RETRY(vm, ptc_seq_slice(vm->heap, slots[FORCE_FROM], 1, n, PTC_SEQ));
    if (more != PTC_NONE)
        slots[FORCE_FROM] = more;
    return more != PTC_NONE && ptc_tick(&vm->budget, 1);
}

/* The last part is not copied: the sequence then has its elements, so that a function that calls itself in the last
 * part of concat does not nest. */
static bool force_from_parts(PtcVM *vm, PtcValue *slots)
{
    for (;;) {
        size_t n = ptc_seq_count(slots[FORCE_FROM]);
        slots[FORCE_FIRST] = PTC_UNBOUND;
        slots[FORCE_REST] = n ? ptc_seq_nth(slots[FORCE_FROM], 0) : PTC_NIL;
        int got = n <= 1 ? 2 : ptc_force_first(vm, &slots[FORCE_REST], &slots[FORCE_FIRST]);
        if (got < 0)
            return false;
        if (got > 0)
            return got == 2 || continue_with_rest(vm, slots);
        if (!force_next_part(vm, slots))
            return false;
    }
}

static bool compute_lazy_cell(PtcVM *vm, PtcValue *slots)
{
    slots[FORCE_FIRST] = PTC_UNBOUND;
    slots[FORCE_REST] = PTC_NIL;
    if (ptc_is_later(slots[FORCE_FROM]))
        return from_later(vm, slots);
    if (ptc_is(slots[FORCE_FROM], PTC_T_NODE) || ptc_is_recipe(slots[FORCE_FROM]))
        return from_cursor(vm, slots);
    if (!(ptc_is_sequential(slots[FORCE_FROM]) ? force_from_parts(vm, slots)
                                               : from_body(vm, slots)))
        return false;
    if (slots[FORCE_FIRST] != PTC_UNBOUND || !ptc_is_recipe(ptc_lazy_landing(slots[FORCE_REST])))
        return true;
    slots[FORCE_FROM] = ptc_lazy_landing(slots[FORCE_REST]); /* its elements are kept too */
    ptc_obj(slots[FORCE_CUR])->flags |= PTC_LAZY_ENDLESS;
    slots[FORCE_REST] = PTC_NIL;
    return from_cursor(vm, slots);
}

/* --------------------------------------------------------------------- forcing */

static bool fail_circle(PtcVM *vm)
{
    ptc_fail(vm, PTC_E_VALUE, "a lazy sequence needs itself to compute its next element");
    return ptc_fail_hint(
        vm, "its first elements must be there before it is used: (lazy-seq (cons x ...))");
}

static bool may_compute(PtcVM *vm, PtcValue lazy)
{
    if (ptc_lazy(lazy)->from == PTC_FALSE)
        return fail_circle(vm);
    if (ptc_heap_owns(vm->heap, lazy))
        return ptc_tick(&vm->budget, 1);
    ptc_fail(vm, PTC_E_VALUE,
             "a lazy sequence from outside of pmap or pcalls cannot be computed inside");
    return ptc_fail_hint(vm, "compute as much as is needed before: (doall (take n coll))");
}

static void settle_lazy_cell(PtcValue lazy, PtcValue first, PtcValue rest)
{
    ptc_lazy(lazy)->from = PTC_NIL;
    ptc_lazy(lazy)->first = first;
    ptc_lazy(lazy)->rest = rest;
}

/* Computes slots[CUR]; when it has the elements of another that is pending, that comes next: 1.  0: done; -1:
 * failed. */
static int force_one_step(PtcVM *vm, PtcValue *slots)
{
    PtcValue cur = slots[FORCE_CUR];
    if (!may_compute(vm, cur))
        return -1;
    slots[FORCE_FROM] = ptc_lazy(cur)->from;
    /* A cursor knows where it is, a recipe only where it began: that must not be kept alive meanwhile. */
    if (ptc_is_recipe(slots[FORCE_FROM])) {
        if (!ptc_cursor_open(vm, slots[FORCE_FROM], PTC_NIL, &slots[FORCE_FROM]))
            return -1;
        ptc_lazy(cur)->from = slots[FORCE_FROM];
    }
    PtcValue from = slots[FORCE_FROM];
    PtcValue *keep = ptc_roots(vm, 1);
    if (!keep)
        return -1;
    *keep = from;
    ptc_lazy(cur)->from = PTC_FALSE;
    bool ok = compute_lazy_cell(vm, slots);
    PtcValue next =
        ok && slots[FORCE_FIRST] == PTC_UNBOUND ? ptc_lazy_landing(slots[FORCE_REST]) : PTC_NIL;
    if (is_pending(next) && ptc_lazy(next)->from == PTC_FALSE)
        ok = fail_circle(vm);
    if (!ok) {
        /* a cursor that was opened stays open: it knows where it is */
        ptc_lazy(cur)->from = ptc_is(slots[FORCE_FROM], PTC_T_NODE) ? slots[FORCE_FROM] : *keep;
        return -1;
    }
    if (slots[FORCE_FIRST] != PTC_UNBOUND)
        settle_lazy_cell(cur, slots[FORCE_FIRST], slots[FORCE_REST]);
    else if (ptc_is_lazy(next) && !is_pending(next))
        settle_lazy_cell(cur, ptc_lazy(next)->first, ptc_lazy(next)->rest);
    else if (!is_pending(next))
        settle_lazy_cell(cur, PTC_UNBOUND, next);
    if (!is_pending(next))
        return 0;
    if (cur != slots[FORCE_HEAD])
        settle_lazy_cell(cur, PTC_UNBOUND, next);
    slots[FORCE_CUR] = next;
    return 1;
}

static bool force_here(PtcVM *vm, PtcValue lazy)
{
    size_t roots = vm->root_count, inner;
    PtcValue *slots = ptc_roots(vm, FORCE_SLOTS);
    if (!slots)
        return false;
    slots[FORCE_HEAD] = slots[FORCE_CUR] = lazy;
    int got;
    do {
        inner = vm->root_count;
        got = force_one_step(vm, slots);
        vm->root_count = inner;
    } while (got == 1);
    if (slots[FORCE_CUR] != lazy && ptc_lazy(lazy)->from == PTC_FALSE) {
        if (got == 0)
            settle_lazy_cell(lazy, ptc_lazy(slots[FORCE_CUR])->first,
                             ptc_lazy(slots[FORCE_CUR])->rest);
        else
            settle_lazy_cell(lazy, PTC_UNBOUND, slots[FORCE_CUR]);
    }
    vm->root_count = roots;
    return got == 0;
}

/* The hidden builtin is there because builtins that call are moved to the deep stack when they are nested deeply. */
PTC_BUILTIN(hidden_force, "clojure.core", "force-lazy", 1, 1, PTC_B_CALLS | PTC_B_HIDDEN,
            "(first coll)", "Computes the first element of a lazy sequence.", "")
{
    *out = PTC_NIL;
    return force_here(vm, argv[0]);
}

PTC_BUILTIN_TABLE(ptc_lib_force, hidden_force);

bool ptc_force(PtcVM *vm, PtcValue lazy)
{
    PtcValue at = ptc_lazy_landing(lazy);
    if (!is_pending(at))
        return true;
    if (vm->native_depth >= PTC_SHALLOW && !vm->is_deep) {
        PtcValue f = ptc_builtin((uint32_t)ptc_builtin_find("%force-lazy", strlen("%force-lazy"))),
                 out;
        return ptc_call(vm, f, 1, &at, &out);
    }
    if (vm->native_depth >= PTC_SHALLOW && !ptc_deep_room(vm))
        return false;
    uint32_t running = vm->running;
    vm->native_depth++;
    bool ok = force_here(vm, at);
    vm->native_depth--;
    vm->running = running;
    return ok;
}

int ptc_force_next(PtcVM *vm, PtcValue *pos, PtcValue *x)
{
    if (!ptc_is_lazy(*pos))
        return *pos == PTC_NIL ? 0 : 2;
    if (!ptc_force(vm, *pos))
        return -1;
    PtcValue at = ptc_lazy_landing(*pos);
    *pos = at;
    if (!ptc_is_lazy(at))
        return at == PTC_NIL ? 0 : 2;
    *x = ptc_lazy(at)->first;
    *pos = ptc_lazy(at)->rest;
    return 1;
}

/* Leaves n elements of something that is not lazy behind. */
static bool skip_plain(PtcVM *vm, PtcValue *pos, size_t n)
{
    for (int tries = 0; tries < 2; tries++) {
        PtcValue seq = ptc_is_producer(*pos) ? *pos : ptc_arg_seq(vm, pos, 0);
        PtcValue rest = seq == PTC_NONE ? seq : ptc_seq_drop(vm, seq, n);
        if (rest != PTC_NONE) {
            *pos = ptc_is_sequential(rest) && ptc_seq_count(rest) == 0 ? PTC_NIL : rest;
            return true;
        }
        if (!ptc_recover(vm))
            break;
    }
    return false;
}

bool ptc_force_skip(PtcVM *vm, PtcValue *pos, size_t n)
{
    PtcValue x;
    int got = 1;
    for (; n > 0 && got == 1; n -= got == 1) {
        got = ptc_force_next(vm, pos, &x);
        if (got < 0 || !ptc_tick(&vm->budget, 1))
            return false;
    }
    if (got == 2)
        return skip_plain(vm, pos, n);
    if (got == 0)
        *pos = PTC_NIL;
    return true;
}
