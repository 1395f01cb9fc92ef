/* SPDX-License-Identifier: MIT
 * swar.h - examining the bytes of JSON strings eight at a time.
 *
 * A word is loaded so that the first byte is the lowest.  The masks below have the high bit set in each byte that
 * was found; a borrow may raise false alarms, but only above a true one, so the lowest set bit is always right. */
#ifndef PTC_JSON_SWAR_H
#define PTC_JSON_SWAR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PTC_JSON_ONES ((uint64_t)0x0101010101010101)
#define PTC_JSON_HIGHS ((uint64_t)0x8080808080808080)

static inline uint64_t ptc_json_load8(const char *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof w);
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(w) : w;
}

/* Bytes that cannot stand for themselves in a JSON string: quote, backslash, control characters. */
static inline uint64_t ptc_json_specials(uint64_t w)
{
    uint64_t quote = w ^ (PTC_JSON_ONES * '"');
    uint64_t slash = w ^ (PTC_JSON_ONES * '\\');
    uint64_t found = ((w - PTC_JSON_ONES * 0x20) & ~w) | ((quote - PTC_JSON_ONES) & ~quote) |
                     ((slash - PTC_JSON_ONES) & ~slash);
    return found & PTC_JSON_HIGHS;
}

static inline uint64_t ptc_json_non_ascii(uint64_t w)
{
    return w & PTC_JSON_HIGHS;
}

static inline size_t ptc_json_first(uint64_t mask)
{
    return (size_t)__builtin_ctzll(mask) / 8;
}

static inline int ptc_json_is_special(char c)
{
    return (unsigned char)c < 0x20 || c == '"' || c == '\\';
}

/* The first byte from p on that cannot stand for itself, or end. */
static inline const char *ptc_json_skip_plain(const char *p, const char *end)
{
    for (; end - p >= 8; p += 8) {
        uint64_t mask = ptc_json_specials(ptc_json_load8(p));
        if (mask)
            return p + ptc_json_first(mask);
    }
    while (p < end && !ptc_json_is_special(*p))
        p++;
    return p;
}

/* The same, but also stops at the first byte that is not ASCII. */
static inline const char *ptc_json_skip_ascii(const char *p, const char *end)
{
    for (; end - p >= 8; p += 8) {
        uint64_t w = ptc_json_load8(p);
        uint64_t mask = ptc_json_specials(w) | ptc_json_non_ascii(w);
        if (mask)
            return p + ptc_json_first(mask);
    }
    while (p < end && !ptc_json_is_special(*p) && (unsigned char)*p < 0x80)
        p++;
    return p;
}

#endif
