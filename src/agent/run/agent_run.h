/* SPDX-License-Identifier: MIT
 * agent_run.h - one agent from its first request to its outcome: the loop that performs what the step (step.h)
 * decides.
 *
 *     PtcAgentTree tree;            ptc_tree_init(&tree, ...);
 *     PtcAgentRun run;              ptc_agent_run_begin(&run, &tree, def, &options);
 *                                   ptc_agent_run_go(&run);
 *                                   ptc_agent_outcome_write(&run, ...);       (agent_outcome.h)
 *                                   ptc_agent_run_end(&run);
 *
 * A run belongs to the thread that drives it.  Agents that it starts run on the thread that calls the tool, which
 * inside pmap is one of pmap's; a run does not end before they do. */
#ifndef PTC_AGENT_RUN_AGENT_RUN_H
#define PTC_AGENT_RUN_AGENT_RUN_H

#include "agent/run/agent_tree.h"
#include "agent/run/work.h"

enum { PTC_AGENT_PATH = 1200 };

/* What one run is given; ptc_agent_options gives the defaults.  Everything is borrowed. */
typedef struct PtcAgentOptions {
    PtcModel *model; /* NULL: the definition's, then the parent's */
    PtcWorkInput input;
    const PtcMessage *messages; /* of an earlier conversation */
    size_t message_count;
    PtcText message;                     /* of a chat, in place of the prompt; absent: the prompt */
    PtcWork *work;                       /* of a conversation; NULL: one of its own */
    const PtcDescriptions *descriptions; /* of the context, from the previous agent; or NULL */
    int64_t token_limit;                 /* -1: none */
    bool return_partial;
    int64_t stop_after_requests; /* -1: never */
    const PtcLlmRetry *retry;    /* NULL: the definition's */
    int64_t nesting_depth;       /* levels above the top agent */
    const PtcCancel *cancel;     /* or NULL */
    bool stream;                 /* give the host pieces of the answer */
} PtcAgentOptions;

PtcAgentOptions ptc_agent_options(void);

typedef struct PtcAgentRun PtcAgentRun;
/* One agent on its way.  It belongs to the thread that runs it, except what the tree's lock guards: the step, and
 * what is claimed of the budget.  A child runs inside the tool call that started it, so it ends before its
 * parent. */
struct PtcAgentRun {
    PtcAgentTree *tree;
    PtcAgentRun *parent; /* NULL: the top agent */
    const PtcAgentDef *def;
    const PtcAgentTool *tool; /* that started it; NULL: the top agent */
    PtcAgentOptions options;
    PtcModel *model; /* that is asked, under the lock of the tree once the run has begun */
    PtcModel *fallbacks[PTC_AGENT_FALLBACKS];
    size_t fallback_count;
    uint64_t number; /* in the tree, from 1 */
    char path[PTC_AGENT_PATH];
    int64_t depth, max_depth;
    int64_t began_ns, ended_ns, deadline_ns;
    bool hurried;          /* the deadline was asked for; else it is the tree's own */
    int64_t request;       /* number of its last request in the tree */
    int64_t turn_began_ns; /* when this turn's first request was made */
    bool free_of_budget;   /* llm tools spend no turns */
    PtcWork own, *work;    /* `own`, unless the options bring one */
    bool work_open;
    PtcStep step;
    atomic_int_fast64_t children;
    /* Effects that must not be repeated, which no count of its tools shows: of an agent that it started and that
     * failed, or in other servers. */
    atomic_bool unsafe;
    bool invalid; /* nothing ran: fault says why */
    PtcWhy fault;
    PtcText mission, system; /* for --dry-run */
    PtcBench bench;          /* of the prompt */
    size_t missing;          /* placeholders without a value */
};

/* Fills in a run.  Mistakes are reported by ptc_agent_run_go. */
void ptc_agent_run_begin(PtcAgentRun *run, PtcAgentTree *tree, const PtcAgentDef *def,
                         const PtcAgentOptions *options);
/* The same for an agent that another one starts with the tool of this name. */
void ptc_agent_run_begin_child(PtcAgentRun *run, PtcAgentRun *parent, const PtcAgentDef *def,
                               PtcText tool, const PtcAgentOptions *options);
/* Runs it to its end. */
void ptc_agent_run_go(PtcAgentRun *run);
/* Builds the first request without sending it; this needs no model, and the request lives as long as the run.  False:
 * there is none, and the run has ended as after ptc_agent_run_go. */
bool ptc_agent_run_prepare(PtcAgentRun *run, PtcLlmRequest *request);
void ptc_agent_run_end(PtcAgentRun *run);

#endif
