/* SPDX-License-Identifier: MIT
 * columns.h - what somebody's data look like: how many rows, which columns, what is in them, how programs refer to
 * them. */
#ifndef PTC_VALUE_COLL_COLUMNS_H
#define PTC_VALUE_COLL_COLUMNS_H

#include "base/buf.h"
#include "value/heap.h"

enum { PTC_COLUMNS_MAX = 64 };

typedef struct PtcColumn {
    PtcValue key;
    unsigned kinds; /* a bit for each kind of value seen */
    size_t seen;    /* in this many rows */
} PtcColumn;

typedef struct PtcColumns {
    PtcColumn items[PTC_COLUMNS_MAX];
    size_t count, rows;
    bool more; /* there were columns without room here */
} PtcColumns;

/* Examines the first rows of a list of maps, or one map.  False: v is neither, or the budget of the heap stopped. */
bool ptc_columns_see(PtcHeap *heap, PtcColumns *out, PtcValue v);
/* ":unit-price float"; with `details` also whether it may be missing and how to name or read it. */
void ptc_column_write(PtcBuf *buf, const PtcColumns *all, const PtcColumn *column, bool details);
/* Is there no keyword for it?  Then (get row "Price (EUR)") finds it. */
bool ptc_column_is_awkward(const PtcColumn *column);

/* "2 rows", "3 items" or "a map of 2 keys"; false, with nothing written, for anything but a list or a map. */
bool ptc_columns_write_size(PtcBuf *buf, PtcValue v, bool table);
/* The size, and the first columns of a table: "2 rows: :id int, :unit-price float and 3 more".  False as above. */
bool ptc_columns_write_line(PtcHeap *heap, PtcBuf *buf, PtcValue v, size_t shown);

#endif
