/* SPDX-License-Identifier: MIT
 * Base64.  What always holds: every byte string has exactly one spelling that is accepted. */
#include "base/text/base64.h"

#include "base/ascii.h"

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
    if (ptc_ascii_is_upper(c))
        return c - 'A';
    if (ptc_ascii_is_lower(c))
        return c - 'a' + 26;
    if (ptc_ascii_is_digit(c))
        return c - '0' + 52;
    return c == alphabet[url][62] ? 62 : c == alphabet[url][63] ? 63 : -1;
}

/* n letters (2 to 4) are n - 1 bytes; leftover bits must be zero, so that there is only one spelling. */
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
