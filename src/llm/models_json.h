/* SPDX-License-Identifier: MIT
 * models_json.h - src/llm/models.json, which cmake/embed.cmake puts into the library. */
#ifndef PTC_LLM_MODELS_JSON_H
#define PTC_LLM_MODELS_JSON_H

#include <stddef.h>

extern const unsigned char ptc_models_json[];
extern const size_t ptc_models_json_len;

#endif
