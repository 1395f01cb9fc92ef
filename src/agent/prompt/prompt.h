/* SPDX-License-Identifier: MIT
 * prompt.h - what a model is told before its first reply: the system prompt, which stays the same throughout a run so
 * that providers can cache it, and the first message of the user with data, tools, the form of the answer and the
 * mission.  The sentences are in agent_words.c. */
#ifndef PTC_AGENT_PROMPT_PROMPT_H
#define PTC_AGENT_PROMPT_PROMPT_H

#include "agent/definition/definition.h"
#include "agent/step/bench.h"

enum {
    PTC_PROMPT_SAMPLE = 80,       /* characters of a value in the inventory */
    PTC_PROMPT_TEXT_SAMPLE = 200, /* the same in text modes */
    PTC_PROMPT_ENTRIES = 100,     /* of the inventory; the rest are only counted */
};

typedef struct PtcPromptInput {
    PtcValue context; /* as ptc_definition_context gave it */
    /* Of the context, from a previous agent; they take precedence.  May be NULL. */
    const PtcDescriptions *descriptions;
    PtcText journal_log; /* tasks that are done; absent: none */
    PtcText message;     /* of a chat, used unchanged in place of the prompt; absent: the prompt */
    /* What there is to say of other servers that programs may call; absent: nothing. */
    PtcText servers;
} PtcPromptInput;

/* Texts are in the bench's arena. */
typedef struct PtcPrompt {
    PtcText system, user;
    size_t missing; /* placeholders without a value, which stay as written */
} PtcPrompt;

/* False with the fault: the system prompt is longer than prompt_limit, or the prompt is too long once filled in. */
PTC_MUST_USE bool ptc_prompt_make(PtcBench *b, const PtcAgentDef *def, const PtcPromptInput *in,
                                  PtcPrompt *out, PtcWhy *fault);

/* ----------------------------------------------------------------- lists (prompt_list.c) */

/* Appends the data that programs see: for each value a line with name, type, sample and description.  With `programs`
 * false only the values, for a model that writes no programs. */
void ptc_prompt_data(PtcBuf *out, PtcBench *b, const PtcAgentDef *def, const PtcPromptInput *in,
                     bool programs);
/* Appends the tools that programs may call: how to call them, what they return, what they are for. */
void ptc_prompt_tools(PtcBuf *out, const PtcAgentDef *def);
/* Appends what is said of other servers; nothing for a model that writes no programs. */
void ptc_prompt_servers(PtcBuf *out, const PtcAgentDef *def, PtcText servers);

#endif
