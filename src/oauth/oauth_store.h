/* SPDX-License-Identifier: MIT
 * oauth_store.h - tokens on a shelf, a sheet for each upstream: a file in a directory that only its owner may enter, or
 * a record of a store that several machines share, where it is encrypted. */
#ifndef PTC_OAUTH_OAUTH_STORE_H
#define PTC_OAUTH_OAUTH_STORE_H

#include "base/budget.h"
#include "base/os/shelf.h"
#include "oauth/oauth_answer.h"

/* Where the tokens of an upstream are.  It must not move. */
typedef struct PtcOauthPlace {
    PtcShelf *shelf;
    PtcSheet sheet;
    char file[48], lock_file[56];
} PtcOauthPlace;

typedef enum { PTC_OAUTH_FOUND, PTC_OAUTH_MISSING, PTC_OAUTH_REFUSED } PtcOauthFound;

/* What one sign-in left.  All of it belongs to one issuer; nothing is sent to anybody else but the upstream. */
typedef struct PtcOauthRecord {
    const char *account; /* made up at the sign-in: tells two accounts apart, and says nothing */
    const char *resource, *issuer, *token_endpoint;
    PtcOauthClient client;
    const char *access, *refresh, *scope; /* NULL: none */
    const char *wanted;                   /* scopes that the upstream asked for since; NULL: none */
    int64_t expires_at;                   /* seconds since 1970; 0: not said */
    int64_t life;                         /* seconds that the token was given for */
    bool inside;                          /* the upstream is on this machine or a private network */
    PtcSheetMark mark;                    /* what it was read from; all 0: it is new */
} PtcOauthRecord;

/* That of an upstream, by its name and address; in files, in the directory `oauth`. */
void ptc_oauth_place_init(PtcOauthPlace *place, PtcShelf *shelf, PtcText name, const char *url);

/* Texts live in the arena.  A file or directory that others may read is refused, and why has the chmod to run; one
 * that cannot be understood counts as missing. */
PTC_MUST_USE PtcOauthFound ptc_oauth_store_load(PtcMem *mem, PtcArena *arena,
                                                const PtcOauthPlace *place, PtcOauthRecord *out,
                                                PtcWhy *why);
/* Whoever saves holds the lock.  Where another machine has saved one since this was read, which happens only if it
 * could not know of the lock, that one stays. */
PTC_MUST_USE bool ptc_oauth_store_save(PtcMem *mem, const PtcOauthPlace *place,
                                       const PtcOauthRecord *record);
/* False: there was none. */
bool ptc_oauth_store_remove(const PtcOauthPlace *place);

/* Notes until when new tokens are good. */
void ptc_oauth_store_time(PtcOauthRecord *record, const PtcOauthTokens *tokens);
typedef enum { PTC_OAUTH_FRESH, PTC_OAUTH_DUE, PTC_OAUTH_EXPIRED } PtcOauthAge;
/* A token is due to be replaced 60 s before its end. */
PtcOauthAge ptc_oauth_store_age(const PtcOauthRecord *record);

/* Whoever changes a sheet holds its lock, so that of two processes that want a new token one gets it and the other
 * finds it.  Looks for it until `end_ns`; false: it could not be had.  The lock ends with its holder. */
PTC_MUST_USE bool ptc_oauth_store_lock(const PtcOauthPlace *place, int64_t end_ns,
                                       const PtcCancel *cancel, PtcSheetLock *lock);
void ptc_oauth_store_unlock(const PtcOauthPlace *place, PtcSheetLock *lock);

#endif
