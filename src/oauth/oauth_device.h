/* SPDX-License-Identifier: MIT
 * oauth_device.h - the device grant (RFC 8628): a person types a code on any machine while we ask again and again. */
#ifndef PTC_OAUTH_OAUTH_DEVICE_H
#define PTC_OAUTH_OAUTH_DEVICE_H

#include "oauth/oauth_client.h"

/* What a person is shown: an address to open, and a code to type there (NULL: none). */
typedef struct PtcOauthPerson {
    void (*show)(void *user, const char *url, const char *code);
    /* Asks for the address that the browser ended at; false: none came. */
    bool (*paste)(void *user, PtcBuf *address);
    void *user;
} PtcOauthPerson;

PTC_MUST_USE bool ptc_oauth_device(PtcOauthWork *w, const PtcOauthServer *server,
                                   const PtcOauthClient *client, const char *resource,
                                   const char *scope, const PtcOauthPerson *person,
                                   PtcOauthTokens *out);

#endif
