/* SPDX-License-Identifier: MIT
 * one_line.h - text from outside (names, messages, paths) in a line that people read, such as that of a log, or in a
 * command that they copy. */
#ifndef PTC_BASE_TEXT_ONE_LINE_H
#define PTC_BASE_TEXT_ONE_LINE_H

#include <stdint.h>

#include "base/buf.h"

/* Is this a character that a reader does not see, or that changes how others are seen?  Tabs and line feeds are not. */
bool ptc_one_line_is_unseen(uint32_t code);

/* Appends the text so that it can neither end the line nor act on a terminal: such characters, tabs and line feeds are
 * written as \u{hex}, and what is not UTF-8 as a question mark. */
void ptc_one_line_add(PtcBuf *out, PtcText text);

enum { PTC_ONE_LINE_WORD = 400 };
/* `name`, or `name/rest` unless that is absent, as one word of a command line: in quotes if a shell would see more in
 * it than letters.  What is too long is cut.  Returns `out`. */
const char *ptc_one_line_word(char out[PTC_ONE_LINE_WORD], PtcText name, PtcText rest);

#endif
