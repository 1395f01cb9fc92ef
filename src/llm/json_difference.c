/* SPDX-License-Identifier: MIT
 * Finds the first difference between two JSON values.  Nesting is bounded by the box that the values come from. */
#include "llm/json_difference.h"

#include "base/utf8.h"
#include "json/path.h"
#include "json/write.h"
#include "llm/llm.h"
#include "value/coll/map.h"
#include "value/str.h"

typedef struct DifferencePlace {
    PtcJsonBox *box;
    char path[PTC_PATH_BYTES];
    PtcValue then, now; /* PTC_NONE: not there */
} DifferencePlace;

static bool differs(DifferencePlace *p, PtcValue then, PtcValue now, size_t depth);

/* Goes one level down; keeps the path when a difference is found. */
static bool differs_at(DifferencePlace *p, PtcValue key, size_t index, PtcValue then, PtcValue now,
                       size_t depth)
{
    char path[PTC_PATH_BYTES];
    memcpy(path, p->path, sizeof path);
    if (key != PTC_NONE)
        ptc_path_add_key(p->path, sizeof p->path, key);
    else
        ptc_path_add_index(p->path, sizeof p->path, index);
    if (differs(p, then, now, depth + 1))
        return true;
    memcpy(p->path, path, sizeof path);
    return false;
}

static bool maps_differ(DifferencePlace *p, PtcValue then, PtcValue now, size_t depth)
{
    size_t pos = 0;
    PtcValue key, value;
    while (ptc_map_next(then, &pos, &key, &value))
        if (differs_at(p, key, 0, value, ptc_map_get(&p->box->heap, now, key), depth))
            return true;
    pos = 0;
    while (ptc_map_next(now, &pos, &key, &value))
        if (ptc_map_get(&p->box->heap, then, key) == PTC_NONE &&
            differs_at(p, key, 0, PTC_NONE, value, depth))
            return true;
    return false;
}

static bool lists_differ(DifferencePlace *p, PtcValue then, PtcValue now, size_t depth)
{
    size_t a = ptc_json_box_length(then), b = ptc_json_box_length(now);
    for (size_t i = 0; i < (a > b ? a : b); i++)
        if (differs_at(p, PTC_NONE, i, i < a ? ptc_json_box_item(then, i) : PTC_NONE,
                       i < b ? ptc_json_box_item(now, i) : PTC_NONE, depth))
            return true;
    return false;
}

static void write_compared_value(PtcJsonBox *box, PtcBuf *out, PtcValue v)
{
    PtcJsonError error;
    PtcJsonWriter writer = {.heap = &box->heap, .float_precision = -1};
    if (!ptc_json_write(&writer, out, v, &error))
        ptc_buf_clear(out);
}

static bool scalars_differ(PtcJsonBox *box, PtcValue then, PtcValue now)
{
    PtcBuf a, b;
    ptc_buf_init(&a, box->pool.mem, PTC_UNBOUNDED);
    ptc_buf_init(&b, box->pool.mem, PTC_UNBOUNDED);
    write_compared_value(box, &a, then);
    write_compared_value(box, &b, now);
    /* What could not be written for want of memory is empty: two of those are not the same. */
    bool differ = !a.len || !b.len || !ptc_text_same(ptc_buf_view(&a), ptc_buf_view(&b));
    ptc_buf_deinit(&a);
    ptc_buf_deinit(&b);
    return differ;
}

static bool differs(DifferencePlace *p, PtcValue then, PtcValue now, size_t depth)
{
    bool differ;
    if (then == PTC_NONE || now == PTC_NONE || depth > PTC_LLM_JSON_DEPTH)
        differ = true;
    else if (ptc_is_map(then) && ptc_is_map(now))
        return maps_differ(p, then, now, depth);
    else if (ptc_is_sequential(then) && ptc_is_sequential(now))
        return lists_differ(p, then, now, depth);
    else
        differ = ptc_is_map(then) || ptc_is_map(now) || ptc_is_sequential(then) ||
                 ptc_is_sequential(now) || scalars_differ(p->box, then, now);
    if (differ) {
        p->then = then;
        p->now = now;
    }
    return differ;
}

/* Where two texts diverge, moved back to the start of a character. */
static size_t parting(PtcText a, PtcText b)
{
    size_t i = 0;
    while (i < a.len && i < b.len && a.bytes[i] == b.bytes[i])
        i++;
    while (i > 0 && i < a.len && (a.bytes[i] & 0xc0) == 0x80)
        i--;
    return i;
}

static void show_json_from(PtcBuf *out, PtcText json, size_t from)
{
    size_t end = json.len - from < PTC_DIFFERENCE_SHOWN ? json.len : from + PTC_DIFFERENCE_SHOWN;
    while (end < json.len && end > from && (json.bytes[end] & 0xc0) == 0x80)
        end--;
    if (from)
        ptc_buf_add_cstr(out, "...");
    ptc_buf_add(out, json.bytes + from, end - from);
    if (end < json.len)
        ptc_buf_add_cstr(out, "...");
}

static PtcText compared_value_text(PtcJsonBox *box, PtcBuf *buf, PtcValue v)
{
    if (v == PTC_NONE)
        ptc_buf_add_cstr(buf, "absent");
    else
        write_compared_value(box, buf, v);
    return ptc_buf_view(buf);
}

bool ptc_json_difference(PtcJsonBox *box, PtcValue then, PtcValue now, PtcBuf *out)
{
    enum { DIFF_BEFORE = 12 }; /* bytes to show before the place where two texts diverge */
    DifferencePlace p = {.box = box};
    PtcBuf a, b;
    if (!differs(&p, then, now, 0))
        return false;
    ptc_buf_init(&a, box->pool.mem, PTC_UNBOUNDED);
    ptc_buf_init(&b, box->pool.mem, PTC_UNBOUNDED);
    PtcText was = compared_value_text(box, &a, p.then), is = compared_value_text(box, &b, p.now);
    size_t from = parting(was, is);
    from = from > DIFF_BEFORE ? parting((PtcText){was.bytes, from - DIFF_BEFORE}, is) : 0;
    while (from > 0 && (was.bytes[from] & 0xc0) == 0x80)
        from--;
    ptc_buf_addf(out, "%s was ", p.path[0] ? p.path : "it");
    show_json_from(out, was, from);
    ptc_buf_add_cstr(out, " and is now ");
    show_json_from(out, is, from);
    ptc_buf_deinit(&a);
    ptc_buf_deinit(&b);
    return true;
}
