/* SPDX-License-Identifier: MIT
 * shown.h - text that a program, a tool or a file made, for a terminal: what would act on it (move the cursor, colour,
 * change the order of letters, send keys) is shown instead of sent. */
#ifndef PTC_CLI_SHOWN_H
#define PTC_CLI_SHOWN_H

#include "base/buf.h"
#include "value/heap.h"

/* Is it a terminal?  Only there does it matter: files and pipes get every byte as it is. */
bool ptc_shown_on(int fd);
/* Appends the text with \u001b and the like for what is no letter; line feeds and tabs stay. */
void ptc_shown_add(PtcBuf *out, const char *text, size_t len);
/* ptc_io_write and ptc_io_write_line for such text. */
PTC_MUST_USE bool ptc_shown_write(int fd, const char *text, size_t len);
PTC_MUST_USE bool ptc_shown_write_line(int fd, const char *text, size_t len);
/* The answer of an agent, given as JSON, on standard output: a text as it is, anything else as JSON. */
PTC_MUST_USE bool ptc_shown_answer(PtcHeap *heap, PtcText json);

#endif
