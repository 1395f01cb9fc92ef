/* SPDX-License-Identifier: MIT
 * "Did you mean": the edit distance of two words, in bounded time and memory.  What always holds: nothing is
 * allocated, and words longer than PTC_NEAREST_BYTES are never near. */
#include "base/text/nearest.h"

#include <stdint.h>
#include <strings.h>

#include "base/ascii.h"

/* Three rows of the table of distances between the prefixes of a and b, one row for each prefix of a.  Only a band of
 * `limit` columns on either side of the diagonal is kept; the cells next to the band hold limit + 1, "too far". */
typedef struct {
    const char *a, *b;
    size_t a_len, b_len, limit;
    uint8_t rows[3][PTC_NEAREST_BYTES + 2];
} DistanceTable;

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
static uint8_t cell(const DistanceTable *t, size_t i, size_t j)
{
    const uint8_t *row = t->rows[i % 3], *above = t->rows[(i + 2) % 3];
    bool same = t->a[i - 1] == t->b[j - 1];
    uint8_t d = least(above[j - 1] + !same, least(above[j], row[j - 1]) + 1u);
    if (i > 1 && j > 1 && t->a[i - 1] == t->b[j - 2] && t->a[i - 2] == t->b[j - 1])
        d = least(d, t->rows[(i + 1) % 3][j - 2] + 1u);
    return least(d, (unsigned)t->limit + 1);
}

/* Fills row i; returns its smallest cell. */
static uint8_t fill_distance_row(DistanceTable *t, size_t i)
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
static size_t edit_distance(DistanceTable *t)
{
    for (size_t i = 0; i <= t->a_len; i++)
        if (fill_distance_row(t, i) > t->limit)
            return t->limit + 1;
    return t->rows[t->a_len % 3][t->b_len];
}

size_t ptc_nearest_distance(const char *a, size_t a_len, const char *b, size_t b_len, size_t limit)
{
    size_t apart = a_len > b_len ? a_len - b_len : b_len - a_len;
    if (apart > limit || a_len > PTC_NEAREST_BYTES || b_len > PTC_NEAREST_BYTES)
        return limit + 1;
    DistanceTable t = {.a = a, .b = b, .a_len = a_len, .b_len = b_len, .limit = limit};
    return edit_distance(&t);
}

enum { CUT_LETTERS = 3 }; /* that are left of a word at least */

static bool is_word_mark(char c)
{
    return c == '-' || c == '_' || c == '.' || c == '/' || c == ' ';
}

/* The next word of a name: get_file, getFile and get-file have two. */
static size_t next_name_word(const char *name, size_t len, size_t *at)
{
    size_t n = 0;
    while (*at < len && is_word_mark(name[*at]))
        ++*at;
    for (const char *word = name + *at; *at < len && !is_word_mark(word[n]); ++*at, n++)
        if (n && ptc_ascii_is_upper(word[n]) && ptc_ascii_is_lower(word[n - 1]))
            break;
    return n;
}

/* Is one of the words the beginning of the other, an s at its end aside? */
static bool is_cut_short(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t n = a_len < b_len ? a_len : b_len;
    const char *shorter = a_len < b_len ? a : b;
    if (a_len != b_len && n > CUT_LETTERS && (shorter[n - 1] | 0x20) == 's')
        n--;
    return (a_len == b_len || n >= CUT_LETTERS) && strncasecmp(a, b, n) == 0;
}

/* Letters by which words of two names are cut short; 0: they differ otherwise. */
static size_t letters_missing(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t i = 0, j = 0, missing = 0, n, m;
    if (a_len > PTC_NEAREST_BYTES || b_len > PTC_NEAREST_BYTES)
        return 0;
    while ((n = next_name_word(a, a_len, &i)) + (m = next_name_word(b, b_len, &j)) > 0) {
        if (!is_cut_short(a + i - n, n, b + j - m, m))
            return 0;
        missing += n > m ? n - m : m - n;
    }
    return missing;
}

static void take_cut_short(PtcNearest *nearest, const char *candidate, size_t len)
{
    if (nearest->mistakes_only || (nearest->best && !nearest->missing))
        return;
    size_t missing = letters_missing(nearest->word, nearest->len, candidate, len);
    if (!missing || (nearest->missing && missing >= nearest->missing))
        return;
    nearest->best = candidate;
    nearest->best_len = len;
    nearest->missing = missing;
}

void ptc_nearest_offer(PtcNearest *nearest, const char *candidate, size_t len)
{
    if (nearest->best_distance == 0)
        return;
    size_t limit = nearest->best_distance - 1;
    size_t d = ptc_nearest_distance(nearest->word, nearest->len, candidate, len, limit);
    if (d > limit) {
        take_cut_short(nearest, candidate, len);
        return;
    }
    nearest->best = candidate;
    nearest->best_len = len;
    nearest->best_distance = d;
    nearest->missing = 0;
}
