/* SPDX-License-Identifier: MIT
 * tool_doc.h - what a model reads of a tool: its arguments in order, an example, what it returns, what it does. */
#ifndef PTC_UPSTREAM_CATALOG_TOOL_DOC_H
#define PTC_UPSTREAM_CATALOG_TOOL_DOC_H

#include "upstream/catalog/catalog.h"
#include "upstream/config/policy.h"

/* {"symbol", "args": [{"name", "type", "required", "default"?}], "example_keys", "returns", "effect"}: required
 * arguments come first, in their order, then the others as the schema has them.  PTC_NONE: out of memory. */
PTC_MUST_USE PtcValue ptc_tool_doc(PtcHeap *heap, const PtcCatalogServer *server,
                                   const PtcCatalogTool *tool, PtcEffect effect);

/* The arguments alone, as {query string, state? "open"|"closed"}. */
void ptc_tool_doc_arguments(PtcBuf *out, PtcHeap *heap, const PtcCatalogTool *tool);

/* The schema of what programs get from a tool, within *root; PTC_NONE: the tool does not say. */
PtcValue ptc_tool_doc_result(PtcHeap *heap, const PtcCatalogTool *tool, PtcValue *root);

/* Does it say nothing of its results, or leave a part of them open? */
bool ptc_tool_doc_is_open(PtcHeap *heap, const PtcCatalogTool *tool);

/* Appends ` => seen {...}`, short, if something was seen. */
void ptc_tool_doc_seen(PtcBuf *out, const PtcCatalogTool *tool);

#endif
