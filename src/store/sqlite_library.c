/* SPDX-License-Identifier: MIT
 * Loads SQLite when a store is opened.  What always holds: either every function was found, or the library is closed
 * again. */
#include "store/sqlite_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    "sqlite3_open_v2",        "sqlite3_close_v2",     "sqlite3_exec",
    "sqlite3_prepare_v2",     "sqlite3_step",         "sqlite3_reset",
    "sqlite3_clear_bindings", "sqlite3_finalize",     "sqlite3_bind_text",
    "sqlite3_bind_int64",     "sqlite3_bind_blob64",  "sqlite3_column_int64",
    "sqlite3_column_blob",    "sqlite3_column_bytes", "sqlite3_changes",
    "sqlite3_errmsg",         "sqlite3_busy_timeout",
};
_Static_assert(sizeof names / sizeof *names == sizeof(PtcSqlite) / sizeof(void *), "one name each");

static bool find_all(void *so, PtcSqlite *lib, char *why, size_t size)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *at = dlsym(so, names[i]);
        if (!at) {
            snprintf(why, size, "the SQLite library is too old: it has no %s", names[i]);
            return false;
        }
        memcpy((char *)lib + i * sizeof at, &at, sizeof at);
    }
    return true;
}

void *ptc_sqlite_load(PtcSqlite *lib, char *why, size_t size)
{
    void *so = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!so)
        so = dlopen("libsqlite3.so", RTLD_NOW | RTLD_LOCAL);
    if (!so) {
        snprintf(why, size, "the SQLite library (libsqlite3.so.0) is not installed");
        return NULL;
    }
    if (find_all(so, lib, why, size))
        return so;
    dlclose(so);
    return NULL;
}
