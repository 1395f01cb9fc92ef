/* SPDX-License-Identifier: MIT
 * A `for` over vectors builds its result in a loop.  When a source has no end or is lazy, the frame is set aside
 * instead: a copy of the registers that the loops need, and where to go on.  Who asks for an element runs the same code
 * from there in a frame of its own, up to the next PUSH.  So `for` has one code for both, and costs nothing more when
 * all its sources are vectors.
 *
 * What always holds: the copy is a state from which the elements that are still to come can be computed.  It is renewed
 * after each element, and before each step of a lazy source, whose elements are kept by the source itself; so a body
 * that failed runs again for the same element.  A source without end that is no lazy sequence becomes one, because a
 * cursor cannot go back.  Registers below that of the builder do not change while the `for` runs, and only those that
 * it reads are copied. */
#include "lisp/lazy/later.h"

#include "lisp/compile/live.h"
#include "lisp/lazy/force.h"
#include "lisp/lazy/produce.h"
#include "lisp/vm/deep.h"
#include "lisp/vm/vm_int.h"

/* Slots of the node: the closure, the index of the next instruction, the register of the builder, the first register
 * that is not needed; then the registers. */
enum { LATER_CLOSURE, LATER_AT, LATER_BUILDER, LATER_TOP, LATER_REGISTERS };

/* Root slots while one is made. */
enum { LATER_SOURCE, LATER_RESULT, LATER_SLOTS };

static PtcNode *as_later_node(PtcValue later)
{
    return (PtcNode *)(uintptr_t)later;
}

static size_t later_slot_number(const PtcNode *n, int slot)
{
    return (size_t)ptc_to_int(n->slots[slot]);
}

/* Copies the registers of the loops, which begin with the builder. */
static void save_loop_registers(PtcNode *n, const PtcCall *call, size_t at, size_t top)
{
    size_t first = later_slot_number(n, LATER_BUILDER) + 1, old = later_slot_number(n, LATER_TOP);
    for (size_t r = first; r < top; r++)
        n->slots[LATER_REGISTERS + r] = call->base[r];
    for (size_t r = top > first ? top : first; r < old; r++)
        n->slots[LATER_REGISTERS + r] = PTC_NIL;
    n->slots[LATER_AT] = ptc_int((int64_t)at);
    n->slots[LATER_TOP] = ptc_int((int64_t)top);
}

static size_t index_of_pc(const PtcCall *call)
{
    return (size_t)(call->pc - ptc_proto_code(ptc_closure_proto(call->closure)));
}

/* --------------------------------------------------------------------- going on */

static bool push_frame(PtcVM *vm, const PtcNode *n)
{
    const PtcClosure *c = (const PtcClosure *)(uintptr_t)n->slots[LATER_CLOSURE];
    const PtcProto *p = ptc_closure_proto(c);
    PtcValue *base = ptc_vm_frame_end(vm) + 1;
    const PtcValue *end = base + p->registers + 1;
    if (vm->call + 1 >= vm->calls_end)
        return ptc_budget_exceed(&vm->budget, PTC_STOP_DEPTH, "calls are nested deeper than",
                                 vm->limits.max_depth);
    if (end > vm->stack_limit && !ptc_vm_grow_stack(vm, end))
        return false;
    base[-1] = n->slots[LATER_CLOSURE];
    for (size_t r = 0; r < p->registers; r++)
        base[r] = n->slots[LATER_REGISTERS + r];
    *++vm->call = (PtcCall){
        .pc = ptc_proto_code(p) + later_slot_number(n, LATER_AT),
        .base = base,
        .closure = c,
    };
    return true;
}

int ptc_later_next(PtcVM *vm, PtcValue later, PtcValue *x)
{
    const PtcNode *n = as_later_node(later);
    if (!ptc_tick(&vm->budget, 1 + (int64_t)n->obj.count / 16) || !push_frame(vm, n))
        return -1;
    bool ok;
    if (vm->native_depth >= PTC_SHALLOW) {
        ok = ptc_deep_run(vm, x);
    } else {
        vm->native_depth++;
        ok = ptc_vm_run(vm, x);
        vm->native_depth--;
    }
    return !ok ? -1 : *x != PTC_UNBOUND;
}

void ptc_later_keep(PtcVM *vm, PtcValue builder, size_t top)
{
    save_loop_registers(as_later_node(ptc_build_waits_for(builder)), vm->call,
                        index_of_pc(vm->call), top);
}

/* What is not lazy behind a lazy source is walked like any other; a recipe is kept from here on. */
static bool leave_lazy(PtcVM *vm, PtcValue *at)
{
    if (!ptc_is_recipe(at[0])) {
        at[1] = ptc_int(0);
        return true;
    }
    PtcValue lazy = PTC_RETRY(vm, ptc_producer_keep(vm, at[0], PTC_NONE, PTC_STEP_MAP));
    if (lazy != PTC_NONE)
        at[0] = lazy;
    return lazy != PTC_NONE;
}

int ptc_later_step(PtcVM *vm, PtcValue *at, PtcValue *out)
{
    save_loop_registers(as_later_node(at[1]), vm->call, index_of_pc(vm->call) - 1,
                        (size_t)(out - vm->call->base));
    int got = ptc_force_next(vm, &at[0], out);
    if (got != 2)
        return got;
    if (!leave_lazy(vm, at))
        return -1;
    return ptc_is_lazy(at[0]) ? ptc_force_next(vm, &at[0], out) : 2;
}

/* --------------------------------------------------------------------- beginning */

/* The DONE of the builder, which is after all loops. */
static size_t find_builder_done(const PtcCall *call, size_t builder)
{
    const PtcProto *p = ptc_closure_proto(call->closure);
    const PtcIns *code = ptc_proto_code(p);
    size_t at = index_of_pc(call);
    while (at < p->code_count && (code[at].op != PTC_OP_DONE || code[at].b != builder))
        at++;
    return at;
}

/* The source as something that can be gone on with from any element. */
static bool make_source(PtcVM *vm, PtcValue coll, PtcValue *slots)
{
    slots[LATER_SOURCE] =
        ptc_is_recipe(coll) ? ptc_producer_keep(vm, coll, PTC_NONE, PTC_STEP_MAP) : coll;
    return slots[LATER_SOURCE] != PTC_NONE;
}

static void set_position(PtcValue *at, PtcValue source, PtcValue later)
{
    at[0] = source;
    at[1] = ptc_is_lazy(source) ? later : ptc_int(0);
}

static PtcNode *new_later_node(PtcVM *vm, size_t builder, size_t done)
{
    const PtcProto *p = ptc_closure_proto(vm->call->closure);
    size_t n = LATER_REGISTERS + (size_t)p->registers;
    PtcNode *o =
        ptc_heap_object(vm->heap, PTC_T_NODE, sizeof *o + n * sizeof(PtcValue), (uint32_t)n);
    if (!o)
        return NULL;
    uint64_t read = ptc_live_between(p, index_of_pc(vm->call), done);
    for (size_t r = 0; r < p->registers; r++) {
        bool needed = r < builder && (r >= PTC_LIVE_REGISTERS || (read & ptc_live_bit(r)));
        o->slots[LATER_REGISTERS + r] = needed ? vm->call->base[r] : PTC_NIL;
    }
    o->slots[LATER_CLOSURE] = ptc_from_obj(vm->call->closure);
    o->slots[LATER_BUILDER] = ptc_int((int64_t)builder);
    o->slots[LATER_AT] = o->slots[LATER_TOP] = ptc_int((int64_t)builder);
    return o;
}

/* The `for` that waits, as something lazy: after what it has built already. */
static bool make_lazy(PtcVM *vm, PtcIns iter, size_t done, PtcValue *slots)
{
    size_t builder = iter.c - 1u;
    PtcNode *n = new_later_node(vm, builder, done);
    PtcValue waiting = n ? ptc_build_waiting(vm->heap, ptc_from_obj(n)) : PTC_NONE;
    if (waiting == PTC_NONE)
        return false;
    n->slots[LATER_REGISTERS + builder] = waiting;
    save_loop_registers(n, vm->call, index_of_pc(vm->call), iter.b);
    set_position(&n->slots[LATER_REGISTERS + iter.a], slots[LATER_SOURCE], ptc_from_obj(n));
    PtcValue source = slots[LATER_SOURCE], so_far = vm->call->base[builder];
    bool endless = !iter.x && (!ptc_is_lazy(source) || ptc_lazy_is_endless(source));
    PtcValue parts[2] = {PTC_NIL,
                         ptc_force_new(vm, ptc_from_obj(n), PTC_UNBOUND, PTC_NIL, endless)};
    if (parts[1] == PTC_NONE)
        return false;
    slots[LATER_RESULT] = parts[1];
    if (ptc_build_count(so_far) == 0)
        return true;
    parts[0] = ptc_build_done(vm->heap, so_far, PTC_SEQ);
    return parts[0] != PTC_NONE && ptc_concat_later(vm, 2, parts, &slots[LATER_RESULT]);
}

/* Sets the frame aside, and leaves the `for`. */
static bool set_aside(PtcVM *vm, PtcIns iter, PtcValue *slots)
{
    size_t done = find_builder_done(vm->call, iter.c - 1u);
    ptc_fuel_use(&vm->budget, 1 + (int64_t)done / 8);
    const PtcIns *code = ptc_proto_code(ptc_closure_proto(vm->call->closure));
    if (!PTC_RETRY(vm, make_lazy(vm, iter, done, slots)))
        return false;
    vm->call->base[code[done].a] = slots[LATER_RESULT];
    vm->call->pc = code + done + 1;
    return true;
}

/* The elements of a lazy source that is computed already, or PTC_NONE. */
static PtcValue computed(PtcValue coll)
{
    PtcValue plain = ptc_is_lazy(coll) ? ptc_lazy_plain(coll) : PTC_NONE;
    return plain == PTC_NONE || ptc_seq_endless(plain) ? PTC_NONE : plain;
}

bool ptc_later_begin(PtcVM *vm, PtcIns iter)
{
    PtcValue *R = vm->call->base, plain = computed(R[iter.b]);
    if (plain != PTC_NONE) {
        set_position(&R[iter.a], plain, PTC_NIL);
        return true;
    }
    size_t roots = vm->root_count;
    PtcValue *slots = ptc_roots(vm, LATER_SLOTS);
    if (!slots || !PTC_RETRY(vm, make_source(vm, R[iter.b], slots)))
        return false;
    bool waits = ptc_build_is_waiting(R[iter.c - 1]);
    if (waits)
        set_position(&R[iter.a], slots[LATER_SOURCE], ptc_build_waits_for(R[iter.c - 1]));
    bool ok = waits || set_aside(vm, iter, slots);
    vm->root_count = roots;
    return ok;
}
