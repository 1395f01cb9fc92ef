/* SPDX-License-Identifier: MIT
 * Values made and read by the host, as ptc.h declares them.  What always holds: a value belongs to the engine or call
 * that it was made for, and cannot be put into another. */
#include <stdio.h>

#include "api/api_int.h"
#include "base/utf8.h"
#include "json/parse.h"
#include "lisp/vm/record.h"
#include "lisp/vm/vm_int.h"
#include "tool/convert.h"
#include "value/coll/dict.h"
#include "value/regex/regex.h"

static PtcHeapBox *box_of(const PtcData *data)
{
    return (PtcHeapBox *)(void *)data->heap;
}

PtcData *ptc_data_new(Ptc *ptc, int64_t limit)
{
    if (!ptc || limit < PTC_UNSET)
        return NULL;
    PtcData *d = ptc_mem_alloc(&ptc->mem, sizeof *d);
    if (!d)
        return NULL;
    d->ptc = ptc;
    PtcHeapBox *box =
        ptc_box_new(ptc, (size_t)(limit == PTC_UNSET ? ptc->limits.context_bytes : limit));
    if (box) {
        d->heap = &box->heap;
        return d;
    }
    ptc_mem_free(&ptc->mem, d, sizeof *d);
    return NULL;
}

void ptc_data_free(PtcData *d)
{
    if (!d)
        return;
    Ptc *ptc = d->ptc;
    ptc_box_release(d->heap);
    ptc_mem_free(&ptc->mem, d, sizeof *d);
}

/* The heap for one more value.  Making values is not limited in time (the host knows how many it makes), and a value
 * that did not fit does not prevent a smaller one from being made. */
static PtcHeap *next_value_heap(PtcData *d)
{
    if (d->ptc) { /* not for the heap of a run, in which a tool makes its result */
        box_of(d)->budget.stop = PTC_STOP_NONE;
        box_of(d)->budget.compute_end_ns = INT64_MAX;
    }
    return d->heap;
}

PtcValue ptc_make_nil(void)
{
    return PTC_NIL;
}

PtcValue ptc_make_bool(bool b)
{
    return ptc_bool(b);
}

PtcValue ptc_make_int(PtcData *d, int64_t n)
{
    return d ? ptc_int_new(next_value_heap(d), n) : PTC_NONE;
}

PtcValue ptc_make_float(PtcData *d, double x)
{
    return d ? ptc_float_new(next_value_heap(d), x) : PTC_NONE;
}

PtcValue ptc_make_string(PtcData *d, const char *text, size_t len)
{
    return d && ptc_utf8_valid(text, len) ? ptc_str_new(next_value_heap(d), text, len) : PTC_NONE;
}

PtcValue ptc_make_keyword(PtcData *d, const char *name, size_t len)
{
    return d && ptc_utf8_valid(name, len) ? ptc_keyword_new(next_value_heap(d), name, len)
                                          : PTC_NONE;
}

/* Values from elsewhere would dangle once their owner is gone. */
static bool all_ours(const PtcData *d, const PtcValue *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (items[i] == PTC_NONE || (ptc_is_obj(items[i]) && !ptc_heap_owns(d->heap, items[i])))
            return false;
    return true;
}

PtcValue ptc_make_vector(PtcData *d, const PtcValue *items, size_t count)
{
    return d && all_ours(d, items, count) ? ptc_vec_new(next_value_heap(d), items, count, 0)
                                          : PTC_NONE;
}

PtcValue ptc_make_map(PtcData *d, const PtcValue *pairs, size_t count)
{
    PtcDictBuild b;
    if (!d || !all_ours(d, pairs, count * 2) || !ptc_dict_build_init(&b, next_value_heap(d), false))
        return PTC_NONE;
    for (size_t i = 0; i < count; i++)
        if (!ptc_dict_build_put(&b, pairs[2 * i], pairs[2 * i + 1])) {
            ptc_dict_build_cancel(&b);
            return PTC_NONE;
        }
    return ptc_dict_build_done(&b);
}

PtcValue ptc_make_json(PtcData *d, const char *json, size_t len, char *error, size_t error_size)
{
    PtcJsonError e = {0};
    if (!d)
        return PTC_NONE;
    if (d->ptc)
        ptc_engine_budget(d->ptc, &box_of(d)->budget, d->ptc->limits.timeout_ms);
    PtcValue v = ptc_json_parse(d->heap, json, len, &e);
    if (v != PTC_NONE || !error || error_size == 0)
        return v;
    if (e.stopped && d->heap->budget->stop == PTC_STOP_MEMORY)
        snprintf(error, error_size, "the JSON needs more than its limit of %zu bytes once decoded",
                 d->heap->limit);
    else if (e.stopped)
        snprintf(error, error_size, "reading the JSON took too long");
    else
        snprintf(error, error_size, "line %u, column %u: %s", (unsigned)e.line, (unsigned)e.column,
                 e.message);
    return v;
}

/* ---------------------------------------------------------------------------- reading */

PtcType ptc_value_type(PtcValue v)
{
    if (v == PTC_NONE)
        return PTC_TYPE_NONE;
    if (v == PTC_NIL)
        return PTC_TYPE_NIL;
    if (ptc_is_bool(v))
        return PTC_TYPE_BOOL;
    int64_t n;
    if (ptc_value_int(v, &n))
        return PTC_TYPE_INT;
    if (ptc_is_bigint(v))
        return PTC_TYPE_BIGINT;
    if (ptc_is_float(v))
        return PTC_TYPE_FLOAT;
    if (ptc_is_string(v))
        return PTC_TYPE_STRING;
    if (ptc_is_keyword(v))
        return PTC_TYPE_KEYWORD;
    if (ptc_is_sequential(v))
        return PTC_TYPE_SEQUENCE;
    if (ptc_is_map(v))
        return PTC_TYPE_MAP;
    if (ptc_is_set(v))
        return PTC_TYPE_SET;
    bool function = ptc_is_function(v);
    return function ? PTC_TYPE_FUNCTION : PTC_TYPE_OTHER;
}

bool ptc_value_bool(PtcValue v, bool *out)
{
    if (!ptc_is_bool(v))
        return false;
    *out = v == PTC_TRUE;
    return true;
}

bool ptc_value_int(PtcValue v, int64_t *out)
{
    return ptc_is_integer(v) && ptc_int_get(v, out);
}

bool ptc_value_float(PtcValue v, double *out)
{
    if (!ptc_is_number(v))
        return false;
    *out = ptc_is_float(v) ? ptc_to_float(v) : ptc_int_to_double(v);
    return true;
}

bool ptc_value_string(PtcValue v, const char **text, size_t *len)
{
    if (!ptc_is_string(v) && !ptc_is_keyword(v))
        return false;
    if (text)
        *text = ptc_str_bytes(v);
    api_set_len(len, ptc_str_len(v));
    return true;
}

PtcStatus ptc_value_text(Ptc *ptc, PtcValue v, char **out, size_t *len)
{
    if (v == PTC_NONE || !out || !api_idle(ptc))
        return PTC_BAD_ARGUMENT;
    PtcHeapBox *box = ptc_box_new(ptc, (size_t)ptc->limits.memory_bytes);
    PtcBuf buf;
    if (!box)
        return PTC_NO_MEMORY;
    ptc_engine_budget(ptc, &box->budget, ptc->limits.timeout_ms);
    ptc_buf_init(&buf, &ptc->mem, (size_t)ptc->limits.result_bytes);
    PtcPrinter printer = ptc_vm_printer(&ptc->vm, false);
    printer.heap = &box->heap;
    bool whole = ptc_print(&printer, &buf, ptc_is_regex(v) ? ptc_regex_pattern(v) : v);
    ptc_box_release(&box->heap);
    if (whole)
        return ptc_engine_give_text(&buf, true, out, len);
    PtcStatus status = buf.failed ? PTC_NO_MEMORY : PTC_BAD_DATA;
    ptc_buf_deinit(&buf);
    return status;
}

PtcStatus ptc_value_json(Ptc *ptc, PtcValue v, char **out, size_t *len, char *error, size_t size)
{
    PtcJsonError e = {0};
    PtcBuf buf;
    if (v == PTC_NONE || !out || !api_idle(ptc))
        return PTC_BAD_ARGUMENT;
    PtcHeapBox *box = ptc_box_new(ptc, (size_t)ptc->limits.memory_bytes);
    if (!box)
        return PTC_NO_MEMORY;
    ptc_buf_init(&buf, &ptc->mem, (size_t)ptc->limits.result_bytes);
    bool ok = ptc_to_json_value(&box->heap, &buf, v, ptc->float_precision, &e);
    ptc_box_release(&box->heap);
    if (ok || buf.failed)
        return ptc_engine_give_text(&buf, ok, out, len);
    ptc_buf_deinit(&buf);
    if (error && size && e.what[0])
        snprintf(error, size, "%s at %s", e.what, e.path);
    else if (error && size)
        snprintf(error, size, "the JSON is longer than its limit, or takes too long to write");
    return PTC_BAD_DATA;
}

size_t ptc_value_count(PtcValue v)
{
    if (ptc_is_string(v))
        return ptc_str_graphemes(NULL, v);
    return ptc_is_sequential(v) || ptc_is_map(v) || ptc_is_set(v) ? ptc_obj(v)->count : 0;
}

/* The entry at a position; maps from which keys were removed are walked. */
static bool entry_at(PtcValue map, size_t i, PtcValue *key, PtcValue *value)
{
    bool is_map = ptc_is_map(map);
    if ((!is_map && !ptc_is_set(map)) || i >= ptc_map_count(map))
        return false;
    size_t pos = i;
    if (ptc_tag(map) == PTC_T_BMAP || ptc_tag(map) == PTC_T_BSET) {
        const PtcDict *d = (const PtcDict *)(uintptr_t)map;
        size_t all = ptc_seq_count(d->entries) / (is_map ? 2 : 1);
        if (all != d->obj.count) {
            pos = 0;
            for (size_t k = 0; k < i; k++)
                ptc_map_next(map, &pos, key, is_map ? value : NULL);
        }
    }
    return ptc_map_next(map, &pos, key, is_map ? value : NULL);
}

PtcValue ptc_value_at(PtcValue v, size_t i)
{
    PtcValue key, value = PTC_NONE;
    if (ptc_is_sequential(v))
        return i < ptc_seq_count(v) ? ptc_seq_nth(v, i) : PTC_NONE;
    if (!entry_at(v, i, &key, &value))
        return PTC_NONE;
    return ptc_is_map(v) ? value : key;
}

PtcValue ptc_value_key_at(PtcValue map, size_t i)
{
    PtcValue key, value;
    return ptc_is_map(map) && entry_at(map, i, &key, &value) ? key : PTC_NONE;
}

/* The value of a small map under exactly this name, which is what most tools ask for; PTC_NONE: it has none. */
static PtcValue get_by_name(PtcValue map, const char *name, size_t len)
{
    const PtcSmap *m = (const PtcSmap *)(uintptr_t)map;
    const PtcShape *shape = (const PtcShape *)(uintptr_t)m->shape;
    for (size_t i = 0; i < m->obj.count; i++)
        if (ptc_is_named(shape->keys[i]) && ptc_str_len(shape->keys[i]) == len &&
            memcmp(ptc_str_bytes(shape->keys[i]), name, len) == 0)
            return m->values[i];
    return PTC_NONE;
}

PtcValue ptc_value_get(PtcValue map, const char *name, size_t len)
{
    PtcValue key, value, loose = PTC_NONE;
    if (ptc_is(map, PTC_T_SMAP) && (value = get_by_name(map, name, len)) != PTC_NONE)
        return value;
    for (size_t pos = 0; ptc_is_map(map) && ptc_map_next(map, &pos, &key, &value);) {
        if (!ptc_is_named(key) || ptc_str_len(key) != len)
            continue;
        if (memcmp(ptc_str_bytes(key), name, len) == 0)
            return value;
        bool alike = true;
        for (size_t i = 0; i < len && alike; i++) {
            char a = ptc_str_bytes(key)[i], b = name[i];
            alike = a == b || ((a == '-' || a == '_') && (b == '-' || b == '_'));
        }
        if (alike && loose == PTC_NONE)
            loose = value;
    }
    return loose;
}
