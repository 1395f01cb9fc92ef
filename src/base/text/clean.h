/* SPDX-License-Identifier: MIT
 * clean.h - text of upstreams (names, descriptions, instructions, errors) as a model may read it: on one line, with
 * what a reader does not see made visible, and no longer than it may be. */
#ifndef PTC_BASE_TEXT_CLEAN_H
#define PTC_BASE_TEXT_CLEAN_H

#include "base/buf.h"

enum {
    PTC_CLEAN_LINE = 120, /* bytes of a description in a list */
    PTC_CLEAN_DOC = 2000, /* and in `doc` */
};

/* Appends the text: every run of white space is one blank, none at the ends, invisible characters are \u{hex}.  At most
 * `max` bytes, cut between characters with ... at the end.  With first_sentence only that.  Any bytes are taken; what
 * is not UTF-8 ends the text. */
void ptc_clean_add(PtcBuf *out, PtcText text, size_t max, bool first_sentence);

#endif
