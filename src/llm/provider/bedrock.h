/* SPDX-License-Identifier: MIT
 * bedrock.h - the Converse API of Amazon Bedrock. */
#ifndef PTC_LLM_PROVIDER_BEDROCK_H
#define PTC_LLM_PROVIDER_BEDROCK_H

#include "llm/provider/wire.h"

extern const PtcDialect ptc_bedrock_dialect;

/* Is this a region: [a-z0-9-]{1,32}? */
bool ptc_bedrock_is_region(PtcText region);
/* Appends a model's id as a region wants it: Amazon's own models use the inference profile of their part of the
 * world. */
bool ptc_bedrock_add_model(PtcBuf *out, PtcText model, PtcText region);

#endif
