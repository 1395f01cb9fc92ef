/* SPDX-License-Identifier: MIT
 * Small maps and sets, and the functions that choose between small and large. */
#include "value/coll/map.h"

#include "base/utf8.h"
#include "value/coll/dict.h"
#include "value/coll/typed.h"
#include "value/equal.h"
#include "value/str.h"

static PtcSmap *smap(PtcValue v)
{
    return (PtcSmap *)(uintptr_t)v;
}

static PtcShape *map_shape_of(PtcValue v)
{
    return (PtcShape *)(uintptr_t)(ptc_tag(v) == PTC_T_SMAP ? smap(v)->shape : v);
}

PtcValue ptc_shape_new(PtcHeap *heap, const PtcValue *keys, const uint32_t *hashes, size_t n)
{
    size_t bytes = sizeof(PtcShape) + n * (sizeof(PtcValue) + sizeof(uint32_t));
    PtcShape *o = ptc_heap_object(heap, PTC_T_SSET, bytes, (uint32_t)n);
    if (!o)
        return PTC_NONE;
    if (n) {
        memcpy(o->keys, keys, n * sizeof *keys);
        memcpy(ptc_shape_hashes(o), hashes, n * sizeof *hashes);
    }
    return ptc_from_obj(o);
}

PtcValue ptc_smap_new(PtcHeap *heap, PtcValue shape, const PtcValue *values)
{
    size_t n = ptc_obj(shape)->count;
    PtcSmap *o =
        ptc_heap_object(heap, PTC_T_SMAP, sizeof(PtcSmap) + n * sizeof(PtcValue), (uint32_t)n);
    if (!o)
        return PTC_NONE;
    o->shape = shape;
    ptc_copy_few(o->values, values, n);
    return ptc_from_obj(o);
}

PtcValue ptc_set_empty(PtcHeap *heap)
{
    if (heap->empty_shape == PTC_NONE)
        heap->empty_shape = ptc_shape_new(heap, NULL, NULL, 0);
    return heap->empty_shape;
}

PtcValue ptc_map_empty(PtcHeap *heap)
{
    PtcValue shape = ptc_set_empty(heap);
    return shape == PTC_NONE ? shape : ptc_smap_new(heap, shape, NULL);
}

/* --------------------------------------------------------------- looking up */

int ptc_key_likeness(PtcHeap *heap, PtcValue stored, PtcValue key)
{
    if (ptc_is(stored, PTC_T_SYMBOL) || ptc_is(key, PTC_T_SYMBOL) || !ptc_is_named(stored) ||
        !ptc_is_named(key))
        return 0;
    if (ptc_str_same(heap->budget, stored, key))
        return 2;
    return ptc_tick_bytes(heap->budget, ptc_str_len(key)) && ptc_str_fold_equal(stored, key) ? 1
                                                                                             : 0;
}

bool ptc_key_loose(PtcHeap *heap, PtcValue stored, PtcValue key)
{
    return ptc_is_string(stored) && ptc_str_len(stored) == ptc_str_len(key) &&
           ptc_tick_scan(heap->budget, ptc_str_len(key)) &&
           ptc_utf8_alike(ptc_str_bytes(stored), ptc_str_bytes(key), ptc_str_len(key));
}

/* The only key that a keyword means this way; -1 if there is none, or two. */
static PTC_NOINLINE int find_loose_key(PtcHeap *heap, const PtcShape *shape, PtcValue key)
{
    int found = -1;
    for (size_t i = 0; ptc_is_keyword(key) && i < shape->obj.count; i++) {
        if (!ptc_key_loose(heap, shape->keys[i], key))
            continue;
        if (found >= 0)
            return -1;
        found = (int)i;
    }
    return found;
}

/* Position of a key in a small map or set by exact (or else flexible) match, -1 if absent. */
static int shape_find(PtcHeap *heap, const PtcShape *shape, PtcValue key, bool flex)
{
    size_t n = shape->obj.count;
    for (size_t i = 0; i < n; i++)
        if (shape->keys[i] == key)
            return (int)i;
    if (ptc_is_int(key) || n == 0)
        return -1;
    uint32_t hash = ptc_hash(heap, key);
    const uint32_t *hashes = ptc_shape_hashes(shape);
    int best = -1, likeness = 0;
    for (size_t i = 0; i < n; i++) {
        if (hashes[i] != hash)
            continue;
        if (ptc_same(heap, shape->keys[i], key))
            return (int)i;
        int like = flex ? ptc_key_likeness(heap, shape->keys[i], key) : 0;
        if (like > likeness) {
            likeness = like;
            best = (int)i;
        }
    }
    return best < 0 && flex ? find_loose_key(heap, shape, key) : best;
}

/* shape_find with flex, through the heap's cache. */
static int cached_find(PtcHeap *heap, PtcValue shape, PtcValue key)
{
    PtcShapeCache *c = &heap->lookups[((shape >> 4) ^ (key >> 3)) % PTC_LOOKUPS];
    if (PTC_LIKELY(c->shape == shape && c->key == key))
        return (int)c->answer - 1;
    int at = shape_find(heap, (const PtcShape *)(uintptr_t)shape, key, true);
    if (heap->budget->stop == PTC_STOP_NONE) /* else nobody knows */
        *c = (PtcShapeCache){shape, key, (PtcValue)(at + 1)};
    return at;
}

PtcValue ptc_map_get(PtcHeap *heap, PtcValue map, PtcValue key)
{
    if (ptc_tag(map) == PTC_T_BMAP)
        return ptc_dict_get(heap, map, key, false);
    int at = shape_find(heap, map_shape_of(map), key, false);
    return at < 0 ? PTC_NONE : smap(map)->values[at];
}

/* A key on the stack for one look-up: longer names are looked up one by one. */
enum { FIELD_BYTES = 64 };

static bool is_key_name(PtcValue key, const char *name, size_t len)
{
    return ptc_is_string(key) && ptc_str_len(key) == len &&
           memcmp(ptc_str_bytes(key), name, len) == 0;
}

static PtcValue small_field(PtcValue map, const char *name, size_t len)
{
    const PtcShape *shape = map_shape_of(map);
    const uint32_t *hashes = ptc_shape_hashes(shape);
    uint32_t hash = ptc_str_hash_bytes(name, len);
    for (size_t i = 0; i < shape->obj.count; i++)
        if (hashes[i] == hash && is_key_name(shape->keys[i], name, len))
            return smap(map)->values[i];
    return PTC_NONE;
}

static PtcValue walked_field(PtcValue map, const char *name, size_t len)
{
    PtcValue key, value;
    for (size_t pos = 0; ptc_map_next(map, &pos, &key, &value);)
        if (is_key_name(key, name, len))
            return value;
    return PTC_NONE;
}

/* No cache of the heap sees the key: ptc_dict_get without flex remembers nothing. */
PtcValue ptc_map_field(PtcHeap *heap, PtcValue map, const char *name)
{
    union {
        PtcStr str;
        char room[sizeof(PtcStr) + FIELD_BYTES];
    } key = {.str = {.obj = {.type = PTC_T_STRING}}};
    size_t len = strlen(name);
    if (map == PTC_NONE || !ptc_is_map(map))
        return PTC_NONE;
    if (ptc_tag(map) == PTC_T_SMAP)
        return small_field(map, name, len);
    if (len > FIELD_BYTES || ptc_is_sorted(map)) /* comparing might call the program */
        return walked_field(map, name, len);
    key.str.obj.count = (uint32_t)len;
    memcpy(key.str.bytes, name, len);
    return ptc_dict_get(heap, map, ptc_from_obj(&key.str), false);
}

PtcValue ptc_map_get_flex(PtcHeap *heap, PtcValue map, PtcValue key)
{
    if (ptc_tag(map) == PTC_T_BMAP)
        return ptc_dict_get(heap, map, key, true);
    int at = cached_find(heap, smap(map)->shape, key);
    return at < 0 ? PTC_NONE : smap(map)->values[at];
}

PtcValue ptc_map_key_flex(PtcHeap *heap, PtcValue map, PtcValue key)
{
    if (ptc_tag(map) == PTC_T_BMAP)
        return ptc_dict_key(heap, map, key, true);
    int at = cached_find(heap, smap(map)->shape, key);
    return at < 0 ? PTC_NONE : map_shape_of(map)->keys[at];
}

PtcValue ptc_set_get(PtcHeap *heap, PtcValue set, PtcValue key)
{
    if (ptc_tag(set) == PTC_T_BSET)
        return ptc_dict_key(heap, set, key, false);
    int at = shape_find(heap, map_shape_of(set), key, false);
    return at < 0 ? PTC_NONE : map_shape_of(set)->keys[at];
}

bool ptc_set_has(PtcHeap *heap, PtcValue set, PtcValue key)
{
    return ptc_set_get(heap, set, key) != PTC_NONE;
}

bool ptc_map_next(PtcValue map, size_t *pos, PtcValue *key, PtcValue *value)
{
    if (ptc_tag(map) == PTC_T_BMAP || ptc_tag(map) == PTC_T_BSET)
        return ptc_dict_next(map, pos, key, value);
    if (*pos >= ptc_obj(map)->count)
        return false;
    *key = map_shape_of(map)->keys[*pos];
    if (value)
        *value = smap(map)->values[*pos];
    ++*pos;
    return true;
}

/* ----------------------------------------------------------------- changing */

/* The shape with one more key, shared with earlier maps that took the same step. */
static PtcValue shape_add(PtcHeap *heap, PtcValue shape, PtcValue key)
{
    PtcShapeCache *c = &heap->transitions[((shape >> 4) ^ (key >> 3)) % PTC_TRANSITIONS];
    if (c->shape == shape && c->key == key)
        return c->answer;
    const PtcShape *s = (const PtcShape *)(uintptr_t)shape;
    size_t n = s->obj.count;
    PtcValue keys[PTC_SMALL_MAX];
    uint32_t hashes[PTC_SMALL_MAX];
    memcpy(keys, s->keys, n * sizeof *keys);
    memcpy(hashes, ptc_shape_hashes(s), n * sizeof *hashes);
    keys[n] = key;
    hashes[n] = ptc_hash(heap, key);
    if (heap->budget->stop != PTC_STOP_NONE) /* then the hash is worth nothing */
        return PTC_NONE;
    PtcValue longer = ptc_shape_new(heap, keys, hashes, n + 1);
    if (longer != PTC_NONE)
        *c = (PtcShapeCache){shape, key, longer};
    return longer;
}

static PtcValue shape_remove(PtcHeap *heap, const PtcShape *s, size_t at)
{
    size_t n = s->obj.count;
    PtcValue keys[PTC_SMALL_MAX];
    uint32_t hashes[PTC_SMALL_MAX];
    for (size_t i = 0, k = 0; i < n; i++) {
        if (i == at)
            continue;
        keys[k] = s->keys[i];
        hashes[k++] = ptc_shape_hashes(s)[i];
    }
    return ptc_shape_new(heap, keys, hashes, n - 1);
}

/* A small map with the values of `map`, and `value` at position `at`. */
static PtcValue smap_with(PtcHeap *heap, PtcValue shape, PtcValue map, size_t at, PtcValue value)
{
    PtcValue values[PTC_SMALL_MAX];
    memcpy(values, smap(map)->values, ptc_obj(map)->count * sizeof *values);
    values[at] = value;
    return ptc_smap_new(heap, shape, values);
}

static PtcValue assoc(PtcHeap *heap, PtcValue map, PtcValue key, PtcValue value, bool flex)
{
    if (ptc_tag(map) == PTC_T_BMAP)
        return ptc_dict_put(heap, map, key, value, flex);
    int at = flex ? cached_find(heap, smap(map)->shape, key)
                  : shape_find(heap, map_shape_of(map), key, false);
    size_t n = ptc_obj(map)->count;
    if (at >= 0)
        return smap_with(heap, smap(map)->shape, map, (size_t)at, value);
    if (n == PTC_SMALL_MAX) {
        PtcValue big = ptc_dict_from_small(heap, map);
        return big == PTC_NONE ? big : ptc_dict_put(heap, big, key, value, false);
    }
    PtcValue shape = shape_add(heap, smap(map)->shape, key);
    return shape == PTC_NONE ? shape : smap_with(heap, shape, map, n, value);
}

/* What became of a typed map, with its type. */
static PTC_NOINLINE PtcValue keep_type(PtcHeap *heap, PtcValue old, PtcValue new)
{
    return new == PTC_NONE || new == old ? new : ptc_typed_new(heap, new, ptc_typed_type(old));
}

PtcValue ptc_map_assoc(PtcHeap *heap, PtcValue map, PtcValue key, PtcValue value)
{
    PtcValue new = assoc(heap, map, key, value, false);
    return PTC_UNLIKELY(ptc_obj(map)->flags & PTC_TYPED) ? keep_type(heap, map, new) : new;
}

PtcValue ptc_map_assoc_flex(PtcHeap *heap, PtcValue map, PtcValue key, PtcValue value)
{
    PtcValue new = assoc(heap, map, key, value, true);
    return PTC_UNLIKELY(ptc_obj(map)->flags & PTC_TYPED) ? keep_type(heap, map, new) : new;
}

static PtcValue dissoc(PtcHeap *heap, PtcValue map, PtcValue key)
{
    if (ptc_tag(map) == PTC_T_BMAP)
        return ptc_dict_remove(heap, map, key);
    int at = shape_find(heap, map_shape_of(map), key, false);
    if (at < 0)
        return map;
    size_t n = ptc_obj(map)->count;
    PtcValue values[PTC_SMALL_MAX];
    for (size_t i = 0, k = 0; i < n; i++)
        if (i != (size_t)at)
            values[k++] = smap(map)->values[i];
    PtcValue shape = shape_remove(heap, map_shape_of(map), (size_t)at);
    return shape == PTC_NONE ? shape : ptc_smap_new(heap, shape, values);
}

PtcValue ptc_map_dissoc(PtcHeap *heap, PtcValue map, PtcValue key)
{
    PtcValue new = dissoc(heap, map, key);
    if (PTC_LIKELY(!(ptc_obj(map)->flags & PTC_TYPED)))
        return new;
    return ptc_type_find(heap, ptc_typed_type(map), key) >= 0 ? new : keep_type(heap, map, new);
}

PtcValue ptc_set_add(PtcHeap *heap, PtcValue set, PtcValue key)
{
    if (ptc_tag(set) == PTC_T_BSET)
        return ptc_dict_put(heap, set, key, PTC_NIL, false);
    if (shape_find(heap, map_shape_of(set), key, false) >= 0)
        return set;
    if (ptc_obj(set)->count < PTC_SMALL_MAX)
        return shape_add(heap, set, key);
    PtcValue big = ptc_dict_from_small(heap, set);
    return big == PTC_NONE ? big : ptc_dict_put(heap, big, key, PTC_NIL, false);
}

PtcValue ptc_set_remove(PtcHeap *heap, PtcValue set, PtcValue key)
{
    if (ptc_tag(set) == PTC_T_BSET)
        return ptc_dict_remove(heap, set, key);
    int at = shape_find(heap, map_shape_of(set), key, false);
    return at < 0 ? set : shape_remove(heap, map_shape_of(set), (size_t)at);
}
