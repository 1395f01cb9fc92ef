/* SPDX-License-Identifier: MIT
 * Digests, keys and ids in file names, headers and records. */
#include "base/text/hex.h"

#include "base/ascii.h"

void ptc_hex_write(char *out, const void *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *from = bytes;
    for (size_t i = 0; i < len; i++) {
        out[2 * i] = digits[from[i] >> 4];
        out[2 * i + 1] = digits[from[i] & 15];
    }
    out[2 * len] = '\0';
}

/* Upper case is no digit here, so that one digest has one spelling. */
static int lower_digit(char c)
{
    return ptc_ascii_is_upper(c) ? -1 : ptc_ascii_hex_value(c);
}

bool ptc_hex_read(PtcText text, void *out, size_t len)
{
    unsigned char *to = out;
    if (!text.bytes || text.len != 2 * len)
        return false;
    for (size_t i = 0; i < len; i++) {
        int high = lower_digit(text.bytes[2 * i]), low = lower_digit(text.bytes[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        to[i] = (unsigned char)(16 * high + low);
    }
    return true;
}
