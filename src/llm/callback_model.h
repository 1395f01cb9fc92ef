/* SPDX-License-Identifier: MIT
 * callback_model.h - a function of the host as a model. */
#ifndef PTC_LLM_CALLBACK_MODEL_H
#define PTC_LLM_CALLBACK_MODEL_H

#include "llm/llm.h"

/* Answers a request as the `ask` of a PtcModel does, from any thread. */
typedef void (*PtcModelFunction)(void *user, const PtcLlmRequest *request, PtcArena *arena,
                                 PtcLlmReply *reply);

/* `name` is copied.  NULL: out of memory. */
PTC_MUST_USE PtcModel *ptc_callback_model_new(PtcMem *mem, const char *name,
                                              PtcModelFunction function, void *user);

#endif
