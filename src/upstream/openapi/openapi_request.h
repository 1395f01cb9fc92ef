/* SPDX-License-Identifier: MIT
 * openapi_request.h - a call of an operation as an HTTP request. */
#ifndef PTC_UPSTREAM_OPENAPI_OPENAPI_REQUEST_H
#define PTC_UPSTREAM_OPENAPI_OPENAPI_REQUEST_H

#include "base/buf.h"
#include "upstream/openapi/openapi.h"
#include "upstream/run/arguments.h"

enum { PTC_OPENAPI_BODY_MB = 64 };

typedef struct PtcOpenapiCall {
    PtcValue document;
    PtcOperationName operation;
    PtcValue args;     /* a map */
    PtcValue defaults; /* a map; PTC_NONE: none */
    PtcText base_url;  /* absent: that of the document */
    bool allow_writes;
    PtcValue auth;           /* bindings; PTC_NONE: none */
    PtcValue credentials;    /* name -> value; PTC_NONE: none */
    PtcValue static_headers; /* name -> value; PTC_NONE: none */
    /* The base64 text behind a ref; absent: there is none.  May be NULL. */
    PtcText (*blob)(void *user, PtcText ref);
    void *user;
} PtcOpenapiCall;

typedef struct PtcOpenapiRequest {
    PtcCallReason code;       /* why it cannot be made; 0: it is whole */
    PtcArgumentIssues issues; /* of invalid_tool_args */
    const char *method;
    PtcValue origin, target; /* strings */
    PtcValue headers;        /* a map, names in lower case */
    bool has_body;
    PtcBuf body;
} PtcOpenapiRequest;

/* Makes the request; end with _deinit.  False: out of memory. */
PTC_MUST_USE bool ptc_openapi_request(PtcArena *arena, PtcHeap *heap, const PtcOpenapiCall *call,
                                      PtcOpenapiRequest *out);
void ptc_openapi_request_deinit(PtcOpenapiRequest *request);

#endif
