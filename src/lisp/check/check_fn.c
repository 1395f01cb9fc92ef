/* SPDX-License-Identifier: MIT
 * Functions: what a call gives, by walking the body with what is known of the arguments.
 *
 * A function is told apart by at most CHECK_VARIANTS sets of arguments, and never walked inside of itself.  Where a
 * call is not walked, the function is `unsure`: it is called with something that nobody has looked at, so nothing that
 * was found inside of it is reported. */
#include "lisp/check/check_int.h"

#include "lisp/compile/function.h"
#include "lisp/vm/vm_int.h"
#include "value/record_kinds.h"

PtcCallee *ptc_check_callee(Checker *c, CalleeKind kind, size_t parts)
{
    PtcCallee *k = ptc_outline_alloc(&c->os, sizeof *k + parts * sizeof *k->parts);
    if (k)
        *k = (PtcCallee){.kind = kind, .count = (uint32_t)parts};
    return k;
}

const PtcOutline *ptc_check_fn_value(Checker *c, const PtcCallee *callee)
{
    PtcOutline o = {.kinds = PTC_IS_FN, .callee = callee};
    return callee ? ptc_outline_make(&c->os, &o) : &ptc_outline_any;
}

static PtcFnNotes *notes_of(Checker *c, PtcFn *fn)
{
    if (!fn->notes && (fn->notes = ptc_outline_alloc(&c->os, sizeof *fn->notes)) != NULL)
        *fn->notes = (PtcFnNotes){0};
    return fn->notes;
}

static bool same_outlines(const PtcOutline *const *a, const PtcOutline *const *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* Somebody calls it with what is not walked: at the end it is walked with anything, for what it calls in turn. */
static void doubt(Checker *c, const PtcCallee *k)
{
    PtcFnNotes *notes = notes_of(c, k->fn);
    if (notes)
        notes->unsure = true;
    for (uint32_t i = 0; i < c->doubted_count; i++)
        if (c->doubted[i]->fn == k->fn && same_outlines(c->doubted[i]->parts, k->parts, k->count))
            return;
    if (c->doubted_count < CHECK_DOUBTED)
        c->doubted[c->doubted_count++] = k;
    else
        c->silent = true;
}

void ptc_check_lost(void *checker, const PtcCallee *k)
{
    Checker *c = checker;
    if (k->kind == CALLEE_FN)
        doubt(c, k);
    for (uint32_t i = 0; k->kind != CALLEE_FN && i < k->count; i++)
        ptc_outline_lose(&c->os, k->parts[i]);
}

const PtcOutline *ptc_check_self(Checker *c)
{
    PtcCallee *k = c->captures ? ptc_check_callee(c, CALLEE_FN, c->fn->capture_count) : NULL;
    if (!k || !notes_of(c, c->fn))
        return &ptc_outline_any;
    k->fn = c->fn;
    for (uint32_t i = 0; i < k->count; i++)
        k->parts[i] = c->captures[i];
    return ptc_check_fn_value(c, k);
}

static const PtcOutline *captured(Checker *c, PtcExpr *x, const PtcCapture *from)
{
    if (from->from == 0)
        return from->local->now ? from->local->now : &ptc_outline_any;
    if (from->from == 1 && c->captures && from->index < CHECK_CAPTURES)
        return c->captures[from->index];
    return from->from == 2 && c->fn == x->fn->parent ? ptc_check_self(c) : &ptc_outline_any;
}

const PtcOutline *ptc_check_closure(Checker *c, PtcExpr *x)
{
    if (x->fn->capture_count > CHECK_CAPTURES) {
        c->silent = true;
        return &ptc_outline_any;
    }
    PtcCallee *k = ptc_check_callee(c, CALLEE_FN, x->fn->capture_count);
    if (!k || !notes_of(c, x->fn))
        return &ptc_outline_any;
    k->fn = x->fn;
    bool method =
        x->fn->form == PTC_FORM_METHOD; /* captures the fields of whoever it is called for */
    for (uint32_t i = 0; i < k->count; i++)
        k->parts[i] = method ? &ptc_outline_any : captured(c, x, &x->fn->captures[i]);
    return ptc_check_fn_value(c, k);
}

/* ------------------------------------------------------------------------- one call walked */

static const PtcArity *arity_for(const PtcFn *fn, uint32_t argc)
{
    const PtcArity *rest = NULL;
    for (uint32_t i = 0; i < fn->arity_count; i++) {
        const PtcArity *a = &fn->arities[i];
        if (!a->variadic && a->count == argc)
            return a;
        if (a->variadic && argc + 1 >= a->count)
            rest = a;
    }
    return rest;
}

static const PtcOutline *rest_of(Checker *c, const PtcOutline *const *args, uint32_t from,
                                 uint32_t argc)
{
    if (from >= argc)
        return &ptc_outline_nil;
    return argc > CHECK_ARGS ? &ptc_outline_any
                             : ptc_outline_tuple(&c->os, args + from, argc - from, 0);
}

static void set_params(Checker *c, const PtcArity *a, const PtcOutline *const *args, uint32_t argc)
{
    for (uint32_t i = 0; i < a->count; i++) {
        PtcLocal *p = a->params[i];
        bool rest = a->variadic && i + 1 == a->count;
        p->now = rest ? rest_of(c, args, i, argc) : i < CHECK_ARGS ? args[i] : &ptc_outline_any;
        p->init = NULL;
        p->root = p;
    }
}

/* What recur gave becomes what the parameters are; false: nothing has changed. */
static bool widen_params(Checker *c, const PtcArity *a, const RecurFrame *frame, uint32_t round)
{
    bool changed = false;
    for (uint32_t i = 0; i < a->count; i++) {
        const PtcOutline *old = a->params[i]->now;
        const PtcOutline *o = i < CHECK_ARGS && i < frame->count
                                  ? ptc_outline_join(&c->os, old, frame->next[i])
                                  : &ptc_outline_any;
        if (o != old && round >= CHECK_ROUNDS)
            o = &ptc_outline_any;
        changed |= o != old;
        a->params[i]->now = o;
    }
    return changed;
}

static void begin_fn_frame(Checker *c, RecurFrame *frame, const PtcArity *a)
{
    *frame = (RecurFrame){.outer = c->frames, .count = a->count};
    for (uint32_t i = 0; i < CHECK_ARGS; i++)
        frame->next[i] = &ptc_outline_never;
    c->frames = frame;
}

static const PtcOutline *walk_body(Checker *c, PtcFn *fn, const PtcArity *a)
{
    RecurFrame frame;
    Here before = c->here;
    bool dry = c->dry, first = c->first;
    uint32_t trail = c->trail_count;
    for (uint32_t round = 0; fn->recurs && round <= CHECK_ROUNDS && !c->silent; round++) {
        begin_fn_frame(c, &frame, a);
        c->first = round == 0 && (!dry || first);
        c->dry = true;
        (void)ptc_check_expr(c, a->body, false);
        c->frames = frame.outer;
        c->here = before;
        ptc_check_undo(c, trail);
        if (!frame.again || !widen_params(c, a, &frame, round))
            break;
    }
    c->dry = dry;
    c->first = first;
    begin_fn_frame(c, &frame, a);
    const PtcOutline *o = ptc_check_expr(c, a->body, false);
    c->frames = frame.outer;
    return o;
}

/* The walk of a body sees its own captures and nobody else's builders and tests. */
static const PtcOutline *walk_fn(Checker *c, const PtcCallee *k, const PtcArity *a,
                                 const PtcOutline *const *args, uint32_t argc)
{
    const PtcOutline *captures[CHECK_CAPTURES];
    const PtcOutline **outer = c->captures;
    PtcFn *fn = c->fn;
    Build *builds = c->builds;
    uint32_t asking = c->asking, picking = c->picking;
    bool updating = c->updating, wondering = c->wondering;
    bool part = k->fn->form == PTC_FORM_NONE;
    for (uint32_t i = 0; i < k->count; i++)
        captures[i] = k->parts[i];
    c->captures = captures;
    c->fn = k->fn;
    c->builds = NULL;
    c->asking = c->picking = 0;
    c->updating = c->wondering = false;
    c->calls += !part;
    k->fn->notes->walking = true;
    set_params(c, a, args, argc);
    bool placed = c->placed;
    uint32_t trail = c->trail_count;
    c->placed |= k->fn->notes->foreign;
    const PtcOutline *o = walk_body(c, k->fn, a);
    ptc_check_undo(c, trail); /* of captures, which end here */
    c->placed = placed;
    k->fn->notes->walking = false;
    c->calls -= !part;
    c->asking = asking;
    c->picking = picking;
    c->updating = updating;
    c->wondering = wondering;
    c->builds = builds;
    c->fn = fn;
    c->captures = outer;
    return o;
}

/* ---------------------------------------------------------------------------- remembering */

/* Was it walked where at least as much could be claimed? */
static bool is_as_strict(const Here *walked, const Here *now)
{
    return walked->certain >= now->certain && walked->wrote >= now->wrote &&
           walked->muted <= now->muted;
}

static Variant *find_variant(const PtcCallee *k, const PtcOutline *const *args, uint32_t argc)
{
    for (Variant *v = k->fn->notes->variants; v && argc <= CHECK_ARGS; v = v->next)
        if (v->argc == argc && same_outlines(v->args, args, argc) &&
            same_outlines(v->captures, k->parts, k->count))
            return v;
    return NULL;
}

static Variant *add_variant(Checker *c, const PtcCallee *k, const PtcOutline *const *args,
                            uint32_t argc)
{
    PtcFnNotes *notes = k->fn->notes;
    Variant *v = argc > CHECK_ARGS || notes->variant_count >= CHECK_VARIANTS + (uint32_t)c->ending
                     ? NULL
                     : ptc_outline_alloc(&c->os, sizeof *v);
    if (!v)
        return NULL;
    *v = (Variant){.next = notes->variants, .captures = k->parts, .argc = argc};
    for (uint32_t i = 0; i < argc; i++)
        v->args[i] = args[i];
    notes->variants = v;
    notes->variant_count++;
    return v;
}

static void after_call(Checker *c, const Here *before, bool stops, bool writes)
{
    c->here = *before;
    c->here.stopped |= stops;
    c->here.certain &= before->stopped || !stops;
    c->here.sure &= !stops;
    c->here.wrote |= writes;
}

void ptc_check_unknown_call(Checker *c)
{
    bool may_stop = c->job->facts->stops || c->job->facts->earlier > 0;
    Here before = c->here;
    after_call(c, &before, may_stop, false);
}

static const PtcOutline *call_unwalked(Checker *c, const PtcCallee *k,
                                       const PtcOutline *const *args, uint32_t argc)
{
    doubt(c, k);
    for (uint32_t i = 0; i < argc && i < CHECK_ARGS; i++)
        ptc_check_escape(c, args[i]);
    ptc_check_unknown_call(c);
    return &ptc_outline_any;
}

static const PtcOutline *call_fn(Checker *c, const PtcCallee *k, const PtcOutline *const *args,
                                 uint32_t argc)
{
    PtcFnNotes *notes = k->fn->notes;
    const PtcArity *a = arity_for(k->fn, argc);
    bool part = k->fn->form == PTC_FORM_NONE;
    if (notes->walking || !a || c->calls >= CHECK_CALL_DEPTH)
        return call_unwalked(c, k, args, argc);
    Variant *v = part ? NULL : find_variant(k, args, argc);
    Here before = c->here;
    if (v && v->result && (is_as_strict(&v->from, &c->here) || (c->dry && !c->first))) {
        after_call(c, &before, v->stops, v->writes);
        return v->result;
    }
    if (!v && !part && !(v = add_variant(c, k, args, argc)))
        return call_unwalked(c, k, args, argc);
    c->here.stopped = false;
    const PtcOutline *o = walk_fn(c, k, a, args, argc);
    bool stops = c->here.stopped, writes = c->here.wrote && !before.wrote;
    after_call(c, &before, stops, writes);
    if (v && !c->dry)
        *v = (Variant){v->next, v->captures, {0}, v->argc, before, stops, writes, o};
    if (v)
        for (uint32_t i = 0; i < argc; i++)
            v->args[i] = args[i];
    return o;
}

/* ----------------------------------------------------------------------------------- calls */

/* One of the functions of juxt, or the name of a key. */
static const PtcOutline *call_part(Checker *c, PtcExpr *at, const PtcOutline *f,
                                   const PtcOutline *const *args, uint32_t argc)
{
    return f->kinds & PTC_IS_STRING ? ptc_check_callback(c, at, f, args, argc, 1)
                                    : ptc_check_call(c, at, f, args, argc);
}

static const PtcOutline *call_callee(Checker *c, PtcExpr *at, const PtcCallee *k,
                                     const PtcOutline *const *args, uint32_t argc)
{
    const PtcOutline *all[CHECK_ARGS];
    switch (k->kind) {
    case CALLEE_FN: return call_fn(c, k, args, argc);
    case CALLEE_BUILTIN: return ptc_check_builtin(c, at, k->index, args, argc);
    case CALLEE_TOOL: return ptc_check_tool_call(c, at, k->value, args, argc);
    case CALLEE_GIVES: return k->parts[0];
    case CALLEE_PARTIAL:
        if (k->count - 1 + argc > CHECK_ARGS)
            break;
        for (uint32_t i = 0; i + 1 < k->count; i++)
            all[i] = k->parts[i + 1];
        for (uint32_t i = 0; i < argc; i++)
            all[k->count - 1 + i] = args[i];
        return ptc_check_call(c, at, k->parts[0], all, k->count - 1 + argc);
    case CALLEE_COMP:
        all[0] = ptc_check_call(c, at, k->parts[k->count - 1], args, argc);
        for (uint32_t i = k->count - 1; i > 0 && all[0]->kinds; i--)
            all[0] = ptc_check_call(c, at, k->parts[i - 1], all, 1);
        return all[0];
    case CALLEE_JUXT:
        for (uint32_t i = 0; i < k->count; i++)
            if (!(all[i] = call_part(c, at, k->parts[i], args, argc))->kinds)
                return all[i];
        return ptc_outline_tuple(&c->os, all, k->count, 0);
    default: break;
    }
    ptc_check_unknown_call(c);
    return &ptc_outline_any;
}

static bool is_key_literal(const PtcOutline *o)
{
    return o->kinds == PTC_IS_KEYWORD && o->literal != PTC_NONE;
}

static const PtcOutline *call_unknown(Checker *c, const PtcOutline *f,
                                      const PtcOutline *const *args, uint32_t argc)
{
    ptc_check_escape(c, f);
    for (uint32_t i = 0; i < argc && i < CHECK_ARGS; i++)
        ptc_check_escape(c, args[i]);
    ptc_check_unknown_call(c);
    return &ptc_outline_any;
}

static void claim_not_callable(Checker *c, PtcExpr *at, const PtcOutline *f)
{
    char what[120];
    Finding *found =
        ptc_check_claim(c, at, c->here.certain, PTC_E_NOT_CALLABLE, PTC_W_TYPE_MISMATCH);
    ptc_check_describe(f, what, sizeof what);
    if (!found)
        return;
    ptc_diag_format(found->message, PTC_MESSAGE_MAX + 1, "%s is called here, and is no function",
                    what);
    ptc_diag_format(found->hint, PTC_HINT_MAX + 1, "%s",
                    f->kinds == PTC_IS_STRING ? ptc_hint_string_called : ptc_hint_data_called);
}

/* (:key m otherwise) or (m :key otherwise); NULL: there is no otherwise. */
static const PtcOutline *ask(Checker *c, PtcExpr *at, const PtcOutline *map, const PtcOutline *key,
                             const PtcOutline *otherwise)
{
    const PtcOutline *o = ptc_check_key(c, at, map, key, otherwise ? KEY_DEFAULT : KEY_READ);
    return otherwise ? ptc_outline_join(&c->os, o, otherwise) : o;
}

const PtcOutline *ptc_check_call(Checker *c, PtcExpr *at, const PtcOutline *f,
                                 const PtcOutline *const *args, uint32_t argc)
{
    if (++c->depth > CHECK_DEPTH)
        c->silent = true;
    const PtcOutline *o = &ptc_outline_any;
    if (c->silent)
        o = &ptc_outline_any;
    else if (is_key_literal(f) && argc >= 1 && argc <= 2)
        o = ask(c, at, args[0], f, argc == 2 ? args[1] : NULL);
    else if (f->kinds == PTC_IS_FN && f->callee)
        o = call_callee(c, at, f->callee, args, argc);
    else if (f->kinds == PTC_IS_MAP && argc >= 1 && argc <= 2)
        o = ask(c, at, f, args[0], argc == 2 ? args[1] : NULL);
    else if (!(f->kinds & PTC_IS_CALLED)) {
        claim_not_callable(c, at, f);
        o = &ptc_outline_never;
    } else
        o = call_unknown(c, f, args, argc);
    c->depth--;
    return o;
}

const PtcOutline *ptc_check_callback(Checker *c, PtcExpr *at, const PtcOutline *f,
                                     const PtcOutline *const *args, uint32_t argc, unsigned least)
{
    Here before = c->here;
    for (uint32_t i = 0; i < argc; i++)
        if (args[i]->kinds == 0)
            return &ptc_outline_never; /* there is nothing to call it with */
    if (f->kinds & PTC_IS_STRING)      /* the name of a key, for those that take one */
        return f->kinds == PTC_IS_STRING && argc == 1 ? ptc_check_key(c, at, args[0], f, KEY_READ)
                                                      : &ptc_outline_any;
    if (least == 0) {
        c->here.certain = c->here.sure = false;
        c->here.muted |= c->job->facts->catches;
    }
    const PtcOutline *o = ptc_check_call(c, at, f, args, argc);
    bool stopped = c->here.stopped, wrote = c->here.wrote;
    c->here = before;
    c->here.stopped |= stopped;
    c->here.certain &= before.stopped || !stopped;
    c->here.sure &= !stopped;
    c->here.wrote |= least > 0 && wrote;
    return o;
}

/* -------------------------------------------------------------------------------- escaping */

static void escape_fn(Checker *c, const PtcCallee *k)
{
    const PtcOutline *args[CHECK_ARGS];
    Here before = c->here;
    PtcFnNotes *notes = k->fn->notes;
    if (notes->walking || c->calls >= CHECK_CALL_DEPTH) {
        doubt(c, k);
        ptc_check_unknown_call(c);
        return;
    }
    for (uint32_t i = 0; i < CHECK_ARGS; i++)
        args[i] = &ptc_outline_any;
    c->here.certain = c->here.sure = c->here.stopped = false;
    c->here.muted |= c->job->facts->catches;
    for (uint32_t i = 0; i < k->fn->arity_count; i++) {
        const PtcArity *a = &k->fn->arities[i];
        if (a->count <= CHECK_ARGS)
            (void)call_fn(c, k, args, a->count);
        else
            doubt(c, k);
    }
    /* From now on it may be called anywhere: by what forces a lazy sequence, for one. */
    after_call(c, &before, c->here.stopped, false);
}

void ptc_check_end_functions(Checker *c)
{
    Here end = c->here;
    c->ending = true;
    c->captures = NULL;
    for (uint32_t i = 0; i < c->doubted_count && !c->silent; i++) {
        c->here = (Here){.certain = false};
        escape_fn(c, c->doubted[i]);
    }
    c->here = end;
}

static void escape(Checker *c, const PtcOutline *o, unsigned depth);

static void escape_callee(Checker *c, const PtcCallee *k, unsigned depth)
{
    if (k->kind == CALLEE_FN)
        escape_fn(c, k);
    for (uint32_t i = 0; k->kind != CALLEE_FN && i < k->count; i++)
        escape(c, k->parts[i], depth + 1);
}

static void escape(Checker *c, const PtcOutline *o, unsigned depth)
{
    if (c->silent || c->os.out || !(o->flags & PTC_OUTLINE_CALLEES))
        return;
    ptc_outline_charge(&c->os, 1u + o->count);
    if (depth > PTC_OUTLINE_DEPTH) {
        c->silent = true; /* a function may be hidden below */
        return;
    }
    if (o->callee)
        escape_callee(c, o->callee, depth);
    if (o->item)
        escape(c, o->item, depth + 1);
    if (o->rest)
        escape(c, o->rest, depth + 1);
    for (size_t i = 0; i < o->count; i++)
        escape(c, o->fields[i].of, depth + 1);
}

void ptc_check_escape(Checker *c, const PtcOutline *o)
{
    escape(c, o, 0);
}

/* --------------------------------------------------------------------- functions that are */

static const PtcOutline *closure_of(Checker *c, PtcValue v)
{
    const PtcClosure *closure = (const PtcClosure *)(uintptr_t)v;
    PtcFn *fn = c->closures < CHECK_CALL_DEPTH ? ptc_check_session_fn(c, v) : NULL;
    PtcCallee *k = fn && fn->capture_count <= CHECK_CAPTURES
                       ? ptc_check_callee(c, CALLEE_FN, fn->capture_count)
                       : NULL;
    if (!k || !notes_of(c, fn))
        return ptc_outline_of_kinds(&c->os, PTC_IS_FN);
    k->fn = fn;
    fn->notes->foreign = true;
    c->closures++;
    for (uint32_t i = 0; i < k->count; i++)
        k->parts[i] = ptc_outline_of_value(&c->data, closure->captured[i]);
    c->closures--;
    return ptc_check_fn_value(c, k);
}

const PtcOutline *ptc_check_fn_of_value(void *checker, PtcValue v)
{
    Checker *c = checker;
    PtcCallee *k = NULL;
    if (ptc_is(v, PTC_T_CLOSURE))
        return closure_of(c, v);
    if (ptc_is_builtin(v) && (k = ptc_check_callee(c, CALLEE_BUILTIN, 0)) != NULL)
        k->index = ptc_builtin_index(v);
    else if (ptc_is_record(v, PTC_R_FN) &&
             ptc_record_field(v, 0) == ptc_builtin((uint32_t)ptc_builtin_find("%tool", 5)) &&
             (k = ptc_check_callee(c, CALLEE_TOOL, 0)) != NULL)
        k->value = v;
    return k ? ptc_check_fn_value(c, k) : ptc_outline_of_kinds(&c->os, PTC_IS_FN);
}
