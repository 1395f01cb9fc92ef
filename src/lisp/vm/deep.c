/* SPDX-License-Identifier: MIT
 * Depth is measured in bytes of stack, since frames differ from builtin to builtin and from build to build; the number
 * of levels is bounded besides, so that programs end at the same depth everywhere. */
#include "lisp/vm/deep.h"

#include "base/sanitized.h"
#include "lisp/vm/vm_int.h"

enum {
    STACK_BYTES = (PTC_SANITIZED ? 64 : 5) * PTC_MB,
    CHARGED_BYTES = STACK_BYTES / 20,                            /* at a time */
    DEEP_KEPT_BYTES = (PTC_SANITIZED ? 4 * PTC_MB : PTC_MB / 4), /* for what does not call back */
    NO_STACK_DEPTH = 2 * PTC_SHALLOW, /* levels on a thread's own stack, at the very most */
};

typedef struct DeepCall {
    PtcVM *vm;
    bool run; /* the frame on top; else a builtin */
    uint32_t index;
    int argc;
    const PtcValue *argv;
    PtcValue *out;
    bool begun, ok;
} DeepCall;

static bool refuse_stack_depth(PtcVM *vm, int64_t levels)
{
    return ptc_budget_exceed(&vm->budget, PTC_STOP_DEPTH,
                             "functions called by builtins are nested deeper than", levels);
}

/* One stack is a part of what a process needs for a run; those of the threads of a pmap count as memory of the run. */
static bool charge_deep_stack(PtcVM *vm)
{
    if (!vm->is_deep || !vm->seat || PTC_SANITIZED)
        return true;
    if (vm->deep.size - ptc_stack_left(&vm->deep) <= vm->deep_charged)
        return true;
    vm->deep_charged += CHARGED_BYTES;
    return ptc_heap_stack(vm->heap, CHARGED_BYTES);
}

bool ptc_deep_room(PtcVM *vm)
{
    if (vm->native_depth >= PTC_NATIVE_DEPTH)
        return refuse_stack_depth(vm, PTC_NATIVE_DEPTH);
    bool room = vm->is_deep ? ptc_stack_left(&vm->deep) > DEEP_KEPT_BYTES
                            : vm->native_depth < NO_STACK_DEPTH;
    return room ? charge_deep_stack(vm) : refuse_stack_depth(vm, vm->native_depth);
}

static void do_call(void *user)
{
    DeepCall *call = user;
    PtcVM *vm = call->vm;
    vm->native_depth++;
    call->begun = true;
    call->ok = call->run ? ptc_vm_run(vm, call->out)
                         : ptc_vm_builtin(vm, call->index, call->argc, call->argv, call->out);
    vm->native_depth--;
}

static bool deepen(DeepCall *call)
{
    PtcVM *vm = call->vm;
    if (vm->is_deep || (!vm->deep.low && !ptc_stack_init(&vm->deep, vm->mem, STACK_BYTES))) {
        if (!ptc_deep_room(vm))
            return false;
        do_call(call);
        return call->ok;
    }
    vm->is_deep = vm->deep_dirty = true;
    vm->deep_charged = 0;
    ptc_stack_run(&vm->deep, do_call, call);
    vm->is_deep = false;
    ptc_heap_stack_free(vm->heap);
    return call->ok;
}

bool ptc_deep_run(PtcVM *vm, PtcValue *out)
{
    DeepCall call = {.vm = vm, .run = true, .out = out};
    if (deepen(&call))
        return true;
    if (!call.begun)
        vm->call--;
    return false;
}

bool ptc_deep_builtin(PtcVM *vm, uint32_t index, int argc, const PtcValue *argv, PtcValue *out)
{
    DeepCall call = {.vm = vm, .index = index, .argc = argc, .argv = argv, .out = out};
    return deepen(&call);
}

void ptc_deep_tidy(PtcVM *vm)
{
    if (!vm->deep_dirty || vm->is_deep)
        return;
    ptc_stack_forget(&vm->deep);
    vm->deep_dirty = false;
}
