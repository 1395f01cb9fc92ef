/* SPDX-License-Identifier: MIT
 * step_int.h - what the files of the step share: step.c decides, step_say.c puts it into messages, step_turn.c records
 * it.  None of these functions tells when memory is short: the arena or the buffer has then failed. */
#ifndef PTC_AGENT_STEP_INT_H
#define PTC_AGENT_STEP_INT_H

#include "agent/step.h"

/* Is the program's value shown as an error, because it is not the answer that it should be? */
typedef enum { PTC_SAY_RESULT, PTC_SAY_WRONG_RETURN, PTC_SAY_MUST_RETURN } PtcSayAs;

/* ---------------------------------------------------------------- messages (step_say.c) */

/* The assistant's message; calls get their ids and become s->now.pending. */
void ptc_step_say_assistant(PtcStep *s, const PtcHeard *heard, PtcText opaque);
/* The result of a program: for the call of lisp_eval, or as a user's message if somebody will read it. */
void ptc_step_say_ran(PtcStep *s, const PtcRan *ran, PtcSayAs as, const PtcFacts *facts, bool open);
/* The answers to all pending calls, in order; results are those of the calls that were made. */
void ptc_step_say_called(PtcStep *s, const PtcCallResult *results);
/* Feedback on a reply that could not be used. */
void ptc_step_say_bad(PtcStep *s, const PtcHeard *heard, const PtcFacts *facts);

/* The tasks that are done, for the system prompt, if they are to be there. */
void ptc_step_set_log(PtcStep *s, PtcText log);
/* The request for what compaction decided to send, and about how many bytes that is. */
PtcLlmRequest ptc_step_request(const PtcStep *s, PtcSending sending, const PtcFacts *f);
size_t ptc_step_sent_bytes(const PtcStep *s, PtcSending sending);

/* Empties s->text for the next one. */
void ptc_step_begin_text(PtcStep *s);
/* What is in s->text, without line ends behind it, kept in the arena. */
PtcText ptc_step_keep_text(PtcStep *s);

/* ----------------------------------------------------------------- records (step_turn.c) */

void ptc_step_add_tokens(PtcTokens *sum, const PtcTokens *tokens);
/* Takes the turn under way into the list, and one turn from those that are left.  reason NULL: it was ok. */
void ptc_step_end_turn(PtcStep *s, const char *reason, PtcText message);
/* The calls of the turn: native ones (results of those that were made), those of a program behind them. */
void ptc_step_set_calls(PtcStep *s, const PtcCallResult *results, const PtcRan *ran);
/* What the record has of a program.  misfit: its value is not the answer it should be; ends: it is the answer. */
void ptc_step_record(PtcStep *s, const PtcRan *ran, bool misfit, bool ends);
/* Steps that a program checked off; one that was done before gets its new text. */
void ptc_step_add_done(PtcStep *s, const PtcRan *ran);
/* How long to wait before a request that failed is sent again: what the provider said, or the backoff.  When that is too
 * long, or goes beyond the deadline, *too_long says so. */
int64_t ptc_step_wait_ms(PtcStep *s, const PtcEvent *e, PtcText *too_long);

#endif
