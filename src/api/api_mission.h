/* SPDX-License-Identifier: MIT
 * api_mission.h - a run of an agent as the API keeps it, and what its observers are told. */
#ifndef PTC_API_API_MISSION_H
#define PTC_API_API_MISSION_H

#include "agent/definition/run_options.h"
#include "agent/run/agent_chain.h"
#include "agent/run/agent_chat.h"
#include "agent/run/agent_trace.h"
#include "api/api_ask.h"
#include "api/api_int.h"

/* What a mission is used for. */
typedef enum { PTC_USE_NEW, PTC_USE_ONCE, PTC_USE_CHAT, PTC_USE_REFUSED } PtcMissionUse;

/* A run of an agent, or a chat with one, as a host holds it: its own copies of the options, the agents that it
 * holds, and what ran.  It is used by one thread at a time; only cancelling is for any. */
struct PtcMission {
    PtcMem mem;
    PtcMissionOptions o;
    PtcAgent *agents[PTC_CHAIN_AGENTS]; /* held: the agent, and those that follow it */
    size_t agent_count;
    PtcBench bench; /* of the options */
    PtcRunOptions options;
    PtcAskTarget target;
    PtcModel *model; /* or NULL: the agent's own */
    PtcCancel cancel;
    PtcMissionUse use;
    PtcChain chain;    /* ONCE */
    PtcAgentChat chat; /* CHAT */
    PtcAgentRun said;  /* CHAT: the run of the last message; REFUSED: why there is none */
    bool begun;        /* ... which must be ended */
    PtcAgentRun *last; /* the run whose outcome this is; NULL: none was started */
    PtcAgentTrace trace;
    bool tracing;
    bool ended;        /* json and text are there, ending in NUL */
    PtcBuf json, text; /* the outcome; its answer, or an error message */
    PtcBuf compiled;   /* ending in NUL; empty: nothing */
};

/* --- api_watch.c --- */

/* Fills in the functions of a tree that report to the host's. */
void ptc_api_watch_fill(PtcMission *mission, PtcTreeHost *host);
/* What the agents used so far: all of a chain, or those of the last message. */
PtcTreeSums ptc_api_watch_sums(const PtcMission *mission);
/* Begins the trace, unless there is none or it has begun; ends it. */
void ptc_api_watch_begin(PtcMission *mission);
void ptc_api_watch_end(PtcMission *mission);

#endif
