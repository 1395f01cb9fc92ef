/* SPDX-License-Identifier: MIT
 * card.h - the language on a card: what a model that never saw PTC-Lisp needs to write programs that run. */
#ifndef PTC_TOOL_CARD_H
#define PTC_TOOL_CARD_H

enum { PTC_CARD_MAX = 1100 }; /* bytes; every client pays for them in every conversation */

/* The description of the profile PTC_PROFILE_MCP_NO_TOOLS and the card below it; a constant.
 * A line of the card that begins with a parenthesis or bracket is a program, or `program => value`; the tests run
 * them all. */
const char *ptc_card_text(void);

#endif
