/* SPDX-License-Identifier: MIT
 * snapshot.h - sessions as bytes, without the tag; see snapshot_int.h for the format.  The reader trusts nothing: it is
 * as safe with bytes that nobody authenticated. */
#ifndef PTC_ENGINE_SNAPSHOT_SNAPSHOT_H
#define PTC_ENGINE_SNAPSHOT_SNAPSHOT_H

#include "base/buf.h"
#include "ptc/ptc.h"

/* Appends the session to `out`.  Not PTC_OK: error says why. */
PTC_MUST_USE PtcStatus ptc_snapshot_encode(PtcSession *session, PtcBuf *out, char *error,
                                           size_t error_size);
/* A session from the bytes before the tag. */
PTC_MUST_USE PtcStatus ptc_snapshot_decode(Ptc *ptc, const void *bytes, size_t len,
                                           PtcSession **out, char *error, size_t error_size);

#endif
