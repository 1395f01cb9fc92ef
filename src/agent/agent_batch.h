/* SPDX-License-Identifier: MIT
 * agent_batch.h - one agent run as a line of JSON in and a line of JSON out (docs/agents.md): `ptc run --jsonl`.
 *
 * Every model is a script, so nothing goes over a network and answers can be compared as text. */
#ifndef PTC_AGENT_AGENT_BATCH_H
#define PTC_AGENT_AGENT_BATCH_H

#include "agent/agent_run.h"

typedef struct PtcAgentBatchOptions {
    bool allow_tools;        /* command and http */
    int64_t deadline_ms;     /* of a line at most; 0: what its agent says */
    const PtcCancel *cancel; /* or NULL */
} PtcAgentBatchOptions;

/* Appends the answer to a request.  False: out of memory. */
PTC_MUST_USE bool ptc_agent_batch_line(const PtcAgentBatchOptions *options, PtcText line,
                                       PtcBuf *out);

#endif
