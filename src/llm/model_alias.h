/* SPDX-License-Identifier: MIT
 * model_alias.h - short names of models: for each, the id that each provider uses for it.  They come from models.json
 * and from users' files, which take precedence.
 *
 *     {"aliases": {"haiku": {"anthropic": "claude-haiku-4-5", ...}, ...}, "embeddings": ["embed"]} */
#ifndef PTC_LLM_MODEL_ALIAS_H
#define PTC_LLM_MODEL_ALIAS_H

#include "base/arena.h"
#include "base/why.h"
#include "llm/provider/provider.h"

enum {
    PTC_MODEL_ALIAS_BYTES = 64,  /* of a name */
    PTC_MODEL_ALIAS_ROWS = 1000, /* names and providers, all together */
    PTC_MODEL_ALIAS_FILE = PTC_MB,
};

typedef struct PtcModelAlias {
    PtcText name;
    const PtcProvider *provider;
    PtcText id;
    bool embeds; /* it makes no text */
} PtcModelAlias;

typedef struct PtcModelAliases {
    PtcArena arena;
    PtcModelAlias *rows;
    size_t count;
} PtcModelAliases;

void ptc_model_alias_init(PtcModelAliases *aliases, PtcMem *mem);
void ptc_model_alias_deinit(PtcModelAliases *aliases);

/* Adds the aliases in a text; a name that exists already is replaced with all its providers.  False with a reason;
 * some may have been added by then. */
PTC_MUST_USE bool ptc_model_alias_add(PtcModelAliases *aliases, PtcText json, PtcWhy *why);

/* The row of a name at a provider; with NULL for the provider, the first row of any. */
const PtcModelAlias *ptc_model_alias_find(const PtcModelAliases *aliases, PtcText name,
                                          const PtcProvider *provider);
/* How many providers offer it. */
size_t ptc_model_alias_providers(const PtcModelAliases *aliases, PtcText name);

#endif
