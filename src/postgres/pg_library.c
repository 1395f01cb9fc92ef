/* SPDX-License-Identifier: MIT
 * Loads libpq when a store or a tool in PostgreSQL needs it. */
#include "postgres/pg_library.h"

#include "base/library.h"

#define PTC_PG_NAME(name) "PQ" #name,
static const char *const files[] = {"libpq.so.5", "libpq.so", "libpq.5.dylib", NULL};
static const char *const names[] = {PTC_PG_FUNCTIONS(PTC_PG_NAME)};

bool ptc_pg_load(PtcPg *lib, PtcWhy *why)
{
    const char *missing;
    void *so = PTC_LIBRARY_LOAD(files, names, lib, &missing);
    if (so)
        return true;
    return missing ? ptc_why_say(why, PTC_WHY_UNAVAILABLE,
                                 "the PostgreSQL library is too old: it has no %s", missing)
                   : ptc_why_say(why, PTC_WHY_UNAVAILABLE,
                                 "the PostgreSQL library (libpq.so.5) is not installed");
}
