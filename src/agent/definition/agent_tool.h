/* SPDX-License-Identifier: MIT
 * agent_tool.h - agents as tools: how a run starts another one inside a tool call and answers the call with its
 * outcome. */
#ifndef PTC_AGENT_DEFINITION_AGENT_TOOL_H
#define PTC_AGENT_DEFINITION_AGENT_TOOL_H

#include "agent/run/agent_run.h"
#include "tool/call.h"

/* The run that the call was made in; NULL: none, and the call has failed. */
PtcAgentRun *ptc_agent_tool_run(PtcToolCall *call);

/* Runs a child for a call, with this context.  NULL: it failed, and the call has been answered.  End it with
 * ptc_agent_tool_end, which also takes NULL. */
PTC_MUST_USE PtcAgentRun *ptc_agent_tool_go(PtcToolCall *call, const PtcAgentDef *def,
                                            const PtcAgentTool *tool, PtcText context, bool free);
void ptc_agent_tool_end(PtcAgentRun *child);

#endif
