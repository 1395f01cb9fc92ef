/* SPDX-License-Identifier: MIT
 * did_words.h - calls that changed something outside before a program failed, and how a model is told of them. */
#ifndef PTC_AGENT_PROMPT_DID_WORDS_H
#define PTC_AGENT_PROMPT_DID_WORDS_H

#include "base/buf.h"
#include "base/text.h"

/* A call that took effect, or (unknown) may have.  Arguments and result are JSON, cut to a few hundred bytes. */
typedef struct PtcDidCall {
    PtcText tool, args, result;
    bool unknown;
} PtcDidCall;

enum { PTC_DID_CALLS = 1000 };

/* At most PTC_DID_CALLS of them, and how many there were beyond those. */
typedef struct PtcDidCalls {
    const PtcDidCall *items;
    size_t count, cut;
} PtcDidCalls;

/* Appends at most 1 KB: the calls with the arguments in which they differ, and that they are not to be made again.
 * data: the next program finds all of them in data/fail.  Nothing for an empty list. */
void ptc_words_did(PtcBuf *out, const PtcDidCalls *did, bool data);

/* Appends the names of definitions that are gone with the program that failed. */
void ptc_words_lost(PtcBuf *out, const PtcText *names, size_t count);

#endif
