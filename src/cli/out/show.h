/* SPDX-License-Identifier: MIT
 * show.h - functions and forms described for a person, for `ptc doc` and the REPL. */
#ifndef PTC_CLI_OUT_SHOW_H
#define PTC_CLI_OUT_SHOW_H

#include "base/buf.h"

/* Appends everything that has this name.  False if nothing has: then it appends a message with the nearest names. */
bool ptc_show_name(PtcBuf *out, const char *name, size_t len, bool colour);

/* Appends the whole reference as Markdown. */
void ptc_show_reference(PtcBuf *out);

#endif
