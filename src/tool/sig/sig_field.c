/* SPDX-License-Identifier: MIT
 * Fields and where they are found in a map: one pass over the hashes of a small map, look-ups in a large one. */
#include "tool/sig/sig_int.h"
#include "value/coll/map.h"
#include "value/str.h"

/* ------------------------------------------------------------------------------ their keys */

/* A string or keyword outside any heap, with its hash, so that nobody needs to write to it later. */
static PtcValue make_field_key(PtcArena *arena, PtcTag tag, const char *name, size_t len, char from,
                               char to)
{
    PtcStr *s = ptc_arena_zalloc(arena, sizeof *s + len + 1);
    if (!s)
        return PTC_NONE;
    s->obj.type = (uint8_t)tag;
    s->obj.count = (uint32_t)len;
    for (size_t i = 0; i < len; i++)
        s->bytes[i] = name[i] == from ? to : name[i];
    ptc_str_hash(ptc_from_obj(s));
    return ptc_from_obj(s);
}

static bool is_key_among(const PtcValue *keys, uint32_t count, PtcValue key)
{
    for (uint32_t i = 0; i < count; i++)
        if (ptc_str_same_bytes(keys[i], key))
            return true;
    return false;
}

/* Adds keyword and string of one spelling, unless they are there already. */
static bool add_spelling(PtcArena *arena, PtcSigField *f, PtcValue *keys, char from, char to)
{
    PtcValue keyword = make_field_key(arena, PTC_T_KEYWORD, f->name, f->name_len, from, to);
    if (keyword == PTC_NONE || is_key_among(keys, f->key_count, keyword))
        return keyword != PTC_NONE;
    PtcValue str = make_field_key(arena, PTC_T_STRING, f->name, f->name_len, from, to);
    keys[f->key_count++] = keyword;
    keys[f->key_count++] = str;
    return str != PTC_NONE;
}

bool ptc_sig_field_init(PtcArena *arena, PtcSigField *field, const char *name, size_t len)
{
    char *copy = ptc_arena_alloc(arena, len + 1);
    PtcValue *keys = ptc_arena_alloc(arena, PTC_SIG_KEYS * sizeof *keys);
    if (!copy || !keys)
        return false;
    memcpy(copy, name, len);
    copy[len] = 0;
    *field = (PtcSigField){.name = copy, .name_len = len, .keys = keys};
    bool ok = add_spelling(arena, field, keys, '-', '_') &&
              add_spelling(arena, field, keys, 0, 0) && add_spelling(arena, field, keys, '_', '-');
    field->hash = ok ? ptc_str_hash(keys[0]) : 0;
    return ok;
}

bool ptc_sig_fields_clash(const PtcSigField *a, const PtcSigField *b)
{
    return a->hash == b->hash && ptc_str_fold_equal(a->keys[0], b->keys[0]);
}

/* ----------------------------------------------------------------------------- looking up */

/* How good a key is for the field: its index among the field's keys, or key_count. */
static uint32_t rank(const PtcSigField *f, PtcValue key)
{
    PtcTag tag = ptc_tag(key);
    if (tag != PTC_T_STRING && tag != PTC_T_KEYWORD)
        return f->key_count;
    uint32_t i = 0;
    while (i < f->key_count && (ptc_tag(f->keys[i]) != tag || !ptc_str_same_bytes(f->keys[i], key)))
        i++;
    return i;
}

static PtcValue find_small(const PtcSigField *f, PtcValue map, PtcValue *key)
{
    const PtcSmap *m = (const PtcSmap *)(uintptr_t)map;
    const PtcShape *shape = (const PtcShape *)(uintptr_t)m->shape;
    const uint32_t *hashes = ptc_shape_hashes(shape);
    uint32_t best = f->key_count;
    PtcValue found = PTC_NONE;
    for (size_t i = 0; i < shape->obj.count; i++) {
        uint32_t r = hashes[i] == f->hash ? rank(f, shape->keys[i]) : best;
        if (r < best) {
            best = r;
            *key = shape->keys[i];
            found = m->values[i];
        }
    }
    return found;
}

/* A look-up in a sorted map may call the program, so the map is walked instead. */
static PtcValue find_sorted(PtcHeap *heap, const PtcSigField *f, PtcValue map, PtcValue *key)
{
    uint32_t best = f->key_count;
    PtcValue found = PTC_NONE, k, v;
    for (size_t pos = 0; ptc_tick(heap->budget, 1) && ptc_map_next(map, &pos, &k, &v);) {
        uint32_t r = rank(f, k);
        if (r < best) {
            best = r;
            *key = k;
            found = v;
        }
    }
    return found;
}

PtcValue ptc_sig_find(PtcHeap *heap, const PtcSigField *field, PtcValue map, PtcValue *key)
{
    if (PTC_LIKELY(ptc_tag(map) == PTC_T_SMAP))
        return find_small(field, map, key);
    if (ptc_is_sorted(map))
        return find_sorted(heap, field, map, key);
    for (uint32_t i = 0; i < field->key_count; i++) {
        PtcValue v = ptc_map_get(heap, map, field->keys[i]);
        if (v != PTC_NONE) {
            *key = ptc_map_key_flex(heap, map, field->keys[i]);
            return v;
        }
    }
    return PTC_NONE;
}

/* --------------------------------------------------------------------------------- others */

static bool is_key_taken(PtcHeap *heap, const PtcSigType *type, PtcValue map, PtcValue key)
{
    PtcValue found;
    for (size_t i = 0; i < type->field_count; i++) {
        const PtcSigField *f = &type->fields[i];
        if (rank(f, key) < f->key_count && ptc_sig_find(heap, f, map, &found) != PTC_NONE &&
            found == key)
            return true;
    }
    return false;
}

bool ptc_sig_each_extra(PtcHeap *heap, const PtcSigType *type, PtcValue map, PtcSigExtraFn fn,
                        void *user)
{
    PtcValue key;
    for (size_t pos = 0; ptc_map_next(map, &pos, &key, NULL);) {
        if (!ptc_tick(heap->budget, 1 + (int64_t)type->field_count))
            return false;
        if (!is_key_taken(heap, type, map, key))
            fn(user, key);
    }
    return true;
}
