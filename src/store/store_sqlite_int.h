/* SPDX-License-Identifier: MIT
 * store_sqlite_int.h - what the two halves of the SQLite store share: store_sqlite.c uses a file,
 * store_sqlite_open.c opens and creates it. */
#ifndef PTC_STORE_STORE_SQLITE_INT_H
#define PTC_STORE_STORE_SQLITE_INT_H

#include "sqlite/sqlite_library.h"
#include "store/driver.h"

typedef enum {
    BEGIN,
    COMMIT,
    ROLLBACK,
    GET,
    PEEK,
    ADD,
    CHANGE,
    TOUCH,
    REMOVE,
    LIST_OWNER,
    LIST_KIND,
    LIST_ALL,
    SWEEP,
    SUM,
    HELD,
    HOLD,
    LET_GO,
    SWEEP_HOLDS,
    STATEMENTS
} Statement;

typedef struct {
    PtcStoreDriver base;
    PtcSqlite lib;
    void *so;
    /* It lets one function at a time use the connection and its statements, and is held while the file is read or
     * written.  Rows are taken under it, and whoever takes them must not use the store. */
    pthread_mutex_t lock;
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
} Db;

/* Opens or creates the file and prepares the statements; false with a text in why. */
PTC_MUST_USE bool ptc_store_sqlite_open(Db *db, const char *path, const PtcStoreOpening *opening,
                                        PtcWhy *why);

#endif
