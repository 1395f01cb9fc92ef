/* SPDX-License-Identifier: MIT
 * try, catch and finally: the parts become functions that a hidden builtin calls, so that unwinding is an
 * ordinary failed call. */
#include <stdio.h>

#include "base/text/nearest.h"
#include "lisp/analyze/analyze_int.h"
#include "lisp/dispatch/class.h"

/* The class that a catch names; PTC_C_NONE: none, which is reported. */
static PtcThrown caught_class(Analyzer *an, const PtcForm *form)
{
    PtcText name = {form->text, form->len};
    PtcNearest near;
    if (form->kind == PTC_F_KEYWORD) /* :default, as ClojureScript writes it */
        return PTC_C_THROWABLE;
    if (form->kind != PTC_F_SYMBOL) {
        ptc_analyze_error(an, PTC_E_INVALID_FORM, form, "(catch Exception e ...)",
                          "catch needs the name of an exception class");
        return PTC_C_NONE;
    }
    PtcThrown found = ptc_thrown_find(name);
    if (found != PTC_C_NONE || ptc_text_is(name, "Object") || ptc_text_is(name, "java.lang.Object"))
        return found != PTC_C_NONE ? found : PTC_C_THROWABLE;
    name = ptc_class_simple(name);
    ptc_nearest_init(&near, name.bytes, name.len);
    for (int i = PTC_C_NONE + 1; i < PTC_C_COUNT; i++) {
        const char *known = ptc_thrown_simple((PtcThrown)i);
        ptc_nearest_offer(&near, known, strlen(known));
    }
    char hint[128];
    snprintf(hint, sizeof hint, "did you mean %s? Throwable catches every error",
             near.best ? near.best : "Exception");
    ptc_analyze_error(an, PTC_E_UNBOUND, form, hint, "there is no exception class %.*s",
                      PTC_ARG(ptc_text_cut((PtcText){form->text, form->len}, 60)));
    return PTC_C_NONE;
}

static bool is_clause(const PtcForm *form, const char *name)
{
    return form->kind == PTC_F_LIST && form->count > 0 && ptc_form_is_symbol(form->items[0], name);
}

/* (fn [params] body...) with the body from item `first` of `from` up to `last`; a part of `whole`, such as try. */
static PtcExpr *part_as(Analyzer *an, const char *whole, const PtcForm *from, size_t first,
                        size_t last, PtcForm *param, PtcFnForm written)
{
    PtcForm *fn = ptc_analyze_new_form(an, PTC_F_LIST, from, 2 + last - first);
    PtcForm *params = ptc_analyze_new_form(an, PTC_F_VECTOR, from, param ? 1 : 0);
    if (!fn || !params || !(fn->items[0] = ptc_analyze_symbol_form(an, "fn", from)))
        return NULL;
    if (param)
        params->items[0] = param;
    fn->items[1] = params;
    memcpy(fn->items + 2, from->items + first, (last - first) * sizeof *fn->items);
    FnName none = {NULL, 0, false, PTC_NIL, written};
    const char *outer = an->no_recur;
    an->no_recur = whole; /* recur cannot leave it */
    PtcExpr *x = ptc_analyze_fn(an, fn, 1, &none);
    an->no_recur = outer;
    return x;
}

static PtcExpr *analyze_try_part(Analyzer *an, const char *whole, const PtcForm *from, size_t first,
                                 size_t last, PtcForm *param)
{
    return part_as(an, whole, from, first, last, param, PTC_FORM_NONE);
}

PtcExpr *ptc_analyze_delay_fn(Analyzer *an, const PtcForm *form)
{
    return part_as(an, "delay", form, 1, form->count, NULL, PTC_FORM_DELAY);
}

/* (delay body...): the body as a function, which force calls. */
PtcExpr *ptc_analyze_delay(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    PtcExpr **args = ptc_analyze_items(an, 1);
    if (!args || !(args[0] = ptc_analyze_delay_fn(an, form)))
        return NULL;
    return ptc_analyze_builtin(an, "%delay", args, 1, form);
}

static bool add_catch(Analyzer *an, const PtcForm *clause, PtcExpr **args, size_t *n)
{
    if (clause->count < 3 || clause->items[2]->kind != PTC_F_SYMBOL)
        return ptc_analyze_error(an, PTC_E_INVALID_FORM, clause,
                                 "(catch Exception e (ex-message e))",
                                 "catch needs a class, a name and a body") != NULL;
    PtcThrown thrown = caught_class(an, clause->items[1]);
    if (thrown == PTC_C_NONE)
        return true;
    an->facts.catches = true;
    args[*n] = ptc_analyze_const(an, ptc_int(thrown), clause);
    args[*n + 1] = analyze_try_part(an, "try", clause, 3, clause->count, clause->items[2]);
    *n += 2;
    return args[*n - 2] && args[*n - 1];
}

PtcExpr *ptc_analyze_try(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    size_t body = 1;
    while (body < form->count && !is_clause(form->items[body], "catch") &&
           !is_clause(form->items[body], "finally"))
        body++;
    PtcExpr **args = ptc_analyze_items(an, 2 + 2 * (form->count - body + 1));
    size_t n = 2;
    if (!args || !(args[0] = analyze_try_part(an, "try", form, 1, body, NULL)) ||
        !(args[1] = ptc_analyze_nil(an, form)))
        return NULL;
    for (size_t i = body; i < form->count; i++) {
        const PtcForm *clause = form->items[i];
        if (is_clause(clause, "catch")) {
            if (!add_catch(an, clause, args, &n))
                return NULL;
        } else if (is_clause(clause, "finally") && i + 1 == form->count) {
            if (!(args[1] = analyze_try_part(an, "try", clause, 1, clause->count, NULL)))
                return NULL;
        } else if (!ptc_analyze_error(
                       an, PTC_E_INVALID_FORM, clause,
                       "(try body (catch Exception e ...) (finally ...))",
                       "only catch clauses and one finally at the end may follow the body of "
                       "try")) {
            return NULL;
        }
    }
    return ptc_analyze_builtin(an, "%try", args, n, form);
}

/* (task id expr): the expression as a function, so that it is run only when the journal has no result. */
PtcExpr *ptc_analyze_task(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    if (form->count != 3)
        return ptc_analyze_error(an, PTC_E_ARITY, form, "usage: (task id expr)",
                                 "task takes an id and an expression, got %u argument%s",
                                 (unsigned)form->count - 1, form->count == 2 ? "" : "s");
    PtcExpr **args = ptc_analyze_items(an, 2);
    if (!args || !(args[0] = ptc_analyze_form(an, form->items[1], false)) ||
        !(args[1] = analyze_try_part(an, "task", form, 2, 3, NULL)))
        return NULL;
    return ptc_analyze_builtin(an, "%task", args, 2, form);
}

/* (with-precision digits :rounding MODE body...): the body as a function, called while decimals are rounded. */
PtcExpr *ptc_analyze_with_precision(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    const char *usage = "(with-precision 10 :rounding HALF_UP (/ a b))";
    bool mode = form->count > 3 && form->items[2]->kind == PTC_F_KEYWORD &&
                ptc_text_is((PtcText){form->items[2]->text, form->items[2]->len}, "rounding");
    size_t body = mode ? 4 : 2;
    if (form->count < 2 || (mode && form->items[3]->kind != PTC_F_SYMBOL))
        return ptc_analyze_error(an, PTC_E_INVALID_FORM, form, usage,
                                 "with-precision takes a number of digits and a body");
    PtcText name =
        mode ? (PtcText){form->items[3]->text, form->items[3]->len} : (PtcText){"HALF_UP", 7};
    PtcExpr **args = ptc_analyze_items(an, 3);
    if (!args || !(args[0] = ptc_analyze_form(an, form->items[1], false)) ||
        !(args[1] = ptc_analyze_const(an, ptc_analyze_keyword(an, name.bytes, name.len), form)) ||
        !(args[2] = analyze_try_part(an, "with-precision", form, body, form->count, NULL)))
        return NULL;
    return ptc_analyze_builtin(an, "%with-precision", args, 3, form);
}

/* (with-out-str body...): what the body prints, as a string. */
PtcExpr *ptc_analyze_with_out_str(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    PtcExpr **args = ptc_analyze_items(an, 1);
    if (!args || !(args[0] = analyze_try_part(an, "with-out-str", form, 1, form->count, NULL)))
        return NULL;
    return ptc_analyze_builtin(an, "%with-out-str", args, 1, form);
}

/* (lazy-seq body...): the body as a function, called when an element is asked for. */
PtcExpr *ptc_analyze_lazy_seq(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    PtcExpr **args = ptc_analyze_items(an, 1);
    if (!args || !(args[0] = analyze_try_part(an, "lazy-seq", form, 1, form->count, NULL)))
        return NULL;
    return ptc_analyze_builtin(an, "%lazy-seq", args, 1, form);
}

/* (lazy-cat a b ...): (concat (lazy-seq a) (lazy-seq b) ...). */
PtcExpr *ptc_analyze_lazy_cat(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    PtcExpr **args = ptc_analyze_items(an, form->count);
    if (!args)
        return NULL;
    for (size_t i = 1; i < form->count; i++) {
        PtcExpr **one = ptc_analyze_items(an, 1);
        if (!one || !(one[0] = analyze_try_part(an, "lazy-cat", form, i, i + 1, NULL)) ||
            !(args[i - 1] = ptc_analyze_builtin(an, "%lazy-seq", one, 1, form)))
            return NULL;
    }
    return ptc_analyze_builtin(an, "concat", args, form->count - 1, form);
}
