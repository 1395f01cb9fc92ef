/* SPDX-License-Identifier: MIT
 * format.h - text after a template. */
#ifndef PTC_LISP_LIB_TEXT_FORMAT_H
#define PTC_LISP_LIB_TEXT_FORMAT_H

#include "lisp/vm/builtin.h"

/* What (format template & args) gives. */
PTC_MUST_USE bool ptc_format_text(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out);

#endif
