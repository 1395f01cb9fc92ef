/* SPDX-License-Identifier: MIT */
#include "base/hmac.h"

#include <string.h>
#include <sys/types.h> /* sha2.h needs it */

#include <sha2.h>

_Static_assert(PTC_SEAL_BYTES == SHA256_DIGEST_LENGTH, "the tag is a digest");

/* The compiler may not leave this out. */
static void wipe(void *block, size_t n)
{
    volatile uint8_t *p = block;
    while (n-- > 0)
        *p++ = 0;
}

static void digest(const uint8_t pad[SHA256_BLOCK_LENGTH], const PtcSealPart *parts, size_t count,
                   uint8_t out[PTC_SEAL_BYTES])
{
    SHA2_CTX state;
    SHA256Init(&state);
    SHA256Update(&state, pad, SHA256_BLOCK_LENGTH);
    for (size_t i = 0; i < count; i++)
        SHA256Update(&state, parts[i].bytes, parts[i].len);
    SHA256Final(out, &state);
    wipe(&state, sizeof state);
}

/* A key longer than a block is its digest. */
static void fit_key(const void *key, size_t len, uint8_t block[SHA256_BLOCK_LENGTH])
{
    memset(block, 0, SHA256_BLOCK_LENGTH);
    if (len <= SHA256_BLOCK_LENGTH) {
        memcpy(block, key, len);
        return;
    }
    SHA2_CTX state;
    SHA256Init(&state);
    SHA256Update(&state, key, len);
    SHA256Final(block, &state);
    wipe(&state, sizeof state);
}

void ptc_seal_parts(const void *key, size_t key_len, const PtcSealPart *parts, size_t count,
                    uint8_t tag[PTC_SEAL_BYTES])
{
    uint8_t block[SHA256_BLOCK_LENGTH], pad[SHA256_BLOCK_LENGTH], inner[PTC_SEAL_BYTES];
    fit_key(key, key_len, block);
    for (size_t i = 0; i < sizeof pad; i++)
        pad[i] = block[i] ^ 0x36;
    digest(pad, parts, count, inner);
    for (size_t i = 0; i < sizeof pad; i++)
        pad[i] = block[i] ^ 0x5c;
    digest(pad, &(PtcSealPart){inner, sizeof inner}, 1, tag);
    wipe(block, sizeof block);
    wipe(pad, sizeof pad);
}

bool ptc_seal_same(const void *a, const void *b, size_t len)
{
    const volatile uint8_t *x = a, *y = b;
    uint8_t differ = 0;
    for (size_t i = 0; i < len; i++)
        differ = (uint8_t)(differ | (x[i] ^ y[i]));
    return differ == 0;
}
