/* SPDX-License-Identifier: MIT
 * interop.h - what the files of Java-named functions share. */
#ifndef PTC_LISP_LIB_JAVA_INTEROP_H
#define PTC_LISP_LIB_JAVA_INTEROP_H

#include "lisp/vm/record.h"

/* Answers as the builtin of this name, which must not call back; messages name the one that runs. */
PTC_MUST_USE bool ptc_as(PtcVM *vm, const char *name, int argc, const PtcValue *argv,
                         PtcValue *out);

#endif
