/* SPDX-License-Identifier: MIT
 * oauth_work.h - one piece of work with an authorization server: its memory, its time, what went wrong, and requests
 * under the rules for addresses that a server has named.  Everything blocks, until `end_ns` at most. */
#ifndef PTC_OAUTH_OAUTH_WORK_H
#define PTC_OAUTH_OAUTH_WORK_H

#include "base/arena.h"
#include "net/client.h"
#include "oauth/oauth_answer.h"

typedef struct PtcOauthWork {
    PtcMem *mem;
    PtcClient *http;
    const PtcCancel *cancel; /* or NULL */
    int64_t end_ns;
    bool inside;        /* the upstream is on this machine or a private network, so others may be */
    bool insecure_http; /* its entry allows http */
    PtcArena arena;
    PtcWhy why; /* what went wrong; never has a secret in it */
} PtcOauthWork;

void ptc_oauth_work_init(PtcOauthWork *w, PtcMem *mem, PtcClient *http, const PtcCancel *cancel,
                         int64_t ms);
void ptc_oauth_work_deinit(PtcOauthWork *w);

/* May a person be sent there?  False sets why. */
PTC_MUST_USE bool ptc_oauth_work_allows(PtcOauthWork *w, const char *what, const char *url);

typedef struct PtcOauthReply {
    int status;
    PtcBuf body; /* whatever the status */
} PtcOauthReply;
void ptc_oauth_work_drop(PtcOauthReply *reply); /* wipes it */

/* False with a why: no answer came.  Drop the reply in any case. */
PTC_MUST_USE bool ptc_oauth_work_get(PtcOauthWork *w, const char *url, PtcOauthReply *reply);
PTC_MUST_USE bool ptc_oauth_work_post_json(PtcOauthWork *w, const char *url, const PtcBuf *json,
                                           PtcOauthReply *reply);
/* A form to an endpoint where the client says who it is: in the form, or in a header. */
PTC_MUST_USE bool ptc_oauth_work_post_form(PtcOauthWork *w, const char *url, PtcBuf *form,
                                           const PtcOauthClient *client, PtcOauthReply *reply);
/* What a reply that is no success means, into why; always false. */
bool ptc_oauth_work_refused(PtcOauthWork *w, const char *what, const PtcOauthReply *reply);

/* A form that asks for tokens.  False with a why, whose code is what the server called it (PtcOauthFault). */
PTC_MUST_USE bool ptc_oauth_work_tokens(PtcOauthWork *w, const char *endpoint, PtcBuf *form,
                                        const PtcOauthClient *client, PtcOauthTokens *out);

#endif
