/* SPDX-License-Identifier: MIT
 * seal.h - a tag that only the holder of a key can make: HMAC-SHA-256 (RFC 2104), over SHA-256 of libmd. */
#ifndef PTC_API_SEAL_H
#define PTC_API_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTC_SEAL_BYTES = 32, PTC_SEAL_KEY_MIN = 16 };

/* The tag of `bytes` under a key of any length. */
void ptc_seal_make(const void *key, size_t key_len, const void *bytes, size_t len,
                   uint8_t tag[PTC_SEAL_BYTES]);
/* Are two tags the same?  Takes the same time wherever they differ. */
bool ptc_seal_same(const uint8_t a[PTC_SEAL_BYTES], const uint8_t b[PTC_SEAL_BYTES]);

#endif
