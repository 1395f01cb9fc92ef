/* SPDX-License-Identifier: MIT
 * openapi.h - OpenAPI documents: their operations, with parameters and bodies.
 *
 * A document is a value, read from JSON; only references inside of it are followed.  An operation that needs another
 * file, or goes to another origin than the service, does not exist for us. */
#ifndef PTC_UPSTREAM_OPENAPI_OPENAPI_H
#define PTC_UPSTREAM_OPENAPI_OPENAPI_H

#include "base/arena.h"
#include "base/why.h"
#include "upstream/config/policy.h"

enum { PTC_OPENAPI_PARAMETERS = 200 }; /* of one operation; one that has more is left out */

typedef enum { PTC_IN_PATH, PTC_IN_QUERY, PTC_IN_HEADER, PTC_IN_COOKIE } PtcParameterIn;

typedef enum {
    PTC_STYLE_SIMPLE,
    PTC_STYLE_LABEL,
    PTC_STYLE_MATRIX,
    PTC_STYLE_FORM,
    PTC_STYLE_SPACE,
    PTC_STYLE_PIPE,
    PTC_STYLE_TAB, /* of Swagger 2.0 */
    PTC_STYLE_DEEP,
    PTC_STYLE_JSON, /* `content` instead of `schema` */
} PtcParameterStyle;

typedef struct PtcParameter {
    PtcText name;     /* in the request */
    PtcText argument; /* of the tool */
    PtcParameterIn in;
    PtcParameterStyle style;
    bool explode, required, reserved;
    PtcValue schema;     /* PTC_NONE: any */
    PtcText description; /* absent: none */
} PtcParameter;

/* Why an operation is no tool. */
typedef enum {
    PTC_LEFT_NOT, /* it is one */
    PTC_LEFT_WRITES,
    PTC_LEFT_DEPRECATED,
    PTC_LEFT_EXCLUDED,
    PTC_LEFT_NOT_INCLUDED,
    PTC_LEFT_HIDDEN,
    PTC_LEFT_TRACE,
    PTC_LEFT_OUTSIDE,
    PTC_LEFT_ELSEWHERE,
    PTC_LEFT_NO_SERVER,
    PTC_LEFT_REMOTE,
    PTC_LEFT_BROKEN,
    PTC_LEFT_PARAMETER,
    PTC_LEFT_PARAMETERS,
    PTC_LEFT_MEDIA_TYPE,
    PTC_LEFT_LONG_NAME,
    PTC_LEFT_SAME_NAME,
    PTC_LEFT_MANY,
    PTC_LEFT_SIZE,
    PTC_LEFT_REASONS
} PtcSkipReason;

typedef struct PtcOperation {
    PtcText name;
    const char *method; /* in upper case */
    PtcText path;       /* the template */
    PtcValue item, operation;
    bool deprecated, reads; /* reads: GET and HEAD */
    PtcEffect effect;
    PtcSkipReason left; /* it stands for a path that cannot be read */
    /* ptc_openapi_load */
    PtcParameter *parameters;
    size_t count;
    PtcValue body; /* the request body; PTC_NONE: none */
    bool body_required;
    PtcText body_argument;
    PtcText type_argument; /* says which media type the body has; absent: there is only one */
} PtcOperation;

/* Which operation is meant: a document may have several of one name. */
typedef struct PtcOperationName {
    PtcText text;
    PtcText request; /* "GET /pets/{id}"; absent: the first of that name */
} PtcOperationName;
bool ptc_openapi_is(const PtcOperation *operation, PtcOperationName name);

/* Is this a document that we understand?  `hint`: what else it is, a constant text. */
bool ptc_openapi_is_document(PtcHeap *heap, PtcValue document, PtcWhy *why);

/* Operations one by one; begin with all zero.  Names are in the arena.  False at the end, or when out of memory. */
typedef struct PtcOpenapiEach {
    size_t path, method;
    PtcValue item; /* of the path at hand */
    PtcText template;
    PtcSkipReason left; /* the item cannot be read */
} PtcOpenapiEach;
PTC_MUST_USE bool ptc_openapi_next(PtcArena *arena, PtcHeap *heap, PtcValue document,
                                   PtcOpenapiEach *each, PtcOperation *out);

/* Parameters and body.  Not PTC_LEFT_NOT: it cannot be called from here, or out of memory (PTC_LEFT_SIZE). */
PTC_MUST_USE PtcSkipReason ptc_openapi_load(PtcArena *arena, PtcHeap *heap, PtcValue document,
                                            PtcOperation *operation);

/* The input schema of the tool; references in it are those of the document.  Where a body takes a file, it takes
 * {"ref": "blob-1"} as well.  PTC_NONE: out of memory. */
PTC_MUST_USE PtcValue ptc_openapi_schema(PtcHeap *heap, PtcValue document,
                                         const PtcOperation *operation);

/* The address of the service: `base_url`, else that of the first server, with its variables' defaults.  PTC_NONE: there
 * is none that is whole, or an operation's own leads elsewhere. */
PTC_MUST_USE PtcValue ptc_openapi_base(PtcHeap *heap, PtcValue document,
                                       const PtcOperation *operation, PtcText base_url);

#endif
