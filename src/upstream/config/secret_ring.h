/* SPDX-License-Identifier: MIT
 * secret_ring.h - secrets that are replaced again and again, such as tokens: the last ones are hidden, and those that
 * have not been used for long are forgotten, so that neither memory nor the time of a search grows with the age of the
 * process. */
#ifndef PTC_UPSTREAM_CONFIG_SECRET_RING_H
#define PTC_UPSTREAM_CONFIG_SECRET_RING_H

#include "upstream/config/credentials.h"

enum { PTC_SECRET_RING = 16 }; /* several tokens, each with what replaces it */

typedef struct PtcSecretRing {
    const PtcCredentials *credentials; /* where they are hidden */
    /* It guards the list.  Threads that send requests take it; the lock of the secrets is taken inside. */
    pthread_mutex_t lock;
    char *recent[PTC_SECRET_RING]; /* last used first; NULL: none */
} PtcSecretRing;

void ptc_secret_ring_init(PtcSecretRing *ring, const PtcCredentials *credentials);
/* What is hidden stays hidden.  Also one that was never initialised, but is all zeros. */
void ptc_secret_ring_deinit(PtcSecretRing *ring);
/* To be called before a secret is used, by any thread.  False: out of memory, so it cannot be hidden. */
PTC_MUST_USE bool ptc_secret_ring_learn(PtcSecretRing *ring, PtcText secret);

#endif
