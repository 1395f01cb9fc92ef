/* SPDX-License-Identifier: MIT
 * What the columns of rows contain, judging by the first hundred: enough to distinguish them, and bounded for data of
 * any size. */
#include "value/coll/columns.h"

#include "value/coll/iter.h"
#include "value/coll/key_name.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/equal.h"
#include "value/str.h"

enum { COLUMNS_ROWS_SEEN = 100 };

/* --------------------------------------------------------------------------------- kinds */

static const char *const kind_names[] = {"int",  "float", "string", "bool", "keyword",
                                         "list", "map",   "other",  "nil"};
enum {
    COLUMNS_INT,
    COLUMNS_FLOAT,
    COLUMNS_STRING,
    COLUMNS_BOOL,
    COLUMNS_KEYWORD,
    COLUMNS_LIST,
    COLUMNS_MAP,
    COLUMNS_OTHER,
    COLUMNS_NIL,
    COLUMNS_KINDS
};

static unsigned column_kind(PtcValue v)
{
    if (v == PTC_NIL)
        return COLUMNS_NIL;
    if (ptc_is_integer(v))
        return COLUMNS_INT;
    if (ptc_is_float(v))
        return COLUMNS_FLOAT;
    if (ptc_is_bool(v))
        return COLUMNS_BOOL;
    return ptc_is_string(v)                        ? COLUMNS_STRING
           : ptc_is_keyword(v)                     ? COLUMNS_KEYWORD
           : ptc_is_sequential(v) || ptc_is_set(v) ? COLUMNS_LIST
           : ptc_is_map(v)                         ? COLUMNS_MAP
                                                   : COLUMNS_OTHER;
}

static void write_kinds(PtcBuf *buf, unsigned kinds)
{
    bool first = true;
    if ((kinds & 1u << COLUMNS_INT) && (kinds & 1u << COLUMNS_FLOAT))
        kinds &= ~(1u << COLUMNS_INT); /* a float column may contain integers */
    for (int k = 0; k < COLUMNS_KINDS; k++) {
        if (!(kinds >> k & 1))
            continue;
        ptc_buf_addf(buf, "%s%s", first ? "" : " or ", kind_names[k]);
        first = false;
    }
}

/* -------------------------------------------------------------------------------- seeing */

/* Rows mostly have their columns in the same order, so the guess is usually right. */
static PtcColumn *find_row_column(PtcHeap *heap, PtcColumns *t, size_t guess, PtcValue key)
{
    if (guess < t->count && t->items[guess].key == key)
        return &t->items[guess];
    for (size_t i = 0; i < t->count; i++)
        if (ptc_same(heap, t->items[i].key, key))
            return &t->items[i];
    t->more = t->more || t->count == PTC_COLUMNS_MAX;
    if (t->count == PTC_COLUMNS_MAX)
        return NULL;
    t->items[t->count] = (PtcColumn){.key = key};
    return &t->items[t->count++];
}

static bool see_row(PtcHeap *heap, PtcColumns *t, PtcValue row)
{
    PtcValue key, value;
    size_t i = 0;
    t->rows++;
    for (size_t pos = 0; i < 2 * PTC_COLUMNS_MAX && ptc_map_next(row, &pos, &key, &value); i++) {
        PtcColumn *c = find_row_column(heap, t, i, key);
        if (!ptc_tick(heap->budget, 1 + (int64_t)t->count / 8))
            return false;
        if (!c)
            continue;
        c->kinds |= 1u << column_kind(value);
        c->seen++;
    }
    t->more = t->more || i < ptc_map_count(row);
    return true;
}

bool ptc_columns_see(PtcHeap *heap, PtcColumns *out, PtcValue v)
{
    PtcIter it;
    PtcValue row;
    *out = (PtcColumns){.count = 0};
    if (ptc_is_map(v))
        return see_row(heap, out, v);
    if (!ptc_is_sequential(v) || ptc_seq_count(v) == 0 || !ptc_iter_init(&it, heap, v))
        return false;
    while (out->rows < COLUMNS_ROWS_SEEN && ptc_iter_next(&it, &row))
        if (!ptc_is_map(row) || !see_row(heap, out, row))
            return false;
    return true;
}

/* ------------------------------------------------------------------------------- writing */

bool ptc_column_is_awkward(const PtcColumn *c)
{
    char written[PTC_KEY_WRITTEN];
    return ptc_is_named(c->key) && ptc_key_written(c->key, written)[0] != ':';
}

void ptc_column_write(PtcBuf *buf, const PtcColumns *all, const PtcColumn *c, bool details)
{
    char written[PTC_KEY_WRITTEN];
    bool named = ptc_is_named(c->key);
    ptc_buf_add_cstr(buf, named ? ptc_key_written(c->key, written) : "(another key)");
    ptc_buf_add_char(buf, ' ');
    write_kinds(buf, c->kinds);
    if (!details || !named)
        return;
    if (c->seen < all->rows)
        ptc_buf_add_cstr(buf, ", not in all");
    PtcText text = {ptc_str_bytes(c->key), ptc_str_len(c->key)};
    if (written[0] != ':')
        ptc_buf_addf(buf, ", by (get row %s)", written);
    else if (ptc_is_string(c->key) && !ptc_text_is(text, written + 1))
        ptc_buf_addf(buf, ", named \"%s\"", text.bytes);
}

bool ptc_columns_write_size(PtcBuf *buf, PtcValue v, bool table)
{
    bool list = ptc_is_sequential(v);
    size_t n = list ? ptc_seq_count(v) : ptc_is_map(v) ? ptc_map_count(v) : 0;
    const char *many = n == 1 ? "" : "s";
    if (list && n >= PTC_ENDLESS)
        ptc_buf_add_cstr(buf, "an endless sequence");
    else if (list)
        ptc_buf_addf(buf, "%zu %s%s", n, table ? "row" : "item", many);
    else if (ptc_is_map(v))
        ptc_buf_addf(buf, "a map of %zu key%s", n, many);
    return list || ptc_is_map(v);
}

bool ptc_columns_write_line(PtcHeap *heap, PtcBuf *buf, PtcValue v, size_t shown)
{
    PtcColumns t;
    bool table = ptc_columns_see(heap, &t, v);
    if (!ptc_columns_write_size(buf, v, table))
        return false;
    for (size_t i = 0; table && i < t.count && i < shown; i++) {
        ptc_buf_add_cstr(buf, i ? ", " : ": ");
        ptc_column_write(buf, &t, &t.items[i], false);
    }
    if (table && t.more)
        ptc_buf_add_cstr(buf, " and more");
    else if (table && t.count > shown)
        ptc_buf_addf(buf, " and %zu more", t.count - shown);
    return true;
}
