/* SPDX-License-Identifier: MIT
 * script.h - a model that says what it was told to say: a list of replies (docs/replay.md), one for each request, in
 * the order of the requests.  A request beyond the end of the list fails. */
#ifndef PTC_LLM_SCRIPT_H
#define PTC_LLM_SCRIPT_H

#include "base/why.h"
#include "llm/llm.h"
#include "llm/provider/provider_keys.h"

/* The replies as lines of JSON, or as one JSON array.  `name` is copied; `keys` (may be NULL) must outlive the model.
 * Every reply is checked now.  NULL with a reason. */
PTC_MUST_USE PtcModel *ptc_script_new(PtcMem *mem, const char *name, PtcText replies,
                                      const PtcProviderKeys *keys, PtcWhy *why);
/* The same from a file. */
PTC_MUST_USE PtcModel *ptc_script_open(PtcMem *mem, const char *name, const char *path,
                                       const PtcProviderKeys *keys, PtcWhy *why);

#endif
