/* SPDX-License-Identifier: MIT
 * Claims: noted while the program is walked, told at the end.  What always holds: nothing is noted where nothing may
 * be said (in a round of a loop that is not the last, inside of a try that catches), and one place has one claim. */
#include <stdio.h>

#include "base/text/one_line.h"
#include "lisp/check/check_int.h"
#include "lisp/vm/registry.h"
#include "value/coll/key_name.h"

enum { VALUE_SHOWN_BYTES = 40, KEY_LISTED = 6, KEY_LISTED_BYTES = 60 };

/* ---------------------------------------------------------------------------- descriptions */

static const char *const kind_names[PTC_KINDS] = {
    "nil",       "a boolean", "an integer", "a float", "a decimal",  "a string",
    "a keyword", "a list",    "a set",      "a map",   "a function", "another value"};

static void add_word(char *out, size_t size, const char *word, const char *joint)
{
    size_t at = strlen(out);
    if (at + 1 < size)
        snprintf(out + at, size - at, "%s%s", at ? joint : "", word);
}

void ptc_check_describe_kinds(unsigned kinds, char *out, size_t size)
{
    out[0] = 0;
    if (kinds == PTC_IS_CALLED || kinds == PTC_IS_KEYED) {
        snprintf(out, size, "a function");
        return;
    }
    if ((kinds & (unsigned)PTC_IS_SEQABLE) == PTC_IS_SEQABLE) {
        snprintf(out, size, "a collection");
        return;
    }
    if ((kinds & PTC_IS_NUMBER) == PTC_IS_NUMBER || (kinds & PTC_IS_NUMBER) == 12) {
        add_word(out, size, "a number", "");
        kinds &= ~(unsigned)PTC_IS_NUMBER;
    }
    for (int i = 1; i + 1 < PTC_KINDS; i++)
        if (kinds & 1u << i)
            add_word(out, size, kind_names[i], " or ");
    if (kinds & PTC_IS_NIL)
        add_word(out, size, "nil", " or ");
    if (!out[0])
        snprintf(out, size, "another value");
}

static const char *many(unsigned kinds)
{
    static const char *const names[PTC_KINDS] = {
        "nils",     "booleans", "integers", "floats", "decimals",  "strings",
        "keywords", "lists",    "sets",     "maps",   "functions", "other values"};
    kinds &= kinds == PTC_IS_NIL ? kinds : ~(unsigned)PTC_IS_NIL;
    if (kinds && !(kinds & ~(unsigned)PTC_IS_NUMBER))
        return kinds == PTC_IS_INT ? "integers" : "numbers";
    for (int i = 0; i < PTC_KINDS; i++)
        if (kinds == 1u << i)
            return names[i];
    return NULL;
}

void ptc_check_describe(const PtcOutline *o, char *out, size_t size)
{
    const char *items = o->kinds == PTC_IS_LIST && o->item ? many(o->item->kinds) : NULL;
    PtcValue v = o->kinds & (PTC_IS_STRING | PTC_IS_KEYWORD) ? o->literal : PTC_NONE;
    if (v != PTC_NONE && ptc_str_len(v) <= VALUE_SHOWN_BYTES && ptc_key_is_plain(v))
        snprintf(out, size, ptc_is_keyword(v) ? "a keyword :%.*s" : "a string \"%.*s\"",
                 PTC_ARG_OF(ptc_str_bytes(v), ptc_str_len(v)));
    else if (o->kinds == PTC_IS_INT && o->literal != PTC_NONE && ptc_is_int(o->literal))
        snprintf(out, size, "an integer %lld", (long long)ptc_to_int(o->literal));
    else if (items)
        snprintf(out, size, "a list of %s", items);
    else
        ptc_check_describe_kinds(o->kinds, out, size);
}

const char *ptc_check_word(PtcText name, char out[CHECK_WORD])
{
    PtcBuf word = {.data = out, .cap = CHECK_WORD - 1, .max = CHECK_WORD - 1};
    PtcText cut = ptc_text_cut(name, KEY_LISTED_BYTES);
    ptc_one_line_add(&word, cut);
    out[word.len] = 0;
    if (memchr(out, ' ', word.len)) /* a heading, as programs write it */
        for (size_t i = 0; i < word.len; i++)
            out[i] = out[i] == ' ' ? '-' : ptc_ascii_lower(out[i]);
    return out;
}

void ptc_check_list_keys(const PtcOutline *map, char *out, size_t size)
{
    char word[CHECK_WORD];
    size_t at = 0;
    out[0] = 0;
    for (size_t i = 0; i < map->count && i < KEY_LISTED && at + 1 < size; i++) {
        int n = snprintf(out + at, size - at, "%s:%s", i ? " " : "",
                         ptc_check_word(map->fields[i].name, word));
        at += n > 0 ? (size_t)n : 0;
    }
    if (map->count > KEY_LISTED && at + 5 < size)
        snprintf(out + at, size - at, " ...");
}

/* ---------------------------------------------------------------------------------- noting */

void ptc_check_place(const Checker *c, const PtcExpr *at, uint32_t *first, uint32_t *last)
{
    *first = c->placed ? c->place_first : at->first;
    *last = c->placed ? c->place_last : at->last;
}

bool ptc_check_is_doubted(const PtcFn *fn)
{
    for (; fn; fn = fn->parent)
        if (fn->notes && fn->notes->unsure)
            return true;
    return false;
}

static Finding *finding_at(Checker *c, uint32_t first, uint32_t last)
{
    for (uint32_t i = 0; i < c->finding_count; i++)
        if (c->findings[i].first == first && c->findings[i].last == last)
            return &c->findings[i];
    return NULL;
}

Finding *ptc_check_claim(Checker *c, const PtcExpr *at, bool error, PtcErrorKind kind,
                         PtcWarningKind warning)
{
    uint32_t first, last;
    if ((c->dry && !(c->first && error)) || c->here.muted || c->silent)
        return NULL;
    ptc_check_place(c, at, &first, &last);
    Finding *f = finding_at(c, first, last);
    if (f) {
        f->error |= error;
        if (error)
            f->source = 0;
        return NULL;
    }
    Finding *all = c->finding_count == CHECK_FINDINGS
                       ? NULL
                       : ptc_arena_push(c->arena, c->findings, c->finding_count, sizeof *all);
    if (!all)
        return NULL;
    c->findings = all;
    f = &all[c->finding_count++];
    *f = (Finding){.kind = kind,
                   .warning = warning,
                   .error = error,
                   .first = first,
                   .last = last,
                   .fn = c->fn};
    return f;
}

/* -------------------------------------------------------------------------------- mistakes */

static void name_of_row(uint32_t index, char out[PTC_ROW_NAME])
{
    if (index == UINT32_MAX)
        snprintf(out, PTC_ROW_NAME, "for");
    else
        ptc_row_ref(index, out);
}

/* What to do about a value of these kinds where others are wanted. */
static void say_remedy(Finding *f, const char *name, const PtcOutline *o, unsigned wanted,
                       uint32_t index)
{
    bool numbers = wanted & PTC_IS_NUMBER && !(wanted & PTC_IS_STRING);
    const char *usage = index == UINT32_MAX ? NULL : ptc_builtin_row(index)->usage;
    char *hint = f->hint;
    size_t size = PTC_HINT_MAX + 1;
    if (numbers && o->kinds == PTC_IS_STRING)
        ptc_diag_format(hint, size, "make it a number with (parse-double s) or (parse-long s)");
    else if (numbers && o->kinds == PTC_IS_LIST && index != UINT32_MAX &&
             ptc_builtin_row(index)->max != 1)
        ptc_diag_format(hint, size, "the elements of a list become arguments with (apply %s coll)",
                        name);
    else if (!(wanted & PTC_IS_LIST) && o->kinds == PTC_IS_LIST)
        ptc_diag_format(hint, size, "for each element use (map f coll), for one (first coll)");
    else if (o->kinds == PTC_IS_MAP)
        ptc_diag_format(hint, size, "take the member that is meant, such as (:name m)");
    else if (wanted == PTC_IS_STRING || wanted == (PTC_IS_STRING | PTC_IS_NIL))
        ptc_diag_format(hint, size, "(str x) makes a string of it");
    else if (usage)
        ptc_diag_format(hint, size, "usage: %s", usage);
}

/* A nil that is there because a map lacks the key. */
static bool is_missing_key(const PtcOutline *o)
{
    return o->kinds == PTC_IS_NIL && o->literal != PTC_NONE && o->item;
}

static void say_missing(Finding *f, const char *name, const PtcOutline *o)
{
    char keys[180], word[CHECK_WORD];
    PtcText key = {ptc_str_bytes(o->literal), ptc_str_len(o->literal)};
    ptc_check_list_keys(o->item, keys, sizeof keys);
    ptc_diag_format(f->message, PTC_MESSAGE_MAX + 1, "%s gets nil, because there is no key :%s",
                    name, ptc_check_word(key, word));
    if (keys[0])
        ptc_diag_format(f->hint, PTC_HINT_MAX + 1, "the keys there are: %s", keys);
}

void ptc_check_type(Checker *c, PtcExpr *at, uint32_t index, uint32_t arg, const PtcOutline *o,
                    unsigned wanted)
{
    char name[PTC_ROW_NAME], what[120], expected[120];
    if (o->kinds == 0 || o->kinds & wanted)
        return;
    bool declared = is_missing_key(o) && o->flags & PTC_OUTLINE_DECLARED;
    if (declared && !c->here.wrote && !c->updating)
        return; /* the key itself gets a word */
    bool error = c->here.certain && (!declared || c->here.wrote) && !(o->flags & PTC_OUTLINE_SEEN);
    Finding *f = ptc_check_claim(c, at, error, PTC_E_TYPE, PTC_W_TYPE_MISMATCH);
    if (!f)
        return;
    name_of_row(index, name);
    if (is_missing_key(o)) {
        say_missing(f, name, o);
        return;
    }
    ptc_check_describe(o, what, sizeof what);
    ptc_check_describe_kinds(wanted, expected, sizeof expected);
    if (index == UINT32_MAX)
        ptc_diag_format(f->message, PTC_MESSAGE_MAX + 1, "for walks %s, expected %s", what,
                        expected);
    else
        ptc_diag_format(f->message, PTC_MESSAGE_MAX + 1, "%s: argument %u is %s, expected %s", name,
                        arg + 1, what, expected);
    say_remedy(f, name, o, wanted, index);
}

static bool is_guarded(const Checker *c, const PtcExpr *value)
{
    const PtcLocal *root = value ? ptc_check_root(c, value) : NULL;
    for (uint32_t i = 0; root && i < c->guard_count; i++)
        if (c->guards[i] == root)
            return true;
    return false;
}

void ptc_check_maybe(Checker *c, PtcExpr *at, const PtcExpr *value, uint32_t index,
                     const PtcOutline *o, unsigned wanted)
{
    char name[PTC_ROW_NAME], word[CHECK_WORD];
    if (!(o->flags & PTC_OUTLINE_MAYBE) || wanted & PTC_IS_NIL || !(o->kinds & PTC_IS_NIL) ||
        is_guarded(c, value))
        return;
    Finding *f = ptc_check_claim(c, at, false, PTC_E_TYPE, PTC_W_MAYBE_NIL);
    if (!f)
        return;
    name_of_row(index, name);
    f->source = o->source;
    PtcText key = ptc_outline_source(&c->os, o->source);
    if (key.bytes)
        ptc_diag_format(f->message, PTC_MESSAGE_MAX + 1,
                        "%s gets :%s, which may be nil: it is declared with ?", name,
                        ptc_check_word(key, word));
    else
        ptc_diag_format(f->message, PTC_MESSAGE_MAX + 1,
                        "%s gets a value that may be nil: it is declared with ?", name);
    ptc_diag_format(f->hint, PTC_HINT_MAX + 1,
                    "test it first, (when x ...), or say what else it is, (or x \"\")");
}

/* --------------------------------------------------------------------------------- telling */

static bool is_tested(const Checker *c, uint32_t source)
{
    for (uint32_t i = 0; source && i < c->tested_count; i++)
        if (c->tested[i] == source)
            return true;
    return false;
}

static void warn_of(Checker *c, const Finding *f)
{
    const PtcAnalysis *job = c->job->analysis;
    uint32_t line, column;
    if (!job->warnings || job->warnings->count == PTC_WARNINGS_MAX)
        return;
    ptc_diag_place(job->source, job->source_len, f->first, &line, &column);
    PtcWarningItem *w = ptc_warnings_add(job->warnings, job->arena->mem, f->warning, line, column);
    if (!w)
        return;
    w->checked = w->general = true;
    memcpy(w->message, f->message, sizeof w->message);
    memcpy(w->hint, f->hint, sizeof w->hint);
}

static void refuse(Checker *c, const Finding *f)
{
    PtcDiag *d =
        ptc_diag_add(c->job->analysis->diags, f->kind, f->first, f->last, "%s", f->message);
    bool key = f->kind == PTC_E_KEY;
    if (f->hint[0])
        ptc_diag_hint(d, key ? "%s (--check warn runs it all the same)" : "%s", f->hint);
}

bool ptc_check_report(Checker *c)
{
    bool ok = true;
    if (c->silent || c->os.out)
        return true;
    for (uint32_t i = 0; i < c->finding_count; i++) {
        Finding *f = &c->findings[i];
        if (is_tested(c, f->source) || (!f->error && ptc_check_is_doubted(f->fn)))
            continue;
        if (f->error && c->job->mode == PTC_CHECK_ERROR) {
            refuse(c, f);
            ok = false;
        } else {
            warn_of(c, f);
        }
    }
    return ok;
}
