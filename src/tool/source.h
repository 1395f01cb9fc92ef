/* SPDX-License-Identifier: MIT
 * source.h - tools written in PTC-Lisp: source text to a function value that any VM may call, on any thread.
 *
 * The text is run once, in a separate VM and heap; its result must be a function, which is copied into the heap of
 * the set.  It cannot have global variables, since those are numbered by the program that runs: a text that uses one
 * is refused.  Code and constants never change after that. */
#ifndef PTC_TOOL_SOURCE_H
#define PTC_TOOL_SOURCE_H

#include "tool/toolset.h"

extern const struct PtcToolKind ptc_source_kind; /* "lisp" */

enum { PTC_SOURCE_MS = 1000 }; /* for reading all tools of one file */

/* For the tools of one file.  The VM is made for the first. */
typedef struct PtcSource {
    PtcTools *tools;
    PtcVM vm;
    bool started;
    int64_t left_ms;
} PtcSource;

void ptc_source_init(PtcSource *source, PtcTools *tools);
void ptc_source_deinit(PtcSource *source);

/* The function, in the heap of the set; PTC_NONE with the reason, which begins with the key. */
PTC_MUST_USE PtcValue ptc_source_read(PtcSource *source, const char *text, size_t len, PtcWhy *why);

#endif
