/* SPDX-License-Identifier: MIT
 * nearest.h - "did you mean": the candidate that takes the fewest typing mistakes to reach; where none is near, the
 * one that differs only in words that were cut short (list_dir, list_directory). */
#ifndef PTC_BASE_TEXT_NEAREST_H
#define PTC_BASE_TEXT_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

enum { PTC_NEAREST_BYTES = 64 }; /* longer words and candidates are never near */

typedef struct PtcNearest {
    const char *word;
    size_t len;
    const char *best; /* NULL: no candidate so far is near enough */
    size_t best_len;
    size_t best_distance; /* a candidate must be nearer than this */
    size_t missing;       /* letters that were cut off; 0: the best has typing mistakes */
    bool mistakes_only;   /* may be set after init: nothing was cut short */
} PtcNearest;

/* `word` must outlive the search.  Near enough means a third of its length, at least 1, and less than all of it. */
void ptc_nearest_init(PtcNearest *nearest, const char *word, size_t len);

/* Typing mistakes between two words: letters left out, added, replaced, or two that were swapped.  limit + 1 if there
 * are more than `limit`, or a word is too long. */
size_t ptc_nearest_distance(const char *a, size_t a_len, const char *b, size_t b_len, size_t limit);

/* Takes the candidate if it is nearer than all before it; among equals the first wins.  Cut short is a word of at least
 * three letters that another one begins with, the rest of the name being the same. */
void ptc_nearest_offer(PtcNearest *nearest, const char *candidate, size_t len);

#endif
