/* SPDX-License-Identifier: MIT
 * store_sqlite_int.h - what the two halves of the SQLite store share: store_sqlite.c uses a file,
 * store_sqlite_open.c opens and creates it. */
#ifndef PTC_STORE_STORE_SQLITE_INT_H
#define PTC_STORE_STORE_SQLITE_INT_H

#include <pthread.h>

#include "base/why.h"
#include "store/sqlite_library.h"
#include "store/store_seal.h"

typedef enum {
    BEGIN,
    COMMIT,
    ROLLBACK,
    GET,
    ADD,
    CHANGE,
    TOUCH,
    REMOVE,
    LIST,
    OVER,
    SUM,
    STATEMENTS
} Statement;

typedef struct {
    PtcStore base;
    PtcSqlite lib;
    void *so;
    /* It lets one function at a time use the connection and its statements, and is held while the file is read or
     * written.  `visit` and `spare` are called under it and may take a lock of their owner; so nobody calls a
     * store while holding such a lock. */
    pthread_mutex_t lock;
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
    uint8_t key[PTC_STORE_KEY_BYTES]; /* for the seals */
    bool complained, complained_of_seals;
} Db;

/* Opens or creates the file and prepares the statements; false with a text in why. */
PTC_MUST_USE bool ptc_store_sqlite_open(Db *db, const char *path, PtcWhy *why);

#endif
