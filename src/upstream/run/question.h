/* SPDX-License-Identifier: MIT
 * question.h - what a person is asked about the calls of a run that wait. */
#ifndef PTC_UPSTREAM_RUN_QUESTION_H
#define PTC_UPSTREAM_RUN_QUESTION_H

#include "base/buf.h"

/* PtcRemote.question of a run.  What it names is marked in the run's replay (PtcReplayCall.asked), and decide() looks
 * at these marks alone: what is shown is what is granted. */
size_t ptc_question_add(void *run, PtcBuf *text, PtcBuf *json);

#endif
