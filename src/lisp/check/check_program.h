/* SPDX-License-Identifier: MIT
 * check_program.h - what is certain to go wrong in a program, found before anything runs: values of kinds that a
 * function never takes, keys that nothing has, arguments that a tool refuses, an answer that is not what was asked for.
 *
 * One pass over the analyzed program, which works out an outline (outline.h) of what every expression may give.  It
 * reports what is certain and nothing else; where it does not know, or its bounds are passed, it says nothing. */
#ifndef PTC_LISP_CHECK_CHECK_PROGRAM_H
#define PTC_LISP_CHECK_CHECK_PROGRAM_H

#include "json/sketch.h"
#include "lisp/analyze/expr.h"
#include "lisp/check/check_kept.h"

/* Is the value of the last expression an answer, where the program does not return one? */
typedef enum {
    PTC_BARE_NONE,
    PTC_BARE_PLAIN, /* yes, unless it is nil or a var */
    PTC_BARE_ANY,
} PtcBareAnswer;

typedef struct PtcCheckJob {
    const PtcAnalysis *analysis;
    const PtcProgramFacts *facts;
    int64_t mode;            /* PTC_CHECK_ERROR ... */
    const PtcValue *globals; /* of earlier programs, facts->earlier of them; or NULL */
    const PtcSketch *answer; /* what it must be; NULL: anything */
    PtcBareAnswer bare;
    PtcCheckKept *kept; /* where programs are kept in which nothing was found; or NULL */
    PtcText
        answer_text; /* the signature that says `answer`; absent: a program with an answer is not kept */
} PtcCheckJob;

/* Adds what is found to the diags (errors) and warnings of the analysis.  False: the program must not run, or the
 * budget has stopped. */
PTC_MUST_USE bool ptc_check_program(const PtcCheckJob *job, PtcFn *program);

#endif
