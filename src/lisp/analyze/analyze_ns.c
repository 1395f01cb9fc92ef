/* SPDX-License-Identifier: MIT
 * ns, require, use and import: accepted for the namespaces we have, :as and :refer honoured.
 * What they declare is kept beside the names of globals, so that it lives as long as the session and goes when the run
 * fails. */
#include <stdio.h>

#include "lisp/analyze/analyze_int.h"
#include "lisp/analyze/suggest.h"
#include "lisp/dispatch/class.h"
#include "lisp/vm/registry.h"

enum { NAME_MAX_BYTES = 120 };
#define LOST "?" /* the namespace of aliases that stand for nothing */

/* Namespaces whose functions are all here under other names, or that only matter to a JVM. */
static const char *const harmless[] = {"clojure.repl", NULL};

static bool is_harmless(const char *text, size_t len)
{
    for (size_t i = 0; harmless[i]; i++)
        if (strlen(harmless[i]) == len && memcmp(harmless[i], text, len) == 0)
            return true;
    return false;
}

bool ptc_analyze_is_alias(Analyzer *an, const char *text, size_t len)
{
    return an->has_ns &&
           ptc_alias_find(an->names, PTC_ALIAS_NAMESPACE, (PtcText){text, len}).bytes != NULL;
}

int ptc_analyze_find_builtin(Analyzer *an, const char *text, size_t len)
{
    const char *slash = len > 1 ? memchr(text + 1, '/', len - 1) : NULL;
    PtcAliasKind kind = slash ? PTC_ALIAS_NAMESPACE : PTC_ALIAS_REFERRED;
    PtcText front = {text, slash ? (size_t)(slash - text) : len}, ns = {NULL, 0};
    size_t name_len = slash ? len - front.len - 1 : len;
    char full[NAME_MAX_BYTES * 2 + 2];
    if (an->has_ns)
        ns = ptc_alias_find(an->names, kind, front);
    if (!ns.bytes || ns.len + name_len + 1 >= sizeof full)
        return an->lone && an->lone->prelude ? ptc_builtin_find(text, len)
                                             : ptc_builtin_written(text, len);
    memcpy(full, ns.bytes, ns.len);
    full[ns.len] = '/';
    memcpy(full + ns.len + 1, slash ? slash + 1 : text, name_len);
    return ptc_builtin_find(full, ns.len + 1 + name_len);
}

static bool declare_alias(Analyzer *an, PtcAliasKind kind, const PtcForm *name, const PtcForm *ns)
{
    if (an->lone)
        return true; /* declared when its program was compiled, and kept with the session */
    if (name->len > NAME_MAX_BYTES || ns->len > NAME_MAX_BYTES)
        return ptc_analyze_error(an, PTC_E_SIZE, name, "use a shorter name",
                                 "this name is too long for an alias") != NULL;
    an->has_ns = true;
    if (ptc_alias_add(an->names, kind, (PtcText){name->text, name->len},
                      (PtcText){ns->text, ns->len}))
        return true;
    an->arena->failed = true;
    return false;
}

static bool known_namespace(Analyzer *an, const PtcForm *ns)
{
    if (ptc_namespace_known(ns->text, ns->len) || is_harmless(ns->text, ns->len) ||
        ptc_analyze_is_server(an, (PtcText){ns->text, ns->len}))
        return true;
    PtcSuggest s;
    ptc_suggest_init(&s, ns->text, ns->len);
    for (size_t i = 0; ptc_namespace_prefix(i); i++)
        ptc_suggest_offer(&s, "", ptc_namespace_prefix(i), strlen(ptc_namespace_prefix(i)),
                          PTC_SUGGEST_RARE);
    char near[PTC_SUGGEST_NAME + 20];
    const char *hint = ptc_suggest_library(ns->text, ns->len);
    snprintf(near, sizeof near, "did you mean %s?", s.best);
    if (!hint)
        hint = ptc_suggest_found(&s)
                   ? near
                   : "there are clojure.string, clojure.set, clojure.walk and json; no library can "
                     "be loaded: leave the require out and write what you need of it";
    ptc_analyze_error(an, PTC_E_UNBOUND, ns, hint, "there is no namespace %.*s",
                      PTC_ARG(ptc_text_cut((PtcText){ns->text, ns->len}, 80)));
    return false;
}

/* A name for a namespace that would hide a server: its tools could not be called any more. */
static bool hides_server(Analyzer *an, const PtcForm *alias, const PtcForm *ns)
{
    bool same = ptc_text_same((PtcText){alias->text, alias->len}, (PtcText){ns->text, ns->len});
    if (same || !ptc_analyze_is_server(an, (PtcText){alias->text, alias->len}))
        return false;
    int n = (int)(alias->len > 80 ? 80 : alias->len);
    ptc_analyze_error(an, PTC_E_INVALID_FORM, alias, "choose another name",
                      "%.*s is the namespace of a server, so nothing else can be called that",
                      PTC_ARG_OF(alias->text, n));
    return true;
}

static bool is_ns_key(const PtcForm *f, const char *name)
{
    return f->kind == PTC_F_KEYWORD && f->len == strlen(name) && memcmp(f->text, name, f->len) == 0;
}

/* :all: most functions have a bare name already; the others get one. */
static bool refer_all(Analyzer *an, const PtcForm *at, const PtcForm *ns)
{
    static const char *const constants[] = {"PI", "E"};
    const char *space = ptc_namespace_of(ns->text, ns->len);
    PtcForm name = *at;
    for (size_t i = 0; space && strcmp(space, "clojure.math") == 0 && i < 2; i++) {
        name.text = constants[i];
        name.len = strlen(constants[i]);
        if (!declare_alias(an, PTC_ALIAS_REFERRED, &name, ns))
            return false;
    }
    for (size_t i = 0; space && i < ptc_builtin_count(); i++) {
        const PtcBuiltin *row = ptc_builtin_row((uint32_t)i);
        name.text = row->name;
        name.len = strlen(row->name);
        if (strcmp(row->ns, space) == 0 && !(row->flags & (PTC_B_HIDDEN | PTC_B_FORM)) &&
            ptc_builtin_find(row->name, name.len) != (int)i &&
            !declare_alias(an, PTC_ALIAS_REFERRED, &name, ns))
            return false;
    }
    return true;
}

static bool refer(Analyzer *an, const PtcForm *names, const PtcForm *ns)
{
    if (names->kind != PTC_F_VECTOR && names->kind != PTC_F_LIST)
        return refer_all(an, names, ns);
    for (size_t i = 0; i < names->count; i++)
        if (names->items[i]->kind == PTC_F_SYMBOL &&
            !declare_alias(an, PTC_ALIAS_REFERRED, names->items[i], ns))
            return false;
    return true;
}

/* 'x and (quote x) are x. */
static const PtcForm *unquoted(const PtcForm *spec)
{
    for (;;) {
        if (spec->kind == PTC_F_QUOTE)
            spec = spec->items[0];
        else if (spec->kind == PTC_F_LIST && spec->count == 2 &&
                 ptc_form_is_symbol(spec->items[0], "quote"))
            spec = spec->items[1];
        else
            return spec;
    }
}

/* clojure.string, or [clojure.string :as str :refer [join]]. */
static bool require_one(Analyzer *an, const PtcForm *spec)
{
    spec = unquoted(spec);
    bool list = spec->kind == PTC_F_VECTOR || spec->kind == PTC_F_LIST;
    const PtcForm *ns = list && spec->count > 0 ? spec->items[0] : spec;
    if (spec->kind == PTC_F_KEYWORD)
        return true; /* :reload and kin */
    if (ns->kind != PTC_F_SYMBOL)
        return ptc_analyze_error(an, PTC_E_INVALID_FORM, spec,
                                 "(require '[clojure.string :as str])",
                                 "require takes the name of a namespace") != NULL;
    /* The alias of an unknown namespace stands for nothing; names that use it are not reported again. */
    PtcForm lost = *ns;
    if (!known_namespace(an, ns)) {
        lost.text = LOST;
        lost.len = strlen(LOST);
        ns = &lost;
    }
    for (size_t i = 1; list && i + 1 < spec->count; i += 2) {
        const PtcForm *what = spec->items[i + 1];
        bool ok = true;
        if (is_ns_key(spec->items[i], "as") && what->kind == PTC_F_SYMBOL)
            ok = hides_server(an, what, ns) || declare_alias(an, PTC_ALIAS_NAMESPACE, what, ns);
        else if (is_ns_key(spec->items[i], "refer") || is_ns_key(spec->items[i], "only"))
            ok = refer(an, what, ns);
        if (!ok)
            return false;
    }
    return true;
}

/* java.time.LocalDate, or [java.time LocalDate Instant]. */
static bool import_class(Analyzer *an, const PtcForm *name)
{
    if (name->kind != PTC_F_SYMBOL)
        return true;
    const char *dot = name->text + name->len;
    while (dot > name->text && dot[-1] != '.')
        dot--;
    size_t len = (size_t)(name->text + name->len - dot);
    if (ptc_class_named((PtcText){dot, len}) || ptc_namespace_known(dot, len) ||
        ptc_namespace_known(name->text, name->len))
        return true;
    return ptc_analyze_error(
               an, PTC_E_UNBOUND, name,
               "there are LocalDate, LocalDateTime, Instant, Duration, Period, ChronoUnit, Math "
               "and a few more",
               "the Java class %.*s is not available",
               PTC_ARG(ptc_text_cut((PtcText){dot, len}, 80))) != NULL;
}

static bool import_one(Analyzer *an, const PtcForm *spec)
{
    spec = unquoted(spec);
    if (spec->kind != PTC_F_VECTOR && spec->kind != PTC_F_LIST)
        return import_class(an, spec);
    for (size_t i = 1; i < spec->count; i++)
        if (!import_class(an, spec->items[i]))
            return false;
    return true;
}

static bool each(Analyzer *an, const PtcForm *form, size_t first,
                 bool (*one)(Analyzer *, const PtcForm *))
{
    for (size_t i = first; i < form->count; i++)
        if (!one(an, form->items[i]))
            return false;
    return true;
}

PtcExpr *ptc_analyze_require(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    return each(an, form, 1, require_one) ? ptc_analyze_nil(an, form) : NULL;
}

PtcExpr *ptc_analyze_import(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    return each(an, form, 1, import_one) ? ptc_analyze_nil(an, form) : NULL;
}

/* What (ns my.app) defines may also be written my.app/name. */
static bool name_own(Analyzer *an, const PtcForm *name)
{
    PtcForm own = *name;
    own.text = "user";
    own.len = 4;
    return ptc_namespace_known(name->text, name->len) || hides_server(an, name, &own) ||
           declare_alias(an, PTC_ALIAS_NAMESPACE, name, &own);
}

bool ptc_analyze_is_lost(Analyzer *an, PtcText name, bool namespace)
{
    PtcText of =
        an->has_ns
            ? ptc_alias_find(an->names, namespace ? PTC_ALIAS_NAMESPACE : PTC_ALIAS_REFERRED, name)
            : (PtcText){NULL, 0};
    return of.bytes && ptc_text_is(of, LOST);
}

bool ptc_analyze_is_own(Analyzer *an, PtcText ns)
{
    if (ptc_text_is(ns, "user"))
        return true;
    PtcText of =
        an->has_ns ? ptc_alias_find(an->names, PTC_ALIAS_NAMESPACE, ns) : (PtcText){NULL, 0};
    return of.bytes && ptc_text_is(of, "user");
}

PtcExpr *ptc_analyze_ns(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    if (form->count < 2 || form->items[1]->kind != PTC_F_SYMBOL)
        return ptc_analyze_error(an, PTC_E_INVALID_FORM, form,
                                 "(ns my.app (:require [clojure.string :as str]))",
                                 "ns needs a name");
    if (!name_own(an, form->items[1]))
        return NULL;
    for (size_t i = 2; i < form->count; i++) {
        const PtcForm *clause = form->items[i];
        if (clause->kind != PTC_F_LIST || clause->count == 0)
            continue; /* doc string, metadata */
        bool ok = true;
        if (is_ns_key(clause->items[0], "require") || is_ns_key(clause->items[0], "use"))
            ok = each(an, clause, 1, require_one);
        else if (is_ns_key(clause->items[0], "import"))
            ok = each(an, clause, 1, import_one);
        if (!ok)
            return NULL;
    }
    return ptc_analyze_nil(an, form);
}
