/* SPDX-License-Identifier: MIT
 * Digests, keys and ids in file names, headers and records. */
#include "base/text/hex.h"

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
