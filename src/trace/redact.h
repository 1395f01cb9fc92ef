/* SPDX-License-Identifier: MIT
 * redact.h - texts that nobody may read who was not given them: bearer tokens, keys of providers, values of
 * variables passed to tools.  This is the one way to remove them from records, traces, replies and the complaints of
 * commands.
 *
 * A secret is recognised in every form in which it is likely to come back: as it is, inside a JSON or PTC-Lisp
 * string, percent-encoded (where it must be, or every byte of it) with digits of either case, as hexadecimal digits of
 * either case, and in base64 of both alphabets wherever it stands in the encoded text, for example after a name and a
 * colon as in Basic authorization; then the letters that it shares with its neighbours and the padding go with it.
 *
 * Any thread may add secrets and use them at any time. */
#ifndef PTC_TRACE_REDACT_H
#define PTC_TRACE_REDACT_H

#include <pthread.h>

#include "base/buf.h"

/* Shorter values are everyday words, not secrets; removing them would make a text unreadable.  What a model must
 * understand in order to go on needs more such words (`true`, `json`) than a record does. */
enum { PTC_SECRET_MIN = 4, PTC_SECRET_MIN_TOLD = 6 };

typedef struct PtcSecret {
    char *bytes;
    size_t len;
    size_t times;    /* that it was added, and not dropped since */
    bool head, tail; /* base64: the letter before, behind it is made of bits of the secret too */
} PtcSecret;

typedef struct PtcSecrets {
    /* It guards everything but mem and min.  Whoever removes secrets from a text reads under it, many at once; adding
     * and dropping write.  It may be taken under any lock, and none is taken inside. */
    pthread_rwlock_t lock;
    PtcMem *mem;
    PtcSecret *items; /* every form of every secret, sorted by bytes */
    size_t count, cap;
    size_t min;         /* shorter secrets are left alone */
    size_t starts[257]; /* items that begin with byte b: starts[b] to starts[b + 1] */
} PtcSecrets;

void ptc_secrets_init(PtcSecrets *secrets, PtcMem *mem, size_t min);
/* Wipes them. */
void ptc_secrets_deinit(PtcSecrets *secrets);

/* Copies the text in all its forms.  False: out of memory. */
PTC_MUST_USE bool ptc_secrets_add(PtcSecrets *secrets, const char *bytes, size_t len);

/* It is none any more: a token that has been replaced for long.  A text that was added several times, since others have
 * it too, is dropped by the last. */
void ptc_secrets_drop(PtcSecrets *secrets, const char *bytes, size_t len);

bool ptc_secrets_any(const PtcSecrets *secrets);

/* Appends the text with [secret] in place of each secret, which at most doubles it.  Texts should come here before
 * they are cut, but what a worker sends was cut where the secrets are not known.  So the first part of a secret
 * counts where a text ends or goes on with dots for what was left out, and its last part counts after such dots, where
 * there are no more than a few hundred of them; `headless` says that the text's beginning was cut off, and with it
 * perhaps the beginning of a secret. */
void ptc_secrets_blot(const PtcSecrets *secrets, PtcBuf *out, PtcText text, bool headless);

/* The same for a text that nobody cut but that may arrive in parts.  Unless this is the last part, appends what no
 * later byte can change and returns how many bytes of the text that was; the rest, shorter than the longest secret,
 * must be passed again with what follows. */
size_t ptc_secrets_blot_part(const PtcSecrets *secrets, PtcBuf *out, PtcText text, bool last);

/* Where the first secret at or behind `from` is, and how long; the length of the text: there is none. */
size_t ptc_secrets_find(const PtcSecrets *secrets, PtcText text, size_t from, size_t *len);

#endif
