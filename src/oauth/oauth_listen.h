/* SPDX-License-Identifier: MIT
 * oauth_listen.h - a port of this machine, and no other's, at which a browser brings the answer of an authorization
 * server. */
#ifndef PTC_OAUTH_OAUTH_LISTEN_H
#define PTC_OAUTH_OAUTH_LISTEN_H

#include "base/budget.h"
#include "base/buf.h"

typedef struct PtcOauthListen {
    int fd;
    char redirect[64]; /* the address to be redirected to */
} PtcOauthListen;

/* `port` 0: a free one.  False: it cannot be had. */
PTC_MUST_USE bool ptc_oauth_listen_open(PtcOauthListen *listen, int port);
/* Waits for the answer with this state and appends the address that it came to.  False: the time is over, it was
 * cancelled, or out of memory. */
PTC_MUST_USE bool ptc_oauth_listen_wait(PtcOauthListen *listen, const char *state, int64_t end_ns,
                                        const PtcCancel *cancel, PtcBuf *address);
void ptc_oauth_listen_close(PtcOauthListen *listen);

#endif
