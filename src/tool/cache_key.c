/* SPDX-License-Identifier: MIT
 * The text of a key: a letter for the type, then digits up to `;`, or a length up to `:` and that many bytes;
 * collections are their contents in brackets.  No text is a prefix of another one, so no two values can share a
 * text. */
#include "tool/cache_key.h"

#include <math.h>
#include <stdio.h>

#include "lisp/vm/builtin.h"
#include "tool/order.h"
#include "value/coll/iter.h"
#include "value/coll/map.h"
#include "value/number/bigint.h"
#include "value/str.h"
#include "value/time/time.h"

/* An entry of a map or an element of a set, while its collection is being sorted. */
typedef struct {
    PtcText key; /* valid only while sorting: `text` may move otherwise */
    size_t at;   /* the same text, as an offset */
    PtcValue name, value;
} Item;

typedef struct {
    PtcHeap *heap;
    PtcBuf *out;
    PtcBuf text; /* of the items */
    PtcKeysError *error;
    Item *items; /* of all collections that are open */
    size_t count, cap;
} Canon;

static bool add_canonical_value(Canon *c, PtcValue v, const PtcPlace *at);

/* ---------------------------------------------------------------------- leaves */

static bool add_sized(PtcBuf *buf, char type, const char *bytes, size_t len)
{
    return ptc_buf_addf(buf, "%c%zu:", type, len) && ptc_buf_add(buf, bytes, len);
}

static bool add_canonical_integer(Canon *c, PtcBuf *buf, PtcValue v)
{
    return v != PTC_NONE && ptc_buf_add_char(buf, 'i') && ptc_int_print(c->heap, buf, v) &&
           ptc_buf_add_char(buf, ';');
}

static bool add_float(Canon *c, PtcBuf *buf, double d, bool is_key)
{
    uint64_t bits;
    if (!is_key && isfinite(d) && d == trunc(d))
        return add_canonical_integer(c, buf, ptc_int_from_double(c->heap, d));
    if (isnan(d))
        d = NAN;
    memcpy(&bits, &d, sizeof bits);
    return ptc_buf_addf(buf, "d%llx;", (unsigned long long)bits);
}

/* A date or time: by type and text. */
static bool add_canonical_record(Canon *c, PtcBuf *buf, PtcValue v, const PtcPlace *at)
{
    PtcBuf text;
    ptc_buf_init(&text, buf->mem, 256);
    bool ok =
        ptc_is(v, PTC_T_RECORD) && !ptc_is_record(v, PTC_R_FORMATTER) && ptc_time_text(&text, v);
    if (ok)
        ok = ptc_buf_addf(buf, "r%u", (unsigned)ptc_obj(v)->aux) &&
             add_sized(buf, ',', text.data, text.len);
    else if (text.failed)
        buf->failed = true;
    else
        ptc_place_refuse(at, c->error, ptc_type_name(v));
    ptc_buf_deinit(&text);
    return ok;
}

/* Anything except a collection. */
static bool add_canonical_leaf(Canon *c, PtcBuf *buf, PtcValue v, const PtcPlace *at)
{
    if (ptc_is_integer(v))
        return add_canonical_integer(c, buf, v);
    if (ptc_is_float(v))
        return add_float(c, buf, ptc_to_float(v), false);
    if (ptc_is_named(v))
        return ptc_tick(c->heap->budget, (int64_t)(ptc_str_len(v) / 64)) &&
               add_sized(buf, ptc_is_string(v) ? 's' : 'k', ptc_str_bytes(v), ptc_str_len(v));
    switch (v) {
    case PTC_NIL: return ptc_buf_add_char(buf, 'n');
    case PTC_TRUE: return ptc_buf_add_char(buf, 't');
    case PTC_FALSE: return ptc_buf_add_char(buf, 'f');
    default: return add_canonical_record(c, buf, v, at);
    }
}

/* ----------------------------------------------------------------------- items */

static bool push_canonical_item(Canon *c, size_t at, PtcValue name, PtcValue value)
{
    if (!PTC_GROW_SCRATCH(c->heap, &c->items, &c->cap, c->count + 1))
        return false;
    c->items[c->count++] = (Item){.at = at, .name = name, .value = value};
    return ptc_tick(c->heap->budget, 1);
}

/* Sorts the items from `base` on by their texts. */
static bool sort_from(Canon *c, size_t base)
{
    if (base == c->count) /* there may be no items at all, and then no block for them */
        return true;
    for (size_t i = base; i < c->count; i++) {
        size_t end = i + 1 < c->count ? c->items[i + 1].at : c->text.len;
        c->items[i].key = (PtcText){c->text.data + c->items[i].at, end - c->items[i].at};
    }
    return ptc_order_sort(c->heap->budget, c->items + base, c->count - base, sizeof *c->items);
}

static bool add_item_text(Canon *c, size_t i)
{
    return ptc_buf_add(c->out, c->text.data + c->items[i].at, c->items[i].key.len);
}

/* ------------------------------------------------------------------------ maps */

/* A key of a map: names become strings with `_` for `-`. */
static bool add_canonical_key(Canon *c, PtcValue key, const PtcPlace *at)
{
    PtcPlace here = ptc_place_key(at, key);
    if (ptc_is_map(key) || ptc_is_set(key) || ptc_is_sequential(key))
        return ptc_place_refuse(&here, c->error, "under a collection as its key");
    if (ptc_is_float(key))
        return add_float(c, &c->text, ptc_to_float(key), true);
    if (!ptc_is_named(key))
        return add_canonical_leaf(c, &c->text, key, &here);
    size_t len = ptc_str_len(key);
    if (!ptc_tick(c->heap->budget, (int64_t)(len / 64)) ||
        !add_sized(&c->text, 's', ptc_str_bytes(key), len))
        return false;
    char *from = c->text.data + c->text.len - len;
    for (char *p = from; (p = memchr(p, '-', len - (size_t)(p - from)));)
        *p++ = '_';
    return true;
}

static bool push_entries(Canon *c, PtcValue map, const PtcPlace *at)
{
    PtcValue key, value;
    for (size_t pos = 0; ptc_map_next(map, &pos, &key, &value);)
        if (!push_canonical_item(c, c->text.len, key, value) || !add_canonical_key(c, key, at))
            return false;
    return true;
}

static bool check_clash(Canon *c, size_t base, const PtcPlace *at)
{
    for (size_t i = base + 1; i < c->count; i++)
        if (ptc_order_compare(&c->items[i - 1].key, &c->items[i].key) == 0)
            return ptc_place_clash(at, c->error, c->items[i - 1].name, c->items[i].name);
    return true;
}

static bool add_canonical_map(Canon *c, PtcValue map, const PtcPlace *at)
{
    size_t base = c->count, text = c->text.len;
    bool ok = push_entries(c, map, at) && sort_from(c, base) && check_clash(c, base, at) &&
              ptc_buf_add_char(c->out, '{');
    for (size_t i = base, end = c->count; ok && i < end; i++) {
        PtcPlace here = ptc_place_key(at, c->items[i].name);
        ok = add_item_text(c, i) && add_canonical_value(c, c->items[i].value, &here);
    }
    c->count = base;
    c->text.len = text;
    return ok && ptc_buf_add_char(c->out, '}');
}

/* ------------------------------------------------------------ sets, sequences */

static bool add_canonical_items(Canon *c, PtcValue coll, const PtcPlace *at, size_t start)
{
    PtcIter it;
    PtcValue x;
    if (!ptc_iter_init(&it, c->heap, coll))
        return false;
    for (size_t i = 0; ptc_iter_next(&it, &x); i++) {
        PtcPlace here = ptc_place_index(at, i);
        if (ptc_is_set(coll) &&
            !push_canonical_item(c, c->text.len + c->out->len - start, x, PTC_NIL))
            return false;
        if (!ptc_tick(c->heap->budget, 1) || !add_canonical_value(c, x, &here))
            return false;
    }
    return true;
}

/* The elements are written as they come, then removed and written again in order. */
static bool add_set(Canon *c, PtcValue set, const PtcPlace *at)
{
    if (!ptc_buf_add_char(c->out, '<'))
        return false;
    size_t base = c->count, text = c->text.len, start = c->out->len;
    bool ok = add_canonical_items(c, set, at, start) &&
              ptc_buf_add(&c->text, c->out->data + start, c->out->len - start) &&
              sort_from(c, base);
    c->out->len = start;
    for (size_t i = base; ok && i < c->count; i++)
        ok = add_item_text(c, i);
    c->count = base;
    c->text.len = text;
    return ok && ptc_buf_add_char(c->out, '>');
}

static bool add_canonical_value(Canon *c, PtcValue v, const PtcPlace *at)
{
    bool set = ptc_is_set(v), sequential = ptc_is_sequential(v);
    if (!ptc_is_map(v) && !set && !sequential)
        return add_canonical_leaf(c, c->out, v, at);
    if (at->depth >= PTC_PLACE_DEPTH)
        return ptc_place_too_deep(at, c->error);
    if (set)
        return add_set(c, v, at);
    if (!sequential)
        return add_canonical_map(c, v, at);
    return ptc_buf_add_char(c->out, '[') && add_canonical_items(c, v, at, 0) &&
           ptc_buf_add_char(c->out, ']');
}

/* ------------------------------------------------------------------------- key */

/* Makes sure that a failure has a message.  Always false. */
static bool explain_canonical(Canon *c)
{
    PtcKeysError *e = c->error;
    if (c->out->failed || c->text.failed)
        ptc_budget_halt(c->heap->budget, PTC_STOP_MEMORY);
    e->stopped = c->heap->budget->stop != PTC_STOP_NONE;
    if (e->stopped)
        snprintf(e->message, sizeof e->message, "stopped by a limit");
    else if (!e->message[0])
        snprintf(e->message, sizeof e->message, "the key is longer than %zu bytes", c->out->max);
    return false;
}

bool ptc_cache_key(PtcHeap *heap, PtcBuf *out, const char *name, size_t name_len, PtcValue args,
                   PtcKeysError *error)
{
    static const PtcPlace top = {NULL, PTC_NONE, 0, 0};
    Canon c = {.heap = heap, .out = out, .error = error};
    error->stopped = false;
    error->path[0] = error->message[0] = 0;
    ptc_buf_init(&c.text, out->mem, out->max);
    bool ok = add_sized(out, 't', name, name_len) && add_canonical_value(&c, args, &top);
    ptc_heap_scratch_free(heap, c.items, c.cap * sizeof *c.items);
    ok = ok && heap->budget->stop == PTC_STOP_NONE;
    if (!ok)
        explain_canonical(&c);
    ptc_buf_deinit(&c.text);
    return ok;
}
