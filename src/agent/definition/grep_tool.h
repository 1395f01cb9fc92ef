/* SPDX-License-Identifier: MIT
 * grep_tool.h - the built-in tools grep and grep-n: lines of a text that match a pattern, ignoring case.  Patterns
 * are regular expressions as in programs; one that contains \| is read as grep's own, where \( \| \) group and
 * choose. */
#ifndef PTC_AGENT_DEFINITION_GREP_TOOL_H
#define PTC_AGENT_DEFINITION_GREP_TOOL_H

#include "tool/toolset.h"

#define PTC_GREP_SIGNATURE "(pattern :string, text :string) -> [:string]"
#define PTC_GREP_N_SIGNATURE \
    "(pattern :string, text :string, context :int?) -> [{line :int, text :string, match :bool}]"

/* The functions of the two tools; they need no user. */
PtcToolAnswer ptc_grep_tool(PtcToolCall *call, void *user);
PtcToolAnswer ptc_grep_tool_n(PtcToolCall *call, void *user);

#endif
