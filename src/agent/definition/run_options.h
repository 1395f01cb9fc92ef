/* SPDX-License-Identifier: MIT
 * run_options.h - the options of a run from JSON: the object `run` of a batch, and earlier messages of a
 * conversation. */
#ifndef PTC_AGENT_DEFINITION_RUN_OPTIONS_H
#define PTC_AGENT_DEFINITION_RUN_OPTIONS_H

#include "agent/run/agent_run.h"

/* What a `run` object may contain in addition to PtcAgentOptions. */
typedef struct PtcRunOptions {
    PtcAgentOptions agent;
    PtcLlmRetry retry; /* agent.retry points here when the object has one */
    bool collect_messages, full_requests;
} PtcRunOptions;

/* Fills *out from an object; PTC_NONE and nil count as none.  Texts are in the bench's arena.  False with the fault. */
PTC_MUST_USE bool ptc_run_options_read(PtcBench *b, PtcValue object, const PtcAgentDef *def,
                                       PtcRunOptions *out, PtcWhy *fault);

/* Any value as JSON text in the bench's arena; absent: out of memory. */
PTC_MUST_USE PtcText ptc_run_options_json(PtcBench *b, PtcValue v);

#endif
