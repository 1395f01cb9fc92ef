/* SPDX-License-Identifier: MIT
 * run_agent.h - `ptc run FILE`: one agent, or a chain of them, from the command line. */
#ifndef PTC_CLI_AGENT_RUN_AGENT_H
#define PTC_CLI_AGENT_RUN_AGENT_H

#include "base/mem.h"
#include "cli/upstreams/upstreams_open.h"

/* The options of the command; see cmd_run.c. */
typedef struct PtcRunCommand {
    bool jsonl, allow_tools, json, messages, dry_run, replay_loose, verbose;
    const char *context, *llm, *models, *trace, *otlp, *record, *journal, *compile, *sample;
    PtcOptionList then, chunks, data, dbs;
    int64_t token_limit, llm_timeout_ms; /* -1: no limit; 0: the default */
    int exceeded;                        /* 1: return_partial */
    int check;                           /* PTC_CHECK_*; -1: as the agents say */
    PtcUpstreamsOptions upstreams;
} PtcRunCommand;

/* Runs the agent in the file; returns the exit status. */
int ptc_run_agent(PtcMem *mem, const PtcRunCommand *command, const char *path);

#endif
