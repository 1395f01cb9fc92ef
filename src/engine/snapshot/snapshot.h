/* SPDX-License-Identifier: MIT
 * snapshot.h - sessions as bytes; see snapshot_int.h for the format.  The reader trusts nothing: it is just as safe
 * with bytes that nobody authenticated. */
#ifndef PTC_ENGINE_SNAPSHOT_SNAPSHOT_H
#define PTC_ENGINE_SNAPSHOT_SNAPSHOT_H

#include "base/buf.h"
#include "base/text.h"
#include "base/why.h"
#include "ptc/ptc.h"

/* The session with a tag (HMAC-SHA-256) made with `key`; see ptc_session_snapshot and ptc_session_restore. */
PTC_MUST_USE bool ptc_snapshot_save(PtcSession *session, PtcText key, PtcBuf *out, PtcWhy *why);
PTC_MUST_USE bool ptc_snapshot_load(Ptc *ptc, PtcText key, PtcText bytes, PtcSession **out,
                                    PtcWhy *why);

/* Both without the tag.  Appends the session to `out`. */
PTC_MUST_USE bool ptc_snapshot_encode(PtcSession *session, PtcBuf *out, PtcWhy *why);
/* A session from the bytes in front of the tag. */
PTC_MUST_USE bool ptc_snapshot_decode(Ptc *ptc, const void *bytes, size_t len, PtcSession **out,
                                      PtcWhy *why);

#endif
