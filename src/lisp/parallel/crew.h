/* SPDX-License-Identifier: MIT
 * crew.h - threads that help a run with pmap and pcalls.
 *
 * A job is one pmap: a function and n items.  The thread that meets it begins with item 0 at once and goes on in
 * order; only when an item calls a tool, or takes longer than a look at the clock, is the job offered to the crew,
 * whose threads then take items too.  So a cheap pmap costs what map costs.
 *
 * Every thread that works on a job has a seat: a VM, a heap of its own, and copies of the globals, so that items see
 * the run as it was when the job began and nothing of each other.  The caller's VM gets a new heap for the time:
 * nothing in the heap that all of them read is changed meanwhile.  At the end the caller takes over the heaps (what is
 * in pages with little else is copied, so that these do not pile up), and merges prints, tool calls, journal, summaries
 * and loop counts in the order of the items.  It has then used as much compute time as the seat that used most.
 *
 * When item i fails, items above it are cancelled and those below run to their end, so that the failure with the lowest
 * number is the one reported, whatever the threads did. */
#ifndef PTC_LISP_PARALLEL_CREW_H
#define PTC_LISP_PARALLEL_CREW_H

#include "lisp/vm/vm.h"

typedef struct PtcCrew PtcCrew;

/* Threads that the crews of a process may have in all.  A crew that gets none does without: the thread that meets a
 * pmap does it alone. */
enum { PTC_CREW_THREADS = 128 };

/* A crew without threads yet: they start when they are first needed.  NULL: out of memory. */
PtcCrew *ptc_crew_new(PtcMem *mem, PtcPool *pool);
/* Starts the threads that jobs of so many workers need, for a process that may start none later; false: not all of
 * them. */
PTC_MUST_USE bool ptc_crew_start(PtcCrew *crew, int64_t max_workers);
/* Ends and joins the threads, which start again when they are next needed; between runs only. */
void ptc_crew_rest(PtcCrew *crew);
/* The same for good. */
void ptc_crew_free(PtcCrew *crew);

/* Calls f with each row of `width` values of the vector `rows` (or, with f PTC_NONE, calls each element without
 * arguments); results in order as a seq.  f and rows must be rooted by the caller. */
PTC_MUST_USE bool ptc_crew_map(PtcVM *vm, PtcValue f, PtcValue rows, int width, PtcValue *out);

/* The program is about to wait, or takes long: lets other threads have items of the jobs it is in. */
void ptc_crew_offer(PtcVM *vm);

/* Marks what a VM's seat has made so far; for the collector. */
void ptc_crew_mark(PtcVM *vm);

#endif
