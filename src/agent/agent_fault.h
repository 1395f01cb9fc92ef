/* SPDX-License-Identifier: MIT
 * agent_fault.h - why an agent cannot begin, a call is not made, a turn or a run gives no answer: one table of codes.
 * Everybody decides by the code; its word is for outcomes, traces and hosts, its text for people and models. */
#ifndef PTC_AGENT_AGENT_FAULT_H
#define PTC_AGENT_AGENT_FAULT_H

#include "base/why.h"

typedef enum PtcAgentFault {
    PTC_FAULT_NONE,
    /* of runs */
    PTC_FAULT_FAILED, /* (fail v) */
    PTC_FAULT_MAX_TURNS,
    PTC_FAULT_BUDGET_EXHAUSTED,
    PTC_FAULT_TURN_BUDGET,
    PTC_FAULT_MAX_DEPTH,
    PTC_FAULT_MISSION_TIMEOUT,
    PTC_FAULT_MEMORY_EXCEEDED,
    PTC_FAULT_BUDGET_CALLBACK,
    PTC_FAULT_LLM_REQUIRED,
    PTC_FAULT_LLM_ERROR, /* the class of the request's failure says more */
    PTC_FAULT_REPLAY_MISMATCH,
    PTC_FAULT_CANCELLED,
    PTC_FAULT_NO_MEMORY,
    PTC_FAULT_INTERNAL,
    /* of runs that do not begin, and of chains */
    PTC_FAULT_INVALID_AGENT,
    PTC_FAULT_INVALID_INPUT,
    PTC_FAULT_CHAIN_ERROR,
    PTC_FAULT_CHAINED_FAILURE,
    /* of turns */
    PTC_FAULT_NO_CODE,
    PTC_FAULT_SEVERAL_PROGRAMS,
    PTC_FAULT_WRONG_RETURN,
    PTC_FAULT_MUST_RETURN,
    PTC_FAULT_NO_JSON,
    PTC_FAULT_WRONG_ANSWER,
    PTC_FAULT_EMPTY,
    PTC_FAULT_FENCED_PROGRAM,
    PTC_FAULT_SEVERAL_CALLS,
    PTC_FAULT_MIXED_CALLS,
    PTC_FAULT_FAIL, /* (fail v) in a program that does not end the run */
    PTC_FAULT_MEMORY_LIMIT,
    PTC_FAULT_PROGRAM, /* an error or a limit of the program, which has its own word */
    /* of calls, and of turns with such a call */
    PTC_FAULT_UNKNOWN_TOOL,
    PTC_FAULT_ARGS,
    PTC_FAULT_TOOL,
    PTC_FAULT_TIMEOUT,
    PTC_FAULT_CALL_LIMIT,
    PTC_FAULT_COUNT
} PtcAgentFault;

/* The word; NULL for PTC_FAULT_NONE. */
const char *ptc_agent_fault_word(PtcAgentFault fault);
/* The sentence for people; the word if it has none. */
const char *ptc_agent_fault_text(PtcAgentFault fault);

/* What is wrong with an agent or with its input is said in a PtcWhy, whose path is such as tools.search.expose or
 * context.n ("": the whole) and whose code is PTC_FAULT_INVALID_AGENT or PTC_FAULT_INVALID_INPUT.  Always false. */
bool ptc_fault_set(PtcWhy *fault, const char *path, const char *format, ...) PTC_PRINTF(3, 4);
bool ptc_fault_input(PtcWhy *fault, const char *path, const char *format, ...) PTC_PRINTF(3, 4);
/* The fault is further inside: this is put in front of its path. */
bool ptc_fault_inside(PtcWhy *fault, const char *path);

/* How a run ends that such a fault keeps from beginning: outcome and reason.  Without memory nothing is wrong with
 * the agent or its input. */
const char *ptc_fault_outcome(const PtcWhy *fault);
PtcAgentFault ptc_fault_reason(const PtcWhy *fault);

#endif
