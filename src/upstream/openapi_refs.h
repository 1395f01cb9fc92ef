/* SPDX-License-Identifier: MIT
 * openapi_refs.h - a schema of a document made whole: with the components that it refers to, and those that they refer
 * to. */
#ifndef PTC_UPSTREAM_OPENAPI_REFS_H
#define PTC_UPSTREAM_OPENAPI_REFS_H

#include "base/arena.h"
#include "value/heap.h"

/* Adds "components" to the schema, a map, with what it needs of the document's, so that #/components/... leads
 * somewhere inside of it.  Values are shared, not copied.  `left` is how many values may still be looked at, for all
 * schemas of a document together.  False: it would be too much, or out of memory. */
PTC_MUST_USE bool ptc_openapi_refs_add(PtcArena *scratch, PtcHeap *heap, PtcValue document,
                                       PtcValue *schema, size_t *left);

#endif
