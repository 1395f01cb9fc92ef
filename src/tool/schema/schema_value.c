/* SPDX-License-Identifier: MIT
 * Values seen as JSON.  What always holds: comparing and hashing follow JSON's notion of equality, are bounded in
 * depth, and tick. */
#include "tool/schema/schema_value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "value/coll/iter.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/number/bigint.h"
#include "value/number/number.h"
#include "value/str.h"
#include "value/time/time.h"

enum {
    SCHEMA_HEAP_BYTES =
        32 << 20,    /* for texts of keys, decimal numbers, and the memory of a pattern match */
    MAX_DEPTH = 512, /* of values that are compared */
};

void ptc_schema_work_init(PtcSchemaWork *work, PtcMem *mem, PtcBudget *budget)
{
    work->budget = budget;
    work->mem = mem;
    ptc_pool_init(&work->pool, mem);
    ptc_heap_init(&work->heap, &work->pool, budget, SCHEMA_HEAP_BYTES);
}

void ptc_schema_work_deinit(PtcSchemaWork *work)
{
    ptc_heap_deinit(&work->heap);
    ptc_pool_deinit(&work->pool);
}

/* ---------------------------------------------------------------------- kinds */

static bool is_time(PtcValue v)
{
    return (ptc_kind_bit(v) &
            (PTC_K_DATE | PTC_K_DATETIME | PTC_K_INSTANT | PTC_K_DURATION | PTC_K_ENUM)) != 0;
}

static PtcSchemaKind kind_of_double(double d)
{
    if (!isfinite(d))
        return PTC_SCHEMA_NOT_JSON;
    return floor(d) == d ? PTC_SCHEMA_INTEGER : PTC_SCHEMA_FRACTION;
}

PtcSchemaKind ptc_schema_kind(PtcValue v)
{
    if (ptc_is_integer(v))
        return PTC_SCHEMA_INTEGER;
    if (ptc_is_float(v))
        return kind_of_double(ptc_to_float(v));
    if (ptc_is_map(v))
        return PTC_SCHEMA_OBJECT;
    if (ptc_is_sequential(v) || ptc_is_set(v))
        return PTC_SCHEMA_ARRAY;
    if (ptc_is_named(v) || is_time(v))
        return PTC_SCHEMA_STRING;
    if (v == PTC_NIL)
        return PTC_SCHEMA_NULL;
    return ptc_is_bool(v) ? PTC_SCHEMA_BOOLEAN : PTC_SCHEMA_NOT_JSON;
}

/* ---------------------------------------------------------------------- texts */

static bool use(PtcSchemaKey *out, const char *bytes, size_t len)
{
    out->bytes = bytes;
    out->len = len;
    return true;
}

static bool time_text(PtcSchemaWork *work, PtcValue v, PtcSchemaKey *out)
{
    PtcBuf buf = {
        .mem = work->mem, .data = out->few, .cap = sizeof out->few, .max = sizeof out->few};
    return ptc_time_text(&buf, v) && use(out, out->few, buf.len);
}

bool ptc_schema_text(PtcSchemaWork *work, PtcValue v, PtcSchemaKey *out)
{
    if (ptc_is_named(v))
        return use(out, ptc_str_bytes(v), ptc_str_len(v));
    return time_text(work, v, out) || ptc_budget_halt(work->budget, PTC_STOP_MEMORY);
}

static bool big_text(PtcSchemaWork *work, PtcValue key, PtcSchemaKey *out)
{
    PtcBuf buf;
    ptc_buf_init(&buf, work->mem, PTC_UNBOUNDED);
    bool ok = ptc_int_print(&work->heap, &buf, key);
    PtcValue str = ok ? ptc_str_new(&work->heap, buf.data, buf.len) : PTC_NONE;
    ptc_buf_deinit(&buf);
    if (str == PTC_NONE)
        return ptc_budget_halt(work->budget, PTC_STOP_MEMORY);
    return use(out, ptc_str_bytes(str), ptc_str_len(str));
}

/* Keys that are not strings become their printed text. */
static bool odd_key(PtcSchemaWork *work, PtcValue key, PtcSchemaKey *out, bool *json)
{
    if (ptc_is_int(key)) {
        int n = snprintf(out->few, sizeof out->few, "%lld", (long long)ptc_to_int(key));
        return use(out, out->few, (size_t)n);
    }
    if (ptc_is_integer(key))
        return big_text(work, key, out);
    if (ptc_is_float(key))
        return use(out, out->few, ptc_double_print(ptc_to_float(key), out->few));
    if (key == PTC_NIL)
        return use(out, "nil", 3);
    if (ptc_is_bool(key))
        return use(out, key == PTC_TRUE ? "true" : "false", key == PTC_TRUE ? 4 : 5);
    *json = is_time(key) && time_text(work, key, out);
    return true;
}

bool ptc_schema_key(PtcSchemaWork *work, PtcValue key, PtcSchemaKey *out, bool *json)
{
    *json = true;
    if (PTC_LIKELY(ptc_is_named(key)))
        return use(out, ptc_str_bytes(key), ptc_str_len(key));
    use(out, "?", 1);
    return odd_key(work, key, out, json);
}

PtcValue ptc_schema_string(PtcSchemaWork *work, PtcValue v, const PtcSchemaKey *text)
{
    return ptc_is_named(v) ? v : ptc_str_new(&work->heap, text->bytes, text->len);
}

PtcValue ptc_schema_get(PtcSchemaWork *work, PtcValue map, const char *bytes, size_t len)
{
    PtcValue key = ptc_str_new(&work->heap, bytes, len);
    PtcValue v = key == PTC_NONE ? PTC_NONE : ptc_map_get(&work->heap, map, key);
    if (v != PTC_NONE || key == PTC_NONE)
        return v;
    key = ptc_keyword_new(&work->heap, bytes, len);
    return key == PTC_NONE ? PTC_NONE : ptc_map_get(&work->heap, map, key);
}

/* ------------------------------------------------------------------- equality */

static bool enter_compared_level(PtcSchemaWork *work, unsigned depth)
{
    if (depth >= MAX_DEPTH)
        return ptc_budget_exceed(work->budget, PTC_STOP_DEPTH,
                                 "values to compare nested deeper than", MAX_DEPTH);
    return ptc_tick(work->budget, 1);
}

static bool are_schema_equal(PtcSchemaWork *work, PtcValue a, PtcValue b, unsigned depth);

static bool equal_texts(PtcSchemaWork *work, PtcValue a, PtcValue b)
{
    PtcSchemaKey x, y;
    if (ptc_is_named(a) && ptc_is_named(b))
        return ptc_tick(work->budget, (int64_t)(ptc_str_len(a) / 64)) && ptc_str_same_bytes(a, b);
    return ptc_schema_text(work, a, &x) && ptc_schema_text(work, b, &y) && x.len == y.len &&
           memcmp(x.bytes, y.bytes, x.len) == 0;
}

static bool equal_arrays(PtcSchemaWork *work, PtcValue a, PtcValue b, unsigned depth)
{
    PtcIter x, y;
    PtcValue u, v;
    if (ptc_schema_count(a) != ptc_schema_count(b) || !ptc_iter_init(&x, &work->heap, a) ||
        !ptc_iter_init(&y, &work->heap, b))
        return false;
    while (ptc_iter_next(&x, &u) && ptc_iter_next(&y, &v))
        if (!are_schema_equal(work, u, v, depth + 1))
            return false;
    return !x.failed && !y.failed;
}

/* A member by its name, whatever kind of key it has.  Other spellings that look-ups would find, a-b for a_b, are
 * different names here. */
static PtcValue find_named_member(PtcSchemaWork *work, PtcValue map, PtcValue key)
{
    PtcSchemaKey want, have;
    PtcValue found = ptc_map_key_flex(&work->heap, map, key), k, v;
    bool json;
    if (found != PTC_NONE && ptc_is_named(found) && ptc_is_named(key) &&
        ptc_str_same_bytes(found, key))
        return ptc_map_get(&work->heap, map, found);
    if (!ptc_schema_key(work, key, &want, &json) || !json)
        return PTC_NONE;
    for (size_t pos = 0; ptc_map_next(map, &pos, &k, &v);) {
        if (!ptc_tick(work->budget, 1) || !ptc_schema_key(work, k, &have, &json))
            return PTC_NONE;
        if (json && have.len == want.len && memcmp(have.bytes, want.bytes, want.len) == 0)
            return v;
    }
    return PTC_NONE;
}

static bool equal_objects(PtcSchemaWork *work, PtcValue a, PtcValue b, unsigned depth)
{
    PtcValue key, v;
    if (ptc_schema_count(a) != ptc_schema_count(b))
        return false;
    for (size_t pos = 0; ptc_map_next(a, &pos, &key, &v);) {
        PtcValue other = find_named_member(work, b, key);
        if (other == PTC_NONE || !are_schema_equal(work, v, other, depth + 1))
            return false;
    }
    return true;
}

static bool are_schema_equal(PtcSchemaWork *work, PtcValue a, PtcValue b, unsigned depth)
{
    PtcSchemaKind kind = ptc_schema_kind(a);
    if (kind != ptc_schema_kind(b) || !enter_compared_level(work, depth))
        return false;
    switch (kind) {
    case PTC_SCHEMA_INTEGER:
    case PTC_SCHEMA_FRACTION: return ptc_schema_compare(a, b) == 0;
    case PTC_SCHEMA_STRING: return equal_texts(work, a, b);
    case PTC_SCHEMA_ARRAY: return equal_arrays(work, a, b, depth);
    case PTC_SCHEMA_OBJECT: return equal_objects(work, a, b, depth);
    default: return a == b;
    }
}

bool ptc_schema_equal(PtcSchemaWork *work, PtcValue a, PtcValue b)
{
    return are_schema_equal(work, a, b, 0) && work->budget->stop == PTC_STOP_NONE;
}

/* -------------------------------------------------------------------- hashing */

static uint64_t hash(PtcSchemaWork *work, PtcValue v, unsigned depth);

static uint64_t hash_number(PtcValue v)
{
    double d = ptc_is_integer(v) ? ptc_int_to_double(v) : ptc_to_float(v);
    uint64_t bits = 0;
    if (d != 0)
        memcpy(&bits, &d, sizeof bits);
    return ptc_hash_finish(ptc_hash_step(ptc_hash_begin(1), bits));
}

static uint64_t hash_array(PtcSchemaWork *work, PtcValue v, unsigned depth)
{
    PtcIter it;
    PtcValue item;
    uint64_t h = ptc_hash_begin(ptc_schema_count(v));
    if (ptc_iter_init(&it, &work->heap, v))
        while (ptc_iter_next(&it, &item) && work->budget->stop == PTC_STOP_NONE)
            h = ptc_hash_step(h, hash(work, item, depth + 1));
    return ptc_hash_finish(h);
}

/* The same for members in any order. */
static uint64_t hash_schema_object(PtcSchemaWork *work, PtcValue v, unsigned depth)
{
    PtcSchemaKey name;
    PtcValue key, item;
    uint64_t sum = ptc_schema_count(v);
    bool json;
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &item);) {
        if (!ptc_schema_key(work, key, &name, &json) || work->budget->stop != PTC_STOP_NONE)
            break;
        uint64_t h = ptc_hash_begin(ptc_str_hash_bytes(name.bytes, name.len));
        sum += ptc_hash_finish(ptc_hash_step(h, hash(work, item, depth + 1)));
    }
    return ptc_hash_finish(ptc_hash_step(ptc_hash_begin(2), sum));
}

static uint64_t hash(PtcSchemaWork *work, PtcValue v, unsigned depth)
{
    PtcSchemaKey text;
    if (!enter_compared_level(work, depth))
        return 0;
    switch (ptc_schema_kind(v)) {
    case PTC_SCHEMA_INTEGER:
    case PTC_SCHEMA_FRACTION: return hash_number(v);
    case PTC_SCHEMA_STRING:
        if (!ptc_schema_text(work, v, &text) || !ptc_tick(work->budget, (int64_t)(text.len / 64)))
            return 0;
        return ptc_str_hash_bytes(text.bytes, text.len);
    case PTC_SCHEMA_ARRAY: return hash_array(work, v, depth);
    case PTC_SCHEMA_OBJECT: return hash_schema_object(work, v, depth);
    default: return ptc_hash_finish(ptc_hash_begin(v));
    }
}

/* ---------------------------------------------------------------------- twins */

typedef struct {
    PtcValue value;
    uint32_t hash, number; /* number: from 1; 0: free */
} Seen;

/* Puts an element into the table, or returns the one that is there already. */
static uint32_t put_seen(PtcSchemaWork *work, Seen *table, size_t cap, Seen new)
{
    size_t at = new.hash &(cap - 1);
    for (; table[at].number; at = (at + 1) & (cap - 1))
        if (table[at].hash == new.hash && ptc_schema_equal(work, table[at].value, new.value))
            return table[at].number;
    table[at] = new;
    return 0;
}

static bool search_twins(PtcSchemaWork *work, PtcValue array, Seen *table, size_t cap,
                         size_t *first, size_t *second)
{
    PtcIter it;
    Seen new = {.number = 0};
    if (!ptc_iter_init(&it, &work->heap, array))
        return false;
    while (ptc_iter_next(&it, &new.value)) {
        new.hash = (uint32_t)hash(work, new.value, 0);
        new.number++;
        uint32_t twin = put_seen(work, table, cap, new);
        if (work->budget->stop != PTC_STOP_NONE)
            return false;
        if (twin) {
            *first = twin - 1;
            *second = new.number - 1;
            return true;
        }
    }
    return false;
}

bool ptc_schema_find_twins(PtcSchemaWork *work, PtcValue array, size_t *first, size_t *second)
{
    size_t n = ptc_schema_count(array), cap = 8;
    if (n < 2)
        return false;
    while (cap < 2 * n)
        cap *= 2;
    Seen *table = ptc_mem_alloc(work->mem, cap * sizeof *table);
    if (!table)
        return ptc_budget_halt(work->budget, PTC_STOP_MEMORY);
    memset(table, 0, cap * sizeof *table);
    bool found = ptc_tick(work->budget, (int64_t)(cap / 64)) &&
                 search_twins(work, array, table, cap, first, second);
    ptc_mem_free(work->mem, table, cap * sizeof *table);
    return found;
}

/* -------------------------------------------------------------------- numbers */

int ptc_schema_compare(PtcValue a, PtcValue b)
{
    if (ptc_is_integer(a))
        return ptc_is_integer(b) ? ptc_int_compare(a, b)
                                 : ptc_int_compare_double(a, ptc_to_float(b));
    double x = ptc_to_float(a);
    if (ptc_is_integer(b))
        return -ptc_int_compare_double(b, x);
    return (x > ptc_to_float(b)) - (x < ptc_to_float(b));
}

bool ptc_schema_natural(PtcValue v, uint64_t *out)
{
    if (ptc_schema_kind(v) != PTC_SCHEMA_INTEGER || ptc_schema_compare(v, ptc_int(0)) < 0)
        return false;
    if (ptc_is_int(v)) {
        *out = (uint64_t)ptc_to_int(v);
    } else {
        double d = ptc_is_float(v) ? ptc_to_float(v) : 1e300;
        *out = d < 1e18 ? (uint64_t)d : UINT64_MAX;
    }
    return true;
}

/* A number is mantissa * 10^exponent. */
typedef struct {
    PtcValue mantissa;
    int exponent;
} SchemaDecimal;

static bool get_schema_decimal(PtcSchemaWork *work, PtcValue v, SchemaDecimal *out)
{
    char text[PTC_DOUBLE_TEXT], digits[PTC_DOUBLE_TEXT];
    size_t n = 0;
    bool point = false;
    *out = (SchemaDecimal){v, 0};
    if (ptc_is_integer(v))
        return true;
    ptc_double_json(ptc_to_float(v), text);
    for (const char *p = text; *p; p++) {
        if (*p == 'e') {
            out->exponent += (int)strtol(p + 1, NULL, 10);
            break;
        }
        if (*p == '.')
            point = true;
        else
            digits[n++] = *p;
        out->exponent -= point && *p != '.';
    }
    out->mantissa = ptc_int_parse(&work->heap, digits, n);
    return out->mantissa != PTC_NONE;
}

/* Rescales a decimal to a smaller exponent. */
static bool rescale_decimal(PtcSchemaWork *work, SchemaDecimal *d, int exponent)
{
    char power[1024];
    int zeros = d->exponent - exponent;
    if (zeros <= 0)
        return true;
    power[0] = '1';
    memset(power + 1, '0', (size_t)zeros);
    PtcValue by = ptc_int_parse(&work->heap, power, (size_t)zeros + 1);
    d->mantissa = by == PTC_NONE ? PTC_NONE : ptc_int_mul(&work->heap, d->mantissa, by);
    d->exponent = exponent;
    return d->mantissa != PTC_NONE;
}

bool ptc_schema_is_multiple(PtcSchemaWork *work, PtcValue a, PtcValue of)
{
    SchemaDecimal x, y;
    PtcValue rest;
    if (ptc_is_int(a) && ptc_is_int(of))
        return ptc_to_int(a) % ptc_to_int(of) == 0;
    if (!get_schema_decimal(work, a, &x) || !get_schema_decimal(work, of, &y))
        return false;
    int least = x.exponent < y.exponent ? x.exponent : y.exponent;
    return rescale_decimal(work, &x, least) && rescale_decimal(work, &y, least) &&
           ptc_int_divide(&work->heap, x.mantissa, y.mantissa, NULL, &rest) && rest == ptc_int(0);
}
