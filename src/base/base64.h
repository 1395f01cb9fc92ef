/* SPDX-License-Identifier: MIT
 * base64.h - bytes as text and back (RFC 4648), in the standard alphabet with padding or (url) in that of addresses
 * without. */
#ifndef PTC_BASE_BASE64_H
#define PTC_BASE_BASE64_H

#include "base/buf.h"

bool ptc_base64_add(PtcBuf *buf, const void *bytes, size_t len, bool url);
/* Appends what the text stands for; false when it is not exactly such a text or the buffer refuses. */
PTC_MUST_USE bool ptc_base64_decode(PtcBuf *buf, const char *text, size_t len, bool url);

#endif
