/* SPDX-License-Identifier: MIT
 * provider_auth.h - the header lines of a request, including the keys that the provider wants. */
#ifndef PTC_LLM_PROVIDER_PROVIDER_AUTH_H
#define PTC_LLM_PROVIDER_PROVIDER_AUTH_H

#include "llm/provider/provider.h"
#include "llm/provider/provider_keys.h"

enum { PTC_HEADERS_MAX = 8, PTC_HEADERS_BYTES = 32 * PTC_KB };

typedef struct PtcHeaders {
    PtcBuf text; /* allocated at its full size: it never moves and leaves no copy behind */
    PtcText lines[PTC_HEADERS_MAX];
    size_t count;
} PtcHeaders;

/* Appends all headers of a request.  False fails the reply: a key is missing or malformed.  `with_key` false leaves
 * the keys out. */
bool ptc_provider_auth_make(PtcHeaders *headers, PtcMem *mem, const PtcProvider *provider,
                            const PtcProviderKeys *keys, bool with_key, PtcText region, PtcText url,
                            PtcText body, PtcReply *reply);
/* Wipes them. */
void ptc_provider_auth_drop(PtcHeaders *headers);

#endif
