/* SPDX-License-Identifier: MIT
 * Long comparisons and searches, in parts.  What always holds: the time between two ticks is bounded, whatever the C
 * library makes of the bytes. */
#define _GNU_SOURCE /* memmem */
#include "base/bytes.h"

#include "base/units.h"

enum { BYTES_PART = 128 * PTC_KB }; /* bytes between two ticks: some 10 to 50 microseconds */

/* The length of the next part of n bytes; 0 when a limit was hit. */
static size_t next_byte_count(PtcBudget *budget, size_t n)
{
    size_t part = n < BYTES_PART ? n : BYTES_PART;
    return ptc_tick_bytes(budget, part) ? part : 0;
}

int ptc_bytes_compare_long(PtcBudget *budget, const char *a, const char *b, size_t n)
{
    size_t part;
    for (; n > 0 && (part = next_byte_count(budget, n)) > 0; a += part, b += part, n -= part) {
        int c = memcmp(a, b, part);
        if (c != 0)
            return c;
    }
    return n >
           0; /* stopped: reported as different, so that a caller looking for a difference does not go on */
}

/* A search is charged for how far it went, since most end early. */
const char *ptc_bytes_find_char(PtcBudget *budget, const char *in, size_t len, char c)
{
    while (len > 0) {
        size_t span = len < BYTES_PART ? len : BYTES_PART;
        const char *hit = memchr(in, c, span);
        if (!ptc_tick_bytes(budget, hit ? (size_t)(hit - in) : span))
            return NULL;
        if (hit)
            return hit;
        in += span;
        len -= span;
    }
    return NULL;
}

/* Spans overlap by the length of a match, and are long in comparison: memmem has a setup cost for each.  If the part
 * is short, the C library may compare all of it at every position. */
static const char *find_short(PtcBudget *budget, const char *in, size_t len, const char *part,
                              size_t n)
{
    const size_t step = n < BYTES_PART / 4 ? BYTES_PART / 2 : n * 4;
    while (len >= n) {
        size_t span = len - n < step ? len : step + n - 1;
        const char *hit = memmem(in, span, part, n);
        if (!ptc_tick_scan(budget, n + (hit ? (size_t)(hit - in) : span)))
            return NULL;
        if (hit || span == len)
            return hit;
        in += step;
        len -= step;
    }
    return NULL;
}

/* For a long part, its beginning is searched for and the rest compared. */
const char *ptc_bytes_find(PtcBudget *budget, const char *in, size_t len, const char *part,
                           size_t n)
{
    const char *end = in + len;
    size_t first = n < BYTES_PART ? n : BYTES_PART;
    if (n == 0)
        return in;
    while ((size_t)(end - in) >= n) {
        const char *hit = find_short(budget, in, (size_t)(end - in) - (n - first), part, first);
        if (!hit || ptc_bytes_same(budget, hit + first, part + first, n - first))
            return hit;
        if (!ptc_tick(budget, 1))
            return NULL;
        in = hit + 1;
    }
    return NULL;
}

bool ptc_bytes_copy(PtcBudget *budget, char *to, const char *from, size_t n)
{
    size_t part;
    for (; n > 0 && (part = next_byte_count(budget, n)) > 0; to += part, from += part, n -= part)
        memcpy(to, from, part);
    return n == 0;
}
