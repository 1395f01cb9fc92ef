/* SPDX-License-Identifier: MIT
 * Keys as programs write them.  What always holds: what is written reads back as one form on one line, whatever is in
 * the key. */
#include "value/coll/key_name.h"

#include <stdio.h>

#include "base/ascii.h"
#include "base/utf8.h"

static bool is_key_letter(char c)
{
    return ptc_ascii_is_letter(c) || (unsigned char)c >= 0x80;
}

static bool is_key_char(char c)
{
    return is_key_letter(c) || ptc_ascii_is_digit(c) || (c && strchr("-_?!*+<>=.", c));
}

/* A name with a blank in it is somebody's heading: it is written as programs write names. */
bool ptc_key_as_name(PtcValue key, char out[PTC_KEY_WRITTEN])
{
    const char *text = ptc_str_bytes(key);
    size_t len = ptc_str_len(key);
    bool heading = memchr(text, ' ', len) != NULL;
    if (len == 0 || len >= PTC_KEY_WRITTEN || !(is_key_letter(text[0]) || text[0] == '_') ||
        text[len - 1] == ' ')
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c != ' ' && !is_key_char(c))
            return false;
        if (heading && ptc_ascii_is_upper(c))
            c = (char)(c - 'A' + 'a');
        out[i] = c == ' ' ? '-' : c;
    }
    out[len] = 0;
    return true;
}

/* What follows a backslash for a byte that a literal cannot contain: a quote in a heading must not end it, and a line
 * end must not start a new line in a description. */
static char escape_of(char c)
{
    return c == '"' || c == '\\' ? c : c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : 0;
}

static bool is_key_control(char c)
{
    return (unsigned char)c < ' ' || c == 0x7f;
}

/* Appends a byte of a literal; returns how many bytes it takes there. */
static size_t quote_byte(char c, char out[8])
{
    char escape = escape_of(c);
    if (!escape && is_key_control(c))
        return (size_t)snprintf(out, 8, "\\u%04x", (unsigned)(unsigned char)c);
    out[0] = escape ? '\\' : c;
    out[1] = escape;
    return escape ? 2 : 1;
}

static const char *write_quoted(PtcValue key, char out[PTC_KEY_WRITTEN])
{
    enum { ROOM = PTC_KEY_WRITTEN - 8 };
    const char *text = ptc_str_bytes(key);
    char quoted[8];
    size_t len = ptc_str_len(key), n = 0, used = 0, at = 1, more;
    for (; n < len && used + (more = quote_byte(text[n], quoted)) <= ROOM; n++)
        used += more;
    n = ptc_utf8_valid_prefix(text, n);
    out[0] = '"';
    for (size_t i = 0; i < n; i++, at += more) {
        more = quote_byte(text[i], quoted);
        memcpy(out + at, quoted, more);
    }
    snprintf(out + at, PTC_KEY_WRITTEN - at, "%s\"", n < len ? "..." : "");
    return out;
}

bool ptc_key_is_plain(PtcValue key)
{
    for (size_t i = 0; i < ptc_str_len(key); i++)
        if (is_key_control(ptc_str_bytes(key)[i]))
            return false;
    return true;
}

const char *ptc_key_written(PtcValue key, char out[PTC_KEY_WRITTEN])
{
    char name[PTC_KEY_WRITTEN];
    if (!ptc_key_as_name(key, name) || ptc_str_len(key) >= PTC_KEY_WRITTEN - 1)
        return write_quoted(key, out);
    snprintf(out, PTC_KEY_WRITTEN, ":%.*s", PTC_ARG_OF(name, PTC_KEY_WRITTEN - 2));
    return out;
}
