/* SPDX-License-Identifier: MIT
 * header.h - names and values of HTTP headers. */
#ifndef PTC_UPSTREAM_CONFIG_HEADER_H
#define PTC_UPSTREAM_CONFIG_HEADER_H

#include "base/text.h"
#include "value/heap.h"

/* A token (RFC 9110). */
bool ptc_header_is_name(PtcText name);
/* No CR, LF or NUL, so that it cannot end the header. */
bool ptc_header_is_value(PtcText value);
/* Headers that the client sets itself: Host, Content-Type, MCP-*, those of the connection ... */
bool ptc_header_is_ours(PtcText name);
/* Headers that have a place of their own in our file: Authorization, Cookie ... belong to `auth`. */
bool ptc_header_is_reserved(PtcText name);
/* The name in lower case; PTC_NONE: out of memory. */
PTC_MUST_USE PtcValue ptc_header_lower(PtcHeap *heap, PtcText name);
/* The value of a header in a map, whatever its case there; absent: there is none. */
PtcText ptc_header_get(PtcValue headers, const char *name);

#endif
