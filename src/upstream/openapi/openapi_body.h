/* SPDX-License-Identifier: MIT
 * openapi_body.h - the body of a request from the value of an argument. */
#ifndef PTC_UPSTREAM_OPENAPI_OPENAPI_BODY_H
#define PTC_UPSTREAM_OPENAPI_OPENAPI_BODY_H

#include "base/buf.h"
#include "upstream/openapi/openapi_media.h"

typedef struct PtcOpenapiBodyIn {
    PtcBodyMedia media;
    PtcValue document, value;
    PtcText (*blob)(void *user,
                    PtcText ref); /* the base64 text behind a ref; NULL: there are none */
    void *user;
} PtcOpenapiBodyIn;

/* Appends the body; returns its Content-Type, a string, or PTC_NONE when the value cannot be such a body. */
PTC_MUST_USE PtcValue ptc_openapi_body_write(PtcBuf *out, PtcHeap *heap,
                                             const PtcOpenapiBodyIn *in);

#endif
