/* SPDX-License-Identifier: MIT
 * openapi_dialect.h - documents of all versions as one: schemas are JSON Schema, which 3.1 took over. */
#ifndef PTC_UPSTREAM_OPENAPI_OPENAPI_DIALECT_H
#define PTC_UPSTREAM_OPENAPI_OPENAPI_DIALECT_H

#include "base/why.h"
#include "value/heap.h"

/* A document of Swagger 2.0 or OpenAPI 3.0 as one of 3.1 would say it, with `nullable` as a type and `exclusiveMinimum`
 * and `exclusiveMaximum` as numbers; one of 3.1 as it is.  PTC_NONE: *why says it, a constant text. */
PTC_MUST_USE PtcValue ptc_openapi_dialect(PtcHeap *heap, PtcValue document, PtcWhy *why);

#endif
