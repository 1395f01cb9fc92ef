/* SPDX-License-Identifier: MIT
 * mcp_headers.h - headers of a modern `tools/call` over HTTP: its method, its tool, and the arguments that the input
 * schema wants to see there (x-mcp-header). */
#ifndef PTC_UPSTREAM_CONNECT_MCP_HEADERS_H
#define PTC_UPSTREAM_CONNECT_MCP_HEADERS_H

#include "base/text.h"
#include "value/heap.h"

/* Can the tool be called over HTTP?  Not if an x-mcp-header of its input schema is not the name of a header, occurs
 * twice, or belongs to something other than a string, integer or boolean that is reached through properties alone. */
bool ptc_mcp_headers_fit(PtcHeap *heap, PtcValue schema);

/* The headers as a map from names in lower case to values, those of the version left out.  PTC_NONE: out of memory. */
PTC_MUST_USE PtcValue ptc_mcp_headers(PtcHeap *heap, PtcText tool, PtcValue schema, PtcValue args);

#endif
