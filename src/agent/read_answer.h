/* SPDX-License-Identifier: MIT
 * read_answer.h - the answer in a reply without calls, the same in every mode that has such answers: the text itself, or
 * the first piece of JSON in it that is what is wanted.
 *
 * At most PTC_ANSWER_CANDIDATES pieces are looked at; one that turns out to be no JSON is not looked at again from
 * within, so that the work stays linear in the reply. */
#ifndef PTC_AGENT_READ_ANSWER_H
#define PTC_AGENT_READ_ANSWER_H

#include "agent/judge.h"

enum { PTC_ANSWER_CANDIDATES = 64 };

typedef enum {
    PTC_ANSWER_FITS,
    PTC_ANSWER_WRONG,   /* validation_error: findings on the first candidate */
    PTC_ANSWER_NO_JSON, /* json_parse_error: no candidate */
    PTC_ANSWER_EMPTY,   /* empty_response */
    PTC_ANSWER_NO_MEMORY,
} PtcAnswerKind;

/* Texts are in the bench's arena. */
typedef struct PtcAnswer {
    PtcAnswerKind kind;
    PtcText json;             /* FITS: the answer; WRONG: what came, when it has JSON */
    PtcText issues, findings; /* WRONG: see PtcJudged */
    size_t work;              /* bytes that were read, for tests */
} PtcAnswer;

/* Reads the answer in a reply's text (absent: it had none), valid UTF-8. */
void ptc_read_answer(PtcBench *b, const PtcWant *want, PtcText text, PtcAnswer *out);

#endif
