/* SPDX-License-Identifier: MIT
 * oauth_bearer.h - the token for a request, from the file that a sign-in left; replaced before it ends and when it is
 * refused.
 *
 * Any thread of any process may ask: the file is read for every request, and whoever replaces a token holds the file's
 * lock, so a refresh token, which may be good once, is used once.  Nobody is ever asked to sign in here. */
#ifndef PTC_OAUTH_OAUTH_BEARER_H
#define PTC_OAUTH_OAUTH_BEARER_H

#include "oauth/oauth_store.h"
#include "oauth/oauth_work.h"

typedef struct PtcOauthBearer {
    PtcMem *mem;
    const PtcOauthPlace *place; /* NULL: there is none, and nothing below is called */
    bool insecure_http;
    const PtcCancel *cancel;
    /* Told of every secret before anybody else sees it; false: it cannot be kept from others, so it is not used. */
    bool (*learn)(void *user, const char *secret);
    void *user;
} PtcOauthBearer;

typedef enum {
    PTC_OAUTH_HAVE,
    PTC_OAUTH_NO_LOGIN, /* nobody has signed in */
    PTC_OAUTH_FAILED,   /* why says what */
} PtcOauthHave;

/* Appends the token. */
PTC_MUST_USE PtcOauthHave ptc_oauth_bearer_get(const PtcOauthBearer *bearer, PtcClient *http,
                                               PtcBuf *token, PtcWhy *why);
/* The upstream refused this token: is there another one now?  False: why says what. */
PTC_MUST_USE bool ptc_oauth_bearer_renew(const PtcOauthBearer *bearer, PtcClient *http,
                                         PtcText used, PtcWhy *why);
/* The upstream wants these scopes as well: noted for the next sign-in. */
void ptc_oauth_bearer_want(const PtcOauthBearer *bearer, const char *scopes);
/* Appends what tells this account from others; nothing if nobody has signed in. */
void ptc_oauth_bearer_account(const PtcOauthBearer *bearer, PtcBuf *out);

#endif
