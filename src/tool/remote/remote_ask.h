/* SPDX-License-Identifier: MIT
 * remote_ask.h - one ask of a program, waited for: the thread sleeps, its compute time does not pass, and the run's end
 * and cancel are kept. */
#ifndef PTC_TOOL_REMOTE_REMOTE_ASK_H
#define PTC_TOOL_REMOTE_REMOTE_ASK_H

#include "tool/remote/remote.h"

typedef struct PtcRemoteQuestion {
    PtcRemoteOp op;
    uint32_t slot, tool;
    PtcText text;
    PtcRemoteId id;
    bool reads; /* CALL: it changes nothing */
} PtcRemoteQuestion;

/* Fills in the answer.  False: the budget has stopped, or out of memory (the budget is stopped then). */
PTC_MUST_USE bool ptc_remote_ask(const PtcRemoteRun *run, PtcBudget *budget,
                                 const PtcRemoteQuestion *question, PtcRemoteAnswer *answer);

#endif
