/* SPDX-License-Identifier: MIT
 * store_pg_int.h - what the files of the PostgreSQL driver share. */
#ifndef PTC_STORE_STORE_PG_INT_H
#define PTC_STORE_STORE_PG_INT_H

#include <stdatomic.h>

#include "postgres/pg_library.h"
#include "store/store_pool.h"

typedef struct Pg {
    PtcStoreDriver base;
    PtcMem mem;
    PtcPg lib;
    PtcStorePool *pool;
    char *url;
    size_t url_size;
    int64_t timeout_ms;
    bool upgrade;
    atomic_bool opened; /* a first connection was made */
    /* who listens for records that others wait for */
    pthread_t listener;
    bool has_listener;
    atomic_bool ends;
    int stop[2]; /* a pipe that wakes it when it must end */
} Pg;

/* The most that a statement has. */
enum { PG_PARAMETERS = 25 };

/* Parameters, all of them binary, with which a statement is run. */
typedef struct PgArgs {
    int count;
    const char *values[PG_PARAMETERS];
    int lengths[PG_PARAMETERS];
    char numbers[PG_PARAMETERS][8];
} PgArgs;

/* ---- store_pg_schema.c */
/* Refuses a server that is not fit, and makes the tables and functions that are not there.  ptc.first: '1' when the
 * store is being opened; ptc.again: '1' when an older schema may be changed. */
extern const char ptc_pg_schema[];
/* Prepares all statements. */
extern const char ptc_pg_statements[];

/* ---- store_pg_connect.c */
extern const PtcStorePoolClass ptc_pg_pool_class;
/* Runs a prepared statement; *result is freed by the caller when the answer is PTC_STORE_OK.  One that `writes`, and
 * whose answer is lost, is PTC_STORE_UNKNOWN; any other is then tried once more. */
PTC_MUST_USE PtcStoreStatus ptc_pg_ask(Pg *pg, const char *statement, const PgArgs *args,
                                       bool writes, PGresult **result);
/* Starts and ends the thread that listens. */
PTC_MUST_USE bool ptc_pg_listen(Pg *pg);
void ptc_pg_listen_no_more(Pg *pg);

#endif
