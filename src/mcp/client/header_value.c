/* SPDX-License-Identifier: MIT */
#include "mcp/client/header_value.h"

#include "base/text/base64.h"

static bool is_plain_header_value(PtcText text)
{
    if (text.len && (text.bytes[0] == ' ' || text.bytes[text.len - 1] == ' '))
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.bytes[i] < ' ' || text.bytes[i] > '~')
            return false;
    return !(ptc_text_starts(text, "=?base64?") && text.len >= 11 &&
             memcmp(text.bytes + text.len - 2, "?=", 2) == 0);
}

bool ptc_header_value_add(PtcBuf *out, PtcText text)
{
    if (is_plain_header_value(text))
        return ptc_buf_add(out, text.bytes, text.len);
    ptc_buf_add_cstr(out, "=?base64?");
    ptc_base64_add(out, text.bytes, text.len, false);
    return ptc_buf_add_cstr(out, "?=");
}
