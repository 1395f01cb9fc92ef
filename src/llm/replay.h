/* SPDX-License-Identifier: MIT
 * replay.h - a model that answers from a record (record_model.h).
 *
 * Strictly: each request takes the first line not yet used whose body is the same; when there is none, it fails with
 * PTC_LLM_REPLAY_MISMATCH and names the first difference from the next line of the same agent.  Loosely: the next
 * line of the same agent, whatever it asked, or else the next line. */
#ifndef PTC_LLM_REPLAY_H
#define PTC_LLM_REPLAY_H

#include "base/why.h"
#include "llm/llm.h"
#include "llm/provider/provider_keys.h"

enum { PTC_REPLAY_MODELS = 16 }; /* different ones in a record */

typedef struct PtcReplayOptions {
    PtcMem *mem;
    const char *name;            /* copied */
    const PtcProviderKeys *keys; /* may be NULL */
    bool loose;
    /* Appends the body that a model, by its name in the record, would be sent; NULL: our own JSON form (llm_json.h). */
    bool (*body)(void *user, PtcText model, const PtcLlmRequest *request, PtcBuf *out);
    void *user;
} PtcReplayOptions;

/* From a file; NULL with a reason.  The model is a network one if the recorded ones were, so that a run repeats its
 * retries too. */
PTC_MUST_USE PtcModel *ptc_replay_open(const PtcReplayOptions *options, const char *path,
                                       PtcWhy *why);

#endif
