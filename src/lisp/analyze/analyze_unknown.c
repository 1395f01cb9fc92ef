/* SPDX-License-Identifier: MIT
 * Names that mean nothing: what is said about them.  A hint is either how the thing is done here, or the nearest name
 * that means something, or nothing; it never repeats the name that it refuses. */
#include <stdio.h>

#include "base/utf8.h"
#include "lisp/analyze/analyze_int.h"
#include "lisp/analyze/suggest.h"
#include "lisp/vm/registry.h"
#include "value/coll/key_name.h"

enum { UNKNOWN_SHOWN_BYTES = 80, WRITTEN = PTC_SUGGEST_NAME };

/* As much of a name as a message shows. */
static PtcText shown_name(const char *text, size_t len)
{
    return ptc_text_cut((PtcText){text, len}, UNKNOWN_SHOWN_BYTES);
}

bool ptc_analyze_is_missing(const PtcForm *symbol)
{
    PtcInstead instead;
    return ptc_suggest_instead(symbol->text, symbol->len, &instead) && instead.form;
}

/* -------------------------------------------------------------------------- what there is */

static void offer_own(Analyzer *an, PtcSuggest *s)
{
    for (PtcLocal *l = an->scope; l; l = l->outer)
        if (l->len)
            ptc_suggest_offer(s, "", l->name, l->len, PTC_SUGGEST_OWN);
    for (uint32_t i = 0; i < an->names->count; i++)
        ptc_suggest_offer(s, "", an->names->items[i].text, an->names->items[i].len,
                          PTC_SUGGEST_OWN);
}

/* Returns how many there are. */
static size_t offer_tool_names(Analyzer *an, PtcSuggest *s)
{
    size_t n, i = 0;
    const char *text;
    for (; an->host && (text = an->host->name(an->host, i, &n)) != NULL; i++)
        ptc_suggest_offer(s, "tool/", text, n, PTC_SUGGEST_OWN);
    return i;
}

void ptc_analyze_offer_data(const Analyzer *an, PtcSuggest *s)
{
    enum { UNKNOWN_SEEN = 1000 };
    PtcValue key;
    char name[PTC_KEY_WRITTEN];
    if (!ptc_is_map(an->context))
        return;
    for (size_t pos = 0, n = 0; n < UNKNOWN_SEEN && ptc_map_next(an->context, &pos, &key, NULL);
         n++)
        if (ptc_is_named(key) && ptc_key_as_name(key, name))
            ptc_suggest_offer(s, "data/", name, strlen(name), PTC_SUGGEST_OWN);
}

static void hint_found(const Analyzer *an, PtcDiag *d, const PtcSuggest *s)
{
    bool data = an->bare_data && strncmp(s->best, "data/", 5) == 0; /* its names are written bare */
    ptc_diag_hint(d, "did you mean %s?", s->best + (data ? 5 : 0));
}

/* Nothing is near.  Where data has bare names, they are said: the name of the file is the first guess of many. */
static void hint_nothing(const Analyzer *an, PtcDiag *d)
{
    enum { SAID = 3 };
    char names[PTC_HINT_MAX / 2] = "", name[PTC_KEY_WRITTEN];
    PtcValue key;
    size_t len = 0;
    if (an->bare_data && ptc_is_map(an->context))
        for (size_t pos = 0, n = 0; n < SAID && ptc_map_next(an->context, &pos, &key, NULL); n++)
            if (ptc_is_named(key) && ptc_key_as_name(key, name) &&
                len + strlen(name) + 3 < sizeof names)
                len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", len ? ", " : "",
                                        name);
    if (len)
        ptc_diag_hint(d, "the data here is called %s; other names are bound with let or def",
                      names);
    else if (an->servers)
        ptc_diag_hint(d, "bind it with let or def; a tool of a server is written server/tool, and "
                         "(apropos \"word\") finds it");
    else
        ptc_diag_hint(d, "bind it with let or def, or check the spelling");
}

/* ---------------------------------------------------------------------- names with a point */

/* The value of data/NAME; PTC_NONE: there is none. */
static PtcValue data_named(Analyzer *an, PtcText name)
{
    PtcValue key = name.len && ptc_is_map(an->context)
                       ? ptc_keyword_new(an->heap, name.bytes, name.len)
                       : PTC_NONE;
    return key == PTC_NONE ? key : ptc_map_get_flex(an->heap, an->context, key);
}

/* The name of data whose value, or the first of its rows, has this key; PTC_NONE: there is none. */
static PtcValue data_with(Analyzer *an, PtcText text, PtcValue *value)
{
    enum { UNKNOWN_SEEN = 100 };
    PtcValue name, key = text.len && ptc_is_map(an->context)
                             ? ptc_keyword_new(an->heap, text.bytes, text.len)
                             : PTC_NONE;
    for (size_t pos = 0, n = 0;
         key != PTC_NONE && n < UNKNOWN_SEEN && ptc_map_next(an->context, &pos, &name, value);
         n++) {
        bool list = ptc_is_sequential(*value) && ptc_seq_count(*value) > 0;
        PtcValue one = list ? ptc_seq_nth(*value, 0) : *value;
        if (ptc_is_map(one) && ptc_map_get_flex(an->heap, one, key) != PTC_NONE)
            return name;
    }
    return PTC_NONE;
}

/* x.name and x.name.part, as other languages write them; the value of x, if it is known, may be a list. */
static bool hint_part(PtcDiag *d, PtcText x, PtcValue value, PtcText path)
{
    char keys[2 * UNKNOWN_SHOWN_BYTES];
    bool list = ptc_is_sequential(value), many = path.len && memchr(path.bytes, '.', path.len);
    size_t n = 0;
    x = ptc_text_cut(x, UNKNOWN_SHOWN_BYTES);
    path = ptc_text_cut(path, UNKNOWN_SHOWN_BYTES);
    for (size_t i = 0; i < path.len; i++) {
        bool point = path.bytes[i] == '.';
        keys[n++] = point ? ' ' : path.bytes[i];
        if (point)
            keys[n++] = ':';
    }
    if (list && many)
        ptc_diag_hint(d, "write (map #(get-in %% [:%.*s]) %.*s) for a field", PTC_ARG_OF(keys, n),
                      PTC_ARG(x));
    else if (many)
        ptc_diag_hint(d, "write (get-in %.*s [:%.*s]) for a field", PTC_ARG(x),
                      PTC_ARG_OF(keys, n));
    else
        ptc_diag_hint(d, "write (%s:%.*s %.*s) for a field", list ? "map " : "",
                      PTC_ARG_OF(keys, n), PTC_ARG(x));
    return true;
}

/* x.name, where x is something that has fields here. */
static bool hint_dotted_field(Analyzer *an, const PtcForm *form, size_t point, PtcDiag *d)
{
    PtcText x = {form->text, point}, path = {x.bytes + point + 1, form->len - point - 1};
    PtcValue value = an->bare_data ? data_named(an, x) : PTC_NONE;
    bool known = value != PTC_NONE || ptc_analyze_find_local(an, x.bytes, x.len) ||
                 ptc_names_find(an->names, x.bytes, x.len) >= 0;
    return known && path.len && hint_part(d, x, value, path);
}

/* data.orders and data.orders.total, or data.total where some data has such a key. */
static bool hint_data_part(Analyzer *an, PtcText path, PtcDiag *d)
{
    char of[WRITTEN], name[PTC_KEY_WRITTEN];
    const char *point = memchr(path.bytes, '.', path.len);
    PtcText first = {path.bytes, point ? (size_t)(point - path.bytes) : path.len};
    PtcValue value = data_named(an, first);
    PtcValue key = value == PTC_NONE ? data_with(an, first, &value) : PTC_NONE;
    if (key != PTC_NONE && (!ptc_is_named(key) || !ptc_key_as_name(key, name)))
        return false;
    if (key == PTC_NONE && (value == PTC_NONE || !point))
        return false;
    if (key == PTC_NONE) {
        snprintf(name, sizeof name, "%.*s", PTC_ARG(shown_name(first.bytes, first.len)));
        path = (PtcText){point + 1, path.len - first.len - 1};
    }
    int n = snprintf(of, sizeof of, "data/%s", name);
    return hint_part(d, (PtcText){of, (size_t)n}, value, path);
}

/* data.orders, tool.search and Math.floor are written with a slash here. */
static bool hint_slash(Analyzer *an, const PtcForm *form, PtcDiag *d)
{
    char name[WRITTEN];
    const char *dot = form->len > 2 ? memchr(form->text + 1, '.', form->len - 2) : NULL;
    if (!dot || form->len >= sizeof name)
        return false;
    size_t point = (size_t)(dot - form->text);
    memcpy(name, form->text, form->len);
    name[form->len] = 0;
    name[point] = '/';
    const char *rest = name + point + 1;
    size_t n = form->len - point - 1;
    bool data = point == 4 && memcmp(name, "data", 4) == 0;
    bool tool = point >= 4 && memcmp(name, "tools", point < 5 ? point : 5) == 0 && point <= 5;
    if (tool && an->host && an->host->find(an->host, rest, n) >= 0)
        ptc_diag_hint(d, "did you mean tool/%s?", rest);
    else if (data &&
             (hint_dotted_field(an, form, point, d) || hint_data_part(an, (PtcText){rest, n}, d)))
        ; /* said */
    else if (data || ptc_builtin_find(name, form->len) >= 0 ||
             ptc_analyze_is_server(an, (PtcText){name, point}))
        ptc_diag_hint(d, "did you mean %s?", name);
    else
        return hint_dotted_field(an, form, point, d);
    return true;
}

/* .foo and .foo.bar, paths as jq writes them. */
static bool hint_path(const PtcForm *form, PtcDiag *d)
{
    const char *name = form->text + 1;
    size_t len = form->len - 1;
    if (form->len < 2 || form->text[0] != '.' || name[0] == '.')
        return false;
    if (memchr(name, '.', len))
        ptc_diag_hint(d, "a field in a field is (get-in x [:a :b]); in jq it would be .a.b");
    else
        ptc_diag_hint(d, "a field is (:%.*s x), or :%.*s where a function is wanted",
                      PTC_ARG(shown_name(name, len)), PTC_ARG(shown_name(name, len)));
    return true;
}

/* total, where the data has :total. */
static bool hint_key(Analyzer *an, const PtcForm *form, PtcDiag *d)
{
    PtcValue value;
    if (data_with(an, (PtcText){form->text, form->len}, &value) == PTC_NONE)
        return false;
    ptc_diag_hint(d, "a key of the data begins with a colon: :%.*s",
                  PTC_ARG(shown_name(form->text, form->len)));
    return true;
}

/* -------------------------------------------------------------------------------- symbols */

static void hint_unknown(Analyzer *an, const PtcForm *form, PtcDiag *d)
{
    PtcSuggest s;
    PtcInstead instead;
    bool known = ptc_suggest_instead(form->text, form->len, &instead);
    ptc_suggest_init(&s, form->text, form->len);
    offer_own(an, &s);
    offer_tool_names(an, &s);
    ptc_analyze_offer_data(an, &s);
    if (known && !(ptc_suggest_found(&s) && s.best_distance == 0)) {
        ptc_diag_hint(d, "%s", instead.hint);
        return;
    }
    if (hint_slash(an, form, d) || hint_path(form, d))
        return;
    ptc_suggest_builtins(&s, NULL, 0);
    if (!(ptc_suggest_found(&s) && s.best_distance == 0) && hint_key(an, form, d))
        return;
    if (ptc_suggest_found(&s))
        hint_found(an, d, &s);
    else
        hint_nothing(an, d);
}

/* Point. or ->Point of a form such as definterface that is not here, and was reported. */
static bool is_maker_of_missing(Analyzer *an, const PtcForm *form)
{
    bool arrow = form->len > 2 && memcmp(form->text, "->", 2) == 0;
    bool dot = form->len > 1 && form->text[form->len - 1] == '.';
    return an->missing_defs && (arrow || dot) &&
           ptc_names_find(an->names, form->text + (arrow ? 2 : 0), form->len - (arrow ? 2 : 1)) >=
               0;
}

PtcExpr *ptc_analyze_unknown(Analyzer *an, const PtcForm *form)
{
    if (ptc_analyze_is_lost(an, (PtcText){form->text, form->len}, false) ||
        is_maker_of_missing(an, form))
        return ptc_analyze_nil(an, form);
    PtcText name = shown_name(form->text, form->len);
    bool later = ptc_names_find(an->names, form->text, form->len) >= 0;
    PtcDiag *d = ptc_diag_add(an->diags, PTC_E_UNBOUND, form->first, form->last,
                              later ? "%.*s is used before it is defined" : "nothing is named %.*s",
                              PTC_ARG(name));
    if (later)
        ptc_diag_hint(d, "move its definition up, or write (declare %.*s) before this",
                      PTC_ARG(name));
    else if (d && ptc_names_is_lost(an->names, (PtcText){form->text, form->len})) {
        ptc_diag_hint(d, "the program that defined it failed, so it was not kept: define it again");
    } else if (d) {
        d->detail = PTC_DETAIL_UNNAMED;
        hint_unknown(an, form, d);
    }
    return ptc_analyze_nil(an, form);
}

/* ----------------------------------------------------------------------------- namespaces */

/* A namespace that is there without a function of this name. */
static void hint_function(Analyzer *an, const PtcForm *form, size_t prefix, PtcDiag *d)
{
    char hint[PTC_HINT_MAX];
    PtcText ns = {form->text, prefix};
    if (ptc_analyze_is_alias(an, ns.bytes, ns.len))
        ns = ptc_alias_find(an->names, PTC_ALIAS_NAMESPACE, ns);
    ptc_suggest_hint_in(hint, sizeof hint, ns.bytes, ns.len, form->text + prefix + 1,
                        form->len - prefix - 1);
    ptc_diag_hint(d, "%s", hint);
}

/* tools/search and maths/abs: the name with another namespace before it. */
static bool hint_namespace(Analyzer *an, const PtcForm *form, size_t prefix, PtcDiag *d)
{
    const char *name = form->text + prefix + 1;
    size_t len = form->len - prefix - 1;
    char full[WRITTEN];
    PtcSuggest s;
    ptc_suggest_init(&s, form->text, prefix);
    for (size_t i = 0; ptc_namespace_prefix(i); i++)
        ptc_suggest_offer(&s, "", ptc_namespace_prefix(i), strlen(ptc_namespace_prefix(i)),
                          PTC_SUGGEST_RARE);
    ptc_suggest_offer(&s, "", "tool", 4, PTC_SUGGEST_OWN);
    ptc_suggest_offer(&s, "", "data", 4, PTC_SUGGEST_OWN);
    if (!ptc_suggest_found(&s))
        return false;
    int n = snprintf(full, sizeof full, "%s/%.*s", s.best, PTC_ARG(shown_name(name, len)));
    bool tool = strcmp(s.best, "tool") == 0 && an->host && an->host->find(an->host, name, len) >= 0;
    bool whole = tool || strcmp(s.best, "data") == 0 || ptc_builtin_find(full, (size_t)n) >= 0;
    ptc_diag_hint(d, whole ? "did you mean %s?" : "did you mean %s/?", whole ? full : s.best);
    return true;
}

PtcExpr *ptc_analyze_unknown_in(Analyzer *an, const PtcForm *form, size_t prefix)
{
    if (ptc_analyze_is_lost(an, (PtcText){form->text, prefix}, true))
        return ptc_analyze_nil(an, form);
    const char *name = form->text + prefix + 1;
    PtcInstead instead;
    bool known =
        ptc_namespace_known(form->text, prefix) || ptc_analyze_is_alias(an, form->text, prefix);
    PtcDiag *d =
        known ? ptc_diag_add(an->diags, PTC_E_UNBOUND, form->first, form->last,
                             "%.*s has no function %.*s", PTC_ARG(shown_name(form->text, prefix)),
                             PTC_ARG(shown_name(name, form->len - prefix - 1)))
              : ptc_diag_add(an->diags, PTC_E_UNBOUND, form->first, form->last,
                             "there is no namespace %.*s", PTC_ARG(shown_name(form->text, prefix)));
    if (ptc_suggest_instead(form->text, form->len, &instead))
        ptc_diag_hint(d, "%s", instead.hint);
    else if (d && known)
        hint_function(an, form, prefix, d);
    else if (d && !hint_namespace(an, form, prefix, d))
        ptc_diag_hint(d, "known: str/ set/ walk/ Math/ json/ data/ tool/%s",
                      an->servers ? ", and the servers that (tool/servers) lists" : "");
    return ptc_analyze_nil(an, form);
}

PtcExpr *ptc_analyze_unknown_tool(Analyzer *an, const PtcForm *form, const char *name, size_t len)
{
    PtcSuggest s;
    size_t n;
    ptc_suggest_init(&s, name, len);
    size_t given = offer_tool_names(an, &s);
    PtcDiag *d = ptc_diag_add(an->diags, PTC_E_UNKNOWN_TOOL, form->first, form->last,
                              "there is no tool named %.*s", PTC_ARG(shown_name(name, len)));
    if (ptc_suggest_found(&s))
        hint_found(an, d, &s);
    else if (an->servers)
        ptc_diag_hint(d, "a tool of a server is written server/tool; (tool/servers) lists servers");
    else if (given == 0)
        ptc_diag_hint(d, "this run was given no tools");
    else
        ptc_diag_hint(d, "this run has %zu tool%s, such as tool/%s; (dir 'tool) lists them", given,
                      given == 1 ? "" : "s", an->host->name(an->host, 0, &n));
    return ptc_analyze_nil(an, form);
}
