/* SPDX-License-Identifier: MIT
 * program_text.h - a program as a model typed it, made plain: outside of literals and comments typographic quotes become
 * ' and ", unusual spaces blanks, and characters without width nothing.  Literals and comments are copied as they are.
 *
 * The walk goes from line to line, so that whoever looks for the end of a program in a longer text can ask at each line
 * whether the forms so far are whole.  It is linear and keeps no more than a depth and the kind of literal it is in. */
#ifndef PTC_AGENT_PROGRAM_TEXT_H
#define PTC_AGENT_PROGRAM_TEXT_H

#include "base/buf.h"

typedef enum {
    PTC_PLAIN_CODE,
    PTC_PLAIN_STRING, /* or a regular expression: ends at " */
    PTC_PLAIN_CURLY,  /* opened by a typographic quote: ends at a double quote of either sort */
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
    PTC_PLAIN_TAG,  /* pos is at </ in code; the next call goes past it */
    PTC_PLAIN_END,
} PtcPlainStop;

/* Goes on to the next place of interest.  When `out` takes no more, that is the end. */
PtcPlainStop ptc_plain_next(PtcPlainText *p);

/* Between two forms, as far as brackets and quotes tell? */
static inline bool ptc_plain_is_outside(const PtcPlainText *p)
{
    return p->depth <= 0 && p->state == PTC_PLAIN_CODE;
}

/* Appends the whole text made plain.  False: out takes no more. */
bool ptc_plain_add(PtcBuf *out, PtcText text);

/* Appends the text with LF for CRLF and CR. */
bool ptc_plain_add_lines(PtcBuf *out, PtcText text);

#endif
