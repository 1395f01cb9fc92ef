/* SPDX-License-Identifier: MIT
 * format.h - text that builtins make in a buffer of the run's heap. */
#ifndef PTC_LISP_LIB_TEXT_FORMAT_H
#define PTC_LISP_LIB_TEXT_FORMAT_H

#include "lisp/vm/builtin.h"

/* What (format template & args) gives. */
PTC_MUST_USE bool ptc_format_text(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out);

/* `ok`, unless the buffer is full or failed, which ends the run if nothing else did. */
PTC_MUST_USE bool ptc_format_check(PtcVM *vm, const PtcBuf *buf, bool ok);
/* Ends work in a buffer of the heap: its text, or false when something failed before. */
PTC_MUST_USE bool ptc_format_give(PtcVM *vm, PtcBuf *buf, bool ok, PtcValue *out);

#endif
