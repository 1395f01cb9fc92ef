/* SPDX-License-Identifier: MIT
 * UTF-8 and graphemes.  What always holds: functions that validate accept any bytes; the others are only given valid
 * UTF-8, and stay inside the bytes even if they are not. */
#include "base/utf8.h"

#include <string.h>
#include <utf8proc.h>

#include "base/ascii.h"

#define ONES ((uint64_t)0x0101010101010101)
#define HIGHS ((uint64_t)0x8080808080808080)

static uint64_t load_utf8_word(const char *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

static bool is_tail(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* Length of the well-formed sequence at p, whose first byte is not ASCII; 0 if there is none.  Which second bytes the
 * first one allows follows table 3-7 of the Unicode standard: that is where overlong forms, surrogates and values
 * that are too large are refused. */
static size_t utf8_sequence_len(const unsigned char *p, size_t len)
{
    unsigned char c = p[0];
    if (c < 0xc2 || c > 0xf4 || len < 2 || !is_tail(p[1]))
        return 0;
    if (c < 0xe0)
        return 2;
    if (len < 3 || !is_tail(p[2]))
        return 0;
    if (c < 0xf0)
        return (c == 0xe0 && p[1] < 0xa0) || (c == 0xed && p[1] > 0x9f) ? 0 : 3;
    if (len < 4 || !is_tail(p[3]))
        return 0;
    return (c == 0xf0 && p[1] < 0x90) || (c == 0xf4 && p[1] > 0x8f) ? 0 : 4;
}

size_t ptc_utf8_valid_prefix(const char *bytes, size_t len)
{
    size_t i = 0;
    while (i < len) {
        if (len - i >= 8 && (load_utf8_word(bytes + i) & HIGHS) == 0) {
            i += 8;
            continue;
        }
        size_t n = 1;
        if ((unsigned char)bytes[i] >= 0x80)
            n = utf8_sequence_len((const unsigned char *)bytes + i, len - i);
        if (n == 0)
            return i;
        i += n;
    }
    return len;
}

bool ptc_utf8_valid(const char *bytes, size_t len)
{
    return ptc_utf8_valid_prefix(bytes, len) == len;
}

void ptc_utf8_add(PtcBuf *out, PtcText rest)
{
    while (rest.len) {
        size_t n = ptc_utf8_valid_prefix(rest.bytes, rest.len);
        ptc_buf_add(out, rest.bytes, n);
        if (n < rest.len)
            ptc_buf_add_char(out, '?');
        n += n < rest.len;
        rest = (PtcText){rest.bytes + n, rest.len - n};
    }
}

size_t ptc_utf8_decode(const char *bytes, size_t len, uint32_t *code)
{
    const unsigned char *p = (const unsigned char *)bytes;
    uint32_t c = p[0];
    if (c < 0x80) {
        *code = c;
        return 1;
    }
    size_t n = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    if (n > len) { /* the caller broke its promise; stay inside the bytes all the same */
        *code = 0xfffd;
        return 1;
    }
    c &= 0x7fu >> n;
    for (size_t i = 1; i < n; i++)
        c = c << 6 | (p[i] & 0x3f);
    *code = c;
    return n;
}

size_t ptc_utf8_encode(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out[0] = (char)((0xf00u >> n & 0xf0) | code);
    return n;
}

size_t ptc_utf8_count(const char *bytes, size_t len)
{
    size_t tails = 0, i = 0;
    for (; len - i >= 8; i += 8) {
        uint64_t w = load_utf8_word(bytes + i);
        tails += (size_t)__builtin_popcountll(w >> 7 & ~(w >> 6) & ONES);
    }
    for (; i < len; i++)
        tails += is_tail((unsigned char)bytes[i]);
    return len - tails;
}

bool ptc_utf8_is_space(uint32_t c)
{
    return ptc_ascii_is_white((int)c) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

static unsigned char fold_ascii(unsigned char c)
{
    return c == ' ' || c == '-' ? '_' : (unsigned char)ptc_ascii_lower((char)c);
}

/* Compares one character of each at `at`, the first of which is not ASCII; its length, or 0 if they differ. */
static size_t alike_letter(const char *a, const char *b, size_t at, size_t len)
{
    uint32_t x, y;
    size_t n = ptc_utf8_decode(a + at, len - at, &x), m = ptc_utf8_decode(b + at, len - at, &y);
    bool same = n == m && (x == y || utf8proc_tolower((utf8proc_int32_t)x) ==
                                         utf8proc_tolower((utf8proc_int32_t)y));
    return same ? n : 0;
}

bool ptc_utf8_alike(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i < len;) {
        unsigned char x = (unsigned char)a[i], y = (unsigned char)b[i];
        size_t n = x < 0x80 ? fold_ascii(x) == fold_ascii(y) : alike_letter(a, b, i, len);
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

bool ptc_utf8_is_seen(uint32_t code)
{
    enum { BRAILLE_BLANK = 0x2800 };
    const utf8proc_property_t *p = utf8proc_get_property((utf8proc_int32_t)code);
    bool other = p->category == UTF8PROC_CATEGORY_CN || p->category >= UTF8PROC_CATEGORY_ZS;
    return code == ' ' || (!other && !p->ignorable && code != BRAILLE_BLANK);
}

/* Rule GB9c of Unicode 15.1, which the library does not know yet: in six scripts of India a consonant, a virama and
 * the next consonant form one grapheme.  Properties InCB=Consonant and InCB=Linker. */
static bool is_consonant(uint32_t c)
{
    static const uint16_t ranges[][2] = {
        {0x915, 0x939}, {0x958, 0x95f}, {0x978, 0x97f}, {0x995, 0x9a8}, {0x9aa, 0x9b0},
        {0x9b2, 0x9b2}, {0x9b6, 0x9b9}, {0x9dc, 0x9dd}, {0x9df, 0x9df}, {0x9f0, 0x9f1},
        {0xa95, 0xaa8}, {0xaaa, 0xab0}, {0xab2, 0xab3}, {0xab5, 0xab9}, {0xaf9, 0xaf9},
        {0xb15, 0xb28}, {0xb2a, 0xb30}, {0xb32, 0xb33}, {0xb35, 0xb39}, {0xb5c, 0xb5d},
        {0xb5f, 0xb5f}, {0xb71, 0xb71}, {0xc15, 0xc28}, {0xc2a, 0xc39}, {0xc58, 0xc5a},
        {0xd15, 0xd3a},
    };
    if (c < 0x915 || c > 0xd3a)
        return false;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return true;
    return false;
}

static bool is_virama(uint32_t c)
{
    return c == 0x94d || c == 0x9cd || c == 0xacd || c == 0xb4d || c == 0xc4d || c == 0xd4d;
}

/* How far a grapheme has come towards a conjunct. */
typedef enum { APART, CONSONANT, LINKED } Conjunct;

static Conjunct conjunct_after(Conjunct before, uint32_t c)
{
    if (is_consonant(c))
        return CONSONANT;
    if (before == APART || is_virama(c))
        return before == APART ? APART : LINKED;
    bool extends = c == 0x200d || utf8proc_get_property((utf8proc_int32_t)c)->combining_class != 0;
    return extends ? before : APART;
}

enum { TICKED = 64 }; /* code points of one grapheme between two ticks */

size_t ptc_utf8_grapheme(PtcBudget *budget, const char *bytes, size_t len)
{
    const unsigned char *p = (const unsigned char *)bytes;
    if (len == 1 || (p[0] < 0x80 && p[1] < 0x80)) /* CR LF too: see the header */
        return 1;
    uint32_t left, right;
    utf8proc_int32_t state = 0;
    size_t at = ptc_utf8_decode(bytes, len, &left);
    Conjunct conjunct = conjunct_after(APART, left);
    for (unsigned count = 1; at < len; count++) {
        size_t n = ptc_utf8_decode(bytes + at, len - at, &right);
        bool ends = utf8proc_grapheme_break_stateful((utf8proc_int32_t)left,
                                                     (utf8proc_int32_t)right, &state);
        if (ends && !(conjunct == LINKED && is_consonant(right)))
            break;
        if (count % TICKED == 0 && budget && !ptc_tick(budget, TICKED))
            return len;
        conjunct = conjunct_after(conjunct, right);
        at += n;
        left = right;
    }
    return at;
}

size_t ptc_utf8_graphemes(PtcBudget *budget, const char *bytes, size_t len)
{
    size_t count = 0;
    for (size_t at = 0; at < len; count++) {
        at += ptc_utf8_grapheme(budget, bytes + at, len - at);
        if (count % TICKED == 0 && budget && !ptc_tick(budget, TICKED))
            break;
    }
    return count;
}
