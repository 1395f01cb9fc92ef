/* SPDX-License-Identifier: MIT
 * store_sqlite.h - a store in a SQLite file, which several processes may have open at once. */
#ifndef PTC_STORE_STORE_SQLITE_H
#define PTC_STORE_STORE_SQLITE_H

#include "base/why.h"
#include "store/store.h"

/* Opens the file or creates it; a file of another format is refused.  NULL with a text
 * in why. */
PTC_MUST_USE PtcStore *ptc_store_sqlite(const char *path, PtcWhy *why);

#endif
