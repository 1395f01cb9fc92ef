/* SPDX-License-Identifier: MIT
 * openapi_style.h - values in addresses, headers and forms, as OpenAPI writes them (RFC 6570). */
#ifndef PTC_UPSTREAM_OPENAPI_OPENAPI_STYLE_H
#define PTC_UPSTREAM_OPENAPI_OPENAPI_STYLE_H

#include "base/buf.h"
#include "upstream/openapi/openapi.h"

/* Appends the value of a parameter of a path, a query (`&a=b` for each part), a header or a cookie (`; a=b`). */
void ptc_openapi_style_add(PtcBuf *out, PtcHeap *heap, const PtcParameter *p, PtcValue v);

/* Appends a value as text, not encoded: strings as they are, everything else as JSON. */
void ptc_openapi_style_text(PtcBuf *out, PtcHeap *heap, PtcValue v);

/* Appends an object as a form, a=b&c=d, each member as its `encoding` says (PTC_NONE: nothing is said): items of arrays
 * one by one, objects as JSON. */
void ptc_openapi_style_form(PtcBuf *out, PtcHeap *heap, PtcValue object, PtcValue encoding);

/* Reads style, explode and allowReserved of a parameter, whose place is known, or of a member of a form. */
void ptc_openapi_style_read(PtcHeap *heap, PtcValue from, PtcParameter *p);

#endif
