/* SPDX-License-Identifier: MIT
 * arguments.h - the arguments of a call as the tool's JSON Schema wants them: keys in the spelling of the schema,
 * values coerced as signatures do, and everything that is wrong reported before anything is sent. */
#ifndef PTC_UPSTREAM_RUN_ARGUMENTS_H
#define PTC_UPSTREAM_RUN_ARGUMENTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "json/path.h"
#include "value/heap.h"

enum {
    PTC_ARGUMENTS_BYTES = PTC_MB, /* as JSON */
    PTC_ARGUMENTS_ISSUES = 20,
};

typedef struct PtcArgumentIssue {
    char path[PTC_PATH_BYTES]; /* opts.dryRun */
    const char *problem;       /* missing, unknown, duplicate, ambiguous, type, enum */
    char nearest[80];          /* what may have been meant; empty: nothing is near */
    char message[240];         /* one sentence */
} PtcArgumentIssue;

typedef struct PtcArgumentIssues {
    size_t count;
    PtcArgumentIssue items[PTC_ARGUMENTS_ISSUES];
} PtcArgumentIssues;

/* Adds an issue, unless the list is full.  The path may be empty. */
void ptc_arguments_refuse(PtcArgumentIssues *issues, const char *path, const char *problem,
                          PtcText nearest, const char *message);

typedef struct PtcArgumentsIn {
    PtcValue schema;                  /* the input schema; PTC_NONE: anything goes */
    const struct PtcSchema *compiled; /* the same, compiled */
    /* For validating with `compiled`, if there is one; what it stops is not validated.  NULL: that is compiled now, for
     * the budget of the heap. */
    PtcBudget *checks;
    PtcValue root;  /* the document that its references are in; most often the schema itself */
    PtcValue args;  /* a map with keys of any kind, or nil */
    bool unchecked; /* not validated: only spelling, coercion, types and enums are looked at */
    bool closed;    /* no other keys than those declared, whatever the schema says of them */
} PtcArgumentsIn;

/* The arguments to send, with string keys and values that are JSON; PTC_NONE with issues, or without any when memory is
 * short. */
PTC_MUST_USE PtcValue ptc_arguments_fit(PtcHeap *heap, const PtcArgumentsIn *in,
                                        PtcArgumentIssues *issues);

#endif
