/* SPDX-License-Identifier: MIT
 * The interpreter loop.  Only fast paths live here; whatever allocates, fails or is rare is a
 * function of its own, so that the loop stays small and its state stays in registers. */
#include <stdio.h>

#include "lisp/analyze/names.h"
#include "lisp/dispatch/dispatch.h"
#include "lisp/lazy/force.h"
#include "lisp/lazy/later.h"
#include "lisp/lazy/produce.h"
#include "lisp/number/compare.h"
#include "lisp/number/num.h"
#include "lisp/vm/registry.h"
#include "lisp/vm/vm_int.h"
#include "value/number/decimal.h"

/* ------------------------------------------------------------------ slow paths */

static bool is_any_number(PtcValue v)
{
    return ptc_is_number(v) || ptc_is_decimal(v);
}

/* x: in (+ a b c), how many arguments stand before a. */
static PTC_NOINLINE bool slow_arith(PtcVM *vm, PtcOp op, unsigned x, PtcValue a, PtcValue b,
                                    PtcValue *out)
{
    if (!is_any_number(b) && is_any_number(a)) {
        char role[32];
        snprintf(role, sizeof role, "argument %u", x + 2);
        vm->running = ptc_op_builtin(op);
        return ptc_fail_value_type(vm, b, role, "a number");
    }
    uint32_t outer = vm->running;
    for (int tries = 0; tries < 2; tries++) {
        vm->running = ptc_op_builtin(op);
        PtcValue v = op == PTC_OP_ADD   ? ptc_num_add(vm, a, b)
                     : op == PTC_OP_SUB ? ptc_num_sub(vm, a, b)
                                        : ptc_num_mul(vm, a, b);
        if (v != PTC_NONE) {
            vm->running = outer;
            *out = v;
            return true;
        }
        if (!ptc_recover(vm))
            return false;
    }
    return false;
}

static PTC_NOINLINE bool slow_divide(PtcVM *vm, PtcOp op, PtcValue a, PtcValue b, PtcValue *out)
{
    PtcValue args[2] = {a, b};
    return ptc_vm_builtin(vm, ptc_op_builtin(op), 2, args, out);
}

/* R[b] plus a small constant, written as +, -, inc or dec. */
static PTC_NOINLINE bool slow_addi(PtcVM *vm, PtcIns i, PtcValue b, PtcValue *out)
{
    static const char *const names[4] = {"+", "-", "inc", "dec"};
    int64_t n = (int16_t)i.c;
    if (!is_any_number(b)) {
        vm->running = (uint32_t)ptc_builtin_find(names[i.x & 3], strlen(names[i.x & 3]));
        return ptc_fail_type(vm, &b, 0, "a number");
    }
    return slow_arith(vm, PTC_OP_ADD, 0, b, ptc_int(n), out);
}

static PTC_NOINLINE bool slow_less(PtcVM *vm, PtcOp op, PtcValue a, PtcValue b, bool *out)
{
    uint32_t outer = vm->running;
    vm->running = ptc_op_builtin(op);
    bool ok = op == PTC_OP_LT   ? ptc_num_less(vm, a, b, false, out)
              : op == PTC_OP_LE ? ptc_num_less(vm, a, b, true, out)
              : op == PTC_OP_GT ? ptc_num_less(vm, b, a, false, out)
                                : ptc_num_less(vm, b, a, true, out);
    vm->running = outer;
    return ok && vm->budget.stop == PTC_STOP_NONE;
}

static PTC_NOINLINE bool get_unbound(PtcVM *vm, uint32_t index, PtcValue *out)
{
    const PtcName *n = &vm->names->items[index];
    int builtin = ptc_builtin_written(n->text, n->len);
    if (builtin >= 0) { /* a name that some later def will shadow */
        *out = ptc_builtin((uint32_t)builtin);
        return true;
    }
    ptc_fail(vm, PTC_E_UNBOUND, "%.*s has no value yet", PTC_ARG_OF(n->text, n->len));
    return ptc_fail_hint(vm, "its def comes later or was not reached; define it first");
}

/* The items of a pmap run at the same time: which of them would end the program? */
static PTC_NOINLINE void refuse_stop(PtcVM *vm, bool fail)
{
    const char *name = fail ? "fail" : "return";
    ptc_fail(vm, PTC_E_INVALID_FORM, "%s cannot end the program from inside pmap or pcalls", name);
    ptc_fail_hint(vm, "give a value back from the function and call %s on the results", name);
}

static PTC_NOINLINE PtcValue make_vector(PtcVM *vm, const PtcValue *from, size_t n)
{
    return PTC_RETRY(vm, ptc_vec_new(vm->heap, from, n, 0));
}

static PTC_NOINLINE PtcValue make_map_or_collect(PtcVM *vm, PtcValue shape, const PtcValue *from)
{
    return PTC_RETRY(vm, ptc_smap_new(vm->heap, shape, from));
}

static PTC_NOINLINE PtcValue make_closure(PtcVM *vm, PtcValue proto, const PtcIns *caps,
                                          const PtcValue *R, const PtcClosure *self)
{
    size_t n = ptc_obj(proto)->count; /* number of CAP instructions after it */
    PtcClosure *o = PTC_RETRY(vm, ptc_heap_object(vm->heap, PTC_T_CLOSURE,
                                                  sizeof *o + n * sizeof(PtcValue), (uint32_t)n));
    if (!o)
        return PTC_NONE;
    o->proto = proto;
    for (size_t k = 0; k < n; k++)
        o->captured[k] = caps[k].x == 0   ? R[caps[k].a]
                         : caps[k].x == 1 ? self->captured[caps[k].a]
                                          : ptc_from_obj(self);
    return ptc_from_obj(o);
}

/* The call in R[0..argc] of what dispatches: enters the closure that is meant, or calls what else is and leaves the
 * result in R[0]. */
static PTC_NOINLINE bool enter_chosen(PtcVM *vm, int argc, PtcValue *R)
{
    if (!ptc_dispatch(vm, R[0], argc, R + 1, R))
        return false;
    if (!ptc_is(R[0], PTC_T_CLOSURE))
        return ptc_vm_call(vm, R[0], argc, R + 1, R);
    const PtcClosure *c = (const PtcClosure *)(uintptr_t)R[0];
    ptc_fuel_use(&vm->budget, ptc_closure_proto(c)->ticks);
    return ptc_vm_enter(vm, c, argc, R + 1);
}

/* at[0] is a collection and at[1] the position in it; or a cursor, and nil; or something lazy, and the `for` that
 * waits. */
static PTC_NOINLINE bool iter_start(PtcVM *vm)
{
    PtcIns i = vm->call->pc[-1]; /* handing it over whole would take registers from the loop */
    PtcValue coll = vm->call->base[i.b], *at = &vm->call->base[i.a];
    if (PTC_UNLIKELY(ptc_seq_endless(coll)) && i.c != 0)
        return ptc_later_begin(vm, i);
    if (PTC_UNLIKELY(ptc_seq_endless(coll)) && !i.x)
        vm->endless = "doseq";
    if (PTC_UNLIKELY(ptc_is_producer(coll))) {
        at[1] = PTC_NIL;
        return ptc_cursor_open(vm, coll, PTC_NIL, &at[0]);
    }
    if (!ptc_is_seqable(coll)) {
        ptc_fail(vm, PTC_E_TYPE | PTC_AS(ILLEGAL_ARGUMENT),
                 "for and doseq walk collections, strings and nil, got %s", ptc_type_name(coll));
        return ptc_fail_hint(vm, "usage: (for [x coll] body)");
    }
    at[0] = coll;
    at[1] = ptc_int(0);
    return true;
}

static int iter_step(PtcVM *vm, PtcValue *at, PtcValue *out);

/* iter_step for what has no position. */
static PTC_NOINLINE int iter_pull(PtcVM *vm, PtcValue *at, PtcValue *out)
{
    if (at[1] == PTC_NIL)
        return ptc_cursor_next(vm, at[0], out);
    int got = ptc_later_step(vm, at, out);
    return got == 2 ? iter_step(vm, at, out) : got; /* a collection follows, which has */
}

/* 1: *out is the next element; 0: the end; -1: failed. */
static PTC_NOINLINE int iter_step(PtcVM *vm, PtcValue *at, PtcValue *out)
{
    PtcValue coll = at[0];
    if (PTC_UNLIKELY(!ptc_is_int(at[1])))
        return iter_pull(vm, at, out);
    size_t pos = (size_t)ptc_to_int(at[1]);
    if (coll == PTC_NIL)
        return 0;
    if (ptc_is_map(coll) || ptc_is_set(coll) || ptc_is_string(coll)) {
        PtcIter it;
        for (int tries = 0; tries < 2; tries++) {
            if (!ptc_iter_init(&it, vm->heap, coll))
                return -1;
            it.pos = pos;
            if (ptc_tag(coll) == PTC_T_SSET)
                it.at += pos;
            if (ptc_iter_next(&it, out)) {
                at[1] = ptc_int(ptc_tag(coll) == PTC_T_SSET ? (int64_t)pos + 1 : (int64_t)it.pos);
                return 1;
            }
            if (!it.failed)
                return 0;
            if (!ptc_recover(vm))
                return -1;
        }
        return -1;
    }
    if (ptc_is(coll, PTC_T_CONS)) {
        *out = ((PtcCons *)(uintptr_t)coll)->first;
        at[0] = ((PtcCons *)(uintptr_t)coll)->rest;
        return 1;
    }
    if (pos >= ptc_seq_count(coll))
        return 0;
    *out = ptc_seq_nth(coll, pos);
    at[1] = ptc_int((int64_t)pos + 1);
    return 1;
}

/* x into a builder.  When that belongs to a `for` that waits, the frame is set aside again, and the answer is no. */
static PTC_NOINLINE bool push_or_set_aside(PtcVM *vm, PtcValue *builder, PtcValue x, size_t top)
{
    if (PTC_LIKELY(ptc_build_quick(*builder, x)))
        return true;
    if (!ptc_build_is_waiting(*builder))
        return ptc_root_push(vm, builder, x);
    ptc_later_keep(vm, *builder, top);
    return false;
}

static PTC_NOINLINE bool fail_loop(PtcVM *vm)
{
    return ptc_budget_halt(&vm->budget, PTC_STOP_LOOP);
}

/* -------------------------------------------------------------------- the loop */

/* Whatever may collect or call has stored its pc in the frame before: by it the collector knows what the frame still
 * needs (live.h). */

#define BOTH_INT(a, b) ((a) & (b)&1)
/* Two integers of 0 to 2^32-1, the second not 0: division needs no signs and half the bits. */
#define SMALL_POSITIVE(a, b) (BOTH_INT(a, b) && (((a) | (b)) >> 33) == 0 && (b) != 1)

/* The instruction that is being done.  Its operands are loaded where they are used: in a variable the compiler would
 * take all five apart at every one, which made a loop of a million turns 21% slower and fib(24) 5%. */
#define INS (pc[-1])

#define VM_NEXT               \
    do {                      \
        pc++;                 \
        goto *labels[INS.op]; \
    } while (0)

#define FRAME()                                                     \
    do {                                                            \
        R = call->base;                                             \
        const PtcProto *proto_ = ptc_closure_proto(call->closure);  \
        K = ((const PtcNode *)(uintptr_t)proto_->constants)->slots; \
    } while (0)

#define TICK(n)                                                                     \
    do {                                                                            \
        if (PTC_UNLIKELY(ptc_fuel_use(&vm->budget, (n)) <= 0 || vm->budget.wake)) { \
            call->pc = pc;                                                          \
            if (!ptc_vm_safepoint(vm))                                              \
                goto error;                                                         \
        }                                                                           \
    } while (0)

#define JUMP_UNLESS_LESS(op, x, y, cmp)         \
    do {                                        \
        PtcValue x_ = (x), y_ = (y);            \
        if (PTC_LIKELY(BOTH_INT(x_, y_))) {     \
            if (!((int64_t)x_ cmp(int64_t) y_)) \
                pc += (int16_t)INS.c;           \
            VM_NEXT;                            \
        }                                       \
        bool less_ = false;                     \
        call->pc = pc;                          \
        if (!slow_less(vm, op, x_, y_, &less_)) \
            goto error;                         \
        if (!less_)                             \
            pc += (int16_t)INS.c;               \
        VM_NEXT;                                \
    } while (0)

#define COMPARE(op, cmp)                                      \
    do {                                                      \
        PtcValue x_ = R[INS.b], y_ = R[INS.c];                \
        if (PTC_LIKELY(BOTH_INT(x_, y_))) {                   \
            R[INS.a] = ptc_bool((int64_t)x_ cmp(int64_t) y_); \
            VM_NEXT;                                          \
        }                                                     \
        bool less_ = false;                                   \
        call->pc = pc;                                        \
        if (!slow_less(vm, op, x_, y_, &less_))               \
            goto error;                                       \
        R[INS.a] = ptc_bool(less_);                           \
        VM_NEXT;                                              \
    } while (0)

/* When a limit tripped meanwhile, the answer is worth nothing. */
#define EQUAL(x, y, to)                                           \
    do {                                                          \
        if (BOTH_INT(x, y)) {                                     \
            to = x == y;                                          \
        } else {                                                  \
            to = ptc_equal(vm->heap, x, y);                       \
            if (PTC_UNLIKELY(vm->budget.stop != PTC_STOP_NONE)) { \
                call->pc = pc;                                    \
                if (!ptc_force_equal(vm, x, y, &to))              \
                    goto error;                                   \
            }                                                     \
        }                                                         \
    } while (0)

#define FLOAT_ARITH(sign)                                                   \
    do {                                                                    \
        if (ptc_is_flonum(x) && ptc_is_flonum(y)) {                         \
            PtcValue f_ = ptc_flonum(ptc_to_float(x) sign ptc_to_float(y)); \
            if (PTC_LIKELY(f_ != PTC_NONE)) {                               \
                R[INS.a] = f_;                                              \
                VM_NEXT;                                                    \
            }                                                               \
        }                                                                   \
    } while (0)

#define DIVIDE(op, sign, y)                                                             \
    do {                                                                                \
        PtcValue x_ = R[INS.b], y_ = (y);                                               \
        if (PTC_LIKELY(SMALL_POSITIVE(x_, y_))) {                                       \
            R[INS.a] = ptc_int((int64_t)((uint32_t)(x_ >> 1) sign(uint32_t)(y_ >> 1))); \
            VM_NEXT;                                                                    \
        }                                                                               \
        call->pc = pc;                                                                  \
        if (!slow_divide(vm, op, x_, y_, &R[INS.a]))                                    \
            goto error;                                                                 \
        VM_NEXT;                                                                        \
    } while (0)

bool ptc_vm_run(PtcVM *vm, PtcValue *out)
{
    static const void *const labels[PTC_OP_COUNT] = {
#define X(name) &&op_##name,
        PTC_OPCODES(X)
#undef X
    };
    PtcCall *call = vm->call;
    PtcCall *const entry = call;
    const PtcIns *pc = call->pc;
    PtcValue *R;
    const PtcValue *K;
    FRAME();
    VM_NEXT;

op_MOVE:
    R[INS.a] = R[INS.b];
    VM_NEXT;
op_LOADK:
    R[INS.a] = K[INS.b];
    VM_NEXT;
op_GETG : {
    PtcValue v = vm->globals[INS.b];
    if (PTC_UNLIKELY(v == PTC_UNBOUND) && !get_unbound(vm, INS.b, &v))
        goto error;
    R[INS.a] = v;
    VM_NEXT;
}
op_DEF:
    vm->globals[INS.b] = R[INS.a];
    vm->defined = true;
    R[INS.a] = K[INS.c];
    VM_NEXT;
op_BOUND:
    if (vm->globals[INS.b] != PTC_UNBOUND) {
        R[INS.a] = K[INS.c];
        pc++;
    }
    VM_NEXT;
op_GETCAP:
    R[INS.a] = call->closure->captured[INS.b];
    VM_NEXT;
op_SELF:
    R[INS.a] = ptc_from_obj(call->closure);
    VM_NEXT;
op_DATA : {
    PtcValue v =
        vm->context == PTC_NIL ? PTC_NONE : ptc_map_get_flex(vm->heap, vm->context, K[INS.b]);
    R[INS.a] = v == PTC_NONE ? PTC_NIL : v;
    VM_NEXT;
}
op_JMP:
    pc += ptc_ins_bc(INS);
    VM_NEXT;
op_JF:
    if (!ptc_truthy(R[INS.a]))
        pc += ptc_ins_bc(INS);
    VM_NEXT;
op_JT:
    if (ptc_truthy(R[INS.a]))
        pc += ptc_ins_bc(INS);
    VM_NEXT;
op_JNIL:
    if (R[INS.a] == PTC_NIL)
        pc += ptc_ins_bc(INS);
    VM_NEXT;
op_JNNIL:
    if (R[INS.a] != PTC_NIL)
        pc += ptc_ins_bc(INS);
    VM_NEXT;
op_JNLT:
    JUMP_UNLESS_LESS(PTC_OP_LT, R[INS.a], R[INS.b], <);
op_JNLE:
    JUMP_UNLESS_LESS(PTC_OP_LE, R[INS.a], R[INS.b], <=);
op_JNLTK:
    JUMP_UNLESS_LESS(PTC_OP_LT, R[INS.a], K[INS.b], <);
op_JNLEK:
    JUMP_UNLESS_LESS(PTC_OP_LE, R[INS.a], K[INS.b], <=);
op_JNGTK:
    JUMP_UNLESS_LESS(PTC_OP_GT, R[INS.a], K[INS.b], >);
op_JNGEK:
    JUMP_UNLESS_LESS(PTC_OP_GE, R[INS.a], K[INS.b], >=);
op_JNEQ : {
    PtcValue x = R[INS.a], y = R[INS.b];
    bool same;
    EQUAL(x, y, same);
    if (!same)
        pc += (int16_t)INS.c;
    VM_NEXT;
}
op_JNEQK : {
    PtcValue x = R[INS.a], y = K[INS.b];
    bool same;
    EQUAL(x, y, same);
    if (!same)
        pc += (int16_t)INS.c;
    VM_NEXT;
}
op_JEQ : {
    PtcValue x = R[INS.a], y = R[INS.b];
    bool same;
    EQUAL(x, y, same);
    if (same)
        pc += (int16_t)INS.c;
    VM_NEXT;
}
op_JEQK : {
    PtcValue x = R[INS.a], y = K[INS.b];
    bool same;
    EQUAL(x, y, same);
    if (same)
        pc += (int16_t)INS.c;
    VM_NEXT;
}
op_ADD : {
    PtcValue x = R[INS.b], y = R[INS.c];
    int64_t sum;
    if (PTC_LIKELY(BOTH_INT(x, y)) && !__builtin_add_overflow((int64_t)x, (int64_t)(y - 1), &sum)) {
        R[INS.a] = (PtcValue)sum;
        VM_NEXT;
    }
    FLOAT_ARITH(+);
    call->pc = pc;
    if (!slow_arith(vm, PTC_OP_ADD, INS.x, x, y, &R[INS.a]))
        goto error;
    VM_NEXT;
}
op_SUB : {
    PtcValue x = R[INS.b], y = R[INS.c];
    int64_t diff;
    if (PTC_LIKELY(BOTH_INT(x, y)) &&
        !__builtin_sub_overflow((int64_t)x, (int64_t)(y - 1), &diff)) {
        R[INS.a] = (PtcValue)diff;
        VM_NEXT;
    }
    FLOAT_ARITH(-);
    call->pc = pc;
    if (!slow_arith(vm, PTC_OP_SUB, INS.x, x, y, &R[INS.a]))
        goto error;
    VM_NEXT;
}
op_MUL : {
    PtcValue x = R[INS.b], y = R[INS.c];
    int64_t product;
    if (PTC_LIKELY(BOTH_INT(x, y)) &&
        !__builtin_mul_overflow((int64_t)(x - 1), (int64_t)y >> 1, &product)) {
        R[INS.a] = (PtcValue)product | 1;
        VM_NEXT;
    }
    FLOAT_ARITH(*);
    call->pc = pc;
    if (!slow_arith(vm, PTC_OP_MUL, INS.x, x, y, &R[INS.a]))
        goto error;
    VM_NEXT;
}
op_MOD:
    DIVIDE(PTC_OP_MOD, %, R[INS.c]);
op_MODI:
    DIVIDE(PTC_OP_MOD, %, ptc_int((int16_t)INS.c));
op_REM:
    DIVIDE(PTC_OP_REM, %, R[INS.c]);
op_QUOT:
    DIVIDE(PTC_OP_QUOT, /, R[INS.c]);
op_MULI : {
    PtcValue x = R[INS.b];
    int64_t product;
    if (PTC_LIKELY(ptc_is_int(x)) &&
        !__builtin_mul_overflow((int64_t)(x - 1), (int64_t)(int16_t)INS.c, &product)) {
        R[INS.a] = (PtcValue)product | 1;
        VM_NEXT;
    }
    call->pc = pc;
    if (!slow_arith(vm, PTC_OP_MUL, 0, x, ptc_int((int16_t)INS.c), &R[INS.a]))
        goto error;
    VM_NEXT;
}
op_ADDI : {
    PtcValue x = R[INS.b];
    int64_t sum;
    if (PTC_LIKELY(ptc_is_int(x)) &&
        !__builtin_add_overflow((int64_t)x, (int64_t)(int16_t)INS.c * 2, &sum)) {
        R[INS.a] = (PtcValue)sum;
        VM_NEXT;
    }
    call->pc = pc;
    if (!slow_addi(vm, INS, x, &R[INS.a]))
        goto error;
    VM_NEXT;
}
op_LT:
    COMPARE(PTC_OP_LT, <);
op_LE:
    COMPARE(PTC_OP_LE, <=);
op_GT:
    COMPARE(PTC_OP_GT, >);
op_GE:
    COMPARE(PTC_OP_GE, >=);
op_EQ : {
    PtcValue x = R[INS.b], y = R[INS.c];
    bool same;
    EQUAL(x, y, same);
    R[INS.a] = ptc_bool(same);
    VM_NEXT;
}
op_NE : {
    PtcValue x = R[INS.b], y = R[INS.c];
    bool same;
    EQUAL(x, y, same);
    R[INS.a] = ptc_bool(!same);
    VM_NEXT;
}
op_NOT:
    R[INS.a] = ptc_bool(!ptc_truthy(R[INS.b]));
    VM_NEXT;
op_ISNIL:
    R[INS.a] = ptc_bool(R[INS.b] == PTC_NIL);
    VM_NEXT;
op_KEYGET : {
    PtcValue m = R[INS.b], key = K[INS.c];
    if (PTC_LIKELY(ptc_is(m, PTC_T_SMAP))) {
        const PtcSmap *s = (const PtcSmap *)(uintptr_t)m;
        const PtcShapeCache *c = &vm->heap->lookups[((s->shape >> 4) ^ (key >> 3)) % PTC_LOOKUPS];
        if (PTC_LIKELY(c->shape == s->shape && c->key == key)) {
            R[INS.a] = c->answer ? s->values[c->answer - 1] : PTC_NIL;
            VM_NEXT;
        }
    }
    R[INS.a] = ptc_lookup(vm, m, key, PTC_NIL);
    VM_NEXT;
}
op_VEC : {
    call->pc = pc;
    PtcValue v = make_vector(vm, &R[INS.b], INS.c);
    if (v == PTC_NONE)
        goto error;
    R[INS.a] = v;
    VM_NEXT;
}
op_MAP : {
    call->pc = pc;
    PtcValue v = make_map_or_collect(vm, K[INS.c], &R[INS.b]);
    if (v == PTC_NONE)
        goto error;
    R[INS.a] = v;
    VM_NEXT;
}
op_CLOSURE : {
    call->pc = pc;
    PtcValue v = make_closure(vm, K[INS.b], pc, R, call->closure);
    if (v == PTC_NONE)
        goto error;
    R[INS.a] = v;
    pc += ptc_obj(K[INS.b])->count;
    VM_NEXT;
}
op_FIXCAP: /* nobody else has seen the function yet */
    ((PtcClosure *)(uintptr_t)R[INS.a])->captured[INS.b] = R[INS.c];
    VM_NEXT;
op_CAP:
    VM_NEXT; /* read by CLOSURE, never reached */
op_CALLG : {
    PtcValue v = vm->globals[INS.c];
    if (PTC_UNLIKELY(v == PTC_UNBOUND) && !get_unbound(vm, INS.c, &v))
        goto error;
    R[INS.a] = v;
}
    /* fall through */
op_CALL : {
    PtcValue f = R[INS.a];
    if (PTC_LIKELY(ptc_is(f, PTC_T_CLOSURE))) {
        const PtcClosure *c = (const PtcClosure *)(uintptr_t)f;
        const PtcProto *p = ptc_closure_proto(c);
        TICK(p->ticks);
        PtcValue *base = &R[INS.a + 1];
        call->pc = pc;
        if (PTC_LIKELY(p->params == INS.b && !p->variadic && p->arities == PTC_NIL &&
                       base + p->registers <= vm->stack_limit && call + 1 < vm->calls_end)) {
            call++;
            call->base = R = base;
            call->closure = c;
            vm->call = call;
        } else {
            if (!ptc_vm_enter(vm, c, INS.b, base))
                goto error;
            call = vm->call;
            p = ptc_closure_proto(call->closure);
            R = call->base;
        }
        K = ((const PtcNode *)(uintptr_t)p->constants)->slots;
        pc = ptc_proto_code(p);
        VM_NEXT;
    }
    TICK(1);
    call->pc = pc;
    if (PTC_UNLIKELY(ptc_is_dispatch(f)))
        goto chosen;
    if (!ptc_vm_call(vm, f, INS.b, &R[INS.a + 1], &R[INS.a]))
        goto error;
    VM_NEXT;
}
op_CALLB:
    call->pc = pc;
    if (!ptc_vm_builtin(vm, INS.c, INS.x, &R[INS.b], &R[INS.a]))
        goto error;
    VM_NEXT;
op_LOOP:
    if (PTC_UNLIKELY(--vm->loops_left < 0)) {
        fail_loop(vm);
        goto error;
    }
    TICK(INS.a);
    pc += ptc_ins_bc(INS);
    VM_NEXT;
op_ITER:
    call->pc = pc;
    if (!iter_start(vm))
        goto error;
    pc = call->pc;
    VM_NEXT;
op_NEXT : {
    TICK(INS.x);
    call->pc = pc; /* a producer calls functions */
    int got = iter_step(vm, &R[INS.a], &R[INS.b]);
    if (got < 0)
        goto error;
    if (got == 0)
        pc += (int16_t)INS.c;
    VM_NEXT;
}
op_BUILD:
    call->pc = pc;
    if (!ptc_root_build(vm, &R[INS.a]))
        goto error;
    VM_NEXT;
op_PUSH:
    call->pc = pc;
    if (PTC_UNLIKELY(!push_or_set_aside(vm, &R[INS.a], R[INS.b], INS.c))) {
        if (!ptc_build_is_waiting(R[INS.a]))
            goto error;
        *out = R[INS.b];
        goto hand_out;
    }
    VM_NEXT;
op_DONE:
    call->pc = pc;
    if (PTC_UNLIKELY(ptc_build_is_waiting(R[INS.b]))) {
        *out = PTC_UNBOUND;
        goto hand_out;
    }
    if (!ptc_root_done(vm, &R[INS.b], INS.x ? 0 : PTC_SEQ, &R[INS.a]))
        goto error;
    VM_NEXT;
op_RET : {
    PtcValue v = R[INS.a];
    if (PTC_UNLIKELY(call == entry)) {
        vm->call = call - 1;
        *out = v;
        return true;
    }
    /* The slot before register 0 held the function: the result goes there. */
    R[-1] = v;
    call--;
    vm->call = call;
    pc = call->pc;
    FRAME();
    VM_NEXT;
}
hand_out
    : /* a `for` that waits gives an element to who asked for it, or PTC_UNBOUND when there are no more */
    vm->call = entry - 1;
    return true;
chosen
    : /* a method or multimethod: a function that it chooses goes on in this loop, with a frame of its own */
    if (!enter_chosen(vm, INS.b, &R[INS.a]))
        goto error;
    call = vm->call;
    R = call->base;
    K = ((const PtcNode *)(uintptr_t)ptc_closure_proto(call->closure)->constants)->slots;
    pc = call->pc;
    VM_NEXT;
op_STOP:
    if (!vm->may_stop) {
        refuse_stop(vm, INS.x);
        goto error;
    }
    vm->control = INS.x ? PTC_CONTROL_FAIL : PTC_CONTROL_RETURN;
    vm->result = R[INS.a];
error:
    ptc_vm_place(vm, call->closure, pc);
    vm->call = entry - 1;
    return false;
}
