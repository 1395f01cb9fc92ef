/* SPDX-License-Identifier: MIT
 * http_guard.h - who may speak to the HTTP server: Host and Origin rules, bearer tokens, and a brake on guessing
 * them.  No sockets here. */
#ifndef PTC_MCP_HTTP_HTTP_GUARD_H
#define PTC_MCP_HTTP_HTTP_GUARD_H

#include <pthread.h>
#include <stdint.h>

#include "base/why.h"
#include "mcp/http/http_brake.h"
#include "mcp/http/http_head.h"
#include "mcp/http/http_tokens.h"

enum {
    PTC_HTTP_NAMES_MAX = 32, /* additional hosts, additional origins */
    PTC_HTTP_NAME_MAX = 256,
    PTC_HTTP_SAME_TOKEN_MAX = 10,   /* the same wrong token within a minute, from anywhere ... */
    PTC_HTTP_PEER_TOKENS_MAX = 100, /* ... and wrong tokens from one address */
};

/* A peer: an IPv4 address, also when written as IPv6, or the first 64 bits of an IPv6 address, because one host owns
 * everything below them. */
typedef struct PtcHttpPeer {
    uint64_t high;
    bool v6;
} PtcHttpPeer;

typedef struct PtcHttpNames {
    size_t count;
    char name[PTC_HTTP_NAMES_MAX][PTC_HTTP_NAME_MAX]; /* NUL-terminated, lower case */
} PtcHttpNames;

/* Names are fixed before the server starts, so reading them needs no lock. */
typedef struct PtcHttpGuard {
    bool loopback; /* bound to this machine only: other Host names are refused */
    PtcHttpNames hosts, origins;
    /* It guards the tokens: requests read them under it, many at once, and the thread that has read a new file of
     * tokens writes.  No other lock is taken inside. */
    pthread_rwlock_t lock;
    PtcHttpTokens tokens;
    PtcHttpBrake brake;
    PtcMem *mem;
} PtcHttpGuard;

/* False: out of memory. */
PTC_MUST_USE bool ptc_http_guard_init(PtcHttpGuard *guard, PtcMem *mem, bool loopback);
void ptc_http_guard_deinit(PtcHttpGuard *guard);

/* Swaps in these tokens; those it had become the caller's. */
void ptc_http_guard_replace(PtcHttpGuard *guard, PtcHttpTokens *tokens);
/* Does this owner have a token (or is none required)? */
bool ptc_http_guard_has_owner(PtcHttpGuard *guard, const char *owner);

/* Adds a name to a list: a Host (`mcp.example.com`, no port) or an Origin (`https://app.example.com`). */
PTC_MUST_USE bool ptc_http_names_add(PtcHttpNames *names, const char *name, PtcWhy *why);

typedef enum {
    PTC_HTTP_PASS,
    PTC_HTTP_BAD_HOST,     /* 403 */
    PTC_HTTP_BAD_ORIGIN,   /* 403 */
    PTC_HTTP_NO_TOKEN,     /* 401 */
    PTC_HTTP_WRONG_TOKEN,  /* 401 */
    PTC_HTTP_TOO_MANY_BAD, /* 429: wrong, and too often */
} PtcHttpVerdict;

/* Host and Origin. */
PtcHttpVerdict ptc_http_guard_place(const PtcHttpGuard *guard, const PtcHttpHead *head);

/* The bearer token.  On PTC_HTTP_PASS `owner` is the name of its owner, "" when no token is required. */
PtcHttpVerdict ptc_http_guard_token(PtcHttpGuard *guard, const PtcHttpHead *head, PtcHttpPeer peer,
                                    int64_t now_ns, char owner[PTC_HTTP_OWNER_MAX]);
/* Is the Origin one of those that were added?  Only they are told that they may read answers (CORS). */
bool ptc_http_guard_lists_origin(const PtcHttpGuard *guard, PtcText origin);

/* Does a host name (with or without port, brackets around IPv6) name this machine? */
bool ptc_http_is_local_name(PtcText host);

#endif
