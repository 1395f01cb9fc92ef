/* SPDX-License-Identifier: MIT
 * Other ways to write calls of methods and constructors: (. x method a), (.. x (method a) method), (memfn method a) and
 * (new Class a).  Each becomes (.method x a) or (Class. a). */
#include "lisp/analyze/analyze_int.h"

static PtcExpr *refuse_method_form(Analyzer *an, const PtcForm *form, const char *usage)
{
    return ptc_analyze_error(an, PTC_E_INVALID_FORM, form, usage, "%.*s is not written like this",
                             PTC_ARG_OF(form->items[0]->text, form->items[0]->len));
}

/* The symbol of a name with a point before or behind it. */
static PtcForm *pointed(Analyzer *an, const PtcForm *name, bool before)
{
    PtcForm *f = ptc_analyze_new_form(an, PTC_F_SYMBOL, name, 0);
    char *text = ptc_arena_alloc(an->arena, name->len + 1);
    if (!f || !text)
        return NULL;
    text[before ? 0 : name->len] = '.';
    memcpy(text + before, name->text, name->len);
    f->text = text;
    f->len = name->len + 1;
    return f;
}

/* (.method x args...), where args are the items of `from` from `first` on. */
static PtcForm *method_call(Analyzer *an, const PtcForm *name, PtcForm *x, const PtcForm *from,
                            size_t first)
{
    size_t n = from->kind == PTC_F_LIST && from->count > first ? from->count - first : 0;
    PtcForm *call = ptc_analyze_new_form(an, PTC_F_LIST, from, n + 2);
    if (!call || !(call->items[0] = pointed(an, name, true)))
        return NULL;
    call->items[1] = x;
    for (size_t i = 0; i < n; i++)
        call->items[i + 2] = from->items[first + i];
    return call;
}

/* method or (method args...) on x. */
static PtcForm *apply_doto_step(Analyzer *an, PtcForm *x, const PtcForm *form)
{
    bool list = form->kind == PTC_F_LIST && form->count > 0;
    const PtcForm *name = list ? form->items[0] : form;
    return name->kind == PTC_F_SYMBOL ? method_call(an, name, x, form, 1) : NULL;
}

PtcExpr *ptc_analyze_dot(Analyzer *an, const PtcForm *form, bool tail)
{
    const char *usage = "(. x method args...), which is (.method x args...)";
    if (form->count < 3)
        return refuse_method_form(an, form, usage);
    PtcForm *x = form->items[1], *call = NULL;
    if (form->items[2]->kind == PTC_F_SYMBOL)
        call = method_call(an, form->items[2], x, form, 3);
    else if (form->count == 3 && form->items[2]->kind == PTC_F_LIST)
        call = apply_doto_step(an, x, form->items[2]);
    if (!call)
        return an->arena->failed ? NULL : refuse_method_form(an, form, usage);
    return ptc_analyze_form(an, call, tail);
}

PtcExpr *ptc_analyze_dots(Analyzer *an, const PtcForm *form, bool tail)
{
    const char *usage = "(.. x (method args...) method)";
    if (form->count < 3)
        return refuse_method_form(an, form, usage);
    PtcForm *x = form->items[1];
    for (size_t i = 2; x && i < form->count; i++)
        x = apply_doto_step(an, x, form->items[i]);
    if (!x)
        return an->arena->failed ? NULL : refuse_method_form(an, form, usage);
    return ptc_analyze_form(an, x, tail);
}

/* (fn [target args...] (.method target args...)) */
PtcExpr *ptc_analyze_memfn(Analyzer *an, const PtcForm *form, bool tail)
{
    if (form->count < 2 || form->items[1]->kind != PTC_F_SYMBOL)
        return refuse_method_form(an, form, "(memfn method args...)");
    PtcForm *fn = ptc_analyze_new_form(an, PTC_F_LIST, form, 3);
    PtcForm *params = ptc_analyze_new_form(an, PTC_F_VECTOR, form, form->count - 1);
    PtcForm *target = ptc_analyze_symbol_form(an, " target ", form);
    if (!fn || !params || !target ||
        !(fn->items[0] = ptc_analyze_symbol_form(an, "clojure.core/fn", form)))
        return NULL;
    params->items[0] = target;
    for (size_t i = 2; i < form->count; i++)
        params->items[i - 1] = form->items[i];
    fn->items[1] = params;
    fn->items[2] = method_call(an, form->items[1], target, form, 2);
    return fn->items[2] ? ptc_analyze_form(an, fn, tail) : NULL;
}

PtcExpr *ptc_analyze_new_object(Analyzer *an, const PtcForm *form, bool tail)
{
    if (form->count < 2 || form->items[1]->kind != PTC_F_SYMBOL)
        return refuse_method_form(an, form, "(new Class args...), which is (Class. args...)");
    PtcForm *call = ptc_analyze_new_form(an, PTC_F_LIST, form, form->count - 1);
    if (!call || !(call->items[0] = pointed(an, form->items[1], false)))
        return NULL;
    for (size_t i = 2; i < form->count; i++)
        call->items[i - 1] = form->items[i];
    return ptc_analyze_form(an, call, tail);
}
