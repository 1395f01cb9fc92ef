/* SPDX-License-Identifier: MIT
 * oauth_client.h - who we are for an authorization server. */
#ifndef PTC_OAUTH_OAUTH_CLIENT_H
#define PTC_OAUTH_OAUTH_CLIENT_H

#include "oauth/oauth_metadata.h"
#include "oauth/oauth_work.h"

#define PTC_OAUTH_DEVICE_GRANT "urn:ietf:params:oauth:grant-type:device_code"

/* What the entry of an upstream says; texts are borrowed, NULL: nothing. */
typedef struct PtcOauthSite {
    const char *url; /* of the upstream */
    const char *client_id, *client_secret, *client_id_url;
    const char *private_key_file; /* that the client signs with, instead of a secret */
    const char *scopes;           /* words with blanks between them */
    int callback_port;            /* 0: a free one */
    bool insecure_http;
} PtcOauthSite;

/* The configured client, else a document, else one that is registered now.  `redirect` is where the answer goes; NULL:
 * the device grant needs none.  False with a why. */
PTC_MUST_USE bool ptc_oauth_client_choose(PtcOauthWork *w, const PtcOauthSite *site,
                                          const PtcOauthServer *server, const char *redirect,
                                          const char *scope, PtcOauthClient *out);

#endif
