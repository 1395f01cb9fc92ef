/* SPDX-License-Identifier: MIT
 * listing_cache.h - listings on disk, so that descriptions, search and checks need no upstream started.
 *
 * A file belongs to one entry with one set of credentials: its name is a keyed digest of both, so that another account
 * has another file and a name betrays no credential.  What is read is checked like what an upstream sends; a file that
 * is not as it should be is ignored. */
#ifndef PTC_UPSTREAM_CATALOG_LISTING_CACHE_H
#define PTC_UPSTREAM_CATALOG_LISTING_CACHE_H

#include "upstream/catalog/listing.h"

enum { PTC_LISTING_CACHE_PATH = 4096, PTC_LISTING_CACHE_KEY = 32 };

/* The key in `state_dir`, made when there is none.  False: it can neither be read nor made. */
PTC_MUST_USE bool ptc_listing_cache_key(PtcMem *mem, const char *state_dir,
                                        uint8_t key[PTC_LISTING_CACHE_KEY]);

/* The path of the entry's file; `credentials` is whatever else tells two accounts apart. */
PTC_MUST_USE bool ptc_listing_cache_path(char path[PTC_LISTING_CACHE_PATH], const char *cache_dir,
                                         const uint8_t key[PTC_LISTING_CACHE_KEY],
                                         PtcText entry_json, PtcText credentials);

/* NULL: there is none that can be used. */
PTC_MUST_USE PtcListing *ptc_listing_cache_load(PtcMem *mem, const char *path,
                                                const PtcEntry *entry);
/* Writes a whole new file in place of the old one; false: it could not. */
bool ptc_listing_cache_save(PtcMem *mem, const char *path, PtcText tools, PtcText about,
                            bool modern);

enum { PTC_LISTING_CACHE_WHY = 240 };
/* Beside it: why the upstream could not be listed the last time.  The second reads that, as far as it is newer than
 * `since_ms`; else "". */
void ptc_listing_cache_fail(const char *path, const char *why);
void ptc_listing_cache_failed(PtcMem *mem, const char *path, int64_t since_ms,
                              char why[PTC_LISTING_CACHE_WHY]);

#endif
