/* SPDX-License-Identifier: MIT
 * Safepoints: collection and limits.  Roots are the registers of all frames, the slots of builtins that
 * call back, the globals, and a few fields of the VM. */
#include "lisp/compile/live.h"
#include "lisp/parallel/crew.h"
#include "lisp/vm/vm_int.h"
#include "value/coll/lazy.h"

#include <time.h>

enum {
    MOMENTS = 1000,   /* of a millisecond */
    GC_LOOKED_AT = 16 /* frames at either end whose registers are looked at one by one */
};

static PtcValue *stack_top(const PtcVM *vm)
{
    if (vm->call < vm->calls)
        return vm->stack;
    PtcValue *top = vm->call->base + ptc_closure_proto(vm->call->closure)->registers + 1;
    if (vm->args_end && top < vm->args_end)
        top = vm->args_end;
    return top < vm->stack_limit ? top : vm->stack_limit;
}

static void mark_all(PtcHeap *heap, const PtcValue *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ptc_is_obj(values[i]))
            ptc_heap_mark(heap, values[i]);
}

/* The registers of a frame, up to the next one's; those that will not be read again are cleared.  Parameters only if
 * they are lazy: the message of a failure may tell which element a function was called with (element.h). */
static void mark_live(PtcHeap *heap, const PtcCall *call, PtcValue *end)
{
    const PtcProto *proto = ptc_closure_proto(call->closure);
    uint64_t live = ptc_live_in_frame(call);
    PtcValue *p = call->base;
    for (size_t r = 0; p < end && r < proto->registers && r < PTC_LIVE_REGISTERS; r++, p++) {
        if (!(live & ptc_live_bit(r)) && (r >= proto->params || ptc_is_lazy(*p)))
            *p = PTC_NIL;
        else if (ptc_is_obj(*p))
            ptc_heap_mark(heap, *p);
    }
    if (p < end)
        mark_all(heap, p, (size_t)(end - p));
}

/* Looking closely costs time for each frame, so in deep recursion only the outermost and the innermost ones are: who
 * holds a sequence that is walked is among the latter, and who has made it among the former. */
static void mark_stack(PtcVM *vm, PtcValue *top)
{
    bool closely = (vm->made_lazy || vm->gc_stress) && vm->call >= vm->calls;
    PtcValue *from = closely ? vm->calls->base : top;
    mark_all(vm->heap, vm->stack, (size_t)(from - vm->stack));
    for (PtcCall *c = vm->calls; closely && c <= vm->call; c++) {
        PtcValue *end = c < vm->call ? c[1].base : top;
        if (c - vm->calls < GC_LOOKED_AT || vm->call - c < GC_LOOKED_AT)
            mark_live(vm->heap, c, end);
        else
            mark_all(vm->heap, c->base, (size_t)(end - c->base));
    }
}

void ptc_vm_collect(PtcVM *vm)
{
    PtcHeap *heap = vm->heap;
    PtcValue *top = stack_top(vm);
    ptc_log_settle(vm);
    ptc_heap_mark_begin(heap);
    mark_stack(vm, top);
    mark_all(heap, vm->roots, vm->root_count);
    mark_all(heap, vm->kept, vm->kept_count);
    mark_all(heap, vm->globals, vm->global_count);
    for (PtcCall *c = vm->calls; c <= vm->call; c++)
        ptc_heap_mark(heap, ptc_from_obj(c->closure));
    ptc_heap_mark(heap, vm->program);
    ptc_heap_mark(heap, vm->result);
    ptc_heap_mark(heap, vm->error_value);
    ptc_heap_mark(heap, vm->error_source);
    ptc_heap_mark(heap, vm->memo);
    ptc_heap_mark(heap, vm->journal.all);
    ptc_heap_mark(heap, vm->journal.changes);
    ptc_heap_mark(heap, vm->summaries.all);
    ptc_heap_mark(heap, vm->summaries.changes);
    if (vm->seat)
        ptc_crew_mark(vm);
    ptc_heap_mark_finish(heap);
    /* Slots above the top may hold values that were just freed; a later frame must not find them. */
    for (PtcValue *p = top; p < vm->stack_limit; p++)
        *p = PTC_NIL;
}

bool ptc_vm_safepoint(PtcVM *vm)
{
    bool wanted = vm->budget.wake || vm->gc_stress || ptc_heap_is_asked(vm->heap);
    if (wanted && vm->budget.stop == PTC_STOP_NONE && !vm->held)
        ptc_vm_collect(vm);
    if (vm->seat)
        ptc_crew_offer(vm);
    bool go_on = ptc_budget_look(&vm->budget);
    if (vm->gc_stress)
        vm->budget.wake = true;
    return go_on;
}

/* What other threads have may be in the way, and be garbage soon: they are asked to collect, and waited for.  On a busy
 * machine it may take long until they have their turn, so the time is a last resort; usually there is room, or
 * everybody waits. */
static void await_others(PtcVM *vm)
{
    const struct timespec moment = {0, PTC_MS};
    if (!ptc_account_ask(vm->heap))
        return;
    for (int i = 0; i < MOMENTS && ptc_account_is_short(vm->heap) && ptc_budget_look(&vm->budget);
         i++)
        nanosleep(&moment, NULL);
    ptc_account_asked(vm->heap);
}

bool ptc_recover(PtcVM *vm)
{
    if (vm->budget.stop != PTC_STOP_MEMORY || vm->failed || vm->held)
        return false;
    vm->budget.stop = PTC_STOP_NONE;
    ptc_vm_collect(vm);
    await_others(vm);
    return ptc_budget_look(&vm->budget);
}

PtcValue *ptc_roots(PtcVM *vm, int n)
{
    if (vm->root_count + (size_t)n > PTC_ROOT_SLOTS) {
        ptc_budget_exceed(&vm->budget, PTC_STOP_DEPTH,
                          "temporary values of nested builtins are more than", PTC_ROOT_SLOTS);
        return NULL;
    }
    PtcValue *slots = vm->roots + vm->root_count;
    for (int i = 0; i < n; i++)
        slots[i] = PTC_NIL;
    vm->root_count += (size_t)n;
    return slots;
}

bool ptc_root_build(PtcVM *vm, PtcValue *slot)
{
    PtcValue b = PTC_RETRY(vm, ptc_build_new(vm->heap));
    *slot = b == PTC_NONE ? PTC_NIL : b;
    return b != PTC_NONE;
}

bool ptc_root_push(PtcVM *vm, PtcValue *slot, PtcValue x)
{
    if (PTC_LIKELY(ptc_build_add(vm->heap, *slot, x)))
        return true;
    size_t roots = vm->root_count;
    PtcValue *keep = ptc_roots(vm, 1);
    if (!keep)
        return false;
    *keep = x;
    bool ok = ptc_recover(vm) && ptc_build_add(vm->heap, *slot, x);
    vm->root_count = roots;
    return ok;
}

bool ptc_root_done(PtcVM *vm, PtcValue *slot, int flags, PtcValue *out)
{
    PtcValue v = PTC_RETRY(vm, ptc_build_done(vm->heap, *slot, flags));
    *out = v;
    return v != PTC_NONE;
}

const PtcCall *ptc_vm_program_frame(const PtcVM *vm)
{
    const PtcCall *c = vm->call;
    while (c >= vm->calls && ptc_closure_proto(c->closure)->source == PTC_NIL)
        c--;
    return c < vm->calls ? NULL : c;
}

void ptc_vm_place(PtcVM *vm, const PtcClosure *closure, const PtcIns *pc)
{
    vm->lazy_refused = false; /* only the builtin that refused it may try again */
    if (!vm->failed && vm->budget.stop != PTC_STOP_NONE)
        ptc_vm_stopped(vm);
    bool placeless = vm->failed || vm->control == PTC_CONTROL_FAIL;
    if (!placeless || vm->error.first != PTC_NO_PLACE)
        return;
    const PtcProto *p = ptc_closure_proto(closure);
    if (p->source == PTC_NIL) {
        const PtcCall *frame = ptc_vm_program_frame(vm);
        if (!frame)
            return; /* whoever called this thread has a place */
        p = ptc_closure_proto(frame->closure);
        pc = frame->pc;
    }
    size_t at = (size_t)(pc - ptc_proto_code(p));
    PtcSpan span = ptc_proto_spans(p)[at ? at - 1 : 0];
    vm->error.first = span.first;
    vm->error.last = span.last;
    vm->error_source = p->source;
}
