/* SPDX-License-Identifier: MIT
 * arguments_check.h - arguments that are written in a program, checked before it runs. */
#ifndef PTC_UPSTREAM_RUN_ARGUMENTS_CHECK_H
#define PTC_UPSTREAM_RUN_ARGUMENTS_CHECK_H

#include "upstream/run/arguments.h"

/* The answer of PTC_REMOTE_CHECK (remote.h) to its text {"args":{...},"open":[keys]}, for a tool with this input
 * schema: {"issues":[...]}.  `in` has the schema and how it is validated.  The text may be hostile.  False: out of
 * memory. */
PTC_MUST_USE bool ptc_arguments_check(PtcHeap *heap, PtcArgumentsIn in, PtcText text, PtcBuf *out);

#endif
