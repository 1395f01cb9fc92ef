/* SPDX-License-Identifier: MIT
 * oauth_redirect.h - the address that a browser was sent to with the answer of an authorization server. */
#ifndef PTC_OAUTH_OAUTH_REDIRECT_H
#define PTC_OAUTH_OAUTH_REDIRECT_H

#include "oauth/oauth_metadata.h"

enum { PTC_OAUTH_CODE = 4096 };

typedef struct PtcOauthRedirect {
    char code[PTC_OAUTH_CODE + 1];
    char error[64], description[256]; /* "": not said */
} PtcOauthRedirect;

/* Does it answer the request with this state?  Anybody can send a browser, or a program, to that address. */
bool ptc_oauth_redirect_is_ours(PtcText address, const char *state);

/* Does it answer the request with this state, of this server, and has it a code?  Where not, error and description
 * have what the server said. */
PTC_MUST_USE bool ptc_oauth_redirect_read(PtcText address, const char *state,
                                          const PtcOauthServer *server, PtcOauthRedirect *out,
                                          PtcWhy *why);

#endif
