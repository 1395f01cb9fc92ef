/* SPDX-License-Identifier: MIT
 * Syntax quote as a template for data: `(a ~b ~@c) becomes calls of list, concat and their kin that make the data when
 * the program runs.  Symbols are qualified as Clojure does it, so that a template gives the same data there: those of
 * clojure.core, those of a namespace that is known by a shorter name, all others as user/name; x# is a new name in each
 * template.  There are no macros: what comes out is data and nothing else. */
#include <stdio.h>

#include "base/ascii.h"
#include "lisp/analyze/analyze_int.h"
#include "lisp/analyze/suggest.h"
#include "lisp/vm/registry.h"

/* A template on its way to a form; `first` makes the names of x# differ between templates. */
typedef struct {
    Analyzer *an;
    uint32_t first;
    bool failed; /* a finding was added */
} Template;

static PtcForm *expand_template(Template *t, PtcForm *form);

static PtcForm *refuse_template(Template *t, const PtcForm *form, const char *hint,
                                const char *what)
{
    if (!t->failed)
        (void)ptc_analyze_error(t->an, PTC_E_INVALID_FORM, form, hint, "%s", what);
    t->failed = true;
    return NULL;
}

/* (name args...), with room for n arguments. */
static PtcForm *new_template_call(Template *t, const char *name, const PtcForm *at, size_t n)
{
    PtcForm *f = ptc_analyze_new_form(t->an, PTC_F_LIST, at, n + 1);
    if (f && !(f->items[0] = ptc_analyze_symbol_form(t->an, name, at)))
        return NULL;
    return f;
}

static PtcForm *wrap_template_form(Template *t, PtcFormKind kind, PtcForm *form)
{
    PtcForm *f = form ? ptc_analyze_new_form(t->an, kind, form, 1) : NULL;
    if (f)
        f->items[0] = form;
    return f;
}

/* ------------------------------------------------------------------------------- symbols */

/* What Clojure leaves without a namespace. */
static bool stays(const PtcForm *f)
{
    static const char special[] = " def if do let* fn* loop* quote var recur throw try catch "
                                  "finally new set! . & case* letfn* import* deftype* reify* "
                                  "monitor-enter monitor-exit ";
    char word[32];
    int n = f->len < 28 ? snprintf(word, sizeof word, " %.*s ", PTC_ARG_OF(f->text, f->len)) : 0;
    bool member = f->text[0] == '.' || f->text[f->len - 1] == '.';
    return member || (n > 0 && strstr(special, word) != NULL);
}

static bool in_core(const PtcForm *f)
{
    for (uint32_t i = 0; i < ptc_builtin_count(); i++) {
        const PtcBuiltin *row = ptc_builtin_row(i);
        if (!(row->flags & PTC_B_HIDDEN) && strcmp(row->ns, "clojure.core") == 0 &&
            ptc_text_is((PtcText){f->text, f->len}, row->name))
            return true;
    }
    return ptc_suggest_is_core((PtcText){f->text, f->len});
}

/* The namespace for a symbol without one or with a short one; absent: as it is. */
static PtcText space_of(Template *t, const PtcForm *f, size_t *skip)
{
    static const char own[] = "user", core[] = "clojure.core";
    const char *slash = f->len > 2 ? memchr(f->text + 1, '/', f->len - 2) : NULL;
    *skip = 0;
    if (!slash)
        return stays(f)     ? (PtcText){NULL, 0}
               : in_core(f) ? (PtcText){core, sizeof core - 1}
                            : (PtcText){own, sizeof own - 1};
    PtcText prefix = {f->text, (size_t)(slash - f->text)};
    PtcText known = ptc_alias_find(t->an->names, PTC_ALIAS_NAMESPACE, prefix);
    const char *ns = known.bytes ? NULL : ptc_namespace_of(prefix.bytes, prefix.len);
    *skip = prefix.len + 1;
    if (known.bytes)
        return known;
    return ns && ptc_ascii_is_lower(ns[0]) ? (PtcText){ns, strlen(ns)} : prefix;
}

/* The symbol `text` of n bytes at the place of f. */
static PtcForm *new_symbol(Template *t, const PtcForm *f, const char *text, int n)
{
    PtcForm *s = n > 0 ? ptc_analyze_new_form(t->an, PTC_F_SYMBOL, f, 0) : NULL;
    char *copy = s ? ptc_arena_alloc(t->an->arena, (size_t)n + 1) : NULL;
    if (!copy)
        return NULL;
    memcpy(copy, text, (size_t)n);
    s->text = copy;
    s->len = (size_t)n;
    return s;
}

static PtcForm *symbol(Template *t, const PtcForm *f)
{
    char text[256];
    size_t skip, size = sizeof text;
    PtcText space = space_of(t, f, &skip);
    bool fresh = f->len > 1 && f->text[f->len - 1] == '#' && !skip;
    if (f->len + space.len + 24 > size)
        return refuse_template(t, f, "use shorter names", "a symbol in a template is too long");
    int n =
        fresh ? snprintf(text, size, "%.*s__%u__auto__", PTC_ARG_OF(f->text, f->len - 1), t->first)
        : space.bytes ? snprintf(text, size, "%.*s/%.*s", PTC_ARG(space),
                                 PTC_ARG_OF(f->text + skip, f->len - skip))
                      : snprintf(text, size, "%.*s", PTC_ARG_OF(f->text, f->len));
    return wrap_template_form(t, PTC_F_QUOTE, new_symbol(t, f, text, n));
}

/* ----------------------------------------------------------------------------- collections */

static bool has_splice(const PtcForm *f)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->items[i]->kind == PTC_F_SPLICE)
            return true;
    return false;
}

/* (concat (list a) b ...), where b is what ~@ gives. */
static PtcForm *concat_template_items(Template *t, const PtcForm *f)
{
    PtcForm *all = new_template_call(t, "clojure.core/concat", f, f->count);
    for (size_t i = 0; all && i < f->count; i++) {
        PtcForm *item = f->items[i];
        if (item->kind == PTC_F_SPLICE) {
            all->items[i + 1] = item->items[0];
            continue;
        }
        PtcForm *one = new_template_call(t, "clojure.core/list", item, 1);
        if (!one || !(one->items[1] = expand_template(t, item)))
            return NULL;
        all->items[i + 1] = one;
    }
    return all;
}

static PtcForm *apply_to(Template *t, const char *name, PtcForm *arg)
{
    PtcForm *f = arg ? new_template_call(t, name, arg, 1) : NULL;
    if (f)
        f->items[1] = arg;
    return f;
}

/* (apply hash-map items) */
static PtcForm *make_template_map(Template *t, const PtcForm *form)
{
    PtcForm *items = concat_template_items(t, form),
            *f = items ? new_template_call(t, "clojure.core/apply", form, 2) : NULL;
    if (!f || !(f->items[1] = ptc_analyze_symbol_form(t->an, "clojure.core/hash-map", form)))
        return NULL;
    f->items[2] = items;
    return f;
}

static PtcForm *spliced(Template *t, const PtcForm *f)
{
    switch (f->kind) {
    case PTC_F_VECTOR: return apply_to(t, "clojure.core/vec", concat_template_items(t, f));
    case PTC_F_SET: return apply_to(t, "clojure.core/set", concat_template_items(t, f));
    case PTC_F_MAP: return make_template_map(t, f);
    default: return apply_to(t, "clojure.core/seq", concat_template_items(t, f));
    }
}

/* Without ~@ each element is made in its place. */
static PtcForm *copy_template_form(Template *t, const PtcForm *f)
{
    bool list = f->kind == PTC_F_LIST || f->kind == PTC_F_SHORT_FN;
    PtcForm *made = list ? new_template_call(t, "clojure.core/list", f, f->count)
                         : ptc_analyze_new_form(t->an, f->kind, f, f->count);
    for (size_t i = 0; made && i < f->count; i++)
        if (!(made->items[i + list] = expand_template(t, f->items[i])))
            return NULL;
    return made;
}

/* (list 'quote x), as 'x is read inside of data. */
static PtcForm *quoted(Template *t, const PtcForm *f)
{
    PtcForm *made = new_template_call(t, "clojure.core/list", f, 2);
    if (!made ||
        !(made->items[1] = wrap_template_form(t, PTC_F_QUOTE, new_symbol(t, f, "quote", 5))))
        return NULL;
    return (made->items[2] = expand_template(t, f->items[0])) ? made : NULL;
}

/* Nesting is that of the source, which the reader has bounded. */
static PtcForm *expand_template(Template *t, PtcForm *form)
{
    switch (form->kind) {
    case PTC_F_SYMBOL: return symbol(t, form);
    case PTC_F_UNQUOTE: return form->items[0];
    case PTC_F_SPLICE:
        return refuse_template(t, form, "put it into a list or vector: `(~@xs)",
                               "~@ has nothing to put its elements into");
    case PTC_F_TEMPLATE:
        return refuse_template(t, form, "make the inner data first, and put it in with ~",
                               "a syntax quote inside another one is not supported");
    case PTC_F_QUOTE: return quoted(t, form);
    case PTC_F_LIST:
    case PTC_F_SHORT_FN:
    case PTC_F_VECTOR:
    case PTC_F_SET:
    case PTC_F_MAP: return has_splice(form) ? spliced(t, form) : copy_template_form(t, form);
    default: return form;
    }
}

PtcExpr *ptc_analyze_template(Analyzer *an, const PtcForm *form)
{
    Template t = {.an = an, .first = form->first};
    PtcForm *made = expand_template(&t, form->items[0]);
    if (!made)
        return t.failed ? ptc_analyze_nil(an, form) : NULL;
    return ptc_analyze_form(an, made, false);
}

PtcExpr *ptc_analyze_unquote(Analyzer *an, const PtcForm *form)
{
    bool splice = form->kind == PTC_F_SPLICE;
    return ptc_analyze_error(an, PTC_E_INVALID_FORM, form,
                             "it has a meaning only inside a syntax quote: `(a ~b)",
                             "%s is outside a template", splice ? "~@" : "~");
}
