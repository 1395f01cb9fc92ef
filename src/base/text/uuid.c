/* SPDX-License-Identifier: MIT
 * UUIDs as text. */
#include "base/text/uuid.h"

#include "base/ascii.h"

bool ptc_is_uuid(const char *text, size_t len)
{
    bool ok = len == 36;
    for (size_t i = 0; ok && i < len; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        ok = dash ? text[i] == '-' : ptc_ascii_is_hex(text[i]);
    }
    return ok;
}
