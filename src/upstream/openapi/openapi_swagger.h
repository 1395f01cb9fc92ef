/* SPDX-License-Identifier: MIT
 * openapi_swagger.h - documents of Swagger 2.0 in the shape of OpenAPI 3.0, so that nobody else has to know of both. */
#ifndef PTC_UPSTREAM_OPENAPI_OPENAPI_SWAGGER_H
#define PTC_UPSTREAM_OPENAPI_OPENAPI_SWAGGER_H

#include "value/heap.h"

/* Is it a document of Swagger 2.0? */
bool ptc_openapi_swagger_is(PtcHeap *heap, PtcValue document);

/* The document with servers, request bodies, contents and components; its schemas are as they were.  PTC_NONE: out of
 * memory. */
PTC_MUST_USE PtcValue ptc_openapi_swagger(PtcHeap *heap, PtcValue document);

/* Rewrites what Swagger writes in its own way in a schema, or anywhere else: references, files, `x-nullable` and
 * discriminators. */
void ptc_openapi_swagger_node(PtcHeap *heap, PtcValue *map);

#endif
