/* SPDX-License-Identifier: MIT
 * payload.h - the answer of `lisp_eval` for an outcome, as a whole or in parts. */
#ifndef PTC_ENGINE_PAYLOAD_H
#define PTC_ENGINE_PAYLOAD_H

#include "engine/session.h"

/* Appends the answer, one line of JSON, to `out`; options have every field (their format may be NULL).  False: out of
 * memory, an option is out of range, or the session is not the run's. */
PTC_MUST_USE bool ptc_payload_write(PtcOutcome *o, const PtcPayloadOptions *options, PtcBuf *out);
/* A maximum for a buffer that is certainly large enough for the answer. */
size_t ptc_payload_room(const PtcOutcome *o);

/* Parts of the answer and what an answer in another form may say besides, from the same code; a buffer that is NULL
 * is not wanted.  What does not fit its buffer is cut between characters, or (JSON) left out. */
typedef struct PtcPayloadParts {
    /* The answer without its feedback, JSON, with ptc_payload_room: the caller adds its own. */
    PtcBuf *answer;
    PtcBuf *feedback; /* text */
    bool whole;       /* ... that says everything, for a model that sees nothing else */
    PtcBuf *changed;  /* names that the run defined or changed, sorted, a line each */
    PtcBuf *stored;   /* all names of the session, the same */
    PtcBuf *memory;   /* JSON object */
    PtcBuf *
        calls; /* JSON array: {"name","ok","cached","duration_us","arguments","result"}, the last two as PTC-Lisp
                         text cut to PTC_LOG_TEXT bytes; the first calls, as many as fit */
} PtcPayloadParts;

/* For a run in a session the options must name it; a failed run has neither changed, stored nor memory.  False as
 * above. */
PTC_MUST_USE bool ptc_payload_parts(PtcOutcome *o, const PtcPayloadOptions *options,
                                    const PtcPayloadParts *parts);

#endif
