/* SPDX-License-Identifier: MIT
 * ascii.h - what kind of character this is, whatever the locale.  Only ASCII counts: a byte of a longer character of
 * UTF-8 or a code point above 127 is none of these, and neither is NUL. */
#ifndef PTC_BASE_ASCII_H
#define PTC_BASE_ASCII_H

#include <stdbool.h>

/* The space and the tab: what may stand between two words of one line. */
static inline bool ptc_ascii_is_blank(int c)
{
    return c == ' ' || c == '\t';
}

/* A blank or the end of a line: the white space of JSON. */
static inline bool ptc_ascii_is_space(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* All that isspace() knows: the spaces of above, vertical tab and form feed. */
static inline bool ptc_ascii_is_white(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool ptc_ascii_is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static inline bool ptc_ascii_is_lower(int c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool ptc_ascii_is_upper(int c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool ptc_ascii_is_letter(int c)
{
    return ptc_ascii_is_lower(c | 0x20);
}

static inline bool ptc_ascii_is_alnum(int c)
{
    return ptc_ascii_is_letter(c) || ptc_ascii_is_digit(c);
}

/* Names as C has them begin with a letter or `_` ... */
static inline bool ptc_ascii_begins_name(int c)
{
    return ptc_ascii_is_letter(c) || c == '_';
}

/* ... and go on with these and digits. */
static inline bool ptc_ascii_is_name(int c)
{
    return ptc_ascii_is_alnum(c) || c == '_';
}

/* The value of a digit in a base up to 36, where letters of either case go on with 10; 36: it is none in any base. */
static inline int ptc_ascii_digit_value(int c)
{
    return ptc_ascii_is_digit(c) ? c - '0' : ptc_ascii_is_letter(c) ? (c | 0x20) - 'a' + 10 : 36;
}

/* The value of a hexadecimal digit in either case; -1: it is none. */
static inline int ptc_ascii_hex_value(int c)
{
    int value = ptc_ascii_digit_value(c);
    return value < 16 ? value : -1;
}

static inline bool ptc_ascii_is_hex(int c)
{
    return ptc_ascii_hex_value(c) >= 0;
}

/* One as digests and identifiers are written: letters in lower case only. */
static inline bool ptc_ascii_is_lower_hex(int c)
{
    return ptc_ascii_is_hex(c) && !ptc_ascii_is_upper(c);
}

/* A letter in the other case; everything else stays what it is. */
static inline char ptc_ascii_lower(char c)
{
    return ptc_ascii_is_upper(c) ? (char)(c | 0x20) : c;
}

static inline char ptc_ascii_upper(char c)
{
    return ptc_ascii_is_lower(c) ? (char)(c & ~0x20) : c;
}

#endif
