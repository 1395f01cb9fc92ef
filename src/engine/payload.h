/* SPDX-License-Identifier: MIT
 * payload.h - the answer of `lisp_eval` for an outcome. */
#ifndef PTC_ENGINE_PAYLOAD_H
#define PTC_ENGINE_PAYLOAD_H

#include "engine/session.h"

/* Appends the answer, one line of JSON, to `out`; options have every field (their format may be NULL).  False: memory is
 * short, an option is out of range, or the session is not the run's. */
PTC_MUST_USE bool ptc_payload_write(PtcOutcome *o, const PtcPayloadOptions *options, PtcBuf *out);
/* A maximum for a buffer that the answer surely fits. */
size_t ptc_payload_room(const PtcOutcome *o);

#endif
