/* SPDX-License-Identifier: MIT
 * api_ask.h - a function of the host as a model. */
#ifndef PTC_API_API_ASK_H
#define PTC_API_API_ASK_H

#include "llm/llm.h"
#include "ptc/ptc.h"

/* What the model must keep; it outlives the model. */
typedef struct PtcAskTarget {
    PtcAskFn function;
    void *user;
} PtcAskTarget;

/* NULL: out of memory. */
PTC_MUST_USE PtcModel *ptc_ask_model_new(PtcMem *mem, const PtcAskTarget *target);

#endif
