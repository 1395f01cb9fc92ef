/* SPDX-License-Identifier: MIT
 * remote_answer.h - values of answers, made straight in the heap of whoever asked. */
#ifndef PTC_TOOL_REMOTE_REMOTE_ANSWER_H
#define PTC_TOOL_REMOTE_REMOTE_ANSWER_H

#include "tool/remote/remote.h"

/* The JSON value that a text begins with, in the heap of the asker; *used: how many bytes it and the white space behind
 * it had.  PTC_NONE: it is none, or it cannot be had there: nobody wants values (no answer, or one without a heap), or
 * the run has stopped.  Whoever has to know which reads it somewhere else.  Whatever it gave before is gone then. */
PtcValue ptc_remote_answer_read(PtcRemoteAnswer *answer, PtcText json, size_t *used);
/* The same for a text that is to be one value as a whole. */
PtcValue ptc_remote_answer_json(PtcRemoteAnswer *answer, PtcText json);
/* The same for a string, in valid UTF-8. */
PtcValue ptc_remote_answer_string(PtcRemoteAnswer *answer, PtcText text);

#endif
