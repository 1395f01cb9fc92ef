/* SPDX-License-Identifier: MIT
 * agent_outcome.h - how a run ended, as one JSON object (docs/agents.md). */
#ifndef PTC_AGENT_RUN_AGENT_OUTCOME_H
#define PTC_AGENT_RUN_AGENT_OUTCOME_H

#include "agent/run/agent_run.h"

typedef struct PtcOutcomeOptions {
    bool messages; /* the whole transcript */
    bool duration; /* usage.duration_ms */
} PtcOutcomeOptions;

/* "ok", "error" or "invalid". */
const char *ptc_agent_outcome_name(const PtcAgentRun *run);

/* "normal", "must_return" or "retry". */
const char *ptc_turn_type_name(PtcTurnType type);

/* Can the run be repeated without doing something twice that must be done only once? */
bool ptc_agent_outcome_safe(const PtcAgentRun *run);

/* Appends the members of the object, without its braces, so that a caller can add its own. */
void ptc_agent_outcome_write(PtcAgentRun *run, const PtcOutcomeOptions *options, PtcBuf *out);

/* Appends a message: {"role","content","note"?,"tool_calls"?,"tool_call_id"?}. */
void ptc_agent_message_write(PtcBuf *out, const PtcMessage *message);

#endif
