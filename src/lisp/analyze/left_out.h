/* SPDX-License-Identifier: MIT
 * left_out.h - names of clojure.core that are not here: of which kind each is, and what to write instead.  This table
 * is the one source of what the analyzer, doc, apropos and docs/divergences/left-out.md say about them. */
#ifndef PTC_LISP_ANALYZE_LEFT_OUT_H
#define PTC_LISP_ANALYZE_LEFT_OUT_H

#include <stdbool.h>

#include "base/text.h"

typedef struct PtcLeftOut {
    const char *kind;  /* what kind of thing it is: "threads" */
    const char *hint;  /* what to write or do instead */
    const char *names; /* all of this row, each between blanks */
    bool form;         /* no functions: what stands behind them is not worth looking at */
} PtcLeftOut;

/* The row of a name; false: it is not one of them. */
bool ptc_left_out_find(PtcText name, PtcLeftOut *out);
/* The i-th name that has this text in it, and its row; false: there are fewer. */
bool ptc_left_out_search(PtcText text, size_t i, PtcText *name, PtcLeftOut *out);

#endif
