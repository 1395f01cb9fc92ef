/* SPDX-License-Identifier: MIT
 * defrecord, deftype, defprotocol, extend-type, extend-protocol, reify, defmulti and defmethod, opened up into
 * definitions and calls of hidden builtins (types.c, protocols.c, multi.c).  What always holds: every
 * method is a function whose text makes it again, so that sessions can be stored; the fields of a type are locals
 * around its methods, which capture those that they use (dispatch.h: inline). */
#include <stdio.h>

#include "lisp/analyze/analyze_int.h"
#include "lisp/dispatch/dispatch.h"
#include "value/coll/typed.h"

/* The namespace that programs are in, as in ::name. */
#define OWN_NAMESPACE "user."

static PtcExpr *refuse_type_form(Analyzer *an, const PtcForm *at, const char *usage,
                                 const char *what)
{
    return ptc_analyze_error(an, PTC_E_INVALID_FORM, at, usage, "%s", what);
}

/* ------------------------------------------------------------------------------- pieces */

/* before + name as text of the arena. */
static PtcText join_type_name(Analyzer *an, const char *before, const PtcForm *name)
{
    size_t n = strlen(before);
    char *text = ptc_arena_alloc(an->arena, n + name->len + 1);
    if (!text)
        return (PtcText){NULL, 0};
    memcpy(text, before, n);
    memcpy(text + n, name->text, name->len);
    text[n + name->len] = 0;
    return (PtcText){text, n + name->len};
}

/* The symbol before + name as a form, at the place of the name. */
static PtcForm *new_named_form(Analyzer *an, const char *before, const PtcForm *name)
{
    PtcText text = join_type_name(an, before, name);
    PtcForm *f = text.bytes ? ptc_analyze_new_form(an, PTC_F_SYMBOL, name, 0) : NULL;
    if (f) {
        f->text = text.bytes;
        f->len = text.len;
    }
    return f;
}

/* The full name of a type or protocol as a constant. */
static PtcExpr *analyze_type_name(Analyzer *an, const PtcForm *name)
{
    PtcText text = join_type_name(an, OWN_NAMESPACE, name);
    return text.bytes ? ptc_analyze_const(an, ptc_symbol_new(an->heap, text.bytes, text.len), name)
                      : NULL;
}

static PtcExpr *int_const(Analyzer *an, int64_t n, const PtcForm *at)
{
    return ptc_analyze_const(an, ptc_int(n), at);
}

static PtcExpr *keyword_const(Analyzer *an, const PtcForm *name)
{
    return ptc_analyze_const(an, ptc_analyze_keyword(an, name->text, name->len), name);
}

/* A vector of the keywords of symbols. */
static PtcExpr *keywords(Analyzer *an, PtcForm *const *names, size_t n, const PtcForm *at)
{
    PtcValue b = ptc_build_new(an->heap);
    for (size_t i = 0; b != PTC_NONE && i < n; i++) {
        PtcValue key = ptc_analyze_keyword(an, names[i]->text, names[i]->len);
        if (key == PTC_NONE || !ptc_build_add(an->heap, b, key))
            return NULL;
    }
    return b == PTC_NONE ? NULL : ptc_analyze_const(an, ptc_build_done(an->heap, b, 0), at);
}

/* A call of a hidden builtin. */
static PtcExpr *call_hidden_builtin(Analyzer *an, const char *name, const PtcForm *at, size_t n,
                                    PtcExpr *const *given)
{
    PtcExpr **args = ptc_analyze_items(an, n);
    for (size_t i = 0; args && i < n; i++)
        if (!(args[i] = given[i]))
            return NULL;
    return args ? ptc_analyze_builtin(an, name, args, n, at) : NULL;
}

static PtcExpr *in_order(Analyzer *an, const PtcForm *at, PtcExpr **items, size_t n)
{
    PtcExpr *x = ptc_analyze_new(an, PTC_X_DO, at);
    if (!x)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (!items[i])
            return NULL;
    x->items = items;
    x->count = (uint32_t)n;
    return x;
}

static bool is_method(const PtcForm *f)
{
    return f->kind == PTC_F_LIST && f->count >= 2 && f->items[0]->kind == PTC_F_SYMBOL;
}

/* (method [this ...] body...) of a type or reify: recur leaves out `this`. */
PtcExpr *ptc_analyze_method_fn(Analyzer *an, const PtcForm *form)
{
    FnName name = {form->items[0]->text, form->items[0]->len, false, PTC_NIL, PTC_FORM_METHOD};
    return ptc_analyze_fn(an, form, 1, &name);
}

/* Methods that follow item `at` of a form: how many there are. */
static size_t method_count(const PtcForm *form, size_t at)
{
    size_t n = 0;
    while (at + 1 + n < form->count && form->items[at + 1 + n]->kind == PTC_F_LIST)
        n++;
    return n;
}

/* Keyword and function of n methods from item `at` of a form on, into args. */
static bool add_methods(Analyzer *an, const PtcForm *form, size_t at, size_t n, bool within,
                        PtcExpr **args)
{
    for (size_t i = 0; i < n; i++) {
        const PtcForm *f = form->items[at + i];
        if (!is_method(f)) {
            args[2 * i] = args[2 * i + 1] = refuse_type_form(an, f, "(method [x] body...)",
                                                             "a method is a list of its name, its "
                                                             "parameters and its body");
            if (!args[2 * i])
                return false;
            continue;
        }
        args[2 * i] = keyword_const(an, f->items[0]);
        args[2 * i + 1] = within ? ptc_analyze_method_fn(an, f) : ptc_analyze_letfn_fn(an, f);
        if (!args[2 * i] || !args[2 * i + 1])
            return false;
    }
    return true;
}

/* (builtin type protocol :method f ...) with the methods after item `at`. */
static PtcExpr *extension(Analyzer *an, const char *builtin, const PtcForm *form, size_t at,
                          PtcExpr *type, PtcExpr *protocol)
{
    size_t n = method_count(form, at);
    PtcExpr **args = ptc_analyze_items(an, 2 + 2 * n);
    bool within = strcmp(builtin, "%inline") == 0;
    if (!args || !type || !protocol)
        return NULL;
    args[0] = type;
    args[1] = protocol;
    if (!add_methods(an, form, at + 1, n, within, args + 2))
        return NULL;
    return ptc_analyze_builtin(an, builtin, args, 2 + 2 * n, form->items[at]);
}

/* -------------------------------------------------------------------- defrecord, deftype */

static bool check_type_form(Analyzer *an, const PtcForm *form, PtcExpr **bad)
{
    const char *usage = ptc_form_is_symbol(form->items[0], "deftype")
                            ? "(deftype Name [a b] Protocol (method [this] ...))"
                            : "(defrecord Name [a b] Protocol (method [this] ...))";
    bool good = form->count > 2 && form->items[1]->kind == PTC_F_SYMBOL &&
                form->items[2]->kind == PTC_F_VECTOR;
    for (size_t i = 0; good && i < form->items[2]->count; i++)
        good = form->items[2]->items[i]->kind == PTC_F_SYMBOL;
    if (!good)
        *bad = refuse_type_form(an, form, usage, "a type needs a name and a vector of fields");
    for (size_t i = 0; good && i < form->items[2]->count; i++)
        for (size_t k = 0; good && k < i; k++)
            if (form->items[2]->items[i]->len == form->items[2]->items[k]->len &&
                !memcmp(form->items[2]->items[i]->text, form->items[2]->items[k]->text,
                        form->items[2]->items[i]->len)) {
                *bad =
                    refuse_type_form(an, form->items[2]->items[i], "give each field its own name",
                                     "a type has the same field twice");
                good = false;
            }
    return good;
}

/* The protocols of a type with their methods, in which the fields are seen. */
static PtcExpr *type_methods(Analyzer *an, const PtcForm *form, const PtcForm *name)
{
    const PtcForm *fields = form->items[2];
    PtcExpr **items = ptc_analyze_items(an, form->count + 1);
    PtcLocal *scope = an->scope;
    Bindings b = {0};
    size_t n = 0;
    for (size_t i = 0; i < fields->count; i++)
        if (!ptc_analyze_add_binding(
                an, &b, ptc_analyze_bind(an, fields->items[i]->text, fields->items[i]->len),
                ptc_analyze_nil(an, fields)))
            return NULL;
    if (!items)
        return NULL;
    for (size_t at = 3; at < form->count; at += 1 + method_count(form, at))
        items[n++] =
            form->items[at]->kind == PTC_F_SYMBOL
                ? extension(an, "%inline", form, at, ptc_analyze_symbol(an, name),
                            ptc_analyze_symbol(an, form->items[at]))
                : refuse_type_form(an, form->items[at], "write the protocol before its methods",
                                   "methods of a type come after the name of their protocol");
    items[n++] = ptc_analyze_nil(an, form);
    PtcExpr *body = in_order(an, form, items, n);
    body = body ? ptc_analyze_let(an, &b, body, form) : NULL;
    an->scope = scope;
    return body;
}

static PtcExpr *define_type(Analyzer *an, const PtcForm *form, PtcTypeKind kind)
{
    PtcExpr *bad, **items = ptc_analyze_items(an, 5);
    if (!check_type_form(an, form, &bad))
        return bad;
    const PtcForm *name = form->items[1], *fields = form->items[2];
    PtcForm *maker = new_named_form(an, "->", name), *from_map = new_named_form(an, "map->", name);
    PtcExpr *parts[3] = {analyze_type_name(an, name),
                         keywords(an, fields->items, fields->count, fields),
                         int_const(an, kind, name)};
    if (!items || !maker || !from_map)
        return NULL;
    size_t n = 0;
    items[n++] =
        ptc_analyze_define(an, form, name, call_hidden_builtin(an, "%type", form, 3, parts));
    PtcExpr *type[1] = {ptc_analyze_symbol(an, name)};
    items[n++] =
        ptc_analyze_define(an, form, maker, call_hidden_builtin(an, "%maker", form, 1, type));
    if (kind == PTC_KIND_RECORD)
        items[n++] = ptc_analyze_define(an, form, from_map,
                                        call_hidden_builtin(an, "%map-maker", form, 1, type));
    items[n++] = type_methods(an, form, name);
    items[n++] = ptc_analyze_symbol(an, name);
    return in_order(an, form, items, n);
}

PtcExpr *ptc_analyze_defrecord(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    return define_type(an, form, PTC_KIND_RECORD);
}

PtcExpr *ptc_analyze_deftype(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    return define_type(an, form, PTC_KIND_TYPE);
}

/* ---------------------------------------------------------------------------- protocols */

/* Does this item of a defprotocol declare a method? */
static bool is_signature(const PtcForm *f)
{
    return is_method(f) && f->items[1]->kind == PTC_F_VECTOR;
}

PtcExpr *ptc_analyze_defprotocol(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    const char *usage = "(defprotocol Name (method [this arg]) ...)";
    PtcExpr **items = ptc_analyze_items(an, form->count + 1);
    PtcForm **names = ptc_arena_zalloc(an->arena, (form->count + 1) * sizeof(PtcForm *));
    size_t n = 0, methods = 0;
    if (!items || !names)
        return NULL;
    if (form->count < 2 || form->items[1]->kind != PTC_F_SYMBOL)
        return refuse_type_form(an, form, usage, "defprotocol needs a name");
    for (size_t i = 2; i < form->count; i++) {
        if (is_signature(form->items[i]))
            names[methods++] = form->items[i]->items[0];
        else if (form->items[i]->kind == PTC_F_LIST)
            return refuse_type_form(
                an, form->items[i], usage,
                "a method of a protocol is a list of its name and its parameters");
    }
    const PtcForm *name = form->items[1];
    PtcExpr *parts[2] = {analyze_type_name(an, name), keywords(an, names, methods, form)};
    items[n++] =
        ptc_analyze_define(an, form, name, call_hidden_builtin(an, "%protocol", form, 2, parts));
    for (size_t i = 0; i < methods; i++) {
        PtcExpr *args[2] = {ptc_analyze_symbol(an, name), keyword_const(an, names[i])};
        items[n++] = ptc_analyze_define(an, form, names[i],
                                        call_hidden_builtin(an, "%method", names[i], 2, args));
    }
    items[n++] = ptc_analyze_const(an, ptc_symbol_new(an->heap, name->text, name->len), name);
    return in_order(an, form, items, n);
}

/* Sections of a name and its methods, from item 2 on: for each the given end of (type, protocol). */
static PtcExpr *extensions(Analyzer *an, const PtcForm *form, bool types, const char *usage)
{
    PtcExpr **items = ptc_analyze_items(an, form->count + 1);
    size_t n = 0;
    if (!items)
        return NULL;
    if (form->count < 2)
        return refuse_type_form(an, form, usage, "this form needs a type and a protocol");
    for (size_t at = 2; at < form->count; at += 1 + method_count(form, at)) {
        if (form->items[at]->kind == PTC_F_LIST)
            return refuse_type_form(an, form->items[at], usage,
                                    "methods come after the name of what they belong to");
        PtcExpr *first = ptc_analyze_form(an, form->items[1], false);
        PtcExpr *own = ptc_analyze_form(an, form->items[at], false);
        items[n++] = extension(an, "%extend", form, at, types ? own : first, types ? first : own);
    }
    items[n++] = ptc_analyze_nil(an, form);
    return in_order(an, form, items, n);
}

PtcExpr *ptc_analyze_extend_type(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    return extensions(an, form, false, "(extend-type Type Protocol (method [x] ...))");
}

PtcExpr *ptc_analyze_extend_protocol(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    return extensions(an, form, true, "(extend-protocol Protocol Type (method [x] ...))");
}

/* The type of all objects that reify makes. */
static PtcExpr *reified_type(Analyzer *an, const PtcForm *at)
{
    PtcForm reify = {.kind = PTC_F_SYMBOL, .first = at->first, .last = at->last};
    reify.text = "reify";
    reify.len = strlen(reify.text);
    PtcExpr *parts[3] = {analyze_type_name(an, &reify), keywords(an, NULL, 0, at),
                         int_const(an, PTC_KIND_REIFIED, at)};
    return call_hidden_builtin(an, "%type", at, 3, parts);
}

/* (%reify type protocol count :method f ... protocol ...) */
PtcExpr *ptc_analyze_reify(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    const char *usage = "(reify Protocol (method [this] ...))";
    PtcExpr **args = ptc_analyze_items(an, 1 + 2 * form->count);
    size_t count = 1;
    if (!args || !(args[0] = reified_type(an, form)))
        return NULL;
    for (size_t at = 1, n; at < form->count; at += 1 + n) {
        n = method_count(form, at);
        if (form->items[at]->kind != PTC_F_SYMBOL)
            return refuse_type_form(an, form->items[at], usage,
                                    "methods of reify come after the name of their protocol");
        args[count] = ptc_analyze_symbol(an, form->items[at]);
        args[count + 1] = int_const(an, 2 * (int64_t)n, form);
        if (!args[count] || !args[count + 1] ||
            !add_methods(an, form, at + 1, n, true, args + count + 2))
            return NULL;
        count += 2 + 2 * n;
    }
    return ptc_analyze_builtin(an, "%reify", args, count, form);
}

/* ------------------------------------------------------------------------- multimethods */

/* The value of :default or :hierarchy among the options from item `at` on; NULL: not given. */
static const PtcForm *find_form_option(const PtcForm *form, size_t at, const char *name)
{
    for (; at + 1 < form->count; at += 2)
        if (form->items[at]->kind == PTC_F_KEYWORD &&
            ptc_text_is((PtcText){form->items[at]->text, form->items[at]->len}, name))
            return form->items[at + 1];
    return NULL;
}

PtcExpr *ptc_analyze_defmulti(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    size_t at = 2;
    if (at < form->count && form->items[at]->kind == PTC_F_STRING)
        at++;
    if (at < form->count && form->items[at]->kind == PTC_F_MAP && at + 1 < form->count)
        at++; /* metadata */
    if (at >= form->count || form->items[1]->kind != PTC_F_SYMBOL)
        return refuse_type_form(
            an, form, "(defmulti name dispatch-function)",
            "defmulti needs a name and a function that gives the value to choose by");
    const PtcForm *name = form->items[1];
    const PtcForm *otherwise = find_form_option(form, at + 1, "default"),
                  *h = find_form_option(form, at + 1, "hierarchy");
    PtcExpr *parts[4] = {
        ptc_analyze_const(an, ptc_symbol_new(an->heap, name->text, name->len), name),
        ptc_analyze_form(an, form->items[at], false),
        otherwise ? ptc_analyze_form(an, otherwise, false)
                  : ptc_analyze_const(an, ptc_analyze_keyword(an, "default", 7), form),
        h ? ptc_analyze_form(an, h, false) : ptc_analyze_nil(an, form)};
    return ptc_analyze_define(an, form, name, call_hidden_builtin(an, "%multi", form, 4, parts));
}

PtcExpr *ptc_analyze_defmethod_fn(Analyzer *an, const PtcForm *form)
{
    const PtcForm *own = form->items[3]->kind == PTC_F_SYMBOL ? form->items[3] : NULL;
    const PtcForm *name = own ? own : form->items[1];
    FnName n = {name->text, name->len, own != NULL, PTC_NIL, PTC_FORM_DEFMETHOD};
    return ptc_analyze_fn(an, form, own ? 4 : 3, &n);
}

PtcExpr *ptc_analyze_defmethod(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    if (form->count < 4 || form->items[1]->kind != PTC_F_SYMBOL)
        return refuse_type_form(an, form, "(defmethod name value [x] body...)",
                                "defmethod needs a multimethod, a value, parameters and a body");
    PtcExpr *parts[3] = {ptc_analyze_symbol(an, form->items[1]),
                         ptc_analyze_form(an, form->items[2], false), NULL};
    parts[2] = parts[1] ? ptc_analyze_defmethod_fn(an, form) : NULL;
    return call_hidden_builtin(an, "%defmethod", form, 3, parts);
}

/* ------------------------------------------------------------------- fields, constructors */

/* (.-field x), and (.field x) where that is no method of Java's: (%field x :field).  NULL: the call is something
 * else. */
PtcExpr *ptc_analyze_field(Analyzer *an, const PtcForm *form)
{
    const PtcForm *head = form->items[0];
    bool dash = head->len > 2 && head->text[1] == '-';
    size_t skip = dash ? 2 : 1;
    if (form->count != 2 || head->len <= skip || (!dash && !an->has_types))
        return NULL;
    PtcForm name = *head;
    name.text += skip;
    name.len -= skip;
    PtcExpr *parts[2] = {ptc_analyze_form(an, form->items[1], false), keyword_const(an, &name)};
    return call_hidden_builtin(an, "%field", form, 2, parts);
}

PtcForm *ptc_analyze_constructor(Analyzer *an, const PtcForm *form)
{
    PtcForm name = *form->items[0];
    name.len--;
    for (size_t i = name.len; i > 0; i--)
        if (name.text[i - 1] == '.') { /* with its namespace */
            name.text += i;
            name.len -= i;
            break;
        }
    PtcForm *maker = name.len ? new_named_form(an, "->", &name) : NULL;
    if (!maker || ptc_analyze_global(an, maker->text, maker->len) < 0)
        return NULL;
    PtcForm *call = ptc_analyze_new_form(an, PTC_F_LIST, form, form->count);
    if (!call)
        return NULL;
    memcpy(call->items, form->items, form->count * sizeof *form->items);
    call->items[0] = maker;
    return call;
}

/* ------------------------------------------------------------------------- declarations */

static bool is_type_form(const PtcForm *head)
{
    return ptc_form_is_symbol(head, "defrecord") || ptc_form_is_symbol(head, "deftype");
}

/* The symbols that a form defines, one after the other; NULL at the end. */
const PtcForm *ptc_analyze_defined(Analyzer *an, const PtcForm *form, size_t i)
{
    const PtcForm *head = form->items[0];
    if (ptc_form_is_symbol(head, "derive") || ptc_form_is_symbol(head, "underive"))
        return i == 0 ? ptc_analyze_symbol_form(an, PTC_HIERARCHY_NAME, form) : NULL;
    if (form->count < 2 || form->items[1]->kind != PTC_F_SYMBOL)
        return NULL;
    const PtcForm *name = form->items[1];
    if (is_type_form(head)) {
        an->has_types = true;
        return i == 0   ? name
               : i == 1 ? new_named_form(an, "->", name)
               : i == 2 ? new_named_form(an, "map->", name)
                        : NULL;
    }
    if (!ptc_form_is_symbol(head, "defprotocol") || i >= form->count)
        return NULL;
    if (i < 2)
        return name;
    return is_signature(form->items[i]) ? form->items[i]->items[0] : name;
}
