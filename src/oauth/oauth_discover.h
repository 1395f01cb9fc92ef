/* SPDX-License-Identifier: MIT
 * oauth_discover.h - from the address of an upstream to its authorization server. */
#ifndef PTC_OAUTH_OAUTH_DISCOVER_H
#define PTC_OAUTH_OAUTH_DISCOVER_H

#include "oauth/challenge.h"
#include "oauth/oauth_metadata.h"
#include "oauth/oauth_work.h"

typedef struct PtcOauthPlan {
    PtcOauthResource resource;
    PtcOauthServer server;
} PtcOauthPlan;

/* What the upstream answers to a request that does nothing, with this token (NULL: none): its status and its challenge.
 * Also notes in the work whether it is inside.  False with a why: no answer came. */
PTC_MUST_USE bool ptc_oauth_discover_ask(PtcOauthWork *w, const char *url, const char *token,
                                         int *status, PtcChallenge *challenge);

/* The challenge says where to begin; without its help the well-known places are tried.  False with a why. */
PTC_MUST_USE bool ptc_oauth_discover(PtcOauthWork *w, const char *url,
                                     const PtcChallenge *challenge, PtcOauthPlan *out);

#endif
