/* SPDX-License-Identifier: MIT
 * many.h - one function called for many elements, by builtins with PTC_B_CALLS.
 *
 * What ptc_call finds out for each call is found out once where that is possible: a function of the program with as
 * many parameters as there are arguments is given them in its registers and runs.  That saves 80 instructions an
 * element; the pipeline of bench/ takes 9% less time, the fused loop 6%. */
#ifndef PTC_LISP_VM_MANY_H
#define PTC_LISP_VM_MANY_H

#include "lisp/vm/deep.h"
#include "lisp/vm/vm_int.h"

typedef struct PtcMany {
    PtcValue f;            /* rooted by whoever has the loop */
    const PtcProto *proto; /* NULL: ptc_call does it */
    PtcValue *args;        /* registers of the function */
} PtcMany;

static inline void ptc_many_init(PtcVM *vm, PtcMany *many, PtcValue f, int argc)
{
    many->f = f;
    many->proto = NULL;
    if (!ptc_is(f, PTC_T_CLOSURE))
        return;
    const PtcProto *p = ptc_closure_proto((const PtcClosure *)(uintptr_t)f);
    many->args = ptc_vm_frame_end(vm) + 1;
    if (p->params == argc && !p->variadic && p->arities == PTC_NIL && p->registers >= argc &&
        many->args + p->registers < vm->stack_limit && vm->call + 1 < vm->calls_end &&
        vm->native_depth < PTC_SHALLOW)
        many->proto = p;
}

/* The function with its arguments in many->args. */
static inline PTC_MUST_USE bool ptc_many_run(PtcVM *vm, const PtcMany *many, PtcValue *out)
{
    PtcCall *call = ++vm->call;
    many->args[-1] = many->f;
    call->base = many->args;
    call->closure = (const PtcClosure *)(uintptr_t)many->f;
    call->pc = ptc_proto_code(many->proto);
    if (PTC_UNLIKELY(ptc_fuel_use(&vm->budget, many->proto->ticks) <= 0 || vm->budget.wake) &&
        !ptc_vm_safepoint(vm)) {
        vm->call--;
        return false;
    }
    vm->native_depth++;
    bool ok = ptc_vm_run(vm, out);
    vm->native_depth--;
    return ok;
}

/* ptc_call_element for the next one. */
static inline PTC_MUST_USE bool ptc_many1(PtcVM *vm, const PtcMany *many, PtcValue a, PtcValue *out)
{
    if (!many->proto)
        return ptc_call_element(vm, many->f, a, out);
    many->args[0] = a;
    return ptc_many_run(vm, many, out);
}

static inline PTC_MUST_USE bool ptc_many2(PtcVM *vm, const PtcMany *many, PtcValue a, PtcValue b,
                                          PtcValue *out)
{
    if (!many->proto)
        return ptc_call2(vm, many->f, a, b, out);
    many->args[0] = a;
    many->args[1] = b;
    return ptc_many_run(vm, many, out);
}

#endif
