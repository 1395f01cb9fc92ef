/* SPDX-License-Identifier: MIT
 * arguments_int.h - one call's arguments on their way, for arguments.c and arguments_scalar.c. */
#ifndef PTC_UPSTREAM_RUN_ARGUMENTS_INT_H
#define PTC_UPSTREAM_RUN_ARGUMENTS_INT_H

#include "upstream/run/arguments.h"
#include "value/coll/iter.h"

typedef struct {
    PtcHeap *heap;
    PtcArena arena;
    const PtcArgumentsIn *in;
    PtcArgumentIssues *issues;
    char path[PTC_PATH_BYTES]; /* of the value at hand */
    int depth, tries;
    int trying; /* alternatives that are being tried: what is wrong with them is not told */
    bool as_is; /* nothing is coerced */
    /* It goes into an address or a header: numbers and booleans are as good as their text. */
    bool text;
} Fitting;

/* Each of these gives the value to send; after an issue it is any value, and PTC_NONE when out of memory. */

/* ---- arguments.c */

/* ---- arguments_scalar.c */
/* A value that is neither a map nor a list, checked against the types that the schema names (0: any). */
PtcValue ptc_arguments_scalar(Fitting *f, PtcValue schema, unsigned types, PtcValue v);
/* A value that no schema describes: as JSON has it, keys as they are written. */
PtcValue ptc_arguments_generic(Fitting *f, PtcValue v);
/* An issue with the value at hand. */
void ptc_arguments_issue(Fitting *f, const char *problem, PtcText nearest, const char *message);
/* The same, with what the schema expects in the words of `doc`. */
void ptc_arguments_expect(Fitting *f, PtcValue schema, const char *problem, PtcText nearest,
                          const char *message);
/* Goes to a member; `keep` gets the path to come back to. */
void ptc_arguments_enter(Fitting *f, PtcText name, char keep[PTC_PATH_BYTES]);

#endif
