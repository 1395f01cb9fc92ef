/* SPDX-License-Identifier: MIT */
#include "agent/agent_words.h"

const char *ptc_words_builtin(PtcAgentToolKind kind)
{
    switch (kind) {
    case PTC_AGENT_TOOL_GREP:
        return "Lines of a text (not of a file) that match a regular expression, in any case.";
    case PTC_AGENT_TOOL_GREP_N:
        return "The same with line numbers; context: lines before and after each match.";
    case PTC_AGENT_TOOL_LLM_QUERY:
        return "Asks a language model. prompt may have {{name}} placeholders, filled from the "
               "other arguments; signature is the type of the answer, :string by default.";
    default: return "";
    }
}
