/* SPDX-License-Identifier: MIT
 * definition_parts.h - the parts of an agent's definition (definition.h). */
#ifndef PTC_AGENT_DEFINITION_DEFINITION_PARTS_H
#define PTC_AGENT_DEFINITION_DEFINITION_PARTS_H

#include "llm/llm.h"
#include "tool/toolset.h"

enum {
    PTC_AGENT_FILE_BYTES = PTC_MB,
    PTC_AGENT_FILES = 64,      /* that one agent may reach */
    PTC_AGENT_FILE_DEPTH = 16, /* files that name each other, and objects inside objects */
    PTC_AGENT_PLAN = 100,      /* steps */
    PTC_AGENT_DESCRIBED = 1000,
    PTC_AGENT_DEPTH_MAX = 16,
    PTC_AGENT_FALLBACKS = 8, /* models */
    PTC_AGENT_TURNS_MAX = 1000,
    PTC_AGENT_BUDGET_MAX = 100000,
};

/* -------------------------------------------------------------------------------- parts */

/* How the model sends programs and answers. */
typedef enum {
    PTC_MODE_CONTENT,   /* a program in the text */
    PTC_MODE_TOOL_CALL, /* a program through the tool lisp_eval, or an answer */
    PTC_MODE_TEXT,      /* an answer, or native calls */
    PTC_MODE_COMBINED,  /* an answer, native calls, or lisp_eval */
    PTC_MODE_COUNT
} PtcAgentMode;

typedef struct PtcPlanStep {
    PtcText id, text;
} PtcPlanStep;

/* A model by its name, or the replies of one as JSON; the other one is absent. */
typedef struct PtcModelChoice {
    PtcText name, script;
} PtcModelChoice;

/* A name and its meaning. */
typedef struct PtcDescribed {
    PtcText key, text;
} PtcDescribed;

typedef struct PtcDescriptions {
    PtcDescribed *items;
    size_t count;
} PtcDescriptions;

typedef enum { PTC_BACKOFF_EXPONENTIAL, PTC_BACKOFF_LINEAR, PTC_BACKOFF_CONSTANT } PtcBackoff;

typedef struct PtcLlmRetry {
    int64_t max_attempts; /* 0: depends on the model, 3 over a network, otherwise 1 */
    PtcBackoff backoff;
    int64_t base_delay_ms;
    unsigned retryable; /* bits 1u << PtcLlmStatus */
} PtcLlmRetry;

typedef struct PtcCompactionRule {
    bool enabled;
    int64_t turns, tokens; /* 0: not a trigger */
    int64_t keep_recent_turns;
    bool keep_initial_user;
} PtcCompactionRule;

/* Limits on what a model is shown. */
typedef struct PtcAgentFormat {
    int64_t feedback_limit; /* items */
    int64_t feedback_max_chars, preview_max_chars, history_max_bytes;
    int64_t result_limit; /* items */
    int64_t result_max_chars, max_print_length;
    int64_t output_max_bytes; /* prints and result of a turn together */
    bool log_in_user_message; /* the journal's log; else in the system prompt */
    bool context_in_system, minimal_turn_info;
} PtcAgentFormat;

typedef struct PtcThinking {
    bool prose; /* the reply may reason before its program */
    PtcEffort effort;
    int64_t budget_tokens; /* 0: by effort */
} PtcThinking;

typedef struct PtcSystemPrompt {
    PtcText text; /* in place of our prompt; absent: ours, with these around it */
    PtcText prefix, suffix, language_spec, output_format;
} PtcSystemPrompt;

/* -------------------------------------------------------------------------------- tools */

typedef enum {
    PTC_HTTP_GET,
    PTC_HTTP_POST,
    PTC_HTTP_PUT,
    PTC_HTTP_PATCH,
    PTC_HTTP_DELETE,
} PtcHttpMethod;

typedef struct PtcHttpHeader {
    PtcText name, value; /* the value as written: ${NAME} is looked up when the tool is called */
} PtcHttpHeader;

typedef struct PtcHttpTool {
    PtcText url;
    PtcHttpMethod method;
    const PtcHttpHeader *headers;
    size_t header_count;
} PtcHttpTool;

typedef struct PtcAgentDef PtcAgentDef;

/* What an agent knows about the tool with the same number in its set.  It is the `user` of tools that need a run. */
typedef struct PtcAgentTool {
    const PtcAgentDef *owner;
    PtcAgentDef *child;    /* agent, llm: held; self: the owner, not held */
    PtcText model, script; /* agent, llm: the tool's model, or replies as JSON; absent: none */
    const PtcHttpTool *http;
    const struct PtcResponseTemplate *response; /* llm; or NULL */
    PtcText native_name;      /* its name at a provider: underscores for hyphens */
    bool native, in_programs; /* who may call it */
} PtcAgentTool;

#endif
