/* SPDX-License-Identifier: MIT
 * waiting.h - what models without a network share: letting time pass, and handing over a reply that is there at once. */
#ifndef PTC_LLM_WAITING_H
#define PTC_LLM_WAITING_H

#include "llm/reply_maker.h"

enum { PTC_WAITING_SLICE_MS = 20 };

/* Waits so long, or until the request must end, which then fails the reply in place of whatever it was. */
void ptc_waiting_sleep(const PtcLlmRequest *request, int64_t ms, PtcReply *reply);

/* Must the request end now?  PTC_LLM_OK: no.  `begun_ns` is when it began, for its own limit. */
PtcLlmStatus ptc_waiting_end(const PtcLlmRequest *request, int64_t begun_ns);

/* Ends a reply whose text came whole: whoever wants pieces gets it in one. */
void ptc_waiting_finish(const PtcLlmRequest *request, PtcReply *reply, PtcArena *arena,
                        PtcLlmReply *out);

#endif
