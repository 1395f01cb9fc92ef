/* SPDX-License-Identifier: MIT
 * Whether a value of some outline can be what was asked for.  What always holds: a misfit is only found where no value
 * of the outline fits, whatever the one who asked makes fit. */
#include <stdio.h>

#include "lisp/check/check_int.h"

enum { FIT_DEPTH = 8 };

static bool misfit(Checker *c, FitMode mode, const PtcOutline *o, const PtcSketch *want,
                   Misfit *out, int depth);

/* What may become a value of this kind. */
static unsigned fitting_kinds(FitMode mode, PtcSketchKind kind)
{
    unsigned far = mode == FIT_FAR ? PTC_IS_SCALAR | PTC_IS_OTHER : 0;
    switch (kind) {
    case PTC_SKETCH_NIL: return PTC_IS_NIL;
    case PTC_SKETCH_BOOL: return far | PTC_IS_BOOL | (mode == FIT_ARGUMENT ? PTC_IS_STRING : 0);
    case PTC_SKETCH_INT:
    case PTC_SKETCH_NUMBER: return far | PTC_IS_NUMBER | (mode == FIT_ARGUMENT ? PTC_IS_STRING : 0);
    case PTC_SKETCH_STRING:
        return far | PTC_IS_STRING | PTC_IS_KEYWORD | PTC_IS_OTHER |
               (mode == FIT_ARGUMENT ? PTC_IS_BOOL : 0);
    case PTC_SKETCH_KEYWORD:
        return far | PTC_IS_STRING | PTC_IS_KEYWORD | PTC_IS_BOOL | PTC_IS_NIL | PTC_IS_OTHER;
    case PTC_SKETCH_DATETIME: return far | PTC_IS_STRING | PTC_IS_OTHER | PTC_IS_KEYWORD;
    case PTC_SKETCH_LIST: return PTC_IS_LIST | PTC_IS_SET | PTC_IS_OTHER;
    case PTC_SKETCH_MAP: return PTC_IS_MAP | PTC_IS_OTHER;
    default: return PTC_IS_ANY;
    }
}

static const char *sketch_name(const PtcSketch *want)
{
    static const char *const names[] = {[PTC_SKETCH_ANY] = "any value",
                                        [PTC_SKETCH_NIL] = "nil",
                                        [PTC_SKETCH_BOOL] = "a boolean",
                                        [PTC_SKETCH_INT] = "an integer",
                                        [PTC_SKETCH_NUMBER] = "a number",
                                        [PTC_SKETCH_STRING] = "a string",
                                        [PTC_SKETCH_KEYWORD] = "a keyword",
                                        [PTC_SKETCH_DATETIME] = "a datetime",
                                        [PTC_SKETCH_LIST] = "a list",
                                        [PTC_SKETCH_MAP] = "a map",
                                        [PTC_SKETCH_UNION] = "one of several types"};
    return names[want->kind];
}

static bool wrong_kind(const PtcOutline *o, const PtcSketch *want, Misfit *out)
{
    char what[100], keys[100], word[CHECK_WORD];
    if (o->kinds == PTC_IS_NIL && o->literal != PTC_NONE && o->item) {
        ptc_check_list_keys(o->item, keys, sizeof keys);
        snprintf(
            out->what, sizeof out->what,
            "it is nil, because there is no key :%.60s; there are %.90s",
            ptc_check_word((PtcText){ptc_str_bytes(o->literal), ptc_str_len(o->literal)}, word),
            keys);
        return true;
    }
    ptc_check_describe(o, what, sizeof what);
    snprintf(out->what, sizeof out->what, "expected %s, got %s", sketch_name(want), what);
    return true;
}

static void put_before(Misfit *out, PtcText name, bool list)
{
    char rest[sizeof out->path], word[CHECK_WORD];
    memcpy(rest, out->path, sizeof rest);
    if (list)
        snprintf(out->path, sizeof out->path, "[]%s%.100s", rest[0] && rest[0] != '[' ? "." : "",
                 rest);
    else
        snprintf(out->path, sizeof out->path, "%.50s%s%.60s", ptc_check_word(name, word),
                 rest[0] && rest[0] != '[' ? "." : "", rest);
}

/* A text of digits may be a number; any other is none. */
static bool is_number_text(PtcValue text)
{
    const char *s = ptc_str_bytes(text);
    size_t len = ptc_str_len(text);
    for (size_t i = 0; i < len; i++)
        if (ptc_ascii_is_digit(s[i]))
            return true;
    return false;
}

static bool wrong_text(FitMode mode, const PtcOutline *o, const PtcSketch *want, Misfit *out)
{
    char word[CHECK_WORD];
    bool number = want->kind == PTC_SKETCH_INT || want->kind == PTC_SKETCH_NUMBER;
    if (mode != FIT_ARGUMENT || !number || o->kinds != PTC_IS_STRING || o->literal == PTC_NONE ||
        is_number_text(o->literal))
        return false;
    snprintf(out->what, sizeof out->what, "expected %s, got the text \"%.60s\"", sketch_name(want),
             ptc_check_word((PtcText){ptc_str_bytes(o->literal), ptc_str_len(o->literal)}, word));
    return true;
}

/* Has the map no other members for certain? */
static bool is_whole(const PtcOutline *o)
{
    return o->kinds == PTC_IS_MAP && !(o->flags & (PTC_OUTLINE_OPEN | PTC_OUTLINE_DECLARED)) &&
           !o->rest;
}

static bool wrong_member(Checker *c, FitMode mode, const PtcOutline *o, const PtcSketchField *f,
                         Misfit *out, int depth)
{
    const PtcOutlineField *have = ptc_outline_field(o, f->name);
    if (!have || have->optional) {
        bool lacks = !have && is_whole(o) && !f->optional && f->type->kind != PTC_SKETCH_ANY &&
                     (mode != FIT_FAR);
        if (lacks) {
            out->missing = f->name;
            snprintf(out->what, sizeof out->what, "it is missing");
            put_before(out, f->name, false);
        }
        return lacks;
    }
    bool nil = f->optional && have->of->kinds & PTC_IS_NIL;
    if (nil || !misfit(c, mode, have->of, f->type, out, depth + 1))
        return false;
    put_before(out, f->name, false);
    return true;
}

static bool wrong_extra(FitMode mode, const PtcOutline *o, const PtcSketch *want, Misfit *out)
{
    for (size_t i = 0; mode == FIT_ARGUMENT && want->closed && i < o->count; i++) {
        bool known = o->fields[i].optional;
        for (uint32_t k = 0; k < want->count && !known; k++) {
            PtcOutlineField field = {
                .name = want->fields[k].name,
                .hash = ptc_str_hash_bytes(want->fields[k].name.bytes, want->fields[k].name.len)};
            PtcOutline one = {.kinds = PTC_IS_MAP, .count = 1, .fields = &field};
            known = ptc_outline_field(&one, o->fields[i].name) != NULL;
        }
        if (known || o->fields[i].of->kinds & PTC_IS_NIL)
            continue;
        out->extra = o->fields[i].name;
        snprintf(out->what, sizeof out->what, "unexpected field");
        put_before(out, o->fields[i].name, false);
        return true;
    }
    return false;
}

static bool wrong_map(Checker *c, FitMode mode, const PtcOutline *o, const PtcSketch *want,
                      Misfit *out, int depth)
{
    if (wrong_extra(mode, o, want, out)) {
        out->in = want;
        return true;
    }
    for (uint32_t i = 0; i < want->count; i++)
        if (wrong_member(c, mode, o, &want->fields[i], out, depth)) {
            out->in = out->in ? out->in : want;
            return true;
        }
    return false;
}

/* Every alternative is wrong; what is said is about the last that is of the right kind. */
static bool wrong_union(Checker *c, FitMode mode, const PtcOutline *o, const PtcSketch *want,
                        Misfit *out, int depth)
{
    Misfit first = {.in = NULL};
    for (uint32_t i = 0; i < want->count; i++) {
        Misfit one = {.in = NULL};
        if (!misfit(c, mode, o, want->of[i], &one, depth + 1))
            return false;
        if (i == 0 || (want->of[i]->kind != PTC_SKETCH_NIL && !first.path[0]))
            first = one;
    }
    *out = first;
    return want->count > 0;
}

static bool misfit(Checker *c, FitMode mode, const PtcOutline *o, const PtcSketch *want,
                   Misfit *out, int depth)
{
    if (!want || depth > FIT_DEPTH || o->kinds == 0 || o == &ptc_outline_any)
        return false;
    if (want->kind == PTC_SKETCH_UNION)
        return wrong_union(c, mode, o, want, out, depth);
    unsigned kinds = fitting_kinds(mode, want->kind);
    if (!(o->kinds & kinds))
        return wrong_kind(o, want, out);
    if (wrong_text(mode, o, want, out))
        return true;
    if (want->kind == PTC_SKETCH_MAP && o->kinds == PTC_IS_MAP)
        return wrong_map(c, mode, o, want, out, depth);
    if (want->kind != PTC_SKETCH_LIST || o->kinds & ~(unsigned)(PTC_IS_LIST | PTC_IS_SET) ||
        !o->least || !want->item)
        return false;
    if (!misfit(c, mode, ptc_outline_item(&c->os, o), want->item, out, depth + 1))
        return false;
    put_before(out, (PtcText){NULL, 0}, true);
    return true;
}

bool ptc_check_misfit(Checker *c, FitMode mode, const PtcOutline *o, const PtcSketch *want,
                      Misfit *out)
{
    *out = (Misfit){.in = NULL};
    return misfit(c, mode, o, want, out, 0);
}
