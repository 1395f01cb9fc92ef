/* SPDX-License-Identifier: MIT
 * http_bind.h - from ADDRESS:PORT to a listening socket. */
#ifndef PTC_MCP_HTTP_HTTP_BIND_H
#define PTC_MCP_HTTP_HTTP_BIND_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/why.h"

typedef union PtcHttpAddress {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} PtcHttpAddress;

/* Reads `127.0.0.1:7332`, `[::1]:7332`, `localhost:7332`; no names are looked up.  False with a text in `why`. */
PTC_MUST_USE bool ptc_http_address_parse(PtcHttpAddress *address, const char *text, PtcWhy *why);
/* Can only this machine reach it? */
bool ptc_http_address_is_local(const PtcHttpAddress *address);
/* A socket that listens there; *address becomes the one it got.  -1 with a text in `why`. */
PTC_MUST_USE int ptc_http_listen(PtcHttpAddress *address, PtcWhy *why);
unsigned ptc_http_address_port(const PtcHttpAddress *address);

#endif
