/* SPDX-License-Identifier: MIT
 * oauth_answer.h - what an authorization server answers: tokens, device codes, a registered client, errors.  Readers
 * say what is wrong.  Texts live in the arena. */
#ifndef PTC_OAUTH_OAUTH_ANSWER_H
#define PTC_OAUTH_OAUTH_ANSWER_H

#include "base/arena.h"
#include "base/text.h"
#include "base/why.h"

typedef struct PtcOauthTokens {
    const char *access, *refresh, *scope; /* the last two NULL: not said */
    int64_t expires_in;                   /* seconds; -1: not said */
} PtcOauthTokens;
PTC_MUST_USE bool ptc_oauth_answer_tokens(PtcMem *mem, PtcArena *arena, PtcText json,
                                          PtcOauthTokens *out, PtcWhy *why);

typedef struct PtcOauthDevice {
    const char *device_code, *user_code, *address, *complete; /* the last NULL: not said */
    int64_t expires_in, interval;                             /* seconds */
} PtcOauthDevice;
PTC_MUST_USE bool ptc_oauth_answer_device(PtcMem *mem, PtcArena *arena, PtcText json,
                                          PtcOauthDevice *out, PtcWhy *why);

/* How a client says who it is at the token endpoint. */
typedef enum {
    PTC_OAUTH_AUTH_NONE,
    PTC_OAUTH_AUTH_BASIC,
    PTC_OAUTH_AUTH_POST,
    PTC_OAUTH_AUTH_KEY,
} PtcOauthAuth;

typedef struct PtcOauthClient {
    const char *id, *secret; /* NULL: it has none */
    PtcOauthAuth auth;
    const char *key_file, *audience; /* AUTH_KEY: what it signs with, and for whom: the issuer */
} PtcOauthClient;
/* `asked`: the way that was asked for, which counts when the answer says none. */
PTC_MUST_USE bool ptc_oauth_answer_client(PtcMem *mem, PtcArena *arena, PtcText json,
                                          PtcOauthAuth asked, PtcOauthClient *out, PtcWhy *why);
const char *ptc_oauth_auth_name(PtcOauthAuth auth);
PtcOauthAuth ptc_oauth_auth_of(const char *name, PtcOauthAuth otherwise);

typedef struct PtcOauthError {
    const char *error, *description; /* NULL: not said */
} PtcOauthError;
/* The errors that we act upon. */
typedef enum {
    PTC_OAUTH_FAULT_OTHER,
    PTC_OAUTH_FAULT_INVALID_GRANT, /* the refresh token is not known any more */
    PTC_OAUTH_FAULT_PENDING,       /* nobody has typed the code yet */
    PTC_OAUTH_FAULT_SLOW_DOWN
} PtcOauthFault;
PtcOauthFault ptc_oauth_fault_of(const char *error);
void ptc_oauth_answer_error(PtcMem *mem, PtcArena *arena, PtcText json, PtcOauthError *out);

#endif
