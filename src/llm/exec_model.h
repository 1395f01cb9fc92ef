/* SPDX-License-Identifier: MIT
 * exec_model.h - a program as a model: it is started for each request, reads the request as JSON (docs/replay.md) and
 * writes the reply.  This is how any other provider can be plugged in. */
#ifndef PTC_LLM_EXEC_MODEL_H
#define PTC_LLM_EXEC_MODEL_H

#include "base/why.h"
#include "llm/llm.h"
#include "llm/provider/provider_keys.h"

enum { PTC_EXEC_MODEL_WORDS = 32 };

/* `command` is the program and its arguments, separated by blanks.  It gets the environment of the host.  `name` is
 * copied; `keys` (may be NULL) must outlive the model.  NULL with a reason. */
PTC_MUST_USE PtcModel *ptc_exec_model_new(PtcMem *mem, const char *name, PtcText command,
                                          const PtcProviderKeys *keys, PtcWhy *why);

#endif
