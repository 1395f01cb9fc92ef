/* SPDX-License-Identifier: MIT
 * openapi_dialect.h - schemas of OpenAPI 3.0 as JSON Schema has them, which 3.1 took over. */
#ifndef PTC_UPSTREAM_OPENAPI_DIALECT_H
#define PTC_UPSTREAM_OPENAPI_DIALECT_H

#include "value/heap.h"

/* The document with `nullable` as a type and `exclusiveMinimum` and `exclusiveMaximum` as numbers; one of 3.1 as it is.
 * PTC_NONE: out of memory. */
PTC_MUST_USE PtcValue ptc_openapi_dialect(PtcHeap *heap, PtcValue document);

#endif
