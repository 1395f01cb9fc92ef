/* SPDX-License-Identifier: MIT
 * http_guard.h - who may speak to the HTTP server: Host and Origin rules, bearer tokens, and a brake on
 * guessing them.  No sockets here. */
#ifndef PTC_MCP_HTTP_HTTP_GUARD_H
#define PTC_MCP_HTTP_HTTP_GUARD_H

#include <pthread.h>
#include <stdint.h>

#include "mcp/http/http_brake.h"
#include "mcp/http/http_head.h"
#include "mcp/http/http_tokens.h"

enum {
    PTC_HTTP_NAMES_MAX = 32, /* additional hosts, additional origins */
    PTC_HTTP_NAME_MAX = 256,
    PTC_HTTP_SAME_TOKEN_MAX = 10,   /* a wrong token within a minute, from wherever ... */
    PTC_HTTP_PEER_TOKENS_MAX = 100, /* ... and wrong tokens from one address */
};

/* A peer: an IPv4 address, also one that is written as IPv6, or the first 64 bits of an IPv6 one, since a host owns all
 * below them. */
typedef struct PtcHttpPeer {
    uint64_t high;
    bool v6;
} PtcHttpPeer;

typedef struct PtcHttpNames {
    size_t count;
    char name[PTC_HTTP_NAMES_MAX][PTC_HTTP_NAME_MAX]; /* NUL-ended, lower case */
} PtcHttpNames;

/* Names are fixed before the server starts, so readers need no lock. */
typedef struct PtcHttpGuard {
    bool loopback; /* bound to this machine only: foreign Host names are refused */
    PtcHttpNames hosts, origins;
    pthread_rwlock_t lock; /* for the tokens, which may be replaced */
    PtcHttpTokens tokens;
    PtcHttpBrake brake;
    PtcMem *mem;
} PtcHttpGuard;

/* False: no memory. */
PTC_MUST_USE bool ptc_http_guard_init(PtcHttpGuard *guard, PtcMem *mem, bool loopback);
void ptc_http_guard_deinit(PtcHttpGuard *guard);

/* Takes these tokens in place of those it has, which are the caller's then. */
void ptc_http_guard_replace(PtcHttpGuard *guard, PtcHttpTokens *tokens);
/* Has this owner a token (or is none asked for)? */
bool ptc_http_guard_has_owner(PtcHttpGuard *guard, const char *owner);

/* Adds a name to a list: a Host (`mcp.example.com`, no port) or an Origin (`https://app.example.com`). */
const char *ptc_http_names_add(PtcHttpNames *names, const char *name);

typedef enum {
    PTC_HTTP_PASS,
    PTC_HTTP_BAD_HOST,     /* 403 */
    PTC_HTTP_BAD_ORIGIN,   /* 403 */
    PTC_HTTP_NO_TOKEN,     /* 401 */
    PTC_HTTP_WRONG_TOKEN,  /* 401 */
    PTC_HTTP_TOO_MANY_BAD, /* 429: wrong, and not for the first time */
} PtcHttpVerdict;

/* Host and Origin. */
PtcHttpVerdict ptc_http_guard_place(const PtcHttpGuard *guard, const PtcHttpHead *head);

/* The bearer token.  On PTC_HTTP_PASS `owner` is the name of its owner, "" when no token is asked for. */
PtcHttpVerdict ptc_http_guard_token(PtcHttpGuard *guard, const PtcHttpHead *head, PtcHttpPeer peer,
                                    int64_t now_ns, char owner[PTC_HTTP_OWNER_MAX]);
/* Is the Origin one of those that were added?  Only they are told that they may read answers (CORS). */
bool ptc_http_guard_lists_origin(const PtcHttpGuard *guard, PtcText origin);

/* Whether a host name (with or without port, brackets around IPv6) names this machine. */
bool ptc_http_is_local_name(PtcText host);

#endif
