/* SPDX-License-Identifier: MIT
 * UUIDs as text. */
#include "base/text/uuid.h"

bool ptc_is_uuid(const char *text, size_t len)
{
    bool ok = len == 36;
    for (size_t i = 0; ok && i < len; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        char c = (char)(text[i] | 32);
        ok = dash ? text[i] == '-' : (text[i] >= '0' && text[i] <= '9') || (c >= 'a' && c <= 'f');
    }
    return ok;
}
