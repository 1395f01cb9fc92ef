/* SPDX-License-Identifier: MIT
 * The table of faults.  What always holds: no word stands in it twice. */
#include "agent/agent_fault.h"

#include <stddef.h>

static const struct {
    const char *word, *text;
} faults[PTC_FAULT_COUNT] = {
    [PTC_FAULT_FAILED] = {"failed", "the program ended the run with (fail ...)"},
    [PTC_FAULT_MAX_TURNS] = {"max_turns_exceeded", "all turns were used without an answer"},
    [PTC_FAULT_BUDGET_EXHAUSTED] = {"budget_exhausted",
                                    "all turns and retry turns were used without an answer"},
    [PTC_FAULT_TURN_BUDGET] = {"turn_budget_exhausted",
                               "the turns that this agent shares with others are used up"},
    [PTC_FAULT_MAX_DEPTH] = {"max_depth_exceeded",
                             "agents are nested deeper than max_depth allows"},
    [PTC_FAULT_MISSION_TIMEOUT] = {"mission_timeout", "the time for the mission is over"},
    [PTC_FAULT_MEMORY_EXCEEDED] = {"memory_limit_exceeded",
                                   "what the program defined is more than memory_limit allows"},
    [PTC_FAULT_BUDGET_CALLBACK] = {"budget_callback_exceeded",
                                   "the token limit was exceeded, or the host said stop"},
    [PTC_FAULT_LLM_REQUIRED] = {"llm_required",
                                "no model was given: name one with --llm, or as llm in the agent"},
    [PTC_FAULT_LLM_ERROR] = {"llm_error", NULL},
    [PTC_FAULT_REPLAY_MISMATCH] = {"replay_mismatch", NULL},
    [PTC_FAULT_CANCELLED] = {"cancelled", "the run was cancelled"},
    [PTC_FAULT_NO_MEMORY] = {"no_memory", "out of memory"},
    [PTC_FAULT_INTERNAL] = {"internal_error", NULL},
    [PTC_FAULT_INVALID_AGENT] = {"invalid_agent", NULL},
    [PTC_FAULT_INVALID_INPUT] = {"invalid_input", NULL},
    [PTC_FAULT_CHAIN_ERROR] = {"chain_error", NULL},
    [PTC_FAULT_CHAINED_FAILURE] = {"chained_failure", NULL},
    [PTC_FAULT_NO_CODE] = {"no_code_found", "no program was found in the reply"},
    [PTC_FAULT_SEVERAL_PROGRAMS] = {"multiple_code_blocks",
                                    "more than one program was found in the reply"},
    [PTC_FAULT_WRONG_RETURN] = {"return_validation_failed",
                                "the value is not what is wanted as the answer"},
    [PTC_FAULT_MUST_RETURN] = {"must_return_missing",
                               "the turn had to give the answer and did not"},
    [PTC_FAULT_NO_JSON] = {"json_parse_error", "no JSON was found in the answer"},
    [PTC_FAULT_WRONG_ANSWER] = {"validation_error", "the answer is not what is wanted"},
    [PTC_FAULT_EMPTY] = {"empty_response", "the reply was empty"},
    [PTC_FAULT_FENCED_PROGRAM] = {"fenced_program",
                                  "a program stood in the text instead of a call"},
    [PTC_FAULT_SEVERAL_CALLS] = {"multiple_tool_calls",
                                 "more than one call came where one is wanted"},
    [PTC_FAULT_MIXED_CALLS] = {"mixed_with_lisp_eval", "lisp_eval came beside other calls"},
    [PTC_FAULT_FAIL] = {"fail", "the program ended itself with (fail ...)"},
    [PTC_FAULT_MEMORY_LIMIT] = {"memory_limit",
                                "what the program defined is more than memory_limit allows"},
    [PTC_FAULT_PROGRAM] = {"runtime_error", NULL},
    [PTC_FAULT_UNKNOWN_TOOL] = {"unknown_tool", "a tool was called that is not offered"},
    [PTC_FAULT_ARGS] = {"args_error", "the arguments of the call are wrong"},
    [PTC_FAULT_TOOL] = {"tool_error", NULL},
    [PTC_FAULT_TIMEOUT] = {"timeout", NULL},
    [PTC_FAULT_CALL_LIMIT] = {"tool_call_limit_exceeded", NULL},
};

const char *ptc_agent_fault_word(PtcAgentFault fault)
{
    return faults[fault].word;
}

const char *ptc_agent_fault_text(PtcAgentFault fault)
{
    return faults[fault].text ? faults[fault].text : faults[fault].word;
}

bool ptc_fault_set(PtcWhy *fault, const char *path, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ptc_why_vsay(fault, PTC_WHY_INVALID, PTC_FAULT_INVALID_AGENT, format, args);
    va_end(args);
    return ptc_why_at(fault, "%s", path);
}

bool ptc_fault_input(PtcWhy *fault, const char *path, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ptc_why_vsay(fault, PTC_WHY_INVALID, PTC_FAULT_INVALID_INPUT, format, args);
    va_end(args);
    return ptc_why_at(fault, "%s", path);
}

bool ptc_fault_inside(PtcWhy *fault, const char *path)
{
    if (*path && fault->class != PTC_WHY_NO_MEMORY)
        ptc_why_at(fault, "%s%s%s", path, fault->path[0] ? "." : "", fault->path);
    return false;
}

const char *ptc_fault_outcome(const PtcWhy *fault)
{
    return fault->class == PTC_WHY_NO_MEMORY ? "error" : "invalid";
}

PtcAgentFault ptc_fault_reason(const PtcWhy *fault)
{
    if (fault->class == PTC_WHY_NO_MEMORY)
        return PTC_FAULT_NO_MEMORY;
    return fault->code == PTC_FAULT_INVALID_INPUT ? PTC_FAULT_INVALID_INPUT
                                                  : PTC_FAULT_INVALID_AGENT;
}
