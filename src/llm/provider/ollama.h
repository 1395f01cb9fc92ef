/* SPDX-License-Identifier: MIT
 * ollama.h - Ollama's chat. */
#ifndef PTC_LLM_PROVIDER_OLLAMA_H
#define PTC_LLM_PROVIDER_OLLAMA_H

#include "llm/provider/wire.h"

extern const PtcDialect ptc_ollama_dialect;

#endif
