/* SPDX-License-Identifier: MIT
 * run_dry.h - `ptc run --dry-run`: what would be sent first. */
#ifndef PTC_CLI_AGENT_RUN_DRY_H
#define PTC_CLI_AGENT_RUN_DRY_H

#include "llm/llm.h"

/* Prints a request: for people, or as JSON with the body for the provider if there is a model.  Returns the exit
 * status. */
int ptc_run_dry_print(PtcMem *mem, PtcModel *model, const PtcLlmRequest *request, bool json);

#endif
