/* SPDX-License-Identifier: MIT
 * model_spec.h - from the text that names a model to the model.
 *
 *     ALIAS   PROVIDER:ALIAS   PROVIDER:ID   openai-compat:URL|ID   script:FILE   replay:FILE   exec:PROGRAM
 *
 * What the text may be depends on who wrote it: only the host may open files, start programs and send a key to any
 * address. */
#ifndef PTC_LLM_MODEL_SPEC_H
#define PTC_LLM_MODEL_SPEC_H

#include "base/why.h"
#include "llm/llm.h"
#include "trace/redact.h"

typedef enum {
    PTC_TRUST_HOST, /* the command line, C: everything */
    PTC_TRUST_FILE, /* an agent file: aliases, providers, endpoints; the key of an endpoint only for the address in
                          OPENAI_COMPAT_BASE_URL */
    PTC_TRUST_PROGRAM, /* a program written by a model: aliases, alone or after their provider */
} PtcTrust;

enum { PTC_MODEL_SPEC_BYTES = 4096 };

typedef struct PtcModelsOptions {
    PtcMem *mem;
    /* reads a variable; NULL: the environment */
    const char *(*get)(void *user, const char *name);
    void *user;
    const char *dotenv;             /* a .env file, which need not exist; NULL: none */
    int64_t connect_ms, silence_ms; /* 0: 10 s and 60 s */
    bool replay_loose;
    bool files_may_run; /* agent files may name scripts, records and programs too */
} PtcModelsOptions;

/* What the models of a process share: aliases, keys, connections.  Any thread may open models. */
typedef struct PtcModels PtcModels;

/* NULL with a reason. */
PTC_MUST_USE PtcModels *ptc_models_new(const PtcModelsOptions *options, PtcWhy *why);
/* Adds the aliases of a file (docs/providers.md), before any model is opened.  False with a reason. */
PTC_MUST_USE bool ptc_models_add_file(PtcModels *models, const char *path, PtcWhy *why);
/* After all models that it opened have been freed. */
void ptc_models_free(PtcModels *models);

/* Opens a model; an empty text is the default one.  NULL with a reason. */
PTC_MUST_USE PtcModel *ptc_model_open(PtcModels *models, PtcText spec, PtcTrust trust, PtcWhy *why);

/* Secrets to remove from everything that is written or shown. */
const PtcSecrets *ptc_models_secrets(const PtcModels *models);
/* The same, for whoever learns of more that must be removed. */
PtcSecrets *ptc_models_more_secrets(PtcModels *models);
/* The keys, for records; see record_model.h. */
const struct PtcProviderKeys *ptc_models_keys(const PtcModels *models);
/* Another value to remove from now on.  False: out of memory. */
PTC_MUST_USE bool ptc_models_add_secret(PtcModels *models, PtcText value);
/* The client that requests go through; it loads nothing before the first one. */
struct PtcClient *ptc_models_client(PtcModels *models);

#endif
