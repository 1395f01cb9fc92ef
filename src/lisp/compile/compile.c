/* SPDX-License-Identifier: MIT
 * Code for control flow and bindings; calls and literals are in compile_call.c, functions in compile_fn.c. */
#include "lisp/compile/compile_int.h"

/* ------------------------------------------------------------------------- emitting */

bool ptc_compile_too_large(FnState *fs, const PtcExpr *at)
{
    PtcDiag *d = ptc_diag_add(fs->job->diags, PTC_E_SIZE, at->first, at->last,
                              "this function is too large to compile");
    ptc_diag_hint(d, "split it into smaller functions");
    return false;
}

bool ptc_compile_emit(FnState *fs, const PtcExpr *at, PtcIns ins)
{
    if (fs->count >= MAX_CODE)
        return ptc_compile_too_large(fs, at);
    PtcIns *code = ptc_arena_push(fs->job->arena, fs->code, fs->count, sizeof *code);
    PtcSpan *spans = ptc_arena_push(fs->job->arena, fs->spans, fs->count, sizeof *spans);
    if (!code || !spans)
        return false;
    fs->code = code;
    fs->spans = spans;
    code[fs->count] = ins;
    spans[fs->count++] = (PtcSpan){at->first, at->last};
    return true;
}

int64_t ptc_compile_temp(FnState *fs)
{
    if (fs->next >= MAX_REGISTERS)
        return -1;
    if (++fs->next > fs->most)
        fs->most = fs->next;
    return fs->next - 1;
}

int64_t ptc_compile_constant(FnState *fs, PtcValue v)
{
    size_t n = fs->constant_count;
    for (size_t i = n; i > 0 && n - i < 32; i--)
        if (fs->constants[i - 1] == v)
            return (int64_t)i - 1;
    if (v == PTC_NONE || n >= UINT16_MAX)
        return -1;
    PtcValue *all = ptc_arena_push(fs->job->arena, fs->constants, n, sizeof *all);
    if (!all)
        return -1;
    fs->constants = all;
    all[fs->constant_count++] = v;
    return (int64_t)n;
}

bool ptc_compile_load(FnState *fs, const PtcExpr *at, uint32_t dest, PtcValue v)
{
    int64_t k = ptc_compile_constant(fs, v);
    if (k < 0)
        return fs->constant_count >= UINT16_MAX ? ptc_compile_too_large(fs, at) : false;
    return ptc_compile_emit(fs, at, ptc_compile_ins(PTC_OP_LOADK, 0, dest, (uint32_t)k, 0));
}

/* ---------------------------------------------------------------------------- jumps */

/* Does this jump have 16 bits for its target (else 32)? */
static bool short_jump(uint8_t op)
{
    return (op >= PTC_OP_JNLT && op <= PTC_OP_JEQK) || op == PTC_OP_NEXT;
}

static bool set_jump_target(FnState *fs, uint32_t at, size_t target)
{
    PtcIns *i = &fs->code[at];
    int64_t by = (int64_t)target - (int64_t)at - 1;
    if (short_jump(i->op)) {
        if (by > INT16_MAX || by < INT16_MIN) {
            PtcExpr place = {.first = fs->spans[at].first, .last = fs->spans[at].last};
            return ptc_compile_too_large(fs, &place);
        }
        i->c = (uint16_t)(int16_t)by;
        return true;
    }
    i->b = (uint16_t)((uint32_t)(int32_t)by & 0xffff);
    i->c = (uint16_t)((uint32_t)(int32_t)by >> 16);
    return true;
}

/* A jump whose target is to come; the place that jumps were made for; a jump to an earlier place. */
static bool compile_jump(FnState *fs, const PtcExpr *at, Jumps *jumps, PtcIns ins)
{
    uint32_t *all = ptc_arena_push(fs->job->arena, jumps->at, jumps->count, sizeof *all);
    if (!all)
        return false;
    jumps->at = all;
    all[jumps->count++] = (uint32_t)fs->count;
    return ptc_compile_emit(fs, at, ins);
}

/* A jump whose target is to come; the place that jumps were made for; a jump to an earlier place. */
static bool compile_land(FnState *fs, Jumps *jumps)
{
    for (size_t i = 0; i < jumps->count; i++)
        if (!set_jump_target(fs, jumps->at[i], fs->count))
            return false;
    return true;
}

static bool compile_back(FnState *fs, const PtcExpr *at, uint8_t op, uint32_t to)
{
    uint32_t ticks = ptc_code_ticks((uint32_t)fs->count - to);
    return ptc_compile_emit(fs, at, ptc_compile_ins((PtcOp)op, 0, ticks, 0, 0)) &&
           set_jump_target(fs, (uint32_t)fs->count - 1, to);
}

/* Compare-and-branch for (< a b) and kin. */
static bool jump_compare(FnState *fs, PtcExpr *x, Jumps *jumps)
{
    static const struct {
        uint8_t reg, konst;
        bool swap;
    } table[] = {
        [PTC_FUSE_LT] = {PTC_OP_JNLT, PTC_OP_JNLTK, false},
        [PTC_FUSE_LE] = {PTC_OP_JNLE, PTC_OP_JNLEK, false},
        [PTC_FUSE_GT] = {PTC_OP_JNLT, PTC_OP_JNGTK, true},
        [PTC_FUSE_GE] = {PTC_OP_JNLE, PTC_OP_JNGEK, true},
        [PTC_FUSE_EQ] = {PTC_OP_JNEQ, PTC_OP_JNEQK, false},
        [PTC_FUSE_NE] = {PTC_OP_JEQ, PTC_OP_JEQK, false},
    };
    PtcFuse fuse = ptc_builtin_fuse(x->index);
    uint32_t next = fs->next;
    int64_t a = ptc_compile_operand(fs, x->items[0]);
    if (a < 0)
        return false;
    PtcExpr *right = x->items[1];
    bool konst = right->kind == PTC_X_CONST && (fuse >= PTC_FUSE_EQ || ptc_is_int(right->value));
    bool ok;
    if (konst) {
        int64_t k = ptc_compile_constant(fs, right->value);
        ok = k >= 0 && compile_jump(fs, x, jumps,
                                    ptc_compile_ins((PtcOp)table[fuse].konst, 0, (uint32_t)a,
                                                    (uint32_t)k, 0));
    } else {
        int64_t b = ptc_compile_operand(fs, right);
        bool swap = table[fuse].swap;
        ok = b >= 0 &&
             compile_jump(fs, x, jumps,
                          ptc_compile_ins((PtcOp)table[fuse].reg, 0, (uint32_t)(swap ? b : a),
                                          (uint32_t)(swap ? a : b), 0));
    }
    fs->next = next;
    return ok;
}

/* register that holds the value; -1: failed */
static bool compile_jump_unless(FnState *fs, PtcExpr *test, Jumps *jumps)
{
    if (test->kind == PTC_X_CALLB && test->count == 2) {
        PtcFuse fuse = ptc_builtin_fuse(test->index);
        if (fuse >= PTC_FUSE_LT && fuse <= PTC_FUSE_NE)
            return jump_compare(fs, test, jumps);
    }
    if (test->kind == PTC_X_AND) {
        for (size_t i = 0; i < test->count; i++)
            if (!compile_jump_unless(fs, test->items[i], jumps))
                return false;
        return true;
    }
    uint8_t op = PTC_OP_JF;
    PtcExpr *value = test;
    if (test->kind == PTC_X_CALLB && test->count == 1) {
        PtcFuse fuse = ptc_builtin_fuse(test->index);
        op = fuse == PTC_FUSE_NOT ? PTC_OP_JT : fuse == PTC_FUSE_NIL ? PTC_OP_JNNIL : PTC_OP_JF;
        value = op == PTC_OP_JF ? test : test->items[0];
    }
    uint32_t next = fs->next;
    int64_t r = ptc_compile_operand(fs, value);
    fs->next = next;
    return r >= 0 &&
           compile_jump(fs, test, jumps, ptc_compile_ins((PtcOp)op, 0, (uint32_t)r, 0, 0));
}

/* --------------------------------------------------------------------- branching forms */

/* Where a branch leaves its value: a register, or the function's result. */
typedef struct Goal {
    bool returns;
    uint32_t dest;
} Goal;

static bool reach(FnState *fs, PtcExpr *x, Goal goal, const PtcExpr *at)
{
    if (goal.returns) {
        PtcExpr nil = {.kind = PTC_X_CONST, .first = at->first, .last = at->last, .value = PTC_NIL};
        return ptc_compile_return(fs, x ? x : &nil);
    }
    return x ? ptc_compile_to(fs, x, goal.dest) : ptc_compile_load(fs, at, goal.dest, PTC_NIL);
}

/* Jumps over what follows, unless the branch has returned already. */
static bool jump_over_rest(FnState *fs, const PtcExpr *at, Goal goal, Jumps *end)
{
    return goal.returns || compile_jump(fs, at, end, ptc_compile_ins(PTC_OP_JMP, 0, 0, 0, 0));
}

static bool if_code(FnState *fs, PtcExpr *x, Goal goal)
{
    Jumps otherwise = {0}, end = {0};
    return compile_jump_unless(fs, x->a, &otherwise) && reach(fs, x->b, goal, x) &&
           jump_over_rest(fs, x, goal, &end) && compile_land(fs, &otherwise) &&
           reach(fs, x->c, goal, x) && compile_land(fs, &end);
}

static bool cond_code(FnState *fs, PtcExpr *x, Goal goal)
{
    Jumps end = {0};
    for (size_t i = 0; i + 1 < x->count; i += 2) {
        Jumps next = {0};
        PtcExpr *test = x->items[i];
        /* A constant such as :else; what follows is never reached. */
        if (test->kind == PTC_X_CONST && ptc_truthy(test->value))
            return reach(fs, x->items[i + 1], goal, x) && compile_land(fs, &end);
        if (!compile_jump_unless(fs, test, &next) || !reach(fs, x->items[i + 1], goal, x) ||
            !jump_over_rest(fs, x, goal, &end) || !compile_land(fs, &next))
            return false;
    }
    return reach(fs, NULL, goal, x) && compile_land(fs, &end);
}

/* Constants that lead to one result stand next to each other; the result is compiled once. */
static bool case_code(FnState *fs, PtcExpr *x, Goal goal)
{
    Jumps end = {0};
    uint32_t subject = x->a->local->reg;
    for (size_t i = 0; i + 1 < x->count;) {
        PtcExpr *result = x->items[i + 1];
        Jumps hit = {0}, miss = {0};
        for (; i + 1 < x->count && x->items[i + 1] == result; i += 2) {
            int64_t k = ptc_compile_constant(fs, x->items[i]->value);
            bool last = i + 3 >= x->count || x->items[i + 3] != result;
            Jumps skip = {0};
            if (k < 0 || !compile_jump(fs, x->items[i], last ? &miss : &skip,
                                       ptc_compile_ins(PTC_OP_JNEQK, 0, subject, (uint32_t)k, 0)))
                return false;
            if (!last && (!compile_jump(fs, x, &hit, ptc_compile_ins(PTC_OP_JMP, 0, 0, 0, 0)) ||
                          !compile_land(fs, &skip)))
                return false;
        }
        if (!compile_land(fs, &hit) || !reach(fs, result, goal, x) ||
            !jump_over_rest(fs, x, goal, &end) || !compile_land(fs, &miss))
            return false;
    }
    return reach(fs, x->b, goal, x) && compile_land(fs, &end);
}

static bool chain_code(FnState *fs, PtcExpr *x, uint32_t dest)
{
    Jumps end = {0};
    uint8_t op = x->kind == PTC_X_AND ? PTC_OP_JF : PTC_OP_JT;
    uint32_t next = fs->next;
    int64_t r = ptc_compile_fresh(fs, dest) ? dest : ptc_compile_temp(fs);
    if (r < 0)
        return ptc_compile_too_large(fs, x);
    for (size_t i = 0; i < x->count; i++) {
        if (!ptc_compile_to(fs, x->items[i], (uint32_t)r))
            return false;
        if (i + 1 < x->count &&
            !compile_jump(fs, x->items[i], &end, ptc_compile_ins((PtcOp)op, 0, (uint32_t)r, 0, 0)))
            return false;
    }
    fs->next = next;
    return compile_land(fs, &end) &&
           (r == dest ||
            ptc_compile_emit(fs, x, ptc_compile_ins(PTC_OP_MOVE, 0, dest, (uint32_t)r, 0)));
}

/* --------------------------------------------------------------------------- bindings */

/* Gives each local a register and its value. */
static bool bind_locals(FnState *fs, PtcExpr *x)
{
    for (size_t i = 0; i < x->count; i++) {
        int64_t r = ptc_compile_temp(fs);
        if (r < 0)
            return ptc_compile_too_large(fs, x);
        if (!ptc_compile_to(fs, x->items[i], (uint32_t)r))
            return false;
        x->locals[i]->reg = (uint16_t)r;
        fs->locals_top = (uint32_t)r + 1;
    }
    return true;
}

static bool let_code(FnState *fs, PtcExpr *x, Goal goal)
{
    uint32_t next = fs->next, top = fs->locals_top;
    bool ok = bind_locals(fs, x);
    if (ok && x->kind == PTC_X_LOOP)
        x->start = (uint32_t)fs->count;
    ok = ok && reach(fs, x->a, goal, x);
    fs->next = next;
    fs->locals_top = top;
    return ok;
}

/* The functions of letfn capture each other by value, so those made first are completed once all are there. */
static bool complete_letfn(FnState *fs, PtcExpr *x)
{
    for (size_t i = 0; i < x->count; i++) {
        const PtcFn *fn = x->items[i]->fn;
        for (uint32_t k = 0; fn && k < fn->capture_count; k++)
            for (size_t j = 0; j < x->count && fn->captures[k].from == 0; j++)
                if (fn->captures[k].local == x->locals[j] &&
                    !ptc_compile_emit(
                        fs, x,
                        ptc_compile_ins(PTC_OP_FIXCAP, 0, x->locals[i]->reg, k, x->locals[j]->reg)))
                    return false;
    }
    return true;
}

static bool letfn_code(FnState *fs, PtcExpr *x, Goal goal)
{
    uint32_t next = fs->next, top = fs->locals_top;
    bool ok = true;
    for (size_t i = 0; ok && i < x->count; i++) {
        int64_t r = ptc_compile_temp(fs);
        if (r < 0)
            return ptc_compile_too_large(fs, x);
        x->locals[i]->reg = (uint16_t)r;
        fs->locals_top = (uint32_t)r + 1;
        ok = ptc_compile_load(fs, x, (uint32_t)r, PTC_NIL);
    }
    for (size_t i = 0; ok && i < x->count; i++)
        ok = ptc_compile_to(fs, x->items[i], x->locals[i]->reg);
    ok = ok && complete_letfn(fs, x) && reach(fs, x->a, goal, x);
    fs->next = next;
    fs->locals_top = top;
    return ok;
}

/* Does x read the local?  Says yes when it is too large to tell quickly. */
static bool mentions_local(const PtcExpr *x, const PtcLocal *local, int *budget)
{
    if (!x)
        return false;
    if (--*budget < 0)
        return true;
    if (x->kind == PTC_X_LOCAL)
        return x->local == local;
    if (x->kind == PTC_X_FN) {
        for (size_t i = 0; i < x->fn->capture_count; i++)
            if (x->fn->captures[i].local == local)
                return true;
        return false;
    }
    if (mentions_local(x->a, local, budget) || mentions_local(x->b, local, budget) ||
        mentions_local(x->c, local, budget))
        return true;
    for (size_t i = 0; x->items && i < x->count; i++)
        if (mentions_local(x->items[i], local, budget))
            return true;
    return false;
}

/* Writes its register only once, at the very end. */
static bool writes_last(const PtcExpr *x)
{
    return x->kind == PTC_X_CONST || x->kind == PTC_X_LOCAL || x->kind == PTC_X_CALLB ||
           x->kind == PTC_X_CALL || x->kind == PTC_X_GLOBAL || x->kind == PTC_X_CAPTURE;
}

/* New values go straight into their loop variables where no later value reads the old one. */
static bool recur_code(FnState *fs, PtcExpr *x)
{
    PtcLocal **locals = x->target ? x->target->locals : fs->arity->params;
    uint32_t next = fs->next, start = x->target ? x->target->start : 0;
    int64_t *temps = ptc_arena_alloc(fs->job->arena, (x->count + 1) * sizeof *temps);
    if (!temps)
        return false;
    for (size_t i = 0; i < x->count; i++) {
        bool read_later = !writes_last(x->items[i]);
        for (size_t k = i + 1; k < x->count && !read_later; k++) {
            int budget = 64;
            read_later = mentions_local(x->items[k], locals[i], &budget);
        }
        temps[i] = read_later ? ptc_compile_temp(fs) : -1;
        if (read_later && temps[i] < 0)
            return ptc_compile_too_large(fs, x);
        if (!ptc_compile_to(fs, x->items[i], read_later ? (uint32_t)temps[i] : locals[i]->reg))
            return false;
    }
    for (size_t i = 0; i < x->count; i++)
        if (temps[i] >= 0 &&
            !ptc_compile_emit(
                fs, x, ptc_compile_ins(PTC_OP_MOVE, 0, locals[i]->reg, (uint32_t)temps[i], 0)))
            return false;
    fs->next = next;
    return compile_back(fs, x, PTC_OP_LOOP, start);
}

static bool do_code(FnState *fs, PtcExpr *x, Goal goal)
{
    for (size_t i = 0; i + 1 < x->count; i++) {
        if (x->items[i]->kind == PTC_X_CONST)
            continue;
        uint32_t next = fs->next;
        int64_t r = ptc_compile_temp(fs);
        if (r < 0)
            return ptc_compile_too_large(fs, x);
        if (!ptc_compile_to(fs, x->items[i], (uint32_t)r))
            return false;
        fs->next = next;
    }
    return reach(fs, x->count ? x->items[x->count - 1] : NULL, goal, x);
}

/* -------------------------------------------------------------------------- iteration */

static bool each_code(FnState *fs, PtcExpr *x, uint32_t dest)
{
    uint32_t next = fs->next, top = fs->locals_top;
    int64_t it = ptc_compile_temp(fs), pos = ptc_compile_temp(fs), item = ptc_compile_temp(fs);
    if (it < 0 || pos < 0 || item < 0)
        return ptc_compile_too_large(fs, x);
    fs->locals_top = fs->next; /* the iterator must not be overwritten */
    x->locals[0]->reg = (uint16_t)item;
    Jumps *end = ptc_arena_zalloc(fs->job->arena, sizeof *end);
    if (!end || !ptc_compile_to(fs, x->a, (uint32_t)item) ||
        !ptc_compile_emit(fs, x,
                          ptc_compile_ins(PTC_OP_ITER, x->once, (uint32_t)it, (uint32_t)item,
                                          x->local ? x->local->reg + 1u : 0)))
        return false;
    uint32_t start = (uint32_t)fs->count;
    x->items = (PtcExpr **)(void *)end; /* for BREAK */
    int64_t body = ptc_compile_temp(fs);
    bool ok = body >= 0 &&
              compile_jump(fs, x, end,
                           ptc_compile_ins(PTC_OP_NEXT, 0, (uint32_t)it, (uint32_t)item, 0)) &&
              ptc_compile_to(fs, x->b, (uint32_t)body) && compile_back(fs, x, PTC_OP_JMP, start) &&
              compile_land(fs, end);
    if (ok) {
        uint32_t ticks = ptc_code_ticks((uint32_t)fs->count - start);
        fs->code[start].x = (uint8_t)(ticks < UINT8_MAX ? ticks : UINT8_MAX);
    }
    fs->next = next;
    fs->locals_top = top;
    return ok && ptc_compile_load(fs, x, dest, PTC_NIL);
}

static bool build_code(FnState *fs, PtcExpr *x, uint32_t dest)
{
    uint32_t next = fs->next, top = fs->locals_top;
    int64_t b = ptc_compile_temp(fs);
    int64_t body = ptc_compile_temp(fs);
    if (b < 0 || body < 0)
        return ptc_compile_too_large(fs, x);
    x->locals[0]->reg = (uint16_t)b;
    fs->locals_top = (uint32_t)b + 1;
    bool ok = ptc_compile_emit(fs, x, ptc_compile_ins(PTC_OP_BUILD, 0, (uint32_t)b, 0, 0)) &&
              ptc_compile_to(fs, x->a, (uint32_t)body) &&
              ptc_compile_emit(fs, x, ptc_compile_ins(PTC_OP_DONE, 0, dest, (uint32_t)b, 0));
    fs->next = next;
    fs->locals_top = top;
    return ok;
}

static bool push_code(FnState *fs, PtcExpr *x, uint32_t dest)
{
    uint32_t next = fs->next;
    int64_t v = ptc_compile_operand(fs, x->a);
    fs->next = next;
    (void)dest; /* nobody reads the value of a push */
    return v >= 0 &&
           ptc_compile_emit(fs, x,
                            ptc_compile_ins(PTC_OP_PUSH, 0, x->locals[0]->reg, (uint32_t)v, next));
}

static bool break_code(FnState *fs, PtcExpr *x)
{
    return compile_jump(fs, x, (Jumps *)(void *)x->target->items,
                        ptc_compile_ins(PTC_OP_JMP, 0, 0, 0, 0));
}

/* -------------------------------------------------------------------------------- def */

static bool def_code(FnState *fs, PtcExpr *x, uint32_t dest)
{
    int64_t var = ptc_compile_constant(fs, x->value);
    Jumps eval = {0}, end = {0};
    if (var < 0)
        return false;
    if (x->once && (!ptc_compile_emit(
                        fs, x, ptc_compile_ins(PTC_OP_BOUND, 0, dest, x->index, (uint32_t)var)) ||
                    !compile_jump(fs, x, &eval, ptc_compile_ins(PTC_OP_JMP, 0, 0, 0, 0)) ||
                    !compile_jump(fs, x, &end, ptc_compile_ins(PTC_OP_JMP, 0, 0, 0, 0)) ||
                    !compile_land(fs, &eval)))
        return false;
    return ptc_compile_to(fs, x->a, dest) &&
           ptc_compile_emit(fs, x, ptc_compile_ins(PTC_OP_DEF, 0, dest, x->index, (uint32_t)var)) &&
           compile_land(fs, &end);
}

static bool stop_code(FnState *fs, PtcExpr *x)
{
    uint32_t next = fs->next;
    int64_t r = ptc_compile_operand(fs, x->a);
    fs->next = next;
    return r >= 0 &&
           ptc_compile_emit(fs, x, ptc_compile_ins(PTC_OP_STOP, x->index, (uint32_t)r, 0, 0));
}

static bool data_code(FnState *fs, PtcExpr *x, uint32_t dest)
{
    int64_t k = ptc_compile_constant(fs, x->value);
    return k >= 0 && ptc_compile_emit(fs, x, ptc_compile_ins(PTC_OP_DATA, 0, dest, (uint32_t)k, 0));
}

/* ------------------------------------------------------------------------ expressions */

bool ptc_compile_to(FnState *fs, PtcExpr *x, uint32_t dest)
{
    Goal goal = {false, dest};
    switch (x->kind) {
    case PTC_X_CONST: return ptc_compile_load(fs, x, dest, x->value);
    case PTC_X_BUILTIN: return ptc_compile_load(fs, x, dest, ptc_builtin(x->index));
    case PTC_X_LOCAL:
        return x->local->reg == dest ||
               ptc_compile_emit(fs, x, ptc_compile_ins(PTC_OP_MOVE, 0, dest, x->local->reg, 0));
    case PTC_X_CAPTURE:
        return ptc_compile_emit(fs, x, ptc_compile_ins(PTC_OP_GETCAP, 0, dest, x->index, 0));
    case PTC_X_SELF: return ptc_compile_emit(fs, x, ptc_compile_ins(PTC_OP_SELF, 0, dest, 0, 0));
    case PTC_X_GLOBAL:
        return ptc_compile_emit(fs, x, ptc_compile_ins(PTC_OP_GETG, 0, dest, x->index, 0));
    case PTC_X_DATA: return data_code(fs, x, dest);
    case PTC_X_IF: return if_code(fs, x, goal);
    case PTC_X_COND: return cond_code(fs, x, goal);
    case PTC_X_CASE: return case_code(fs, x, goal);
    case PTC_X_DO: return do_code(fs, x, goal);
    case PTC_X_LET:
    case PTC_X_LOOP: return let_code(fs, x, goal);
    case PTC_X_RECUR: return recur_code(fs, x);
    case PTC_X_FN: return ptc_compile_function(fs, x, dest);
    case PTC_X_CALL: return ptc_compile_call(fs, x, dest);
    case PTC_X_CALLB: return ptc_compile_callb(fs, x, dest);
    case PTC_X_DEF: return def_code(fs, x, dest);
    case PTC_X_AND:
    case PTC_X_OR: return chain_code(fs, x, dest);
    case PTC_X_VECTOR:
    case PTC_X_MAP:
    case PTC_X_SET: return ptc_compile_collection(fs, x, dest);
    case PTC_X_EACH: return each_code(fs, x, dest);
    case PTC_X_BREAK: return break_code(fs, x);
    case PTC_X_BUILD: return build_code(fs, x, dest);
    case PTC_X_PUSH: return push_code(fs, x, dest);
    case PTC_X_STOP: return stop_code(fs, x);
    case PTC_X_LETFN: return letfn_code(fs, x, goal);
    }
    return false;
}

bool ptc_compile_return(FnState *fs, PtcExpr *x)
{
    Goal goal = {true, 0};
    switch (x->kind) {
    case PTC_X_IF: return if_code(fs, x, goal);
    case PTC_X_COND: return cond_code(fs, x, goal);
    case PTC_X_CASE: return case_code(fs, x, goal);
    case PTC_X_DO: return do_code(fs, x, goal);
    case PTC_X_LET:
    case PTC_X_LOOP: return let_code(fs, x, goal);
    case PTC_X_LETFN: return letfn_code(fs, x, goal);
    case PTC_X_RECUR: return recur_code(fs, x);
    default: break;
    }
    uint32_t next = fs->next;
    int64_t r = ptc_compile_operand(fs, x);
    fs->next = next;
    return r >= 0 && ptc_compile_emit(fs, x, ptc_compile_ins(PTC_OP_RET, 0, (uint32_t)r, 0, 0));
}

int64_t ptc_compile_operand(FnState *fs, PtcExpr *x)
{
    if (x->kind == PTC_X_LOCAL)
        return x->local->reg;
    int64_t r = ptc_compile_temp(fs);
    if (r < 0) {
        ptc_compile_too_large(fs, x);
        return -1;
    }
    return ptc_compile_to(fs, x, (uint32_t)r) ? r : -1;
}
