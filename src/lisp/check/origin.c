/* SPDX-License-Identifier: MIT
 * Outlines of declarations and of values.  What always holds: a value is walked within bounds that the caller shares
 * among all of a program; what lies beyond them is open. */
#include "lisp/check/origin.h"

#include "lisp/vm/vm_int.h"
#include "value/coll/iter.h"
#include "value/coll/map.h"
#include "value/coll/typed.h"
#include "value/coll/vec.h"
#include "value/number/decimal.h"
#include "value/str.h"

/* ------------------------------------------------------------------------------- sketches */

/* Numbers without a fraction are ints whichever way they are written: 2.0 is one. */
static unsigned kinds_of_sketch(PtcSketchKind kind)
{
    switch (kind) {
    case PTC_SKETCH_NIL: return PTC_IS_NIL;
    case PTC_SKETCH_BOOL: return PTC_IS_BOOL;
    case PTC_SKETCH_INT: return PTC_IS_INT | PTC_IS_FLOAT;
    case PTC_SKETCH_NUMBER: return PTC_IS_NUMBER;
    case PTC_SKETCH_STRING: return PTC_IS_STRING;
    case PTC_SKETCH_KEYWORD: return PTC_IS_KEYWORD | PTC_IS_STRING | PTC_IS_BOOL | PTC_IS_NIL;
    case PTC_SKETCH_DATETIME: return PTC_IS_OTHER | PTC_IS_STRING;
    case PTC_SKETCH_LIST: return PTC_IS_LIST;
    case PTC_SKETCH_MAP: return PTC_IS_MAP;
    default: return PTC_IS_ANY;
    }
}

static const PtcOutline *of_part(PtcOutlines *os, const PtcSketch *s, bool open, unsigned depth);

/* nil is there because of the ? of T?, which alone can be forgotten. */
static const PtcOutline *maybe(PtcOutlines *os, const PtcOutline *o, PtcText name)
{
    PtcOutline to = *o;
    if (o->kinds == PTC_IS_NIL || o == &ptc_outline_any)
        return o;
    to.kinds |= PTC_IS_NIL;
    to.flags |= PTC_OUTLINE_MAYBE;
    to.source = name.len ? ptc_str_hash_bytes(name.bytes, name.len) : 0;
    to.least = 0;
    if (name.len)
        ptc_outline_note_source(os, to.source, name);
    return ptc_outline_make(os, &to);
}

static const PtcOutline *of_map_sketch(PtcOutlines *os, const PtcSketch *s, bool open,
                                       unsigned depth)
{
    PtcOutlineField fields[PTC_OUTLINE_FIELDS];
    bool known = s->count > 0 || s->closed || s->item;
    PtcOutline to = {.kinds = PTC_IS_MAP, .flags = PTC_OUTLINE_GIVEN, .fields = fields};
    if (!known || s->count > PTC_OUTLINE_FIELDS || (open && !s->closed && !s->item)) {
        to.flags = PTC_OUTLINE_OPEN | PTC_OUTLINE_GIVEN;
    } else if (!s->closed && !s->item) {
        to.flags |= PTC_OUTLINE_DECLARED;
    }
    for (uint32_t i = 0; i < s->count && s->count <= PTC_OUTLINE_FIELDS; i++) {
        const PtcSketchField *f = &s->fields[i];
        const PtcOutline *of = of_part(os, f->type, open, depth + 1);
        if (f->optional)
            of = maybe(os, of, f->name);
        if (of->flags & PTC_OUTLINE_MAYBE && !of->source)
            of = maybe(os, of, f->name);
        fields[to.count++] = (PtcOutlineField){
            f->name, ptc_str_hash_bytes(f->name.bytes, f->name.len), f->optional, of};
    }
    if (s->item)
        to.rest = of_part(os, s->item, open, depth + 1);
    for (size_t i = 0; i < to.count; i++)
        to.least = to.least < PTC_ENOUGH && !fields[i].optional ? to.least + 1 : to.least;
    return ptc_outline_make(os, &to);
}

/* The value of a literal that a program can know without allocating. */
static PtcValue sketch_literal(const PtcSketch *s)
{
    if (s->kind == PTC_SKETCH_BOOL && s->literal.bytes)
        return s->literal.len == 4 ? PTC_TRUE : PTC_FALSE;
    return PTC_NONE;
}

static const PtcOutline *of_union_sketch(PtcOutlines *os, const PtcSketch *s, bool open,
                                         unsigned depth)
{
    const PtcOutline *all = &ptc_outline_never;
    bool nil = false;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->of[i]->kind == PTC_SKETCH_NIL)
            nil = true;
        else
            all = ptc_outline_join(os, all, of_part(os, s->of[i], open, depth));
    return nil ? maybe(os, all, (PtcText){NULL, 0}) : all;
}

/* A sketch nests no deeper than PTC_SKETCH_DEPTH; what an outline cannot hold is not looked at. */
static const PtcOutline *of_part(PtcOutlines *os, const PtcSketch *s, bool open, unsigned depth)
{
    ptc_outline_charge(os, 1);
    if (depth >= PTC_ORIGIN_DEPTH || os->out)
        return ptc_outline_of_kinds(os, kinds_of_sketch(s->kind));
    if (s->kind == PTC_SKETCH_MAP)
        return of_map_sketch(os, s, open, depth);
    if (s->kind == PTC_SKETCH_UNION)
        return of_union_sketch(os, s, open, depth);
    if (s->kind == PTC_SKETCH_LIST) {
        PtcOutline to = {.kinds = PTC_IS_LIST, .least = PTC_ENOUGH, .flags = PTC_OUTLINE_GIVEN};
        to.item = s->item ? of_part(os, s->item, open, depth + 1) : NULL;
        if (!s->item || to.item == &ptc_outline_any)
            to.item = NULL;
        return ptc_outline_make(os, &to);
    }
    PtcOutline to = {.kinds = (uint16_t)kinds_of_sketch(s->kind), .literal = sketch_literal(s)};
    return to.kinds == PTC_IS_ANY ? &ptc_outline_any : ptc_outline_make(os, &to);
}

const PtcOutline *ptc_outline_of_sketch(PtcOutlines *os, const PtcSketch *sketch, bool open)
{
    return sketch ? of_part(os, sketch, open, 0) : &ptc_outline_any;
}

static const PtcOutline *of_seen(PtcOutlines *os, const PtcSketch *s, unsigned depth)
{
    PtcOutlineField fields[PTC_OUTLINE_FIELDS];
    PtcOutline to = {.flags = PTC_OUTLINE_GIVEN | PTC_OUTLINE_DECLARED | PTC_OUTLINE_SEEN};
    bool list = s->kind == PTC_SKETCH_LIST, map = s->kind == PTC_SKETCH_MAP;
    ptc_outline_charge(os, 1);
    if (depth >= PTC_ORIGIN_DEPTH || (!list && !map) || s->count > PTC_OUTLINE_FIELDS)
        return &ptc_outline_any;
    to.kinds = list ? PTC_IS_LIST : PTC_IS_MAP;
    if (list && s->item && (to.item = of_seen(os, s->item, depth + 1)) == &ptc_outline_any)
        to.item = NULL;
    if (map && (s->item || s->count == 0))
        return &ptc_outline_any;
    for (uint32_t i = 0; map && i < s->count; i++) {
        PtcText name = s->fields[i].name;
        fields[to.count++] = (PtcOutlineField){name, ptc_str_hash_bytes(name.bytes, name.len),
                                               false, of_seen(os, s->fields[i].type, depth + 1)};
    }
    to.fields = map ? fields : NULL;
    return ptc_outline_make(os, &to);
}

const PtcOutline *ptc_outline_of_seen(PtcOutlines *os, const PtcSketch *sketch)
{
    return of_seen(os, sketch, 0);
}

/* --------------------------------------------------------------------------------- values */

static unsigned kind_of_word(PtcValue v)
{
    if (v == PTC_NIL)
        return PTC_IS_NIL;
    if (ptc_is_bool(v))
        return PTC_IS_BOOL;
    if (ptc_is_int(v) || ptc_is_bigint(v))
        return PTC_IS_INT;
    if (ptc_is_float(v))
        return PTC_IS_FLOAT;
    return ptc_is_builtin(v) ? PTC_IS_FN : 0;
}

static unsigned kind_of_value(PtcValue v)
{
    unsigned word = kind_of_word(v);
    if (word)
        return word;
    switch (ptc_tag(v)) {
    case PTC_T_STRING: return PTC_IS_STRING;
    case PTC_T_KEYWORD: return PTC_IS_KEYWORD;
    case PTC_T_CLOSURE: return PTC_IS_FN;
    default: break;
    }
    if (ptc_is_decimal(v))
        return PTC_IS_DECIMAL;
    if (ptc_is_record(v, PTC_R_FN))
        return PTC_IS_FN;
    if (ptc_is_map(v))
        return ptc_is_typed(v) || ptc_is_sorted(v) ? PTC_IS_ANY : PTC_IS_MAP;
    if (ptc_is_set(v))
        return PTC_IS_SET;
    if (ptc_is_sequential(v))
        return PTC_IS_LIST;
    return ptc_is(v, PTC_T_SYMBOL) || ptc_is(v, PTC_T_VAR) ? PTC_IS_OTHER : PTC_IS_ANY;
}

static const PtcOutline *of_member(PtcValueWalk *w, PtcValue v, unsigned depth);

static bool may_look(PtcValueWalk *w)
{
    ptc_outline_charge(w->os, 1);
    return w->parts++ < PTC_VALUE_PARTS && !w->os->out;
}

static const PtcOutline *of_list_value(PtcValueWalk *w, PtcValue v, unsigned depth)
{
    PtcIter it;
    PtcValue x;
    size_t n = ptc_is_set(v) ? ptc_obj(v)->count : ptc_seq_count(v);
    const PtcOutline *item = &ptc_outline_never;
    PtcOutline to = {.kinds = ptc_is_set(v) ? PTC_IS_SET : PTC_IS_LIST,
                     .least = (uint8_t)(n < PTC_ENOUGH ? n : PTC_ENOUGH),
                     .flags = (uint8_t)w->flags};
    if (!ptc_iter_init(&it, w->heap, v))
        return &ptc_outline_any;
    for (; ptc_iter_next(&it, &x); n--) {
        item = may_look(w) ? ptc_outline_join(w->os, item, of_member(w, x, depth + 1))
                           : &ptc_outline_any;
        if (item == &ptc_outline_any)
            break;
    }
    to.item = item == &ptc_outline_any ? NULL : item;
    return ptc_outline_make(w->os, &to);
}

/* A literal of a few elements is known one by one. */
static const PtcOutline *of_short_list(PtcValueWalk *w, PtcValue v, unsigned depth)
{
    const PtcOutline *items[PTC_OUTLINE_TUPLE];
    size_t n = ptc_seq_count(v);
    for (size_t i = 0; i < n; i++)
        items[i] = of_member(w, ptc_seq_nth(v, i), depth + 1);
    return ptc_outline_tuple(w->os, items, n, w->flags);
}

static const PtcOutline *of_map_value(PtcValueWalk *w, PtcValue v, unsigned depth)
{
    PtcOutlineField fields[PTC_OUTLINE_FIELDS];
    PtcValue key, value;
    size_t n = ptc_obj(v)->count;
    PtcOutline to = {.kinds = PTC_IS_MAP,
                     .least = (uint8_t)(n < PTC_ENOUGH ? n : PTC_ENOUGH),
                     .flags = (uint8_t)w->flags,
                     .fields = fields};
    bool whole = w->maps++<PTC_VALUE_MAPS, many = n> PTC_OUTLINE_FIELDS;
    const PtcOutline *rest = &ptc_outline_never;
    for (size_t pos = 0; whole && ptc_map_next(v, &pos, &key, &value);) {
        bool named = ptc_is_keyword(key) || ptc_is_string(key);
        if (!(whole = may_look(w)))
            break;
        const PtcOutline *of = of_member(w, value, depth + 1);
        if (many || !named) {
            rest = ptc_outline_join(w->os, rest, of);
            continue;
        }
        PtcText name = {ptc_str_bytes(key), ptc_str_len(key)};
        PtcOutlineField *alike = (PtcOutlineField *)ptc_outline_field(&to, name);
        if (alike) { /* :id and "id": either may be found */
            alike->of = ptc_outline_join(w->os, alike->of, of);
            continue;
        }
        fields[to.count++] = (PtcOutlineField){name, ptc_str_hash(key), false, of};
    }
    if (!whole) {
        to.count = 0;
        to.flags |= PTC_OUTLINE_OPEN;
    } else if (rest->kinds) {
        to.rest = rest;
    }
    return ptc_outline_make(w->os, &to);
}

static const PtcOutline *of_fn_value(PtcValueWalk *w, PtcValue v)
{
    return w->of_fn ? w->of_fn(w->user, v) : ptc_outline_of_kinds(w->os, PTC_IS_FN);
}

static const PtcOutline *of_member(PtcValueWalk *w, PtcValue v, unsigned depth)
{
    unsigned kind = kind_of_value(v);
    if (depth >= PTC_ORIGIN_DEPTH && kind & (PTC_IS_LIST | PTC_IS_SET | PTC_IS_MAP))
        return ptc_outline_of_kinds(w->os, kind);
    if (kind == PTC_IS_ANY)
        return &ptc_outline_any;
    if (kind == PTC_IS_MAP)
        return of_map_value(w, v, depth);
    if (kind == PTC_IS_LIST && (ptc_is_seq_flagged(v) || ptc_seq_count(v) >= PTC_VALUE_PARTS))
        return ptc_outline_of_kinds(w->os, kind);
    if (kind == PTC_IS_LIST && !w->flags && ptc_seq_count(v) <= PTC_OUTLINE_TUPLE)
        return of_short_list(w, v, depth);
    if (kind & (PTC_IS_LIST | PTC_IS_SET))
        return of_list_value(w, v, depth);
    if (kind == PTC_IS_FN)
        return of_fn_value(w, v);
    PtcOutline to = {.kinds = (uint16_t)kind};
    bool word = kind & (PTC_IS_BOOL | PTC_IS_KEYWORD | PTC_IS_STRING | PTC_IS_NUMBER);
    to.literal = word && !w->flags ? v : PTC_NONE;
    if (kind == PTC_IS_STRING)
        to.least = ptc_str_len(v) > 0;
    return ptc_outline_make(w->os, &to);
}

const PtcOutline *ptc_outline_of_value(PtcValueWalk *walk, PtcValue v)
{
    return of_member(walk, v, 0);
}
