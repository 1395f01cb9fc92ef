/* SPDX-License-Identifier: MIT
 * SHA-256 and HMAC on top of libmd.  What always holds: everything that has held a key is wiped before it goes out of
 * use, including the state of the digest. */
#include "base/text/hmac.h"

#include <sys/types.h> /* sha2.h needs it */

#include <sha2.h>

#include "base/text/secret.h"

_Static_assert(PTC_SHA256_BYTES == SHA256_DIGEST_LENGTH, "a digest is as long as libmd's");

/* Everything that has seen a key is wiped, including the digest's state. */
static void digest_behind(PtcText first, const PtcText *parts, size_t count,
                          uint8_t out[PTC_SHA256_BYTES])
{
    SHA2_CTX state;
    SHA256Init(&state);
    SHA256Update(&state, (const uint8_t *)first.bytes, first.len);
    for (size_t i = 0; i < count; i++)
        SHA256Update(&state, (const uint8_t *)parts[i].bytes, parts[i].len);
    SHA256Final(out, &state);
    ptc_secret_wipe(&state, sizeof state);
}

void ptc_sha256_parts(const PtcText *parts, size_t count, uint8_t digest[PTC_SHA256_BYTES])
{
    digest_behind(PTC_TEXT(""), parts, count, digest);
}

/* A key longer than a block is replaced by its digest. */
static void fit_key(PtcText key, uint8_t block[SHA256_BLOCK_LENGTH])
{
    memset(block, 0, SHA256_BLOCK_LENGTH);
    if (key.len > SHA256_BLOCK_LENGTH)
        ptc_sha256_parts(&key, 1, block);
    else if (key.len)
        memcpy(block, key.bytes, key.len);
}

void ptc_hmac_parts(PtcText key, const PtcText *parts, size_t count, uint8_t tag[PTC_SHA256_BYTES])
{
    uint8_t block[SHA256_BLOCK_LENGTH], pad[SHA256_BLOCK_LENGTH], inner[PTC_SHA256_BYTES];
    PtcText first = {(const char *)pad, sizeof pad};
    fit_key(key, block);
    for (size_t i = 0; i < sizeof pad; i++)
        pad[i] = block[i] ^ 0x36;
    digest_behind(first, parts, count, inner);
    for (size_t i = 0; i < sizeof pad; i++)
        pad[i] = block[i] ^ 0x5c;
    digest_behind(first, &(PtcText){(const char *)inner, sizeof inner}, 1, tag);
    ptc_secret_wipe(block, sizeof block);
    ptc_secret_wipe(pad, sizeof pad);
}
