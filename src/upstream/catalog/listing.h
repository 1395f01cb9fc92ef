/* SPDX-License-Identifier: MIT
 * listing.h - what one upstream has: its tools under the names that programs use, with their effects.
 *
 * A listing never changes once it is made; it is counted, because a run keeps what it began with while the upstream may
 * have listed anew.  Any thread may read one.  Schemas are compiled when they are first needed, and kept with it. */
#ifndef PTC_UPSTREAM_CATALOG_LISTING_H
#define PTC_UPSTREAM_CATALOG_LISTING_H

#include <stdatomic.h>

#include "upstream/catalog/catalog.h"
#include "upstream/config/entry.h"
#include "upstream/openapi/openapi_tools.h"
#include "value/scratch.h"

typedef struct PtcListing {
    atomic_uint refs;
    PtcMem *mem;
    PtcScratch scratch; /* of the values below */
    PtcCatalogServer server;
    PtcEffect *effects; /* of each tool */
    /* It guards the five below, which are made when they are first asked for; the rest never changes.  It is taken
     * under the locks of the manager and of pins, and takes only that of a pool of pages inside. */
    pthread_mutex_t lock;
    /* Compiled: of each tool for its arguments, then for its results. */
    const struct PtcSchema **schemas;
    bool *compiled; /* whether that was tried; a schema that cannot be compiled is NULL */
    char **digests; /* of each tool; NULL: not made yet */
    char *open;     /* of each tool: does it leave its result open?  0: not known yet */
    PtcValue memo;  /* of the digests */
    PtcValue all;   /* entries of the list as it came, those that programs do not see too */
    /* In words: a rule that would deny a tool, which there is not; NULL: none. */
    const char *misspelt;
    PtcValue document; /* of an OpenAPI service; PTC_NONE: it is none */
    PtcValue about;    /* {"serverInfo", "instructions", ...}; PTC_NIL: nothing is known */
    bool cached;       /* from an earlier connection: nothing may be refused because of it alone */
    bool modern;       /* the era of that connection */
    int64_t wall_ms;   /* when it was listed; 0: not known */
    size_t bytes;      /* of the list as it came */
    /* Tools that the entry does not let programs see, and operations that are none. */
    PtcOpenapiHidden hidden;
} PtcListing;

enum { PTC_LISTING_BYTES = 64 * PTC_MB }; /* of the values of one */

/* `tools` is the array of tools/list as JSON, or of an OpenAPI service its document; `about` an object or absent.  One
 * holder.  NULL: it is no such thing, or out of memory. */
PTC_MUST_USE PtcListing *ptc_listing_new(PtcMem *mem, const PtcEntry *entry, PtcText tools,
                                         PtcText about, bool modern);
PtcListing *ptc_listing_hold(PtcListing *listing);
void ptc_listing_drop(PtcListing *listing); /* NULL is fine */

/* The schema of a tool's arguments, or of its results; NULL: there is none, it cannot be compiled, or the budget
 * has stopped. */
const struct PtcSchema *ptc_listing_schema(PtcListing *listing, size_t tool, bool results,
                                           PtcBudget *budget);

/* How rules may spell the name of an entry of tools/list, and of a tool. */
PtcSpelt ptc_listing_spelt(PtcHeap *heap, const PtcEntry *entry, PtcValue tool,
                           char symbol[PTC_CATALOG_NAME_BYTES + 1]);
PtcSpelt ptc_listing_spelt_tool(PtcHeap *heap, const PtcEntry *entry, const PtcCatalogTool *tool);

enum { PTC_LISTING_DIGEST = 128, PTC_LISTING_PATH = 4096 };
/* What a tool says of itself, as digits: a quarter each for its description, the schema of its arguments, that of its
 * results, and its annotations.  The order of members does not matter.  NULL: out of memory. */
const char *ptc_listing_digest(PtcListing *listing, size_t tool);

/* Does a tool leave what its results are like to whoever looks at them? */
bool ptc_listing_is_open(PtcListing *listing, size_t tool);

/* The number of the tool with this name (the server's own); -1: none. */
int ptc_listing_find(const PtcListing *listing, PtcText name);

#endif
