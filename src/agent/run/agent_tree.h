/* SPDX-License-Identifier: MIT
 * agent_tree.h - what an agent and all agents that it starts share: turns, tokens, the deadline, models, and the
 * observer.
 *
 * One lock covers the counters.  A loop collects its facts, steps and claims its turn while it holds the lock
 * (agent_run.c), so that no two agents can claim the same turn and no request goes out after a limit has been
 * reached.  What always holds: turns at the start = turns used + turns claimed + turns left. */
#ifndef PTC_AGENT_RUN_AGENT_TREE_H
#define PTC_AGENT_RUN_AGENT_TREE_H

#include <pthread.h>

#include "agent/step/step.h"
#include "base/why.h"
#include "tool/remote/remote.h"

enum {
    PTC_TREE_REQUESTS =
        1000, /* by all agents: llm-query costs no turns, so something else must stop it */
    PTC_TREE_HOURS = 1,    /* until a tree without a deadline of its own ends */
    PTC_TREE_TOOLS = 1000, /* names in the list of tools that ran */
};

/* Something happened; the texts are only good during the call. */
typedef enum {
    PTC_PROGRESS_RUN_BEGAN,
    PTC_PROGRESS_RUN_ENDED,
    PTC_PROGRESS_ASKED,
    PTC_PROGRESS_ANSWERED,
    PTC_PROGRESS_PROGRAM_BEGAN,
    PTC_PROGRESS_PROGRAM_ENDED,
    PTC_PROGRESS_CALLING, /* native calls begin ... */
    PTC_PROGRESS_CALLED,  /* ... and have ended */
    PTC_PROGRESS_TURN_ENDED,
} PtcProgressKind;

typedef struct PtcProgress {
    PtcProgressKind kind;
    uint64_t run, parent; /* numbers of runs, from 1; a parent of 0: none */
    PtcText agent;        /* path of tool names, "" for the top */
    int64_t turn;         /* from 1 */
    int64_t attempt;      /* ASKED, ANSWERED: which request of the turn it is, from 1 */
    int64_t at_ns;        /* since the tree began */
    int64_t duration_ns;  /* *_ENDED, ANSWERED, CALLED; a turn's from its first request on */
    const PtcLlmRequest *request; /* ASKED */
    const PtcLlmReply *reply;     /* ANSWERED */
    PtcText program;              /* PROGRAM_BEGAN */
    const PtcRan *ran;            /* PROGRAM_ENDED */
    PtcOutcome *outcome;          /* PROGRAM_ENDED, of the engine; may be NULL */
    PtcText upstream_calls;       /* PROGRAM_ENDED, see trace/call_log.h; or absent */
    const PtcCallOrder *orders;   /* CALLING, CALLED */
    const PtcCallResult *results; /* CALLED */
    size_t call_count;
    const PtcTurn *ended; /* TURN_ENDED */
    const struct PtcAgentRun *what;
} PtcProgress;

/* Other servers that programs of all agents of a tree may call.  The functions are called on the thread of the program,
 * without the lock of the tree; agents that run side by side call them at the same time. */
typedef struct PtcTreeServers {
    PtcText about; /* what models are told of them; absent: nothing */
    /* A program begins.  NULL: out of memory. */
    const PtcRemoteRun *(*begin)(void *user, const struct PtcAgentRun *run);
    /* It has stopped because somebody must be asked about what it calls (kind suspended).  True: it is run again, with
     * the same clock.  *waited_ns: for how long nothing could be done, which counts for no deadline of this agent. */
    bool (*suspended)(void *user, const PtcRemoteRun *remote, int64_t *waited_ns);
    /* It has ended; `call_log` gets the calls it made (trace/call_log.h), or nothing if they are told elsewhere.
     * False: it has done something that must not be done twice. */
    bool (*end)(void *user, const PtcRemoteRun *remote, PtcBuf *call_log);
    void *user;
} PtcTreeServers;

/* What a tree is given; every member may be zero. */
typedef struct PtcTreeHost {
    /* Opens a model named by a definition, a tool or (`program`) a program.  NULL with the reason.  The model then
     * belongs to the tree, which asks for each name only once. */
    PtcModel *(*open_model)(void *user, PtcText spec, bool program, PtcWhy *why);
    /* The same for a script: replies as a JSON list. */
    PtcModel *(*open_script)(void *user, PtcText script, PtcWhy *why);
    /* Called under the lock of the tree, from any thread. */
    void (*progress)(void *user, const PtcProgress *progress);
    void *progress_user;
    /* True stops the run.  Asked with the tree's lock held, after every reply and before every request. */
    bool (*stop)(void *user, int64_t requests, const PtcTokens *tokens);
    void *stop_user;
    const PtcTreeServers *servers; /* or NULL */
    /* Pieces of the top agent's answer as they come. */
    bool (*stream)(void *user, PtcText piece);
    void *stream_user;
    /* For http tools: who sends (NULL: they fail), and the value of an environment variable, which is a secret. */
    struct PtcClient *client;
    const char *(*variable)(void *user, const char *name);
    const struct PtcSecrets *secrets; /* blotted out of what http tools give; or NULL */
    void *user;
} PtcTreeHost;

typedef struct PtcTreeModel {
    PtcText key; /* the name, or the text of the script, by address */
    bool script;
    PtcModel *model;
    struct PtcTreeModel *next;
} PtcTreeModel;

/* How often a tool ran. */
typedef struct PtcToolCount {
    PtcText name;
    uint64_t times;
} PtcToolCount;

typedef struct PtcTreeSums {
    int64_t turns, requests, errors;
    PtcTokens tokens;
} PtcTreeSums;

/* Adds what another tree used. */
void ptc_tree_add_sums(PtcTreeSums *all, const PtcTreeSums *more);

typedef struct PtcAgentTree {
    /* It guards what is named below, and the step of every agent of the tree.  The threads of all agents take it
     * for a step, and while a model is opened; no program runs and no model is asked under it.  `progress` of the
     * host is called under it and may take locks of the host. */
    pthread_mutex_t lock;
    PtcTreeHost host;
    int64_t began_ns, deadline_ns;
    int64_t llm_timeout_ms; /* of one request; 0: the model's */
    int64_t tokens_before;  /* of earlier agents that share the limit of tokens */
    /* under the lock: */
    int64_t budget; /* turns that are left, not counting claimed ones */
    PtcTreeSums sums;
    uint64_t runs;
    PtcTreeModel *models;
    PtcToolCount *tools;
    size_t tool_count;
    PtcMem mem;
    PtcArena arena; /* of models and names */
} PtcAgentTree;

/* A tree that ends `deadline_ms` from now; 0: after an hour.  False: out of memory. */
PTC_MUST_USE bool ptc_tree_init(PtcAgentTree *tree, const PtcTreeHost *host, int64_t turn_budget,
                                int64_t deadline_ms);
/* Starts counting turns, tokens and time afresh, for another top agent after the last one has ended; models stay
 * open. */
void ptc_tree_renew(PtcAgentTree *tree, int64_t turn_budget, int64_t deadline_ms);
/* After all runs have ended. */
void ptc_tree_deinit(PtcAgentTree *tree);

/* The model of that name, or the one that answers with these replies; opened when first asked for.  NULL with the
 * reason. */
PtcModel *ptc_tree_model(PtcAgentTree *tree, PtcText spec, bool program, PtcWhy *why);
PtcModel *ptc_tree_script(PtcAgentTree *tree, PtcText script, PtcWhy *why);

/* --- with the lock held --- */

/* Tells the observer. */
void ptc_tree_tell(PtcAgentTree *tree, PtcProgress progress);
void ptc_tree_add_tokens(PtcAgentTree *tree, const PtcTokens *tokens);
/* All that count for the limit. */
int64_t ptc_tree_tokens(const PtcAgentTree *tree);
void ptc_tree_count_tool(PtcAgentTree *tree, PtcText name, uint64_t times);

#endif
