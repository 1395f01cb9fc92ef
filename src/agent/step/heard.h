/* SPDX-License-Identifier: MIT
 * heard.h - what a model's reply means in the mode of its agent: a program, native calls, an answer, or something
 * that cannot be used.  Only this file knows about modes; the step (step.h) acts on what was heard.
 *
 * It is pure: the same reply to the same agent is always understood the same way. */
#ifndef PTC_AGENT_STEP_HEARD_H
#define PTC_AGENT_STEP_HEARD_H

#include "agent/definition/definition.h"
#include "agent/step/bench.h"

enum { PTC_CALL_ID_BYTES = 128, PTC_CALL_NAME_BYTES = 128 };

typedef enum {
    PTC_HEARD_PROGRAM,
    PTC_HEARD_CALLS,
    PTC_HEARD_ANSWER,
    PTC_HEARD_BAD,
    PTC_HEARD_NO_MEMORY,
} PtcHeardKind;

/* A native call. */
typedef struct PtcHeardCall {
    PtcText id;           /* absent: none came, or one that cannot be used */
    PtcText name;         /* as the model wrote it, if that can be sent back */
    PtcText args;         /* a JSON object on one line; {} when something else came */
    size_t tool;          /* its index in the set; SIZE_MAX: none, or lisp_eval */
    PtcAgentFault reason; /* why it is not made; NONE: it will be */
    PtcText message;      /* the same in words */
} PtcHeardCall;

/* Texts are in the bench's arena or are the reply's. */
typedef struct PtcHeard {
    PtcHeardKind kind;
    PtcText content; /* of the assistant's message; absent: there was no text */
    PtcText program; /* PROGRAM */
    PtcText answer;  /* ANSWER: as JSON */
    /* The calls of the reply, all of which must be answered.  PROGRAM: none, or the one of lisp_eval. */
    const PtcHeardCall *calls;
    size_t call_count;
    /* BAD: */
    PtcAgentFault reason;
    PtcText message;  /* for the record of the turn */
    PtcText feedback; /* for the model; absent: the answers to the calls say it all */
    PtcText issues;   /* [{"path":[...],"message":"..."}]; absent: none */
} PtcHeard;

/* Understands a reply with status PTC_LLM_OK. */
void ptc_hear(PtcBench *b, const PtcAgentDef *def, const PtcLlmReply *reply, PtcHeard *out);

#endif
