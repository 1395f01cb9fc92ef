/* SPDX-License-Identifier: MIT
 * text.h - bytes that somebody else owns: a pointer and a length.  The only type for this in the whole tree.  Unless
 * a declaration says otherwise the bytes are UTF-8 and not NUL-terminated. */
#ifndef PTC_BASE_TEXT_H
#define PTC_BASE_TEXT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/ascii.h"

typedef struct PtcText {
    const char *bytes; /* NULL: absent, which is not the same as empty */
    size_t len;
} PtcText;

/* A literal as a text, measured by the compiler. */
#define PTC_TEXT(literal) ((PtcText){"" literal, sizeof(literal) - 1})

/* The two arguments of "%.*s".  An absent text is shown as an empty one.  PTC_ARG evaluates its argument twice, and the
 * bytes of PTC_ARG_OF may also end with a NUL before the length. */
#define PTC_ARG(text) PTC_ARG_OF((text).bytes, (text).len)
#define PTC_ARG_OF(bytes, len) ptc_text_precision(len), ptc_text_shown(bytes)

/* A longer text would have a negative precision, which is none. */
static inline int ptc_text_precision(size_t len)
{
    return len < INT_MAX ? (int)len : INT_MAX;
}

static inline const char *ptc_text_shown(const char *bytes)
{
    return bytes ? bytes : "";
}

/* At most this many bytes of it, and no part of a character. */
static inline PtcText ptc_text_cut(PtcText text, size_t most)
{
    if (text.len > most)
        for (text.len = most; text.len > 0 && most - text.len < 3 &&
                              ((unsigned char)text.bytes[text.len] & 0xc0) == 0x80;)
            text.len--;
    return text;
}

/* A NUL-terminated text; NULL stays absent. */
static inline PtcText ptc_text_cstr(const char *s)
{
    return (PtcText){s, s ? strlen(s) : 0};
}

/* Texts may contain NUL, so they must never be compared with strcmp. */
static inline bool ptc_text_same(PtcText a, PtcText b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.bytes, b.bytes, a.len) == 0);
}

/* Whole tables are searched with it, and most of their rows differ in the first byte: those are not measured. */
static inline bool ptc_text_is(PtcText text, const char *s)
{
    if (text.len > 0 && s && *s != *text.bytes)
        return false;
    return ptc_text_same(text, ptc_text_cstr(s));
}

/* Are they the same name?  Programs write hyphens where providers and JSON have underscores. */
static inline bool ptc_text_same_name(PtcText a, PtcText b)
{
    bool same = a.len == b.len;
    for (size_t i = 0; same && i < a.len; i++)
        same = (a.bytes[i] == '-' ? '_' : a.bytes[i]) == (b.bytes[i] == '-' ? '_' : b.bytes[i]);
    return same;
}

/* Without the characters of `blanks` at either end. */
static inline PtcText ptc_text_trim(PtcText t, const char *blanks)
{
    size_t n = strlen(blanks);
    while (t.len > 0 && memchr(blanks, *t.bytes, n))
        t = (PtcText){t.bytes + 1, t.len - 1};
    while (t.len > 0 && memchr(blanks, t.bytes[t.len - 1], n))
        t.len--;
    return t;
}

/* What follows the spaces (ascii.h) that it begins with. */
static inline PtcText ptc_text_skip_spaces(PtcText t)
{
    while (t.len > 0 && ptc_ascii_is_space(*t.bytes))
        t = (PtcText){t.bytes + 1, t.len - 1};
    return t;
}

/* Is there nothing but spaces in it? */
static inline bool ptc_text_is_blank(PtcText t)
{
    return ptc_text_skip_spaces(t).len == 0;
}

/* Which of the words "a|b|c" it is, from 0; -1: none of them. */
static inline int ptc_text_choice(PtcText text, const char *words)
{
    int place = 0;
    for (; *words; place++) {
        size_t n = strcspn(words, "|");
        if (ptc_text_same(text, (PtcText){words, n}))
            return place;
        words += n + (words[n] == '|');
    }
    return -1;
}

static inline bool ptc_text_starts(PtcText text, const char *prefix)
{
    size_t n = strlen(prefix);
    return text.len >= n && memcmp(text.bytes, prefix, n) == 0;
}

#endif
