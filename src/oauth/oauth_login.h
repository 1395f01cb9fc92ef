/* SPDX-License-Identifier: MIT
 * oauth_login.h - a sign-in from beginning to end, with a person. */
#ifndef PTC_OAUTH_OAUTH_LOGIN_H
#define PTC_OAUTH_OAUTH_LOGIN_H

#include "oauth/oauth_device.h"
#include "oauth/oauth_discover.h"
#include "oauth/oauth_store.h"

enum {
    PTC_OAUTH_LOGIN_MS = 10 * 60 * 1000,
    PTC_OAUTH_STEP_UPS = 2, /* how often the upstream may ask for more scopes */
};

typedef enum {
    PTC_OAUTH_BROWSER, /* the answer comes to a port of this machine */
    PTC_OAUTH_DEVICE,  /* a code is typed on any machine */
    PTC_OAUTH_PASTE,   /* the person copies the address that the browser ends at */
    PTC_OAUTH_CLIENT,  /* there is no person: the client has credentials of its own */
} PtcOauthWay;

/* Blocks until it is done, the time of the work is over or it is cancelled.  `before` is what the last sign-in left,
 * for the scopes that the upstream wanted since; NULL: none.  The texts of the record live in the arena of the work.
 * False with a why. */
PTC_MUST_USE bool ptc_oauth_login(PtcOauthWork *w, const PtcOauthSite *site, PtcOauthWay way,
                                  const PtcOauthPerson *person, const PtcOauthRecord *before,
                                  PtcOauthRecord *out);

#endif
