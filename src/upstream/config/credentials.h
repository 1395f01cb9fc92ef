/* SPDX-License-Identifier: MIT
 * credentials.h - the values behind the names of credentials, at the moment a request is sent, and the headers that
 * carry them.
 *
 * Values live here, in the server process, and in the request; every one that was read is also added to the secrets, so
 * that it is removed from whatever an upstream sends back.  Any thread may ask; a program that prints a credential may
 * take ten seconds, so what it printed is kept for a while. */
#ifndef PTC_UPSTREAM_CONFIG_CREDENTIALS_H
#define PTC_UPSTREAM_CONFIG_CREDENTIALS_H

#include "trace/redact.h"
#include "upstream/config/entry.h"

/* Where secrets come from again and again: a credential, or the command that prints the headers of an upstream. */
typedef struct PtcSecretSource PtcSecretSource;

typedef struct PtcCredentials {
    PtcMem *mem;
    PtcValue definitions;           /* name -> definition; PTC_NONE: none */
    const char *const *environment; /* of this process */
    PtcSecrets *told, *hidden;
    PtcSecrets *records; /* of others, who keep records; NULL: nobody does */
    /* It guards the list and what programs printed.  Threads that send requests take it; programs run without it. */
    pthread_mutex_t lock;
    PtcSecretSource *sources;
} PtcCredentials;

/* The caller has set all members above the lock. */
void ptc_credentials_init(PtcCredentials *c);
void ptc_credentials_deinit(PtcCredentials *c);
/* An upstream has refused what was sent: what programs printed for this entry is not used again.  True: there was any,
 * so asking them once more may help. */
bool ptc_credentials_forget(PtcCredentials *c, const PtcEntry *entry);

/* The text is no secret any more. */
void ptc_credentials_unhide(const PtcCredentials *c, PtcText text);
/* Nobody may read this text from now on.  False: out of memory. */
PTC_MUST_USE bool ptc_credentials_hide(const PtcCredentials *c, PtcText text);

/* Appends a line "Name: value" for every header of the entry, credentials included, and what goes into the address
 * (&name=value) to `query`.  False: one cannot be had; why says which, never its value,
 * and is not filled in when memory ran out. */
PTC_MUST_USE bool ptc_credentials_headers(PtcCredentials *c, const PtcEntry *entry, PtcBuf *lines,
                                          PtcBuf *query, PtcWhy *why);

/* The same for one request: `headers`, a map, are its own, and `auth` its bindings in place of those of the entry. */
PTC_MUST_USE bool ptc_credentials_apply(PtcCredentials *c, const PtcEntry *entry, PtcValue headers,
                                        PtcValue auth, PtcBuf *lines, PtcBuf *query, PtcWhy *why);

/* Appends what tells two accounts of the same entry apart: the values of its credentials.  For a credential that a
 * program prints, the program is appended instead, since running it may take long and nothing has been asked for yet.
 * False: a credential cannot be read. */
PTC_MUST_USE bool ptc_credentials_identity(PtcCredentials *c, const PtcEntry *entry, PtcBuf *out);

#endif
