/* SPDX-License-Identifier: MIT
 * Warnings about what is probably wrong and can be seen before a program runs: data that does not exist, values
 * that nothing uses.  Avoiding false alarms matters more than finding every case, so nothing is said where a
 * program may mean it. */
#include <stdio.h>

#include "base/utf8.h"
#include "lisp/analyze/analyze_int.h"
#include "lisp/analyze/suggest.h"
#include "lisp/analyze/warnings.h"
#include "value/coll/key_name.h"

enum { WARN_SHOWN_BYTES = 40, OPERAND_BYTES = 60, PURE_DEPTH = 16, WARN_LISTED = 4 };

static PtcWarningItem *warn_at(Analyzer *an, PtcWarningKind kind, const PtcForm *form)
{
    uint32_t line, column;
    if (!an->warnings || an->lone || an->warnings->count == PTC_WARNINGS_MAX)
        return NULL; /* the place is not looked for in vain: that reads the text up to there */
    ptc_diag_place(an->source, an->source_len, form->first, &line, &column);
    return ptc_warnings_add(an->warnings, an->arena->mem, kind, line, column);
}

static bool is_symbol_among(const PtcForm *form, const char *const *names, size_t n)
{
    for (size_t i = 0; form->kind == PTC_F_SYMBOL && i < n; i++)
        if (ptc_form_is_symbol(form, names[i]))
            return true;
    return false;
}

/* -------------------------------------------------------------------------- missing data */

/* Forms in which one asks whether something is there. */
static const char *const asking[] = {
    "or",     "and",     "if",       "if-not",    "when",   "when-not",  "cond",
    "if-let", "if-some", "when-let", "when-some", "some->", "some->>",   "nil?",
    "some?",  "not",     "boolean",  "empty?",    "seq",    "not-empty",
};

static bool may_be_missing(const Analyzer *an)
{
    const PtcForm *p = an->parent;
    return p && p->count > 0 &&
           is_symbol_among(p->items[0], asking, sizeof asking / sizeof asking[0]);
}

/* The first few names that there are. */
static void list_data(const Analyzer *an, char *out, size_t size)
{
    PtcValue key;
    char name[PTC_KEY_WRITTEN];
    size_t n = 0, at = 0;
    out[0] = 0;
    for (size_t pos = 0; n < WARN_LISTED && ptc_map_next(an->context, &pos, &key, NULL);)
        if (ptc_is_named(key) && ptc_key_as_name(key, name) && at < size)
            at += (size_t)snprintf(out + at, size - at, "%sdata/%s", n++ ? ", " : "", name);
}

static void hint_data(const Analyzer *an, const char *name, size_t len, PtcWarningItem *w)
{
    PtcSuggest s;
    char names[PTC_HINT_MAX];
    ptc_suggest_init(&s, name, len);
    if (!ptc_is_map(an->context) || ptc_map_count(an->context) == 0) {
        snprintf(w->hint, sizeof w->hint, "this run was given no data");
        return;
    }
    ptc_analyze_offer_data(an, &s);
    list_data(an, names, sizeof names);
    if (ptc_suggest_found(&s))
        ptc_diag_format(w->hint, PTC_HINT_MAX + 1, "did you mean %s?", s.best);
    else if (names[0])
        ptc_diag_format(w->hint, PTC_HINT_MAX + 1, "there are %s; (dir 'data) lists all", names);
    else
        ptc_diag_format(w->hint, PTC_HINT_MAX + 1, "(dir 'data) lists what there is");
}

void ptc_analyze_warn_data(Analyzer *an, const PtcForm *form, PtcValue key)
{
    bool there =
        ptc_is_map(an->context) && ptc_map_key_flex(an->heap, an->context, key) != PTC_NONE;
    if (there || may_be_missing(an))
        return;
    PtcWarningItem *w = warn_at(an, PTC_W_UNKNOWN_DATA, form);
    if (!w)
        return;
    PtcText name = ptc_text_cut((PtcText){form->text, form->len}, 80);
    ptc_diag_format(w->message, PTC_MESSAGE_MAX + 1, "there is no %.*s, so it is nil",
                    PTC_ARG(name));
    hint_data(an, ptc_str_bytes(key), ptc_str_len(key), w);
}

/* --------------------------------------------------------------------------- hidden forms */

/* Once for each name. */
void ptc_analyze_warn_form(Analyzer *an, const PtcForm *head, bool hidden)
{
    char message[PTC_MESSAGE_MAX + 4];
    ptc_diag_format(message, PTC_MESSAGE_MAX + 1,
                    hidden ? "%.*s is the program's own here, not the form of that name"
                           : "%.*s is the form here, not what an earlier program defined",
                    PTC_ARG_OF(head->text, head->len));
    for (size_t i = 0; an->warnings && i < an->warnings->count; i++)
        if (strcmp(an->warnings->items[i].message, message) == 0)
            return;
    PtcWarningItem *w = warn_at(an, PTC_W_HIDDEN_FORM, head);
    if (!w)
        return;
    memcpy(w->message, message, sizeof message);
    ptc_diag_format(w->hint, PTC_HINT_MAX + 1, "give it a name that no form has, such as my-%.*s",
                    PTC_ARG_OF(head->text, head->len));
}

/* ------------------------------------------------------------------------ dropped values */

/* Functions of Clojure that are called for what they do: they throw. */
static bool only_computes(const PtcBuiltin *row)
{
    bool plain = strncmp(row->ns, "clojure.", 8) == 0;
    return plain && !(row->flags & (PTC_B_CALLS | PTC_B_EFFECT | PTC_B_HIDDEN)) &&
           strcmp(row->name, "throw") != 0 && strcmp(row->name, "assert") != 0;
}

/* Can it have no effect?  What calls functions of the program may have one. */
static bool is_pure(const PtcExpr *x, int depth)
{
    switch (x->kind) {
    case PTC_X_CONST:
    case PTC_X_LOCAL:
    case PTC_X_CAPTURE:
    case PTC_X_GLOBAL:
    case PTC_X_DATA: return true;
    case PTC_X_CALLB:
        if (!only_computes(ptc_builtin_row(x->index)))
            return false;
        break;
    case PTC_X_VECTOR:
    case PTC_X_MAP:
    case PTC_X_SET: break;
    default: return false;
    }
    for (uint32_t i = 0; i < x->count; i++)
        if (depth == 0 || !is_pure(x->items[i], depth - 1))
            return false;
    return true;
}

/* As it is written: what forms such as declare and comment become is nobody's value. */
static bool is_dropped(const PtcForm *form, const PtcExpr *x)
{
    switch (form->kind) {
    case PTC_F_NUMBER:
    case PTC_F_TAGGED:
    case PTC_F_STRING:
    case PTC_F_KEYWORD:
    case PTC_F_SYMBOL:
    case PTC_F_VECTOR:
    case PTC_F_MAP:
    case PTC_F_SET: return is_pure(x, PURE_DEPTH);
    case PTC_F_LIST: return x->kind == PTC_X_CALLB && is_pure(x, PURE_DEPTH);
    default: return false;
    }
}

static bool is_operator(const PtcForm *form)
{
    static const char *const operators[] = {"+",  "-",  "*",  "/",    "=",   "<",   ">",
                                            "<=", ">=", "==", "not=", "mod", "rem", "str"};
    return is_symbol_among(form, operators, sizeof operators / sizeof operators[0]);
}

static PtcText source_text_of(const Analyzer *an, const PtcForm *form, size_t most)
{
    return ptc_text_cut((PtcText){an->source + form->first, form->last - form->first}, most);
}

/* a + b, as other languages write it. */
static void hint_infix(const Analyzer *an, PtcForm *const *forms, PtcWarningItem *w)
{
    PtcText op = {forms[1]->text, forms[1]->len};
    bool text = forms[0]->kind == PTC_F_STRING || forms[2]->kind == PTC_F_STRING;
    bool joins = text && ptc_form_is_symbol(forms[1], "+");
    ptc_diag_format(w->hint, PTC_HINT_MAX + 1, "the function comes first: (%.*s %.*s %.*s)",
                    PTC_ARG(joins ? PTC_TEXT("str") : op),
                    PTC_ARG(source_text_of(an, forms[0], OPERAND_BYTES)),
                    PTC_ARG(source_text_of(an, forms[2], OPERAND_BYTES)));
}

/* f(x) and x[0], as other languages write them: the parenthesis or bracket follows at once. */
static bool hint_glued(const Analyzer *an, PtcForm *const *forms, PtcWarningItem *w)
{
    PtcForm inside = *forms[1];
    bool list = forms[1]->kind == PTC_F_LIST;
    if (forms[0]->kind != PTC_F_SYMBOL || forms[1]->first != forms[0]->last ||
        (!list && forms[1]->kind != PTC_F_VECTOR) || forms[1]->last - forms[1]->first < 2)
        return false;
    inside.first++;
    inside.last--;
    PtcText name = source_text_of(an, forms[0], OPERAND_BYTES);
    PtcText args = source_text_of(an, &inside, OPERAND_BYTES);
    if (ptc_form_is_symbol(forms[0], "select"))
        snprintf(w->hint, sizeof w->hint, "to choose some write (filter #(> (:total %%) 10) coll)");
    else if (list && args.len > 1 && args.bytes[0] == '.') /* map(.total) */
        ptc_diag_format(w->hint, PTC_HINT_MAX + 1, "the name goes inside: (%.*s :%.*s data)",
                        PTC_ARG(name), PTC_ARG_OF(args.bytes + 1, args.len - 1));
    else if (list)
        ptc_diag_format(w->hint, PTC_HINT_MAX + 1, "the name goes inside: (%.*s%s%.*s)",
                        PTC_ARG(name), args.len ? " " : "", PTC_ARG(args));
    else if (ptc_form_is_symbol(forms[0], ".") && !args.len)
        snprintf(w->hint, sizeof w->hint, "to do something with each element write (map f data)");
    else if (ptc_form_is_symbol(forms[0], "."))
        ptc_diag_format(w->hint, PTC_HINT_MAX + 1, "to take one element write (nth data %.*s)",
                        PTC_ARG(args));
    else
        ptc_diag_format(w->hint, PTC_HINT_MAX + 1, "to take one element write (nth %.*s %.*s)",
                        PTC_ARG(name), PTC_ARG(args.len ? args : PTC_TEXT("0")));
    return true;
}

/* sum-by :total rows, a whole program without its parentheses. */
static bool hint_bare(const Analyzer *an, PtcForm *const *forms, size_t left, PtcWarningItem *w)
{
    enum { BARE_BYTES = 80 };
    PtcForm all = {.first = forms[0]->first, .last = forms[left - 1]->last};
    PtcText text = source_text_of(an, &all, BARE_BYTES);
    bool whole = text.len == all.last - all.first;
    if (whole)
        ptc_diag_format(w->hint, PTC_HINT_MAX + 1, "a call is in parentheses: (%.*s)",
                        PTC_ARG(text));
    return whole;
}

static bool is_builtin_constant(const PtcForm *form, const PtcExpr *x)
{
    return form->kind == PTC_F_SYMBOL && x->kind == PTC_X_CONST && ptc_is_builtin(x->value);
}

/* `bare`: it is the name of a function, and the program begins with it. */
static void warn_dropped(Analyzer *an, PtcForm *const *forms, size_t left, bool bare)
{
    PtcWarningItem *w = warn_at(an, PTC_W_DROPPED_VALUE, forms[0]);
    if (!w)
        return;
    PtcText text = source_text_of(an, forms[0], WARN_SHOWN_BYTES);
    bool cut = text.len < forms[0]->last - forms[0]->first;
    ptc_diag_format(w->message, PTC_MESSAGE_MAX + 1, "the value of %.*s%s is not used",
                    PTC_ARG(text), cut ? "..." : "");
    if (left > 2 && is_operator(forms[1]))
        hint_infix(an, forms, w);
    else if (left > 1 && (hint_glued(an, forms, w) || (bare && hint_bare(an, forms, left, w))))
        ; /* said */
    else if (forms[0]->kind == PTC_F_LIST)
        snprintf(w->hint, sizeof w->hint,
                 "it changes nothing: bind what it gives with let or def, or remove it");
    else
        snprintf(w->hint, sizeof w->hint,
                 "only the last form of a body gives its value: remove this, or put it last");
}

void ptc_analyze_warn_dropped(Analyzer *an, PtcForm *const *forms, PtcExpr *const *items,
                              size_t count, bool whole_program)
{
    bool before = false; /* one warning for values in a row */
    for (size_t i = 0; i + 1 < count; i++) {
        bool doc = i == 0 && !whole_program && forms[0]->kind == PTC_F_STRING;
        bool dropped = !doc && is_dropped(forms[i], items[i]);
        if (dropped && !before)
            warn_dropped(an, forms + i, count - i,
                         whole_program && i == 0 && is_builtin_constant(forms[0], items[0]));
        before = dropped;
    }
}
