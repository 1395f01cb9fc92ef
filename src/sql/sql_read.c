/* SPDX-License-Identifier: MIT
 * Answers as values.  What always holds: no byte behind the answer is looked at, whatever its numbers say. */
#include "sql/sql_read.h"

#include "json/parse.h"
#include "sql/sql.h"
#include "sql/sql_wire.h"
#include "value/coll/fields.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/equal.h"
#include "value/number/bigint.h"
#include "value/number/decimal.h"
#include "value/str.h"
#include "value/time/time.h"

typedef struct {
    PtcHeap *heap;
    PtcText left;
    size_t columns;
    PtcValue keys, shape; /* of rows: a vector builder; PTC_NONE: rows are too wide for a shape */
    PtcValue *fields;
} SqlReading;

static bool take_raw(SqlReading *r, void *to, size_t n)
{
    if (r->left.len < n)
        return false;
    memcpy(to, r->left.bytes, n);
    r->left = (PtcText){r->left.bytes + n, r->left.len - n};
    return true;
}

static char take_tag(SqlReading *r)
{
    char tag = 0;
    return take_raw(r, &tag, 1) ? tag : 0;
}

static bool take_sql_text(SqlReading *r, PtcText *text)
{
    uint32_t len;
    if (!take_raw(r, &len, sizeof len) || r->left.len < len)
        return false;
    *text = (PtcText){r->left.bytes, len};
    r->left = (PtcText){r->left.bytes + len, r->left.len - len};
    return true;
}

/* ---------------------------------------------------------------------------------- values */

static PtcValue make_time(PtcHeap *heap, unsigned kind, const PtcMoment *m)
{
    PtcTime t = ptc_moment_time(m);
    PtcValue fields[] = {ptc_int(t.seconds), ptc_int(t.nanos)};
    if (kind != PTC_R_DATE)
        return ptc_record_make(heap, kind, fields, 2);
    fields[0] = ptc_int(ptc_moment_days(m));
    return ptc_record_make(heap, kind, fields, 1);
}

/* What our calendar does not have (infinity, years before Christ) stays a text. */
static PtcValue time_value(PtcHeap *heap, char tag, PtcText text)
{
    PtcMoment m;
    PtcWhy why;
    char clock[64];
    unsigned kind = tag == PTC_SQL_DATE       ? PTC_R_DATE
                    : tag == PTC_SQL_DATETIME ? PTC_R_DATETIME
                    : tag == PTC_SQL_INSTANT  ? PTC_R_INSTANT
                                              : PTC_R_CLOCK;
    PtcText iso = text;
    if (kind == PTC_R_CLOCK) {
        int n = snprintf(clock, sizeof clock, "1970-01-01T%.*s", PTC_ARG(ptc_text_cut(text, 40)));
        iso = (PtcText){clock, (size_t)n};
    }
    bool fits = ptc_iso_parse(PTC_ISO_BOUNDARY, iso.bytes, iso.len, &m, &why) && m.has_date &&
                m.has_time == (kind != PTC_R_DATE) && m.has_offset == (kind == PTC_R_INSTANT);
    return fits ? make_time(heap, kind, &m) : ptc_str_new(heap, text.bytes, text.len);
}

static PtcValue decimal_value(PtcHeap *heap, PtcText text)
{
    PtcValue v = ptc_decimal_parse(heap, text.bytes, text.len);
    return v == PTC_NIL ? ptc_str_new(heap, text.bytes, text.len) : v;
}

static PtcValue json_value(PtcHeap *heap, PtcText text)
{
    PtcJsonError error;
    PtcValue v = ptc_json_parse(heap, text.bytes, text.len, &error);
    return v == PTC_NONE && !error.stopped ? ptc_str_new(heap, text.bytes, text.len) : v;
}

static PtcValue text_value(SqlReading *r, char tag)
{
    PtcText text;
    if (!take_sql_text(r, &text))
        return PTC_NONE;
    switch (tag) {
    case PTC_SQL_TEXT: return ptc_str_new(r->heap, text.bytes, text.len);
    case PTC_SQL_DECIMAL: return decimal_value(r->heap, text);
    case PTC_SQL_JSON: return json_value(r->heap, text);
    case PTC_SQL_DATE:
    case PTC_SQL_DATETIME:
    case PTC_SQL_INSTANT:
    case PTC_SQL_CLOCK: return time_value(r->heap, tag, text);
    default: return PTC_NONE;
    }
}

static PtcValue number_value(SqlReading *r, char tag)
{
    int64_t n = 0;
    double d = 0;
    bool whole = tag == PTC_SQL_INT;
    if (!take_raw(r, whole ? (void *)&n : (void *)&d, sizeof n))
        return PTC_NONE;
    return whole ? ptc_int_new(r->heap, n) : ptc_float_new(r->heap, d);
}

static PtcValue list_value(SqlReading *r, int depth);

static PtcValue sql_value(SqlReading *r, char tag, int depth)
{
    switch (tag) {
    case PTC_SQL_NIL: return PTC_NIL;
    case PTC_SQL_TRUE: return PTC_TRUE;
    case PTC_SQL_FALSE: return PTC_FALSE;
    case PTC_SQL_INT:
    case PTC_SQL_FLOAT: return number_value(r, tag);
    case PTC_SQL_LIST: return depth < PTC_SQL_DEPTH ? list_value(r, depth + 1) : PTC_NONE;
    default: return text_value(r, tag);
    }
}

static PtcValue list_value(SqlReading *r, int depth)
{
    PtcValue list = ptc_build_new(r->heap);
    for (char tag; list != PTC_NONE && (tag = take_tag(r)) != PTC_SQL_END;) {
        PtcValue v = sql_value(r, tag, depth);
        if (v == PTC_NONE || !ptc_build_add(r->heap, list, v))
            return PTC_NONE;
    }
    return list == PTC_NONE ? PTC_NONE : ptc_build_done(r->heap, list, 0);
}

/* ------------------------------------------------------------------------------------ rows */

static bool has_same_keys(const PtcValue *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (ptc_text_same(ptc_str_text(keys[i]), ptc_str_text(keys[j])))
                return true;
    return false;
}

static bool read_sql_columns(SqlReading *r)
{
    uint32_t hashes[PTC_SMALL_MAX];
    PtcValue keys[PTC_SMALL_MAX];
    r->keys = ptc_build_new(r->heap);
    for (size_t i = 0; i < r->columns; i++) {
        PtcValue key = take_tag(r) == PTC_SQL_TEXT ? text_value(r, PTC_SQL_TEXT) : PTC_NONE;
        if (key == PTC_NONE || r->keys == PTC_NONE || !ptc_build_add(r->heap, r->keys, key))
            return false;
        if (i < PTC_SMALL_MAX) {
            keys[i] = key;
            hashes[i] = ptc_hash(r->heap, key);
        }
    }
    if (r->columns <= PTC_SMALL_MAX && !has_same_keys(keys, r->columns))
        r->shape = ptc_shape_new(r->heap, keys, hashes, r->columns);
    return r->columns > PTC_SMALL_MAX || r->shape != PTC_NONE;
}

static PtcValue wide_sql_row(SqlReading *r)
{
    PtcDictBuild build;
    bool ok = ptc_dict_build_init(&build, r->heap, false);
    for (size_t i = 0; ok && i < r->columns; i++)
        ok = ptc_dict_build_put(&build, *ptc_build_slot(r->keys, i), r->fields[i]);
    if (ok)
        return ptc_dict_build_done(&build);
    ptc_dict_build_cancel(&build);
    return PTC_NONE;
}

static bool read_sql_row(SqlReading *r, PtcValue rows)
{
    for (size_t i = 0; i < r->columns; i++)
        if ((r->fields[i] = sql_value(r, take_tag(r), 0)) == PTC_NONE)
            return false;
    PtcValue row =
        r->shape == PTC_NONE ? wide_sql_row(r) : ptc_smap_new(r->heap, r->shape, r->fields);
    return row != PTC_NONE && ptc_build_add(r->heap, rows, row);
}

static PtcValue read_sql_rows(SqlReading *r)
{
    PtcValue rows = ptc_build_new(r->heap);
    char tag = 0;
    bool ok = rows != PTC_NONE && read_sql_columns(r);
    while (ok && (tag = take_tag(r)) == PTC_SQL_ROW)
        ok = read_sql_row(r, rows);
    return ok && tag == PTC_SQL_END && r->left.len == 0 ? ptc_build_done(r->heap, rows, 0)
                                                        : PTC_NONE;
}

static PtcValue read_sql_table(SqlReading *r)
{
    PtcMem *mem = r->heap->pool->mem;
    uint32_t columns;
    if (!take_raw(r, &columns, sizeof columns) || columns > PTC_SQL_COLUMNS_MAX)
        return PTC_NONE;
    r->columns = columns;
    r->fields = ptc_mem_alloc(mem, (r->columns + 1) * sizeof *r->fields);
    PtcValue v = r->fields ? read_sql_rows(r) : PTC_NONE;
    ptc_mem_free(mem, r->fields, (r->columns + 1) * sizeof *r->fields);
    return v;
}

static PtcValue read_sql_changed(SqlReading *r)
{
    PtcValue map = ptc_fields_map(r->heap);
    ptc_fields_put(r->heap, &map, "changed", number_value(r, PTC_SQL_INT));
    return ptc_fields_ok(r->heap) ? map : PTC_NONE;
}

PtcValue ptc_sql_read(PtcHeap *heap, PtcText answer)
{
    SqlReading r = {.heap = heap, .left = answer, .keys = PTC_NONE, .shape = PTC_NONE};
    char tag = take_tag(&r);
    return tag == PTC_SQL_TABLE     ? read_sql_table(&r)
           : tag == PTC_SQL_CHANGED ? read_sql_changed(&r)
                                    : PTC_NONE;
}
