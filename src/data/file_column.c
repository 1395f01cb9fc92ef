/* SPDX-License-Identifier: MIT
 * The column that names the file of a row. */
#include "data/file_column.h"

#include <stdio.h>

#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

static PtcValue new_hashed_string(PtcHeap *heap, const char *text)
{
    PtcValue v = ptc_str_new(heap, text, strlen(text));
    if (v != PTC_NONE)
        (void)ptc_str_hash(v);
    return v;
}

typedef struct {
    PtcHeap *heap;
    PtcValue file, name, key; /* the text, and the keys for it and for what is no map */
} FileColumn;

/* The name that the row has not. */
static PtcValue free_file_name(const FileColumn *c, PtcValue row)
{
    PtcValue name = c->name;
    char numbered[32];
    for (size_t n = 2; name != PTC_NONE && ptc_map_get(c->heap, row, name) != PTC_NONE; n++) {
        snprintf(numbered, sizeof numbered, "file_%zu", n);
        name = new_hashed_string(c->heap, numbered);
    }
    return name;
}

static PtcValue row_with_file(const FileColumn *c, PtcValue row)
{
    if (!ptc_is_map(row)) {
        PtcValue empty = ptc_map_empty(c->heap);
        row = empty == PTC_NONE ? empty : ptc_map_assoc(c->heap, empty, c->key, row);
    }
    PtcValue name = row == PTC_NONE ? row : free_file_name(c, row);
    return name == PTC_NONE ? name : ptc_map_assoc(c->heap, row, name, c->file);
}

PtcValue ptc_file_column_add(PtcHeap *heap, PtcValue rows, const char *file, const char *key)
{
    FileColumn c = {.heap = heap,
                    .file = new_hashed_string(heap, file),
                    .name = new_hashed_string(heap, "file"),
                    .key = new_hashed_string(heap, key)};
    bool list = ptc_is_sequential(rows);
    size_t count = list ? ptc_seq_count(rows) : 1;
    PtcValue all = ptc_build_new(heap);
    if (c.file == PTC_NONE || c.name == PTC_NONE || c.key == PTC_NONE || all == PTC_NONE)
        return PTC_NONE;
    for (size_t i = 0; i < count; i++) {
        PtcValue row = row_with_file(&c, list ? ptc_seq_nth(rows, i) : rows);
        if (row == PTC_NONE || !ptc_build_add(heap, all, row))
            return PTC_NONE;
    }
    return ptc_build_done(heap, all, 0);
}
