/* SPDX-License-Identifier: MIT
 * Previews.  What always holds: a preview is complete JSON within its limit, or nothing is appended. */
#include "tool/wire/preview.h"

#include "json/emit.h"
#include "tool/convert.h"
#include "tool/hint.h"
#include "tool/keys.h"
#include "tool/order.h"
#include "value/coll/iter.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

enum { ROWS_COMPARED = 5, PAGE_TEXT = 200 }; /* rows whose keys must agree; bytes of a cursor */

bool ptc_preview_parse(const char *text, size_t len, PtcPreviewKind *out)
{
    bool rows = len == 4 && memcmp(text, "rows", 4) == 0;
    *out = rows ? PTC_PREVIEW_ROWS : PTC_PREVIEW_METADATA;
    return rows || (len == 8 && memcmp(text, "metadata", 8) == 0);
}

/* JSON Schema's word for what a value becomes in JSON. */
static const char *json_type_of(PtcValue v)
{
    if (ptc_is_integer(v))
        return "integer";
    if (ptc_is_float(v))
        return "number";
    if (v == PTC_NIL)
        return "null";
    if (ptc_is_bool(v))
        return "boolean";
    if (ptc_is_map(v))
        return "object";
    return ptc_is_sequential(v) || ptc_is_set(v) ? "array" : "string";
}

/* ------------------------------------------------------------------------ keys */

typedef struct {
    PtcText key;
    PtcValue value;
} PreviewField;

/* The fields of a map by the text of their keys, each once. */
typedef struct {
    PtcHeap *heap;
    PreviewField *items;
    size_t count, cap;
} PreviewFields;

static void drop_fields(PreviewFields *f)
{
    ptc_heap_scratch_free(f->heap, f->items, f->cap * sizeof *f->items);
    *f = (PreviewFields){.heap = f->heap};
}

static bool collect_fields(PreviewFields *f, PtcValue map)
{
    PtcValue key, value;
    for (size_t pos = 0; ptc_map_next(map, &pos, &key, &value);) {
        PtcValue text = ptc_tick(f->heap->budget, 1) ? ptc_key_string(f->heap, key, false) : 0;
        if (text == PTC_NONE)
            return false;
        f->items[f->count++] = (PreviewField){{ptc_str_bytes(text), ptc_str_len(text)}, value};
    }
    return ptc_order_sort(f->heap->budget, f->items, f->count, sizeof *f->items);
}

/* Fills f, which must be empty.  False if a key has no text, or the budget stopped. */
static bool collect_preview_fields(PreviewFields *f, PtcValue map)
{
    f->cap = ptc_map_count(map);
    if (f->cap == 0)
        return true;
    if (!(f->items = ptc_heap_scratch(f->heap, NULL, 0, f->cap * sizeof *f->items)))
        f->cap = 0;
    if (!f->items || !collect_fields(f, map))
        return false;
    size_t kept = 1;
    for (size_t i = 1; i < f->count; i++)
        if (ptc_order_compare(&f->items[i].key, &f->items[kept - 1].key) != 0)
            f->items[kept++] = f->items[i];
    f->count = kept;
    return true;
}

static bool has_same_keys(const PreviewFields *f, PtcValue map)
{
    PreviewFields other = {.heap = f->heap};
    bool same = ptc_is_map(map) && collect_preview_fields(&other, map) && other.count == f->count;
    for (size_t i = 0; same && i < f->count; i++)
        same = ptc_order_compare(&f->items[i].key, &other.items[i].key) == 0;
    drop_fields(&other);
    return same;
}

/* Do the first rows have the same keys as the very first, which are in f? */
static bool rows_agree(const PreviewFields *f, PtcValue rows)
{
    PtcIter it;
    PtcValue row;
    bool same = ptc_iter_init(&it, f->heap, rows) && ptc_iter_next(&it, &row);
    for (int i = 1; same && i < ROWS_COMPARED && ptc_iter_next(&it, &row); i++)
        same = has_same_keys(f, row);
    return same;
}

/* ---------------------------------------------------------------------- schema */

static size_t shown_field_count(const PreviewFields *f)
{
    return f->count < PTC_PREVIEW_KEYS ? f->count : PTC_PREVIEW_KEYS;
}

static void add_sample_keys(PtcBuf *out, const PreviewFields *f)
{
    ptc_emit_key(out, "sample_keys");
    ptc_emit_array(out);
    for (size_t i = 0; i < shown_field_count(f); i++)
        ptc_emit_text(out, f->items[i].key);
    ptc_emit_array_end(out);
}

/* The schema of objects with these fields; without properties when f is NULL. */
static void add_object(PtcBuf *out, const PreviewFields *f)
{
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "type", "object");
    if (f) {
        ptc_emit_key(out, "properties");
        ptc_emit_object(out);
        for (size_t i = 0; i < shown_field_count(f); i++) {
            ptc_emit_key_text(out, f->items[i].key);
            ptc_emit_cstr(out, json_type_of(f->items[i].value));
        }
        ptc_emit_object_end(out);
        if (f->count > PTC_PREVIEW_KEYS)
            ptc_emit_field_bool(out, "truncated", true);
    }
    ptc_emit_object_end(out);
}

/* "schema":{"type":"array","items": and then whatever the items are, and `}`. */
static void begin_array_schema(PtcBuf *out)
{
    ptc_emit_key(out, "schema");
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "type", "array");
    ptc_emit_key(out, "items");
}

static void add_preview_map(PtcHeap *heap, PtcBuf *out, PtcValue map)
{
    PreviewFields f = {.heap = heap};
    bool known = collect_preview_fields(&f, map);
    ptc_emit_key(out, "schema");
    add_object(out, known && f.count ? &f : NULL);
    if (known)
        add_sample_keys(out, &f);
    drop_fields(&f);
}

static void add_list_of_maps(PtcHeap *heap, PtcBuf *out, PtcValue rows, PtcValue first)
{
    PreviewFields f = {.heap = heap};
    bool known = collect_preview_fields(&f, first) && rows_agree(&f, rows);
    begin_array_schema(out);
    add_object(out, known ? &f : NULL);
    ptc_emit_object_end(out);
    if (known)
        add_sample_keys(out, &f);
    drop_fields(&f);
}

/* {"type":type}, or {} for no type. */
static void add_preview_type(PtcBuf *out, const char *type)
{
    ptc_emit_object(out);
    if (type)
        ptc_emit_field_cstr(out, "type", type);
    ptc_emit_object_end(out);
}

/* Items that are not maps: their type if they all have the same. */
static void add_list_of_others(PtcHeap *heap, PtcBuf *out, PtcValue rows, PtcValue first)
{
    PtcIter it;
    PtcValue row;
    const char *type = json_type_of(first);
    bool same = ptc_iter_init(&it, heap, rows);
    while (same && ptc_tick(heap->budget, 1) && ptc_iter_next(&it, &row))
        same = strcmp(json_type_of(row), type) == 0;
    begin_array_schema(out);
    add_preview_type(out, same ? type : "any");
    ptc_emit_object_end(out);
}

/* Describes `rows` (the first of `count`). */
static void add_preview_list(PtcHeap *heap, PtcBuf *out, PtcValue rows, size_t count)
{
    PtcIter it;
    PtcValue first;
    ptc_emit_field_uint(out, "result_count", count);
    if (!ptc_iter_init(&it, heap, rows) || !ptc_iter_next(&it, &first)) {
        begin_array_schema(out);
        add_preview_type(out, NULL);
        ptc_emit_object_end(out);
    } else if (ptc_is_map(first)) {
        add_list_of_maps(heap, out, rows, first);
    } else {
        add_list_of_others(heap, out, rows, first);
    }
}

/* ---------------------------------------------------------------------- a page */

/* A map with one list of maps in it, as services give pages: {items, next_cursor}. */
typedef struct {
    PtcValue key, rows; /* PTC_NONE if there is no such list, or more than one */
} PreviewPage;

static bool is_list_of_maps(PtcValue v)
{
    return ptc_is_sequential(v) && ptc_seq_count(v) > 0 && ptc_is_map(ptc_seq_nth(v, 0));
}

static PreviewPage find_preview_page(PtcHeap *heap, PtcValue map)
{
    PreviewPage page = {PTC_NONE, PTC_NONE}, none = page;
    PtcValue key, value;
    for (size_t pos = 0; ptc_tick(heap->budget, 1) && ptc_map_next(map, &pos, &key, &value);) {
        if (!is_list_of_maps(value))
            continue;
        if (page.rows != PTC_NONE)
            return none;
        page = (PreviewPage){ptc_key_string(heap, key, false), value};
    }
    return page.key == PTC_NONE ? none : page;
}

/* The other fields of a page that are short, among them the cursor. */
static bool add_page_rest(PtcHeap *heap, PtcBuf *out, PtcValue map)
{
    PtcJsonError error;
    PreviewFields f = {.heap = heap};
    bool known = collect_preview_fields(&f, map);
    ptc_emit_key(out, "rest");
    ptc_emit_object(out);
    for (size_t i = 0; known && i < shown_field_count(&f); i++) {
        PtcValue v = f.items[i].value;
        if (ptc_is_map(v) || ptc_is_sequential(v) || ptc_is_set(v) ||
            (ptc_is_string(v) && ptc_str_len(v) > PAGE_TEXT))
            continue;
        ptc_emit_key_text(out, f.items[i].key);
        known = ptc_to_json_value(heap, out, v, -1, &error);
    }
    drop_fields(&f);
    return known && ptc_emit_object_end(out);
}

static bool add_preview_page(PtcHeap *heap, PtcBuf *out, PtcValue map, const PreviewPage *page)
{
    PtcText name = {ptc_str_bytes(page->key), ptc_str_len(page->key)};
    ptc_emit_key(out, "rows_in");
    ptc_emit_text(out, name);
    add_preview_list(heap, out, page->rows, ptc_seq_count(page->rows));
    return add_page_rest(heap, out, map);
}

/* ----------------------------------------------------------------------- kinds */

static bool add_metadata(PtcHeap *heap, PtcBuf *out, PtcValue result)
{
    PreviewPage page = {PTC_NONE, PTC_NONE};
    if (ptc_is_map(result))
        page = find_preview_page(heap, result);
    if (page.rows != PTC_NONE)
        return add_preview_page(heap, out, result, &page) && heap->budget->stop == PTC_STOP_NONE;
    if (ptc_is_sequential(result))
        add_preview_list(heap, out, result, ptc_seq_count(result));
    else if (ptc_is_set(result))
        add_preview_list(heap, out, result, ptc_map_count(result));
    else if (ptc_is_map(result))
        add_preview_map(heap, out, result);
    else if (ptc_emit_key(out, "schema"))
        add_preview_type(out, json_type_of(result));
    return ptc_buf_ok(out) && heap->budget->stop == PTC_STOP_NONE;
}

static bool add_preview_rows(PtcHeap *heap, PtcBuf *out, PtcValue result, int64_t limit)
{
    PtcJsonError error;
    PreviewPage page = {PTC_NONE, result};
    if (ptc_is_map(result))
        page = find_preview_page(heap, result);
    if (!ptc_is_sequential(page.rows))
        return add_metadata(heap, out, result);
    size_t count = ptc_seq_count(page.rows), n = (uint64_t)limit < count ? (size_t)limit : count;
    PtcValue rows = ptc_seq_slice(heap, page.rows, 0, n, 0);
    if (rows == PTC_NONE)
        return false;
    if (page.key == PTC_NONE)
        add_preview_list(heap, out, rows, count);
    else if (!add_preview_page(heap, out, result, &page))
        return false;
    return ptc_emit_key(out, "rows") && ptc_to_json_value(heap, out, rows, -1, &error) &&
           heap->budget->stop == PTC_STOP_NONE;
}

static bool is_preview_key(PtcValue key)
{
    static const char *const ours[] = {"status", "full_result_cached", "cache_hint"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (ptc_str_len(key) == strlen(ours[i]) &&
            memcmp(ptc_str_bytes(key), ours[i], ptc_str_len(key)) == 0)
            return true;
    return false;
}

/* The map with strings as keys, without the fields that are ours; PTC_NONE if a key has no text. */
static PtcValue own_fields(PtcHeap *heap, PtcValue map)
{
    PtcDictBuild b;
    PtcValue key, value;
    bool ok = ptc_dict_build_init(&b, heap, false);
    if (!ok)
        return PTC_NONE;
    for (size_t pos = 0; ok && ptc_map_next(map, &pos, &key, &value);) {
        ok = ptc_tick(heap->budget, 1) && (key = ptc_key_string(heap, key, false)) != PTC_NONE;
        ok = ok && (is_preview_key(key) || ptc_dict_build_put(&b, key, value));
    }
    if (ok)
        return ptc_dict_build_done(&b);
    ptc_dict_build_cancel(&b);
    return PTC_NONE;
}

static bool add_custom(PtcHeap *heap, PtcBuf *out, const PtcNativeResult *how, PtcValue result)
{
    PtcJsonError error;
    PtcValue map = PTC_NONE;
    if (!how->fn || !how->fn(how->user, heap, result, &map) || !ptc_is_map(map) ||
        (map = own_fields(heap, map)) == PTC_NONE)
        return false;
    size_t open = out->len;
    if (!ptc_to_json_value(heap, out, map, -1, &error))
        return false;
    out->len--; /* more members follow in the same object */
    if (ptc_map_count(map))
        out->data[open] = ',';
    else
        out->len = open;
    return heap->budget->stop == PTC_STOP_NONE;
}

/* --------------------------------------------------------------------- preview */

typedef struct {
    PtcHeap *heap;
    PtcBuf *out;
    const PtcNativeResult *how;
    const char *name;
    size_t name_len;
    PtcValue args, result;
} Preview;

static bool add_preview_kind(const Preview *p, PtcPreviewKind kind)
{
    switch (kind) {
    case PTC_PREVIEW_ROWS: return add_preview_rows(p->heap, p->out, p->result, p->how->limit);
    case PTC_PREVIEW_CUSTOM: return add_custom(p->heap, p->out, p->how, p->result);
    default: return add_metadata(p->heap, p->out, p->result);
    }
}

/* All or nothing. */
static bool add_whole_preview(const Preview *p, PtcPreviewKind kind)
{
    PtcBuf *out = p->out;
    size_t start = out->len;
    if (ptc_emit_object(out) && ptc_emit_field_cstr(out, "status", "ok") &&
        add_preview_kind(p, kind) && ptc_emit_field_bool(out, "full_result_cached", true) &&
        ptc_emit_key(out, "cache_hint") &&
        ptc_hint_write(p->heap, out, p->name, p->name_len, p->args) && ptc_emit_object_end(out))
        return true;
    out->len = start;
    out->full = false;
    if (out->failed)
        ptc_budget_halt(p->heap->budget, PTC_STOP_MEMORY);
    return false;
}

PtcPreviewStatus ptc_preview(PtcHeap *heap, PtcBuf *out, const PtcNativeResult *how,
                             const char *name, size_t name_len, PtcValue args, PtcValue result)
{
    Preview p = {heap, out, how, name, name_len, args, result};
    if (!ptc_buf_ok(out))
        return PTC_PREVIEW_FAILED;
    if (add_whole_preview(&p, how->kind))
        return PTC_PREVIEW_OK;
    if (heap->budget->stop != PTC_STOP_NONE || how->kind == PTC_PREVIEW_METADATA ||
        !add_whole_preview(&p, PTC_PREVIEW_METADATA))
        return PTC_PREVIEW_FAILED;
    return PTC_PREVIEW_FALLBACK;
}

static bool add_outline(PtcHeap *heap, PtcBuf *out, PtcValue result, bool rows)
{
    size_t start = out->len;
    if (ptc_emit_object(out) && ptc_emit_field_cstr(out, "status", "ok") &&
        (rows ? add_preview_rows(heap, out, result, PTC_PREVIEW_LIMIT)
              : add_metadata(heap, out, result)) &&
        ptc_emit_field_bool(out, "truncated", true) && ptc_emit_object_end(out))
        return true;
    out->len = start;
    out->full = false;
    return false;
}

bool ptc_preview_outline(PtcHeap *heap, PtcBuf *out, PtcValue result)
{
    return ptc_buf_ok(out) && (add_outline(heap, out, result, true) ||
                               (!out->failed && add_outline(heap, out, result, false)));
}
