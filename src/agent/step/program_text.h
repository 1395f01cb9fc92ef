/* SPDX-License-Identifier: MIT
 * program_text.h - a program as a model typed it, made plain: outside of literals and comments typographic quotes
 * become ' and ", unusual spaces become blanks, and zero-width characters disappear.  Literals and comments are
 * copied unchanged.
 *
 * The walk goes from line to line, so that a caller looking for the end of a program in a longer text can ask at each
 * line whether the forms so far are complete.  It is linear and only keeps the depth and the kind of literal it is
 * in. */
#ifndef PTC_AGENT_STEP_PROGRAM_TEXT_H
#define PTC_AGENT_STEP_PROGRAM_TEXT_H

#include "base/buf.h"

typedef enum {
    PTC_PLAIN_CODE,
    PTC_PLAIN_STRING, /* or a regular expression: ends at " */
    PTC_PLAIN_CURLY, /* opened by a typographic quote: ends at any double quote, plain or typographic */
    PTC_PLAIN_COMMENT,
} PtcPlainState;

typedef struct PtcPlainText {
    PtcText text; /* valid UTF-8, LF at the ends of lines */
    size_t pos;   /* what lies before it is in out */
    PtcBuf *out;
    PtcPlainState state;
    int64_t depth; /* brackets that are open */
} PtcPlainText;

typedef enum {
    PTC_PLAIN_LINE, /* pos is where a line begins */
    PTC_PLAIN_SIGN, /* pos is at </ in code, or at a run of ` or ~; the next call goes past it */
    PTC_PLAIN_END,
} PtcPlainStop;

/* Advances to the next place of interest.  When `out` is full, that is the end. */
PtcPlainStop ptc_plain_next(PtcPlainText *p);

/* Between two forms, as far as brackets and quotes show? */
static inline bool ptc_plain_is_outside(const PtcPlainText *p)
{
    return p->depth <= 0 && p->state == PTC_PLAIN_CODE;
}

/* Appends the whole text made plain.  False: out is full. */
bool ptc_plain_add(PtcBuf *out, PtcText text);

/* Appends the text with LF for CRLF and CR. */
bool ptc_plain_add_lines(PtcBuf *out, PtcText text);

#endif
