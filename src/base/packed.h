/* SPDX-License-Identifier: MIT
 * packed.h - numbers and texts as bytes, one after the other, for another process of this program on a machine of the
 * same byte order: numbers are written as they lie in memory.
 *
 * Writing fails through the buffer's sticky flags, so a writer checks once at its end.  Reading trusts nothing: a text
 * that is longer than what is left, and a number that is not there, make the reader bad, and everything after that
 * reads as 0 or absent. */
#ifndef PTC_BASE_PACKED_H
#define PTC_BASE_PACKED_H

#include "base/buf.h"
#include "base/text.h"

enum { PTC_PACKED_TEXT = 1 << 30 }; /* the most bytes of one text */

bool ptc_pack_u32(PtcBuf *buf, uint32_t n);
bool ptc_pack_i64(PtcBuf *buf, int64_t n);
/* Length, then bytes.  An absent text stays absent. */
bool ptc_pack_text(PtcBuf *buf, PtcText text);

/* The rest of what is read; `bad` is set once something was missing or wrong. */
typedef struct PtcPackedReader {
    const char *at, *end;
    bool bad;
} PtcPackedReader;

/* Starts at the beginning; bytes may be NULL when len is 0. */
PtcPackedReader ptc_unpack_begin(const char *bytes, size_t len);
uint32_t ptc_unpack_u32(PtcPackedReader *in);
int64_t ptc_unpack_i64(PtcPackedReader *in);
/* A number that is `most` at most; a larger one is wrong. */
uint32_t ptc_unpack_below(PtcPackedReader *in, uint32_t most);
/* The same for numbers that are none below 0. */
int64_t ptc_unpack_upto(PtcPackedReader *in, int64_t most);
/* Points into what is read. */
PtcText ptc_unpack_text(PtcPackedReader *in);
/* The next n bytes; NULL: there are not as many. */
const char *ptc_unpack_bytes(PtcPackedReader *in, size_t n);
/* The same as a copy; without them `to` stays as it is. */
void ptc_unpack_copy(PtcPackedReader *in, void *to, size_t n);
/* Was everything there, and nothing else? */
bool ptc_unpack_is_done(const PtcPackedReader *in);

#endif
