/* SPDX-License-Identifier: MIT
 * provider.h - the providers, one row each: where they are, which variables hold their keys, how they are asked. */
#ifndef PTC_LLM_PROVIDER_PROVIDER_H
#define PTC_LLM_PROVIDER_PROVIDER_H

#include "llm/provider/wire.h"

typedef enum {
    PTC_AUTH_NONE,
    PTC_AUTH_BEARER,  /* Authorization: Bearer KEY */
    PTC_AUTH_API_KEY, /* x-api-key: KEY */
    PTC_AUTH_GOOGLE,  /* x-goog-api-key: KEY */
    PTC_AUTH_AWS,     /* a signature, or a bearer token */
} PtcAuth;

enum { PTC_PROVIDER_VARS = 4 };

struct PtcProvider {
    const char *name, *other_name; /* as models name it; the second may be NULL */
    const PtcDialect *dialect;
    unsigned traits;      /* of the dialect */
    const char *base;     /* its address; NULL: given by the model or the region */
    const char *base_var; /* a variable that overrides it */
    PtcAuth auth;
    const char *keys
        [PTC_PROVIDER_VARS]; /* variables, all of them secret; the first that is set is used, except for AWS */
    bool key_optional;
    const char *header; /* one more header line, or NULL */
};

extern const PtcProvider ptc_providers[];
extern const size_t ptc_provider_count;

/* By either name; NULL: there is none. */
const PtcProvider *ptc_provider_find(PtcText name);

/* Variables that may also be set in a .env file: those with keys, and a few that select something. */
bool ptc_provider_in_dotenv(PtcText name);

/* Names of variables of AWS. */
#define PTC_AWS_ACCESS_KEY "AWS_ACCESS_KEY_ID"
#define PTC_AWS_SECRET_KEY "AWS_SECRET_ACCESS_KEY"
#define PTC_AWS_SESSION "AWS_SESSION_TOKEN"
#define PTC_AWS_BEARER "AWS_BEARER_TOKEN_BEDROCK"
#define PTC_AWS_REGION "AWS_REGION"
#define PTC_DEFAULT_PROVIDER "LLM_DEFAULT_PROVIDER"
#define PTC_COMPAT_BASE "OPENAI_COMPAT_BASE_URL"

#endif
