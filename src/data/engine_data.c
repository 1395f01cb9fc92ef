/* SPDX-License-Identifier: MIT
 * Only in the product that is the engine alone (PTC_ENGINE): it reads no YAML and no databases. */
#include <stdio.h>

#include "data/sqlite_tables.h"
#include "yaml/yaml_read.h"

PtcValue ptc_yaml_read_data(PtcHeap *heap, PtcText text, PtcYamlError *error)
{
    (void)heap, (void)text;
    *error = (PtcYamlError){0};
    snprintf(error->message, sizeof error->message, "YAML is not read by this build");
    return PTC_NONE;
}

PtcValue ptc_sqlite_tables_read(PtcHeap *heap, const char *path, PtcWhy *why)
{
    (void)heap, (void)path;
    ptc_why_say(why, PTC_WHY_UNAVAILABLE, "SQLite databases are not read by this build");
    return PTC_NONE;
}
