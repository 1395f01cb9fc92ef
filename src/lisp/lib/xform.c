/* SPDX-License-Identifier: MIT
 * Transducers without laziness.  (map f) is a function record that remembers the builtin and its
 * arguments.  To run one, it is called with an empty pipeline; each step called (comp calls the last
 * first) puts itself in front.  The pipeline is then run step by step over whole sequences, which gives
 * what a real transducer gives, since nothing here observes the order between elements.
 *
 * A pipeline is a vector: the hidden builtin as a mark, then the steps.  A step is a PTC_R_FN record:
 * the hidden builtin, the builtin to call, its leading arguments. */
#include "lisp/lib/seq_int.h"
#include "lisp/record.h"

enum { MAX_ARGS = 4, STEP_BUILTIN = 1, STEP_ARGS = 2 };

static PtcValue mark(void)
{
    return ptc_builtin((uint32_t)ptc_builtin_find("%xform", 6));
}

static bool is_pipeline(PtcValue v)
{
    return ptc_is_sequential(v) && ptc_seq_count(v) > 0 && ptc_seq_nth(v, 0) == mark();
}

/* Programs may put anything into a pipeline that passes through them. */
static bool is_step(PtcValue v)
{
    return ptc_is_record(v, PTC_R_FN) && ptc_record_field(v, 0) == mark() &&
           ptc_obj(v)->count <= STEP_ARGS + MAX_ARGS;
}

bool ptc_xform(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out)
{
    PtcValue fields[1 + MAX_ARGS];
    size_t n = 0;
    fields[n++] = ptc_builtin(vm->running);
    for (int i = 0; i < argc && i < MAX_ARGS; i++)
        fields[n++] = argv[i];
    PtcValue step = ptc_fn_record(vm, "xform", fields, n);
    if (step == PTC_NONE && (ptc_builtin_row(vm->running)->flags & PTC_B_CALLS) && ptc_recover(vm))
        step = ptc_fn_record(vm, "xform", fields, n);
    return ptc_give(out, step);
}

bool ptc_xform_link(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    if (!is_pipeline(argv[1])) {
        ptc_fail(vm, PTC_E_TYPE, "a transducer cannot be called with %s", ptc_type_name(argv[1]));
        return ptc_fail_hint(vm, "give it to into, sequence or transduce: (into [] (map f) coll)");
    }
    PtcValue b = ptc_build_new(vm->heap);
    bool ok =
        b != PTC_NONE && ptc_build_add(vm->heap, b, mark()) && ptc_build_add(vm->heap, b, argv[0]);
    for (size_t i = 1; ok && i < ptc_seq_count(argv[1]); i++)
        ok = ptc_tick(&vm->budget, 1) && ptc_build_add(vm->heap, b, ptc_seq_nth(argv[1], i));
    return ok && ptc_give(out, ptc_build_done(vm->heap, b, 0));
}

/* The pipeline that a transducer stands for, into *slot. */
static bool pipeline_of(PtcVM *vm, const PtcValue *argv, int i, PtcValue *slot)
{
    PtcValue f = argv[i];
    if (ptc_is_builtin(f) && strcmp(ptc_builtin_row(ptc_builtin_index(f))->name, "identity") != 0)
        return ptc_fail_type(vm, argv, i, "a transducer, such as (map f)");
    PtcValue m = mark(), empty = ptc_vec_new(vm->heap, &m, 1, 0), steps;
    if (empty == PTC_NONE && ptc_recover(vm))
        empty = ptc_vec_new(vm->heap, &m, 1, 0);
    if (empty == PTC_NONE || !ptc_arg_callable(vm, argv, i) ||
        !ptc_call1(vm, argv[i], empty, &steps))
        return false;
    if (!is_pipeline(steps))
        return ptc_fail_type(vm, argv, i,
                             "a transducer, such as (map f) or (comp (map f) (filter g))");
    *slot = steps;
    return true;
}

static bool run_step(PtcVM *vm, PtcValue step, PtcValue *slot)
{
    PtcValue args[MAX_ARGS + 1], result;
    int n = 0;
    for (size_t k = STEP_ARGS; k < ptc_obj(step)->count; k++)
        args[n++] = ptc_record_field(step, k);
    args[n++] = *slot;
    if (!ptc_call(vm, ptc_record_field(step, STEP_BUILTIN), n, args, &result))
        return false;
    *slot = result;
    return true;
}

bool ptc_xform_run(PtcVM *vm, const PtcValue *argv, int i, PtcValue coll, PtcValue *slot)
{
    PtcValue *steps = ptc_roots(vm, 1);
    *slot = coll;
    if (!steps || !pipeline_of(vm, argv, i, steps))
        return false;
    for (size_t k = 1; k < ptc_seq_count(*steps); k++) {
        PtcValue step = ptc_seq_nth(*steps, k);
        if (!is_step(step))
            return ptc_fail_type(vm, argv, i, "a transducer, such as (map f)");
        if (!ptc_tick(&vm->budget, 1) || !run_step(vm, step, slot))
            return false;
    }
    return true;
}
