/* SPDX-License-Identifier: MIT
 * hmac.h - SHA-256 and, on top of it, tags that only the holder of a key can make (HMAC, RFC 2104).  The digest itself
 * is libmd's. */
#ifndef PTC_BASE_TEXT_HMAC_H
#define PTC_BASE_TEXT_HMAC_H

#include <stdint.h>

#include "base/text.h"

enum { PTC_SHA256_BYTES = 32 };

/* The digest of the parts, one after the other. */
void ptc_sha256_parts(const PtcText *parts, size_t count, uint8_t digest[PTC_SHA256_BYTES]);
static inline void ptc_sha256(const void *bytes, size_t len, uint8_t digest[PTC_SHA256_BYTES])
{
    ptc_sha256_parts(&(PtcText){bytes, len}, 1, digest);
}

/* The tag of the parts, one after the other, under a key of any length. */
void ptc_hmac_parts(PtcText key, const PtcText *parts, size_t count, uint8_t tag[PTC_SHA256_BYTES]);
static inline void ptc_hmac(PtcText key, const void *bytes, size_t len,
                            uint8_t tag[PTC_SHA256_BYTES])
{
    ptc_hmac_parts(key, &(PtcText){bytes, len}, 1, tag);
}

#endif
