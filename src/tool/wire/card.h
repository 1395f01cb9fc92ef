/* SPDX-License-Identifier: MIT
 * card.h - the language on a card: what a model that has never seen PTC-Lisp needs to write working programs. */
#ifndef PTC_TOOL_WIRE_CARD_H
#define PTC_TOOL_WIRE_CARD_H

#include "base/buf.h"

enum { PTC_CARD_MAX = 1950 }; /* bytes; every client pays for them in every conversation */

/* What a program can do and how it is written, for programs with tools, with other servers (`others`; what follows the
 * card names them) or with neither; constants.  A line that begins with a parenthesis or bracket is a program, or
 * `program => value`; the tests run them all. */
const char *ptc_card_text(bool tools, bool others);
/* The same where the limits of programs may not be the default ones. */
void ptc_card_add(PtcBuf *out, bool tools, bool others, int64_t timeout_ms, int64_t memory_bytes);

/* The language alone, for agents, which are told elsewhere how a program ends and what it may use.  A constant. */
const char *ptc_card_language(void);

#endif
