/* SPDX-License-Identifier: MIT
 * agent_kinds.h - the kinds of tools that an agent may have (kind.h), and how those are read that need
 * one. */
#ifndef PTC_AGENT_AGENT_KINDS_H
#define PTC_AGENT_AGENT_KINDS_H

#include "agent/definition/definition_int.h"
#include "tool/kind/kind.h"

/* All kinds, those that need no agent among them; NULL ends them. */
extern const PtcToolKind *const ptc_agent_kinds[];

extern const PtcToolKind ptc_agent_kind, ptc_self_kind;    /* agent_tool.c */
extern const PtcToolKind ptc_llm_kind, ptc_llm_query_kind; /* llm_tool.c; the second is built in */
extern const PtcToolKind ptc_http_kind;                    /* http_tool.c */
extern const PtcToolKind ptc_grep_kind, ptc_grep_n_kind;   /* grep_tool.c; built in */

/* Reads a tool by `read`, which makes the tool's note and says what is wrong with paths behind the key, and the model
 * beside it (definition_tools.c). */
bool ptc_definition_read_kind(PtcToolReader *r, PtcValue v,
                              bool (*read)(PtcFieldReader *r, PtcValue v, PtcTool *tool));

#endif
