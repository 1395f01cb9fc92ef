/* SPDX-License-Identifier: MIT
 * "Did you mean": the edit distance of two words, in bounded time and memory.  What always holds: nothing is
 * allocated, and words longer than PTC_NEAREST_BYTES are never near. */
#include "base/nearest.h"

#include <stdbool.h>
#include <stdint.h>

/* Three rows of the table of distances between the prefixes of a and b, one row for each prefix of a.  Only a band of
 * `limit` columns on either side of the diagonal is kept; the cells next to the band hold limit + 1, "too far". */
typedef struct {
    const char *a, *b;
    size_t a_len, b_len, limit;
    uint8_t rows[3][PTC_NEAREST_BYTES + 2];
} Table;

void ptc_nearest_init(PtcNearest *nearest, const char *word, size_t len)
{
    size_t near = len / 3 > 1 ? len / 3 : 1;
    if (near >= len)
        near = len ? len - 1 : 0;
    *nearest = (PtcNearest){.word = word, .len = len, .best_distance = near + 1};
}

static uint8_t least(unsigned x, unsigned y)
{
    return (uint8_t)(x < y ? x : y);
}

/* Distance of prefixes of lengths i and j: delete, insert, replace, or swap two neighbours. */
static uint8_t cell(const Table *t, size_t i, size_t j)
{
    const uint8_t *row = t->rows[i % 3], *above = t->rows[(i + 2) % 3];
    bool same = t->a[i - 1] == t->b[j - 1];
    uint8_t d = least(above[j - 1] + !same, least(above[j], row[j - 1]) + 1u);
    if (i > 1 && j > 1 && t->a[i - 1] == t->b[j - 2] && t->a[i - 2] == t->b[j - 1])
        d = least(d, t->rows[(i + 1) % 3][j - 2] + 1u);
    return least(d, (unsigned)t->limit + 1);
}

/* Fills row i; returns its smallest cell. */
static uint8_t fill(Table *t, size_t i)
{
    uint8_t *row = t->rows[i % 3], far = (uint8_t)(t->limit + 1), smallest = far;
    size_t first = i > t->limit ? i - t->limit : 0;
    size_t last = i + t->limit < t->b_len ? i + t->limit : t->b_len;
    if (first > 0)
        row[first - 1] = far;
    for (size_t j = first; j <= last; j++) {
        row[j] = i == 0 ? (uint8_t)j : j == 0 ? (uint8_t)i : cell(t, i, j);
        smallest = least(smallest, row[j]);
    }
    row[last + 1] = far;
    return smallest;
}

/* Damerau-Levenshtein distance (optimal alignment) of the two, or limit + 1 if it is larger. */
static size_t distance(Table *t)
{
    for (size_t i = 0; i <= t->a_len; i++)
        if (fill(t, i) > t->limit)
            return t->limit + 1;
    return t->rows[t->a_len % 3][t->b_len];
}

size_t ptc_nearest_distance(const char *a, size_t a_len, const char *b, size_t b_len, size_t limit)
{
    size_t apart = a_len > b_len ? a_len - b_len : b_len - a_len;
    if (apart > limit || a_len > PTC_NEAREST_BYTES || b_len > PTC_NEAREST_BYTES)
        return limit + 1;
    Table t = {.a = a, .b = b, .a_len = a_len, .b_len = b_len, .limit = limit};
    return distance(&t);
}

void ptc_nearest_offer(PtcNearest *nearest, const char *candidate, size_t len)
{
    if (nearest->best_distance == 0)
        return;
    size_t limit = nearest->best_distance - 1;
    size_t d = ptc_nearest_distance(nearest->word, nearest->len, candidate, len, limit);
    if (d > limit)
        return;
    nearest->best = candidate;
    nearest->best_len = len;
    nearest->best_distance = d;
}
