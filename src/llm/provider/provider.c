/* SPDX-License-Identifier: MIT
 * The table of providers.  What always holds: a provider differs from others of its dialect only by its row. */
#include "llm/provider/provider.h"

#include "llm/provider/anthropic.h"
#include "llm/provider/bedrock.h"
#include "llm/provider/gemini.h"
#include "llm/provider/ollama.h"
#include "llm/provider/openai.h"

const PtcProvider ptc_providers[] = {
    {
        .name = "openai",
        .dialect = &ptc_openai_dialect,
        .traits = PTC_OPENAI_OWN,
        .base = "https://api.openai.com/v1",
        .base_var = "OPENAI_BASE_URL",
        .auth = PTC_AUTH_BEARER,
        .keys = {"OPENAI_API_KEY"},
    },
    {
        .name = "openai-compat",
        .dialect = &ptc_openai_dialect,
        .auth = PTC_AUTH_BEARER,
        .keys = {"OPENAI_COMPAT_API_KEY"},
        .key_optional = true,
    },
    {
        .name = "openrouter",
        .dialect = &ptc_openai_dialect,
        .traits = PTC_OPENAI_OPENROUTER,
        .base = "https://openrouter.ai/api/v1",
        .base_var = "OPENROUTER_BASE_URL",
        .auth = PTC_AUTH_BEARER,
        .keys = {"OPENROUTER_API_KEY"},
    },
    {
        .name = "groq",
        .dialect = &ptc_openai_dialect,
        .traits = PTC_OPENAI_GROQ,
        .base = "https://api.groq.com/openai/v1",
        .base_var = "GROQ_BASE_URL",
        .auth = PTC_AUTH_BEARER,
        .keys = {"GROQ_API_KEY"},
    },
    {
        .name = "anthropic",
        .dialect = &ptc_anthropic_dialect,
        .base = "https://api.anthropic.com",
        .base_var = "ANTHROPIC_BASE_URL",
        .auth = PTC_AUTH_API_KEY,
        .keys = {"ANTHROPIC_API_KEY"},
        .header = "anthropic-version: 2023-06-01",
    },
    {
        .name = "google",
        .other_name = "gemini",
        .dialect = &ptc_gemini_dialect,
        .base = "https://generativelanguage.googleapis.com",
        .base_var = "GOOGLE_GEMINI_BASE_URL",
        .auth = PTC_AUTH_GOOGLE,
        .keys = {"GOOGLE_API_KEY", "GEMINI_API_KEY"},
    },
    {
        .name = "ollama",
        .dialect = &ptc_ollama_dialect,
        .base = "http://localhost:11434",
        .base_var = "OLLAMA_HOST",
        .auth = PTC_AUTH_NONE,
    },
    {
        .name = "bedrock",
        .other_name = "amazon_bedrock",
        .dialect = &ptc_bedrock_dialect,
        .base_var = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
        .auth = PTC_AUTH_AWS,
        .keys = {PTC_AWS_ACCESS_KEY, PTC_AWS_SECRET_KEY, PTC_AWS_SESSION, PTC_AWS_BEARER},
    },
};
const size_t ptc_provider_count = sizeof ptc_providers / sizeof *ptc_providers;

const PtcProvider *ptc_provider_find(PtcText name)
{
    for (size_t i = 0; i < ptc_provider_count; i++)
        if (ptc_text_is(name, ptc_providers[i].name) ||
            (ptc_providers[i].other_name && ptc_text_is(name, ptc_providers[i].other_name)))
            return &ptc_providers[i];
    return NULL;
}

bool ptc_provider_in_dotenv(PtcText name)
{
    for (size_t i = 0; i < ptc_provider_count; i++)
        for (size_t k = 0; k < PTC_PROVIDER_VARS && ptc_providers[i].keys[k]; k++)
            if (ptc_text_is(name, ptc_providers[i].keys[k]))
                return true;
    return ptc_text_is(name, PTC_DEFAULT_PROVIDER) || ptc_text_is(name, PTC_AWS_REGION);
}
