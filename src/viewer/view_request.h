/* SPDX-License-Identifier: MIT
 * view_request.h - what a browser asks the viewer for: one request, judged.  No sockets here.
 *
 * Only GET and HEAD are served, only to those who know the secret in the path, and only under a name that a page of
 * somebody else cannot have in its address (DNS rebinding): the Host is 127.0.0.1 or localhost with our port.  One
 * request changes something, an approval: a POST of JSON from our own page, as the browser itself says (Origin). */
#ifndef PTC_VIEWER_VIEW_REQUEST_H
#define PTC_VIEWER_VIEW_REQUEST_H

#include "base/text.h"

enum { PTC_VIEW_SECRET = 32 }; /* hexadecimal digits of a secret */

typedef enum {
    PTC_VIEW_REFUSED, /* status says how */
    PTC_VIEW_FILE,    /* a part of the page, by its name */
    PTC_VIEW_LIST,    /* the traces there are */
    PTC_VIEW_TRACE,   /* one of them, by its number */
    PTC_VIEW_WAITING, /* the calls that wait for a person */
    PTC_VIEW_ANSWER,  /* what a person says about one: a POST */
    PTC_VIEW_DOOR,    /* the address that was handed to a browser: it leads to the page, once */
} PtcViewKind;

/* Who we are. */
typedef struct PtcViewPlace {
    unsigned port;
    char secret[PTC_VIEW_SECRET + 1]; /* in front of every path */
    char door[PTC_VIEW_SECRET + 1];   /* "" once it was used */
} PtcViewPlace;

/* What counts among the header fields. */
typedef struct PtcViewFields {
    PtcText host;
    size_t hosts;
    bool body;   /* it announces one */
    bool chunks; /* of a length that is not known */
    bool json;   /* it is said to be JSON */
    PtcText origin;
    size_t origins;
    bool foreign; /* the browser says that another site's page asks */
} PtcViewFields;

typedef struct PtcViewRequest {
    PtcViewKind kind;
    int status;   /* of a refusal */
    PtcText name; /* of a part, in the path */
    size_t number;
} PtcViewRequest;

/* Notes one header field; its value must outlive the fields. */
void ptc_view_fields_add(PtcViewFields *fields, PtcText name, PtcText value);
/* Who asks, how, and for what, in this order; the path is as it was sent. */
PtcViewRequest ptc_view_request_judge(const PtcViewPlace *place, const PtcViewFields *fields,
                                      PtcText method, PtcText path);

#endif
