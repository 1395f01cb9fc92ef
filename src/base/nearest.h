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

/* Takes the candidate when it is nearer than all before it; of equals the first stays. */
void ptc_nearest_offer(PtcNearest *nearest, const char *candidate, size_t len);

#endif
