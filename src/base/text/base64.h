/* SPDX-License-Identifier: MIT
 * base64.h - bytes as text and back (RFC 4648), in the standard alphabet with padding or (url) in the URL-safe one
 * without. */
#ifndef PTC_BASE_TEXT_BASE64_H
#define PTC_BASE_TEXT_BASE64_H

#include "base/buf.h"

bool ptc_base64_add(PtcBuf *buf, const void *bytes, size_t len, bool url);
/* Appends the decoded bytes; false if the text is not exactly in that form or the buffer refuses. */
PTC_MUST_USE bool ptc_base64_decode(PtcBuf *buf, const char *text, size_t len, bool url);

#endif
