/* SPDX-License-Identifier: MIT
 * Arguments in the form that tools get.  What always holds: what need not change is shared, not copied; a value that
 * cannot be an argument is refused with its path. */
#include "tool/keys.h"

#include <math.h>
#include <stdio.h>

#include "lisp/vm/builtin.h"
#include "value/cell.h"
#include "value/coll/iter.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/number/bigint.h"
#include "value/number/decimal.h"
#include "value/number/number.h"
#include "value/str.h"
#include "value/time/time.h"

typedef struct {
    PtcHeap *heap;
    PtcKeysError *error;
} Keys;

static PtcValue convert_argument(Keys *k, PtcValue v, const PtcPlace *at);

/* ----------------------------------------------------------------------- names */

/* A string with the bytes of a name, and `_` for `-` when asked. */
static PtcValue name_string(PtcHeap *heap, PtcValue name, bool underscores)
{
    size_t len = ptc_str_len(name);
    PtcValue v = ptc_str_begin(heap, PTC_T_STRING, len);
    if (v == PTC_NONE)
        return v;
    char *bytes = ptc_str_room(v);
    memcpy(bytes, ptc_str_bytes(name), len);
    for (char *p = bytes; underscores && (p = memchr(p, '-', len - (size_t)(p - bytes)));)
        *p++ = '_';
    ptc_str_seal(v);
    return v;
}

/* The text of a key that is not a name, as keys are printed; false if it has none. */
static bool add_key_text(PtcHeap *heap, PtcBuf *buf, PtcValue key)
{
    char number[PTC_DOUBLE_TEXT];
    if (ptc_is_integer(key))
        return ptc_int_print(heap, buf, key);
    if (ptc_is_float(key))
        return ptc_buf_add(buf, number, ptc_double_print(ptc_to_float(key), number));
    if (key == PTC_NIL || ptc_is_bool(key))
        return ptc_buf_add_cstr(buf, key == PTC_NIL ? "nil" : key == PTC_TRUE ? "true" : "false");
    return !ptc_is_record(key, PTC_R_FORMATTER) && ptc_time_text(buf, key);
}

static PtcValue text_string(PtcHeap *heap, PtcValue key)
{
    PtcBuf buf;
    ptc_buf_init(&buf, heap->pool->mem, PTC_UNBOUNDED);
    bool ok = add_key_text(heap, &buf, key);
    PtcValue v = ok ? ptc_str_new(heap, buf.data, buf.len) : PTC_NONE;
    if (buf.failed)
        ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
    ptc_buf_deinit(&buf);
    return v;
}

PtcValue ptc_key_string(PtcHeap *heap, PtcValue key, bool underscores)
{
    if (!ptc_is_named(key))
        return text_string(heap, key);
    if (ptc_is_string(key) && (!underscores || !memchr(ptc_str_bytes(key), '-', ptc_str_len(key))))
        return key;
    return name_string(heap, key, underscores);
}

/* The same, with the error filled. */
static PtcValue plain_key(Keys *k, PtcValue key, const PtcPlace *at)
{
    if (ptc_is_named(key) && !ptc_tick(k->heap->budget, 1 + (int64_t)(ptc_str_len(key) / 64)))
        return PTC_NONE;
    PtcValue v = ptc_key_string(k->heap, key, true);
    if (v == PTC_NONE && k->heap->budget->stop == PTC_STOP_NONE) {
        PtcPlace here = ptc_place_key(at, key);
        char what[80];
        snprintf(what, sizeof what, "under %s as its key", ptc_type_name(key));
        ptc_place_refuse(&here, k->error, what);
    }
    return v;
}

static bool is_plain_key(PtcValue key)
{
    return ptc_is_string(key) && !memchr(ptc_str_bytes(key), '-', ptc_str_len(key));
}

/* ---------------------------------------------------------------------- leaves */

/* Needs no change and no look inside: nil, booleans, numbers that are certainly finite, strings. */
static inline bool is_plain_value(PtcValue v)
{
    if (v & 3)
        return true;
    if (!ptc_is_obj(v))
        return v == PTC_NIL || ptc_is_bool(v);
    return ptc_obj(v)->type == PTC_T_STRING || ptc_obj(v)->type == PTC_T_BIGINT;
}

static PtcValue refuse_argument_value(Keys *k, const PtcPlace *at, const char *what)
{
    ptc_place_refuse(at, k->error, what);
    return PTC_NONE;
}

static PtcValue convert_float(Keys *k, PtcValue v, const PtcPlace *at)
{
    char text[PTC_DOUBLE_TEXT];
    if (isfinite(ptc_to_float(v)))
        return v;
    ptc_double_print(ptc_to_float(v), text);
    return refuse_argument_value(k, at, text);
}

/* Anything except a collection. */
static PtcValue convert_leaf(Keys *k, PtcValue v, const PtcPlace *at)
{
    if (is_plain_value(v))
        return v;
    if (ptc_is_float(v))
        return convert_float(k, v, at);
    if (ptc_is_named(v))
        return ptc_tick(k->heap->budget, (int64_t)(ptc_str_len(v) / 64))
                   ? name_string(k->heap, v, false)
                   : PTC_NONE;
    if (ptc_is_decimal(v)) { /* a tool gets numbers as JSON has them */
        double nearest = ptc_decimal_to_double(k->heap, v);
        if (k->heap->budget->stop != PTC_STOP_NONE)
            return PTC_NONE;
        PtcValue d = ptc_float_new(k->heap, nearest);
        return d == PTC_NONE || !ptc_is_float(d) ? d : convert_float(k, d, at);
    }
    PtcValue text = ptc_is(v, PTC_T_RECORD) ? text_string(k->heap, v) : PTC_NONE;
    if (text == PTC_NONE && k->heap->budget->stop == PTC_STOP_NONE)
        return refuse_argument_value(k, at, ptc_type_name(v));
    return text;
}

/* ------------------------------------------------------------------ small maps */

/* Keys of a shape as strings; two that become the same are refused with their place. */
static PtcValue new_shape(Keys *k, const PtcShape *old, const PtcPlace *at)
{
    PtcValue keys[PTC_SMALL_MAX];
    uint32_t hashes[PTC_SMALL_MAX];
    bool same = true;
    for (size_t i = 0; i < old->obj.count; i++) {
        if ((keys[i] = plain_key(k, old->keys[i], at)) == PTC_NONE)
            return PTC_NONE;
        hashes[i] = ptc_str_hash(keys[i]);
        same = same && keys[i] == old->keys[i];
        for (size_t j = 0; j < i; j++)
            if (hashes[j] == hashes[i] && ptc_str_same_bytes(keys[j], keys[i])) {
                ptc_place_clash(at, k->error, old->keys[j], old->keys[i]);
                return PTC_NONE;
            }
    }
    return same ? ptc_from_obj(old) : ptc_shape_new(k->heap, keys, hashes, old->obj.count);
}

/* Where the heap's cache has what a shape becomes, if it does; no key of a map is PTC_UNBOUND. */
static inline PtcShapeCache *plain_shape_cache(PtcHeap *heap, PtcValue shape)
{
    return &heap->transitions[((shape >> 4) ^ (PTC_UNBOUND >> 3)) % PTC_TRANSITIONS];
}

/* The same through the cache. */
static inline PtcValue plain_shape(Keys *k, PtcValue shape, const PtcPlace *at)
{
    PtcShapeCache *c = plain_shape_cache(k->heap, shape);
    if (PTC_LIKELY(c->shape == shape && c->key == PTC_UNBOUND))
        return c->answer;
    PtcValue plain = new_shape(k, (const PtcShape *)(uintptr_t)shape, at);
    if (plain != PTC_NONE)
        *c = (PtcShapeCache){shape, PTC_UNBOUND, plain};
    return plain;
}

PtcValue ptc_tool_args_quick(PtcHeap *heap, PtcValue args)
{
    if (!ptc_is(args, PTC_T_SMAP))
        return PTC_NONE;
    const PtcSmap *map = (const PtcSmap *)(uintptr_t)args;
    const PtcShapeCache *c = plain_shape_cache(heap, map->shape);
    if (c->shape != map->shape || c->key != PTC_UNBOUND)
        return PTC_NONE;
    for (size_t i = 0; i < map->obj.count; i++)
        if (!is_plain_value(map->values[i]))
            return PTC_NONE;
    if (ptc_fuel(heap->budget) <= 1)
        return PTC_NONE;
    ptc_fuel_use(heap->budget, 1);
    return c->answer == map->shape ? args : ptc_smap_new(heap, c->answer, map->values);
}

static PtcValue convert_small(Keys *k, PtcValue map, const PtcPlace *at)
{
    const PtcSmap *old = (const PtcSmap *)(uintptr_t)map;
    PtcValue shape = plain_shape(k, old->shape, at), new = map;
    if (shape == PTC_NONE)
        return PTC_NONE;
    if (shape != old->shape && (new = ptc_smap_new(k->heap, shape, old->values)) == PTC_NONE)
        return PTC_NONE;
    for (size_t i = 0; i < old->obj.count; i++) {
        PtcValue v = old->values[i];
        if (is_plain_value(v))
            continue;
        PtcPlace here = ptc_place_key(at, ((const PtcShape *)(uintptr_t)shape)->keys[i]);
        if ((v = convert_argument(k, v, &here)) == PTC_NONE)
            return PTC_NONE;
        if (v == old->values[i])
            continue;
        if (new == map && (new = ptc_smap_new(k->heap, shape, old->values)) == PTC_NONE)
            return PTC_NONE;
        ((PtcSmap *)(uintptr_t) new)->values[i] = v; /* nobody else has seen it yet */
    }
    return new;
}

/* ------------------------------------------------------------------ large maps */

static bool is_plain_map(Keys *k, PtcValue map)
{
    PtcValue key, value;
    for (size_t pos = 0; ptc_map_next(map, &pos, &key, &value);)
        if (!ptc_tick(k->heap->budget, 1) || !is_plain_key(key) || !is_plain_value(value))
            return false;
    return true;
}

static PtcValue nth_key(PtcValue map, int64_t n)
{
    PtcValue key = PTC_NIL;
    size_t pos = 0;
    while (n-- >= 0 && ptc_map_next(map, &pos, &key, NULL))
        ;
    return key;
}

static bool add_argument_entry(Keys *k, PtcDictBuild *b, PtcValue map, PtcValue key, PtcValue value,
                               const PtcPlace *at)
{
    PtcValue name = ptc_tick(k->heap->budget, 1) ? plain_key(k, key, at) : PTC_NONE;
    if (name == PTC_NONE)
        return false;
    int64_t there = ptc_dict_build_find(b, name);
    if (there >= 0)
        return ptc_place_clash(at, k->error, nth_key(map, there), key);
    PtcPlace here = ptc_place_key(at, name);
    value = is_plain_value(value) ? value : convert_argument(k, value, &here);
    return value != PTC_NONE && ptc_dict_build_put(b, name, value);
}

static PtcValue convert_large(Keys *k, PtcValue map, const PtcPlace *at)
{
    PtcDictBuild b;
    PtcValue key, value;
    if (is_plain_map(k, map))
        return map;
    if (!ptc_dict_build_init(&b, k->heap, false))
        return PTC_NONE;
    for (size_t pos = 0; ptc_map_next(map, &pos, &key, &value);)
        if (!add_argument_entry(k, &b, map, key, value, at)) {
            ptc_dict_build_cancel(&b);
            return PTC_NONE;
        }
    return ptc_dict_build_done(&b);
}

/* ------------------------------------------------------------------- sequences */

/* A builder with the first n elements of v. */
static PtcValue begin_with(Keys *k, PtcValue v, size_t n)
{
    PtcIter it;
    PtcValue x, build = ptc_build_new(k->heap);
    if (build == PTC_NONE || !ptc_iter_init(&it, k->heap, v))
        return PTC_NONE;
    while (n-- > 0 && ptc_iter_next(&it, &x))
        if (!ptc_tick(k->heap->budget, 1) || !ptc_build_add(k->heap, build, x))
            return PTC_NONE;
    return build;
}

/* Elements are kept until one must change; those of a set always go into a vector. */
static PtcValue convert_items(Keys *k, PtcValue v, const PtcPlace *at)
{
    PtcIter it;
    PtcValue x, build = ptc_is_set(v) ? ptc_build_new(k->heap) : PTC_NONE;
    if ((build == PTC_NONE && ptc_is_set(v)) || !ptc_iter_init(&it, k->heap, v))
        return PTC_NONE;
    for (size_t i = 0; ptc_iter_next(&it, &x); i++) {
        PtcPlace here = ptc_place_index(at, i);
        PtcValue new = is_plain_value(x) ? x : convert_argument(k, x, &here);
        if (new == PTC_NONE || !ptc_tick(k->heap->budget, 1))
            return PTC_NONE;
        if (new != x && build == PTC_NONE && (build = begin_with(k, v, i)) == PTC_NONE)
            return PTC_NONE;
        if (build != PTC_NONE && !ptc_build_add(k->heap, build, new))
            return PTC_NONE;
    }
    return build == PTC_NONE ? v : ptc_build_done(k->heap, build, 0);
}

static PtcValue convert_argument(Keys *k, PtcValue v, const PtcPlace *at)
{
    if (PTC_UNLIKELY(ptc_is_cell(v))) {
        v = ptc_cell_inmost(k->heap, v);
        if (v == PTC_NONE || v == PTC_UNBOUND)
            return refuse_argument_value(
                k, at, v == PTC_NONE ? "an atom that contains itself" : "a delay");
    }
    PtcTag tag = ptc_tag(v);
    bool map = tag == PTC_T_SMAP || tag == PTC_T_BMAP;
    if (!map && !ptc_is_set(v) && !ptc_is_sequential(v))
        return convert_leaf(k, v, at);
    if (at->depth >= PTC_PLACE_DEPTH) {
        ptc_place_too_deep(at, k->error);
        return PTC_NONE;
    }
    if (!ptc_tick(k->heap->budget, 1))
        return PTC_NONE;
    if (tag == PTC_T_RANGE)
        return v;
    if (!map)
        return convert_items(k, v, at);
    return tag == PTC_T_SMAP ? convert_small(k, v, at) : convert_large(k, v, at);
}

/* ------------------------------------------------------------------- arguments */

/* Makes sure that a failure has a message: if nobody wrote one, a limit was hit. */
static PtcValue finish_key_conversion(Keys *k, PtcValue v)
{
    if (v == PTC_NONE && (k->heap->budget->stop != PTC_STOP_NONE || !k->error->message[0])) {
        k->error->stopped = true;
        k->error->path[0] = 0;
        snprintf(k->error->message, sizeof k->error->message, "stopped by a limit");
    }
    return v;
}

static const PtcPlace top = {NULL, PTC_NONE, 0, 0};

static PtcValue convert_top(PtcHeap *heap, PtcValue v, PtcKeysError *error)
{
    Keys k = {heap, error};
    error->stopped = false;
    error->path[0] = error->message[0] = error->what[0] = 0;
    return finish_key_conversion(&k, convert_argument(&k, v, &top));
}

PtcValue ptc_tool_args(PtcHeap *heap, PtcValue args, PtcKeysError *error)
{
    if (PTC_LIKELY(ptc_is_map(args)))
        return convert_top(heap, args, error);
    error->stopped = false;
    error->path[0] = 0;
    snprintf(error->message, sizeof error->message,
             "the arguments of a tool are a map, such as {:id 7}; this is %s", ptc_type_name(args));
    return PTC_NONE;
}

/* What is wrong with arguments that are neither a map nor pairs.  Always PTC_NONE. */
static PtcValue bad_pairs(const char *name, size_t len, int argc, const PtcValue *argv,
                          PtcKeysError *error)
{
    char what[160];
    int odd = 0;
    while (odd < argc && ptc_is_keyword(argv[odd]))
        odd += 2;
    if (argc == 1 && !ptc_is_keyword(argv[0]))
        snprintf(what, sizeof what, "got %s", ptc_type_name(argv[0]));
    else if (odd < argc)
        snprintf(what, sizeof what, "argument %d is %s where a keyword is expected", odd + 1,
                 ptc_type_name(argv[odd]));
    else
        snprintf(what, sizeof what, "the last keyword, :%.60s, has no value",
                 ptc_str_bytes(argv[argc - 1]));
    int n = len > 100 ? 100 : (int)len;
    error->stopped = false;
    error->path[0] = 0;
    snprintf(error->message, sizeof error->message,
             "a tool takes one map, or keywords and values in turn: %s; write (tool/%.*s {:key "
             "value}) or (tool/%.*s :key value)",
             what, PTC_ARG_OF(name, n), PTC_ARG_OF(name, n));
    return PTC_NONE;
}

static bool are_pairs(int argc, const PtcValue *argv)
{
    for (int i = 0; i < argc; i += 2)
        if (!ptc_is_keyword(argv[i]))
            return false;
    return argc % 2 == 0;
}

/* A map of the pairs; each keyword may occur once. */
static PtcValue map_of_pairs(Keys *k, int argc, const PtcValue *argv)
{
    PtcDictBuild b;
    bool ok = ptc_dict_build_init(&b, k->heap, false);
    if (!ok)
        return PTC_NONE;
    for (int i = 0; ok && i < argc; i += 2) {
        ok = ptc_tick(k->heap->budget, 1);
        if (ok && ptc_dict_build_find(&b, argv[i]) >= 0)
            ok = ptc_place_clash(&top, k->error, argv[i], argv[i]);
        ok = ok && ptc_dict_build_put(&b, argv[i], argv[i + 1]);
    }
    if (ok)
        return ptc_dict_build_done(&b);
    ptc_dict_build_cancel(&b);
    return PTC_NONE;
}

/* The same for few pairs, whose shape the heap remembers. */
static PtcValue smap_of_pairs(Keys *k, int argc, const PtcValue *argv)
{
    PtcValue values[PTC_SMALL_MAX], shape = ptc_set_empty(k->heap);
    for (int i = 0; shape != PTC_NONE && i < argc; i += 2) {
        size_t n = ptc_map_count(shape);
        values[i / 2] = argv[i + 1];
        shape = ptc_set_add(k->heap, shape, argv[i]);
        if (shape != PTC_NONE && ptc_map_count(shape) == n) {
            ptc_place_clash(&top, k->error, argv[i], argv[i]);
            return PTC_NONE;
        }
    }
    return shape == PTC_NONE ? shape : ptc_smap_new(k->heap, shape, values);
}

PtcValue ptc_tool_args_pairs(PtcHeap *heap, const char *name, size_t name_len, int argc,
                             const PtcValue *argv, PtcKeysError *error)
{
    Keys k = {heap, error};
    if (argc == 1 && ptc_is_map(argv[0]))
        return ptc_tool_args(heap, argv[0], error);
    if (!are_pairs(argc, argv))
        return bad_pairs(name, name_len, argc, argv, error);
    error->stopped = false;
    error->path[0] = error->message[0] = 0;
    PtcValue map = argc == 0                   ? ptc_map_empty(heap)
                   : argc <= 2 * PTC_SMALL_MAX ? smap_of_pairs(&k, argc, argv)
                                               : map_of_pairs(&k, argc, argv);
    return finish_key_conversion(&k, map == PTC_NONE ? map : convert_argument(&k, map, &top));
}
