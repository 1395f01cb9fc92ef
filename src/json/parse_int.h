/* SPDX-License-Identifier: MIT
 * parse_int.h - what parse.c and parse_slow.c share: the parser's state, and what is rare enough to be kept out of
 * the main loop.
 *
 * Functions that read take the cursor and return it past what they read, or NULL after ptc_json_fail. */
#ifndef PTC_JSON_PARSE_INT_H
#define PTC_JSON_PARSE_INT_H

#include "json/parse.h"

enum {
    PTC_JSON_GUESS_DEPTHS = 16,
    PTC_JSON_SHAPE_BITS = 6,
    PTC_JSON_STRING_BITS = 8,
    PTC_JSON_FIRST_SLOTS = 64, /* of the scratch stack, before memory is allocated */
    PTC_JSON_SPILL = 1024, /* elements of an array that move to a vector when the stack is full */
};

/* An open container. */
typedef struct PtcJsonLevel {
    /* Of an object: the guess, as long as all keys agree; then only the values are on the stack.  PTC_NONE: keys and
     * values alternate there.  Of an array: the vector being built from the elements before those on the stack, or
     * PTC_NONE. */
    PtcValue shape;
    uint32_t base; /* where its part of the stack begins */
    bool is_object;
    /* a key was written with an escape, so comparing it with the text would not work */
    bool escapes;
} PtcJsonLevel;

typedef struct PtcJsonParser {
    PtcHeap *heap;
    const char *text, *end;
    PtcJsonError *error;
    PtcValue *stack;
    size_t top, cap;
    PtcJsonLevel *level;     /* the innermost; levels[0] is not a container */
    const PtcJsonKeep *keep; /* or NULL; the next two serve it */
    size_t matched;          /* how many keys of its path lead to where the parser is */
    PtcText *kept;           /* gets the text of the next value if that is an object; or NULL */
    PtcValue guesses[PTC_JSON_GUESS_DEPTHS];
    PtcValue shapes[1 << PTC_JSON_SHAPE_BITS];
    PtcValue strings[1 << PTC_JSON_STRING_BITS];
    /* Nothing from here on needs to be cleared. */
    uint64_t string_words[1 << PTC_JSON_STRING_BITS][2]; /* the bytes of strings[i] */
    PtcValue first[PTC_JSON_FIRST_SLOTS];
    PtcJsonLevel levels[PTC_JSON_MAX_DEPTH + 1];
} PtcJsonParser;

/* The byte at p, or 0 at the end, which means nothing outside of strings. */
static inline char ptc_json_peek(const PtcJsonParser *ps, const char *p)
{
    return PTC_LIKELY(p < ps->end) ? *p : 0;
}

static inline bool ptc_json_is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Reports what is wrong with the text.  Always NULL. */
const char *ptc_json_fail(const PtcJsonParser *ps, const char *at, const char *format, ...)
    PTC_PRINTF(3, 4);
/* Reports that the budget has stopped.  Always NULL. */
const char *ptc_json_stopped(const PtcJsonParser *ps, const char *at);
/* Fails at a byte that is not what was expected.  Always NULL. */
const char *ptc_json_unexpected(const PtcJsonParser *ps, const char *at, const char *wanted);

/* After a key: does it lead to a member to be kept as text? */
void ptc_json_note_key(PtcJsonParser *ps);
/* Keeps the object at p as text; *out is then an empty map.  PTC_NONE: it is not an object, or it is malformed,
 * which parsing it will report. */
const char *ptc_json_keep_text(PtcJsonParser *ps, const char *p, PtcValue *out);

/* Makes room on the scratch stack. */
PTC_MUST_USE bool ptc_json_grow(PtcJsonParser *ps);

/* A string with escapes, not in ASCII, or malformed; p is just past the opening quote. */
const char *ptc_json_read_odd_string(PtcJsonParser *ps, const char *p, PtcValue *out);
/* A number that began at start and continues at p with a point or an exponent. */
const char *ptc_json_read_double(PtcJsonParser *ps, const char *start, const char *p,
                                 PtcValue *out);

#endif
