/* SPDX-License-Identifier: MIT
 * vm_int.h - what the files of the VM share among themselves and with those that start runs. */
#ifndef PTC_LISP_VM_VM_INT_H
#define PTC_LISP_VM_VM_INT_H

#include "lisp/vm/builtin.h"

#define PTC_NO_PLACE UINT32_MAX

/* --- running: vm.c --- */

/* Runs frames from vm->call (already pushed) until that frame returns. */
PTC_MUST_USE bool ptc_vm_run(PtcVM *vm, PtcValue *out);

/* --- calling: invoke.c --- */

/* Pushes a frame for a closure whose arguments are argc values at `args` in the stack: checks the arity,
 * gathers rest arguments, checks depth and stack. */
PTC_MUST_USE bool ptc_vm_enter(PtcVM *vm, const PtcClosure *closure, int argc, PtcValue *args);

/* Calls anything from the VM: arguments are argc values at `args`, in registers. */
PTC_MUST_USE bool ptc_vm_call(PtcVM *vm, PtcValue f, int argc, PtcValue *args, PtcValue *out);
/* Runs a builtin whose arity is right and whose arguments are rooted. */
PTC_MUST_USE bool ptc_vm_builtin(PtcVM *vm, uint32_t index, int argc, const PtcValue *argv,
                                 PtcValue *out);

/* Makes room for registers up to `end`, which is above vm->stack_limit. */
PTC_MUST_USE bool ptc_vm_grow_stack(PtcVM *vm, const PtcValue *end);

bool ptc_is_callable(PtcValue v);
/* (key coll) for any key and collection; PTC_NIL or `otherwise` when absent. */
PtcValue ptc_lookup(PtcVM *vm, PtcValue coll, PtcValue key, PtcValue otherwise);

/* --- safepoints: vm_gc.c --- */

/* At a safepoint, when fuel ran out: collects if wanted, looks at the clock. */
PTC_MUST_USE bool ptc_vm_safepoint(PtcVM *vm);
void ptc_vm_collect(PtcVM *vm);

/* The innermost frame of the program, not of the prelude; NULL: there is none on this thread. */
const PtcCall *ptc_vm_program_frame(const PtcVM *vm);

/* Gives the error its place, once: the span of the instruction before pc in closure; in the prelude, that of the call
 * in the program. */
void ptc_vm_place(PtcVM *vm, const PtcClosure *closure, const PtcIns *pc);

/* --- errors: error.c --- */

/* Turns a stopped budget into vm->error.  Always false. */
bool ptc_vm_stopped(PtcVM *vm);

bool ptc_fail_arity(PtcVM *vm, const char *name, const char *takes, int got, const char *usage);
void ptc_arity_text(char *out, size_t size, int min, int max);

/* --- before and after a run: program.c --- */

/* No frame, no root, nothing in the registers. */
void ptc_vm_empty_stack(PtcVM *vm);
PtcPrinter ptc_vm_printer(PtcVM *vm, bool readable);

/* --- prototypes --- */

static inline const PtcProto *ptc_closure_proto(const PtcClosure *c)
{
    return (const PtcProto *)(uintptr_t)c->proto;
}

static inline const PtcIns *ptc_proto_code(const PtcProto *p)
{
    return (const PtcIns *)(const void *)((const PtcBytes *)(uintptr_t)p->code)->bytes;
}

static inline const PtcSpan *ptc_proto_spans(const PtcProto *p)
{
    return (const PtcSpan *)(const void *)(ptc_proto_code(p) + p->code_count);
}

/* First slot after the registers of the current frame. */
static inline PtcValue *ptc_vm_frame_end(const PtcVM *vm)
{
    if (vm->call < vm->calls)
        return vm->stack;
    return vm->call->base + ptc_closure_proto(vm->call->closure)->registers;
}

#endif
