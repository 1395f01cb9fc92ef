/* SPDX-License-Identifier: MIT
 * Outlines: made, joined, narrowed.  What always holds: joining never claims more than both sides do; nothing here
 * recurses deeper than PTC_OUTLINE_DEPTH. */
#include "lisp/check/outline.h"

#include <string.h>

#include "base/utf8.h"
#include "value/str.h"

const PtcOutline ptc_outline_any = {.kinds = PTC_IS_ANY, .flags = PTC_OUTLINE_OPEN};
const PtcOutline ptc_outline_never = {.kinds = 0};
const PtcOutline ptc_outline_nil = {.kinds = PTC_IS_NIL};

void *ptc_outline_alloc(PtcOutlines *os, size_t size)
{
    void *p = NULL;
    if (!os->out && size <= PTC_OUTLINE_BYTES - os->bytes)
        p = ptc_arena_alloc(os->arena, size);
    os->out |= !p;
    os->bytes += p ? size : 0;
    return p;
}

/* --------------------------------------------------------------------------------- making */

static uint64_t hash_outline(const PtcOutline *o, unsigned flags)
{
    uint64_t h =
        (uint64_t)o->kinds << 32 | (uint64_t)o->least << 24 | (uint64_t)flags << 16 | o->count;
    h = ptc_hash_fold(h ^ o->source, (uintptr_t)o->item | 1);
    h = ptc_hash_fold(h ^ (uintptr_t)o->callee, (uintptr_t)o->rest | 1);
    h ^= o->literal;
    for (size_t i = 0; i < o->count; i++)
        h = ptc_hash_fold(h ^ o->fields[i].hash, (uintptr_t)o->fields[i].of | 1);
    return ptc_hash_finish(h);
}

static bool same_fields(const PtcOutline *a, const PtcOutline *b)
{
    for (size_t i = 0; i < a->count; i++) {
        const PtcOutlineField *x = &a->fields[i], *y = &b->fields[i];
        if (x->of != y->of || x->hash != y->hash || x->optional != y->optional ||
            x->name.len != y->name.len ||
            (x->name.len && memcmp(x->name.bytes, y->name.bytes, x->name.len) != 0))
            return false;
    }
    return true;
}

static bool same_outline(const PtcOutline *a, const PtcOutline *b, unsigned flags)
{
    return a->kinds == b->kinds && a->least == b->least && a->flags == flags &&
           a->count == b->count && a->source == b->source && a->item == b->item &&
           a->rest == b->rest && a->callee == b->callee && a->literal == b->literal &&
           same_fields(a, b);
}

void ptc_outline_lose(PtcOutlines *os, const PtcOutline *o)
{
    if (!o || !(o->flags & PTC_OUTLINE_CALLEES) || !os->lost || os->out)
        return;
    ptc_outline_charge(os, 1u + o->count);
    if (o->callee)
        os->lost(os->user, o->callee);
    ptc_outline_lose(os, o->item);
    ptc_outline_lose(os, o->rest);
    for (size_t i = 0; i < o->count; i++)
        ptc_outline_lose(os, o->fields[i].of);
}

static void add_part(const PtcOutline *part, unsigned *depth, unsigned *flags)
{
    if (!part)
        return;
    *depth = part->depth >= *depth ? part->depth + 1u : *depth;
    *flags |= part->flags & PTC_OUTLINE_CALLEES;
}

/* How deep it is, and its flags with what its parts say. */
static unsigned look_at_parts(const PtcOutline *o, unsigned *flags)
{
    unsigned depth = 0;
    *flags = (o->flags & ~(unsigned)PTC_OUTLINE_CALLEES) | (o->callee ? PTC_OUTLINE_CALLEES : 0);
    add_part(o->item, &depth, flags);
    add_part(o->rest, &depth, flags);
    for (size_t i = 0; i < o->count; i++)
        add_part(o->fields[i].of, &depth, flags);
    return depth;
}

/* Without its parts, which lie too deep. */
static const PtcOutline *flat(PtcOutlines *os, const PtcOutline *o, unsigned flags)
{
    PtcOutline whole = *o;
    PtcOutline to = {.kinds = o->kinds, .least = o->least, .flags = o->flags | PTC_OUTLINE_OPEN};
    whole.flags = (uint8_t)flags;
    ptc_outline_lose(os, &whole);
    return ptc_outline_make(os, &to);
}

const PtcOutline *ptc_outline_make(PtcOutlines *os, const PtcOutline *from)
{
    unsigned flags, depth = look_at_parts(from, &flags);
    ptc_outline_charge(os, 1u + from->count);
    if (os->out)
        return &ptc_outline_any;
    if (depth > PTC_OUTLINE_DEPTH)
        return flat(os, from, flags);
    const PtcOutline **slot = &os->table[hash_outline(from, flags) % PTC_OUTLINE_TABLE];
    if (*slot && same_outline(*slot, from, flags))
        return *slot;
    size_t bytes = from->count * sizeof *from->fields;
    PtcOutline *o = ptc_outline_alloc(os, sizeof *o + bytes);
    if (!o)
        return &ptc_outline_any;
    *o = *from;
    o->flags = (uint8_t)flags;
    o->depth = (uint8_t)depth;
    if (bytes)
        o->fields = memcpy(o + 1, from->fields, bytes);
    *slot = o;
    return o;
}

const PtcOutline *ptc_outline_of_kinds(PtcOutlines *os, unsigned kinds)
{
    if (kinds == PTC_IS_ANY)
        return &ptc_outline_any;
    if (kinds == PTC_IS_NIL || kinds == 0)
        return kinds ? &ptc_outline_nil : &ptc_outline_never;
    PtcOutline o = {.kinds = (uint16_t)kinds, .flags = PTC_OUTLINE_OPEN};
    return ptc_outline_make(os, &o);
}

const PtcOutline *ptc_outline_list(PtcOutlines *os, const PtcOutline *item, unsigned least)
{
    PtcOutline o = {.kinds = PTC_IS_LIST,
                    .least = (uint8_t)(least < PTC_ENOUGH ? least : PTC_ENOUGH),
                    .item = item == &ptc_outline_any ? NULL : item};
    return ptc_outline_make(os, &o);
}

const PtcOutline *ptc_outline_tuple(PtcOutlines *os, const PtcOutline *const *items, size_t n,
                                    unsigned flags)
{
    PtcOutlineField fields[PTC_OUTLINE_TUPLE];
    const PtcOutline *item = &ptc_outline_never;
    for (size_t i = 0; i < n; i++)
        item = ptc_outline_join(os, item, items[i]);
    if (n == 0 || n > PTC_OUTLINE_TUPLE)
        return ptc_outline_list(os, item, (unsigned)(n < PTC_ENOUGH ? n : PTC_ENOUGH));
    for (size_t i = 0; i < n; i++)
        fields[i] = (PtcOutlineField){.of = items[i]};
    PtcOutline o = {.kinds = PTC_IS_LIST,
                    .least = (uint8_t)(n < PTC_ENOUGH ? n : PTC_ENOUGH),
                    .flags = (uint8_t)flags,
                    .count = (uint8_t)n,
                    .item = item,
                    .fields = fields};
    return ptc_outline_make(os, &o);
}

/* -------------------------------------------------------------------------------- looking */

static uint32_t name_hash(PtcText name)
{
    return ptc_str_hash_bytes(name.bytes, name.len);
}

/* The same but for - and _. */
static bool same_name(PtcText a, PtcText b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (a.bytes[i] != b.bytes[i] &&
            !((a.bytes[i] == '-' || a.bytes[i] == '_') && (b.bytes[i] == '-' || b.bytes[i] == '_')))
            return false;
    return true;
}

static const PtcOutlineField *find_field(const PtcOutline *map, PtcText name, uint32_t hash)
{
    for (size_t i = 0; i < map->count; i++)
        if (map->fields[i].hash == hash && same_name(map->fields[i].name, name))
            return &map->fields[i];
    for (size_t i = 0; i < map->count; i++)
        if (map->fields[i].name.len == name.len &&
            ptc_utf8_alike(map->fields[i].name.bytes, name.bytes, name.len))
            return &map->fields[i];
    return NULL;
}

const PtcOutlineField *ptc_outline_field(const PtcOutline *map, PtcText name)
{
    return map->count ? find_field(map, name, name_hash(name)) : NULL;
}

const PtcOutline *ptc_outline_member(PtcOutlines *os, const PtcOutline *o)
{
    const PtcOutline *all = &ptc_outline_never;
    if (o->flags & PTC_OUTLINE_OPEN || !(o->kinds & PTC_IS_MAP)) {
        ptc_outline_lose(os, o);
        return &ptc_outline_any;
    }
    for (size_t i = 0; i < o->count; i++)
        all = ptc_outline_join(os, all, o->fields[i].of);
    return o->rest ? ptc_outline_join(os, all, o->rest) : all;
}

static const PtcOutline *entry_of(PtcOutlines *os, const PtcOutline *map)
{
    const PtcOutline *pair[2] = {&ptc_outline_any, ptc_outline_member(os, map)};
    return ptc_outline_tuple(os, pair, 2, PTC_OUTLINE_ENTRY | (map->flags & PTC_OUTLINE_GIVEN));
}

const PtcOutline *ptc_outline_item(PtcOutlines *os, const PtcOutline *o)
{
    const PtcOutline *all = &ptc_outline_never;
    if (o->kinds & (PTC_IS_OTHER | PTC_IS_FN))
        return &ptc_outline_any;
    if (o->kinds & PTC_IS_STRING)
        all = ptc_outline_of_kinds(os, PTC_IS_STRING);
    if (o->kinds & (PTC_IS_LIST | PTC_IS_SET))
        all = ptc_outline_join(os, all, o->item ? o->item : &ptc_outline_any);
    if (o->kinds & PTC_IS_MAP)
        all = ptc_outline_join(os, all, entry_of(os, o));
    return all;
}

const PtcOutline *ptc_outline_element(PtcOutlines *os, const PtcOutline *o, size_t i)
{
    if (ptc_outline_is_tuple(o))
        return i < o->count ? o->fields[i].of : &ptc_outline_nil;
    return ptc_outline_item(os, o);
}

bool ptc_outline_may_be_true(const PtcOutline *o)
{
    return o->kinds & ~(PTC_IS_NIL | PTC_IS_BOOL) ||
           (o->kinds & PTC_IS_BOOL && o->literal != PTC_FALSE);
}

bool ptc_outline_may_be_false(const PtcOutline *o)
{
    return o->kinds & PTC_IS_NIL || (o->kinds & PTC_IS_BOOL && o->literal != PTC_TRUE);
}

/* --------------------------------------------------------------------------------- sources */

/* Where the name is, or would be. */
static PtcText *source_slot(PtcOutlines *os, uint32_t source)
{
    for (uint32_t i = 0; i < PTC_OUTLINE_SOURCES; i++) {
        PtcText *slot = &os->sources[(source + i) % PTC_OUTLINE_SOURCES];
        if (!slot->bytes || name_hash(*slot) == source)
            return slot;
    }
    return NULL;
}

void ptc_outline_note_source(PtcOutlines *os, uint32_t source, PtcText name)
{
    PtcText *slot = source_slot(os, source);
    if (slot)
        *slot = name;
}

PtcText ptc_outline_source(const PtcOutlines *os, uint32_t source)
{
    const PtcText *slot = source_slot((PtcOutlines *)(uintptr_t)os, source);
    return slot ? *slot : (PtcText){NULL, 0};
}

/* --------------------------------------------------------------------------------- joining */

/* Sorts of values, nil aside, numbers being one. */
static unsigned count_sorts(unsigned kinds)
{
    unsigned n = (kinds & PTC_IS_NUMBER) != 0;
    for (kinds &= ~(unsigned)(PTC_IS_NIL | PTC_IS_NUMBER); kinds; kinds &= kinds - 1)
        n++;
    return n;
}

/* Adds a member of either map; false: there are too many. */
static bool add_field(PtcOutlines *os, PtcOutline *to, PtcOutlineField *fields,
                      const PtcOutlineField *f, const PtcOutline *other)
{
    const PtcOutlineField *same = find_field(other, f->name, f->hash);
    if (!same && (other->flags & PTC_OUTLINE_OPEN)) {
        ptc_outline_lose(os, f->of);
        return true; /* it may be there as anything */
    }
    const PtcOutline *of = f->of;
    if (same || other->rest)
        of = ptc_outline_join(os, of, same ? same->of : other->rest);
    if (to->count == PTC_OUTLINE_FIELDS)
        return false;
    fields[to->count++] =
        (PtcOutlineField){f->name, f->hash, f->optional || !same || same->optional, of};
    return true;
}

static void join_maps(PtcOutlines *os, PtcOutline *to, PtcOutlineField *fields, const PtcOutline *a,
                      const PtcOutline *b)
{
    bool fits = true;
    ptc_outline_charge(os, (size_t)a->count * b->count / 8);
    to->fields = fields;
    for (size_t i = 0; fits && i < a->count; i++)
        fits = add_field(os, to, fields, &a->fields[i], b);
    for (size_t i = 0; fits && i < b->count; i++)
        if (!find_field(a, b->fields[i].name, b->fields[i].hash))
            fits = add_field(os, to, fields, &b->fields[i], a);
    if (a->rest || b->rest)
        to->rest = a->rest && b->rest ? ptc_outline_join(os, a->rest, b->rest)
                   : a->rest          ? a->rest
                                      : b->rest;
    if (!fits) {
        ptc_outline_lose(os, a);
        ptc_outline_lose(os, b);
        to->count = 0;
        to->flags |= PTC_OUTLINE_OPEN;
    }
}

static void join_tuples(PtcOutlines *os, PtcOutline *to, PtcOutlineField *fields,
                        const PtcOutline *a, const PtcOutline *b)
{
    to->fields = fields;
    to->count = a->count;
    to->flags =
        (uint8_t)((to->flags & ~PTC_OUTLINE_ENTRY) | (a->flags & b->flags & PTC_OUTLINE_ENTRY));
    for (size_t i = 0; i < a->count; i++)
        fields[i] = (PtcOutlineField){.of = ptc_outline_join(os, a->fields[i].of, b->fields[i].of)};
}

static void take_fields(PtcOutline *to, const PtcOutline *from)
{
    to->fields = from->fields;
    to->count = from->count;
    to->rest = from->rest;
}

static bool has_elements(const PtcOutline *o)
{
    return o->kinds & (PTC_IS_LIST | PTC_IS_SET | PTC_IS_MAP | PTC_IS_STRING | PTC_IS_OTHER);
}

/* Kinds that have parts come from both, or from one. */
static void join_parts(PtcOutlines *os, PtcOutline *to, PtcOutlineField *fields,
                       const PtcOutline *a, const PtcOutline *b)
{
    bool map_a = a->kinds & PTC_IS_MAP, map_b = b->kinds & PTC_IS_MAP;
    bool coll_a = a->kinds & (PTC_IS_LIST | PTC_IS_SET),
         coll_b = b->kinds & (PTC_IS_LIST | PTC_IS_SET);
    if (map_a && map_b)
        join_maps(os, to, fields, a, b);
    else if (map_a || map_b)
        take_fields(to, map_a ? a : b);
    else if (ptc_outline_is_tuple(a) && ptc_outline_is_tuple(b) && a->count == b->count)
        join_tuples(os, to, fields, a, b);
    else if ((ptc_outline_is_tuple(a) && !coll_b) || (ptc_outline_is_tuple(b) && !coll_a))
        take_fields(to, coll_a ? a : b);
    if (coll_a && coll_b && a->item && b->item) {
        to->item = ptc_outline_join(os, a->item, b->item);
    } else if (coll_a && coll_b) {
        ptc_outline_lose(os, a->item);
        ptc_outline_lose(os, b->item);
    } else if (coll_a || coll_b) {
        to->item = coll_a ? a->item : b->item;
    }
    if (to->item == &ptc_outline_any)
        to->item = NULL;
}

static void lose_callees(PtcOutlines *os, const PtcOutline *a, const PtcOutline *b)
{
    for (int i = 0; i < 2; i++, a = b)
        if (a->callee && os->lost)
            os->lost(os->user, a->callee);
}

static unsigned join_flags(const PtcOutline *a, const PtcOutline *b)
{
    unsigned either = a->flags | b->flags, both = a->flags & b->flags;
    unsigned flags = either & (PTC_OUTLINE_OPEN | PTC_OUTLINE_DECLARED | PTC_OUTLINE_SEEN);
    bool nil_a = a->kinds & PTC_IS_NIL, nil_b = b->kinds & PTC_IS_NIL;
    flags |= (nil_a && nil_b ? both : either) & PTC_OUTLINE_MAYBE;
    flags |= (has_elements(a) && has_elements(b) ? both : either) &
             (PTC_OUTLINE_GIVEN | PTC_OUTLINE_ENTRY);
    return flags;
}

const PtcOutline *ptc_outline_join(PtcOutlines *os, const PtcOutline *a, const PtcOutline *b)
{
    if (a == b || b->kinds == 0)
        return a;
    if (a->kinds == 0)
        return b;
    if (os->out || a == &ptc_outline_any || b == &ptc_outline_any ||
        count_sorts(a->kinds | b->kinds) > PTC_OUTLINE_SORTS) {
        ptc_outline_lose(os, a);
        ptc_outline_lose(os, b);
        return &ptc_outline_any;
    }
    PtcOutlineField fields[PTC_OUTLINE_FIELDS];
    PtcOutline to = {.kinds = a->kinds | b->kinds, .flags = (uint8_t)join_flags(a, b)};
    to.least = has_elements(a) && has_elements(b) ? (a->least < b->least ? a->least : b->least)
                                                  : a->least | b->least;
    if ((a->kinds | b->kinds) & PTC_IS_NIL)
        to.least = 0; /* nil has none */
    to.source = to.flags & PTC_OUTLINE_MAYBE ? (a->flags & PTC_OUTLINE_MAYBE ? a : b)->source : 0;
    join_parts(os, &to, fields, a, b);
    if (a->callee == b->callee)
        to.callee = a->callee;
    else if (!(a->kinds & PTC_IS_FN) || !(b->kinds & PTC_IS_FN))
        to.callee = a->callee ? a->callee : b->callee;
    else
        lose_callees(os, a, b);
    if (a->literal == b->literal && a->kinds == b->kinds)
        to.literal = a->literal;
    return ptc_outline_make(os, &to);
}

/* ------------------------------------------------------------------------------- narrowing */

const PtcOutline *ptc_outline_only(PtcOutlines *os, const PtcOutline *o, unsigned kinds)
{
    PtcOutline to = *o;
    to.kinds &= (uint16_t)kinds;
    if (to.kinds == o->kinds)
        return o;
    if (to.kinds == 0 || to.kinds == PTC_IS_NIL)
        return ptc_outline_of_kinds(os, to.kinds);
    if (!(to.kinds & PTC_IS_NIL)) {
        to.flags &= (uint8_t)~PTC_OUTLINE_MAYBE;
        to.source = 0;
    }
    bool tuple = ptc_outline_is_tuple(o);
    if (!(to.kinds & PTC_IS_MAP) && !(tuple && to.kinds & PTC_IS_LIST)) {
        to.fields = NULL;
        to.rest = NULL;
        to.count = 0;
    }
    if (!(to.kinds & (PTC_IS_LIST | PTC_IS_SET)))
        to.item = NULL;
    if (!(to.kinds & PTC_IS_FN))
        to.callee = NULL;
    return ptc_outline_make(os, &to);
}

void ptc_outline_edit(PtcOutlineEdit *e, const PtcOutline *map)
{
    e->map = *map;
    if (map->count)
        memcpy(e->fields, map->fields, map->count * sizeof *e->fields);
    e->map.fields = e->fields;
}

void ptc_outline_put(PtcOutlines *os, PtcOutlineEdit *e, PtcText name, const PtcOutline *of)
{
    PtcOutline *map = &e->map;
    const PtcOutlineField *old = ptc_outline_field(map, name);
    ptc_outline_charge(os, map->count / 8u);
    if (map->least == 0)
        map->least = 1;
    if (!old && map->count == PTC_OUTLINE_FIELDS) {
        map->flags |= PTC_OUTLINE_OPEN;
        ptc_outline_lose(os, of);
        return;
    }
    size_t at = old ? (size_t)(old - e->fields) : map->count++;
    if (!old)
        e->fields[at] = (PtcOutlineField){.name = name, .hash = name_hash(name)};
    e->fields[at].of = of;
    e->fields[at].optional = false;
}

void ptc_outline_put_any(PtcOutlines *os, PtcOutlineEdit *e, const PtcOutline *key,
                         const PtcOutline *of)
{
    bool may_be_name = key->kinds & (PTC_IS_KEYWORD | PTC_IS_STRING);
    for (size_t i = 0; may_be_name && i < e->map.count; i++)
        e->fields[i].of = ptc_outline_join(os, e->fields[i].of, of);
    e->map.rest = e->map.rest ? ptc_outline_join(os, e->map.rest, of) : of;
    e->map.least = e->map.least ? e->map.least : 1;
}

const PtcOutline *ptc_outline_with(PtcOutlines *os, const PtcOutline *map, PtcText name,
                                   const PtcOutline *of)
{
    PtcOutlineEdit e;
    ptc_outline_edit(&e, map);
    ptc_outline_put(os, &e, name, of);
    return ptc_outline_make(os, &e.map);
}

const PtcOutline *ptc_outline_sure(PtcOutlines *os, const PtcOutline *o)
{
    PtcOutlineField fields[PTC_OUTLINE_FIELDS];
    PtcOutline to = *o;
    if (os->out || (o->depth == 0 && !(o->flags & PTC_OUTLINE_MAYBE)))
        return o;
    to.flags &= (uint8_t)~PTC_OUTLINE_MAYBE;
    to.source = o->flags & PTC_OUTLINE_MAYBE ? 0 : o->source;
    to.item = o->item ? ptc_outline_sure(os, o->item) : NULL;
    to.rest = o->rest ? ptc_outline_sure(os, o->rest) : NULL;
    for (size_t i = 0; i < o->count; i++) {
        fields[i] = o->fields[i];
        fields[i].of = ptc_outline_sure(os, fields[i].of);
    }
    to.fields = o->count ? fields : NULL;
    return ptc_outline_make(os, &to);
}
