/* SPDX-License-Identifier: MIT
 * The number of a Content-Length.  What always holds: no sign, no list and no number that is followed by anything is
 * taken, so nobody can be made to wait for a body of another length. */
#include "net/content_length.h"

bool ptc_content_length(PtcText value, int64_t *out)
{
    int64_t n = 0;
    value = ptc_text_trim(value, " \t\r\n");
    for (size_t i = 0; i < value.len; i++) {
        int digit = value.bytes[i] - '0';
        if (digit < 0 || digit > 9)
            return false;
        n = n > (INT64_MAX - digit) / 10 ? INT64_MAX : n * 10 + digit;
    }
    *out = n;
    return value.len > 0;
}
