/* SPDX-License-Identifier: MIT
 * openai.h - chat completions, as OpenAI defined them and many others speak them; the differences are traits. */
#ifndef PTC_LLM_PROVIDER_OPENAI_H
#define PTC_LLM_PROVIDER_OPENAI_H

#include "llm/provider/wire.h"

extern const PtcDialect ptc_openai_dialect;

/* Where a provider of this form differs. */
enum {
    PTC_OPENAI_OWN = 1 << 0, /* max_completion_tokens, prompt_cache_key */
    PTC_OPENAI_OPENROUTER =
        1 << 1, /* reasoning as an object, cache marks for Claude, thoughts that are sent back */
    PTC_OPENAI_GROQ = 1 << 2, /* reasoning_format */
};

/* "tools": [...], which others write the same way; nothing when there are none. */
void ptc_openai_write_tools(const PtcWireOut *out);

#endif
