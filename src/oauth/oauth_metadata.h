/* SPDX-License-Identifier: MIT
 * oauth_metadata.h - what a protected resource (RFC 9728) and an authorization server (RFC 8414, OpenID Connect) say of
 * themselves.  Readers say what is wrong.  Texts live in the arena. */
#ifndef PTC_OAUTH_OAUTH_METADATA_H
#define PTC_OAUTH_OAUTH_METADATA_H

#include "base/arena.h"
#include "base/text.h"
#include "base/why.h"

enum { PTC_OAUTH_SERVERS = 4 }; /* of a resource; further ones are not tried */

typedef struct PtcOauthResource {
    const char *resource; /* its name in requests: covers the address that was asked */
    const char *scopes;   /* words; NULL: it says none */
    const char *issuers[PTC_OAUTH_SERVERS]; /* of its authorization servers */
    size_t issuer_count;
} PtcOauthResource;

PTC_MUST_USE bool ptc_oauth_metadata_resource(PtcMem *mem, PtcArena *arena, PtcText json,
                                              const char *url, PtcOauthResource *out, PtcWhy *why);

typedef struct PtcOauthServer {
    const char *issuer;
    const char *authorize, *token, *registration, *device; /* addresses; NULL: it has none */
    bool s256;                                             /* PKCE as we do it */
    bool iss;       /* its redirects say who it is (RFC 9207) */
    bool documents; /* the address of a document is taken as a client's id */
    bool offline;   /* it knows the scope offline_access */
    bool assumed;   /* it says nothing of itself: these are the addresses that it has by default */
    bool none, basic, post; /* how clients may authenticate; none of them: it does not say */
} PtcOauthServer;

/* `issuer` is who we take it for, and it must say exactly that. */
PTC_MUST_USE bool ptc_oauth_metadata_server(PtcMem *mem, PtcArena *arena, PtcText json,
                                            const char *issuer, PtcOauthServer *out, PtcWhy *why);

#endif
