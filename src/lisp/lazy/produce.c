/* SPDX-License-Identifier: MIT
 * Producers and the cursors that pull from them.  Across a call only what a cursor, a root slot or an
 * argument holds stays alive; cursors are never seen by programs, so they may change. */
#include "lisp/lazy/produce.h"

#include "lisp/lazy/force.h"
#include "lisp/vm/deep.h"
#include "lisp/vm/record.h"
#include "lisp/vm/vm_int.h"

/* Fields of a producer. */
enum { P_SOURCE, P_A, P_B, P_STEPS, P_FIELDS };

/* Slots of a cursor, then PTC_S_SLOTS for each step. */
enum { C_STATE, C_A, C_B, C_INPUT, C_HEAD };

/* What a cursor holds beside values, in a PTC_T_BYTES. */
typedef struct State {
    PtcIter it; /* of a collection, or of the first part of a chain; over C_A */
    PtcProducerSource source;
    bool begun;
    size_t steps;
    int64_t pending; /* the last step that has more to give, or -1; PTC_S_PREV leads to others */
    int64_t flush;   /* the input has ended: the next step to be asked for what it holds; else -1 */
    int64_t again;   /* the step that failed, which gets C_INPUT again; else -1 */
    size_t row;      /* elements of a row that are there already, after a failure */
} State;

enum { ROW_MAX = PTC_FLAT_MAX }; /* collections side by side */

static PtcValue producer_field(PtcValue producer, int i)
{
    return ptc_record_field(producer, (size_t)i);
}

/* --------------------------------------------------------------------- producers */

PtcValue ptc_producer_new(PtcVM *vm, PtcProducerSource source, PtcValue a, PtcValue b)
{
    PtcValue fields[P_FIELDS] = {ptc_int(source), a, b, PTC_NIL};
    return ptc_record_new(vm, PTC_R_PRODUCER, fields, P_FIELDS);
}

static PtcValue with_steps(PtcVM *vm, PtcValue producer, PtcValue steps)
{
    PtcValue fields[P_FIELDS] = {producer_field(producer, P_SOURCE), producer_field(producer, P_A),
                                 producer_field(producer, P_B), steps};
    return steps == PTC_NONE ? steps : ptc_record_new(vm, PTC_R_PRODUCER, fields, P_FIELDS);
}

PtcValue ptc_producer_step(PtcVM *vm, PtcValue coll, PtcValue step)
{
    if (coll != PTC_NONE && !ptc_is_recipe(coll))
        coll = ptc_producer_new(vm, PTC_FROM_COLL, coll, PTC_NIL);
    if (coll == PTC_NONE || step == PTC_NONE)
        return PTC_NONE;
    PtcValue steps = producer_field(coll, P_STEPS);
    return with_steps(vm, coll,
                      steps == PTC_NIL ? ptc_vec_new(vm->heap, &step, 1, 0)
                                       : ptc_vec_conj(vm->heap, steps, step));
}

PtcValue ptc_producer_add(PtcVM *vm, PtcValue coll, PtcStepKind kind, int argc,
                          const PtcValue *argv)
{
    return ptc_producer_step(vm, coll, ptc_step_new(vm, kind, argc, argv));
}

/* The last step when that drops a number of elements, else PTC_NONE. */
static PtcValue last_drop(PtcValue producer)
{
    PtcValue steps = producer_field(producer, P_STEPS);
    if (steps == PTC_NIL)
        return PTC_NONE;
    PtcValue step = ptc_seq_nth(steps, ptc_seq_count(steps) - 1);
    bool drops =
        ptc_step_kind(step) == PTC_STEP_DROP && ptc_is_int(producer_field(step, PTC_STEP_ARGS));
    return drops ? step : PTC_NONE;
}

PtcValue ptc_producer_keep(PtcVM *vm, PtcValue producer, PtcValue source, PtcStepKind kind)
{
    bool ends = kind == PTC_STEP_TAKE || kind == PTC_STEP_TAKE_WHILE;
    if (producer == PTC_NONE || (source != PTC_NONE && !ptc_is_lazy(source)))
        return producer;
    bool endless = !ends && (source == PTC_NONE || ptc_lazy_is_endless(source));
    return ptc_force_new(vm, producer, PTC_UNBOUND, PTC_NIL, endless);
}

PtcValue ptc_producer_drop(PtcVM *vm, PtcValue producer, size_t n)
{
    if (n == 0)
        return producer;
    if (ptc_is_lazy(producer)) {
        PtcValue most = ptc_int(n < PTC_INT_MAX ? (int64_t)n : PTC_INT_MAX);
        PtcValue p = ptc_producer_add(vm, producer, PTC_STEP_DROP, 1, &most);
        return ptc_producer_keep(vm, p, producer, PTC_STEP_DROP);
    }
    PtcValue before = last_drop(producer), count;
    int64_t sum = n < PTC_INT_MAX / 4 ? (int64_t)n : PTC_INT_MAX / 4;
    if (before == PTC_NONE) {
        count = ptc_int(sum);
        return ptc_producer_add(vm, producer, PTC_STEP_DROP, 1, &count);
    }
    int64_t old = ptc_to_int(producer_field(before, PTC_STEP_ARGS));
    sum += old < 0 ? 0 : old < PTC_INT_MAX / 4 ? old : PTC_INT_MAX / 4;
    count = ptc_int(sum);
    PtcValue steps = producer_field(producer, P_STEPS);
    PtcValue step = ptc_step_new(vm, PTC_STEP_DROP, 1, &count);
    return step == PTC_NONE
               ? step
               : with_steps(vm, producer,
                            ptc_vec_assoc(vm->heap, steps, ptc_seq_count(steps) - 1, step));
}

PtcValue ptc_producer_cons(PtcVM *vm, PtcValue x, PtcValue producer)
{
    if (ptc_is_lazy(producer))
        return ptc_force_new(vm, PTC_NIL, x, producer, ptc_lazy_is_endless(producer));
    bool chain = producer_field(producer, P_SOURCE) == ptc_int(PTC_FROM_CHAIN) &&
                 producer_field(producer, P_STEPS) == PTC_NIL;
    PtcValue first = ptc_seq_prepend(vm, x, chain ? producer_field(producer, P_A) : PTC_NIL);
    if (first == PTC_NONE)
        return first;
    return ptc_producer_new(vm, PTC_FROM_CHAIN, first,
                            chain ? producer_field(producer, P_B) : producer);
}

/* May a builtin that ran out of memory while it made something try again? */
static bool may_retry(PtcVM *vm)
{
    return (ptc_builtin_row(vm->running)->flags & PTC_B_CALLS) && ptc_recover(vm);
}

bool ptc_stage(PtcVM *vm, PtcStepKind kind, int argc, const PtcValue *argv, PtcValue *out)
{
    PtcValue coll = argv[argc - 1];
    PtcValue p = ptc_producer_add(vm, coll, kind, argc - 1, argv);
    p = ptc_producer_keep(vm, p, coll, kind);
    if (p == PTC_NONE && may_retry(vm))
        p = ptc_producer_keep(vm, ptc_producer_add(vm, coll, kind, argc - 1, argv), coll, kind);
    return ptc_give(out, p);
}

static PtcValue new_producer_rows(PtcVM *vm, int argc, const PtcValue *argv, int from)
{
    PtcValue colls = ptc_vec_new(vm->heap, argv + from, (size_t)(argc - from), 0);
    if (colls == PTC_NONE)
        return colls;
    PtcValue p = ptc_producer_new(vm, PTC_FROM_ZIP, colls, PTC_NIL), lazy = PTC_NIL;
    bool endless = true;
    for (int i = from; i < argc; i++) {
        lazy = ptc_is_lazy(argv[i]) ? argv[i] : lazy;
        endless = endless && ptc_seq_endless(argv[i]) &&
                  (!ptc_is_lazy(argv[i]) || ptc_lazy_is_endless(argv[i]));
    }
    if (from > 0 && p != PTC_NONE)
        p = ptc_producer_add(vm, p, PTC_STEP_APPLY, from, argv);
    if (lazy == PTC_NIL || p == PTC_NONE)
        return p;
    return ptc_force_new(vm, p, PTC_UNBOUND, PTC_NIL, endless);
}

bool ptc_stage_rows(PtcVM *vm, int argc, const PtcValue *argv, int from, PtcValue *out)
{
    if (argc - from > ROW_MAX)
        return ptc_fail_endless(vm, from);
    for (int i = from; i < argc; i++)
        if (!ptc_is_seqable(argv[i]) && !ptc_is_producer(argv[i]))
            return ptc_fail_type(vm, argv, i, "a collection, string or nil");
    PtcValue p = new_producer_rows(vm, argc, argv, from);
    if (p == PTC_NONE && may_retry(vm))
        p = new_producer_rows(vm, argc, argv, from);
    return ptc_give(out, p);
}

/* ----------------------------------------------------------------------- opening */

static PtcNode *as_cursor_node(PtcValue cursor)
{
    return (PtcNode *)(uintptr_t)cursor;
}

static State *cursor_state(const PtcNode *c)
{
    return (State *)(void *)((PtcBytes *)(uintptr_t)c->slots[C_STATE])->bytes;
}

static PtcValue *step_of(PtcNode *c, size_t k)
{
    return c->slots + C_HEAD + k * PTC_S_SLOTS;
}

static size_t count_steps(PtcValue steps)
{
    return steps == PTC_NIL ? 0 : ptc_seq_count(steps);
}

static PtcNode *new_cursor(PtcVM *vm, size_t steps)
{
    size_t n = C_HEAD + steps * PTC_S_SLOTS;
    PtcBytes *bytes =
        ptc_heap_object(vm->heap, PTC_T_BYTES, sizeof *bytes + sizeof(State), sizeof(State));
    PtcNode *c =
        bytes && n < UINT32_MAX / 16
            ? ptc_heap_object(vm->heap, PTC_T_NODE, sizeof *c + n * sizeof(PtcValue), (uint32_t)n)
            : NULL;
    if (!c)
        return NULL;
    c->slots[C_STATE] = ptc_from_obj(bytes);
    for (size_t i = C_A; i < n; i++)
        c->slots[i] = PTC_UNBOUND;
    State *s = cursor_state(c);
    *s = (State){.source = PTC_FROM_COLL, .steps = steps, .pending = -1, .flush = -1, .again = -1};
    return c;
}

/* Puts steps `from` ... of a vector into the places of the cursor from `at` on. */
static bool place_steps(PtcVM *vm, PtcNode *c, size_t at, PtcValue steps, size_t from)
{
    State *s = cursor_state(c);
    for (size_t i = from; i < count_steps(steps); i++, at++) {
        PtcValue *slots = step_of(c, at);
        slots[PTC_S_STEP] = ptc_seq_nth(steps, i);
        if (!ptc_tick(&vm->budget, 1))
            return false;
        if (ptc_step_start(vm, slots))
            s->flush = (int64_t)at + 1;
    }
    return true;
}

/* Needs no call, so that nothing but its result has to be kept. */
static PtcNode *open_once(PtcVM *vm, PtcValue coll, PtcValue pipeline)
{
    bool produced = ptc_is_recipe(coll);
    PtcValue own = produced ? producer_field(coll, P_STEPS) : PTC_NIL;
    size_t n = count_steps(own), more = count_steps(pipeline);
    PtcNode *c = new_cursor(vm, n + (more ? more - 1 : 0));
    if (!c)
        return NULL;
    State *s = cursor_state(c);
    c->slots[C_A] = produced ? producer_field(coll, P_A) : coll;
    c->slots[C_B] = produced ? producer_field(coll, P_B) : PTC_NIL;
    if (produced)
        s->source = (PtcProducerSource)ptc_to_int(producer_field(coll, P_SOURCE));
    if (s->source == PTC_FROM_COLL && ptc_is_producer(c->slots[C_A]))
        s->source = PTC_FROM_LAZY;
    if ((s->source == PTC_FROM_COLL || s->source == PTC_FROM_CHAIN) &&
        !ptc_iter_init(&s->it, vm->heap, c->slots[C_A]))
        return NULL;
    return place_steps(vm, c, 0, own, 0) && place_steps(vm, c, n, pipeline, 1) ? c : NULL;
}

bool ptc_cursor_open(PtcVM *vm, PtcValue coll, PtcValue pipeline, PtcValue *slot)
{
    PtcValue keep[2] = {coll, pipeline};
    PtcNode *c = open_once(vm, coll, pipeline);
    if (!c && ptc_recover_keeping(vm, 2, keep, PTC_NIL))
        c = open_once(vm, coll, pipeline);
    if (c)
        *slot = ptc_from_obj(c);
    return c != NULL;
}

bool ptc_cursor_iter(PtcVM *vm, PtcValue coll, PtcValue pipeline, PtcIter *it)
{
    PtcValue *slot = ptc_roots(vm, 1);
    if (!slot || !ptc_cursor_open(vm, coll, pipeline, slot))
        return false;
    (void)!ptc_iter_init(it, NULL, PTC_NIL); /* no heap: that is how ptc_each knows a cursor */
    it->coll = *slot;
    return true;
}

/* ----------------------------------------------------------------------- pulling */

static int from_coll(PtcVM *vm, State *s, PtcValue *x)
{
    if (ptc_each(vm, &s->it, x))
        return 1;
    return s->it.failed ? -1 : 0;
}

static int from_iterate(PtcVM *vm, PtcNode *c, State *s, PtcValue *x)
{
    PtcValue y = c->slots[C_B];
    if (s->begun && !ptc_call1(vm, c->slots[C_A], y, &y))
        return -1;
    s->begun = true;
    *x = c->slots[C_B] = y;
    return 1;
}

static PtcNode *new_cursor_array(PtcVM *vm, size_t n)
{
    PtcNode *a = PTC_RETRY(
        vm, ptc_heap_object(vm->heap, PTC_T_NODE, sizeof *a + n * sizeof(PtcValue), (uint32_t)n));
    for (size_t i = 0; a && i < n; i++)
        a->slots[i] = PTC_NIL;
    return a;
}

/* C_B becomes an array: a cursor for each collection, then room for a row. */
static bool open_zip(PtcVM *vm, PtcNode *c, State *s)
{
    size_t n = ptc_seq_count(c->slots[C_A]);
    PtcNode *a = new_cursor_array(vm, 2 * n);
    if (!a)
        return false;
    c->slots[C_B] = ptc_from_obj(a);
    for (size_t i = 0; i < n; i++)
        if (!ptc_cursor_open(vm, ptc_seq_nth(c->slots[C_A], i), PTC_NIL, &a->slots[i]))
            return false;
    s->begun = true;
    c->slots[C_A] = PTC_NIL; /* the beginnings of what may be lazy are not needed any more */
    return true;
}

static int from_zip(PtcVM *vm, PtcNode *c, State *s, PtcValue *x)
{
    if (!s->begun && !open_zip(vm, c, s))
        return -1;
    PtcNode *a = as_cursor_node(c->slots[C_B]);
    size_t n = a->obj.count / 2;
    for (; s->row < n; s->row++) {
        int got = ptc_cursor_next(vm, a->slots[s->row], &a->slots[n + s->row]);
        if (got <= 0)
            return got;
    }
    s->row = 0;
    *x = PTC_RETRY(vm, ptc_vec_new(vm->heap, a->slots + n, n, 0));
    return *x == PTC_NONE ? -1 : 1;
}

static int from_chain(PtcVM *vm, PtcNode *c, State *s, PtcValue *x)
{
    int got = s->begun ? 0 : from_coll(vm, s, x);
    if (got != 0)
        return got;
    if (!s->begun && !ptc_cursor_open(vm, c->slots[C_B], PTC_NIL, &c->slots[C_B]))
        return -1;
    s->begun = true;
    return ptc_cursor_next(vm, c->slots[C_B], x);
}

/* What is lazy is left for what follows it as soon as that is something else. */
static int from_lazy(PtcVM *vm, PtcNode *c, State *s, PtcValue *x)
{
    int got = ptc_force_next(vm, &c->slots[C_A], x);
    if (got != 2)
        return got;
    if (ptc_is_recipe(c->slots[C_A])) {
        if (!ptc_cursor_open(vm, c->slots[C_A], PTC_NIL, &c->slots[C_B]))
            return -1;
        s->source = PTC_FROM_CHAIN;
        s->begun = true;
        return from_chain(vm, c, s, x);
    }
    s->source = PTC_FROM_COLL;
    return ptc_iter_init(&s->it, vm->heap, c->slots[C_A]) ? from_coll(vm, s, x) : -1;
}

static int from_source(PtcVM *vm, PtcNode *c, State *s, PtcValue *x)
{
    switch (s->source) {
    case PTC_FROM_COLL: return from_coll(vm, s, x);
    case PTC_FROM_ITERATE: return from_iterate(vm, c, s, x);
    case PTC_FROM_REPEATEDLY: return ptc_call(vm, c->slots[C_A], 0, NULL, x) ? 1 : -1;
    case PTC_FROM_ZIP: return from_zip(vm, c, s, x);
    case PTC_FROM_CHAIN: return from_chain(vm, c, s, x);
    case PTC_FROM_TREE: return ptc_tree_next(vm, c->slots[C_A], &c->slots[C_B], x);
    case PTC_FROM_LAZY: return from_lazy(vm, c, s, x);
    }
    return 0;
}

/* The next element that enters the steps, and *at which: what steps have left over comes before what
 * the source gives, and at the end comes what they hold. */
static int input(PtcVM *vm, PtcNode *c, State *s, PtcValue *x, size_t *at)
{
    int got;
    while (s->pending >= 0) {
        PtcValue *step = step_of(c, (size_t)s->pending);
        *at = (size_t)s->pending + 1;
        if ((got = ptc_step_more(vm, step, x)) != 0)
            return got;
        s->pending = ptc_to_int(step[PTC_S_PREV]);
    }
    *at = 0;
    if (s->flush < 0 && (got = from_source(vm, c, s, x)) != 0)
        return got;
    if (s->flush < 0)
        s->flush = 0;
    while ((size_t)s->flush < s->steps) {
        *at = (size_t)s->flush + 1;
        if ((got = ptc_step_flush(vm, step_of(c, (size_t)s->flush), x)) != 0)
            return got;
        s->flush++;
    }
    return 0;
}

/* Sends *x through the steps from `at`: 1 when it came out, 0 when it did not, -1: failed. */
static int pass(PtcVM *vm, PtcNode *c, State *s, PtcValue *x, size_t at)
{
    for (; at < s->steps; at++) {
        PtcValue *step = step_of(c, at);
        c->slots[C_INPUT] = *x;
        PtcStepResult result = ptc_step_run(vm, step, x);
        if (PTC_UNLIKELY(result == PTC_STEP_FAILED)) {
            s->again = (int64_t)at;
            return -1;
        }
        if (result == PTC_STEP_MORE) {
            step[PTC_S_PREV] = ptc_int(s->pending);
            s->pending = (int64_t)at;
        }
        if (result == PTC_STEP_LAST || result == PTC_STEP_STOP) {
            s->pending = -1;
            s->flush = (int64_t)at + 1;
        }
        if (result == PTC_STEP_NOTHING || result == PTC_STEP_STOP)
            return 0;
    }
    return 1;
}

/* The common case, a collection that has not ended and no step with more to give, in line. */
static inline int next_input(PtcVM *vm, PtcNode *c, State *s, PtcValue *x, size_t *at)
{
    *at = 0;
    if (PTC_LIKELY(s->source == PTC_FROM_COLL && s->pending < 0 && s->flush < 0) &&
        ptc_each(vm, &s->it, x))
        return 1;
    if (PTC_UNLIKELY(ptc_fuel_use(&vm->budget, 1) <= 0 || vm->budget.wake) && !ptc_vm_safepoint(vm))
        return -1;
    return input(vm, c, s, x, at);
}

int ptc_cursor_next(PtcVM *vm, PtcValue cursor, PtcValue *x)
{
    PtcNode *c = as_cursor_node(cursor);
    State *s = cursor_state(c);
    size_t at;
    int got;
    if (vm->native_depth >= PTC_SHALLOW && !ptc_deep_room(vm))
        return -1;
    vm->native_depth++;
    do {
        if (PTC_UNLIKELY(s->again >= 0)) {
            at = (size_t)s->again;
            *x = c->slots[C_INPUT];
            s->again = -1;
            got = 1;
        } else {
            got = next_input(vm, c, s, x, &at);
        }
        if (got == 0)
            break;
        if (got > 0)
            got = pass(vm, c, s, x, at);
    } while (got == 0);
    vm->native_depth--;
    return got;
}

bool ptc_cursor_halted(PtcValue cursor, PtcValue *x, PtcValue *f)
{
    PtcNode *c = as_cursor_node(cursor);
    for (size_t k = 0; k < cursor_state(c)->steps; k++) {
        const PtcValue *slots = step_of(c, k);
        PtcValue step = slots[PTC_S_STEP];
        if (ptc_step_kind(step) != PTC_STEP_HALT_WHEN || slots[PTC_S_A] == PTC_UNBOUND)
            continue;
        bool two = ptc_obj(step)->count > PTC_STEP_ARGS + 1;
        *f = two ? producer_field(step, PTC_STEP_ARGS + 1) : PTC_NIL;
        *x = slots[PTC_S_A];
        return true;
    }
    return false;
}

/* ----------------------------------- for builtins that do not call back themselves */

bool ptc_produced_fail(PtcVM *vm)
{
    return !vm->failed && vm->budget.stop != PTC_STOP_NONE ? ptc_vm_stopped(vm) : false;
}

/* Does each element of the source, which goes on and on, give at least one? */
static bool is_steady(PtcValue producer)
{
    int64_t source = ptc_to_int(producer_field(producer, P_SOURCE));
    PtcValue steps = producer_field(producer, P_STEPS);
    if (source == PTC_FROM_ZIP || source == PTC_FROM_CHAIN)
        return false;
    for (size_t i = 0; i < count_steps(steps); i++) {
        PtcStepKind kind = ptc_step_kind(ptc_seq_nth(steps, i));
        if (kind != PTC_STEP_MAP && kind != PTC_STEP_MAP_INDEXED && kind != PTC_STEP_DROP)
            return false;
    }
    return true;
}

/* Calls a hidden builtin that does. */
static bool by_hidden(PtcVM *vm, const char *name, int argc, const PtcValue *argv, PtcValue *out)
{
    PtcValue f = ptc_builtin((uint32_t)ptc_builtin_find(name, strlen(name)));
    bool bounded = !ptc_is_recipe(argv[0]) || is_steady(argv[0]);
    const char *outer = bounded ? vm->endless : ptc_walk(vm, argv, 0);
    return ptc_call(vm, f, argc, argv, out) ? ptc_walked(vm, outer) : ptc_produced_fail(vm);
}

/* What a lazy sequence has after n elements, as a root; NULL: failed. */
static PtcValue *lazy_after(PtcVM *vm, PtcValue lazy, size_t n)
{
    PtcValue *pos = ptc_roots(vm, 1);
    if (!pos)
        return NULL;
    *pos = lazy;
    if (ptc_force_skip(vm, pos, n) && (!ptc_is_lazy(*pos) || ptc_force(vm, *pos)))
        return pos;
    ptc_produced_fail(vm);
    return NULL;
}

static bool lazy_nth(PtcVM *vm, PtcValue lazy, size_t n, PtcValue *out)
{
    PtcValue *pos = lazy_after(vm, lazy, n);
    if (!pos)
        return false;
    int got = ptc_force_next(vm, pos, out);
    if (got == 2 && !ptc_is_producer(*pos)) {
        PtcIter it;
        got = !ptc_iter_init(&it, vm->heap, *pos) ? -1
              : ptc_next(vm, &it, out)            ? 1
              : it.failed                         ? -1
                                                  : 0;
    } else if (got == 2) {
        return ptc_produced_nth(vm, *pos, 0, out);
    }
    if (got == 0)
        *out = PTC_NONE;
    return got >= 0 || ptc_produced_fail(vm);
}

bool ptc_produced_nth(PtcVM *vm, PtcValue producer, size_t n, PtcValue *out)
{
    if (ptc_is_lazy(producer))
        return lazy_nth(vm, producer, n, out);
    PtcValue args[2] = {producer, ptc_int(n < PTC_INT_MAX ? (int64_t)n : PTC_INT_MAX)};
    if (!by_hidden(vm, "%produced-nth", 2, args, out))
        return false;
    *out = *out == PTC_UNBOUND ? PTC_NONE : *out;
    return true;
}

/* (nthnext lazy n) or, unless or_nil, (nthrest lazy n), which computes no more than it must. */
static bool lazy_rest(PtcVM *vm, PtcValue lazy, size_t n, bool or_nil, PtcValue *out)
{
    PtcValue *pos = ptc_roots(vm, 1);
    if (!pos)
        return false;
    *pos = lazy;
    if (!ptc_force_skip(vm, pos, n) || (or_nil && ptc_is_lazy(*pos) && !ptc_force(vm, *pos)))
        return ptc_produced_fail(vm);
    PtcValue at = ptc_lazy_landing(*pos);
    bool none = at == PTC_NIL || (!ptc_is_producer(at) && ptc_obj(at)->count == 0);
    if (none)
        *out = or_nil ? PTC_NIL : ptc_vec_new(vm->heap, NULL, 0, PTC_SEQ);
    else if (ptc_is_producer(at) || n == 0)
        *out = n == 0 ? lazy : at;
    else
        *out = ptc_seq_drop(vm, at, 0);
    return *out != PTC_NONE || ptc_produced_fail(vm);
}

bool ptc_produced_next(PtcVM *vm, PtcValue producer, size_t n, bool or_nil, PtcValue *out)
{
    bool has = true;
    if (ptc_is_lazy(producer))
        return lazy_rest(vm, producer, n, or_nil, out);
    if (or_nil && !ptc_produced_has(vm, producer, n, &has))
        return false;
    if (!has || n == 0)
        return ptc_give(out, has ? producer : PTC_NIL);
    PtcValue p = ptc_producer_drop(vm, producer, n);
    return ptc_give(out, ptc_producer_keep(vm, p, PTC_NONE, PTC_STEP_DROP)) ||
           ptc_produced_fail(vm);
}

bool ptc_produced_rest(PtcVM *vm, PtcValue producer, size_t n, PtcValue *out)
{
    if (ptc_is_lazy(producer))
        return lazy_rest(vm, producer, n, true, out);
    PtcValue x, args[2] = {producer, PTC_NIL};
    bool plain = producer_field(producer, P_SOURCE) == ptc_int(PTC_FROM_ITERATE) &&
                 producer_field(producer, P_STEPS) == PTC_NIL;
    if (!ptc_produced_nth(vm, producer, n, &x))
        return false;
    if (x == PTC_NONE)
        return ptc_give(out, PTC_NIL);
    args[1] = x;
    for (int tries = 0; tries < 2; tries++) {
        *out = plain ? ptc_producer_new(vm, PTC_FROM_ITERATE, producer_field(producer, P_A), x)
                     : ptc_producer_keep(vm, ptc_producer_drop(vm, producer, n), PTC_NONE,
                                         PTC_STEP_DROP);
        if (*out != PTC_NONE || !ptc_recover_keeping(vm, 2, args, PTC_NIL))
            break;
    }
    return *out != PTC_NONE || ptc_produced_fail(vm);
}

bool ptc_produced_has(PtcVM *vm, PtcValue producer, size_t n, bool *has)
{
    PtcValue x;
    *has = true;
    if (ptc_is_recipe(producer) && is_steady(producer))
        return true;
    if (!ptc_produced_nth(vm, producer, n, &x))
        return false;
    *has = x != PTC_NONE;
    return true;
}

bool ptc_produced_take(PtcVM *vm, PtcValue producer, size_t n, PtcValue *out)
{
    PtcValue args[2] = {producer, ptc_int(n < PTC_INT_MAX ? (int64_t)n : PTC_INT_MAX)};
    PtcValue staged[2] = {args[1], producer};
    if (ptc_is_lazy(producer))
        return ptc_stage(vm, PTC_STEP_TAKE, 2, staged, out);
    return by_hidden(vm, "%produced-take", 2, args, out);
}

bool ptc_any_producer(int argc, const PtcValue *argv)
{
    for (int i = 0; i < argc; i++)
        if (ptc_is_producer(argv[i]))
            return true;
    return false;
}

bool ptc_produced_beside(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out)
{
    PtcValue args[ROW_MAX + 1] = {ptc_builtin(vm->running)};
    for (int i = 0; i < argc && argc <= ROW_MAX; i++)
        args[i + 1] = argv[i];
    for (int i = 0; argc > ROW_MAX && i < argc; i++)
        if (ptc_is_producer(argv[i]))
            return ptc_fail_endless(vm, i);
    return by_hidden(vm, "%produced-beside", argc + 1, args, out);
}

PTC_BUILTIN(hidden_produced_nth, "clojure.core", "produced-nth", 2, 2, PTC_B_CALLS | PTC_B_HIDDEN,
            "(nth producer n)", "The n-th element of a producer.", "")
{
    PtcIter it;
    if (!ptc_cursor_iter(vm, argv[0], PTC_NIL, &it))
        return false;
    for (int64_t n = ptc_to_int(argv[1]); ptc_each(vm, &it, out); n--)
        if (n == 0)
            return true;
    *out = PTC_UNBOUND;
    return ptc_iter_end(&it);
}

/* The first n elements of a producer into *slot, as a seq. */
static bool take_into(PtcVM *vm, PtcValue producer, int64_t n, PtcValue *slot)
{
    PtcIter it;
    PtcValue x;
    size_t roots = vm->root_count;
    bool ok = ptc_root_build(vm, slot) && ptc_cursor_iter(vm, producer, PTC_NIL, &it);
    for (; ok && n > 0 && ptc_each(vm, &it, &x); n--)
        ok = ptc_root_push(vm, slot, x);
    ok = ok && ptc_iter_end(&it) && ptc_root_done(vm, slot, PTC_SEQ, slot);
    vm->root_count = roots;
    return ok;
}

PTC_BUILTIN(hidden_produced_take, "clojure.core", "produced-take", 2, 2, PTC_B_CALLS | PTC_B_HIDDEN,
            "(take n producer)", "The first n elements of a producer.", "")
{
    PtcValue *slot = ptc_roots(vm, 1);
    return slot && take_into(vm, argv[0], ptc_to_int(argv[1]), slot) && ptc_give(out, *slot);
}

/* The number of elements of something finite, strings included. */
static bool count_source_elements(PtcVM *vm, const PtcValue *argv, int i, int64_t *n)
{
    if (!ptc_is_seqable(argv[i]))
        return ptc_fail_type(vm, argv, i, "a collection, string or nil");
    *n = ptc_is_string(argv[i]) ? (int64_t)ptc_str_graphemes(&vm->budget, argv[i])
         : argv[i] == PTC_NIL   ? 0
                                : (int64_t)ptc_obj(argv[i])->count;
    return ptc_tick(&vm->budget, 1);
}

PTC_BUILTIN(hidden_produced_beside, "clojure.core", "produced-beside", 2, -1,
            PTC_B_CALLS | PTC_B_HIDDEN, "(f & colls)",
            "Calls a builtin with the producers cut to the shortest of the other arguments.", "")
{
    PtcValue *slots = ptc_roots(vm, argc);
    int64_t shortest = INT64_MAX, n = 0;
    if (!slots)
        return false;
    vm->running = ptc_builtin_index(argv[0]);
    for (int i = 1; i < argc; i++) {
        slots[i] = argv[i];
        if (ptc_is_producer(argv[i]))
            continue;
        if (!count_source_elements(vm, argv + 1, i - 1, &n))
            return false;
        shortest = n < shortest ? n : shortest;
    }
    for (int i = 1; i < argc; i++)
        if (ptc_is_producer(argv[i]) && !take_into(vm, argv[i], shortest, &slots[i]))
            return false;
    return ptc_call(vm, argv[0], argc - 1, slots + 1, out);
}

/* ------------------------------------------------------------------------ making */

PTC_BUILTIN(core_iterate, "clojure.core", "iterate", 2, 2,
            PTC_TAKES(PTC_IS_CALLED) | PTC_GIVES(PTC_IS_LIST), "(iterate f x)",
            "x, (f x), (f (f x)) and so on without end: each is computed when take, first, nth, "
            "take-while or a similar function asks for it.",
            "(take 4 (iterate inc 1)) => [1 2 3 4]\n(nth (iterate #(* 2 %) 1) 10) => 1024\n"
            "(first (drop-while #(< % 100) (iterate #(* 3 %) 1))) => 243\n"
            "(count (iterate inc 1)) !! value_error")
{
    return ptc_arg_callable(vm, argv, 0) &&
           ptc_give(out, ptc_producer_new(vm, PTC_FROM_ITERATE, argv[0], argv[1]));
}

PTC_BUILTIN(core_repeatedly, "clojure.core", "repeatedly", 1, 2,
            PTC_B_CALLS | PTC_GIVES(PTC_IS_LIST), "(repeatedly n? f)",
            "The results of n calls of f without arguments; without n there is no end, and f is "
            "called when an element is asked for.",
            "(repeatedly 2 (fn [] 7)) => [7 7]\n(take 2 (repeatedly (fn [] :a))) => [:a :a]\n"
            "(repeatedly 1 5) !! type_error")
{
    size_t n;
    if (!ptc_arg_callable(vm, argv, argc - 1) || (argc == 2 && !ptc_arg_n(vm, argv, 0, &n)))
        return false;
    PtcValue f = argv[argc - 1], y = PTC_NIL, *slot = ptc_roots(vm, 1);
    if (argc == 1) {
        PtcValue p = PTC_RETRY(vm, ptc_producer_new(vm, PTC_FROM_REPEATEDLY, f, PTC_NIL));
        return ptc_give(out, p);
    }
    if (!slot || !ptc_root_build(vm, slot))
        return false;
    for (; n > 0; n--)
        if (!ptc_tick(&vm->budget, 1) || !ptc_call(vm, f, 0, NULL, &y) ||
            !ptc_root_push(vm, slot, y))
            return false;
    return ptc_root_done(vm, slot, PTC_SEQ, out);
}

PTC_BUILTIN_TABLE(ptc_lib_produce, core_iterate, core_repeatedly, hidden_produced_nth,
                  hidden_produced_take, hidden_produced_beside);
