/* SPDX-License-Identifier: MIT
 * catalog_text.h - what the description of `lisp_eval` says of upstreams, within a number of bytes. */
#ifndef PTC_UPSTREAM_CATALOG_CATALOG_TEXT_H
#define PTC_UPSTREAM_CATALOG_CATALOG_TEXT_H

#include "base/buf.h"
#include "upstream/catalog/catalog.h"

enum { PTC_CATALOG_TEXT_BYTES = 900 };

/* From the richest on: a line with the arguments for each tool; a line for each server with names of tools; names and
 * numbers of servers.  PTC_CATALOG_ABSENT: there is nothing to tell. */
typedef enum {
    PTC_CATALOG_INLINE,
    PTC_CATALOG_SUMMARY,
    PTC_CATALOG_LAZY,
    PTC_CATALOG_ABSENT,
} PtcCatalogForm;

/* Appends at most `budget` bytes in the richest form that fits, and says which. */
PtcCatalogForm ptc_catalog_text_add(PtcBuf *out, PtcHeap *heap, const PtcCatalog *catalog,
                                    size_t budget);

#endif
