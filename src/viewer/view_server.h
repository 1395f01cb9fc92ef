/* SPDX-License-Identifier: MIT
 * view_server.h - serves the viewer's page and trace files to a browser on this machine.
 *
 * One thread, a bounded number of connections, one request on each; whoever is slow to ask or to read is dropped.  It
 * listens on 127.0.0.1 only and answers nobody who does not know the secret in its address.  libmicrohttpd speaks
 * HTTP for it. */
#ifndef PTC_VIEWER_VIEW_SERVER_H
#define PTC_VIEWER_VIEW_SERVER_H

#include "base/why.h"
#include "viewer/view_files.h"

enum {
    PTC_VIEW_CONNECTIONS = 32,
    PTC_VIEW_HEAD_MS = 10000,  /* for a request to arrive */
    PTC_VIEW_STALL_MS = 60000, /* without a byte being read by the browser */
    PTC_VIEW_ADDRESS = 128,    /* room for an address */
};

typedef struct PtcViewServer PtcViewServer;

/* Calls that wait for a person, for whoever looks at them here; where there is none the page gets null. */
typedef struct PtcViewDesk {
    bool (*list)(void *user, PtcBuf *out); /* a JSON array; false: out says why not */
    /* `body` is JSON, from anybody who may see the page; a JSON object with "error" if it was not accepted. */
    void (*answer)(void *user, PtcText body, PtcBuf *out);
    void *user;
} PtcViewDesk;

/* Port 0: any.  The files, and the desk (NULL: there is none), are borrowed.  NULL with a text in why. */
PTC_MUST_USE PtcViewServer *ptc_view_server_new(PtcMem *mem, PtcViewFiles *files,
                                                const PtcViewDesk *desk, unsigned port,
                                                PtcWhy *why);
void ptc_view_server_free(PtcViewServer *server);

/* The address of the page; and one that leads there once, which may be seen by others after it was used, as arguments
 * of a process are. */
void ptc_view_server_address(const PtcViewServer *server, char address[PTC_VIEW_ADDRESS]);
void ptc_view_server_door(const PtcViewServer *server, char address[PTC_VIEW_ADDRESS]);

/* Serves until the descriptor `stop` is readable. */
void ptc_view_server_run(PtcViewServer *server, int stop);

#endif
