/* SPDX-License-Identifier: MIT
 * agent_upstreams.h - upstreams for the agents of `ptc run` and `ptc chat`: what their models are told, what their
 * programs may call, who is asked, and what came of it.
 *
 *     ptc_agent_upstreams_open(&a, mem, &config, &status);
 *     tree_host.servers = ptc_agent_upstreams_servers(&a);       NULL: there are none
 *     ... agents run ...
 *     ptc_agent_upstreams_write(&a, failed, &json), ptc_agent_upstreams_say(&a, failed);
 *     ptc_agent_upstreams_close(&a);
 *
 * Each program is a run of its own for the upstreams, so that agents can run side by side and the limits of calls are
 * those of a program. */
#ifndef PTC_CLI_AGENT_AGENT_UPSTREAMS_H
#define PTC_CLI_AGENT_AGENT_UPSTREAMS_H

#include "agent/run/agent_tree.h"
#include "cli/agent/run_live.h"
#include "cli/upstreams/upstreams_open.h"

typedef struct PtcAgentUpstreamsConfig {
    const char *command; /* for messages: "run" */
    const PtcUpstreamsOptions *options;
    struct PtcSecrets *records; /* gets what upstreams must keep secret */
    PtcCancel *cancel; /* of the agents; asked when a person ends them in place of an answer */
    PtcRunLive *live;  /* whose line makes room for questions; or NULL */
    bool traced;       /* a trace shows what was asked and answered */
    /* Upstreams that were never listed are started, so that models can be told of their tools. */
    bool start;
} PtcAgentUpstreamsConfig;

/* How often a tool did something that is no read; see PtcRemote.effects. */
typedef struct PtcUpstreamEffect {
    PtcText name;
    size_t list; /* of ptc_effects_lists */
    uint64_t times;
} PtcUpstreamEffect;

typedef struct PtcAgentUpstreams {
    PtcAgentUpstreamsConfig config;
    PtcMem *mem;
    PtcUpstreams upstreams;
    PtcTreeServers servers;
    PtcBuf about;
    /* It lets one agent at a time ask the person, and is held until there is an answer.  The locks of the manager
     * and of the line that shows progress are taken inside; it guards no member. */
    pthread_mutex_t asking;
    /* It guards the rest.  An agent takes it when a program has ended, to add what it called; no other lock is
     * taken inside. */
    pthread_mutex_t lock;
    PtcBuf calls; /* the logs of all programs as one array, which is still open */
    uint64_t call_count, calls_left_out;
    PtcUpstreamEffect *effects;
    size_t effect_count, effect_cap;
    int again; /* 0: safe, 1: unknown, 2: unsafe */
} PtcAgentUpstreams;

/* Reads the files that the options name.  False: a message is on standard error, and `status` the exit status.
 * ptc_agent_upstreams_close in any case. */
PTC_MUST_USE bool ptc_agent_upstreams_open(PtcAgentUpstreams *a, PtcMem *mem,
                                           const PtcAgentUpstreamsConfig *config, int *status);
/* After all agents. */
void ptc_agent_upstreams_close(PtcAgentUpstreams *a);

const PtcTreeServers *ptc_agent_upstreams_servers(const PtcAgentUpstreams *a);
/* Appends the members "upstream_calls" and, when there is something to tell, "upstream_effects" of an outcome. */
void ptc_agent_upstreams_write(PtcAgentUpstreams *a, bool failed, PtcBuf *json);
/* Says on standard error what took effect, if there is something to tell. */
void ptc_agent_upstreams_say(PtcAgentUpstreams *a, bool failed);
/* Forgets what was called so far. */
void ptc_agent_upstreams_forget(PtcAgentUpstreams *a);

#endif
