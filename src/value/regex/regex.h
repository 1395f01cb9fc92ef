/* SPDX-License-Identifier: MIT
 * regex.h - regular expressions: Java's notation, matched by PCRE2.
 *
 * A regex is a record (PTC_R_REGEX) of the pattern as written and its compiled code, which PCRE2 made
 * position-independent: the collector and a session's commit treat it as bytes.  All memory that
 * PCRE2 takes counts against the heap's limit; the code is copied into the heap when it is finished.
 *
 * A match looks at the run's limits at every position where it begins.  One that goes on for long from
 * one position is begun again with code that looks before every item of the pattern. */
#ifndef PTC_VALUE_REGEX_REGEX_H
#define PTC_VALUE_REGEX_REGEX_H

#include "value/record_kinds.h"

enum { PTC_REGEX_BYTES = 8 * PTC_KB, PTC_REGEX_NESTING = 100 };

/* What is wrong with a pattern. */
typedef struct PtcRegexError {
    char message[200]; /* empty: nothing; memory or time ran out instead */
    size_t at;         /* byte of the pattern */
} PtcRegexError;

/* Compiles a pattern.  PTC_NONE: see error, or the budget is stopped. */
PTC_MUST_USE PtcValue ptc_regex_new(PtcHeap *heap, PtcValue pattern, PtcRegexError *error);
/* The number of the character that an error is near, from 1. */
size_t ptc_regex_error_place(PtcValue pattern, const PtcRegexError *error);

static inline bool ptc_is_regex(PtcValue v)
{
    return ptc_is_record(v, PTC_R_REGEX);
}

static inline PtcValue ptc_regex_pattern(PtcValue regex)
{
    return ptc_record_field(regex, 0);
}

/* Appends #"pattern". */
bool ptc_regex_print(PtcBuf *buf, PtcValue regex);

/* Matches of one regex in one string.  Both are kept alive by the caller. */
typedef struct PtcMatcher {
    PtcHeap *heap;   /* limits and memory are its own */
    const char *why; /* what is wrong with the pattern, when FAILED and the budget goes on */
    PtcValue regex, str;
    size_t from;      /* where the next search begins; beyond the end: nowhere */
    const size_t *at; /* of the last match: group i is at[2i] .. at[2i + 1]; 0 is the whole */
    unsigned groups;
    const void *code;
    void *careful_code; /* made when it is needed */
    void *memory, *context, *data;
} PtcMatcher;

typedef enum { PTC_MATCH_FAILED, PTC_MATCH_NONE, PTC_MATCH_FOUND } PtcMatch;

/* Deinit in either case. */
PTC_MUST_USE bool ptc_matcher_init(PtcMatcher *m, PtcHeap *heap, PtcValue regex, PtcValue str);
void ptc_matcher_deinit(PtcMatcher *m);
/* The next match; after an empty one, the search goes on one character later.  After FAILED because of memory it
 * may be called again. */
PTC_MUST_USE PtcMatch ptc_matcher_next(PtcMatcher *m);
/* Does the regex match the whole string? */
PTC_MUST_USE PtcMatch ptc_matcher_whole(PtcMatcher *m);
/* A group of the last match as a string, nil when it took no part. */
PTC_MUST_USE PtcValue ptc_matcher_group(PtcMatcher *m, unsigned i);
/* The last match: a string, or a vector of it and its groups when the regex has any. */
PTC_MUST_USE PtcValue ptc_matcher_value(PtcMatcher *m);
/* The number of a named group, -1 when there is none. */
int ptc_matcher_name(PtcMatcher *m, const char *name);

#endif
