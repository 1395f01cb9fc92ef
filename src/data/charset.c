/* SPDX-License-Identifier: MIT
 * Converts text of unknown encoding to UTF-8.  What always holds: *out is valid UTF-8, or the call fails with the
 * place of the first byte that does not fit. */
#include "data/charset.h"

#include "base/utf8.h"

static bool fail_charset(PtcCharsetError *error, size_t at, const char *what)
{
    *error = (PtcCharsetError){.at = at, .what = what};
    return false;
}

static bool give_converted(const PtcBuf *buf, PtcText *out, PtcCharsetError *error)
{
    *out = (PtcText){buf->data ? buf->data : "", buf->len};
    *error = (PtcCharsetError){.what = "out of memory while converting the text", .stopped = true};
    return ptc_buf_ok(buf);
}

/* -------------------------------------------------------------------------------- UTF-16 */

typedef struct {
    const unsigned char *bytes;
    size_t len;
    bool big; /* the high byte comes first */
} Utf16;

static uint32_t unit_at(const Utf16 *t, size_t i)
{
    unsigned a = t->bytes[i], b = t->bytes[i + 1];
    return t->big ? a << 8 | b : b << 8 | a;
}

/* The code point at *i, which moves past it; 0xffffffff for a surrogate without its partner. */
static uint32_t next_code(const Utf16 *t, size_t *i)
{
    uint32_t unit = unit_at(t, *i), low;
    *i += 2;
    if (unit < 0xd800 || unit > 0xdfff)
        return unit;
    if (unit > 0xdbff || *i + 2 > t->len || (low = unit_at(t, *i)) < 0xdc00 || low > 0xdfff)
        return UINT32_MAX;
    *i += 2;
    return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

static bool decode_utf16(const char *text, size_t len, bool big, size_t from, PtcBuf *buf,
                         PtcText *out, PtcCharsetError *error)
{
    Utf16 t = {(const unsigned char *)text, len, big};
    if (len % 2 != 0)
        return fail_charset(error, len - 1,
                            "the text is UTF-16, but half a character is missing here");
    for (size_t i = from; i < len && ptc_buf_ok(buf);) {
        char utf8[4];
        size_t at = i;
        uint32_t code = next_code(&t, &i);
        if (code == UINT32_MAX)
            return fail_charset(error, at, "the text is UTF-16, but this is half of a character");
        ptc_buf_add(buf, utf8, ptc_utf8_encode(code, utf8));
    }
    return give_converted(buf, out, error);
}

/* Without a byte order mark: most letters in UTF-16 have a NUL beside them, always on the same side. */
static bool looks_utf16(const char *text, size_t len, bool big)
{
    enum { CHARSET_LOOKED_AT = 64 };
    size_t n = len < CHARSET_LOOKED_AT ? len / 2 * 2 : CHARSET_LOOKED_AT, high = 0, low = 0;
    for (size_t i = 0; i < n; i += 2) {
        high += text[i + !big] == 0;
        low += text[i + big] == 0;
    }
    return n >= 4 && high * 2 > n / 2 && low * 4 < high;
}

/* -------------------------------------------------------------------------- Windows-1252 */

/* 0x80 to 0x9f, where it differs from Latin-1; 0 marks bytes that are not assigned. */
static const uint16_t windows[32] = {
    0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017d, 0,      0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178,
};

/* Does the text contain a character of several bytes in valid UTF-8? */
static bool has_utf8(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)text[i] < 0xc0)
            continue;
        size_t rest = len - i < 4 ? len - i : 4;
        if (ptc_utf8_valid_prefix(text + i, rest) > 1)
            return true;
    }
    return false;
}

/* A text that has real UTF-8 in it is damaged UTF-8, not Windows-1252. */
static bool decode_windows(const char *text, size_t len, size_t bad, PtcBuf *buf, PtcText *out,
                           PtcCharsetError *error)
{
    if (has_utf8(text, len))
        return fail_charset(error, bad, "a byte here is not UTF-8, though the text is");
    for (size_t i = 0; i < len && ptc_buf_ok(buf); i++) {
        char utf8[4];
        uint32_t code = (unsigned char)text[i];
        if (code >= 0x80 && code < 0xa0 && (code = windows[code - 0x80]) == 0)
            return fail_charset(error, i,
                                "a byte here is neither UTF-8 nor Latin-1 (Windows-1252)");
        ptc_buf_add(buf, utf8, ptc_utf8_encode(code, utf8));
    }
    return give_converted(buf, out, error);
}

/* ----------------------------------------------------------------------------------- all */

static bool begins_with_mark(const char *text, size_t len, const char *mark, size_t mark_len)
{
    return len >= mark_len && memcmp(text, mark, mark_len) == 0;
}

PtcText ptc_charset_unmarked(PtcText t)
{
    size_t skip = begins_with_mark(t.bytes, t.len, "\xef\xbb\xbf", 3) ? 3 : 0;
    return (PtcText){t.bytes + skip, t.len - skip};
}

/* Marks first, then guesses from the least likely to be wrong to the most. */
bool ptc_charset_decode(const char *text, size_t len, PtcBuf *buf, PtcText *out,
                        PtcCharsetError *error)
{
    if (begins_with_mark(text, len, "\xff\xfe\0\0", 4) ||
        begins_with_mark(text, len, "\0\0\xfe\xff", 4))
        return fail_charset(error, 0, "the text is UTF-32, which is not read; save it as UTF-8");
    bool little = begins_with_mark(text, len, "\xff\xfe", 2),
         big = begins_with_mark(text, len, "\xfe\xff", 2);
    if (little || big)
        return decode_utf16(text, len, big, 2, buf, out, error);
    big = looks_utf16(text, len, true);
    if (big || looks_utf16(text, len, false))
        return decode_utf16(text, len, big, 0, buf, out, error);
    *out = ptc_charset_unmarked((PtcText){text, len});
    size_t skip = len - out->len;
    size_t valid = ptc_utf8_valid_prefix(out->bytes, out->len);
    if (valid == out->len)
        return true;
    if (skip)
        return fail_charset(error, skip + valid,
                            "a byte here is not UTF-8, though the text begins as such");
    return decode_windows(text, len, valid, buf, out, error);
}
