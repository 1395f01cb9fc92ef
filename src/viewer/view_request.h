/* SPDX-License-Identifier: MIT
 * view_request.h - what a browser asks the viewer for: one request head, judged.  No sockets here.
 *
 * Only GET and HEAD are served, only to those who know the secret in the path, and only under a name that a page of
 * somebody else cannot have in its address (DNS rebinding): the Host is 127.0.0.1 or localhost with our port. */
#ifndef PTC_VIEWER_VIEW_REQUEST_H
#define PTC_VIEWER_VIEW_REQUEST_H

#include "base/text.h"

#include "base/units.h"

enum {
    PTC_VIEW_HEAD = 16 * PTC_KB, /* bytes of a request head */
    PTC_VIEW_SECRET = 32,        /* hexadecimal digits of a secret */
};

typedef enum {
    PTC_VIEW_REFUSED, /* status says how */
    PTC_VIEW_FILE,    /* a part of the page, by its name */
    PTC_VIEW_LIST,    /* the traces there are */
    PTC_VIEW_TRACE,   /* one of them, by its number */
    PTC_VIEW_DOOR,    /* the address that was handed to a browser: it leads to the page, once */
} PtcViewKind;

/* Who we are. */
typedef struct PtcViewPlace {
    unsigned port;
    char secret[PTC_VIEW_SECRET + 1]; /* in front of every path */
    char door[PTC_VIEW_SECRET + 1];   /* "" once it was used */
} PtcViewPlace;

typedef struct PtcViewRequest {
    PtcViewKind kind;
    int status; /* of a refusal */
    bool head;  /* HEAD: no body */
    PtcText name;
    size_t number;
} PtcViewRequest;

/* The length of a head with its empty line, 0 when it has not ended yet. */
size_t ptc_view_request_end(PtcText bytes);
/* Reads a whole head; texts of the request point into it. */
PtcViewRequest ptc_view_request_read(const PtcViewPlace *place, PtcText head);

#endif
