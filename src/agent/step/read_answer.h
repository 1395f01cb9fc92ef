/* SPDX-License-Identifier: MIT
 * read_answer.h - the answer in a reply without calls, the same in every mode that has such answers: the text itself,
 * or the first piece of JSON in it that fits.
 *
 * At most PTC_ANSWER_CANDIDATES pieces are examined; a piece that turns out not to be JSON is not searched again from
 * within, so that the work stays linear in the size of the reply. */
#ifndef PTC_AGENT_STEP_READ_ANSWER_H
#define PTC_AGENT_STEP_READ_ANSWER_H

#include "agent/step/judge.h"

enum { PTC_ANSWER_CANDIDATES = 64 };

typedef enum {
    PTC_ANSWER_FITS,
    PTC_ANSWER_WRONG,   /* validation_error: findings on the first candidate */
    PTC_ANSWER_NO_JSON, /* json_parse_error: no candidate */
    PTC_ANSWER_EMPTY,   /* empty_response */
} PtcAnswerKind;

/* Texts are in the bench's arena. */
typedef struct PtcAnswer {
    PtcAnswerKind kind;
    PtcText json;             /* FITS: the answer; WRONG: what came, if it has a JSON form */
    PtcText issues, findings; /* WRONG: see PtcJudged */
    size_t work;              /* bytes that were read, for tests */
} PtcAnswer;

/* Reads the answer in a reply's text (absent: it had none), which is valid UTF-8.  False: out of memory. */
PTC_MUST_USE bool ptc_read_answer(PtcBench *b, const PtcWant *want, PtcText text, PtcAnswer *out);

#endif
