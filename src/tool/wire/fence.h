/* SPDX-License-Identifier: MIT
 * fence.h - text from outside within text for a model: cut to a size, and fenced so that data cannot pass for what is
 * around it. */
#ifndef PTC_TOOL_WIRE_FENCE_H
#define PTC_TOOL_WIRE_FENCE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/text.h"

/* How a text was cut: `kept` bytes, and how many characters (code points) are beyond them. */
typedef struct PtcCut {
    size_t kept, left_out;
} PtcCut;

/* The first `max_chars` characters.  A length in characters is what a model's reader expects, and unlike one in
 * graphemes it also bounds the bytes (four each). */
PtcCut ptc_cut_chars(PtcText text, size_t max_chars);

/* At most `max_bytes` of a printed value: whole rows of a list if one fits, else whole characters.  *rows is the number
 * of rows that are kept, 0 when they are not known. */
PtcCut ptc_cut_rows(PtcText text, size_t max_bytes, size_t *rows);

/* Appends the text with characters that a reader does not see (one_line.h) written as \u{hex}. */
void ptc_fence_add_visible(PtcBuf *out, PtcText text);

/* Appends the text between two lines of backticks, the first of them followed by `label`.
 *
 * Why the text cannot end the block: the fence is one backtick longer than the longest run of them in the text, and
 * at least three long.  That needs no secret and no random number, so a run can be repeated and its feedback
 * compared.  Characters that a reader does not see (controls other than tab and line feed, bidirectional overrides,
 * zero-width spaces, Unicode tags) are written as \u{hex}: instructions cannot hide in them, nor can they split a run
 * of backticks that looks complete. */
void ptc_fence_add(PtcBuf *out, const char *label, PtcText text);

#endif
