/* SPDX-License-Identifier: MIT
 * agent_chain.h - agents one after the other: the answer of each is the context of the next.  A single agent is a
 * chain of one.  Each has a tree of its own; all of them share the host, the token limit and the cancel flag. */
#ifndef PTC_AGENT_RUN_AGENT_CHAIN_H
#define PTC_AGENT_RUN_AGENT_CHAIN_H

#include "agent/run/agent_outcome.h"

enum { PTC_CHAIN_AGENTS = 32 };

typedef struct PtcChain {
    PtcAgentDef *const *defs; /* borrowed */
    size_t count;
    PtcTreeHost host;
    /* For the first; the others get the same without input, messages and message. */
    PtcAgentOptions options;
    bool stream; /* give the host pieces of answers, of agents that can stream theirs */
    int64_t llm_timeout_ms;
    /* Filled in by ptc_chain_run: */
    struct PtcChainLink {
        PtcAgentTree tree;
        PtcAgentRun run;
    } * links;
    size_t ran;           /* links that were started */
    PtcAgentFault reason; /* chain_error, chained_failure; NONE: the last run's own */
    char path[320];       /* chain_error: what is missing */
    char message[700];
    PtcMem mem;
} PtcChain;

/* Runs the agents in order until one fails.  False: out of memory.  ptc_chain_end in any case. */
PTC_MUST_USE bool ptc_chain_run(PtcChain *chain);
void ptc_chain_end(PtcChain *chain);

/* The last run that was started; NULL: none was. */
PtcAgentRun *ptc_chain_last(PtcChain *chain);
/* Did the last agent give an answer? */
bool ptc_chain_ok(const PtcChain *chain);
/* What the agents that were started used, each with those that it started; `but_last`: without the last one. */
PtcTreeSums ptc_chain_sums(const PtcChain *chain, bool but_last);
/* Appends the members of the outcome: those of the last run, with the earlier runs in `chain`. */
void ptc_chain_write(PtcChain *chain, const PtcOutcomeOptions *options, PtcBuf *out);

#endif
