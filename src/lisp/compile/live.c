/* SPDX-License-Identifier: MIT
 * The usual backward analysis over the code of one function, repeated until nothing changes.  It is made anew whenever
 * it is wanted, by collections of runs that have made something lazy and by builtins that walk along a lazy argument,
 * and has bounds on the length of code and on rounds.  Beyond them all registers count as live: that costs memory,
 * never a value. */
#include "lisp/compile/live.h"

#include "lisp/vm/vm_int.h"
#include "value/coll/lazy.h"

enum { MOST_CODE = 1024, MOST_ROUNDS = 16 };

#define LIVE_ALL UINT64_MAX

/* What one instruction does: registers it reads and writes, and where it may go on. */
typedef struct Effect {
    uint64_t reads, writes;
    int64_t next, jump; /* indices; -1: nowhere */
} Effect;

static uint64_t bits(size_t first, size_t n)
{
    uint64_t all = 0;
    for (size_t i = first; i < first + n && i < PTC_LIVE_REGISTERS; i++)
        all |= ptc_live_bit(i);
    return all;
}

/* The captures of a CLOSURE are the instructions after it. */
static uint64_t captured(const PtcIns *caps, size_t n)
{
    uint64_t all = 0;
    for (size_t i = 0; i < n; i++)
        all |= caps[i].x == 0 ? ptc_live_bit(caps[i].a) : 0;
    return all;
}

static size_t count_of_constant(const PtcProto *p, size_t k)
{
    return ptc_obj(((const PtcNode *)(uintptr_t)p->constants)->slots[k])->count;
}

/* Jumps, and what ends a function. */
static bool jump_effect(PtcIns i, int64_t at, Effect *e)
{
    switch ((PtcOp)i.op) {
    case PTC_OP_JMP:
    case PTC_OP_LOOP:
        e->next = -1;
        e->jump = at + 1 + ptc_ins_bc(i);
        return true;
    case PTC_OP_JF:
    case PTC_OP_JT:
    case PTC_OP_JNIL:
    case PTC_OP_JNNIL:
        e->reads = ptc_live_bit(i.a);
        e->jump = at + 1 + ptc_ins_bc(i);
        return true;
    case PTC_OP_JNLT:
    case PTC_OP_JNLE:
    case PTC_OP_JNEQ:
    case PTC_OP_JEQ:
        e->reads = ptc_live_bit(i.a) | ptc_live_bit(i.b);
        e->jump = at + 1 + (int16_t)i.c;
        return true;
    case PTC_OP_JNLTK:
    case PTC_OP_JNLEK:
    case PTC_OP_JNGTK:
    case PTC_OP_JNGEK:
    case PTC_OP_JNEQK:
    case PTC_OP_JEQK:
        e->reads = ptc_live_bit(i.a);
        e->jump = at + 1 + (int16_t)i.c;
        return true;
    case PTC_OP_NEXT: /* at the end R[b] stays what it was */
        e->reads = bits(i.a, 2) | ptc_live_bit(i.b);
        e->jump = at + 1 + (int16_t)i.c;
        return true;
    case PTC_OP_BOUND: /* writes R[a] only when it skips */ e->jump = at + 2; return true;
    case PTC_OP_RET:
    case PTC_OP_STOP:
        e->reads = ptc_live_bit(i.a);
        e->next = -1;
        return true;
    default: return false;
    }
}

/* Those that give R[a]. */
static uint64_t reads_of(const PtcProto *p, const PtcIns *at)
{
    PtcIns i = *at;
    switch ((PtcOp)i.op) {
    case PTC_OP_LOADK:
    case PTC_OP_GETG:
    case PTC_OP_GETCAP:
    case PTC_OP_SELF:
    case PTC_OP_DATA:
    case PTC_OP_BUILD: return 0;
    case PTC_OP_DEF: return ptc_live_bit(i.a);
    case PTC_OP_MOVE:
    case PTC_OP_ADDI:
    case PTC_OP_MULI:
    case PTC_OP_MODI:
    case PTC_OP_NOT:
    case PTC_OP_ISNIL:
    case PTC_OP_KEYGET:
    case PTC_OP_ITER:
    case PTC_OP_DONE: return ptc_live_bit(i.b);
    case PTC_OP_VEC: return bits(i.b, i.c);
    case PTC_OP_MAP: return bits(i.b, count_of_constant(p, i.c));
    case PTC_OP_CLOSURE: return captured(at + 1, count_of_constant(p, i.b));
    case PTC_OP_CALL: return bits(i.a, (size_t)i.b + 1);
    case PTC_OP_CALLG: return bits((size_t)i.a + 1, i.b);
    case PTC_OP_CALLB: return bits(i.b, i.x);
    default: return ptc_live_bit(i.b) | ptc_live_bit(i.c); /* arithmetic and comparisons */
    }
}

static Effect effect_of(const PtcProto *p, size_t at)
{
    const PtcIns *ins = ptc_proto_code(p) + at;
    Effect e = {.next = (int64_t)at + 1, .jump = -1};
    if (jump_effect(*ins, (int64_t)at, &e))
        return e;
    switch ((PtcOp)ins->op) {
    case PTC_OP_CAP: return e;
    case PTC_OP_FIXCAP: e.reads = ptc_live_bit(ins->a) | ptc_live_bit(ins->c); return e;
    case PTC_OP_PUSH: e.reads = ptc_live_bit(ins->a) | ptc_live_bit(ins->b); return e;
    default:
        e.reads = reads_of(p, ins);
        e.writes = bits(ins->a, ins->op == PTC_OP_ITER ? 2 : 1);
        return e;
    }
}

/* Live before each of the instructions from `first` up to `end`, into live[0] ... */
static bool analyze(const PtcProto *p, size_t first, size_t end, uint64_t *live)
{
    size_t n = end - first;
    bool changed = true;
    memset(live, 0, n * sizeof *live);
    for (int round = 0; changed; round++) {
        if (round == MOST_ROUNDS)
            return false;
        changed = false;
        for (size_t k = n; k-- > 0;) {
            Effect e = effect_of(p, first + k);
            uint64_t after = 0;
            if (e.next >= (int64_t)first && e.next < (int64_t)end)
                after |= live[e.next - (int64_t)first];
            if (e.jump >= (int64_t)first && e.jump < (int64_t)end)
                after |= live[e.jump - (int64_t)first];
            uint64_t before = e.reads | (after & ~e.writes);
            changed = changed || before != live[k];
            live[k] = before;
        }
    }
    return true;
}

uint64_t ptc_live_between(const PtcProto *proto, size_t first, size_t end)
{
    uint64_t live[MOST_CODE];
    if (first >= end || end > proto->code_count || end - first > MOST_CODE)
        return LIVE_ALL;
    return analyze(proto, first, end, live) ? live[0] : LIVE_ALL;
}

/* Before instruction `at`, whatever leads there: in a loop, what comes before it may come again. */
static uint64_t live_before(const PtcProto *p, size_t at)
{
    uint64_t live[MOST_CODE];
    if (p->code_count > MOST_CODE || at >= p->code_count)
        return LIVE_ALL;
    return analyze(p, 0, p->code_count, live) ? live[at] : LIVE_ALL;
}

uint64_t ptc_live_in_frame(const PtcCall *call)
{
    const PtcProto *p = ptc_closure_proto(call->closure);
    size_t pc = (size_t)(call->pc - ptc_proto_code(p));
    if (pc == 0)
        return live_before(p, 0);
    PtcIns doing = ptc_proto_code(p)[pc - 1];
    uint64_t callee = doing.op == PTC_OP_CALLG ? ptc_live_bit(doing.a) : 0;
    return live_before(p, pc - 1) | callee;
}

/* Is this register of the frame on top, an argument of the call that the frame is at, read after it?  Several arguments
 * have registers of their own, which nobody reads again; a single one may be in the register of a local
 * (compile_call.c). */
static bool is_read_later(PtcVM *vm, size_t reg)
{
    const PtcProto *p = ptc_closure_proto(vm->call->closure);
    size_t pc = (size_t)(vm->call->pc - ptc_proto_code(p));
    PtcIns ins = ptc_proto_code(p)[pc ? pc - 1 : 0];
    if (pc == 0 || ins.op != PTC_OP_CALLB)
        return true;
    if (ins.x > 1)
        return false;
    ptc_fuel_use(&vm->budget, 1 + (int64_t)p->code_count / 8);
    uint64_t live = live_before(p, pc) & ~ptc_live_bit(ins.a);
    return reg >= PTC_LIVE_REGISTERS || (live & ptc_live_bit(reg)) != 0;
}

/* Arguments are registers of the frame on top, or a copy for this call among the roots (invoke.c). */
void ptc_live_release(PtcVM *vm, const PtcValue *argv, int i)
{
    const PtcValue *at = argv + i;
    if (!ptc_is_lazy(*at))
        return;
    if (at >= vm->roots && at < vm->roots + vm->root_count)
        vm->roots[at - vm->roots] = PTC_UNBOUND;
    else if (vm->call >= vm->calls && at >= vm->call->base && at < ptc_vm_frame_end(vm) &&
             !is_read_later(vm, (size_t)(at - vm->call->base)))
        vm->call->base[at - vm->call->base] = PTC_UNBOUND;
}
