/* SPDX-License-Identifier: MIT
 * hmac.h - a tag that only the holder of a key can make: HMAC-SHA-256 (RFC 2104), over SHA-256 of libmd. */
#ifndef PTC_BASE_HMAC_H
#define PTC_BASE_HMAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTC_SEAL_BYTES = 32, PTC_SEAL_KEY_MIN = 16 };

typedef struct PtcSealPart {
    const void *bytes;
    size_t len;
} PtcSealPart;

/* The tag of the parts, one after the other, under a key of any length. */
void ptc_seal_parts(const void *key, size_t key_len, const PtcSealPart *parts, size_t count,
                    uint8_t tag[PTC_SEAL_BYTES]);
static inline void ptc_seal_make(const void *key, size_t key_len, const void *bytes, size_t len,
                                 uint8_t tag[PTC_SEAL_BYTES])
{
    ptc_seal_parts(key, key_len, &(PtcSealPart){bytes, len}, 1, tag);
}
/* Are two secrets the same?  Takes the same time wherever they differ. */
bool ptc_seal_same(const void *a, const void *b, size_t len);

#endif
