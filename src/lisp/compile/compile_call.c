/* SPDX-License-Identifier: MIT
 * Code for calls and for literals, whose elements are passed like arguments. */
#include "lisp/compile/compile_int.h"
#include "lisp/vm/builtin.h"
#include "lisp/vm/record.h"

/* ------------------------------------------------------------------------- arguments */

/* Values into consecutive registers from `base` on, which is the first free one. */
static bool window(FnState *fs, PtcExpr *const *items, size_t n, const PtcExpr *at)
{
    for (size_t i = 0; i < n; i++) {
        int64_t r = ptc_compile_temp(fs);
        if (r < 0)
            return ptc_compile_too_large(fs, at);
        if (!ptc_compile_to(fs, items[i], (uint32_t)r))
            return false;
    }
    return true;
}

/* Values into a vector or seq, one by one: for lists too long for registers. */
static bool compile_build(FnState *fs, PtcExpr *const *items, size_t n, const PtcExpr *at,
                          uint32_t dest, bool vector)
{
    uint32_t next = fs->next, top = fs->locals_top;
    int64_t b = ptc_compile_temp(fs), v = ptc_compile_temp(fs);
    if (b < 0 || v < 0)
        return ptc_compile_too_large(fs, at);
    bool ok = ptc_compile_emit(fs, at, ptc_compile_ins(PTC_OP_BUILD, 0, (uint32_t)b, 0, 0));
    fs->locals_top = (uint32_t)b + 1;
    for (size_t i = 0; ok && i < n; i++)
        ok = ptc_compile_to(fs, items[i], (uint32_t)v) &&
             ptc_compile_emit(fs, at, ptc_compile_ins(PTC_OP_PUSH, 0, (uint32_t)b, (uint32_t)v, 0));
    fs->next = next;
    fs->locals_top = top;
    return ok &&
           ptc_compile_emit(fs, at, ptc_compile_ins(PTC_OP_DONE, vector, dest, (uint32_t)b, 0));
}

/* (f a b c ...) with very many arguments: (apply f [a b c ...]). */
static bool apply_code(FnState *fs, PtcExpr *f, PtcExpr *x, uint32_t dest)
{
    uint32_t next = fs->next;
    int64_t fr = ptc_compile_temp(fs), ar = ptc_compile_temp(fs);
    int apply = ptc_builtin_find("apply", 5);
    bool ok = fr >= 0 && ar >= 0 && apply >= 0 && ptc_compile_to(fs, f, (uint32_t)fr) &&
              compile_build(fs, x->items, x->count, x, (uint32_t)ar, true) &&
              ptc_compile_emit(
                  fs, x, ptc_compile_ins(PTC_OP_CALLB, 2, dest, (uint32_t)fr, (uint32_t)apply));
    fs->next = next;
    return ok;
}

/* ------------------------------------------------------------------------------ calls */

static bool key_get(FnState *fs, PtcExpr *x, PtcExpr *map, PtcValue key, uint32_t dest)
{
    uint32_t next = fs->next;
    int64_t m = ptc_compile_operand(fs, map), k = ptc_compile_constant(fs, key);
    fs->next = next;
    return m >= 0 && k >= 0 &&
           ptc_compile_emit(fs, x,
                            ptc_compile_ins(PTC_OP_KEYGET, 0, dest, (uint32_t)m, (uint32_t)k));
}

static bool is_keyword_const(const PtcExpr *x)
{
    return x->kind == PTC_X_CONST && ptc_is_keyword(x->value);
}

bool ptc_compile_call(FnState *fs, PtcExpr *x, uint32_t dest)
{
    if (is_keyword_const(x->a) && x->count == 1)
        return key_get(fs, x, x->items[0], x->a->value, dest);
    if (x->count > MAX_CALL_ARGS)
        return apply_code(fs, x->a, x, dest);
    uint32_t next = fs->next;
    int64_t base = ptc_compile_fresh(fs, dest) ? dest : ptc_compile_temp(fs);
    if (base < 0)
        return ptc_compile_too_large(fs, x);
    bool global = x->a->kind == PTC_X_GLOBAL;
    if ((!global && !ptc_compile_to(fs, x->a, (uint32_t)base)) ||
        !window(fs, x->items, x->count, x))
        return false;
    fs->next = next;
    PtcIns ins = ptc_compile_ins(global ? PTC_OP_CALLG : PTC_OP_CALL, 0, (uint32_t)base, x->count,
                                 global ? x->a->index : 0);
    return ptc_compile_emit(fs, x, ins) &&
           (base == dest ||
            ptc_compile_emit(fs, x, ptc_compile_ins(PTC_OP_MOVE, 0, dest, (uint32_t)base, 0)));
}

static bool small_const(const PtcExpr *x, int64_t *n)
{
    if (x->kind != PTC_X_CONST || !ptc_is_int(x->value))
        return false;
    *n = ptc_to_int(x->value);
    return *n > INT16_MIN && *n < INT16_MAX;
}

/* An instruction that has its second argument in itself. */
static bool const_code(FnState *fs, PtcExpr *x, PtcOp op, int64_t n, uint32_t how, uint32_t dest)
{
    uint32_t next = fs->next;
    int64_t r = ptc_compile_operand(fs, x->items[0]);
    fs->next = next;
    return r >= 0 && ptc_compile_emit(
                         fs, x, ptc_compile_ins(op, how, dest, (uint32_t)r, (uint16_t)(int16_t)n));
}

/* (+ a b c) as ((a + b) + c), and comparisons of two. */
static bool binary_code(FnState *fs, PtcExpr *x, PtcOp op, uint32_t dest)
{
    uint32_t next = fs->next;
    int64_t left = ptc_compile_operand(fs, x->items[0]);
    bool ok = left >= 0;
    for (size_t i = 1; ok && i < x->count; i++) {
        int64_t right = ptc_compile_operand(fs, x->items[i]);
        bool last = i + 1 == x->count;
        if (right < 0)
            return false;
        int64_t to = dest;
        if (!last) {
            fs->next = next;
            to = ptc_compile_temp(fs);
        }
        ok = to >= 0 && ptc_compile_emit(fs, x,
                                         ptc_compile_ins(op, (uint32_t)i - 1, (uint32_t)to,
                                                         (uint32_t)left, (uint32_t)right));
        left = to;
    }
    fs->next = next;
    return ok;
}

static bool unary_code(FnState *fs, PtcExpr *x, PtcOp op, uint32_t dest)
{
    uint32_t next = fs->next;
    int64_t r = ptc_compile_operand(fs, x->items[0]);
    fs->next = next;
    return r >= 0 && ptc_compile_emit(fs, x, ptc_compile_ins(op, 0, dest, (uint32_t)r, 0));
}

/* Builtins with instructions of their own: *done tells whether there was one for this call. */
static bool fused_code(FnState *fs, PtcExpr *x, uint32_t dest, bool *done)
{
    static const uint8_t ops[] = {
        [PTC_FUSE_ADD] = PTC_OP_ADD, [PTC_FUSE_SUB] = PTC_OP_SUB, [PTC_FUSE_MUL] = PTC_OP_MUL,
        [PTC_FUSE_LT] = PTC_OP_LT,   [PTC_FUSE_LE] = PTC_OP_LE,   [PTC_FUSE_GT] = PTC_OP_GT,
        [PTC_FUSE_GE] = PTC_OP_GE,   [PTC_FUSE_EQ] = PTC_OP_EQ,   [PTC_FUSE_NE] = PTC_OP_NE,
        [PTC_FUSE_MOD] = PTC_OP_MOD, [PTC_FUSE_REM] = PTC_OP_REM, [PTC_FUSE_QUOT] = PTC_OP_QUOT,
    };
    PtcFuse fuse = ptc_builtin_fuse(x->index);
    int64_t n;
    *done = true;
    switch (fuse) {
    case PTC_FUSE_ADD:
    case PTC_FUSE_SUB:
        /* Not for 0: (- -0.0 0) keeps its sign, and (+ -0.0 0) does not. */
        if (x->count == 2 && small_const(x->items[1], &n) && n != 0)
            return const_code(fs, x, PTC_OP_ADDI, fuse == PTC_FUSE_ADD ? n : -n,
                              fuse == PTC_FUSE_ADD ? 0 : 1, dest);
        /* fall through */
    case PTC_FUSE_MUL:
        if (fuse == PTC_FUSE_MUL && x->count == 2 && small_const(x->items[1], &n))
            return const_code(fs, x, PTC_OP_MULI, n, 0, dest);
        if (x->count >= 2 && x->count < MAX_CALL_ARGS)
            return binary_code(fs, x, (PtcOp)ops[fuse], dest);
        break;
    case PTC_FUSE_MOD:
        if (x->count == 2 && small_const(x->items[1], &n))
            return const_code(fs, x, PTC_OP_MODI, n, 0, dest);
        /* fall through */
    case PTC_FUSE_REM:
    case PTC_FUSE_QUOT:
    case PTC_FUSE_LT:
    case PTC_FUSE_LE:
    case PTC_FUSE_GT:
    case PTC_FUSE_GE:
    case PTC_FUSE_EQ:
    case PTC_FUSE_NE:
        if (x->count == 2)
            return binary_code(fs, x, (PtcOp)ops[fuse], dest);
        break;
    case PTC_FUSE_NOT: return unary_code(fs, x, PTC_OP_NOT, dest);
    case PTC_FUSE_NIL: return unary_code(fs, x, PTC_OP_ISNIL, dest);
    case PTC_FUSE_INC: return const_code(fs, x, PTC_OP_ADDI, 1, 2, dest);
    case PTC_FUSE_DEC: return const_code(fs, x, PTC_OP_ADDI, -1, 3, dest);
    case PTC_FUSE_GET:
        if (x->count == 2 && is_keyword_const(x->items[1]))
            return key_get(fs, x, x->items[0], x->items[1]->value, dest);
        break;
    case PTC_FUSE_NONE: break;
    }
    *done = false;
    return true;
}

/* Tools of the host get maps with strings as keys, and what is written as one map of names can be made so at once: that
 * saves a map in every call.  What else keys become is decided when the tool is called. */
static bool is_plain_map_of_names(const PtcExpr *x)
{
    bool plain = x->kind == PTC_X_MAP && x->count <= 2 * PTC_SMALL_MAX;
    for (size_t i = 0; plain && i < x->count; i += 2)
        plain = is_keyword_const(x->items[i]) &&
                !memchr(ptc_str_bytes(x->items[i]->value), '-', ptc_str_len(x->items[i]->value));
    return plain;
}

static bool name_keys(FnState *fs, PtcExpr *map)
{
    for (size_t i = 0; i < map->count; i += 2) {
        PtcExpr *key = map->items[i];
        PtcValue v = ptc_str_new(fs->job->heap, ptc_str_bytes(key->value), ptc_str_len(key->value));
        PtcExpr *string = v == PTC_NONE ? NULL : ptc_arena_zalloc(fs->job->arena, sizeof *string);
        if (!string)
            return false;
        *string = *key;
        string->value = v;
        map->items[i] = string;
    }
    return true;
}

/* (tool/name {:a b}), but not (ns/name {:a b}). */
static bool is_host_call(const PtcExpr *x)
{
    if (x->count != 2 || x->items[0]->kind != PTC_X_CONST || !is_plain_map_of_names(x->items[1]))
        return false;
    PtcValue f = x->items[0]->value, name;
    return ptc_is_record(f, PTC_R_FN) && ptc_record_field(f, 0) == ptc_builtin(x->index) &&
           ptc_is_string(name = ptc_record_field(f, 1)) &&
           !memchr(ptc_str_bytes(name), '/', ptc_str_len(name));
}

bool ptc_compile_callb(FnState *fs, PtcExpr *x, uint32_t dest)
{
    bool done;
    if (is_host_call(x) && !name_keys(fs, x->items[1]))
        return false;
    if (!fused_code(fs, x, dest, &done))
        return false;
    if (done)
        return true;
    if (x->count > MAX_CALL_ARGS) {
        PtcExpr f = {.kind = PTC_X_BUILTIN, .first = x->first, .last = x->last, .index = x->index};
        return apply_code(fs, &f, x, dest);
    }
    uint32_t next = fs->next;
    if (x->count == 1 && x->items[0]->kind == PTC_X_LOCAL) /* one argument: where it is */
        return ptc_compile_emit(
            fs, x, ptc_compile_ins(PTC_OP_CALLB, 1, dest, x->items[0]->local->reg, x->index));
    uint32_t base = fs->next;
    if (!window(fs, x->items, x->count, x))
        return false;
    fs->next = next;
    return ptc_compile_emit(fs, x, ptc_compile_ins(PTC_OP_CALLB, x->count, dest, base, x->index));
}

/* --------------------------------------------------------------------------- literals */

static PtcValue shape_of_keys(FnState *fs, const PtcExpr *x)
{
    PtcValue keys[PTC_SMALL_MAX];
    uint32_t hashes[PTC_SMALL_MAX];
    size_t n = x->count / 2;
    for (size_t i = 0; i < n; i++) {
        if (x->items[2 * i]->kind != PTC_X_CONST)
            return PTC_NIL;
        keys[i] = x->items[2 * i]->value;
        hashes[i] = ptc_hash(fs->job->heap, keys[i]);
    }
    return ptc_shape_new(fs->job->heap, keys, hashes, n);
}

static bool map_code(FnState *fs, PtcExpr *x, uint32_t dest)
{
    PtcValue shape = x->count <= 2 * PTC_SMALL_MAX ? shape_of_keys(fs, x) : PTC_NIL;
    if (shape == PTC_NIL) {
        PtcExpr call = *x;
        call.kind = PTC_X_CALLB;
        call.index = (uint32_t)ptc_builtin_find("hash-map", 8);
        return ptc_compile_callb(fs, &call, dest);
    }
    int64_t k = ptc_compile_constant(fs, shape);
    uint32_t next = fs->next, base = fs->next;
    PtcExpr *values[PTC_SMALL_MAX];
    for (size_t i = 0; i < x->count / 2; i++)
        values[i] = x->items[2 * i + 1];
    if (k < 0 || !window(fs, values, x->count / 2, x))
        return false;
    fs->next = next;
    return ptc_compile_emit(fs, x, ptc_compile_ins(PTC_OP_MAP, 0, dest, base, (uint32_t)k));
}

bool ptc_compile_collection(FnState *fs, PtcExpr *x, uint32_t dest)
{
    if (x->kind == PTC_X_MAP)
        return map_code(fs, x, dest);
    if (x->kind == PTC_X_SET) {
        PtcExpr call = *x;
        call.kind = PTC_X_CALLB;
        call.index = (uint32_t)ptc_builtin_find("hash-set", 8);
        return ptc_compile_callb(fs, &call, dest);
    }
    if (x->count > MAX_CALL_ARGS)
        return compile_build(fs, x->items, x->count, x, dest, true);
    uint32_t next = fs->next, base = fs->next;
    if (!window(fs, x->items, x->count, x))
        return false;
    fs->next = next;
    return ptc_compile_emit(fs, x, ptc_compile_ins(PTC_OP_VEC, 0, dest, base, x->count));
}
