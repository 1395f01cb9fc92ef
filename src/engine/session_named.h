/* SPDX-License-Identifier: MIT
 * session_named.h - sessions that lines of a batch refer to by name; they live as long as the engine. */
#ifndef PTC_ENGINE_SESSION_NAMED_H
#define PTC_ENGINE_SESSION_NAMED_H

#include "engine/session.h"

/* The session of that name, made when there is none.  NULL: out of memory, or too many of them. */
PTC_MUST_USE PtcSession *ptc_session_named(Ptc *ptc, PtcText name);
/* Drops all of them. */
void ptc_session_named_drop(Ptc *ptc);

#endif
