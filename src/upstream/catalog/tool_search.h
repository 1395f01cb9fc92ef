/* SPDX-License-Identifier: MIT
 * tool_search.h - tools that fit some words, best first; none is better than wrong ones. */
#ifndef PTC_UPSTREAM_CATALOG_TOOL_SEARCH_H
#define PTC_UPSTREAM_CATALOG_TOOL_SEARCH_H

#include "upstream/catalog/catalog.h"

enum { PTC_TOOL_SEARCH_WORDS = 16 }; /* of a query; further ones are left out */

typedef struct PtcToolHit {
    const PtcCatalogServer *server;
    const PtcCatalogTool *tool;
    bool leading; /* the query is the name, or its beginning */
    size_t words; /* of the query that it has */
    double score; /* rarer words and names count more */
} PtcToolHit;

/* All that fit, best first, into the arena.  False: out of memory. */
PTC_MUST_USE bool ptc_tool_search(PtcArena *arena, PtcHeap *heap, const PtcCatalog *catalog,
                                  PtcText query, PtcToolHit **hits, size_t *count);

#endif
