/* SPDX-License-Identifier: MIT
 * openapi_tools.h - the operations of a document as an upstream's tools, in the form of tools/list, so that whoever
 * looks tools up, searches them or checks their arguments need not know where they come from. */
#ifndef PTC_UPSTREAM_OPENAPI_OPENAPI_TOOLS_H
#define PTC_UPSTREAM_OPENAPI_OPENAPI_TOOLS_H

#include "base/text/nearest.h"
#include "upstream/config/entry.h"
#include "upstream/openapi/openapi.h"

/* Operations that are no tools, by the reason; first: the name of the first, in the document, or its path where that is
 * the reason. */
typedef struct PtcOpenapiHidden {
    size_t counts[PTC_LEFT_REASONS];
    PtcText first[PTC_LEFT_REASONS];
} PtcOpenapiHidden;

/* The reasons as words for programs, and as half a sentence that says what can be done. */
extern const struct PtcLeftReason {
    const char *code, *text;
} ptc_openapi_left_reasons[PTC_LEFT_REASONS];
void ptc_openapi_left_note(PtcOpenapiHidden *hidden, PtcSkipReason left, PtcText name);

/* [{"name", "description"?, "inputSchema", "outputSchema"?, "annotations", "operation"}] for each operation that the
 * entry lets programs call; "operation" is its name in the document.  `hidden` has the others added.  PTC_NONE: out of
 * memory. */
PTC_MUST_USE PtcValue ptc_openapi_tools(PtcHeap *heap, PtcValue document, const PtcEntry *entry,
                                        PtcOpenapiHidden *hidden);

/* Why an operation of the document is no tool, a constant text; NULL: it is one, or there is no such operation. */
const char *ptc_openapi_tools_why(PtcHeap *heap, PtcValue document, const PtcEntry *entry,
                                  PtcText operation);

/* Does a glob fit the name of an operation, whether it is a tool or left out?  Names are offered as the nearest. */
bool ptc_openapi_tools_has(PtcHeap *heap, PtcValue document, const PtcEntry *entry, PtcText glob,
                           bool loosely, PtcNearest *near);

/* What the document says of the service, as an MCP server would: {"serverInfo", "instructions"?}. */
PTC_MUST_USE PtcValue ptc_openapi_tools_about(PtcHeap *heap, PtcValue document);

/* The address of the service where it is not the document's own: that of the entry, or one that is relative to where
 * the document came from; nil: the document has it. */
PTC_MUST_USE PtcValue ptc_openapi_tools_base(PtcHeap *heap, PtcValue document,
                                             const PtcEntry *entry);

/* The bindings of credentials ([{"scheme", "binding", ...}]) for a call: those of the entry, those that its `security`
 * gives for what the operation wants, and {"token_url"} where a token is to be had for the client credentials in its
 * `oauth`. */
PTC_MUST_USE PtcValue ptc_openapi_tools_auth(PtcHeap *heap, PtcValue document,
                                             const PtcEntry *entry, PtcOperationName operation);

#endif
