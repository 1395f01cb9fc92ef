/* SPDX-License-Identifier: MIT
 * charset.h - text whose encoding nobody has named, as UTF-8.
 *
 * A byte order mark decides; without one, NUL bytes at every other place are UTF-16, and bytes that are no UTF-8 are
 * Windows-1252 (of which Latin-1 is a part), unless other bytes of the text are UTF-8 beyond doubt: such a text is damaged. */
#ifndef PTC_DATA_CHARSET_H
#define PTC_DATA_CHARSET_H

#include "base/buf.h"

typedef struct PtcCharsetError {
    size_t at;        /* byte where it goes wrong */
    const char *what; /* what is wrong there */
    bool stopped;     /* there is no memory */
} PtcCharsetError;

/* The text without its byte order mark: a part of itself, or converted into `buf`, which must be empty and outlive *out.
 * False with *error filled. */
PTC_MUST_USE bool ptc_charset_decode(const char *text, size_t len, PtcBuf *buf, PtcText *out,
                                     PtcCharsetError *error);

#endif
