/* SPDX-License-Identifier: MIT
 * canonical.h - one spelling for equal JSON values, so that digests of them can be compared: members of objects are
 * sorted by name, whatever order they came in. */
#ifndef PTC_UPSTREAM_CATALOG_CANONICAL_H
#define PTC_UPSTREAM_CATALOG_CANONICAL_H

#include "base/buf.h"
#include "value/heap.h"

/* Appends a value that came from JSON, whose depth is bounded.  False: out of memory, or the buffer is full. */
bool ptc_canonical_add(PtcBuf *out, PtcHeap *heap, PtcValue v);

/* The same for a schema, of which the "components" are written as a digest: schemas of a document share them, so each
 * is read only once.  *memo, at first an empty map, has their digests; it and they are values of the heap. */
bool ptc_canonical_add_schema(PtcBuf *out, PtcHeap *heap, PtcValue *memo, PtcValue schema);

#endif
