/* SPDX-License-Identifier: MIT
 * sign_in.h - OAuth for one upstream: its token in requests, another one when it is refused, and what a person is told
 * who has to sign in.  sign_in_flow.h does that. */
#ifndef PTC_UPSTREAM_CONNECT_SIGN_IN_H
#define PTC_UPSTREAM_CONNECT_SIGN_IN_H

#include "oauth/oauth_bearer.h"
#include "oauth/oauth_client.h"
#include "upstream/config/secret_ring.h"

typedef struct PtcSignIn {
    const PtcEntry *entry;
    PtcSecretRing secrets;
    PtcOauthPlace place;
    PtcOauthBearer bearer; /* place NULL: there is none for tokens */
    PtcCancel cancel;      /* asked when the process ends */
    /* It is held by the thread that gets a token with the client's own credentials, so that others wait and use
     * that one.  It guards no member; the lock of the HTTP client is taken inside. */
    pthread_mutex_t turn;
} PtcSignIn;

/* `shelf` NULL: nothing is kept.  It must not move. */
void ptc_sign_in_init(PtcSignIn *s, const PtcEntry *entry, PtcShelf *shelf,
                      const PtcCredentials *credentials);
/* Also one that was never initialised, but is all zeros. */
void ptc_sign_in_deinit(PtcSignIn *s);

/* May a token go to the address of the entry?  NULL, or why not: a constant text. */
const char *ptc_sign_in_forbidden(const PtcEntry *entry);
/* Adds the header with the token, unless the lines have an Authorization already, or nobody has signed in and the entry
 * does not ask for it; where the client has credentials of its own, nobody need have.  Any thread; may ask the
 * authorization server for another token.  False: why says what. */
PTC_MUST_USE bool ptc_sign_in_add(PtcSignIn *s, PtcClient *http, PtcBuf *lines, PtcWhy *why);
/* The upstream answered 401 or 403 to a request with these lines.  True: there is another token, so it may be sent
 * again. */
PTC_MUST_USE bool ptc_sign_in_again(PtcSignIn *s, PtcClient *http, int status,
                                    const char *challenge, PtcText lines, PtcWhy *why);
/* What to tell about a refusal, with the command to run where that helps.  `own` is what went wrong here; absent: the
 * upstream refused. */
void ptc_sign_in_tell(const PtcSignIn *s, PtcText own, char *out, size_t size);
/* Appends what tells this account from others. */
void ptc_sign_in_account(const PtcSignIn *s, PtcBuf *out);

/* What a sign-in needs to know, from the entry.  Texts live in the arena.  False: out of memory. */
PTC_MUST_USE bool ptc_sign_in_site(PtcArena *arena, PtcHeap *heap, const PtcEntry *entry,
                                   PtcOauthSite *out);

#endif
