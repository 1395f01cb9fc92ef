/* SPDX-License-Identifier: MIT
 * openapi_refs.h - schemas of a document made whole: each with the components that it refers to, and those that they
 * refer to. */
#ifndef PTC_UPSTREAM_OPENAPI_OPENAPI_REFS_H
#define PTC_UPSTREAM_OPENAPI_OPENAPI_REFS_H

#include "base/arena.h"
#include "value/heap.h"

typedef struct PtcOpenapiRefs {
    PtcHeap *heap;
    PtcValue document;
    PtcValue made; /* by a reference: all that it leads to */
    size_t left;   /* how many values may still be looked at, for all schemas together */
} PtcOpenapiRefs;
PtcOpenapiRefs ptc_openapi_refs(PtcHeap *heap, PtcValue document);

/* Adds "components" to the schema, a map, with what it needs of the document's, so that #/components/... leads
 * somewhere inside of it.  Values are shared, not copied, and so are components that several schemas need.  False: it
 * would be too much, or out of memory. */
PTC_MUST_USE bool ptc_openapi_refs_add(PtcOpenapiRefs *refs, PtcArena *scratch, PtcValue *schema);

#endif
