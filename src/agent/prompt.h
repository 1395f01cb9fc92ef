/* SPDX-License-Identifier: MIT
 * prompt.h - what a model is told before its first reply: the system prompt, which stays the same over a run so that
 * providers can cache it, and the first message of the user with data, tools, the form of the answer and the mission.
 * The sentences are in agent_words.c. */
#ifndef PTC_AGENT_PROMPT_H
#define PTC_AGENT_PROMPT_H

#include "agent/bench.h"
#include "agent/definition.h"

enum {
    PTC_PROMPT_SAMPLE = 80,       /* characters of a value in the inventory */
    PTC_PROMPT_TEXT_SAMPLE = 200, /* the same in text modes */
    PTC_PROMPT_ENTRIES = 100,     /* of the inventory; more are counted */
};

typedef struct PtcPromptInput {
    PtcValue context; /* as ptc_definition_context gave it */
    const PtcDescriptions
        *descriptions;   /* of the context, from an agent before this one; they win.  May be NULL */
    PtcText journal_log; /* tasks that are done; absent: none */
    PtcText message;     /* of a chat, in place of the prompt, as it is; absent: the prompt */
} PtcPromptInput;

/* Texts are in the bench's arena. */
typedef struct PtcPrompt {
    PtcText system, user;
    size_t missing; /* placeholders without a value, which stay as they are written */
} PtcPrompt;

/* False with the fault: a system prompt longer than prompt_limit, a prompt that is too long when it is filled in. */
PTC_MUST_USE bool ptc_prompt_make(PtcBench *b, const PtcAgentDef *def, const PtcPromptInput *in,
                                  PtcPrompt *out, PtcFault *fault);

/* ----------------------------------------------------------------- lists (prompt_list.c) */

/* Appends the data that programs see: a line each with name, type, sample and description.  With `programs` false the
 * values alone, for a model that writes none. */
void ptc_prompt_data(PtcBuf *out, PtcBench *b, const PtcAgentDef *def, const PtcPromptInput *in,
                     bool programs);
/* Appends the tools that programs may call: how, what they give, what they are for. */
void ptc_prompt_tools(PtcBuf *out, const PtcAgentDef *def);

#endif
