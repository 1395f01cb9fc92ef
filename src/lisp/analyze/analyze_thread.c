/* SPDX-License-Identifier: MIT
 * Threading macros: -> ->> as-> cond-> cond->> some-> some->>. */
#include "lisp/analyze/analyze_int.h"

/* The step with x put in as first or last argument: (f a) and x give (f x a) or (f a x). */
static PtcForm *put_in(Analyzer *an, PtcForm *step, PtcForm *x, bool last)
{
    bool list = step->kind == PTC_F_LIST && step->count > 0;
    size_t n = list ? step->count : 1;
    PtcForm *call = ptc_analyze_new_form(an, PTC_F_LIST, step, n + 1);
    if (!call)
        return NULL;
    size_t at = last ? n : 1;
    for (size_t i = 0, k = 0; k <= n; k++)
        call->items[k] = k == at ? x : list ? step->items[i++] : (i++, step);
    return call;
}

static bool needs_value(Analyzer *an, const PtcForm *form, PtcExpr **out)
{
    if (form->count >= 2)
        return false;
    *out = ptc_analyze_error(an, PTC_E_INVALID_FORM, form, "write (-> x (f a) g)",
                             "%.*s needs a value to thread",
                             PTC_ARG_OF(form->items[0]->text, form->items[0]->len));
    return true;
}

static PtcExpr *thread(Analyzer *an, const PtcForm *form, bool last, bool tail)
{
    PtcExpr *bad;
    if (needs_value(an, form, &bad))
        return bad;
    PtcForm *x = form->items[1];
    for (size_t i = 2; x && i < form->count; i++)
        x = put_in(an, form->items[i], x, last);
    return x ? ptc_analyze_form(an, x, tail) : NULL;
}

PtcExpr *ptc_analyze_thread_first(Analyzer *an, const PtcForm *form, bool tail)
{
    return thread(an, form, false, tail);
}

PtcExpr *ptc_analyze_thread_last(Analyzer *an, const PtcForm *form, bool tail)
{
    return thread(an, form, true, tail);
}

PtcExpr *ptc_analyze_thread_as(Analyzer *an, const PtcForm *form, bool tail)
{
    if (form->count < 3)
        return ptc_analyze_error(an, PTC_E_INVALID_FORM, form,
                                 "write (as-> x name (f name) (g name 1))",
                                 "as-> needs a value and a name");
    Bindings b = {0};
    PtcLocal *scope = an->scope;
    bool ok = ptc_analyze_destructure(an, &b, form->items[2],
                                      ptc_analyze_form(an, form->items[1], false));
    for (size_t i = 3; ok && i + 1 < form->count; i++)
        ok = ptc_analyze_destructure(an, &b, form->items[2],
                                     ptc_analyze_form(an, form->items[i], false));
    PtcForm *final = form->items[form->count > 3 ? form->count - 1 : 2];
    PtcExpr *body = ok ? ptc_analyze_form(an, final, tail) : NULL;
    an->scope = scope;
    return ptc_analyze_let(an, &b, body, form);
}

/* A symbol form that stands for a temporary: the name cannot be written in a program. */
static PtcForm *temp_name(Analyzer *an, const PtcForm *at)
{
    return ptc_analyze_symbol_form(an, " threaded ", at);
}

/* Binds the temporary to `value`; later uses see the newest. */
static bool rebind_temporary(Analyzer *an, Bindings *b, const PtcForm *name, PtcExpr *value)
{
    return value &&
           ptc_analyze_add_binding(an, b, ptc_analyze_bind(an, name->text, name->len), value);
}

/* A value that is bound to the temporary again after each step. */
typedef struct {
    Bindings bindings;
    PtcLocal *scope; /* outside */
    PtcForm *name;
} Thread;

static bool begin_thread(Analyzer *an, Thread *t, const PtcForm *form)
{
    *t = (Thread){.scope = an->scope, .name = temp_name(an, form)};
    return t->name &&
           rebind_temporary(an, &t->bindings, t->name, ptc_analyze_form(an, form->items[1], false));
}

/* The value itself where there are no steps, else the last step. */
static PtcExpr *end_thread(Analyzer *an, Thread *t, const PtcForm *form, bool ok, PtcExpr *last)
{
    PtcExpr *body = ok && form->count == 2 ? ptc_analyze_form(an, t->name, false) : last;
    an->scope = t->scope;
    return ptc_analyze_let(an, &t->bindings, ok ? body : NULL, form);
}

static PtcExpr *thread_cond(Analyzer *an, const PtcForm *form, bool last, bool tail)
{
    PtcExpr *bad;
    if (needs_value(an, form, &bad))
        return bad;
    if (form->count % 2 != 0)
        return ptc_analyze_error(an, PTC_E_INVALID_FORM, form,
                                 "write (cond-> x test (f a) test2 g)",
                                 "%.*s needs pairs of test and step",
                                 PTC_ARG_OF(form->items[0]->text, form->items[0]->len));
    Thread t;
    bool ok = begin_thread(an, &t, form);
    PtcExpr *body = NULL; /* the last step, so that it may be recur */
    for (size_t i = 2; ok && i + 1 < form->count; i += 2) {
        bool final = i + 2 == form->count;
        PtcForm *step = put_in(an, form->items[i + 1], t.name, last);
        PtcExpr *test = ptc_analyze_form(an, form->items[i], false);
        PtcExpr *then = step ? ptc_analyze_form(an, step, final && tail) : NULL;
        PtcExpr *same = ptc_analyze_form(an, t.name, false);
        body = same ? ptc_analyze_if(an, test, then, same, form->items[i + 1]) : NULL;
        ok = body && (final || rebind_temporary(an, &t.bindings, t.name, body));
    }
    return end_thread(an, &t, form, ok, body);
}

PtcExpr *ptc_analyze_thread_cond_first(Analyzer *an, const PtcForm *form, bool tail)
{
    return thread_cond(an, form, false, tail);
}

PtcExpr *ptc_analyze_thread_cond_last(Analyzer *an, const PtcForm *form, bool tail)
{
    return thread_cond(an, form, true, tail);
}

static PtcExpr *thread_some(Analyzer *an, const PtcForm *form, bool last, bool tail)
{
    PtcExpr *bad;
    if (needs_value(an, form, &bad))
        return bad;
    Thread t;
    bool ok = begin_thread(an, &t, form);
    PtcExpr *body = NULL; /* the last step, so that it may be recur */
    for (size_t i = 2; ok && i < form->count; i++) {
        bool final = i + 1 == form->count;
        PtcForm *step = put_in(an, form->items[i], t.name, last);
        PtcExpr **arg = ptc_analyze_items(an, 1);
        if (!step || !arg || !(arg[0] = ptc_analyze_form(an, t.name, false)))
            return NULL;
        PtcExpr *test = ptc_analyze_builtin(an, "nil?", arg, 1, form->items[i]);
        PtcExpr *then = ptc_analyze_form(an, step, final && tail);
        body =
            then ? ptc_analyze_if(an, test, ptc_analyze_nil(an, form), then, form->items[i]) : NULL;
        ok = body && (final || rebind_temporary(an, &t.bindings, t.name, body));
    }
    return end_thread(an, &t, form, ok, body);
}

PtcExpr *ptc_analyze_thread_some_first(Analyzer *an, const PtcForm *form, bool tail)
{
    return thread_some(an, form, false, tail);
}

PtcExpr *ptc_analyze_thread_some_last(Analyzer *an, const PtcForm *form, bool tail)
{
    return thread_some(an, form, true, tail);
}

/* (doto x (f a) g): calls each step with x put in first, for its effect; gives x. */
PtcExpr *ptc_analyze_doto(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    PtcExpr *bad;
    if (needs_value(an, form, &bad))
        return bad;
    Bindings b = {0};
    PtcLocal *scope = an->scope;
    PtcForm *name = temp_name(an, form);
    PtcExpr *x = ptc_analyze_new(an, PTC_X_DO, form);
    if (!name || !x || !(x->items = ptc_analyze_items(an, form->count)) ||
        !rebind_temporary(an, &b, name, ptc_analyze_form(an, form->items[1], false)))
        return NULL;
    for (size_t i = 2; i < form->count; i++) {
        PtcForm *step = put_in(an, form->items[i], name, false);
        if (!step || !(x->items[x->count++] = ptc_analyze_form(an, step, false)))
            return NULL;
    }
    if (!(x->items[x->count++] = ptc_analyze_form(an, name, false)))
        return NULL;
    an->scope = scope;
    return ptc_analyze_let(an, &b, x, form);
}
