/* SPDX-License-Identifier: MIT
 * gemini.h - Google's generateContent. */
#ifndef PTC_LLM_PROVIDER_GEMINI_H
#define PTC_LLM_PROVIDER_GEMINI_H

#include "llm/provider/wire.h"

extern const PtcDialect ptc_gemini_dialect;

#endif
