/* SPDX-License-Identifier: MIT
 * sqlite_library.h - the SQLite functions in use, loaded when a store is opened or a file of data is a database, and
 * not before: whoever has neither needs no library. */
#ifndef PTC_SQLITE_SQLITE_LIBRARY_H
#define PTC_SQLITE_SQLITE_LIBRARY_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/why.h"

/* Only pointers to functions, in the order of the names in sqlite_library.c. */
typedef struct PtcSqlite {
    __typeof__(sqlite3_open_v2) *open_v2;
    __typeof__(sqlite3_close_v2) *close_v2;
    __typeof__(sqlite3_exec) *exec;
    __typeof__(sqlite3_prepare_v2) *prepare_v2;
    __typeof__(sqlite3_step) *step;
    __typeof__(sqlite3_reset) *reset;
    __typeof__(sqlite3_clear_bindings) *clear_bindings;
    __typeof__(sqlite3_finalize) *finalize;
    __typeof__(sqlite3_bind_text) *bind_text;
    __typeof__(sqlite3_bind_int64) *bind_int64;
    __typeof__(sqlite3_bind_blob64) *bind_blob64;
    __typeof__(sqlite3_column_int64) *column_int64;
    __typeof__(sqlite3_column_blob) *column_blob;
    __typeof__(sqlite3_column_bytes) *column_bytes;
    __typeof__(sqlite3_changes) *changes;
    __typeof__(sqlite3_errmsg) *errmsg;
    __typeof__(sqlite3_busy_timeout) *busy_timeout;
    __typeof__(sqlite3_libversion) *libversion;
    __typeof__(sqlite3_column_count) *column_count;
    __typeof__(sqlite3_column_name) *column_name;
    __typeof__(sqlite3_column_type) *column_type;
    __typeof__(sqlite3_column_double) *column_double;
    __typeof__(sqlite3_column_text) *column_text;
    __typeof__(sqlite3_db_config) *db_config;
    __typeof__(sqlite3_limit) *limit;
    __typeof__(sqlite3_bind_double) *bind_double;
    __typeof__(sqlite3_bind_null) *bind_null;
    __typeof__(sqlite3_bind_parameter_count) *bind_parameter_count;
    __typeof__(sqlite3_bind_parameter_name) *bind_parameter_name;
    __typeof__(sqlite3_set_authorizer) *set_authorizer;
    __typeof__(sqlite3_progress_handler) *progress_handler;
    __typeof__(sqlite3_stmt_readonly) *stmt_readonly;
    __typeof__(sqlite3_hard_heap_limit64) *hard_heap_limit64;
} PtcSqlite;

/* The handle for dlclose, or NULL with a text in why. */
PTC_MUST_USE void *ptc_sqlite_load(PtcSqlite *lib, PtcWhy *why);

#endif
