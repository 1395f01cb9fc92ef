/* SPDX-License-Identifier: MIT
 * provider_keys.h - what the environment, and after it a .env file, says about providers: keys, addresses, defaults.
 * Loaded once; then read-only, from any thread.  Values of keys are known as secrets, to be removed from everything
 * that is shown. */
#ifndef PTC_LLM_PROVIDER_PROVIDER_KEYS_H
#define PTC_LLM_PROVIDER_PROVIDER_KEYS_H

#include "base/arena.h"
#include "trace/redact.h"

enum { PTC_PROVIDER_KEYS_MAX = 48, PTC_PROVIDER_KEYS_BYTES = 8 * PTC_KB /* of one value */ };

typedef struct PtcProviderKeys {
    PtcMem *mem;
    struct {
        const char *name;
        char *value;
        size_t len;
    } items[PTC_PROVIDER_KEYS_MAX];
    size_t count;
    PtcSecrets shown;    /* for records, bodies and errors */
    PtcSecrets told;     /* for replies, which are processed further */
    const char *trouble; /* why the .env file was not read; NULL: it was, or there is none */
} PtcProviderKeys;

/* Reads variables through `get` (NULL: the environment), then the file (NULL: none).  False: out of memory. */
PTC_MUST_USE bool ptc_provider_keys_init(PtcProviderKeys *keys, PtcMem *mem,
                                         const char *(*get)(void *user, const char *name),
                                         void *user, const char *dotenv);
void ptc_provider_keys_deinit(PtcProviderKeys *keys);

/* The value of a variable; absent when it is not set, or empty. */
PtcText ptc_provider_keys_get(const PtcProviderKeys *keys, const char *name);

#endif
