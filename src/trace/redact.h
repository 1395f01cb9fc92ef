/* SPDX-License-Identifier: MIT
 * redact.h - texts that nobody may read who was not given them: bearer tokens, values of variables that tools are given.
 * The one way in which records, traces and what commands complain about are rid of them.
 *
 * Any thread may add to them and use them at any time. */
#ifndef PTC_TRACE_REDACT_H
#define PTC_TRACE_REDACT_H

#include <pthread.h>

#include "base/buf.h"

/* Shorter values are words of everyday use, not secrets; a text would become unreadable without them.  What a model must
 * understand in order to go on needs more such words (`true`, `json`) than a record. */
enum { PTC_SECRET_MIN = 4, PTC_SECRET_MIN_TOLD = 6 };

typedef struct PtcSecret {
    char *bytes;
    size_t len;
} PtcSecret;

typedef struct PtcSecrets {
    pthread_rwlock_t lock; /* for all but mem and min */
    PtcMem *mem;
    PtcSecret *items;
    size_t count, cap;
    size_t min;       /* bytes: shorter ones are left alone */
    bool begins[256]; /* one of them begins with this byte */
} PtcSecrets;

void ptc_secrets_init(PtcSecrets *secrets, PtcMem *mem, size_t min);
/* Wipes them. */
void ptc_secrets_deinit(PtcSecrets *secrets);

/* A copy of the text, and of how it looks inside of a JSON or PTC-Lisp string where that is different.  False: memory is
 * short. */
PTC_MUST_USE bool ptc_secrets_add(PtcSecrets *secrets, const char *bytes, size_t len);

/* Appends the text with [secret] in place of each, which at most doubles it.  Texts come here before they are cut; but what
 * a worker sends was cut where nobody knows the secrets.  So the beginning of one counts where a text ends, or goes on
 * with dots for what was left out, and its end counts behind such dots; `headless` says that the text's beginning was cut
 * off, and so may be the beginning of a secret. */
void ptc_secrets_blot(PtcSecrets *secrets, PtcBuf *out, PtcText text, bool headless);

#endif
