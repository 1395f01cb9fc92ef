/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include <string.h>
#include <utf8proc.h>

#define ONES ((uint64_t)0x0101010101010101)
#define HIGHS ((uint64_t)0x8080808080808080)

static uint64_t load8(const char *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

static bool is_tail(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* Length of the well-formed sequence at p, whose first byte is not ASCII; 0 when there is none.
 * What the first byte allows as the second is table 3-7 of the Unicode standard: that is where
 * overlong forms, surrogates and too large values are refused. */
static size_t sequence(const unsigned char *p, size_t len)
{
    unsigned char c = p[0];
    if (c < 0xc2 || c > 0xf4 || len < 2 || !is_tail(p[1]))
        return 0;
    if (c < 0xe0)
        return 2;
    if (len < 3 || !is_tail(p[2]))
        return 0;
    if (c < 0xf0)
        return (c == 0xe0 && p[1] < 0xa0) || (c == 0xed && p[1] > 0x9f) ? 0 : 3;
    if (len < 4 || !is_tail(p[3]))
        return 0;
    return (c == 0xf0 && p[1] < 0x90) || (c == 0xf4 && p[1] > 0x8f) ? 0 : 4;
}

size_t ptc_utf8_valid_prefix(const char *bytes, size_t len)
{
    size_t i = 0;
    while (i < len) {
        if (len - i >= 8 && (load8(bytes + i) & HIGHS) == 0) {
            i += 8;
            continue;
        }
        size_t n = 1;
        if ((unsigned char)bytes[i] >= 0x80)
            n = sequence((const unsigned char *)bytes + i, len - i);
        if (n == 0)
            return i;
        i += n;
    }
    return len;
}

bool ptc_utf8_valid(const char *bytes, size_t len)
{
    return ptc_utf8_valid_prefix(bytes, len) == len;
}

size_t ptc_utf8_decode(const char *bytes, size_t len, uint32_t *code)
{
    const unsigned char *p = (const unsigned char *)bytes;
    uint32_t c = p[0];
    if (c < 0x80) {
        *code = c;
        return 1;
    }
    size_t n = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    if (n > len) { /* the caller broke its promise; stay inside the bytes all the same */
        *code = 0xfffd;
        return 1;
    }
    c &= 0x7fu >> n;
    for (size_t i = 1; i < n; i++)
        c = c << 6 | (p[i] & 0x3f);
    *code = c;
    return n;
}

size_t ptc_utf8_encode(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out[0] = (char)((0xf00u >> n & 0xf0) | code);
    return n;
}

size_t ptc_utf8_count(const char *bytes, size_t len)
{
    size_t tails = 0, i = 0;
    for (; len - i >= 8; i += 8) {
        uint64_t w = load8(bytes + i);
        tails += (size_t)__builtin_popcountll(w >> 7 & ~(w >> 6) & ONES);
    }
    for (; i < len; i++)
        tails += is_tail((unsigned char)bytes[i]);
    return len - tails;
}

size_t ptc_utf8_grapheme(const char *bytes, size_t len)
{
    const unsigned char *p = (const unsigned char *)bytes;
    if (len == 1)
        return 1;
    if (p[0] < 0x80 && p[1] < 0x80) /* only CR LF holds two ASCII characters together */
        return p[0] == '\r' && p[1] == '\n' ? 2 : 1;
    uint32_t left, right;
    utf8proc_int32_t state = 0;
    size_t at = ptc_utf8_decode(bytes, len, &left);
    while (at < len) {
        size_t n = ptc_utf8_decode(bytes + at, len - at, &right);
        if (utf8proc_grapheme_break_stateful((utf8proc_int32_t)left, (utf8proc_int32_t)right,
                                             &state))
            break;
        at += n;
        left = right;
    }
    return at;
}
