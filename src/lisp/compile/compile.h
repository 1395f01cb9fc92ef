/* SPDX-License-Identifier: MIT
 * compile.h - from checked expressions to code. */
#ifndef PTC_LISP_COMPILE_COMPILE_H
#define PTC_LISP_COMPILE_COMPILE_H

#include "lisp/analyze/expr.h"

typedef struct PtcCompiler {
    PtcArena *arena;
    PtcHeap *heap;   /* protos and constants go here */
    PtcDiags *diags; /* "too large" findings */
    PtcValue source; /* string: the program; nil: this is of the prelude */
    uint16_t row;    /* of protos of the prelude */
} PtcCompiler;

/* The proto of a program, or PTC_NONE (finding in diags, arena->failed, or budget stopped). */
PTC_MUST_USE PtcValue ptc_compile(PtcCompiler *job, PtcFn *program);

#endif
