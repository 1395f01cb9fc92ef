/* SPDX-License-Identifier: MIT
 * response_template.h - a program around the answer of a model, (if {{urgent}} :high :low): each {{field}} stands for
 * the field's value. */
#ifndef PTC_AGENT_PROMPT_RESPONSE_TEMPLATE_H
#define PTC_AGENT_PROMPT_RESPONSE_TEMPLATE_H

#include "agent/definition/definition_parts.h"
#include "base/why.h"
#include "tool/sig/sig.h"

typedef struct PtcResponseTemplate {
    PtcText source; /* the program, with names in place of {{field}} ... */
    /* ... which are to be bound to values: key is the field, text its name in the source */
    const PtcDescribed *fields;
    size_t field_count;
} PtcResponseTemplate;

/* Reads the text for an answer of this type; what it needs is in the arena.  False with the reason. */
PTC_MUST_USE bool ptc_response_template_read(PtcArena *arena, PtcText text, const PtcSigType *type,
                                             PtcResponseTemplate *out, PtcWhy *why);

#endif
