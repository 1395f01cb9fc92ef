/* SPDX-License-Identifier: MIT
 * utf8.h - strict UTF-8 and grapheme clusters. */
#ifndef PTC_BASE_UTF8_H
#define PTC_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/budget.h"
#include "base/buf.h"

/* Strict: no overlong forms, surrogates or values above U+10FFFF.  Fast on ASCII. */
bool ptc_utf8_valid(const char *bytes, size_t len);
/* Length of the valid prefix. */
size_t ptc_utf8_valid_prefix(const char *bytes, size_t len);
/* How much of a text "%.*s" may show: up to `most` bytes, but no part of a character. */
static inline int ptc_utf8_shown(const char *bytes, size_t len, size_t most)
{
    return (int)(len > most ? ptc_utf8_valid_prefix(bytes, most) : len);
}
/* Appends any bytes as valid UTF-8: each byte that is none becomes a question mark. */
void ptc_utf8_add(PtcBuf *out, PtcText bytes);
/* Decodes one code point of valid UTF-8 at bytes; returns its length (1 to 4). */
size_t ptc_utf8_decode(const char *bytes, size_t len, uint32_t *code);
/* Encodes; returns the length, 0 when code is no scalar value. */
size_t ptc_utf8_encode(uint32_t code, char out[4]);
/* Number of code points in valid UTF-8. */
size_t ptc_utf8_count(const char *bytes, size_t len);
/* Does a reader see this character, as itself and in its place?  No control or format character, no white space but the
 * blank, nothing that is drawn as nothing. */
bool ptc_utf8_is_seen(uint32_t code);
/* White space, ASCII or not, as Unicode has it (White_Space). */
bool ptc_utf8_is_space(uint32_t code);
/* Are two texts of the same length equal, ignoring case and treating blank, `-` and `_` as the same? */
bool ptc_utf8_alike(const char *a, const char *b, size_t len);
/* Byte length of the grapheme cluster at the start of valid UTF-8; len > 0.  CR and LF are one each, unlike in the
 * Unicode standard: programs that read text character by character look for the line feed alone.  A cluster may be as
 * long as the text, so a long one ticks; ticking for each cluster is up to the caller.  When a limit is hit, the
 * whole rest counts as one.  The budget may be NULL if the text is short. */
size_t ptc_utf8_grapheme(PtcBudget *budget, const char *bytes, size_t len);
/* Number of grapheme clusters in valid UTF-8. */
size_t ptc_utf8_graphemes(PtcBudget *budget, const char *bytes, size_t len);

#endif
