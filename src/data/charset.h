/* SPDX-License-Identifier: MIT
 * charset.h - text of unknown encoding, as UTF-8.
 *
 * A byte order mark decides.  Without one, NUL bytes in every other place mean UTF-16, and bytes that are not UTF-8
 * mean Windows-1252 (which includes Latin-1), unless other bytes of the text are clearly UTF-8: then the text is
 * damaged. */
#ifndef PTC_DATA_CHARSET_H
#define PTC_DATA_CHARSET_H

#include "base/buf.h"

typedef struct PtcCharsetError {
    size_t at;        /* the byte where it goes wrong */
    const char *what; /* what is wrong there */
    bool stopped;     /* out of memory */
} PtcCharsetError;

/* The text without the byte order mark of UTF-8. */
PtcText ptc_charset_unmarked(PtcText text);

/* The text without its byte order mark: a part of itself, or converted into `buf`, which must be empty and outlive
 * *out.  False with *error filled. */
PTC_MUST_USE bool ptc_charset_decode(const char *text, size_t len, PtcBuf *buf, PtcText *out,
                                     PtcCharsetError *error);

#endif
