/* SPDX-License-Identifier: MIT
 * agent_batch.h - one agent run as a line of JSON in and a line of JSON out (docs/agents.md): `ptc run --jsonl`.
 *
 * Every model is a script, so answers can be compared as text, and nothing goes over a network except the requests of
 * http tools, where they are allowed. */
#ifndef PTC_AGENT_RUN_AGENT_BATCH_H
#define PTC_AGENT_RUN_AGENT_BATCH_H

#include "agent/run/agent_run.h"

typedef struct PtcAgentBatchOptions {
    bool allow_tools;        /* command and http */
    int64_t deadline_ms;     /* of a line at most; 0: what its agent says */
    const PtcCancel *cancel; /* or NULL */
    /* Who sends the requests of http tools, and knows the variables in their headers; NULL: they fail.  Models are
     * scripts all the same. */
    const PtcTreeHost *host;
} PtcAgentBatchOptions;

/* Appends the answer to a request.  False: out of memory. */
PTC_MUST_USE bool ptc_agent_batch_line(const PtcAgentBatchOptions *options, PtcText line,
                                       PtcBuf *out);

#endif
