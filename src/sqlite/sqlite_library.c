/* SPDX-License-Identifier: MIT
 * Loads SQLite when a store is opened, a file of data is a database, or a tool asks one. */
#include "sqlite/sqlite_library.h"

#include <stdio.h>

#include "base/library.h"

static const char *const files[] = {"libsqlite3.so.0", "libsqlite3.so", NULL};
static const char *const names[] = {
    "sqlite3_open_v2",
    "sqlite3_close_v2",
    "sqlite3_exec",
    "sqlite3_prepare_v2",
    "sqlite3_step",
    "sqlite3_reset",
    "sqlite3_clear_bindings",
    "sqlite3_finalize",
    "sqlite3_bind_text",
    "sqlite3_bind_int64",
    "sqlite3_bind_blob64",
    "sqlite3_column_int64",
    "sqlite3_column_blob",
    "sqlite3_column_bytes",
    "sqlite3_changes",
    "sqlite3_errmsg",
    "sqlite3_busy_timeout",
    "sqlite3_libversion",
    "sqlite3_column_count",
    "sqlite3_column_name",
    "sqlite3_column_type",
    "sqlite3_column_double",
    "sqlite3_column_text",
    "sqlite3_db_config",
    "sqlite3_limit",
    "sqlite3_bind_double",
    "sqlite3_bind_null",
    "sqlite3_bind_parameter_count",
    "sqlite3_bind_parameter_name",
    "sqlite3_set_authorizer",
    "sqlite3_progress_handler",
    "sqlite3_stmt_readonly",
    "sqlite3_hard_heap_limit64",
};

void *ptc_sqlite_load(PtcSqlite *lib, PtcWhy *why)
{
    const char *missing;
    void *so = PTC_LIBRARY_LOAD(files, names, lib, &missing);
    if (!so && missing)
        ptc_why_say(why, PTC_WHY_UNAVAILABLE, "the SQLite library is too old: it has no %s",
                    missing);
    else if (!so)
        ptc_why_say(why, PTC_WHY_UNAVAILABLE,
                    "the SQLite library (libsqlite3.so.0) is not installed");
    return so;
}
