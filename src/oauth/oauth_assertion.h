/* SPDX-License-Identifier: MIT
 * oauth_assertion.h - a client that says who it is by signing (private_key_jwt, RFC 7523). */
#ifndef PTC_OAUTH_OAUTH_ASSERTION_H
#define PTC_OAUTH_OAUTH_ASSERTION_H

#include "oauth/oauth_work.h"

/* Adds client_assertion and its type to a form: a JWT that is good for a minute, signed with the key in the client's
 * file (PEM; RSA: RS256, P-256: ES256).  False with a why. */
PTC_MUST_USE bool ptc_oauth_assertion_add(PtcOauthWork *w, const PtcOauthClient *client,
                                          PtcBuf *form);

#endif
