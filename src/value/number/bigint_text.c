/* SPDX-License-Identifier: MIT
 * bigint_text.c - integers as decimal text.  mpn_set_str and mpn_get_str work on digit values, not
 * characters, and the latter destroys its operand; hence the scratch space. */
#include "value/number/bigint_int.h"

enum {
    WORD_DIGITS = 18, /* decimal digits that always fit a small integer */
    LIMB_DIGITS = 20, /* no limb has more decimal digits than this */
};

/* ------------------------------------------------------------------ reading */

static PtcValue parse_small(const char *digits, size_t len, bool negative)
{
    int64_t n = 0;
    for (size_t i = 0; i < len; i++)
        n = n * 10 + (digits[i] - '0');
    return ptc_int(negative ? -n : n);
}

/* The first of the digits is not 0. */
static PtcValue parse_big(PtcHeap *heap, const char *digits, size_t len, bool negative)
{
    /* log2(10) = 3.3219...: a decimal digit takes more than 3401/1024 bits, and less than 54/1024
     * limbs of 64 bits. */
    if (!ptc_big_allow(heap, (int64_t)((len - 1) * 3401 / 1024)))
        return PTC_NONE;
    size_t limbs = len * 54 / 1024 + 2;
    PtcLimbScratch s;
    if (!ptc_big_charge(heap, (mp_size_t)limbs, (mp_size_t)limbs) ||
        !ptc_limb_scratch_init(heap, &s, limbs + len / sizeof(mp_limb_t) + 1))
        return PTC_NONE;
    unsigned char *values = (unsigned char *)(s.limbs + limbs);
    for (size_t i = 0; i < len; i++)
        values[i] = (unsigned char)(digits[i] - '0');
    mp_size_t n = mpn_set_str(s.limbs, values, len, 10);
    PtcValue result = ptc_big_from_limbs(heap, s.limbs, n, negative);
    ptc_limb_scratch_deinit(heap, &s);
    return result;
}

PtcValue ptc_int_parse(PtcHeap *heap, const char *digits, size_t len)
{
    bool negative = len && digits[0] == '-';
    if (len && (digits[0] == '-' || digits[0] == '+')) {
        digits++;
        len--;
    }
    while (len && digits[0] == '0') {
        digits++;
        len--;
    }
    if (PTC_LIKELY(len <= WORD_DIGITS))
        return parse_small(digits, len, negative);
    return parse_big(heap, digits, len, negative);
}

/* ----------------------------------------------------------------- printing */

static bool print_small(PtcBuf *buf, int64_t n)
{
    char text[24];
    char *p = text + sizeof text;
    uint64_t rest = n < 0 ? -(uint64_t)n : (uint64_t)n;
    do {
        *--p = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (n < 0)
        *--p = '-';
    return ptc_buf_add(buf, p, (size_t)(text + sizeof text - p));
}

/* Writes the digits at `text`, leaving one byte for the sign in front, and appends them without leading zeros. */
static bool print_limbs(PtcBuf *buf, mp_limb_t *limbs, mp_size_t n, bool negative, char *text)
{
    size_t len = mpn_get_str((unsigned char *)text + 1, 10, limbs, n) + 1;
    size_t first = 1;
    while (text[first] == 0)
        first++;
    for (size_t i = first; i < len; i++)
        text[i] = (char)(text[i] + '0');
    if (negative)
        text[--first] = '-';
    return ptc_buf_add(buf, text + first, len - first);
}

bool ptc_int_print(PtcHeap *heap, PtcBuf *buf, PtcValue a)
{
    if (PTC_LIKELY(ptc_is_int(a)))
        return print_small(buf, ptc_to_int(a));
    PtcNum x;
    PtcLimbScratch s;
    ptc_big_load(&x, a);
    size_t limbs = (size_t)x.n + 1; /* mpn_get_str may write one limb past its operand */
    size_t bytes = (size_t)x.n * LIMB_DIGITS + 2;
    if (!ptc_big_charge(heap, x.n, x.n))
        return false;
    if (!ptc_limb_scratch_init(heap, &s, limbs + bytes / sizeof(mp_limb_t) + 1)) {
        buf->failed = true;
        return false;
    }
    mpn_copyi(s.limbs, x.limbs, x.n);
    bool ok = print_limbs(buf, s.limbs, x.n, x.negative, (char *)(s.limbs + limbs));
    ptc_limb_scratch_deinit(heap, &s);
    return ok;
}
