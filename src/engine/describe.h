/* SPDX-License-Identifier: MIT
 * describe.h - values in a few words, for prompts: what a session defines, what a context contains. */
#ifndef PTC_ENGINE_DESCRIBE_H
#define PTC_ENGINE_DESCRIBE_H

#include "engine/session.h"

/* One name.  Texts are on one line, in the arena that was passed; an absent one is unknown. */
typedef struct PtcDescribed {
    PtcText name;
    const char *type; /* "vector", "map", "function" ... */
    size_t count;     /* of elements, or characters of a string; otherwise 0 */
    PtcText call;     /* of a function: "(area w h)" */
    PtcText doc;      /* of a function, its first line */
    PtcText sample;   /* of anything else: its beginning as PTC-Lisp text */
    bool cut;         /* the sample is not complete */
    bool changed;     /* by the run that was asked about */
} PtcDescribed;

typedef struct PtcDescription {
    PtcDescribed *items;
    size_t count; /* of items ... */
    size_t total; /* ... and of all there are */
} PtcDescription;

/* How much is shown. */
typedef struct PtcDescribeOptions {
    size_t most;         /* names */
    size_t sample_chars; /* of a sample, a call or a doc */
} PtcDescribeOptions;

/* What a session defines, in the order of first definition; if there are more than `most`, those that `last` changed
 * come first.  `last` is the outcome of its last run, or NULL.  False: out of memory. */
PTC_MUST_USE bool ptc_describe_session(PtcSession *session, PtcOutcome *last,
                                       const PtcDescribeOptions *options, PtcArena *arena,
                                       PtcDescription *out);
/* The entries of a map (a context), in its order; nil has none. */
PTC_MUST_USE bool ptc_describe_map(Ptc *ptc, PtcValue map, const PtcDescribeOptions *options,
                                   PtcArena *arena, PtcDescription *out);

/* "vector", "integer": a type's name without an article. */
const char *ptc_describe_type(PtcValue v);

#endif
