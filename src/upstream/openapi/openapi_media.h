/* SPDX-License-Identifier: MIT
 * openapi_media.h - the media types of a request body: which of them we send, and what value they take. */
#ifndef PTC_UPSTREAM_OPENAPI_OPENAPI_MEDIA_H
#define PTC_UPSTREAM_OPENAPI_OPENAPI_MEDIA_H

#include "upstream/openapi/openapi.h"

/* How a body is written, by preference. */
typedef enum {
    PTC_BODY_JSON,
    PTC_BODY_FORM,
    PTC_BODY_MULTIPART,
    PTC_BODY_TEXT,
    PTC_BODY_BINARY,
    PTC_BODY_NONE, /* in no way */
} PtcBodyKind;

typedef struct PtcBodyMedia {
    PtcBodyKind kind;
    PtcText type;              /* as the document has it, without wildcards */
    PtcValue schema, encoding; /* PTC_NONE: not said */
} PtcBodyMedia;

/* How many of them we send. */
size_t ptc_openapi_media_count(PtcHeap *heap, const PtcOperation *operation);

/* The one that a value is sent as: `wanted` if that is among them (absent: nobody said), else a JSON Patch for a list
 * and nothing else, else the first of the most preferred kind.  The value may be PTC_NONE. */
PtcBodyMedia ptc_openapi_media_for(PtcHeap *heap, const PtcOperation *operation, PtcText wanted,
                                   PtcValue value);

/* The schema of the body, whatever it is sent as.  A file is a string, {"text"} or the {"ref"} of a result. */
PTC_MUST_USE PtcValue ptc_openapi_media_schema(PtcHeap *heap, PtcValue document,
                                               const PtcOperation *operation);
/* The schema of the argument that says which media type is meant. */
PTC_MUST_USE PtcValue ptc_openapi_media_choice(PtcHeap *heap, const PtcOperation *operation);

/* Is the value of a member, or each item of it, a file? */
bool ptc_openapi_media_is_file(PtcHeap *heap, PtcValue document, PtcValue schema);

#endif
