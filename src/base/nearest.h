/* SPDX-License-Identifier: MIT
 * nearest.h - "did you mean": the candidate that takes the fewest slips of the finger to reach. */
#ifndef PTC_BASE_NEAREST_H
#define PTC_BASE_NEAREST_H

#include <stddef.h>

enum { PTC_NEAREST_BYTES = 64 }; /* longer words and candidates are never near */

typedef struct PtcNearest {
    const char *word;
    size_t len;
    const char *best; /* NULL: nothing offered so far is near enough */
    size_t best_len;
    size_t best_distance; /* a candidate must be nearer than this */
} PtcNearest;

/* `word` must outlive the search.  Near enough is a third of its length, at least 1, and less
 * than all of it. */
void ptc_nearest_init(PtcNearest *nearest, const char *word, size_t len);

/* Slips of the finger between two words: letters left out, put in, replaced, or two that changed places.  limit + 1 when
 * there are more than `limit` of them, or a word is too long. */
size_t ptc_nearest_distance(const char *a, size_t a_len, const char *b, size_t b_len, size_t limit);

/* Takes the candidate when it is nearer than all before it; of equals the first stays. */
void ptc_nearest_offer(PtcNearest *nearest, const char *candidate, size_t len);

#endif
