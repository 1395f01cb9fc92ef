/* SPDX-License-Identifier: MIT
 * Steps: what one element goes through in a transducer or in a producer, and what runs transducers.
 *
 * (map f) is a function record that remembers the builtin and its arguments: a step.  To run a
 * transducer, it is called with an empty pipeline; each step called (comp calls the last first) puts
 * itself in front.  A cursor then sends the elements through the steps one by one.
 *
 * A pipeline is a vector: the hidden builtin as a mark, then the steps.  The state of a step is in its
 * slots A and B of the cursor; both are PTC_UNBOUND at first. */
#include "lisp/lazy/produce.h"
#include "lisp/vm/many.h"
#include "lisp/vm/record.h"
#include "lisp/vm/vm_int.h"

static const char *const kind_names[PTC_STEP_KINDS] = {
    [PTC_STEP_MAP] = "map",
    [PTC_STEP_FILTER] = "filter",
    [PTC_STEP_REMOVE] = "remove",
    [PTC_STEP_KEEP] = "keep",
    [PTC_STEP_MAP_INDEXED] = "map-indexed",
    [PTC_STEP_KEEP_INDEXED] = "keep-indexed",
    [PTC_STEP_TAKE] = "take",
    [PTC_STEP_TAKE_WHILE] = "take-while",
    [PTC_STEP_TAKE_NTH] = "take-nth",
    [PTC_STEP_DROP] = "drop",
    [PTC_STEP_DROP_WHILE] = "drop-while",
    [PTC_STEP_MAPCAT] = "mapcat",
    [PTC_STEP_CAT] = "cat",
    [PTC_STEP_INTERPOSE] = "interpose",
    [PTC_STEP_PARTITION_ALL] = "partition-all",
    [PTC_STEP_PARTITION_BY] = "partition-by",
    [PTC_STEP_DISTINCT] = "distinct",
    [PTC_STEP_DEDUPE] = "dedupe",
    [PTC_STEP_HALT_WHEN] = "halt-when",
};

static PtcValue mark(void)
{
    return ptc_builtin((uint32_t)ptc_builtin_find("%xform", 6));
}

/* ------------------------------------------------------------------------- steps */

PtcValue ptc_step_new(PtcVM *vm, PtcStepKind kind, int argc, const PtcValue *argv)
{
    PtcValue fields[PTC_STEP_ARGS + PTC_STEP_MAX_ARGS];
    size_t n = 0;
    fields[n++] = ptc_builtin(vm->running);
    fields[n++] = ptc_int(kind);
    for (int i = 0; i < argc && i < PTC_STEP_MAX_ARGS; i++)
        fields[n++] = argv[i];
    return ptc_fn_record(vm, "xform", fields, n);
}

/* The argument of a step. */
static PtcValue step_argument(const PtcValue *s, size_t i)
{
    return ptc_record_field(s[PTC_S_STEP], PTC_STEP_ARGS + i);
}

/* The same as a number of elements; the builtin that made the step has checked it. */
static int64_t arg_n(PtcVM *vm, const PtcValue *s, size_t i)
{
    size_t n = 0;
    PtcValue v = step_argument(s, i);
    return ptc_arg_n(vm, &v, 0, &n) && n < PTC_INT_MAX ? (int64_t)n : PTC_INT_MAX;
}

bool ptc_step_start(PtcVM *vm, PtcValue *s)
{
    switch (ptc_step_kind(s[PTC_S_STEP])) {
    case PTC_STEP_TAKE: s[PTC_S_A] = ptc_int(arg_n(vm, s, 0)); return s[PTC_S_A] == ptc_int(0);
    case PTC_STEP_DROP: s[PTC_S_A] = ptc_int(arg_n(vm, s, 0)); return false;
    case PTC_STEP_MAP_INDEXED:
    case PTC_STEP_KEEP_INDEXED:
    case PTC_STEP_TAKE_NTH:
    case PTC_STEP_PARTITION: s[PTC_S_B] = ptc_int(0); return false;
    case PTC_STEP_REDUCTIONS:
        if (ptc_obj(s[PTC_S_STEP])->count > PTC_STEP_ARGS + 1)
            s[PTC_S_A] = step_argument(s, 1);
        return false;
    default: return false;
    }
}

/* *x stays when the predicate gives what is wanted. */
static PtcStepResult select(PtcVM *vm, PtcValue *s, PtcValue *x, bool want)
{
    PtcValue y;
    s[PTC_S_B] = *x;
    if (!ptc_call_element(vm, step_argument(s, 0), *x, &y))
        return PTC_STEP_FAILED;
    *x = s[PTC_S_B];
    return ptc_truthy(y) == want ? PTC_STEP_PASS : PTC_STEP_NOTHING;
}

static PtcStepResult apply_step_function(PtcVM *vm, PtcValue *s, PtcValue *x, bool nil_too)
{
    if (!ptc_call_element(vm, step_argument(s, 0), *x, x))
        return PTC_STEP_FAILED;
    return nil_too || *x != PTC_NIL ? PTC_STEP_PASS : PTC_STEP_NOTHING;
}

static PtcStepResult change_indexed(PtcVM *vm, PtcValue *s, PtcValue *x, bool nil_too)
{
    PtcValue i = s[PTC_S_B];
    if (!ptc_call2(vm, step_argument(s, 0), i, *x, x))
        return PTC_STEP_FAILED;
    s[PTC_S_B] = ptc_int(ptc_to_int(i) + 1);
    return nil_too || *x != PTC_NIL ? PTC_STEP_PASS : PTC_STEP_NOTHING;
}

/* A row is the arguments; it has no more than a flat vector holds. */
static PtcStepResult apply_row(PtcVM *vm, PtcValue *s, PtcValue *x)
{
    s[PTC_S_B] = *x;
    const PtcFlat *row = (const PtcFlat *)(uintptr_t)*x;
    return ptc_call(vm, step_argument(s, 0), (int)row->obj.count, row->items, x) ? PTC_STEP_PASS
                                                                                 : PTC_STEP_FAILED;
}

static PtcStepResult count_taken(PtcValue *s)
{
    int64_t left = ptc_to_int(s[PTC_S_A]) - 1;
    s[PTC_S_A] = ptc_int(left);
    return left > 0 ? PTC_STEP_PASS : PTC_STEP_LAST;
}

static PtcStepResult count_dropped(PtcValue *s)
{
    int64_t left = ptc_to_int(s[PTC_S_A]);
    if (left == 0)
        return PTC_STEP_PASS;
    s[PTC_S_A] = ptc_int(left - 1);
    return PTC_STEP_NOTHING;
}

static PtcStepResult drop_while(PtcVM *vm, PtcValue *s, PtcValue *x)
{
    if (s[PTC_S_A] == PTC_TRUE)
        return PTC_STEP_PASS;
    PtcStepResult result = select(vm, s, x, false);
    if (result == PTC_STEP_PASS)
        s[PTC_S_A] = PTC_TRUE;
    return result;
}

static PtcStepResult take_nth(PtcVM *vm, PtcValue *s)
{
    int64_t i = ptc_to_int(s[PTC_S_B]), n = arg_n(vm, s, 0);
    s[PTC_S_B] = ptc_int(i + 1 == n ? 0 : i + 1);
    return i == 0 ? PTC_STEP_PASS : PTC_STEP_NOTHING;
}

/* The elements of *x go on one by one. */
static PtcStepResult spread_step_elements(PtcVM *vm, PtcValue *s, PtcValue *x, const char *role)
{
    if (*x == PTC_NIL)
        return PTC_STEP_NOTHING;
    if (!ptc_is_seqable(*x) && !ptc_is_producer(*x)) {
        vm->running = ptc_builtin_index(ptc_record_field(s[PTC_S_STEP], PTC_STEP_BUILTIN));
        ptc_fail_value_type(vm, *x, role, "a collection, string or nil");
        return PTC_STEP_FAILED;
    }
    if (!ptc_cursor_open(vm, *x, PTC_NIL, &s[PTC_S_A]))
        return PTC_STEP_FAILED;
    int got = ptc_step_more(vm, s, x);
    return got < 0 ? PTC_STEP_FAILED : got == 0 ? PTC_STEP_NOTHING : PTC_STEP_MORE;
}

static PtcStepResult interpose(PtcValue *s, PtcValue *x)
{
    bool first = s[PTC_S_A] == PTC_UNBOUND;
    s[PTC_S_A] = PTC_TRUE;
    if (first)
        return PTC_STEP_PASS;
    s[PTC_S_B] = *x;
    *x = step_argument(s, 0);
    return PTC_STEP_MORE;
}

int ptc_step_more(PtcVM *vm, PtcValue *s, PtcValue *x)
{
    if (ptc_step_kind(s[PTC_S_STEP]) != PTC_STEP_INTERPOSE) {
        int got = ptc_cursor_next(vm, s[PTC_S_A], x);
        if (got == 0)
            s[PTC_S_A] = PTC_UNBOUND;
        return got;
    }
    *x = s[PTC_S_B];
    s[PTC_S_B] = PTC_UNBOUND;
    return *x != PTC_UNBOUND;
}

/* x at the end of the vector that is being built in A. */
static bool gather_step_element(PtcVM *vm, PtcValue *s, PtcValue x)
{
    if (s[PTC_S_A] == PTC_UNBOUND) {
        PtcValue b = ptc_build_new(vm->heap);
        if (b == PTC_NONE && ptc_recover_keeping(vm, 1, &x, PTC_NIL))
            b = ptc_build_new(vm->heap);
        if (b == PTC_NONE)
            return false;
        s[PTC_S_A] = b;
    }
    return ptc_root_push(vm, &s[PTC_S_A], x);
}

/* What was gathered; A is empty then. */
static PtcStepResult gathered(PtcVM *vm, PtcValue *s, int flags, PtcValue *x)
{
    if (!ptc_root_done(vm, &s[PTC_S_A], flags, x))
        return PTC_STEP_FAILED;
    s[PTC_S_A] = PTC_UNBOUND;
    return PTC_STEP_PASS;
}

static PtcStepResult partition_all(PtcVM *vm, PtcValue *s, PtcValue *x)
{
    if (!gather_step_element(vm, s, *x))
        return PTC_STEP_FAILED;
    if ((int64_t)ptc_build_count(s[PTC_S_A]) < arg_n(vm, s, 0))
        return PTC_STEP_NOTHING;
    return gathered(vm, s, 0, x);
}

/* The elements of the piece *x from `step` on are the first of the next one. */
static bool gather_after(PtcVM *vm, PtcValue *s, PtcValue *x, int64_t step)
{
    s[PTC_S_B] = *x; /* kept alive meanwhile */
    for (int64_t i = step, n = (int64_t)ptc_seq_count(*x); i < n; i++)
        if (!ptc_tick(&vm->budget, 1) ||
            !gather_step_element(vm, s, ptc_seq_nth(s[PTC_S_B], (size_t)i)))
            return false;
    *x = s[PTC_S_B];
    return true;
}

/* Windows of n that begin `step` apart; B counts what is to be skipped before the next one. */
static PtcStepResult partition(PtcVM *vm, PtcValue *s, PtcValue *x)
{
    int64_t n = arg_n(vm, s, 0), step = arg_n(vm, s, 1), skip = ptc_to_int(s[PTC_S_B]);
    if (skip > 0) {
        s[PTC_S_B] = ptc_int(skip - 1);
        return PTC_STEP_NOTHING;
    }
    if (!gather_step_element(vm, s, *x))
        return PTC_STEP_FAILED;
    if ((int64_t)ptc_build_count(s[PTC_S_A]) < n)
        return PTC_STEP_NOTHING;
    if (gathered(vm, s, PTC_SEQ, x) == PTC_STEP_FAILED)
        return PTC_STEP_FAILED;
    if (!gather_after(vm, s, x, step))
        return PTC_STEP_FAILED;
    s[PTC_S_B] = ptc_int(step > n ? step - n : 0);
    return PTC_STEP_PASS;
}

/* PREV holds the element during the call: this step never has more to give. */
static PtcStepResult partition_by(PtcVM *vm, PtcValue *s, PtcValue *x)
{
    PtcValue key, run = PTC_NONE;
    s[PTC_S_PREV] = *x;
    if (!ptc_call_element(vm, step_argument(s, 0), *x, &key))
        return PTC_STEP_FAILED;
    bool same = s[PTC_S_B] == PTC_UNBOUND || ptc_same(vm->heap, s[PTC_S_B], key);
    s[PTC_S_B] = key;
    if (!same && gathered(vm, s, PTC_SEQ, &run) == PTC_STEP_FAILED)
        return PTC_STEP_FAILED;
    PtcValue element = s[PTC_S_PREV];
    s[PTC_S_PREV] = same ? PTC_UNBOUND : run;
    if (!gather_step_element(vm, s, element))
        return PTC_STEP_FAILED;
    *x = s[PTC_S_PREV];
    s[PTC_S_PREV] = PTC_UNBOUND;
    return same ? PTC_STEP_NOTHING : PTC_STEP_PASS;
}

static PtcStepResult distinct(PtcVM *vm, PtcValue *s, PtcValue *x)
{
    for (int tries = 0; tries < 2; tries++) {
        PtcValue seen = s[PTC_S_A] == PTC_UNBOUND ? ptc_set_empty(vm->heap) : s[PTC_S_A];
        if (seen != PTC_NONE && ptc_set_has(vm->heap, seen, *x))
            return PTC_STEP_NOTHING;
        seen = seen == PTC_NONE ? seen : ptc_set_add(vm->heap, seen, *x);
        if (seen != PTC_NONE) {
            s[PTC_S_A] = seen;
            return PTC_STEP_PASS;
        }
        if (!ptc_recover_keeping(vm, 1, x, PTC_NIL))
            break;
    }
    return PTC_STEP_FAILED;
}

static PtcStepResult dedupe(PtcVM *vm, PtcValue *s, const PtcValue *x)
{
    if (s[PTC_S_B] != PTC_UNBOUND && ptc_same(vm->heap, s[PTC_S_B], *x))
        return PTC_STEP_NOTHING;
    s[PTC_S_B] = *x;
    return PTC_STEP_PASS;
}

static PtcStepResult reductions(PtcVM *vm, PtcValue *s, PtcValue *x)
{
    if (s[PTC_S_A] != PTC_UNBOUND && !ptc_call2(vm, step_argument(s, 0), s[PTC_S_A], *x, x))
        return PTC_STEP_FAILED;
    bool last = ptc_is_record(*x, PTC_R_REDUCED) && s[PTC_S_A] != PTC_UNBOUND;
    if (last)
        *x = ptc_record_field(*x, 0);
    s[PTC_S_A] = *x;
    return last ? PTC_STEP_LAST : PTC_STEP_PASS;
}

static PtcStepResult take_while(PtcVM *vm, PtcValue *s, PtcValue *x)
{
    PtcStepResult result = select(vm, s, x, true);
    return result == PTC_STEP_NOTHING ? PTC_STEP_STOP : result;
}

/* What ended it is kept in A. */
static PtcStepResult halt_when(PtcVM *vm, PtcValue *s, PtcValue *x)
{
    PtcStepResult result = select(vm, s, x, false);
    if (result != PTC_STEP_NOTHING)
        return result;
    s[PTC_S_A] = s[PTC_S_B];
    return PTC_STEP_STOP;
}

static PtcStepResult mapcat(PtcVM *vm, PtcValue *s, PtcValue *x)
{
    if (!ptc_call_element(vm, step_argument(s, 0), *x, x))
        return PTC_STEP_FAILED;
    return spread_step_elements(vm, s, x, "a result of the function");
}

PtcStepResult ptc_step_run(PtcVM *vm, PtcValue *s, PtcValue *x)
{
    switch (ptc_step_kind(s[PTC_S_STEP])) {
    case PTC_STEP_MAP: return apply_step_function(vm, s, x, true);
    case PTC_STEP_APPLY: return apply_row(vm, s, x);
    case PTC_STEP_FILTER: return select(vm, s, x, true);
    case PTC_STEP_REMOVE: return select(vm, s, x, false);
    case PTC_STEP_KEEP: return apply_step_function(vm, s, x, false);
    case PTC_STEP_MAP_INDEXED: return change_indexed(vm, s, x, true);
    case PTC_STEP_KEEP_INDEXED: return change_indexed(vm, s, x, false);
    case PTC_STEP_TAKE: return count_taken(s);
    case PTC_STEP_TAKE_WHILE: return take_while(vm, s, x);
    case PTC_STEP_TAKE_NTH: return take_nth(vm, s);
    case PTC_STEP_DROP: return count_dropped(s);
    case PTC_STEP_DROP_WHILE: return drop_while(vm, s, x);
    case PTC_STEP_MAPCAT: return mapcat(vm, s, x);
    case PTC_STEP_CAT: return spread_step_elements(vm, s, x, "an element");
    case PTC_STEP_INTERPOSE: return interpose(s, x);
    case PTC_STEP_PARTITION: return partition(vm, s, x);
    case PTC_STEP_PARTITION_ALL: return partition_all(vm, s, x);
    case PTC_STEP_PARTITION_BY: return partition_by(vm, s, x);
    case PTC_STEP_DISTINCT: return distinct(vm, s, x);
    case PTC_STEP_DEDUPE: return dedupe(vm, s, x);
    case PTC_STEP_REDUCTIONS: return reductions(vm, s, x);
    case PTC_STEP_HALT_WHEN: return halt_when(vm, s, x);
    case PTC_STEP_KINDS: break;
    }
    return PTC_STEP_FAILED;
}

/* The shorter rest of partition: left out, kept, or filled up from the pad. */
static int flush_partition(PtcVM *vm, PtcValue *s, PtcValue *x)
{
    PtcIter it;
    if (ptc_obj(s[PTC_S_STEP])->count <= PTC_STEP_ARGS + 2 || s[PTC_S_A] == PTC_UNBOUND)
        return 0;
    PtcValue pad = step_argument(s, 2) == PTC_TRUE ? PTC_NIL : step_argument(s, 2);
    if (!ptc_iter_init(&it, vm->heap, pad))
        return -1;
    while ((int64_t)ptc_build_count(s[PTC_S_A]) < arg_n(vm, s, 0) && ptc_each(vm, &it, x))
        if (!gather_step_element(vm, s, *x))
            return -1;
    if (!ptc_iter_end(&it) || gathered(vm, s, PTC_SEQ, x) == PTC_STEP_FAILED)
        return -1;
    return step_argument(s, 2) != PTC_TRUE || gather_after(vm, s, x, arg_n(vm, s, 1)) ? 1 : -1;
}

/* Of no elements there is one reduction: what the function gives without arguments. */
static int flush_reductions(PtcVM *vm, PtcValue *s, PtcValue *x)
{
    if (s[PTC_S_A] != PTC_UNBOUND)
        return 0;
    if (!ptc_call(vm, step_argument(s, 0), 0, NULL, x))
        return -1;
    s[PTC_S_A] = *x;
    return 1;
}

int ptc_step_flush(PtcVM *vm, PtcValue *s, PtcValue *x)
{
    PtcStepKind kind = ptc_step_kind(s[PTC_S_STEP]);
    if (kind == PTC_STEP_REDUCTIONS)
        return flush_reductions(vm, s, x);
    if (kind == PTC_STEP_PARTITION)
        return flush_partition(vm, s, x);
    if ((kind != PTC_STEP_PARTITION_ALL && kind != PTC_STEP_PARTITION_BY) ||
        s[PTC_S_A] == PTC_UNBOUND)
        return 0;
    int flags = kind == PTC_STEP_PARTITION_BY ? PTC_SEQ : 0;
    return gathered(vm, s, flags, x) == PTC_STEP_FAILED ? -1 : 1;
}

/* --------------------------------------------------------------------- pipelines */

static bool is_pipeline(PtcValue v)
{
    return ptc_is_sequential(v) && ptc_seq_count(v) > 0 && ptc_seq_nth(v, 0) == mark();
}

/* Programs may put anything into a pipeline that passes through them. */
static bool is_step(PtcValue v)
{
    return ptc_is_record(v, PTC_R_FN) && ptc_record_field(v, 0) == mark();
}

static PtcStepKind kind_of_running(const PtcVM *vm)
{
    const char *name = ptc_builtin_row(vm->running)->name;
    int kind = 0;
    while (kind < PTC_STEP_KINDS && (!kind_names[kind] || strcmp(kind_names[kind], name) != 0))
        kind++;
    return (PtcStepKind)kind;
}

bool ptc_xform(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out)
{
    PtcStepKind kind = kind_of_running(vm);
    PtcValue step = ptc_step_new(vm, kind, argc, argv);
    if (step == PTC_NONE && (ptc_builtin_row(vm->running)->flags & PTC_B_CALLS) && ptc_recover(vm))
        step = ptc_step_new(vm, kind, argc, argv);
    return ptc_give(out, step);
}

/* A step in front of the pipeline `next`. */
static bool link(PtcVM *vm, PtcValue step, PtcValue next, PtcValue *out)
{
    if (!is_pipeline(next)) {
        ptc_fail(vm, PTC_E_TYPE, "a transducer cannot be called with %s", ptc_type_name(next));
        return ptc_fail_hint(vm, "give it to into, sequence or transduce: (into [] (map f) coll)");
    }
    PtcValue b = ptc_build_new(vm->heap);
    bool ok = step != PTC_NONE && b != PTC_NONE && ptc_build_add(vm->heap, b, mark()) &&
              ptc_build_add(vm->heap, b, step);
    for (size_t i = 1; ok && i < ptc_seq_count(next); i++)
        ok = ptc_tick(&vm->budget, 1) && ptc_build_add(vm->heap, b, ptc_seq_nth(next, i));
    return ok && ptc_give(out, ptc_build_done(vm->heap, b, 0));
}

PTC_BUILTIN_EXPR(hidden_xform, "clojure.core", "xform", 2, 2, PTC_B_HIDDEN, "(xform next)",
                 "What (map f) and its kin give without a collection: adds itself to a pipeline.",
                 "", link(vm, argv[0], argv[1], out))

PTC_BUILTIN_EXPR(
    core_cat, "clojure.core", "cat", 1, 1, 0, "(into to cat from)",
    "A transducer that passes on the elements of its elements, which must be collections.",
    "(into [] cat [[1 2] nil [3]]) => [1 2 3]\n"
    "(into [] (comp (map range) cat) [2 3]) => [0 1 0 1 2]\n(into [] cat [5]) !! type_error",
    link(vm, ptc_step_new(vm, PTC_STEP_CAT, 0, NULL), argv[0], out))

static bool is_transducing(PtcValue f)
{
    const char *name = ptc_is_builtin(f) ? ptc_builtin_row(ptc_builtin_index(f))->name : "cat";
    return strcmp(name, "identity") == 0 || strcmp(name, "cat") == 0;
}

/* The pipeline that the transducer argument i stands for, into *slot, a root: a vector of a mark and the
 * steps from index 1. */
static bool arg_pipeline(PtcVM *vm, const PtcValue *argv, int i, PtcValue *slot)
{
    static const char expected[] = "a transducer, such as (map f) or (comp (map f) (filter g))";
    if (!is_transducing(argv[i]))
        return ptc_fail_type(vm, argv, i, "a transducer, such as (map f)");
    PtcValue m = mark(), empty = PTC_RETRY(vm, ptc_vec_new(vm->heap, &m, 1, 0));
    if (empty == PTC_NONE || !ptc_arg_callable(vm, argv, i) || !ptc_call1(vm, argv[i], empty, slot))
        return false;
    if (!is_pipeline(*slot))
        return ptc_fail_type(vm, argv, i, expected);
    for (size_t k = 1; k < ptc_seq_count(*slot); k++)
        if (!ptc_tick(&vm->budget, 1) || !is_step(ptc_seq_nth(*slot, k)))
            return ptc_fail_type(vm, argv, i, expected);
    return true;
}

/* Does some step of it end an endless input? */
static bool pipeline_ends(PtcValue pipeline)
{
    for (size_t k = 1; k < ptc_seq_count(pipeline); k++) {
        PtcStepKind kind = ptc_step_kind(ptc_seq_nth(pipeline, k));
        if (kind == PTC_STEP_TAKE || kind == PTC_STEP_TAKE_WHILE || kind == PTC_STEP_HALT_WHEN)
            return true;
    }
    return false;
}

/* ----------------------------------------------------------------------- running */

/* All that comes out of the pipeline over argument i, as a new vector in *slot; the cursor is in *cursor, a root. */
static bool run_all(PtcVM *vm, const PtcValue *argv, int i, PtcValue pipeline, int flags,
                    PtcValue *slot, PtcValue *cursor)
{
    PtcIter it;
    PtcValue x;
    if (!ptc_cursor_iter(vm, argv[i], pipeline, &it) || !ptc_root_build(vm, slot))
        return false;
    *cursor = it.coll;
    const char *outer = ptc_walk(vm, argv, i);
    while (ptc_each(vm, &it, &x))
        if (!ptc_root_push(vm, slot, x))
            return false;
    return ptc_iter_end(&it) && ptc_walked(vm, outer) && ptc_root_done(vm, slot, flags, slot);
}

static bool arg_walkable(PtcVM *vm, const PtcValue *argv, int i)
{
    return ptc_is_seqable(argv[i]) || ptc_is_producer(argv[i]) ||
           ptc_fail_type(vm, argv, i, "a collection, string or nil");
}

bool ptc_xform_run(PtcVM *vm, const PtcValue *argv, int i, int coll, PtcValue *slot,
                   PtcValue *cursor)
{
    PtcValue *pipeline = ptc_roots(vm, 1);
    if (!pipeline || !arg_walkable(vm, argv, coll) || !arg_pipeline(vm, argv, i, pipeline))
        return false;
    if (ptc_seq_endless(argv[coll]) && !ptc_is_lazy(argv[coll]) && !pipeline_ends(*pipeline))
        return ptc_fail_endless(vm, coll);
    return run_all(vm, argv, coll, *pipeline, 0, slot, cursor);
}

/* coll, which has no end, with the steps of a pipeline. */
static bool stage_all(PtcVM *vm, PtcValue coll, PtcValue pipeline, PtcValue *slot)
{
    *slot = coll;
    for (size_t k = 1; k < ptc_seq_count(pipeline); k++) {
        PtcValue p = PTC_RETRY(vm, ptc_producer_step(vm, *slot, ptc_seq_nth(pipeline, k)));
        if (p == PTC_NONE || !ptc_tick(&vm->budget, 1))
            return false;
        *slot = p;
    }
    return true;
}

/* argv[coll] through the transducer argv[0]; computed at once when that comes to an end. */
static bool run_transducer(PtcVM *vm, const PtcValue *argv, int coll, PtcValue *out)
{
    PtcValue *slots = ptc_roots(vm, 3);
    if (!slots || !arg_walkable(vm, argv, coll) || !arg_pipeline(vm, argv, 0, &slots[0]))
        return false;
    bool lazy = ptc_is_lazy(argv[coll]),
         later = lazy || (ptc_seq_endless(argv[coll]) && !pipeline_ends(slots[0]));
    if (!(later ? stage_all(vm, argv[coll], slots[0], &slots[1])
                : run_all(vm, argv, coll, slots[0], PTC_SEQ, &slots[1], &slots[2])))
        return false;
    PtcStepKind kind = pipeline_ends(slots[0]) ? PTC_STEP_TAKE : PTC_STEP_MAP;
    if (!lazy || !ptc_is_recipe(slots[1]))
        return ptc_give(out, slots[1]);
    return ptc_give(out, PTC_RETRY(vm, ptc_producer_keep(vm, slots[1], argv[coll], kind)));
}

PTC_BUILTIN(
    core_sequence, "clojure.core", "sequence", 1, 2,
    PTC_B_CALLS | PTC_TAKES2(PTC_IS_SEQABLE | PTC_IS_FN | PTC_IS_OTHER, PTC_IS_SEQABLE) |
        PTC_GIVES(PTC_IS_LIST),
    "(sequence xform? coll)",
    "The elements as a sequence, run through a transducer such as (map f) when one is given.",
    "(sequence (comp (map inc) (filter even?)) [1 2 3]) => [2 4]\n"
    "(sequence (comp (filter odd?) (take 2)) (range)) => [1 3]\n(sequence nil) => []\n"
    "(sequence inc [1]) !! type_error")
{
    if (argc == 2)
        return run_transducer(vm, argv, 1, out);
    PtcValue *slot = ptc_roots(vm, 1);
    if (ptc_is_producer(argv[0]))
        return ptc_give(out, argv[0]);
    if (!slot || !ptc_root_seq(vm, argv, 0, false, slot))
        return false;
    return ptc_give(out, PTC_RETRY(vm, ptc_seq_drop(vm, *slot, 0)));
}

PTC_BUILTIN(core_eduction, "clojure.core", "eduction", 1, -1, PTC_B_CALLS,
            "(eduction & xforms coll)",
            "The elements run through the transducers in turn, as a sequence.",
            "(eduction (map inc) [1 2]) => [2 3]\n"
            "(reduce + (eduction (filter odd?) (take 3) (range))) => 9\n"
            "(eduction inc [1]) !! type_error")
{
    PtcValue *slots = ptc_roots(vm, 2);
    if (!slots || argc == 1)
        return slots && arg_walkable(vm, argv, 0) && ptc_give(out, argv[0]);
    if (argc == 2)
        return run_transducer(vm, argv, 1, out);
    for (int i = 0; i < argc - 1; i++)
        if (!ptc_arg_callable(vm, argv, i))
            return false;
    PtcValue f = PTC_RETRY(vm, ptc_fn_record(vm, "composed", argv, (size_t)argc - 1));
    slots[0] = f;
    slots[1] = argv[argc - 1];
    return f != PTC_NONE && run_transducer(vm, slots, 1, out);
}

/* -------------------------------------------------------------------- transduce */

static bool takes_one(int min, int max)
{
    return min <= 1 && (max < 0 || max >= 1);
}

static bool proto_takes_one(const PtcProto *p)
{
    return p->variadic ? p->params <= 1 : p->params == 1;
}

static bool closure_takes_one(const PtcClosure *c)
{
    const PtcProto *p = ptc_closure_proto(c);
    if (proto_takes_one(p))
        return true;
    const PtcNode *others = p->arities == PTC_NIL ? NULL : (const PtcNode *)(uintptr_t)p->arities;
    for (size_t i = 0; others && i < others->obj.count; i++)
        if (proto_takes_one((const PtcProto *)(uintptr_t)others->slots[i]))
            return true;
    return false;
}

/* May f be called with the result alone?  A function of two arguments has nothing to add then. */
static bool is_completing_function(PtcValue f)
{
    if (ptc_is_builtin(f)) {
        const PtcBuiltin *row = ptc_builtin_row(ptc_builtin_index(f));
        return takes_one(row->min, row->max);
    }
    return !ptc_is(f, PTC_T_CLOSURE) || closure_takes_one((const PtcClosure *)(uintptr_t)f);
}

PTC_BUILTIN(
    core_transduce, "clojure.core", "transduce", 3, 4,
    PTC_B_CALLS | PTC_TAKES2(PTC_IS_FN | PTC_IS_OTHER, PTC_IS_CALLED) | PTC_RULE(TRANSDUCE),
    "(transduce xform f init? coll)",
    "Like reduce with f over the elements that a transducer such as (map g) lets through; "
    "without init it begins with (f), and it ends with (f result) when f takes one argument.",
    "(transduce (map inc) + [1 2]) => 5\n(transduce (filter even?) conj [] [1 2 4]) => [2 4]\n"
    "(transduce (comp (map inc) (take 2)) + 0 (range)) => 3\n(transduce inc + [1]) !! type_error")
{
    PtcIter it;
    PtcValue *slots = ptc_arg_callable(vm, argv, 1) ? ptc_roots(vm, 2) : NULL, *acc;
    if (!slots || !arg_walkable(vm, argv, argc - 1) || !arg_pipeline(vm, argv, 0, &slots[0]) ||
        !ptc_cursor_iter(vm, argv[argc - 1], slots[0], &it))
        return false;
    acc = &slots[1];
    if (argc == 4)
        *acc = argv[2];
    else if (!ptc_call(vm, argv[1], 0, NULL, acc))
        return false;
    const char *outer = ptc_walk(vm, argv, argc - 1);
    if (!ptc_fold(vm, argv[1], &it, acc) || !ptc_walked(vm, outer) ||
        (is_completing_function(argv[1]) && !ptc_call1(vm, argv[1], *acc, acc)))
        return false;
    return ptc_xform_end(vm, it.coll, *acc, out);
}

bool ptc_xform_end(PtcVM *vm, PtcValue cursor, PtcValue result, PtcValue *out)
{
    PtcValue x, f;
    if (!ptc_cursor_halted(cursor, &x, &f))
        return ptc_give(out, result);
    return f == PTC_NIL ? ptc_give(out, x) : ptc_call2(vm, f, result, x, out);
}

PTC_BUILTIN(core_halt_when, "clojure.core", "halt-when", 1, 2,
            PTC_TAKES(PTC_IS_CALLED) | PTC_GIVES(PTC_IS_FN), "(halt-when pred f?)",
            "A transducer that ends transduce or into at the first element for which pred holds: "
            "the result is that element, or (f result element).",
            "(transduce (halt-when neg?) + [1 2 -3 4]) => -3\n"
            "(into [] (halt-when neg? conj) [1 2 -3 4]) => [1 2 -3]\n"
            "(into [] (halt-when neg?) [1 2]) => [1 2]\n(halt-when 5) !! type_error")
{
    return ptc_arg_callable(vm, argv, 0) && (argc == 1 || ptc_arg_callable(vm, argv, 1)) &&
           ptc_xform(vm, argc, argv, out);
}

PTC_BUILTIN(core_completing, "clojure.core", "completing", 1, 2,
            PTC_TAKES(PTC_IS_CALLED) | PTC_GIVES(PTC_IS_FN), "(completing f done?)",
            "The function f for transduce, with (done result) as the last step; done is identity "
            "when it is left out.",
            "(transduce (map inc) (completing - str) 0 [1 2]) => \"-5\"\n"
            "((completing +) 1 2) => 3\n(completing 5) !! type_error")
{
    PtcValue identity = ptc_builtin((uint32_t)ptc_builtin_find("identity", strlen("identity")));
    PtcValue fields[2] = {argv[0], argc == 2 ? argv[1] : identity};
    return ptc_arg_callable(vm, argv, 0) && (argc == 1 || ptc_arg_callable(vm, argv, 1)) &&
           ptc_give(out, ptc_fn_record(vm, "completed", fields, 2));
}

PTC_BUILTIN(hidden_completed, "clojure.core", "completed", 1, -1, PTC_B_CALLS | PTC_B_HIDDEN,
            "((completing f done) & args)", "What completing gives.", "")
{
    PtcValue f = ptc_record_field(argv[0], argc == 2 ? 2 : 1);
    return ptc_call(vm, f, argc - 1, argv + 1, out);
}

/* ------------------------------------------------------------------------ folding */

/* acc + x when both are small integers, or both floats, and so is the sum; else PTC_NONE. */
static inline PtcValue quick_add(PtcValue acc, PtcValue x)
{
    int64_t sum;
    if (ptc_is_int(acc) && ptc_is_int(x))
        return __builtin_add_overflow((int64_t)acc, (int64_t)(x - 1), &sum) ? PTC_NONE
                                                                            : (PtcValue)sum;
    if (ptc_is_flonum(acc) && ptc_is_flonum(x))
        return ptc_flonum(ptc_to_float(acc) + ptc_to_float(x));
    return PTC_NONE;
}

static bool is_plus(PtcValue f)
{
    return ptc_is_builtin(f) && strcmp(ptc_builtin_row(ptc_builtin_index(f))->name, "+") == 0;
}

/* Adds those of the ready elements that are small integers as long as the sum is one: 8 instructions each, where
 * the loop below takes 30. */
static void add_ready(PtcBudget *budget, PtcIter *it, PtcValue *acc)
{
    int64_t most = ptc_fuel(budget) - 1, sum, n = it->chunk_end - it->at;
    if (n == 0 || most <= 0 || !ptc_is_int(*acc))
        return;
    const PtcValue *at = it->at, *end = at + (n < most ? n : most);
    while (at != end && ptc_is_int(*at) &&
           !__builtin_add_overflow((int64_t)*acc, (int64_t)(*at - 1), &sum)) {
        *acc = (PtcValue)sum;
        at++;
    }
    ptc_fuel_use(budget, at - it->at);
    it->at = at;
}

bool ptc_fold(PtcVM *vm, PtcValue f, PtcIter *it, PtcValue *acc)
{
    bool plus = is_plus(f);
    PtcValue x, y;
    PtcMany many;
    ptc_many_init(vm, &many, f, 2);
    while (ptc_each(vm, it, &x)) {
        if (plus && (y = quick_add(*acc, x)) != PTC_NONE) {
            *acc = y;
            add_ready(&vm->budget, it, acc);
            continue;
        }
        if (!ptc_many2(vm, &many, *acc, x, &y))
            return false;
        *acc = y;
        if (PTC_UNLIKELY(ptc_is_record(y, PTC_R_REDUCED))) {
            *acc = ptc_record_field(y, 0);
            return true;
        }
    }
    return ptc_iter_end(it);
}

PTC_BUILTIN_TABLE(ptc_lib_xform, hidden_xform, core_cat, core_sequence, core_eduction,
                  core_transduce, core_halt_when, core_completing, hidden_completed);
