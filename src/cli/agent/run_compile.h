/* SPDX-License-Identifier: MIT
 * run_compile.h - `ptc run --compile FILE` and `ptc eval --compiled FILE`. */
#ifndef PTC_CLI_AGENT_RUN_COMPILE_H
#define PTC_CLI_AGENT_RUN_COMPILE_H

#include "agent/definition/definition.h"
#include "cli/agent/agent_host.h"
#include "cli/agent/run_agent.h"

/* Asks the agent once, on a sample (JSON or absent), and writes its program to the file; returns the exit status. */
int ptc_run_compile(PtcMem *mem, PtcAgentHost *host, const PtcAgentDef *def,
                    const PtcRunCommand *command, PtcText sample, const PtcCancel *cancel);

/* Runs a compiled agent on a context (JSON, absent: {}) and prints the answer; returns the exit status. */
int ptc_run_compiled(PtcMem *mem, const char *file, PtcText context, const char *llm);

#endif
