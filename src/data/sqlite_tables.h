/* SPDX-License-Identifier: MIT
 * sqlite_tables.h - the tables of an SQLite file as values.
 *
 * The file is opened read-only, and nothing that its schema says is run but expressions of generated columns, with
 * functions that SQLite calls innocuous: no views, no triggers, no virtual tables, and of full-text indexes not the
 * tables behind them either.  Where nobody is writing it, nothing is created beside it. */
#ifndef PTC_DATA_SQLITE_TABLES_H
#define PTC_DATA_SQLITE_TABLES_H

#include <string.h>

#include "base/text.h"
#include "base/why.h"
#include "value/heap.h"

/* Do bytes begin like such a file? */
static inline bool ptc_sqlite_tables_begin(const char *bytes, size_t len)
{
    return len >= 16 && memcmp(bytes, "SQLite format 3", 16) == 0;
}

/* The rows of its only table, or a map of the names of tables to their rows.  Rows are maps; BLOBs become base64 text,
 * bytes that are no UTF-8 question marks.  PTC_NONE with the reason in why; its class is PTC_WHY_NO_MEMORY when it does
 * not fit. */
PTC_MUST_USE PtcValue ptc_sqlite_tables_read(PtcHeap *heap, const char *path, PtcWhy *why);

#endif
