/* SPDX-License-Identifier: MIT
 * Lazy sequences as a whole, wherever they are inside of a value.  What always holds: no C recursion over data; every
 * object is looked at once; objects on the stack of the walk are reachable from the value that is walked, which is
 * rooted. */
#include "lisp/lazy/force.h"
#include "lisp/lazy/produce.h"
#include "lisp/vm/record.h"
#include "lisp/vm/vm_int.h"

enum { COPIED_ARGS = 64, DEEP_TRIES = 4 };

/* ------------------------------------------------------------------- one sequence */

static bool fail_endless(PtcVM *vm, const char *who, size_t most)
{
    if (most < PTC_ENDLESS)
        ptc_fail(vm, PTC_E_VALUE,
                 "%s needs all of a lazy sequence, which has more than %zu elements or no end", who,
                 most);
    else
        ptc_fail(vm, PTC_E_VALUE, "%s needs all of a lazy sequence that has no end", who);
    return ptc_fail_hint(vm, "cut it first with (take n coll)");
}

/* Adds the elements of what is not lazy to the builder in slots[1]. */
static bool add_plain_elements(PtcVM *vm, PtcValue *slots, const char *who, size_t most)
{
    PtcIter it;
    PtcValue x;
    if (ptc_seq_endless(slots[0]))
        return fail_endless(vm, who, PTC_ENDLESS);
    if (!ptc_iter_init(&it, vm->heap, slots[0]))
        return false;
    while (ptc_each(vm, &it, &x))
        if (!ptc_root_push(vm, &slots[1], x))
            return false;
    return ptc_iter_end(&it) && (ptc_build_count(slots[1]) <= most || fail_endless(vm, who, most));
}

/* The next element of slots[0].  What take-while makes of a recipe is walked by a cursor in its place, which makes no
 * cells, if nothing of it is computed yet. */
static int next_forced_element(PtcVM *vm, PtcValue *slots, PtcValue *x)
{
    PtcValue at = ptc_lazy_landing(slots[0]);
    if (ptc_is_lazy(at) && ptc_obj(at)->flags & PTC_LAZY_BOUNDED &&
        ptc_is_recipe(ptc_lazy(at)->from) &&
        !ptc_cursor_open(vm, ptc_lazy(at)->from, PTC_NIL, &slots[0]))
        return -1;
    return ptc_is(slots[0], PTC_T_NODE) ? ptc_cursor_next(vm, slots[0], x)
                                        : ptc_force_next(vm, &slots[0], x);
}

/* All elements of slots[0] into a sequence in slots[1]. */
static bool gather_forced_elements(PtcVM *vm, PtcValue *slots, const char *who, size_t most)
{
    PtcValue x;
    int got;
    if (!ptc_root_build(vm, &slots[1]))
        return false;
    while ((got = next_forced_element(vm, slots, &x)) == 1) {
        if (!ptc_root_push(vm, &slots[1], x) || !ptc_tick(&vm->budget, 1))
            return false;
        if (ptc_build_count(slots[1]) > most)
            return fail_endless(vm, who, most);
    }
    return got >= 0 && (got == 0 || add_plain_elements(vm, slots, who, most)) &&
           ptc_root_done(vm, &slots[1], PTC_SEQ, &slots[1]);
}

/* One without end of which nothing is computed yet can leave the program as its recipe. */
static bool as_recipe(PtcValue lazy)
{
    lazy = ptc_lazy_landing(lazy);
    if (!ptc_is_lazy(lazy) || !ptc_is_recipe(ptc_lazy(lazy)->from))
        return false;
    ptc_lazy(lazy)->rest = ptc_lazy(lazy)->from;
    ptc_lazy(lazy)->from = PTC_NIL;
    return true;
}

/* Computes all of it; it is plain then (lazy.h).  `who` needs that.  most: the number of elements allowed. */
static bool force_all(PtcVM *vm, PtcValue lazy, const char *who, size_t most)
{
    if (ptc_lazy_plain(lazy) != PTC_NONE)
        return true;
    if (ptc_lazy_is_endless(lazy))
        return (most < PTC_ENDLESS && as_recipe(lazy)) || fail_endless(vm, who, PTC_ENDLESS);
    size_t roots = vm->root_count;
    const char *outer = vm->endless;
    PtcValue *slots = ptc_roots(vm, 3);
    if (!slots)
        return false;
    slots[0] = slots[2] = lazy;
    vm->endless = who;
    bool ok = gather_forced_elements(vm, slots, who,
                                     ptc_obj(lazy)->flags & PTC_LAZY_BOUNDED ? SIZE_MAX : most);
    if (ok) {
        ptc_lazy(lazy)->from = PTC_NIL;
        ptc_lazy(lazy)->first = PTC_UNBOUND;
        ptc_lazy(lazy)->rest = slots[1];
        vm->endless = outer;
    }
    vm->root_count = roots;
    return ok;
}

/* ------------------------------------------------------------------------ inside */

typedef struct Dive {
    PtcVM *vm;
    bool functions;
    const char *who;
    size_t most;
    PtcValue *seen; /* open-addressed */
    size_t seen_count, seen_cap;
    PtcValue *todo;
    size_t todo_count, todo_cap;
} Dive;

static PtcValue *seen_place(PtcValue *seen, size_t cap, PtcValue v)
{
    size_t at = (size_t)((v >> 3) * 0x9e3779b97f4a7c15u >> 32) & (cap - 1);
    while (seen[at] != PTC_NONE && seen[at] != v)
        at = (at + 1) & (cap - 1);
    return &seen[at];
}

static bool grow_seen(Dive *d)
{
    size_t cap = d->seen_cap ? d->seen_cap * 2 : 64;
    PtcValue *seen = ptc_heap_scratch(d->vm->heap, NULL, 0, cap * sizeof *seen);
    if (!seen)
        return false;
    memset(seen, 0, cap * sizeof *seen);
    for (size_t i = 0; i < d->seen_cap; i++)
        if (d->seen[i] != PTC_NONE)
            *seen_place(seen, cap, d->seen[i]) = d->seen[i];
    ptc_heap_scratch_free(d->vm->heap, d->seen, d->seen_cap * sizeof *seen);
    d->seen = seen;
    d->seen_cap = cap;
    return true;
}

/* May something lazy be behind it?  Older heaps hold nothing lazy. */
static bool is_deep(const Dive *d, PtcValue v)
{
    if (!ptc_is_obj(v) || !ptc_heap_owns(d->vm->heap, v))
        return false;
    switch (ptc_tag(v)) {
    case PTC_T_FLAT:
    case PTC_T_VEC:
    case PTC_T_NODE:
    case PTC_T_SLICE:
    case PTC_T_CONS:
    case PTC_T_SSET:
    case PTC_T_SMAP:
    case PTC_T_BSET:
    case PTC_T_BMAP:
    case PTC_T_LAZY: return true;
    case PTC_T_CLOSURE: return d->functions;
    case PTC_T_RECORD:
        return d->functions || (ptc_obj(v)->aux != PTC_R_FN && ptc_obj(v)->aux != PTC_R_PRODUCER);
    default: return false;
    }
}

static bool push_deep_value(Dive *d, PtcValue v)
{
    if (!is_deep(d, v))
        return true;
    if (d->seen_count * 2 >= d->seen_cap && !grow_seen(d))
        return false;
    PtcValue *place = seen_place(d->seen, d->seen_cap, v);
    if (*place == v)
        return true;
    if (!PTC_GROW_SCRATCH(d->vm->heap, &d->todo, &d->todo_cap, d->todo_count + 1))
        return false;
    *place = v;
    d->seen_count++;
    d->todo[d->todo_count++] = v;
    return true;
}

static bool dive(Dive *d)
{
    while (d->todo_count > 0) {
        PtcValue v = d->todo[--d->todo_count];
        if (ptc_is_lazy(v) && !force_all(d->vm, v, d->who, d->most))
            return false;
        PtcLayout at = ptc_object_layout(ptc_obj(v));
        if (!ptc_tick(&d->vm->budget, 1 + (int64_t)at.value_count))
            return false;
        for (size_t i = 0; i < at.value_count; i++)
            if (!push_deep_value(d, at.values[i]))
                return false;
    }
    return true;
}

bool ptc_force_deep(PtcVM *vm, PtcValue v, bool functions, const char *who, size_t most)
{
    size_t roots = vm->root_count;
    Dive d = {.vm = vm, .functions = functions, .who = who, .most = most};
    if (!vm->made_lazy || !is_deep(&d, v))
        return true;
    PtcValue *slot = ptc_roots(vm, 1);
    if (!slot)
        return false;
    *slot = v;
    bool ok = push_deep_value(&d, v) && dive(&d);
    ptc_heap_scratch_free(vm->heap, d.seen, d.seen_cap * sizeof *d.seen);
    ptc_heap_scratch_free(vm->heap, d.todo, d.todo_cap * sizeof *d.todo);
    vm->root_count = roots;
    return ok;
}

/* ----------------------------------------------------------------------- equality */

/* Is v, which is lazy, longer than n?  Computes no more than that takes. */
static bool is_longer(PtcVM *vm, PtcValue v, size_t n, bool *longer)
{
    PtcValue x, *pos = ptc_roots(vm, 1);
    if (!pos)
        return false;
    *pos = v;
    int got = 1;
    for (size_t i = 0; i <= n && got == 1; i++)
        got = ptc_tick(&vm->budget, 1) ? ptc_force_next(vm, pos, &x) : -1;
    *longer = got == 1;
    vm->root_count--;
    return got >= 0;
}

bool ptc_force_equal(PtcVM *vm, PtcValue a, PtcValue b, bool *same)
{
    bool longer = false;
    if (vm->budget.stop != PTC_STOP_LAZY)
        return false;
    vm->budget.stop = PTC_STOP_NONE;
    if (!ptc_budget_look(&vm->budget))
        return false;
    PtcValue lazy = ptc_is_lazy(a) ? a : b, other = lazy == a ? b : a;
    bool finite = ptc_is_lazy(lazy) && ptc_is_sequential(other) && !ptc_seq_endless(other);
    if (finite && !is_longer(vm, lazy, ptc_seq_count(other), &longer))
        return false;
    *same = false;
    if (longer)
        return true;
    if (!ptc_force_deep(vm, a, false, "=", SIZE_MAX) ||
        !ptc_force_deep(vm, b, false, "=", SIZE_MAX))
        return false;
    *same = ptc_equal(vm->heap, a, b);
    return vm->budget.stop == PTC_STOP_NONE;
}

/* ------------------------------------------------------------------------- again */

/* Something to compute among the arguments? */
static bool any_lazy(int argc, const PtcValue *argv)
{
    for (int i = 0; i < argc; i++)
        if (ptc_is_lazy(argv[i]) && !ptc_lazy_is_endless(argv[i]))
            return true;
    return false;
}

/* A copy of the arguments that is rooted. */
static PtcValue *root_args(PtcVM *vm, int argc, const PtcValue *argv)
{
    PtcValue *slots = ptc_roots(vm, argc <= COPIED_ARGS ? argc : 1);
    if (!slots || argc <= COPIED_ARGS) {
        if (slots)
            ptc_copy_few(slots, argv, (size_t)argc);
        return slots;
    }
    PtcNode *all = ptc_heap_object(vm->heap, PTC_T_NODE, sizeof *all + (size_t)argc * sizeof *argv,
                                   (uint32_t)argc);
    if (!all)
        return NULL;
    memcpy(all->slots, argv, (size_t)argc * sizeof *argv);
    *slots = ptc_from_obj(all);
    return all->slots;
}

/* The arguments without anything lazy: `inside` of them too, or only as arguments. */
static bool compute_args(PtcVM *vm, const char *who, int argc, PtcValue *args, bool inside)
{
    for (int i = 0; i < argc; i++) {
        if (inside && !ptc_force_deep(vm, args[i], false, who, SIZE_MAX))
            return false;
        if (!ptc_is_lazy(args[i]) || (ptc_lazy_is_endless(args[i]) && !inside))
            continue;
        if (!force_all(vm, args[i], who, SIZE_MAX))
            return false;
        args[i] = ptc_lazy_plain(args[i]);
    }
    return true;
}

const PtcValue *ptc_force_args(PtcVM *vm, const PtcBuiltin *row, int argc, const PtcValue *argv)
{
    PtcValue *args = root_args(vm, argc, argv);
    uint32_t running = vm->running;
    if (!args)
        return NULL;
    for (int i = 0; i < argc; i++) {
        if (!ptc_force_deep(vm, args[i], false, row->name, PTC_FORCE_MOST))
            return NULL;
        PtcValue plain = ptc_lazy_plain(args[i]);
        args[i] = plain == PTC_NONE ? args[i] : plain;
    }
    vm->running = running;
    return args;
}

/* A lazy sequence was met where a builtin that calls functions cannot begin again. */
static bool fail_inside(PtcVM *vm, const char *who)
{
    ptc_fail(vm, PTC_E_VALUE, "%s met a lazy sequence that is not computed yet", who);
    return ptc_fail_hint(vm, "compute it before with (vec coll) or (doall coll)");
}

bool ptc_force_retry(PtcVM *vm, const PtcBuiltin *row, int argc, const PtcValue *argv,
                     PtcValue *out)
{
    PtcValue *args = NULL;
    for (int tries = 0; tries < DEEP_TRIES && ptc_force_wanted(vm); tries++) {
        bool refused = vm->budget.stop != PTC_STOP_LAZY;
        vm->lazy_refused = false;
        if (refused && (!any_lazy(argc, args ? args : argv) || vm->control != PTC_CONTROL_NONE))
            return false;
        if (!refused)
            vm->budget.stop = PTC_STOP_NONE;
        vm->failed = false;
        vm->error_value = PTC_NIL;
        vm->error.first = vm->error.last = PTC_NO_PLACE;
        if (!ptc_budget_look(&vm->budget))
            return false;
        if (!refused && (row->flags & (PTC_B_CALLS | PTC_B_EFFECT)))
            return fail_inside(vm, row->name);
        uint32_t running = vm->running;
        if (!args && !(args = root_args(vm, argc, argv)))
            return false;
        if (!compute_args(vm, row->name, argc, args, !refused))
            return ptc_produced_fail(vm);
        vm->running = running;
        bool ok = row->fn(vm, argc, args, out) && vm->budget.stop == PTC_STOP_NONE;
        if (!ok && !(row->flags & (PTC_B_CALLS | PTC_B_EFFECT)) && ptc_recover(vm))
            ok = row->fn(vm, argc, args, out) && vm->budget.stop == PTC_STOP_NONE;
        if (ok)
            return true;
    }
    vm->lazy_refused = false;
    return false;
}
