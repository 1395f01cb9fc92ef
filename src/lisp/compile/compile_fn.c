/* SPDX-License-Identifier: MIT
 * Where the compiler begins: a function, of which the program is one, becomes a prototype with the code of its body;
 * what makes a closure of it is one instruction.  Every prototype names the text it came from, since a stored function
 * is compiled again. */
#include "lisp/compile/compile_int.h"

/* ------------------------------------------------------------------------- prototypes */

static PtcValue code_object(FnState *fs)
{
    size_t n = fs->count, bytes = n * (sizeof(PtcIns) + sizeof(PtcSpan));
    PtcBytes *o = ptc_heap_object(fs->job->heap, PTC_T_BYTES, sizeof *o + bytes, (uint32_t)bytes);
    if (!o)
        return PTC_NONE;
    memcpy(o->bytes, fs->code, n * sizeof(PtcIns));
    memcpy(o->bytes + n * sizeof(PtcIns), fs->spans, n * sizeof(PtcSpan));
    return ptc_from_obj(o);
}

static PtcValue array_object(PtcHeap *heap, const PtcValue *items, size_t n)
{
    PtcNode *o = ptc_heap_object(heap, PTC_T_NODE, sizeof *o + n * sizeof *items, (uint32_t)n);
    if (!o)
        return PTC_NONE;
    if (n)
        memcpy(o->slots, items, n * sizeof *items);
    return ptc_from_obj(o);
}

/* What a function captures, by name: a stored function is compiled again with these as its locals. */
static PtcValue capture_names(FnState *fs)
{
    const PtcFn *fn = fs->fn;
    size_t len = 0;
    if (fn->capture_count == 0)
        return PTC_NIL;
    for (uint32_t i = 0; i < fn->capture_count; i++)
        len += fn->captures[i].local->len + (i > 0);
    PtcValue names = ptc_str_begin(fs->job->heap, PTC_T_STRING, len);
    if (names == PTC_NONE)
        return PTC_NONE;
    char *to = ptc_str_room(names);
    for (uint32_t i = 0; i < fn->capture_count; i++) {
        const PtcLocal *local = fn->captures[i].local;
        if (i > 0)
            *to++ = ' ';
        memcpy(to, local->name, local->len);
        to += local->len;
    }
    ptc_str_seal(names);
    return names;
}

static PtcValue proto_object(FnState *fs)
{
    PtcFn *fn = fs->fn;
    PtcHeap *heap = fs->job->heap;
    PtcValue name = fn->name ? ptc_symbol_new(heap, fn->name, fn->name_len) : PTC_NIL;
    PtcValue constants = array_object(heap, fs->constants, fs->constant_count);
    PtcValue code = code_object(fs), captures = capture_names(fs);
    PtcProto *o = name && constants && code && captures
                      ? ptc_heap_object(heap, PTC_T_PROTO, sizeof *o, fn->capture_count)
                      : NULL;
    if (!o)
        return PTC_NONE;
    o->name = name;
    o->source = fs->job->source;
    o->constants = constants;
    o->code = code;
    o->arities = PTC_NIL;
    o->doc = fn->doc;
    o->captures = captures;
    o->code_count = (uint32_t)fs->count;
    o->first = fn->first;
    o->last = fn->last;
    o->params = (uint16_t)(fs->arity->count - (fs->arity->variadic ? 1 : 0));
    o->variadic = fs->arity->variadic;
    o->form = fn->form;
    o->registers = (uint16_t)(fs->most + 1);
    o->ticks = (uint16_t)ptc_code_ticks(o->code_count);
    o->row = fs->job->row;
    memset(o->spare, 0, sizeof o->spare);
    return ptc_from_obj(o);
}

/* -------------------------------------------------------------------------- functions */

static PtcValue compile_arity(PtcCompiler *job, PtcFn *fn, PtcArity *arity)
{
    FnState fs = {.job = job, .fn = fn, .arity = arity};
    PtcExpr at = {.first = arity->first, .last = arity->last};
    if (!ptc_tick(job->heap->budget, 16))
        return PTC_NONE;
    for (uint32_t i = 0; i < arity->count; i++) {
        int64_t r = ptc_compile_temp(&fs);
        if (r < 0)
            return ptc_compile_too_large(&fs, &at) ? PTC_NIL : PTC_NONE;
        arity->params[i]->reg = (uint16_t)r;
    }
    fs.locals_top = fs.next;
    return ptc_compile_return(&fs, arity->body) ? proto_object(&fs) : PTC_NONE;
}

/* The proto of a function; one of several arities stands for all. */
static PtcValue compile_fn(PtcCompiler *job, PtcFn *fn)
{
    PtcValue *all = ptc_arena_alloc(job->arena, fn->arity_count * sizeof *all);
    if (!all)
        return PTC_NONE;
    for (uint32_t i = 0; i < fn->arity_count; i++)
        if ((all[i] = compile_arity(job, fn, &fn->arities[i])) == PTC_NONE)
            return PTC_NONE;
    if (fn->arity_count == 1)
        return all[0];
    PtcValue list = array_object(job->heap, all, fn->arity_count);
    uint16_t ticks = 0; /* charged before it is known which of them is called */
    for (uint32_t i = 0; i < fn->arity_count; i++) {
        const PtcProto *p = (const PtcProto *)(uintptr_t)all[i];
        ticks = p->ticks > ticks ? p->ticks : ticks;
    }
    for (uint32_t i = 0; list != PTC_NONE && i < fn->arity_count; i++) {
        ((PtcProto *)(uintptr_t)all[i])->arities = list;
        ((PtcProto *)(uintptr_t)all[i])->ticks = ticks;
    }
    return list == PTC_NONE ? list : all[0];
}

/* A function that captures nothing is one constant closure. */
static PtcValue constant_closure(PtcHeap *heap, PtcValue proto)
{
    PtcClosure *o = ptc_heap_object(heap, PTC_T_CLOSURE, sizeof *o, 0);
    if (!o)
        return PTC_NONE;
    o->proto = proto;
    return ptc_from_obj(o);
}

bool ptc_compile_function(FnState *fs, PtcExpr *x, uint32_t dest)
{
    PtcValue proto = compile_fn(fs->job, x->fn);
    if (proto == PTC_NONE)
        return false;
    if (x->fn->capture_count == 0) {
        PtcValue closure = constant_closure(fs->job->heap, proto);
        return closure != PTC_NONE && ptc_compile_load(fs, x, dest, closure);
    }
    int64_t k = ptc_compile_constant(fs, proto);
    if (k < 0 || !ptc_compile_emit(fs, x, ptc_compile_ins(PTC_OP_CLOSURE, 0, dest, (uint32_t)k, 0)))
        return false;
    for (uint32_t i = 0; i < x->fn->capture_count; i++) {
        const PtcCapture *c = &x->fn->captures[i];
        uint32_t from = c->from == 0 ? c->local->reg : c->index;
        if (!ptc_compile_emit(fs, x, ptc_compile_ins(PTC_OP_CAP, c->from, from, 0, 0)))
            return false;
    }
    return true;
}

PtcValue ptc_compile(PtcCompiler *job, PtcFn *program)
{
    return compile_fn(job, program);
}
