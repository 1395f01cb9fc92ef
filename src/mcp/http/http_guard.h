/* SPDX-License-Identifier: MIT
 * http_guard.h - who may speak to the HTTP server: Host and Origin rules, bearer tokens, and a brake on
 * guessing them.  No sockets here. */
#ifndef PTC_MCP_HTTP_HTTP_GUARD_H
#define PTC_MCP_HTTP_HTTP_GUARD_H

#include <pthread.h>
#include <stdint.h>

#include "base/mem.h"
#include "mcp/http/http_head.h"

enum {
    PTC_HTTP_TOKENS_MAX = 64,
    PTC_HTTP_TOKEN_MIN = 16, /* bytes; shorter ones can be guessed */
    PTC_HTTP_TOKEN_MAX = 256,
    PTC_HTTP_OWNER_MAX = 64,
    PTC_HTTP_NAMES_MAX = 32, /* additional hosts, additional origins */
    PTC_HTTP_NAME_MAX = 256,
    PTC_HTTP_FAILURES_MAX = 10,     /* wrong tokens from one address ... */
    PTC_HTTP_FAILURE_WINDOW_S = 60, /* ... within this time; then it waits for the time to end */
    PTC_HTTP_PEERS = 1024,          /* addresses remembered at once; the oldest give way */
};

/* A peer: an IPv4 address, or the first 64 bits of an IPv6 one, since a host owns all below them. */
typedef struct PtcHttpPeer {
    uint64_t high;
    bool v6;
} PtcHttpPeer;

typedef struct PtcHttpToken {
    size_t len;
    char bytes[PTC_HTTP_TOKEN_MAX]; /* zeros behind the token */
    char owner[PTC_HTTP_OWNER_MAX];
} PtcHttpToken;

typedef struct PtcHttpFailures {
    PtcHttpPeer peer;
    uint32_t count; /* 0: free */
    int64_t since_ns;
} PtcHttpFailures;

typedef struct PtcHttpNames {
    size_t count;
    char name[PTC_HTTP_NAMES_MAX][PTC_HTTP_NAME_MAX]; /* NUL-ended, lower case */
} PtcHttpNames;

/* Everything but `failures` is fixed before the server starts, so readers need no lock. */
typedef struct PtcHttpGuard {
    bool loopback; /* bound to this machine only: foreign Host names are refused */
    PtcHttpToken *token;
    size_t token_count;
    PtcHttpNames hosts, origins;
    pthread_mutex_t lock;
    PtcHttpFailures *failures; /* PTC_HTTP_PEERS of them, in sets of PEER_WAYS */
    PtcMem *mem;
} PtcHttpGuard;

/* False: no memory. */
PTC_MUST_USE bool ptc_http_guard_init(PtcHttpGuard *guard, PtcMem *mem, bool loopback);
void ptc_http_guard_deinit(PtcHttpGuard *guard);

/* Adds a token of `owner`.  NULL, or a constant text that says why it cannot be one. */
const char *ptc_http_guard_add_token(PtcHttpGuard *guard, const char *token, size_t len,
                                     const char *owner, size_t owner_len);

/* Adds the tokens of a file's text: a line holds `TOKEN` or `OWNER TOKEN`; empty lines and lines that start
 * with # are skipped.  A token without owner belongs to "default".  NULL or why not; *line is where. */
const char *ptc_http_guard_add_tokens(PtcHttpGuard *guard, const char *text, size_t len,
                                      size_t *line);

/* Adds a name to a list: a Host (`mcp.example.com`, no port) or an Origin (`https://app.example.com`). */
const char *ptc_http_names_add(PtcHttpNames *names, const char *name);

typedef enum {
    PTC_HTTP_PASS,
    PTC_HTTP_BAD_HOST,     /* 403 */
    PTC_HTTP_BAD_ORIGIN,   /* 403 */
    PTC_HTTP_NO_TOKEN,     /* 401 */
    PTC_HTTP_WRONG_TOKEN,  /* 401 */
    PTC_HTTP_TOO_MANY_BAD, /* 429 */
} PtcHttpVerdict;

/* Host and Origin. */
PtcHttpVerdict ptc_http_guard_place(const PtcHttpGuard *guard, const PtcHttpHead *head);

/* The bearer token.  On PTC_HTTP_PASS *owner is the name of its owner, "" when no token is asked for. */
PtcHttpVerdict ptc_http_guard_token(PtcHttpGuard *guard, const PtcHttpHead *head, PtcHttpPeer peer,
                                    int64_t now_ns, const char **owner);

/* Whether a host name (with or without port, brackets around IPv6) names this machine. */
bool ptc_http_is_local_name(PtcText host);

#endif
