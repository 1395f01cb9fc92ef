/* SPDX-License-Identifier: MIT
 * step_int.h - declarations shared by the files of the step: step.c decides, step_say.c puts it into messages,
 * step_turn.c records it.  None of these functions reports that it ran out of memory: the arena or the buffer has
 * then failed. */
#ifndef PTC_AGENT_STEP_STEP_INT_H
#define PTC_AGENT_STEP_STEP_INT_H

#include "agent/step/step.h"

/* Is the program's value shown as an error, because it is not the answer that it should be? */
typedef enum { PTC_SAY_RESULT, PTC_SAY_WRONG_RETURN, PTC_SAY_MUST_RETURN } PtcSayAs;

/* ---------------------------------------------------------------- messages (step_say.c) */

/* The assistant's message; calls get their ids and become s->now.pending. */
void ptc_step_say_assistant(PtcStep *s, const PtcHeard *heard, PtcText opaque);
/* The result of a program: as the answer to lisp_eval's call, or as a user's message if somebody will read it. */
void ptc_step_say_ran(PtcStep *s, const PtcRan *ran, PtcSayAs as, const PtcFacts *facts, bool open);
/* The answers to all pending calls, in order; results are those of the calls that were made.  The last one says how
 * many turns are left, unless nobody will read it or something else says so (facts NULL). */
void ptc_step_say_called(PtcStep *s, const PtcCallResult *results, const PtcFacts *facts);
/* Feedback on a reply that could not be used. */
void ptc_step_say_bad(PtcStep *s, const PtcHeard *heard, const PtcFacts *facts);

/* The mission, and how many turns there are for it.  A model that has nothing to call answers at once, and is told only
 * when its answer does not fit. */
PTC_MUST_USE bool ptc_step_say_mission(PtcStep *s, PtcText mission, const PtcFacts *facts);

/* The completed tasks, for the system prompt, if that is where they go. */
void ptc_step_set_log(PtcStep *s, PtcText log);
/* The request for what compaction decided to send, and roughly how many bytes it is. */
PtcLlmRequest ptc_step_request(const PtcStep *s, PtcSending sending, const PtcFacts *f);
size_t ptc_step_sent_bytes(const PtcStep *s, PtcSending sending);

/* Empties s->text for the next one. */
void ptc_step_begin_text(PtcStep *s);
/* The contents of s->text, without trailing line ends, kept in the arena. */
PtcText ptc_step_keep_text(PtcStep *s);

/* ----------------------------------------------------------------- records (step_turn.c) */

void ptc_step_add_tokens(PtcTokens *sum, const PtcTokens *tokens);
/* Adds the current turn to the list, and subtracts one from the turns that are left.  NONE: it was ok. */
void ptc_step_end_turn(PtcStep *s, PtcAgentFault reason, PtcText message);
/* The calls of the turn: native ones (with the results of those that were made), then those of a program. */
void ptc_step_set_calls(PtcStep *s, const PtcCallResult *results, const PtcRan *ran);
/* What the record keeps of a program.  misfit: its value is not the answer it should be; ends: it is the answer. */
void ptc_step_record(PtcStep *s, const PtcRan *ran, bool misfit, bool ends);
/* Steps that a program checked off; one that was checked off before gets its new text. */
void ptc_step_add_done(PtcStep *s, const PtcRan *ran);
/* Adds what a program that failed has done (step_did.c). */
void ptc_step_add_did(PtcStep *s, const PtcDidCalls *more);
/* How long to wait before a failed request is sent again: what the provider said, or the backoff.  When that is too
 * long, or would pass the deadline, *too_long says so. */
int64_t ptc_step_wait_ms(PtcStep *s, const PtcEvent *e, PtcText *too_long);

#endif
