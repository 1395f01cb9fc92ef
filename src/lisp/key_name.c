/* SPDX-License-Identifier: MIT */
#include "lisp/key_name.h"

#include <stdio.h>

#include "base/utf8.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static bool in_name(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || (c && strchr("-_?!*+<>=.", c));
}

/* With a blank in it, the name is somebody's heading: it is written as programs write names. */
bool ptc_key_as_name(PtcValue key, char out[PTC_KEY_WRITTEN])
{
    const char *text = ptc_str_bytes(key);
    size_t len = ptc_str_len(key);
    bool heading = memchr(text, ' ', len) != NULL;
    if (len == 0 || len >= PTC_KEY_WRITTEN || !(is_letter(text[0]) || text[0] == '_') ||
        text[len - 1] == ' ')
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c != ' ' && !in_name(c))
            return false;
        if (heading && c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        out[i] = c == ' ' ? '-' : c;
    }
    out[len] = 0;
    return true;
}

const char *ptc_key_written(PtcValue key, char out[PTC_KEY_WRITTEN])
{
    enum { ROOM = PTC_KEY_WRITTEN - 8 };
    char name[PTC_KEY_WRITTEN];
    size_t len = ptc_str_len(key);
    if (ptc_key_as_name(key, name) && len < PTC_KEY_WRITTEN - 1) {
        snprintf(out, PTC_KEY_WRITTEN, ":%.*s", PTC_KEY_WRITTEN - 2, name);
        return out;
    }
    size_t n = ptc_utf8_valid_prefix(ptc_str_bytes(key), len < ROOM ? len : ROOM);
    snprintf(out, PTC_KEY_WRITTEN, "\"%.*s%s\"", (int)n, ptc_str_bytes(key), n < len ? "..." : "");
    return out;
}
