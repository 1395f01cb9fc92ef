/* SPDX-License-Identifier: MIT
 * Functions to text and back.  What always holds: a text is compiled by the same analyzer and compiler as a program,
 * apart from any run, and what comes out captures exactly the values that the text was stored with. */
#include "lisp/compile/function.h"

#include "lisp/compile/compile.h"
#include "lisp/vm/vm_int.h"

/* Functions inside of functions: the reader allows no more. */
enum { FUNCTION_NESTING = PTC_FORM_DEPTH };

static const PtcProto *as_proto(PtcValue v)
{
    return (const PtcProto *)(uintptr_t)v;
}

static const PtcNode *as_function_node(PtcValue v)
{
    return (const PtcNode *)(uintptr_t)v;
}

/* The proto behind a constant: of a function inside, whether or not it captures; else PTC_NONE. */
static PtcValue inner_proto(PtcValue constant)
{
    if (ptc_is(constant, PTC_T_CLOSURE))
        return ((const PtcClosure *)(uintptr_t)constant)->proto;
    return ptc_is(constant, PTC_T_PROTO) ? constant : PTC_NONE;
}

PtcValue ptc_function_main(PtcValue proto)
{
    PtcValue arities = as_proto(proto)->arities;
    return arities == PTC_NIL ? proto : as_function_node(arities)->slots[0];
}

/* ------------------------------------------------------------------------------ text */

bool ptc_function_text(PtcValue v, PtcFnText *out)
{
    const PtcProto *p = as_proto(v);
    size_t len = p->source == PTC_NIL ? 0 : ptc_str_len(p->source);
    if (p->form == PTC_FORM_NONE || p->last > len || p->first >= p->last)
        return false;
    bool captures = p->captures != PTC_NIL;
    *out = (PtcFnText){.form = (PtcFnForm)p->form,
                       .text = ptc_str_bytes(p->source) + p->first,
                       .len = p->last - p->first,
                       .captures = captures ? ptc_str_bytes(p->captures) : "",
                       .captures_len = captures ? ptc_str_len(p->captures) : 0};
    return !captures || out->captures_len > 0;
}

/* --------------------------------------------------------------------------- compiling */

/* A function is read back apart from any run: which tools there are is seen when it is called. */
static int any_tool(const PtcHost *host, const char *name, size_t len)
{
    (void)host;
    (void)name;
    (void)len;
    return 0;
}

static const char *no_name(const PtcHost *host, size_t tool, size_t *len)
{
    (void)host;
    (void)tool;
    (void)len;
    return NULL;
}

static const PtcHost any_host = {.find = any_tool, .name = no_name, .any = true};

PtcValue ptc_function_compile(PtcFnMaker *m, const PtcFnText *t)
{
    PtcForm **forms;
    size_t count;
    ptc_arena_reset(m->arena);
    ptc_diags_init(&m->diags, m->arena);
    PtcReader reader = {t->text, t->len, m->arena, m->heap, &m->diags};
    if (!ptc_read(&reader, &forms, &count) || count != 1 || forms[0]->first != 0 ||
        forms[0]->last != t->len)
        return PTC_NONE;
    PtcLoneFn lone = {forms[0],   t->form, t->captures,     t->captures_len,
                      t->aliases, m->seen, m->names->count, t->prelude};
    PtcAnalysis job = {m->arena,  m->heap, &m->diags, m->names, t->text, t->len,
                       &any_host, NULL,    PTC_NIL,   NULL,     false,   NULL};
    PtcFn *fn = ptc_analyze_lone(&job, &lone);
    PtcCompiler compiler = {m->arena, m->heap, &m->diags, PTC_NIL, t->row};
    if (fn && !t->prelude)
        compiler.source = ptc_str_new(m->heap, t->text, t->len);
    return fn && compiler.source != PTC_NONE ? ptc_compile(&compiler, fn) : PTC_NONE;
}

/* ---------------------------------------------------------------------------- looking in */

static bool names_global(uint8_t op)
{
    return op == PTC_OP_GETG || op == PTC_OP_DEF || op == PTC_OP_BOUND || op == PTC_OP_CALLG;
}

static void mark_globals(PtcValue v, uint8_t *seen, size_t count, int depth);

static void mark_one(const PtcProto *p, uint8_t *seen, size_t count, int depth)
{
    const PtcIns *code = ptc_proto_code(p);
    for (uint32_t i = 0; i < p->code_count; i++) {
        uint16_t global = code[i].op == PTC_OP_CALLG ? code[i].c : code[i].b;
        if (names_global(code[i].op) && global < count)
            seen[global] |= PTC_MAY_NAME;
    }
    const PtcNode *constants = as_function_node(p->constants);
    for (uint32_t i = 0; i < constants->obj.count; i++)
        mark_globals(inner_proto(constants->slots[i]), seen, count, depth + 1);
}

static void mark_globals(PtcValue v, uint8_t *seen, size_t count, int depth)
{
    if (v == PTC_NONE || depth > FUNCTION_NESTING)
        return;
    PtcValue arities = as_proto(v)->arities;
    if (arities == PTC_NIL) {
        mark_one(as_proto(v), seen, count, depth);
        return;
    }
    for (uint32_t i = 0; i < as_function_node(arities)->obj.count; i++)
        mark_one(as_proto(as_function_node(arities)->slots[i]), seen, count, depth);
}

void ptc_function_globals(PtcValue proto, uint8_t *seen, size_t count)
{
    mark_globals(proto, seen, count, 0);
}

/* --------------------------------------------------------------------------- comparing */

/* As text, so that NaN, regular expressions and vars compare as well. */
static bool same_text(const PtcPrinter *printer, PtcValue a, PtcValue b)
{
    PtcBuf x, y;
    ptc_buf_init(&x, printer->heap->pool->mem, PTC_UNBOUNDED);
    ptc_buf_init(&y, printer->heap->pool->mem, PTC_UNBOUNDED);
    bool same = ptc_tag(a) == ptc_tag(b) && ptc_print(printer, &x, a) &&
                ptc_print(printer, &y, b) && x.len == y.len &&
                (x.len == 0 || memcmp(x.data, y.data, x.len) == 0);
    if (x.failed || y.failed)
        ptc_budget_halt(printer->heap->budget, PTC_STOP_MEMORY);
    ptc_buf_deinit(&x);
    ptc_buf_deinit(&y);
    return same;
}

static bool same_function(const PtcPrinter *printer, PtcValue a, PtcValue b, int depth);

static bool same_constants(const PtcPrinter *printer, const PtcNode *a, const PtcNode *b, int depth)
{
    if (a->obj.count != b->obj.count)
        return false;
    for (uint32_t i = 0; i < a->obj.count; i++) {
        PtcValue x = a->slots[i], y = b->slots[i];
        PtcValue f = inner_proto(x), g = inner_proto(y);
        bool same = x == y || (f != PTC_NONE && g != PTC_NONE && ptc_tag(x) == ptc_tag(y)
                                   ? same_function(printer, f, g, depth + 1)
                                   : f == g && same_text(printer, x, y));
        if (!same || !ptc_tick(printer->heap->budget, 1))
            return false;
    }
    return true;
}

static bool same_arity(const PtcPrinter *printer, const PtcProto *a, const PtcProto *b, int depth)
{
    return a->obj.count == b->obj.count && a->params == b->params && a->variadic == b->variadic &&
           a->registers == b->registers && a->code_count == b->code_count &&
           memcmp(ptc_proto_code(a), ptc_proto_code(b), a->code_count * sizeof(PtcIns)) == 0 &&
           same_constants(printer, as_function_node(a->constants), as_function_node(b->constants),
                          depth);
}

static bool same_function(const PtcPrinter *printer, PtcValue a, PtcValue b, int depth)
{
    PtcValue x = as_proto(a)->arities, y = as_proto(b)->arities;
    if (depth > FUNCTION_NESTING || (x == PTC_NIL) != (y == PTC_NIL))
        return false;
    if (x == PTC_NIL)
        return same_arity(printer, as_proto(a), as_proto(b), depth);
    bool same = as_function_node(x)->obj.count == as_function_node(y)->obj.count;
    for (uint32_t i = 0; same && i < as_function_node(x)->obj.count; i++)
        same = same_arity(printer, as_proto(as_function_node(x)->slots[i]),
                          as_proto(as_function_node(y)->slots[i]), depth);
    return same;
}

bool ptc_function_same(const PtcPrinter *printer, PtcValue a, PtcValue b)
{
    return same_function(printer, a, b, 0) && printer->heap->budget->stop == PTC_STOP_NONE;
}
