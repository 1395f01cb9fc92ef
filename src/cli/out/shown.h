/* SPDX-License-Identifier: MIT
 * shown.h - text from a program, a tool or a file, for a terminal: characters that would control it (move the cursor,
 * set colours, reorder letters, send keys) are shown as escapes instead of being sent. */
#ifndef PTC_CLI_OUT_SHOWN_H
#define PTC_CLI_OUT_SHOWN_H

#include "base/buf.h"
#include "value/heap.h"

/* Is it a terminal?  Only there does this matter: files and pipes get every byte unchanged. */
bool ptc_shown_on(int fd);
/* Appends the text with \u001b and so on for such characters; line feeds and tabs stay. */
void ptc_shown_add(PtcBuf *out, const char *text, size_t len);
/* ptc_io_write and ptc_io_write_line for such text. */
PTC_MUST_USE bool ptc_shown_write(int fd, const char *text, size_t len);
PTC_MUST_USE bool ptc_shown_write_line(int fd, const char *text, size_t len);
/* A line of what a command gives, on standard output.  False: it cannot be written, and standard error says why, unless
 * the reader has closed the pipe. */
PTC_MUST_USE bool ptc_shown_result(const char *command, const char *text, size_t len);
/* The same for the answer of an agent, given as JSON: a text as it is, anything else as JSON. */
PTC_MUST_USE bool ptc_shown_answer(const char *command, PtcHeap *heap, PtcText json);
/* How many characters fit on a line of the terminal, or would on one of the usual width. */
size_t ptc_shown_columns(void);
/* How many lines the terminal has; 0: unknown. */
size_t ptc_shown_lines(void);
/* Columns that a text without line feeds takes there. */
size_t ptc_shown_width(const char *text, size_t len);
/* Are colours wanted: is it a terminal that has them, and is NO_COLOR not set? */
bool ptc_shown_colour(int fd);

#endif
