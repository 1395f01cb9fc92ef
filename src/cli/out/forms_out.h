/* SPDX-License-Identifier: MIT
 * forms_out.h - a printed value for a person: over several lines where one would be too long, and shortened. */
#ifndef PTC_CLI_OUT_FORMS_OUT_H
#define PTC_CLI_OUT_FORMS_OUT_H

#include "base/buf.h"

/* Appends the text of a value, as PTC-Lisp prints it, in lines of about `columns`, at most `lines` of them (0: all).
 * Returns how many bytes of the text were left out. */
size_t ptc_forms_out_add(PtcBuf *out, PtcText text, size_t columns, size_t lines);

#endif
