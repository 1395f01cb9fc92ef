/* SPDX-License-Identifier: MIT
 * From forms to checked expressions: literals, calls and functions.  Findings are gathered, not
 * thrown: after one, analysis goes on with nil in its place. */
#include "lisp/analyze/analyze_int.h"

#include <stdarg.h>
#include <stdio.h>

#include "lisp/vm/record.h"
#include "value/regex/regex.h"

/* ------------------------------------------------------------------- small tools */

PtcExpr *ptc_analyze_new(Analyzer *an, PtcExprKind kind, const PtcForm *at)
{
    PtcExpr *x = ptc_arena_zalloc(an->arena, sizeof *x);
    if (!x)
        return NULL;
    x->kind = kind;
    x->first = at->first;
    x->last = at->last;
    return x;
}

PtcExpr *ptc_analyze_const(Analyzer *an, PtcValue v, const PtcForm *at)
{
    PtcExpr *x = v == PTC_NONE ? NULL : ptc_analyze_new(an, PTC_X_CONST, at);
    if (x)
        x->value = v;
    return x;
}

PtcExpr *ptc_analyze_nil(Analyzer *an, const PtcForm *at)
{
    return ptc_analyze_const(an, PTC_NIL, at);
}

PtcExpr *ptc_analyze_error(Analyzer *an, PtcErrorKind kind, const PtcForm *at, const char *hint,
                           const char *format, ...)
{
    char text[2 * PTC_MESSAGE_MAX]; /* ptc_diag_add cuts it between characters */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    PtcDiag *d = ptc_diag_add(an->diags, kind, at->first, at->last, "%s", text);
    if (hint)
        ptc_diag_hint(d, "%s", hint);
    return ptc_analyze_nil(an, at);
}

PtcExpr **ptc_analyze_items(Analyzer *an, size_t n)
{
    return ptc_arena_zalloc(an->arena, (n ? n : 1) * sizeof(PtcExpr *));
}

bool ptc_analyze_all(Analyzer *an, PtcForm *const *forms, size_t n, PtcExpr **out)
{
    for (size_t i = 0; i < n; i++)
        if (!(out[i] = ptc_analyze_form(an, forms[i], false)))
            return false;
    return true;
}

PtcLocal *ptc_analyze_bind(Analyzer *an, const char *name, size_t len)
{
    PtcLocal *l = ptc_arena_zalloc(an->arena, sizeof *l);
    if (!l)
        return NULL;
    l->name = name;
    l->len = len;
    l->outer = an->scope;
    l->fn = an->fn;
    an->scope = l;
    return l;
}

PtcLocal *ptc_analyze_temp(Analyzer *an)
{
    return ptc_analyze_bind(an, "", 0);
}

PtcExpr *ptc_analyze_builtin(Analyzer *an, const char *name, PtcExpr **args, size_t count,
                             const PtcForm *at)
{
    PtcExpr *x = ptc_analyze_new(an, PTC_X_CALLB, at);
    if (!x)
        return NULL;
    int row = ptc_builtin_find(name, strlen(name));
    x->index = (uint32_t)row;
    x->items = args;
    x->count = (uint32_t)count;
    return x;
}

PtcExpr *ptc_analyze_if(Analyzer *an, PtcExpr *test, PtcExpr *then, PtcExpr *otherwise,
                        const PtcForm *at)
{
    PtcExpr *x = test && then ? ptc_analyze_new(an, PTC_X_IF, at) : NULL;
    if (!x)
        return NULL;
    x->a = test;
    x->b = then;
    x->c = otherwise;
    return x;
}

PtcForm *ptc_analyze_new_form(Analyzer *an, PtcFormKind kind, const PtcForm *at, size_t count)
{
    PtcForm *f = ptc_arena_zalloc(an->arena, sizeof *f);
    if (!f)
        return NULL;
    f->kind = kind;
    f->first = at->first;
    f->last = at->last;
    f->count = (uint32_t)count;
    if (kind == PTC_F_LIST || kind == PTC_F_VECTOR || kind == PTC_F_MAP || kind == PTC_F_SET ||
        kind == PTC_F_QUOTE) {
        f->items = ptc_arena_zalloc(an->arena, (count ? count : 1) * sizeof(PtcForm *));
        if (!f->items)
            return NULL;
    }
    return f;
}

PtcForm *ptc_analyze_symbol_form(Analyzer *an, const char *name, const PtcForm *at)
{
    PtcForm *f = ptc_analyze_new_form(an, PTC_F_SYMBOL, at, 0);
    if (f) {
        f->text = name;
        f->len = strlen(name);
    }
    return f;
}

/* --------------------------------------------------------------------- constants */

static bool grow_constants(Analyzer *an)
{
    size_t cap = an->constant_cap ? an->constant_cap * 2 : 64;
    PtcValue *table = ptc_arena_zalloc(an->arena, cap * sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < an->constant_cap; i++) {
        PtcValue v = an->constants[i];
        if (v == PTC_NONE)
            continue;
        size_t at = ptc_str_hash(v) & (cap - 1);
        while (table[at] != PTC_NONE)
            at = (at + 1) & (cap - 1);
        table[at] = v;
    }
    an->constants = table;
    an->constant_cap = cap;
    return true;
}

static PtcValue intern(Analyzer *an, PtcTag tag, const char *text, size_t len)
{
    if (an->constant_count * 2 >= an->constant_cap && !grow_constants(an))
        return PTC_NONE;
    size_t at = ptc_str_hash_bytes(text, len) & (an->constant_cap - 1);
    for (; an->constants[at] != PTC_NONE; at = (at + 1) & (an->constant_cap - 1)) {
        PtcValue v = an->constants[at];
        if (ptc_tag(v) == tag && ptc_str_len(v) == len && memcmp(ptc_str_bytes(v), text, len) == 0)
            return v;
    }
    PtcValue v = tag == PTC_T_KEYWORD ? ptc_keyword_new(an->heap, text, len)
                                      : ptc_str_new(an->heap, text, len);
    if (v != PTC_NONE) {
        an->constants[at] = v;
        an->constant_count++;
    }
    return v;
}

PtcValue ptc_analyze_keyword(Analyzer *an, const char *text, size_t len)
{
    return intern(an, PTC_T_KEYWORD, text, len);
}

PtcValue ptc_analyze_string(Analyzer *an, const char *text, size_t len)
{
    return intern(an, PTC_T_STRING, text, len);
}

/* ---------------------------------------------------------------------- literals */

static bool all_const(PtcExpr *const *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (items[i]->kind != PTC_X_CONST)
            return false;
    return true;
}

static PtcExpr *const_vector(Analyzer *an, const PtcForm *form, PtcExpr *const *items, size_t n)
{
    PtcValue b = ptc_build_new(an->heap);
    for (size_t i = 0; b != PTC_NONE && i < n; i++)
        if (!ptc_build_add(an->heap, b, items[i]->value))
            return NULL;
    return b == PTC_NONE ? NULL : ptc_analyze_const(an, ptc_build_done(an->heap, b, 0), form);
}

/* Sets and maps with constant keys: the same key twice is a mistake. */
static bool check_literal_keys(Analyzer *an, const PtcForm *form, PtcExpr *const *items, size_t n,
                               size_t step)
{
    PtcDictBuild seen;
    if (!ptc_dict_build_init(&seen, an->heap, true))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < n; i += step) {
        if (items[i]->kind != PTC_X_CONST)
            continue;
        bool twice = ptc_dict_build_find(&seen, items[i]->value) >= 0;
        if (twice)
            ptc_analyze_error(an, PTC_E_INVALID_FORM, form->items[i], "keep one of the two",
                              "this %s twice",
                              step == 2 ? "map has the same key" : "set holds the same element");
        ok = ptc_dict_build_put(&seen, items[i]->value, PTC_NIL);
    }
    ptc_dict_build_cancel(&seen);
    return ok;
}

static PtcExpr *const_dict(Analyzer *an, const PtcForm *form, PtcExpr *const *items, size_t n,
                           bool is_set)
{
    PtcDictBuild b;
    if (!ptc_dict_build_init(&b, an->heap, is_set))
        return NULL;
    for (size_t i = 0; i < n; i += is_set ? 1 : 2)
        if (!ptc_dict_build_put(&b, items[i]->value, is_set ? PTC_NIL : items[i + 1]->value)) {
            ptc_dict_build_cancel(&b);
            return NULL;
        }
    return ptc_analyze_const(an, ptc_dict_build_done(&b), form);
}

static PtcExpr *analyze_literal(Analyzer *an, const PtcForm *form)
{
    size_t n = form->count;
    PtcExpr **items = ptc_analyze_items(an, n);
    if (!items || !ptc_analyze_all(an, form->items, n, items))
        return NULL;
    bool is_set = form->kind == PTC_F_SET, is_map = form->kind == PTC_F_MAP;
    if ((is_set || is_map) && !check_literal_keys(an, form, items, n, is_set ? 1 : 2))
        return NULL;
    if (all_const(items, n))
        return is_set || is_map ? const_dict(an, form, items, n, is_set)
                                : const_vector(an, form, items, n);
    PtcExpr *x = ptc_analyze_new(an, is_set ? PTC_X_SET : is_map ? PTC_X_MAP : PTC_X_VECTOR, form);
    if (!x)
        return NULL;
    x->items = items;
    x->count = (uint32_t)n;
    return x;
}

/* ------------------------------------------------------------------------- calls */

static void arity_text(const PtcBuiltin *row, char *out, size_t size)
{
    if (row->min == row->max)
        snprintf(out, size, "%d argument%s", row->min, row->min == 1 ? "" : "s");
    else if (row->max < 0)
        snprintf(out, size, "at least %d argument%s", row->min, row->min == 1 ? "" : "s");
    else
        snprintf(out, size, "%d to %d arguments", row->min, row->max);
}

/* A key that is given to sum was meant for sum-by; the same goes for every function that has such a variant. */
static void arity_hint(const PtcBuiltin *row, int argc, char *out, size_t size)
{
    char by[64];
    int n = snprintf(by, sizeof by, "%s-by", row->name);
    int index = n < (int)sizeof by ? ptc_builtin_find(by, (size_t)n) : -1;
    const PtcBuiltin *other = index >= 0 ? ptc_builtin_row((uint32_t)index) : NULL;
    if (other && argc >= other->min && (other->max < 0 || argc <= other->max))
        snprintf(out, size, "usage: %s; with a key: %s", row->usage, other->usage);
    else
        snprintf(out, size, "usage: %s", row->usage);
}

static PtcExpr *analyze_builtin_call(Analyzer *an, const PtcForm *form, int index, PtcExpr **args)
{
    const PtcBuiltin *row = ptc_builtin_row((uint32_t)index);
    int argc = (int)form->count - 1;
    if (argc < row->min || (row->max >= 0 && argc > row->max)) {
        char takes[64], usage[PTC_HINT_MAX];
        arity_text(row, takes, sizeof takes);
        arity_hint(row, argc, usage, sizeof usage);
        return ptc_analyze_error(an, PTC_E_ARITY, form, usage, "%s takes %s, got %d", row->name,
                                 takes, argc);
    }
    PtcExpr *x = ptc_analyze_new(an, PTC_X_CALLB, form);
    if (!x)
        return NULL;
    x->index = (uint32_t)index;
    x->items = args;
    x->count = (uint32_t)argc;
    return x;
}

/* The only functions among constants are tools: their row is called with the function before the arguments. */
static PtcExpr *analyze_tool_call(Analyzer *an, const PtcForm *form, PtcExpr *f, PtcExpr **args)
{
    size_t argc = form->count - 1;
    PtcExpr **all = ptc_analyze_items(an, argc + 1);
    if (!all)
        return NULL;
    all[0] = f;
    for (size_t i = 0; i < argc; i++)
        all[i + 1] = args[i];
    return ptc_analyze_builtin(an, "%tool", all, argc + 1, form);
}

static bool note_site(Analyzer *an, uint32_t global, uint32_t argc, const PtcForm *form)
{
    CallSite *s = ptc_arena_push(an->arena, an->sites, an->site_count, sizeof *s);
    if (!s)
        return false;
    an->sites = s;
    s[an->site_count++] = (CallSite){global, argc, form};
    return true;
}

static bool never_callable(PtcFormKind kind)
{
    return kind == PTC_F_NUMBER || kind == PTC_F_STRING || kind == PTC_F_NIL ||
           kind == PTC_F_TRUE || kind == PTC_F_FALSE || kind == PTC_F_TAGGED;
}

/* (doc if) and (dir clojure.string) mean the names themselves.  A local means its value, and so does a name whose
 * value doc can describe, since the value knows what an alias stands for. */
static bool means_name(Analyzer *an, const PtcForm *arg, int row)
{
    const PtcBuiltin *b = ptc_builtin_row((uint32_t)row);
    if (!(b->flags & PTC_B_NAME) || arg->kind != PTC_F_SYMBOL ||
        ptc_analyze_find_local(an, arg->text, arg->len))
        return false;
    return strcmp(b->name, "doc") != 0 || ptc_analyze_builtin_of(an, arg) < 0;
}

/* The arguments of a call; row: the builtin that is called, or -1. */
static bool arguments(Analyzer *an, const PtcForm *form, int row, PtcExpr **args)
{
    size_t argc = form->count - 1, first = 0;
    if (row >= 0 && argc > 0 && means_name(an, form->items[1], row)) {
        if (!(args[0] =
                  ptc_analyze_const(an, ptc_analyze_quote(an, form->items[1]), form->items[1])))
            return false;
        first = 1;
    }
    return ptc_analyze_all(an, form->items + 1 + first, argc - first, args + first);
}

/* Forms such as defmacro that would define names but do not exist here.  The names are not reported as unknown as
 * well. */
static bool is_missing_def(const PtcForm *head)
{
    return head->kind == PTC_F_SYMBOL && head->len > 3 && memcmp(head->text, "def", 3) == 0 &&
           ptc_analyze_is_missing(head);
}

/* (time x) gives x: there is no time to tell.  Only as a call, since data is often named time. */
static bool is_timing(Analyzer *an, const PtcForm *head)
{
    return ptc_form_is_symbol(head, "time") && !ptc_analyze_find_local(an, "time", 4) &&
           ptc_analyze_global(an, "time", 4) < 0;
}

static PtcExpr *analyze_call(Analyzer *an, const PtcForm *form)
{
    const PtcForm *head = form->items[0];
    size_t argc = form->count - 1;
    if (never_callable(head->kind))
        return ptc_analyze_error(an, PTC_E_NOT_CALLABLE, form,
                                 head->kind == PTC_F_STRING ? ptc_hint_string_called
                                                            : ptc_hint_data_called,
                                 "%s is not a function and cannot be called",
                                 head->kind == PTC_F_STRING   ? "a string"
                                 : head->kind == PTC_F_NUMBER ? "a number"
                                 : head->kind == PTC_F_NIL    ? "nil"
                                 : head->kind == PTC_F_TAGGED ? "a tagged literal"
                                                              : "a boolean");
    if (argc == 1 && is_timing(an, head))
        return ptc_analyze_form(an, form->items[1], false);
    PtcExpr **args = ptc_analyze_items(an, argc);
    if (!args)
        return NULL;
    int row = head->kind == PTC_F_SYMBOL ? ptc_analyze_builtin_of(an, head) : -1;
    if (row < 0 && head->kind == PTC_F_SYMBOL && head->len > 1) {
        PtcForm *made = head->text[head->len - 1] == '.' ? ptc_analyze_constructor(an, form) : NULL;
        if (made)
            return analyze_call(an, made);
        PtcExpr *field = head->text[0] == '.' ? ptc_analyze_field(an, form) : NULL;
        if (field || an->arena->failed)
            return field;
    }
    PtcExpr *f = row >= 0 ? NULL : ptc_analyze_form(an, head, false);
    if (f && f->kind == PTC_X_CONST && !ptc_is_record(f->value, PTC_R_FN) &&
        !ptc_is(f->value, PTC_T_CLOSURE) && head->kind == PTC_F_SYMBOL &&
        ptc_analyze_is_missing(head)) {
        if (is_missing_def(head) && argc > 0 && form->items[1]->kind == PTC_F_SYMBOL)
            ptc_analyze_know_global(
                an, ptc_names_find(an->names, form->items[1]->text, form->items[1]->len));
        return f; /* reported; findings about its parts would only distract */
    }
    if (argc == 0 && f && f->kind == PTC_X_CONST && !ptc_is_record(f->value, PTC_R_FN) &&
        head->kind == PTC_F_SYMBOL && memchr(head->text, '/', head->len))
        return f; /* (Math/PI) is Math/PI */
    if ((row < 0 && !f) || !arguments(an, form, row, args))
        return NULL;
    if (row >= 0 && an->servers && ptc_text_is((PtcText){head->text, head->len}, "tool/call"))
        ptc_analyze_check_call(an, form);
    if (row >= 0)
        return analyze_builtin_call(an, form, row, args);
    if (f->kind == PTC_X_CONST && ptc_is_record(f->value, PTC_R_FN))
        return analyze_tool_call(an, form, f, args);
    PtcExpr *x = ptc_analyze_new(an, PTC_X_CALL, form);
    if (!x || (f->kind == PTC_X_GLOBAL && !note_site(an, f->index, (uint32_t)argc, form)))
        return NULL;
    x->a = f;
    x->items = args;
    x->count = (uint32_t)argc;
    return x;
}

/* Special forms of Clojure, which no name can hide. */
static bool is_basic(const PtcForm *head)
{
    static const char *const names[] = {"if", "do", "def", "quote", "recur", "try", "new", "."};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (ptc_text_is((PtcText){head->text, head->len}, names[i]))
            return true;
    return false;
}

/* Has the program given the name of this form to something else? */
static bool is_hidden(Analyzer *an, const PtcForm *head)
{
    bool local = ptc_analyze_find_local(an, head->text, head->len) != NULL;
    bool global = !local && (an->hides_forms || an->lone) &&
                  ptc_analyze_global(an, head->text, head->len) >= 0;
    bool ours = ptc_analyze_is_ours(head);
    if (global || (ours && (local || ptc_names_find(an->names, head->text, head->len) >= 0)))
        ptc_analyze_warn_form(an, head, local || global);
    return local || global;
}

/* Does the form repeat what stands in it?  Only asked for a program that is planned. */
static bool is_repeating_form(const Analyzer *an, const PtcForm *head)
{
    return an->servers && an->servers->site &&
           (ptc_form_is_symbol(head, "for") || ptc_form_is_symbol(head, "doseq") ||
            ptc_form_is_symbol(head, "dotimes") || ptc_form_is_symbol(head, "while"));
}

static PtcExpr *analyze_list(Analyzer *an, const PtcForm *form, bool tail)
{
    if (form->count == 0) {
        PtcValue empty = ptc_vec_new(an->heap, NULL, 0, PTC_SEQ);
        return ptc_analyze_const(an, empty, form);
    }
    const PtcForm *head = form->items[0];
    FormFn special = head->kind == PTC_F_SYMBOL ? ptc_analyze_special(head->text, head->len) : NULL;
    if (special && !is_basic(head) && is_hidden(an, head))
        special = NULL;
    const PtcForm *outer = an->parent;
    uint32_t more = special && is_repeating_form(an, head);
    an->parent = form;
    an->repeats += more;
    PtcExpr *x = special ? special(an, form, tail) : analyze_call(an, form);
    an->repeats -= more;
    an->parent = outer;
    return x;
}

/* -------------------------------------------------------------------------- forms */

static PtcExpr *var_form(Analyzer *an, const PtcForm *form)
{
    int global = ptc_analyze_global(an, form->text, form->len);
    int row = global < 0 ? ptc_builtin_written(form->text, form->len) : -1;
    if (row >= 0)
        return ptc_analyze_const(an, ptc_builtin((uint32_t)row), form);
    if (global < 0)
        return ptc_analyze_error(an, PTC_E_UNBOUND, form, "define it with def first",
                                 "#'%.*s: no such var", PTC_ARG_OF(form->text, form->len));
    return ptc_analyze_const(an, ptc_analyze_var(an, form, global), form);
}

/* Compiled here, once. */
PtcValue ptc_analyze_regex(Analyzer *an, const PtcForm *form)
{
    PtcRegexError error = {"", 0};
    PtcValue pattern = ptc_analyze_string(an, form->text, form->len);
    PtcValue regex = pattern == PTC_NONE ? PTC_NONE : ptc_regex_new(an->heap, pattern, &error);
    if (!error.message[0])
        return regex;
    ptc_analyze_error(an, PTC_E_INVALID_FORM, form, "",
                      "the regex is not valid near its character %zu: %s",
                      ptc_regex_error_place(pattern, &error), error.message);
    return PTC_NIL;
}

static PtcExpr *any_form(Analyzer *an, const PtcForm *form, bool tail)
{
    switch (form->kind) {
    case PTC_F_NIL: return ptc_analyze_nil(an, form);
    case PTC_F_TRUE:
    case PTC_F_FALSE: return ptc_analyze_const(an, ptc_bool(form->kind == PTC_F_TRUE), form);
    case PTC_F_NUMBER:
    case PTC_F_TAGGED: return ptc_analyze_const(an, form->value, form);
    case PTC_F_STRING:
        return ptc_analyze_const(an, ptc_analyze_string(an, form->text, form->len), form);
    case PTC_F_KEYWORD:
        return ptc_analyze_const(an, ptc_analyze_keyword(an, form->text, form->len), form);
    case PTC_F_REGEX: return ptc_analyze_const(an, ptc_analyze_regex(an, form), form);
    case PTC_F_SYMBOL: return ptc_analyze_symbol(an, form);
    case PTC_F_LIST: return analyze_list(an, form, tail);
    case PTC_F_VECTOR:
    case PTC_F_MAP:
    case PTC_F_SET: return analyze_literal(an, form);
    case PTC_F_SHORT_FN: return ptc_analyze_short_fn(an, form);
    case PTC_F_QUOTE: return ptc_analyze_const(an, ptc_analyze_quote(an, form->items[0]), form);
    case PTC_F_TEMPLATE: return ptc_analyze_template(an, form);
    case PTC_F_UNQUOTE:
    case PTC_F_SPLICE: return ptc_analyze_unquote(an, form);
    case PTC_F_VAR: return var_form(an, form);
    }
    return ptc_analyze_nil(an, form);
}

PtcExpr *ptc_analyze_form(Analyzer *an, const PtcForm *form, bool tail)
{
    if (!ptc_tick(an->heap->budget, 1))
        return NULL;
    if (an->depth >= PTC_EXPR_DEPTH)
        return ptc_analyze_error(an, PTC_E_DEPTH, form, "name inner steps with let or defn",
                                 "forms are nested deeper than %d once macros are opened up",
                                 PTC_EXPR_DEPTH);
    an->depth++;
    PtcExpr *x = any_form(an, form, tail);
    an->depth--;
    return x;
}

PtcExpr *ptc_analyze_body(Analyzer *an, PtcForm *const *forms, size_t count, const PtcForm *whole,
                          bool tail)
{
    if (count == 0)
        return ptc_analyze_nil(an, whole);
    if (count == 1)
        return ptc_analyze_form(an, forms[0], tail);
    PtcExpr *x = ptc_analyze_new(an, PTC_X_DO, whole);
    PtcExpr **items = ptc_analyze_items(an, count);
    if (!x || !items)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (!(items[i] = ptc_analyze_form(an, forms[i], tail && i + 1 == count)))
            return NULL;
    ptc_analyze_warn_dropped(an, forms, items, count, an->parent == NULL);
    x->items = items;
    x->count = (uint32_t)count;
    return x;
}

/* ----------------------------------------------------------------- the whole program */

static bool declare_name(Analyzer *an, const PtcForm *name)
{
    if (name->kind != PTC_F_SYMBOL || memchr(name->text, '/', name->len))
        return true;
    an->hides_forms = an->hides_forms || ptc_analyze_special(name->text, name->len);
    if (ptc_names_add(an->names, name->text, name->len) >= 0)
        return true;
    if (an->names->count >= UINT16_MAX)
        ptc_analyze_error(an, PTC_E_SIZE, name, "keep data in maps",
                          "a session holds at most %d names", UINT16_MAX);
    else
        an->arena->failed = true;
    return false;
}

static bool is_def(const PtcForm *head)
{
    return is_missing_def(head) || ptc_form_is_symbol(head, "def") ||
           ptc_form_is_symbol(head, "defn") || ptc_form_is_symbol(head, "defn-") ||
           ptc_form_is_symbol(head, "defonce") || ptc_form_is_symbol(head, "defmulti");
}

/* Adds the names that the program defines anywhere: each has its number before anything is analyzed. */
static bool declare_defined_names(Analyzer *an, const PtcForm *form)
{
    bool coll = form->kind == PTC_F_LIST || form->kind == PTC_F_VECTOR || form->kind == PTC_F_MAP ||
                form->kind == PTC_F_SET || form->kind == PTC_F_SHORT_FN;
    if (!coll || form->count == 0)
        return true;
    bool list = form->kind == PTC_F_LIST;
    if (list && ptc_form_is_symbol(form->items[0], "comment"))
        return true;
    if (list && form->count >= 2 && is_def(form->items[0]) && !declare_name(an, form->items[1]))
        return false;
    const PtcForm *name;
    for (size_t i = 0; list && (name = ptc_analyze_defined(an, form, i)) != NULL; i++)
        if (!declare_name(an, name))
            return false;
    for (size_t i = 1; list && ptc_form_is_symbol(form->items[0], "declare") && i < form->count;
         i++)
        if (!declare_name(an, form->items[i]))
            return false;
    for (size_t i = 0; i < form->count; i++)
        if (!declare_defined_names(an, form->items[i]))
            return false;
    return ptc_tick(an->heap->budget, 1);
}

/* Forms such as defmacro at the top come first among the findings: there is room for ten, and what they would have
 * defined is missing everywhere else because of them.  Their names count as known, so that nothing more is said about
 * these. */
static void report_causes(Analyzer *an, PtcForm **forms, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const PtcForm *f = forms[i];
        if (f->kind != PTC_F_LIST || f->count < 2 || !is_missing_def(f->items[0]) ||
            f->items[1]->kind != PTC_F_SYMBOL || ptc_analyze_builtin_of(an, f->items[0]) >= 0 ||
            ptc_analyze_global(an, f->items[0]->text, f->items[0]->len) >= 0)
            continue;
        (void)ptc_analyze_unknown(an, f->items[0]);
        ptc_analyze_know_global(an, ptc_names_find(an->names, f->items[1]->text, f->items[1]->len));
        an->missing_defs = true;
    }
}

/* Calls of functions that the program defines exactly once are checked like builtins. */
static void check_sites(Analyzer *an)
{
    for (size_t i = 0; i < an->site_count; i++) {
        const CallSite *s = &an->sites[i];
        if (s->global >= an->global_cap || an->global_defs[s->global] != 1 ||
            !an->global_fns[s->global])
            continue;
        const PtcFn *fn = an->global_fns[s->global];
        bool fits = false;
        for (size_t k = 0; k < fn->arity_count; k++) {
            const PtcArity *a = &fn->arities[k];
            fits = fits || (a->variadic ? s->argc + 1 >= a->count : s->argc == a->count);
        }
        if (!fits && fn->arity_count == 1)
            ptc_analyze_error(
                an, PTC_E_ARITY, s->form, "count the arguments against its parameter list",
                "%.*s takes %s%u argument%s, got %u", PTC_ARG_OF(fn->name, fn->name_len),
                fn->arities[0].variadic ? "at least " : "",
                fn->arities[0].count - fn->arities[0].variadic,
                fn->arities[0].count - fn->arities[0].variadic == 1 ? "" : "s", s->argc);
        else if (!fits)
            ptc_analyze_error(an, PTC_E_ARITY, s->form,
                              "count the arguments against its parameter lists",
                              "%.*s has no variant for %u arguments",
                              PTC_ARG_OF(fn->name, fn->name_len), s->argc);
    }
}

/* The first `earlier` are the session's. */
static bool prepare_globals(Analyzer *an, size_t earlier)
{
    size_t n = an->names->count;
    an->global_cap = n;
    an->global_fns = ptc_arena_zalloc(an->arena, (n ? n : 1) * sizeof *an->global_fns);
    an->global_defs = ptc_arena_zalloc(an->arena, n ? n : 1);
    an->global_known = ptc_arena_zalloc(an->arena, (n ? n : 1) * sizeof *an->global_known);
    for (size_t i = 0; an->global_known && i < earlier; i++)
        an->global_known[i] = KNOWN_EARLIER;
    return an->global_fns && an->global_defs && an->global_known;
}

PtcFn *ptc_analyze_start(Analyzer *an, const PtcAnalysis *job)
{
    *an = (Analyzer){.arena = job->arena,
                     .heap = job->heap,
                     .diags = job->diags,
                     .names = job->names,
                     .source = job->source,
                     .source_len = job->source_len,
                     .host = job->host,
                     .servers = job->servers,
                     .context = job->context,
                     .bare_data = job->bare_data,
                     .warnings = job->warnings,
                     .recur_count = NO_RECUR};
    for (uint32_t i = 0; i < an->names->count && !an->has_types; i++) /* of earlier runs */
        an->has_types = an->names->items[i].len > 2 && !memcmp(an->names->items[i].text, "->", 2);
    PtcFn *fn = ptc_arena_zalloc(an->arena, sizeof *fn);
    PtcArity *arity = ptc_arena_zalloc(an->arena, sizeof *arity);
    if (!fn || !arity)
        return NULL;
    fn->doc = PTC_NIL;
    fn->arities = arity;
    fn->arity_count = 1;
    fn->last = arity->last = (uint32_t)an->source_len;
    return fn;
}

PtcFn *ptc_analyze(const PtcAnalysis *job, PtcForm **forms, size_t count)
{
    Analyzer an;
    PtcFn *fn = ptc_analyze_start(&an, job);
    if (!fn)
        return NULL;
    PtcArity *arity = fn->arities;
    size_t earlier = an.names->count;
    for (size_t i = 0; i < count; i++)
        if (!declare_defined_names(&an, forms[i]))
            return NULL;
    an.has_ns = an.names->alias_count > 0; /* from earlier runs of the session */
    if (!prepare_globals(&an, earlier))
        return NULL;
    an.facts.earlier = earlier;
    an.fn = fn;
    report_causes(&an, forms, count);
    PtcForm whole = {.kind = PTC_F_LIST, .first = 0, .last = (uint32_t)an.source_len};
    arity->body = ptc_analyze_body(&an, forms, count, &whole, false);
    if (arity->body)
        check_sites(&an);
    an.facts.defs = an.global_defs;
    an.facts.def_count = an.global_cap;
    if (job->facts)
        *job->facts = an.facts;
    return arity->body && an.diags->count == 0 && !an.arena->failed ? fn : NULL;
}
