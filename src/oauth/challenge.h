/* SPDX-License-Identifier: MIT
 * challenge.h - what a server says with 401 and 403: the Bearer challenge of WWW-Authenticate (RFC 6750, 9728). */
#ifndef PTC_OAUTH_CHALLENGE_H
#define PTC_OAUTH_CHALLENGE_H

#include "net/url.h"

enum { PTC_CHALLENGE_SCOPE = 1024, PTC_CHALLENGE_ERROR = 64 };

/* Parameters that are not there, are too long, or have something else than printable ASCII in them are "". */
typedef struct PtcChallenge {
    bool bearer;                      /* there was one */
    char metadata[PTC_URL_BYTES + 1]; /* resource_metadata */
    char scope[PTC_CHALLENGE_SCOPE + 1];
    char error[PTC_CHALLENGE_ERROR + 1];
} PtcChallenge;

/* The first Bearer challenge among all that the header has; what cannot be read is left out. */
void ptc_challenge_parse(PtcText header, PtcChallenge *out);

#endif
