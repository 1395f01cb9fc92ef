/* SPDX-License-Identifier: MIT
 * Destructuring: patterns become plain bindings, left to right. */
#include "lisp/analyze/analyze_int.h"

bool ptc_analyze_add_binding(Analyzer *an, Bindings *b, PtcLocal *local, PtcExpr *value)
{
    if (!local || !value)
        return false;
    PtcLocal **locals = ptc_arena_push(an->arena, b->locals, b->count, sizeof *locals);
    PtcExpr **values = ptc_arena_push(an->arena, b->values, b->count, sizeof *values);
    if (!locals || !values)
        return false;
    b->locals = locals;
    b->values = values;
    locals[b->count] = local;
    values[b->count++] = value;
    return true;
}

PtcExpr *ptc_analyze_let(Analyzer *an, Bindings *b, PtcExpr *body, const PtcForm *at)
{
    if (!body || b->count == 0)
        return body;
    PtcExpr *x = ptc_analyze_new(an, PTC_X_LET, at);
    if (!x)
        return NULL;
    x->locals = b->locals;
    x->items = b->values;
    x->count = (uint32_t)b->count;
    x->a = body;
    return x;
}

static bool bind_name(Analyzer *an, Bindings *b, const PtcForm *name, PtcExpr *value)
{
    if (memchr(name->text, '/', name->len) && name->len > 1) {
        ptc_analyze_error(an, PTC_E_INVALID_FORM, name, "use a name without /",
                          "%.*s cannot be bound: it has a namespace",
                          PTC_ARG_OF(name->text, name->len));
        return true;
    }
    return ptc_analyze_add_binding(an, b, ptc_analyze_bind(an, name->text, name->len), value);
}

/* (name from, extra) as a call of a hidden builtin. */
static PtcExpr *access(Analyzer *an, const char *builtin, PtcLocal *from, PtcExpr *key,
                       PtcExpr *otherwise, const PtcForm *at)
{
    PtcExpr **args = ptc_analyze_items(an, 3);
    if (!args || !(args[0] = ptc_analyze_local(an, from, at)) || !key)
        return NULL;
    args[1] = key;
    args[2] = otherwise;
    return ptc_analyze_builtin(an, builtin, args, otherwise ? 3 : 2, at);
}

static bool is_amp(const PtcForm *f)
{
    return ptc_form_is_symbol(f, "&");
}

static bool is_pattern_key(const PtcForm *f, const char *name)
{
    return f->kind == PTC_F_KEYWORD && f->len == strlen(name) && memcmp(f->text, name, f->len) == 0;
}

static bool refuse_pattern(Analyzer *an, const PtcForm *at, const char *what)
{
    ptc_analyze_error(an, PTC_E_INVALID_FORM, at,
                      "patterns: name, [a b & more :as all], {:keys [a b] :or {a 1} :as m}", "%s",
                      what);
    return true;
}

static bool bind_vector(Analyzer *an, Bindings *b, const PtcForm *p, PtcLocal *from)
{
    for (size_t i = 0; i < p->count; i++) {
        const PtcForm *item = p->items[i];
        bool rest = is_amp(item), as = is_pattern_key(item, "as");
        if ((rest || as) && i + 1 >= p->count)
            return refuse_pattern(an, item,
                                  rest ? "& must be followed by one name"
                                       : ":as must be followed by a name");
        if (as) {
            if (p->items[i + 1]->kind != PTC_F_SYMBOL)
                return refuse_pattern(an, p->items[i + 1], ":as must be followed by a name");
            if (!bind_name(an, b, p->items[++i], ptc_analyze_local(an, from, item)))
                return false;
            continue;
        }
        if (rest && i + 2 < p->count && !is_pattern_key(p->items[i + 2], "as"))
            return refuse_pattern(an, p->items[i + 2], "only :as may follow the name after &");
        PtcExpr *v = access(an, rest ? "%nthrest" : "%nth", from,
                            ptc_analyze_const(an, ptc_int((int64_t)i), item), NULL, item);
        if (!(rest ? ptc_analyze_destructure_rest(an, b, p->items[++i], v)
                   : ptc_analyze_destructure(an, b, item, v)))
            return false;
    }
    return true;
}

/* The default for a name in :or, or NULL. */
static const PtcForm *default_of(const PtcForm *defaults, const PtcForm *name)
{
    for (size_t i = 0; defaults && i + 1 < defaults->count; i += 2)
        if (defaults->items[i]->kind == PTC_F_SYMBOL && defaults->items[i]->len == name->len &&
            memcmp(defaults->items[i]->text, name->text, name->len) == 0)
            return defaults->items[i + 1];
    return NULL;
}

/* Binds one pattern to the value under key. */
static bool bind_map_key(Analyzer *an, Bindings *b, const PtcForm *pattern, PtcExpr *key,
                         PtcLocal *from, const PtcForm *defaults)
{
    const PtcForm *form = pattern->kind == PTC_F_SYMBOL ? default_of(defaults, pattern) : NULL;
    PtcExpr *otherwise = form ? ptc_analyze_form(an, form, false) : NULL;
    if (form && !otherwise)
        return false;
    PtcExpr *v = access(an, "%get", from, key, otherwise, pattern);
    return v && ptc_analyze_destructure(an, b, pattern, v);
}

/* :keys, :strs, :syms, or :order/keys for keywords with a namespace. */
static bool is_keys(const PtcForm *f)
{
    return is_pattern_key(f, "keys") || is_pattern_key(f, "syms") || is_pattern_key(f, "strs") ||
           (f->kind == PTC_F_KEYWORD && f->len > 5 &&
            (memcmp(f->text + f->len - 5, "/keys", 5) == 0 ||
             memcmp(f->text + f->len - 5, "/syms", 5) == 0));
}

/* {:keys [a b]} and its kin. */
static bool bind_keys(Analyzer *an, Bindings *b, const PtcForm *names, const PtcForm *directive,
                      PtcLocal *from, const PtcForm *defaults)
{
    bool strings = is_pattern_key(directive, "strs");
    bool symbols =
        directive->len >= 4 && memcmp(directive->text + directive->len - 4, "syms", 4) == 0;
    const char *slash = memchr(directive->text, '/', directive->len);
    size_t prefix = slash ? (size_t)(slash - directive->text) + 1 : 0; /* :order/keys */
    if (names->kind != PTC_F_VECTOR)
        return refuse_pattern(an, names, "expected a vector of names");
    for (size_t i = 0; i < names->count; i++) {
        PtcForm *name = names->items[i];
        if (name->kind != PTC_F_SYMBOL && name->kind != PTC_F_KEYWORD)
            return refuse_pattern(an, name, "expected a name");
        PtcForm *symbol = ptc_analyze_new_form(an, PTC_F_SYMBOL, name, 0);
        if (!symbol)
            return false;
        const char *own = memchr(name->text, '/', name->len); /* {:keys [order/id]} binds id */
        symbol->text = own ? own + 1 : name->text;
        symbol->len = name->len - (size_t)(symbol->text - name->text);
        char *full = ptc_arena_alloc(an->arena, prefix + name->len + 1);
        if (!full)
            return false;
        memcpy(full, directive->text, prefix);
        memcpy(full + prefix, name->text, name->len);
        PtcValue key = strings   ? ptc_analyze_string(an, full, prefix + name->len)
                       : symbols ? ptc_symbol_new(an->heap, full, prefix + name->len)
                                 : ptc_analyze_keyword(an, full, prefix + name->len);
        if (!bind_map_key(an, b, symbol, ptc_analyze_const(an, key, name), from, defaults))
            return false;
    }
    return true;
}

/* What :as names: a list counts as keyword arguments. */
static PtcExpr *as_map(Analyzer *an, PtcLocal *from, const PtcForm *at)
{
    PtcExpr **args = ptc_analyze_items(an, 1);
    if (!args || !(args[0] = ptc_analyze_local(an, from, at)))
        return NULL;
    return ptc_analyze_builtin(an, "%as-map", args, 1, at);
}

static bool bind_map(Analyzer *an, Bindings *b, const PtcForm *p, PtcLocal *from)
{
    const PtcForm *defaults = NULL;
    for (size_t i = 0; i + 1 < p->count; i += 2)
        if (is_pattern_key(p->items[i], "or"))
            defaults = p->items[i + 1];
    if (defaults && defaults->kind != PTC_F_MAP)
        return refuse_pattern(an, defaults, ":or takes a map of name to default");
    for (size_t i = 0; i + 1 < p->count; i += 2) {
        const PtcForm *left = p->items[i], *right = p->items[i + 1];
        bool ok = true;
        if (is_pattern_key(left, "or"))
            continue;
        if (is_pattern_key(left, "as") && right->kind != PTC_F_SYMBOL)
            return refuse_pattern(an, right, ":as must be followed by a name");
        if (is_pattern_key(left, "as"))
            ok = bind_name(an, b, right, as_map(an, from, right));
        else if (is_keys(left))
            ok = bind_keys(an, b, right, left, from, defaults);
        else if (left->kind == PTC_F_KEYWORD)
            return refuse_pattern(an, left, "unknown directive in a map pattern");
        else
            ok = bind_map_key(an, b, left, ptc_analyze_form(an, right, false), from, defaults);
        if (!ok)
            return false;
    }
    return true;
}

bool ptc_analyze_destructure(Analyzer *an, Bindings *b, const PtcForm *pattern, PtcExpr *value)
{
    if (!value)
        return false;
    if (pattern->kind == PTC_F_SYMBOL)
        return bind_name(an, b, pattern, value);
    if (pattern->kind != PTC_F_VECTOR && pattern->kind != PTC_F_MAP)
        return refuse_pattern(an, pattern, "this cannot be bound to");
    if (an->depth >= PTC_EXPR_DEPTH)
        return refuse_pattern(an, pattern, "this pattern is nested too deep");
    PtcLocal *from = ptc_analyze_temp(an);
    if (!from || !ptc_analyze_add_binding(an, b, from, value))
        return false;
    an->depth++;
    bool ok = pattern->kind == PTC_F_VECTOR ? bind_vector(an, b, pattern, from)
                                            : bind_map(an, b, pattern, from);
    an->depth--;
    return ok;
}

bool ptc_analyze_destructure_rest(Analyzer *an, Bindings *b, const PtcForm *pattern, PtcExpr *value)
{
    PtcExpr **args = pattern->kind == PTC_F_MAP ? ptc_analyze_items(an, 1) : NULL;
    if (pattern->kind == PTC_F_MAP) {
        if (!args || !(args[0] = value))
            return false;
        value = ptc_analyze_builtin(an, "%options", args, 1, pattern);
    }
    return ptc_analyze_destructure(an, b, pattern, value);
}
