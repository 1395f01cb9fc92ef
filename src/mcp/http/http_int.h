/* SPDX-License-Identifier: MIT
 * http_int.h - the HTTP server as seen by http.c, which runs it, by http_stop.c, which ends it, and by http_calls.c,
 * which libmicrohttpd calls. */
#ifndef PTC_MCP_HTTP_HTTP_INT_H
#define PTC_MCP_HTTP_HTTP_INT_H

#include "mcp/http/http.h"
#include "mcp/http/http_bind.h"
#include "mcp/http/http_conn.h"
#include "mcp/http/http_mhd.h"

struct PtcHttp {
    PtcHttpShared shared;
    PtcHttpConns conns;
    PtcMhd mhd;
    struct MHD_Daemon *daemon;
    PtcHttpAddress address;
    int listen_fd, signal_fd;
    int64_t leave_ns, drain_ns;
    int64_t ticked_ns, swept_ns;
    int64_t accept_ns, complained_ns; /* not accepting before; when that was last said */
    PtcHttpReload *reload;            /* or NULL */
    void *reload_user;
    void (*again)(void *user); /* or NULL */
    void *again_user;
};

typedef enum { PTC_HTTP_SERVES, PTC_HTTP_IS_TO_LEAVE, PTC_HTTP_IS_TO_STOP } PtcHttpAsked;

/* ---- http.c */
/* Waits for events, at most so long, and sees to everything.  What signals that came asked for. */
PtcHttpAsked ptc_http_watch(PtcHttp *http, int most_ms);
/* Takes connections that wait to be accepted; false: no more do. */
bool ptc_http_accept(PtcHttp *http);

/* ---- http_stop.c */
/* From serving to the moment when no connection is left, or the time for that is over. */
void ptc_http_stop(PtcHttp *http, PtcHttpAsked asked);

/* ---- http_calls.c; user is the PtcHttp */
void ptc_http_on_connection(void *user, struct MHD_Connection *connection, void **socket_context,
                            enum MHD_ConnectionNotificationCode what);
/* Decodes a path or a name in it, in place. */
size_t ptc_http_on_escapes(void *user, struct MHD_Connection *connection, char *text);
void *ptc_http_on_uri(void *user, const char *uri, struct MHD_Connection *connection);
enum MHD_Result ptc_http_on_request(void *user, struct MHD_Connection *connection, const char *path,
                                    const char *verb, const char *version, const char *bytes,
                                    size_t *len, void **state);
void ptc_http_on_completed(void *user, struct MHD_Connection *connection, void **state,
                           enum MHD_RequestTerminationCode how);

#endif
