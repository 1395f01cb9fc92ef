/* SPDX-License-Identifier: MIT
 * A ring of the last secrets of one source, such as its tokens. */
#include "upstream/config/secret_ring.h"

#include "base/text/secret.h"

void ptc_secret_ring_init(PtcSecretRing *r, const PtcCredentials *credentials)
{
    *r = (PtcSecretRing){.credentials = credentials};
    pthread_mutex_init(&r->lock, NULL);
}

static void free_ring_secret(PtcSecretRing *r, char *secret)
{
    size_t len = strlen(secret);
    ptc_secret_wipe(secret, len);
    ptc_mem_free(r->credentials->mem, secret, len + 1);
}

void ptc_secret_ring_deinit(PtcSecretRing *r)
{
    if (!r->credentials)
        return;
    for (size_t i = 0; i < PTC_SECRET_RING && r->recent[i]; i++)
        free_ring_secret(r, r->recent[i]);
    pthread_mutex_destroy(&r->lock);
    r->credentials = NULL;
}

/* With the lock held: puts a secret, which is at `at` or new, before the others. */
static void put_first(PtcSecretRing *r, char *secret, size_t at)
{
    memmove(r->recent + 1, r->recent, at * sizeof *r->recent);
    r->recent[0] = secret;
}

/* With the lock held.  The secret that was used longest ago leaves the ring and is no longer hidden: as a token it has
 * long expired. */
static bool learn_new(PtcSecretRing *r, PtcText secret)
{
    const PtcCredentials *c = r->credentials;
    size_t last = PTC_SECRET_RING - 1;
    char *copy = ptc_mem_alloc(c->mem, secret.len + 1);
    if (!copy)
        return false;
    memcpy(copy, secret.bytes, secret.len);
    copy[secret.len] = '\0';
    if (!ptc_credentials_hide(c, secret)) {
        free_ring_secret(r, copy);
        return false;
    }
    if (r->recent[last]) {
        ptc_credentials_unhide(c, ptc_text_cstr(r->recent[last]));
        free_ring_secret(r, r->recent[last]);
    }
    put_first(r, copy, last);
    return true;
}

bool ptc_secret_ring_learn(PtcSecretRing *r, PtcText secret)
{
    size_t at = 0;
    bool ok = true;
    pthread_mutex_lock(&r->lock);
    while (at < PTC_SECRET_RING && r->recent[at] && !ptc_text_is(secret, r->recent[at]))
        at++;
    if (at < PTC_SECRET_RING && r->recent[at])
        put_first(r, r->recent[at], at);
    else
        ok = learn_new(r, secret);
    pthread_mutex_unlock(&r->lock);
    return ok;
}
