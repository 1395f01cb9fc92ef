/* SPDX-License-Identifier: MIT
 * redact.h - texts that nobody may read who was not given them: bearer tokens, keys of providers, values of variables
 * that tools are given.  The one way in which records, traces, replies and what commands complain about are rid of them.
 *
 * A secret is known in every form in which it is likely to come back: as it is, inside of a JSON or PTC-Lisp string,
 * percent-encoded with digits of either case, and in base64 of both alphabets wherever it stands in the encoded text, so
 * also behind a name and a colon as in an Authorization of type Basic.
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
    PtcSecret *items; /* every form of every secret, in the order of their bytes */
    size_t count, cap;
    size_t min;         /* bytes: shorter ones are left alone */
    size_t starts[257]; /* items that begin with byte b are from starts[b] up to starts[b + 1] */
} PtcSecrets;

void ptc_secrets_init(PtcSecrets *secrets, PtcMem *mem, size_t min);
/* Wipes them. */
void ptc_secrets_deinit(PtcSecrets *secrets);

/* Copies of the text in all its forms.  False: memory is short. */
PTC_MUST_USE bool ptc_secrets_add(PtcSecrets *secrets, const char *bytes, size_t len);

/* Appends the text with [secret] in place of each, which at most doubles it.  Texts come here before they are cut; but what
 * a worker sends was cut where nobody knows the secrets.  So the beginning of one counts where a text ends, or goes on
 * with dots for what was left out, and its end counts behind such dots; `headless` says that the text's beginning was cut
 * off, and so may be the beginning of a secret. */
void ptc_secrets_blot(const PtcSecrets *secrets, PtcBuf *out, PtcText text, bool headless);

/* The same for a text that nobody cut, but that may come in parts.  Unless this is the last one, appends what no later
 * byte can change and returns how many bytes of the text that was; the rest, shorter than the longest secret, is to be
 * given again with what follows. */
size_t ptc_secrets_blot_part(const PtcSecrets *secrets, PtcBuf *out, PtcText text, bool last);

#endif
