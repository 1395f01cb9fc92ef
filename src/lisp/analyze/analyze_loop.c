/* SPDX-License-Identifier: MIT
 * loop and recur, for and doseq, and def and its kin. */
#include "lisp/analyze/analyze_int.h"

/* ------------------------------------------------------------------------ loop, recur */

static bool pairs(const PtcForm *v)
{
    return v && v->kind == PTC_F_VECTOR && v->count % 2 == 0;
}

/* A loop whose bindings are patterns loops over temporaries and opens the patterns inside. */
PtcExpr *ptc_analyze_loop(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    const PtcForm *v = form->count > 1 ? form->items[1] : NULL;
    if (!pairs(v))
        return ptc_analyze_error(an, PTC_E_INVALID_FORM, v ? v : form,
                                 "(loop [i 0 acc []] ... (recur (inc i) acc))",
                                 "loop needs a vector of name and value pairs");
    PtcExpr *x = ptc_analyze_new(an, PTC_X_LOOP, form);
    size_t n = v->count / 2;
    if (!x || !(x->items = ptc_analyze_items(an, n)) ||
        !(x->locals = ptc_arena_zalloc(an->arena, (n + 1) * sizeof *x->locals)))
        return NULL;
    PtcLocal *scope = an->scope;
    PtcExpr *outer = an->loop;
    uint32_t outer_count = an->recur_count;
    Bindings inner = {0};
    x->count = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        const PtcForm *p = v->items[2 * i];
        if (!(x->items[i] = ptc_analyze_form(an, v->items[2 * i + 1], false)))
            return NULL;
        bool plain = p->kind == PTC_F_SYMBOL;
        if (!(x->locals[i] = plain ? ptc_analyze_bind(an, p->text, p->len) : ptc_analyze_temp(an)))
            return NULL;
        if (!plain &&
            !ptc_analyze_destructure(an, &inner, p, ptc_analyze_local(an, x->locals[i], p)))
            return NULL;
    }
    an->loop = x;
    const char *barrier = an->barrier;
    an->recur_count = (uint32_t)n;
    an->barrier = NULL;
    PtcExpr *body = ptc_analyze_body(an, form->items + 2, form->count - 2, form, true);
    x->a = ptc_analyze_let(an, &inner, body, form);
    an->loop = outer;
    an->recur_count = outer_count;
    an->barrier = barrier;
    an->scope = scope;
    return x->a ? x : NULL;
}

static PtcExpr *stray_recur(Analyzer *an, const PtcForm *form)
{
    if (!an->barrier)
        return ptc_analyze_error(an, PTC_E_INVALID_FORM, form, "put it inside loop or fn",
                                 "recur has no loop or fn around it");
    const char *hint = "return the value from it, and recur outside";
    if (strcmp(an->barrier, "try") == 0)
        hint = "let try give a value and recur after it: (loop [n 3] (let [r (try {:ok (f)} (catch "
               "Exception e nil))] (if (or r (= n 1)) (:ok r) (recur (dec n)))))";
    return ptc_analyze_error(an, PTC_E_INVALID_FORM, form, hint,
                             "recur cannot go back to its loop or fn: %s is in between",
                             an->barrier);
}

PtcExpr *ptc_analyze_recur(Analyzer *an, const PtcForm *form, bool tail)
{
    uint32_t n = form->count - 1;
    if (an->recur_count == NO_RECUR)
        return stray_recur(an, form);
    if (!tail)
        return ptc_analyze_error(
            an, PTC_E_INVALID_FORM, form,
            "make recur the last thing its branch does, or carry the rest in another loop variable",
            "recur is not in tail position: something still happens after it");
    if (n != an->recur_count)
        return ptc_analyze_error(an, PTC_E_ARITY, form, "give one value for each loop variable",
                                 "recur needs %u value%s here, got %u", an->recur_count,
                                 an->recur_count == 1 ? "" : "s", n);
    PtcExpr *x = ptc_analyze_new(an, PTC_X_RECUR, form);
    uint32_t self = !an->loop && an->self ? 1 : 0; /* stays what it is */
    if (!x || !(x->items = ptc_analyze_items(an, n + self)) ||
        !ptc_analyze_all(an, form->items + 1, n, x->items + self))
        return NULL;
    if (self && !(x->items[0] = ptc_analyze_local(an, an->self, form)))
        return NULL;
    x->count = n + self;
    x->target = an->loop;
    an->fn->recurs |= !an->loop;
    return x;
}

/* (while test body...) is (loop [] (when test body... (recur))). */
PtcExpr *ptc_analyze_while(Analyzer *an, const PtcForm *form, bool tail)
{
    if (form->count < 2)
        return ptc_analyze_error(an, PTC_E_INVALID_FORM, form, "(while test body...)",
                                 "while needs a test");
    PtcForm *loop = ptc_analyze_new_form(an, PTC_F_LIST, form, 3),
            *when = ptc_analyze_new_form(an, PTC_F_LIST, form, form->count + 1);
    PtcForm *recur = ptc_analyze_new_form(an, PTC_F_LIST, form, 1),
            *none = ptc_analyze_new_form(an, PTC_F_VECTOR, form, 0);
    if (!loop || !when || !recur || !none ||
        !(loop->items[0] = ptc_analyze_symbol_form(an, "clojure.core/loop", form)) ||
        !(when->items[0] = ptc_analyze_symbol_form(an, "clojure.core/when", form)) ||
        !(recur->items[0] = ptc_analyze_symbol_form(an, "recur", form)))
        return NULL;
    memcpy(when->items + 1, form->items + 1, (form->count - 1) * sizeof *form->items);
    when->items[form->count] = recur;
    loop->items[1] = none;
    loop->items[2] = when;
    return ptc_analyze_loop(an, loop, tail);
}

/* --------------------------------------------------------------------------- for, doseq */

typedef struct ForState {
    const PtcForm *form, *bindings;
    PtcLocal *builder; /* NULL: doseq */
} ForState;

static bool is_modifier(const PtcForm *f)
{
    return f->kind == PTC_F_KEYWORD;
}

static PtcExpr *for_from(Analyzer *an, const ForState *st, size_t i, PtcExpr *each);

static PtcExpr *for_end(Analyzer *an, const ForState *st)
{
    PtcExpr *body = ptc_analyze_body(an, st->form->items + 2, st->form->count - 2, st->form, false);
    if (!st->builder || !body)
        return body;
    PtcExpr *push = ptc_analyze_new(an, PTC_X_PUSH, st->form);
    if (!push || !(push->locals = ptc_arena_zalloc(an->arena, sizeof *push->locals)))
        return NULL;
    push->locals[0] = st->builder;
    push->a = body;
    return push;
}

static PtcExpr *for_let(Analyzer *an, const ForState *st, size_t i, PtcExpr *each, const PtcForm *v)
{
    if (!pairs(v))
        return ptc_analyze_error(an, PTC_E_INVALID_FORM, v, ":let [name value]",
                                 ":let needs a vector of name and value pairs");
    Bindings b = {0};
    for (size_t k = 0; k < v->count; k += 2)
        if (!ptc_analyze_destructure(an, &b, v->items[k],
                                     ptc_analyze_form(an, v->items[k + 1], false)))
            return NULL;
    return ptc_analyze_let(an, &b, for_from(an, st, i + 2, each), st->form);
}

static PtcExpr *for_modifier(Analyzer *an, const ForState *st, size_t i, PtcExpr *each)
{
    const PtcForm *key = st->bindings->items[i], *arg = st->bindings->items[i + 1];
    if (key->len == 3 && memcmp(key->text, "let", 3) == 0)
        return for_let(an, st, i, each, arg);
    bool when = key->len == 4 && memcmp(key->text, "when", 4) == 0;
    bool stop = key->len == 5 && memcmp(key->text, "while", 5) == 0;
    if ((!when && !stop) || !each)
        return ptc_analyze_error(an, PTC_E_INVALID_FORM, key,
                                 "use :when test, :while test or :let [name value] after a binding",
                                 ":%.*s cannot be used here", PTC_ARG_OF(key->text, key->len));
    PtcExpr *test = ptc_analyze_form(an, arg, false);
    PtcExpr *then = test ? for_from(an, st, i + 2, each) : NULL;
    PtcExpr *otherwise = NULL;
    if (stop && then) {
        if (!(otherwise = ptc_analyze_new(an, PTC_X_BREAK, key)))
            return NULL;
        otherwise->target = each;
        each->once = true;
    }
    return ptc_analyze_if(an, test, then, otherwise, arg);
}

/* The loops from binding i on, innermost being the body. */
static PtcExpr *for_from(Analyzer *an, const ForState *st, size_t i, PtcExpr *each)
{
    if (i >= st->bindings->count)
        return for_end(an, st);
    if (an->depth >= PTC_EXPR_DEPTH)
        return ptc_analyze_error(an, PTC_E_DEPTH, st->form, "use fewer bindings",
                                 "for is nested too deep");
    if (is_modifier(st->bindings->items[i])) {
        an->depth++;
        PtcExpr *m = for_modifier(an, st, i, each);
        an->depth--;
        return m;
    }
    const PtcForm *pattern = st->bindings->items[i];
    PtcLocal *scope = an->scope;
    Bindings b = {0};
    PtcExpr *x = ptc_analyze_new(an, PTC_X_EACH, st->bindings->items[i + 1]);
    if (!x || !(x->locals = ptc_arena_zalloc(an->arena, sizeof *x->locals)) ||
        !(x->a = ptc_analyze_form(an, st->bindings->items[i + 1], false)))
        return NULL;
    bool plain = pattern->kind == PTC_F_SYMBOL;
    x->local = st->builder;
    x->locals[0] = plain ? ptc_analyze_bind(an, pattern->text, pattern->len) : ptc_analyze_temp(an);
    if (!x->locals[0] ||
        (!plain &&
         !ptc_analyze_destructure(an, &b, pattern, ptc_analyze_local(an, x->locals[0], pattern))))
        return NULL;
    an->depth++;
    x->b = ptc_analyze_let(an, &b, for_from(an, st, i + 2, x), st->form);
    an->depth--;
    an->scope = scope;
    return x->b ? x : NULL;
}

static PtcExpr *comprehension(Analyzer *an, const PtcForm *form, bool builds)
{
    const PtcForm *v = form->count > 1 ? form->items[1] : NULL;
    if (!pairs(v) || v->count == 0 || is_modifier(v->items[0]))
        return ptc_analyze_error(an, PTC_E_INVALID_FORM, v ? v : form,
                                 "(for [x coll y coll2 :when test] body)",
                                 "%.*s needs a vector that begins with a name and a collection",
                                 PTC_ARG_OF(form->items[0]->text, form->items[0]->len));
    if (builds && form->count < 3)
        return ptc_analyze_error(an, PTC_E_ARITY, form, "(for [x coll] body)", "for needs a body");
    ForState st = {form, v, NULL};
    PtcLocal *scope = an->scope;
    PtcExpr *loop = an->loop;
    uint32_t recur_count = an->recur_count;
    const char *barrier = an->barrier;
    if (recur_count != NO_RECUR)
        an->barrier = builds ? "for" : "doseq";
    an->recur_count = NO_RECUR; /* recur may not jump out of a comprehension */
    PtcExpr *x = ptc_analyze_new(an, PTC_X_BUILD, form);
    if (!x || !(x->locals = ptc_arena_zalloc(an->arena, sizeof *x->locals)))
        return NULL;
    if (builds && !(st.builder = ptc_analyze_temp(an)))
        return NULL;
    PtcExpr *loops = for_from(an, &st, 0, NULL);
    an->scope = scope;
    an->loop = loop;
    an->recur_count = recur_count;
    an->barrier = barrier;
    x->locals[0] = st.builder;
    x->a = loops;
    return !loops ? NULL : builds ? x : loops;
}

PtcExpr *ptc_analyze_for(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    return comprehension(an, form, true);
}

PtcExpr *ptc_analyze_doseq(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    return comprehension(an, form, false);
}

/* (dotimes [i n] body) is (doseq [i (range n)] body). */
PtcExpr *ptc_analyze_dotimes(Analyzer *an, const PtcForm *form, bool tail)
{
    const PtcForm *v = form->count > 1 ? form->items[1] : NULL;
    if (!pairs(v) || v->count != 2)
        return ptc_analyze_error(an, PTC_E_INVALID_FORM, v ? v : form, "(dotimes [i 10] body)",
                                 "dotimes needs one name and a number");
    PtcForm *each = ptc_analyze_new_form(an, PTC_F_LIST, form, form->count);
    PtcForm *bindings = ptc_analyze_new_form(an, PTC_F_VECTOR, v, 2);
    PtcForm *range = ptc_analyze_new_form(an, PTC_F_LIST, v, 2);
    if (!each || !bindings || !range ||
        !(range->items[0] = ptc_analyze_symbol_form(an, "core/range", v)))
        return NULL;
    memcpy(each->items, form->items, form->count * sizeof *form->items);
    range->items[1] = v->items[1];
    bindings->items[0] = v->items[0];
    bindings->items[1] = range;
    each->items[1] = bindings;
    return ptc_analyze_doseq(an, each, tail);
}

/* -------------------------------------------------------------------------------- def */

/* The var of a global as a value, #'name. */
PtcValue ptc_analyze_var(Analyzer *an, const PtcForm *name, int global)
{
    PtcValue symbol = ptc_symbol_new(an->heap, name->text, name->len);
    PtcRecord *o = symbol == PTC_NONE
                       ? NULL
                       : ptc_heap_object(an->heap, PTC_T_VAR, sizeof *o + 2 * sizeof symbol, 2);
    if (!o)
        return PTC_NONE;
    o->fields[0] = symbol;
    o->fields[1] = ptc_int(global);
    return ptc_from_obj(o);
}

static PtcExpr *define_as(Analyzer *an, const PtcForm *form, const PtcForm *name, PtcExpr *value,
                          bool once)
{
    int global = ptc_analyze_global(an, name->text, name->len);
    PtcExpr *x = value && global >= 0 ? ptc_analyze_new(an, PTC_X_DEF, form) : NULL;
    if (!x || (x->value = ptc_analyze_var(an, name, global)) == PTC_NONE)
        return NULL;
    x->index = (uint32_t)global;
    x->a = value;
    x->once = once;
    if ((size_t)global < an->global_cap) {
        if (an->global_defs[global] < 2)
            an->global_defs[global]++;
        if (value->kind == PTC_X_FN)
            an->global_fns[global] = value->fn;
    }
    return x;
}

static PtcExpr *define_first_name(Analyzer *an, const PtcForm *form, PtcExpr *value, bool once)
{
    return define_as(an, form, form->items[1], value, once);
}

PtcExpr *ptc_analyze_define(Analyzer *an, const PtcForm *at, const PtcForm *name, PtcExpr *value)
{
    ptc_analyze_know_global(an, ptc_names_find(an->names, name->text, name->len));
    if (memchr(name->text, '/', name->len) && name->len > 1)
        return ptc_analyze_error(an, PTC_E_INVALID_FORM, name, "write a name without a namespace",
                                 "this needs a plain name");
    return define_as(an, at, name, value, false);
}

/* Is this a def with a name and enough besides?  The name is known from here on, to its own value too. */
static bool definable(Analyzer *an, const PtcForm *form, size_t min, const char *usage,
                      PtcExpr **bad)
{
    if (form->count < min + 1) {
        *bad = ptc_analyze_error(an, PTC_E_ARITY, form, usage, "%.*s needs a name and a value",
                                 PTC_ARG_OF(form->items[0]->text, form->items[0]->len));
        return false;
    }
    const PtcForm *name = form->items[1];
    if (name->kind != PTC_F_SYMBOL || (memchr(name->text, '/', name->len) && name->len > 1)) {
        *bad = ptc_analyze_error(an, PTC_E_INVALID_FORM, name, usage, "%.*s needs a plain name",
                                 PTC_ARG_OF(form->items[0]->text, form->items[0]->len));
        return false;
    }
    ptc_analyze_know_global(an, ptc_names_find(an->names, name->text, name->len));
    return true;
}

static PtcExpr *def_form(Analyzer *an, const PtcForm *form, bool once)
{
    PtcExpr *bad;
    if (!definable(an, form, 2, "(def name value)", &bad))
        return bad;
    bool doc = form->count == 4 && form->items[2]->kind == PTC_F_STRING;
    if (form->count > 4 || (form->count == 4 && !doc))
        return ptc_analyze_error(an, PTC_E_ARITY, form, "(def name \"doc\" value)",
                                 "def takes a name, an optional doc string and a value");
    return define_first_name(an, form, ptc_analyze_form(an, form->items[form->count - 1], false),
                             once);
}

/* (declare a b ...): the names may be used from here on. */
PtcExpr *ptc_analyze_declare(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    for (size_t i = 1; i < form->count; i++) {
        const PtcForm *name = form->items[i];
        if (name->kind != PTC_F_SYMBOL)
            return ptc_analyze_error(an, PTC_E_INVALID_FORM, name, "(declare name ...)",
                                     "declare takes names");
        ptc_analyze_know_global(an, ptc_names_find(an->names, name->text, name->len));
    }
    return ptc_analyze_nil(an, form);
}

PtcExpr *ptc_analyze_def(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    return def_form(an, form, false);
}

PtcExpr *ptc_analyze_defonce(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    return def_form(an, form, true);
}

PtcExpr *ptc_analyze_defn_fn(Analyzer *an, const PtcForm *form)
{
    size_t first = 2;
    PtcValue doc = PTC_NIL;
    if (form->items[2]->kind == PTC_F_STRING && form->count > 3)
        doc = ptc_analyze_string(an, form->items[first++]->text, form->items[2]->len);
    if (first < form->count && form->items[first]->kind == PTC_F_MAP)
        first++; /* metadata */
    if (doc == PTC_NONE)
        return NULL;
    FnName name = {form->items[1]->text, form->items[1]->len, false, doc, PTC_FORM_DEFN};
    return ptc_analyze_fn(an, form, first, &name);
}

PtcExpr *ptc_analyze_defn(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    PtcExpr *bad;
    if (!definable(an, form, 2, "(defn name [a b] body...)", &bad))
        return bad;
    return define_first_name(an, form, ptc_analyze_defn_fn(an, form), false);
}
