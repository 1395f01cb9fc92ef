/* SPDX-License-Identifier: MIT
 * store_sqlite.h - sessions in a SQLite file, so that they outlive the process.  The library is loaded when a store is
 * opened, not before. */
#ifndef PTC_STORE_STORE_SQLITE_H
#define PTC_STORE_STORE_SQLITE_H

#include "mcp/app/sessions.h"

typedef struct PtcSessionDb PtcSessionDb;

typedef struct PtcSessionRow {
    const char *handle, *owner, *title; /* NUL-ended */
    int64_t created_ms, used_ms, ends_ms;
    uint64_t evals;
    size_t bindings;
    PtcText bytes;
} PtcSessionRow;

/* Opens or makes the file; NULL with a text in why. */
PTC_MUST_USE PtcSessionDb *ptc_session_db_open(PtcMem *mem, const char *path, char *why,
                                               size_t size);
void ptc_session_db_close(PtcSessionDb *db);
/* Calls fn for every row, until it returns false. */
PTC_MUST_USE bool ptc_session_db_load(PtcSessionDb *db,
                                      bool (*fn)(void *user, const PtcSessionRow *row), void *user);
/* Writes or removes a row.  A failure is said once on standard error; the session lives on in memory.  Any thread. */
void ptc_session_db_put(PtcSessionDb *db, const PtcSessionRow *row);
void ptc_session_db_remove(PtcSessionDb *db, const char *handle);

#endif
