/* SPDX-License-Identifier: MIT
 * function.h - functions away from their program: the text that a function was written as, and the function that a text
 * is.  A function that is stored goes through here both ways; its code never leaves the process. */
#ifndef PTC_LISP_COMPILE_FUNCTION_H
#define PTC_LISP_COMPILE_FUNCTION_H

#include "lisp/analyze/expr.h"
#include "value/print.h"

/* A function as text. */
typedef struct PtcFnText {
    PtcFnForm form;
    const char *text; /* its form, and nothing else */
    size_t len;
    const char *captures; /* names of the values it captures, separated by spaces */
    size_t captures_len;
    bool aliases; /* it is to be read with what require declared */
    struct PtcPreludeScope
        *prelude; /* it is a definition of the prelude, which keeps no text; or NULL */
    uint16_t row; /* then: PtcProto.row */
} PtcFnText;

/* Where functions are compiled.  The arena is reset for each. */
typedef struct PtcFnMaker {
    PtcArena *arena;
    PtcHeap *heap;
    PtcNames *names; /* of globals; not added to */
    uint8_t *seen;  /* by global, names->count of them: PTC_MAY_NAME is asked, PTC_NAMES is added */
    PtcDiags diags; /* what was wrong with the text of the last one */
} PtcFnMaker;

/* The proto that stands for a function of several arities: the first. */
PtcValue ptc_function_main(PtcValue proto);

/* The text of a function; false when it has none (a part of try), or captures something without a name. */
bool ptc_function_text(PtcValue proto, PtcFnText *out);

/* The proto of a text.  PTC_NONE: it is no such function (maybe with findings), or memory or time ran out (the budget
 * is stopped, or arena->failed). */
PTC_MUST_USE PtcValue ptc_function_compile(PtcFnMaker *maker, const PtcFnText *text);

/* Sets PTC_MAY_NAME for the globals that the code of a proto refers to. */
void ptc_function_globals(PtcValue proto, uint8_t *seen, size_t count);

/* Do the two have the same code?  Constants are compared as text.  Answers no when a limit trips. */
bool ptc_function_same(const PtcPrinter *printer, PtcValue a, PtcValue b);

#endif
