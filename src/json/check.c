/* SPDX-License-Identifier: MIT
 * Checks JSON without building anything from it.  What always holds: it agrees with the parser about every text,
 * except for numbers too large for a double, which only the parser rejects. */
#include "json/check.h"

#include <stdint.h>
#include <string.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/parse.h"
#include "json/swar.h"

/* The state of a scan; `stack` has a bit for each open container: 1 for an object. */
typedef struct JsonScan {
    const char *at, *end;
    unsigned depth;
    uint64_t stack[PTC_JSON_MAX_DEPTH / 64];
} JsonScan;

static char peek_json(const JsonScan *s)
{
    return s->at < s->end ? *s->at : 0;
}

static void skip_json_spaces(JsonScan *s)
{
    while (s->at < s->end && ptc_ascii_is_space(*s->at))
        s->at++;
}

static bool take_json_char(JsonScan *s, char c)
{
    bool there = peek_json(s) == c;
    s->at += there;
    return there;
}

static bool take_json_word(JsonScan *s, const char *word)
{
    while (*word && take_json_char(s, *word))
        word++;
    return !*word;
}

static bool take_json_digits(JsonScan *s)
{
    const char *from = s->at;
    while (ptc_ascii_is_digit(peek_json(s)))
        s->at++;
    return s->at > from;
}

static bool take_json_number(JsonScan *s)
{
    take_json_char(s, '-');
    if (!take_json_char(s, '0') && !take_json_digits(s))
        return false;
    if (take_json_char(s, '.') && !take_json_digits(s))
        return false;
    if (!take_json_char(s, 'e') && !take_json_char(s, 'E'))
        return true;
    if (!take_json_char(s, '+'))
        take_json_char(s, '-');
    return take_json_digits(s);
}

/* Four hexadecimal digits after \u; UINT32_MAX if they are not there. */
static uint32_t take_hex(JsonScan *s)
{
    uint32_t n = 0;
    for (int i = 0; i < 4; i++, s->at++) {
        int digit = ptc_ascii_hex_value(peek_json(s));
        if (digit < 0)
            return UINT32_MAX;
        n = n << 4 | (uint32_t)digit;
    }
    return n;
}

/* After \u: rejects half a surrogate pair. */
static bool take_code(JsonScan *s)
{
    uint32_t n = take_hex(s);
    if (n == UINT32_MAX || (n >= 0xDC00 && n <= 0xDFFF))
        return false;
    if (n < 0xD800 || n > 0xDBFF)
        return true;
    n = take_json_word(s, "\\u") ? take_hex(s) : 0;
    return n >= 0xDC00 && n <= 0xDFFF;
}

static bool take_escape(JsonScan *s)
{
    if (take_json_char(s, 'u'))
        return take_code(s);
    if (s->at == s->end || !*s->at || !strchr("\"\\/bfnrt", *s->at))
        return false;
    s->at++;
    return true;
}

/* UTF-8 is not checked here but once for the whole text. */
static bool take_string(JsonScan *s)
{
    if (!take_json_char(s, '"'))
        return false;
    for (;;) {
        s->at = ptc_json_skip_plain(s->at, s->end);
        if (take_json_char(s, '"'))
            return true;
        if (!take_json_char(s, '\\') || !take_escape(s))
            return false;
    }
}

static bool in_object(const JsonScan *s)
{
    unsigned i = s->depth - 1;
    return s->stack[i / 64] >> i % 64 & 1;
}

static bool push_json_level(JsonScan *s, bool object)
{
    unsigned i = s->depth;
    if (i == PTC_JSON_MAX_DEPTH)
        return false;
    s->stack[i / 64] = (s->stack[i / 64] & ~((uint64_t)1 << i % 64)) | (uint64_t)object << i % 64;
    s->depth++;
    return true;
}

static bool take_json_key(JsonScan *s)
{
    skip_json_spaces(s);
    if (!take_string(s))
        return false;
    skip_json_spaces(s);
    return take_json_char(s, ':');
}

/* After a value: closes the containers that end there.  False: malformed; *more says whether another value must
 * follow. */
static bool after_value(JsonScan *s, bool *more)
{
    for (;;) {
        skip_json_spaces(s);
        *more = false;
        if (s->depth == 0)
            return true;
        if (take_json_char(s, ',')) {
            *more = true;
            return !in_object(s) || take_json_key(s);
        }
        if (!take_json_char(s, in_object(s) ? '}' : ']'))
            return false;
        s->depth--;
    }
}

/* Opens a container whose bracket was taken.  An empty one is closed at once, but still counts as a level of
 * nesting. */
static bool take_container(JsonScan *s, bool object, bool *open)
{
    if (!push_json_level(s, object))
        return false;
    skip_json_spaces(s);
    *open = !take_json_char(s, object ? '}' : ']');
    s->depth -= !*open;
    return !*open || !object || take_json_key(s);
}

/* A scalar or an empty container, or the start of a container, with *open set. */
static bool take_json_value(JsonScan *s, bool *open)
{
    *open = false;
    skip_json_spaces(s);
    switch (peek_json(s)) {
    case '"': return take_string(s);
    case 't': return take_json_word(s, "true");
    case 'f': return take_json_word(s, "false");
    case 'n': return take_json_word(s, "null");
    case '{': s->at++; return take_container(s, true, open);
    case '[': s->at++; return take_container(s, false, open);
    default: return take_json_number(s);
    }
}

/* Checked for the whole line at once; after that no string can contain one. */
static bool has_json_controls(const char *text, size_t len)
{
    size_t i = 0;
    for (; len - i >= 8; i += 8) {
        uint64_t w = ptc_json_load8(text + i);
        if ((w - PTC_JSON_ONES * 0x20) & ~w & PTC_JSON_HIGHS)
            return true;
    }
    for (; i < len; i++)
        if ((unsigned char)text[i] < 0x20)
            return true;
    return false;
}

/* One value and the white space around it. */
static bool take_json_line(JsonScan *s)
{
    bool open = false, more = true;
    while (more) {
        if (!take_json_value(s, &open))
            return false;
        if (!open && !after_value(s, &more))
            return false;
    }
    return true;
}

/* Is there a line end in the white space before this place? */
static bool begins_line(const char *text, const char *at)
{
    while (at > text && (unsigned char)at[-1] <= ' ')
        if (*--at == '\n')
            return true;
    return at == text;
}

/* What is missing at the end is missing because the text was cut there: nothing is taken that does not fit. */
bool ptc_json_begins(const char *text, size_t len, bool whole)
{
    JsonScan s = {.at = text, .end = text + len};
    for (bool scalar = false, now; s.at < s.end; scalar = now) {
        now = *s.at != '{' && *s.at != '[';
        if ((scalar || now) && !begins_line(text, s.at))
            return false;
        if (!take_json_line(&s))
            return !whole && s.at == s.end;
    }
    return true;
}

size_t ptc_json_value_len(const char *text, size_t len)
{
    JsonScan s = {.at = text, .end = text + len};
    if (!take_json_line(&s))
        return 0;
    while (s.at > text && (unsigned char)s.at[-1] <= ' ')
        s.at--;
    size_t n = (size_t)(s.at - text);
    return ptc_utf8_valid(text, n) ? n : 0;
}

bool ptc_json_is_line(const char *text, size_t len)
{
    JsonScan s = {.at = text, .end = text + len};
    return len > 0 && !has_json_controls(text, len) && ptc_utf8_valid(text, len) &&
           take_json_line(&s) && s.at == s.end;
}
