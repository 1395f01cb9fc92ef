/* SPDX-License-Identifier: MIT */
#include "mcp/seal.h"

#include <errno.h>
#include <sys/random.h>

/* ------------------------------------------------------------------- SHA-256 (FIPS 180-4) */

static const uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static uint32_t load32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store32(unsigned char *p, uint32_t n)
{
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)(n >> (24 - 8 * i));
}

static void schedule(uint32_t w[64], const unsigned char block[64])
{
    for (int i = 0; i < 16; i++)
        w[i] = load32(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) +
               (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
    }
}

static void compress(uint32_t state[8], const unsigned char block[64])
{
    uint32_t w[64], s[8];
    schedule(w, block);
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t e = s[4], a = s[0];
        uint32_t t1 = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & s[5]) ^ (~e & s[6])) +
                      rounds[i] + w[i];
        uint32_t t2 =
            (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

void ptc_sha256_init(PtcSha256 *sha)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memset(sha, 0, sizeof *sha);
    memcpy(sha->state, start, sizeof start);
}

void ptc_sha256_add(PtcSha256 *sha, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;
    while (len) {
        size_t at = sha->total % 64, n = 64 - at < len ? 64 - at : len;
        memcpy(sha->block + at, p, n);
        sha->total += n;
        p += n;
        len -= n;
        if (at + n == 64)
            compress(sha->state, sha->block);
    }
}

void ptc_sha256_done(PtcSha256 *sha, unsigned char out[PTC_SHA256_BYTES])
{
    static const unsigned char pad[64] = {0x80};
    uint64_t bits = sha->total * 8;
    size_t at = sha->total % 64;
    unsigned char tail[8];
    store32(tail, (uint32_t)(bits >> 32));
    store32(tail + 4, (uint32_t)bits);
    ptc_sha256_add(sha, pad, (at < 56 ? 56 : 120) - at);
    ptc_sha256_add(sha, tail, sizeof tail);
    for (int i = 0; i < 8; i++)
        store32(out + 4 * i, sha->state[i]);
}

/* ------------------------------------------------------------------------------- HMAC */

static void begin_pad(PtcSha256 *sha, const unsigned char key[PTC_SEAL_KEY], unsigned char with)
{
    unsigned char block[64];
    memset(block, with, sizeof block);
    for (int i = 0; i < PTC_SEAL_KEY; i++)
        block[i] ^= key[i];
    ptc_sha256_init(sha);
    ptc_sha256_add(sha, block, sizeof block);
}

static void add_part(PtcSha256 *sha, const void *bytes, size_t len)
{
    unsigned char size[8];
    store32(size, (uint32_t)((uint64_t)len >> 32));
    store32(size + 4, (uint32_t)len);
    ptc_sha256_add(sha, size, sizeof size);
    ptc_sha256_add(sha, bytes, len);
}

void ptc_hmac_sha256(const unsigned char key[PTC_SEAL_KEY], const void *context, size_t context_len,
                     const void *payload, size_t payload_len, unsigned char out[PTC_SHA256_BYTES])
{
    PtcSha256 sha;
    begin_pad(&sha, key, 0x36);
    add_part(&sha, context, context_len);
    add_part(&sha, payload, payload_len);
    ptc_sha256_done(&sha, out);
    begin_pad(&sha, key, 0x5c);
    ptc_sha256_add(&sha, out, PTC_SHA256_BYTES);
    ptc_sha256_done(&sha, out);
}

bool ptc_random_bytes(void *out, size_t len)
{
    char *p = out;
    while (len) {
        ssize_t n = getrandom(p, len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

bool ptc_same_secret(const void *a, const void *b, size_t len)
{
    const volatile unsigned char *x = a, *y = b;
    unsigned char differ = 0;
    for (size_t i = 0; i < len; i++)
        differ |= x[i] ^ y[i];
    return differ == 0;
}

/* ----------------------------------------------------------------------------- base64 */

static const char alphabet[2][65] = {
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
};

bool ptc_base64_add(PtcBuf *buf, const void *bytes, size_t len, bool url)
{
    const unsigned char *p = bytes;
    const char *letters = alphabet[url];
    for (; len; p += 3) {
        size_t n = len < 3 ? len : 3;
        uint32_t w = (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0) | (n > 2 ? p[2] : 0);
        char out[4] = {letters[w >> 18], letters[w >> 12 & 63], letters[w >> 6 & 63],
                       letters[w & 63]};
        for (size_t i = n + 1; i < 4; i++)
            out[i] = '=';
        if (!ptc_buf_add(buf, out, url ? n + 1 : 4))
            return false;
        len -= n;
    }
    return true;
}

static int letter_value(char c, bool url)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == alphabet[url][62] ? 62 : c == alphabet[url][63] ? 63 : -1;
}

/* n letters (2 to 4) are n - 1 bytes; bits left over must be zero, so that a text has one spelling. */
static bool decode_group(PtcBuf *buf, const char *text, size_t n, bool url)
{
    uint32_t w = 0;
    for (size_t i = 0; i < 4; i++) {
        int v = i < n ? letter_value(text[i], url) : 0;
        if (v < 0)
            return false;
        w = w << 6 | (uint32_t)v;
    }
    unsigned char out[3] = {(unsigned char)(w >> 16), (unsigned char)(w >> 8), (unsigned char)w};
    for (size_t i = n - 1; i < 3; i++)
        if (out[i])
            return false;
    return ptc_buf_add(buf, out, n - 1);
}

bool ptc_base64_decode(PtcBuf *buf, const char *text, size_t len, bool url)
{
    if (!url) {
        if (len % 4)
            return false;
        for (int i = 0; i < 2 && len && text[len - 1] == '='; i++)
            len--;
    }
    for (; len >= 4; text += 4, len -= 4)
        if (!decode_group(buf, text, 4, url))
            return false;
    return len == 0 || (len > 1 && decode_group(buf, text, len, url));
}

/* ------------------------------------------------------------------------------ seals */

bool ptc_seal_add(PtcBuf *buf, const unsigned char key[PTC_SEAL_KEY], const void *context,
                  size_t context_len, const void *payload, size_t payload_len)
{
    unsigned char mac[PTC_SHA256_BYTES];
    ptc_hmac_sha256(key, context, context_len, payload, payload_len, mac);
    /* Whole groups of three bytes first: 15 of the MAC, then its last byte with the payload. */
    PtcBuf rest;
    ptc_buf_init(&rest, buf->mem, buf->max);
    bool ok = ptc_buf_add(&rest, mac + 15, PTC_SEAL_MAC - 15) &&
              ptc_buf_add(&rest, payload, payload_len) && ptc_base64_add(buf, mac, 15, true) &&
              ptc_base64_add(buf, rest.data, rest.len, true);
    ptc_buf_deinit(&rest);
    return ok;
}

bool ptc_seal_open(PtcBuf *buf, const unsigned char key[PTC_SEAL_KEY], const void *context,
                   size_t context_len, const char *text, size_t len)
{
    unsigned char mac[PTC_SHA256_BYTES];
    PtcBuf raw;
    ptc_buf_init(&raw, buf->mem, len + PTC_SEAL_MAC);
    bool ok = ptc_base64_decode(&raw, text, len, true) && raw.len >= PTC_SEAL_MAC;
    if (ok) {
        ptc_hmac_sha256(key, context, context_len, raw.data + PTC_SEAL_MAC, raw.len - PTC_SEAL_MAC,
                        mac);
        ok = ptc_same_secret(mac, raw.data, PTC_SEAL_MAC) &&
             ptc_buf_add(buf, raw.data + PTC_SEAL_MAC, raw.len - PTC_SEAL_MAC);
    }
    ptc_buf_deinit(&raw);
    return ok;
}
