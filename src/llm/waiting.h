/* SPDX-License-Identifier: MIT
 * waiting.h - what models without a network share: letting time pass, and passing on a reply that is there at once. */
#ifndef PTC_LLM_WAITING_H
#define PTC_LLM_WAITING_H

#include "llm/reply_maker.h"

enum { PTC_WAITING_SLICE_MS = 20 };

/* Waits this long, or until the request must end: then the status says why. */
PTC_MUST_USE PtcLlmStatus ptc_waiting_sleep(const PtcLlmRequest *request, int64_t ms);
/* The reply to a request that had to end. */
void ptc_waiting_stopped(PtcLlmStatus status, PtcArena *arena, PtcLlmReply *out);

/* Must the request end now?  PTC_LLM_OK: no.  `begun_ns` is when it began, for its own time limit. */
PtcLlmStatus ptc_waiting_end(const PtcLlmRequest *request, int64_t begun_ns);

/* Passes on a text that came all at once, as a single piece, if the request wants pieces. */
void ptc_waiting_hand_on(const PtcLlmRequest *request, PtcArena *arena, PtcLlmReply *out);

#endif
