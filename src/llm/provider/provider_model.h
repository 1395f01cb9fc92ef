/* SPDX-License-Identifier: MIT
 * provider_model.h - a model at a provider, asked over HTTP. */
#ifndef PTC_LLM_PROVIDER_PROVIDER_MODEL_H
#define PTC_LLM_PROVIDER_PROVIDER_MODEL_H

#include "base/why.h"
#include "llm/provider/provider.h"
#include "llm/provider/provider_keys.h"
#include "net/client.h"

/* What all models of a process share; outlives them. */
typedef struct PtcProviderPlace {
    PtcMem *mem;
    PtcClient *client;
    const PtcProviderKeys *keys;
    int64_t connect_ms, silence_ms; /* 0: as client.h has them */
} PtcProviderPlace;

/* A model by the provider's id for it.  `base` is the address of an openai-compat endpoint, absent for others;
 * `with_key` says whether such an endpoint gets the key.  No key is looked up before the first request.  NULL with a
 * reason. */
PTC_MUST_USE PtcModel *ptc_provider_model_new(const PtcProviderPlace *place,
                                              const PtcProvider *provider, PtcText id, PtcText base,
                                              bool with_key, PtcWhy *why);

#endif
