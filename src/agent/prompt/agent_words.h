/* SPDX-License-Identifier: MIT
 * agent_words.h - everything that agents say to models, in one place: short and plain.  Functions append to a buffer;
 * what comes from programs, tools, data or the model itself is put in fences (fence.h) or is a checked name.
 *
 * Functions without a buffer return constants.  The messages of turns and outcomes, which people read too, are in
 * agent_fault.c. */
#ifndef PTC_AGENT_PROMPT_AGENT_WORDS_H
#define PTC_AGENT_PROMPT_AGENT_WORDS_H

#include "agent/definition/definition.h"

/* ------------------------------------------------------------------------- system prompt */

/* What the model is and does in this mode. */
void ptc_words_role(PtcBuf *out, const PtcAgentDef *def);
/* The heading of the language card, followed by what its programs may use. */
void ptc_words_language(PtcBuf *out, const PtcAgentDef *def, PtcText card);
/* The form of a reply. */
void ptc_words_form(PtcBuf *out, const PtcAgentDef *def);
/* How a run continues and ends. */
void ptc_words_ending(PtcBuf *out, const PtcAgentDef *def);
/* What (task ...) does; the tasks that are done. */
void ptc_words_journal(PtcBuf *out);
void ptc_words_journal_log(PtcBuf *out, PtcText log);

/* -------------------------------------------------------------------- first user message */

void ptc_words_data_heading(PtcBuf *out, bool programs);
void ptc_words_tools_heading(PtcBuf *out);
void ptc_words_servers_heading(PtcBuf *out);
void ptc_words_retried_tools(PtcBuf *out);
void ptc_words_tool_limit(PtcBuf *out, int64_t calls);
void ptc_words_mission_heading(PtcBuf *out);
/* What the answer must be: its type or schema, its fields.  In modes with programs it is what `return` takes. */
void ptc_words_answer(PtcBuf *out, const PtcAgentDef *def);

/* A step that has been done. */
typedef struct PtcDoneStep {
    PtcText id, text;
} PtcDoneStep;

/* The plan as a checklist, with steps outside of it listed separately; nothing if there is neither a plan nor a
 * step. */
void ptc_words_plan(PtcBuf *out, const PtcAgentDef *def, const PtcDoneStep *done, size_t count);

/* ------------------------------------------------------------- replies that cannot be used */

typedef enum {
    PTC_NO_CODE_TEXT,  /* text without a program */
    PTC_NO_CODE_EMPTY, /* nothing at all */
    PTC_NO_CODE_CALLS, /* native calls */
    PTC_NO_CODE_CUT,   /* the reply ended at the output limit */
} PtcNoCode;

void ptc_words_no_code(PtcBuf *out, PtcNoCode why);
void ptc_words_several(PtcBuf *out, size_t programs);
void ptc_words_fenced_program(PtcBuf *out);
void ptc_words_empty(PtcBuf *out, const PtcAgentDef *def, bool cut);
void ptc_words_no_json(PtcBuf *out, const PtcAgentDef *def, bool cut);
/* The answer is not what was asked for: what came (cut) and what is wrong with it. */
void ptc_words_wrong_answer(PtcBuf *out, const PtcAgentDef *def, PtcText came, PtcText findings);
/* The same for a value that a program returned, or that counts as its answer. */
void ptc_words_wrong_return(PtcBuf *out, const PtcAgentDef *def, PtcText came, PtcText findings);
/* A program has computed the answer and not returned it. */
void ptc_words_would_fit(PtcBuf *out);
void ptc_words_must_return(PtcBuf *out, const PtcAgentDef *def);

/* Calls that are not made.  Each is the `message` of the call's answer. */
void ptc_words_unknown_tool(PtcBuf *out, const PtcAgentDef *def, PtcText name);
/* A call that only programs may make; call: as they make it, absent when it is too long. */
void ptc_words_program_tool(PtcBuf *out, PtcText name, PtcText call);
void ptc_words_several_calls(PtcBuf *out, size_t calls);
void ptc_words_mixed_calls(PtcBuf *out);
void ptc_words_call_limit(PtcBuf *out, int64_t limit);
const char *ptc_words_bad_args(void);
const char *ptc_words_cut_args(void);
const char *ptc_words_no_turn_left(void);
/* What the user message after such answers says. */
void ptc_words_call_feedback(PtcBuf *out, PtcAgentFault reason);

/* ---------------------------------------------------------------------------------- turns */

/* Turns that are left. */
typedef struct PtcTurnsLeft {
    int64_t turns;    /* in all */
    int64_t retries;  /* of them */
    bool must_return; /* the next one must give the answer */
    bool retry;       /* the next one is only for an answer */
    bool first;       /* no turn has been used yet */
} PtcTurnsLeft;

void ptc_words_turns(PtcBuf *out, const PtcAgentDef *def, const PtcTurnsLeft *left);

/* ------------------------------------------------------------------------ the conversation */

/* In place of an empty reply; in place of turns that were left out. */
const char *ptc_words_empty_mark(void);
const char *ptc_words_left_out(void);

#endif
