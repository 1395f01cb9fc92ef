/* SPDX-License-Identifier: MIT
 * Functions: fn, #(), parameter lists; and quoted data. */
#include <stdio.h>

#include "lisp/analyze/analyze_int.h"

/* Parameters become locals in order; patterns are opened in a let around the body. */
static bool bind_params(Analyzer *an, PtcArity *arity, const PtcForm *params, Bindings *b)
{
    size_t n = 0;
    PtcExpr **values = ptc_analyze_items(an, params->count);
    const PtcForm **patterns = ptc_arena_zalloc(an->arena, (params->count + 1) * sizeof *patterns);
    arity->params = ptc_arena_zalloc(an->arena, (params->count + 1) * sizeof *arity->params);
    if (!values || !patterns || !arity->params)
        return false;
    for (size_t i = 0; i < params->count; i++) {
        const PtcForm *p = params->items[i];
        if (ptc_form_is_symbol(p, "&")) {
            if (i + 2 != params->count) {
                ptc_analyze_error(an, PTC_E_INVALID_FORM, p, "write [a b & more]",
                                  "& must be followed by exactly one parameter");
                return true;
            }
            arity->variadic = true;
            continue;
        }
        bool plain = p->kind == PTC_F_SYMBOL;
        patterns[n] = plain ? NULL : p;
        if (!(arity->params[n++] =
                  plain ? ptc_analyze_bind(an, p->text, p->len) : ptc_analyze_temp(an)))
            return false;
    }
    arity->count = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        if (patterns[i] &&
            !(arity->variadic && i + 1 == n ? ptc_analyze_destructure_rest
                                            : ptc_analyze_destructure)(
                an, b, patterns[i], ptc_analyze_local(an, arity->params[i], patterns[i])))
            return false;
    return true;
}

static const PtcForm *condition_list(const PtcForm *map, const char *key)
{
    for (size_t i = 0; i + 1 < map->count; i += 2)
        if (map->items[i]->kind == PTC_F_KEYWORD && map->items[i]->len == strlen(key) &&
            memcmp(map->items[i]->text, key, map->items[i]->len) == 0 &&
            map->items[i + 1]->kind == PTC_F_VECTOR)
            return map->items[i + 1];
    return NULL;
}

/* (assert condition "its text") for each condition, then `last`. */
static PtcExpr *checked(Analyzer *an, const PtcForm *conditions, PtcExpr *last, const PtcForm *at)
{
    size_t n = conditions ? conditions->count : 0;
    PtcExpr *x = ptc_analyze_new(an, PTC_X_DO, at);
    PtcExpr **items = ptc_analyze_items(an, n + 1);
    if (!x || !items || !last)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        const PtcForm *c = conditions->items[i];
        PtcExpr **args = ptc_analyze_items(an, 2);
        if (!args || !(args[0] = ptc_analyze_form(an, c, false)) ||
            !(args[1] = ptc_analyze_const(
                  an, ptc_analyze_string(an, an->source + c->first, c->last - c->first), c)) ||
            !(items[i] = ptc_analyze_builtin(an, "assert", args, 2, c)))
            return NULL;
    }
    items[n] = last;
    x->items = items;
    x->count = (uint32_t)n + 1;
    return x;
}

/* A body that begins with {:pre [...] :post [...]}; in :post, % is the result. */
static PtcExpr *body_with_conditions(Analyzer *an, const PtcForm *form, size_t first)
{
    const PtcForm *map = form->items[first];
    const PtcForm *pre = condition_list(map, "pre"), *post = condition_list(map, "post");
    PtcLocal *scope = an->scope;
    PtcExpr *body =
        ptc_analyze_body(an, form->items + first + 1, form->count - first - 1, form, !post);
    if (post && body) {
        Bindings b = {0};
        PtcLocal *result = ptc_analyze_bind(an, "%1", 2);
        PtcExpr *value = body;
        if (!ptc_analyze_add_binding(an, &b, result, value))
            return NULL;
        body = ptc_analyze_let(an, &b, checked(an, post, ptc_analyze_local(an, result, form), form),
                               form);
        an->scope = scope;
    }
    return checked(an, pre, body, map);
}

static bool has_conditions(const PtcForm *form, size_t first)
{
    return first + 1 < form->count && form->items[first]->kind == PTC_F_MAP &&
           (condition_list(form->items[first], "pre") ||
            condition_list(form->items[first], "post"));
}

/* ([params] body...) beginning at item `first` of `form`. */
static bool analyze_arity(Analyzer *an, PtcArity *arity, const PtcForm *form, size_t first)
{
    const PtcForm *params = first < form->count ? form->items[first] : NULL;
    arity->first = form->first;
    arity->last = form->last;
    if (!params || params->kind != PTC_F_VECTOR) {
        arity->body =
            ptc_analyze_error(an, PTC_E_INVALID_FORM, params ? params : form,
                              "write (fn [a b] body)", "a function needs a parameter vector");
        return arity->body != NULL;
    }
    PtcLocal *scope = an->scope;
    PtcExpr *loop = an->loop;
    uint32_t recur_count = an->recur_count;
    Bindings b = {0};
    bool ok = bind_params(an, arity, params, &b);
    an->loop = NULL;
    PtcLocal *self = an->self;
    an->self = an->fn->form == PTC_FORM_METHOD && arity->count ? arity->params[0] : NULL;
    an->recur_count = an->no_recur ? NO_RECUR : arity->count - (an->self ? 1 : 0);
    const char *no_recur = an->no_recur, *barrier = an->barrier;
    an->barrier = recur_count != NO_RECUR || barrier ? no_recur : NULL;
    an->no_recur = NULL;
    PtcExpr *body =
        !ok ? NULL
        : has_conditions(form, first + 1)
            ? body_with_conditions(an, form, first + 1)
            : ptc_analyze_body(an, form->items + first + 1, form->count - first - 1, form, true);
    arity->body = ptc_analyze_let(an, &b, body, form);
    an->scope = scope;
    an->self = self;
    an->loop = loop;
    an->recur_count = recur_count;
    an->barrier = barrier;
    an->no_recur = no_recur;
    return arity->body != NULL;
}

static bool check_arities(Analyzer *an, const PtcFn *fn, const PtcForm *form)
{
    for (size_t i = 0; i < fn->arity_count; i++)
        for (size_t k = i + 1; k < fn->arity_count; k++) {
            const PtcArity *x = &fn->arities[i], *y = &fn->arities[k];
            if ((x->variadic && y->variadic) ||
                (x->variadic == y->variadic && x->count == y->count))
                return ptc_analyze_error(an, PTC_E_INVALID_FORM, form,
                                         "give each variant its own number of parameters",
                                         "two variants of this function take the same arguments") !=
                       NULL;
        }
    return true;
}

/* The function's own name, as a local of its own frame. */
static bool bind_self(Analyzer *an, const FnName *name)
{
    PtcLocal *self = ptc_analyze_bind(an, name->text, name->len);
    if (self)
        self->is_self = true;
    return self != NULL;
}

PtcExpr *ptc_analyze_fn(Analyzer *an, const PtcForm *form, size_t first, const FnName *name)
{
    PtcFn *fn = ptc_arena_zalloc(an->arena, sizeof *fn);
    PtcExpr *x = ptc_analyze_new(an, PTC_X_FN, form);
    bool many = first < form->count && form->items[first]->kind == PTC_F_LIST;
    size_t n = many ? form->count - first : 1;
    if (!fn || !x || !(fn->arities = ptc_arena_zalloc(an->arena, n * sizeof *fn->arities)))
        return NULL;
    x->fn = fn;
    *fn = (PtcFn){.parent = an->fn,
                  .name = name->text,
                  .name_len = name->len,
                  .doc = name->doc,
                  .arities = fn->arities,
                  .arity_count = (uint32_t)n,
                  .first = form->first,
                  .last = form->last,
                  .form = (uint8_t)name->form};
    PtcLocal *scope = an->scope;
    an->fn = fn;
    bool ok = !name->bound || bind_self(an, name);
    for (size_t i = 0; ok && i < n; i++) {
        if (many && form->items[first + i]->kind != PTC_F_LIST)
            ok = (fn->arities[i].body =
                      ptc_analyze_error(an, PTC_E_INVALID_FORM, form->items[first + i],
                                        "write (fn ([a] ...) ([a b] ...))",
                                        "every variant is a list of parameters and body")) != NULL;
        else
            ok = analyze_arity(an, &fn->arities[i], many ? form->items[first + i] : form,
                               many ? 0 : first);
    }
    an->fn = fn->parent;
    an->scope = scope;
    return ok && check_arities(an, fn, form) ? x : NULL;
}

/* (fn name? [params] body...) */
PtcExpr *ptc_analyze_fn_form(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    const PtcForm *name =
        form->count > 1 && form->items[1]->kind == PTC_F_SYMBOL ? form->items[1] : NULL;
    FnName n = {name ? name->text : NULL, name ? name->len : 0, name != NULL, PTC_NIL, PTC_FORM_FN};
    return ptc_analyze_fn(an, form, name ? 2 : 1, &n);
}

static PtcExpr *bad_letfn(Analyzer *an, const PtcForm *at)
{
    return ptc_analyze_error(
        an, PTC_E_INVALID_FORM, at, "(letfn [(f [x] ...) (g [y] ...)] body)",
        "letfn needs a vector of functions, each a list of name, parameters and body");
}

PtcExpr *ptc_analyze_letfn_fn(Analyzer *an, const PtcForm *form)
{
    FnName name = {form->items[0]->text, form->items[0]->len, false, PTC_NIL, PTC_FORM_LETFN};
    return ptc_analyze_fn(an, form, 1, &name);
}

/* (letfn [(f [x] ...) ...] body): functions that may call each other. */
PtcExpr *ptc_analyze_letfn(Analyzer *an, const PtcForm *form, bool tail)
{
    const PtcForm *v = form->count > 1 ? form->items[1] : NULL;
    if (!v || v->kind != PTC_F_VECTOR)
        return bad_letfn(an, v ? v : form);
    PtcExpr *x = ptc_analyze_new(an, PTC_X_LETFN, form);
    PtcLocal *scope = an->scope;
    if (!x || !(x->items = ptc_analyze_items(an, v->count)) ||
        !(x->locals = ptc_arena_zalloc(an->arena, (v->count + 1) * sizeof *x->locals)))
        return NULL;
    x->count = v->count;
    for (size_t i = 0; i < v->count; i++) {
        const PtcForm *f = v->items[i];
        if (f->kind != PTC_F_LIST || f->count < 2 || f->items[0]->kind != PTC_F_SYMBOL)
            return bad_letfn(an, f);
        if (!(x->locals[i] = ptc_analyze_bind(an, f->items[0]->text, f->items[0]->len)))
            return NULL;
    }
    for (size_t i = 0; i < v->count; i++)
        if (!(x->items[i] = ptc_analyze_letfn_fn(an, v->items[i])))
            return NULL;
    x->a = ptc_analyze_body(an, form->items + 2, form->count - 2, form, tail);
    an->scope = scope;
    return x->a ? x : NULL;
}

/* ------------------------------------------------------------------------- #(...) */

/* Highest %n in a short function, and whether %& is there. */
static void find_params(Analyzer *an, const PtcForm *f, uint32_t *most, bool *rest)
{
    bool coll = f->kind == PTC_F_LIST || f->kind == PTC_F_VECTOR || f->kind == PTC_F_MAP ||
                f->kind == PTC_F_SET || f->kind == PTC_F_SHORT_FN || f->kind == PTC_F_TEMPLATE ||
                f->kind == PTC_F_UNQUOTE || f->kind == PTC_F_SPLICE;
    for (size_t i = 0; coll && i < f->count; i++)
        find_params(an, f->items[i], most, rest);
    if (f->kind != PTC_F_SYMBOL || f->text[0] != '%')
        return;
    uint32_t n = 0;
    if (f->len == 1)
        n = 1;
    else if (f->len == 2 && f->text[1] == '&')
        *rest = true;
    else if (f->len <= 3 && f->text[1] >= '1' && f->text[1] <= '9')
        n = (uint32_t)(f->text[1] - '0') * (f->len == 3 ? 10 : 1) +
            (f->len == 3 ? (uint32_t)(f->text[2] - '0') : 0);
    else
        ptc_analyze_error(an, PTC_E_INVALID_FORM, f, "write %, %1, %2 or %&",
                          "%.*s is not a parameter of #()", PTC_ARG_OF(f->text, f->len));
    if (n > 20)
        ptc_analyze_error(an, PTC_E_INVALID_FORM, f, "write a fn with named parameters",
                          "#() takes at most 20 parameters");
    else if (n > *most)
        *most = n;
}

static const char *const percent[] = {"%",   "%1",  "%2",  "%3",  "%4",  "%5",  "%6",
                                      "%7",  "%8",  "%9",  "%10", "%11", "%12", "%13",
                                      "%14", "%15", "%16", "%17", "%18", "%19", "%20"};

PtcExpr *ptc_analyze_short_fn(Analyzer *an, const PtcForm *form)
{
    uint32_t most = 0;
    bool rest = false;
    find_params(an, form, &most, &rest);
    PtcForm *params = ptc_analyze_new_form(an, PTC_F_VECTOR, form, most + (rest ? 2 : 0));
    PtcForm *body = ptc_analyze_new_form(an, PTC_F_LIST, form, form->count);
    PtcForm *fn = ptc_analyze_new_form(an, PTC_F_LIST, form, 3);
    if (!params || !body || !fn)
        return NULL;
    for (uint32_t i = 0; i < most; i++)
        if (!(params->items[i] = ptc_analyze_symbol_form(an, percent[i + 1], form)))
            return NULL;
    if (rest && (!(params->items[most] = ptc_analyze_symbol_form(an, "&", form)) ||
                 !(params->items[most + 1] = ptc_analyze_symbol_form(an, "%&", form))))
        return NULL;
    if (form->count)
        memcpy(body->items, form->items, form->count * sizeof *form->items);
    fn->items[1] = params;
    fn->items[2] = body;
    if (!(fn->items[0] = ptc_analyze_symbol_form(an, "fn", form)))
        return NULL;
    FnName none = {NULL, 0, false, PTC_NIL, PTC_FORM_SHORT};
    return ptc_analyze_fn(an, fn, 1, &none);
}

/* --------------------------------------------------------------------- quoted data */

static PtcValue shared_word(void *user, PtcTag type, const char *text, size_t len)
{
    Analyzer *an = user;
    return type == PTC_T_STRING    ? ptc_analyze_string(an, text, len)
           : type == PTC_T_KEYWORD ? ptc_analyze_keyword(an, text, len)
                                   : ptc_symbol_new(an->heap, text, len);
}

static PtcValue quoted_regex(void *user, const PtcForm *form)
{
    return ptc_analyze_regex(user, form);
}

PtcValue ptc_analyze_quote(Analyzer *an, const PtcForm *form)
{
    PtcFormMaker maker = {.heap = an->heap, .user = an, .word = shared_word, .regex = quoted_regex};
    return ptc_form_value(&maker, form);
}
