/* SPDX-License-Identifier: MIT
 * stored.h - what is said of a value that a program stored: nobody asked to see it, so a short value is shown, and
 * of any other only what is needed to use it. */
#ifndef PTC_ENGINE_STORED_H
#define PTC_ENGINE_STORED_H

#include "engine/outcome.h"

/* Appends at most about max_chars characters: a short value itself, `970 maps, id customer_id ...; first {"id" 1, ...`
 * of a collection, `function` of one.  The outcome must be fresh (ptc_outcome_refresh). */
void ptc_stored_describe(PtcOutcome *o, PtcBuf *out, PtcValue v, size_t max_chars);

#endif
