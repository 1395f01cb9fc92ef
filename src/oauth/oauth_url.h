/* SPDX-License-Identifier: MIT
 * oauth_url.h - addresses of OAuth: where metadata lies, forms and queries, what a redirect brought. */
#ifndef PTC_OAUTH_OAUTH_URL_H
#define PTC_OAUTH_OAUTH_URL_H

#include "net/url.h"

enum { PTC_OAUTH_URL_PLACES = 3 };

typedef struct PtcOauthPlaces {
    size_t count;
    char urls[PTC_OAUTH_URL_PLACES][PTC_URL_BYTES + 1];
} PtcOauthPlaces;

/* Where a protected resource says what it is (RFC 9728): for its path, then for its server. */
void ptc_oauth_url_of_resource(const char *url, PtcOauthPlaces *out);
/* Where an authorization server does (RFC 8414, then OpenID Connect in both forms). */
void ptc_oauth_url_of_issuer(const char *issuer, PtcOauthPlaces *out);

/* Is `url` on the server of `resource`, at its path or below? */
bool ptc_oauth_url_covers(const char *resource, const char *url);

/* Appends name=value, percent-encoded, after & unless the form is empty.  NULL: nothing is added. */
void ptc_oauth_url_add(PtcBuf *form, const char *name, const char *value);
/* An address with a form as its query, behind the one it may have. */
void ptc_oauth_url_with(PtcBuf *out, const char *address, const PtcBuf *form);

typedef enum {
    PTC_OAUTH_PARAM_FOUND,
    PTC_OAUTH_PARAM_MISSING,
    PTC_OAUTH_PARAM_WRONG
} PtcOauthParam;
/* The value of a parameter in the query of an address, decoded into `out`, ended by a NUL.  Wrong: it stands there
 * twice, is too long, or is not plain ASCII. */
PtcOauthParam ptc_oauth_url_param(PtcText address, const char *name, char *out, size_t size);

#endif
