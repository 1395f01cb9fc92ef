/* SPDX-License-Identifier: MIT
 * find_program.h - the program in a reply of a model that answers in text: the one fenced block, the text between
 * <clojure> tags, or a reply that is a program itself.
 *
 * Replies are hostile.  At most PTC_FIND_BLOCKS blocks are examined, a block longer than a program may be is not
 * read, and looking for the ends of blocks covers at most PTC_FIND_FACTOR times the reply: after that, a block ends at
 * the first line that closes it.  With the line where that happens, a pass for such ends and one for their text, for
 * fences and again for tags, and one for the whole reply, all work together is PTC_FIND_WORK times the reply. */
#ifndef PTC_AGENT_STEP_FIND_PROGRAM_H
#define PTC_AGENT_STEP_FIND_PROGRAM_H

#include "agent/step/bench.h"

enum {
    PTC_FIND_BLOCKS = 64,
    PTC_FIND_FACTOR = 8,
    PTC_FIND_WORK = PTC_FIND_FACTOR + 6,
    PTC_FIND_PROGRAM_BYTES = 64 * PTC_KB,
};

typedef enum {
    PTC_FOUND_NONE,
    PTC_FOUND_PROGRAM,
    PTC_FOUND_SEVERAL,
} PtcFoundKind;

/* Texts are in the arena of the bench. */
typedef struct PtcFound {
    PtcFoundKind kind;
    PtcText program; /* made plain (program_text.h) */
    /* What the conversation keeps: of a tagged program its block, otherwise the reply; never absent. */
    PtcText history;
    size_t count; /* SEVERAL: blocks */
    size_t work;  /* bytes that were walked over, for tests */
} PtcFound;

/* `cut`: the reply ended at the output limit, so a block that is still open at its end is incomplete.
 * False: out of memory. */
PTC_MUST_USE bool ptc_find_program(PtcBench *s, PtcText reply, bool cut, PtcFound *out);

/* Is there a block with a program in it: a tagged one, or an untagged one around a list?  False: out of memory. */
PTC_MUST_USE bool ptc_find_fenced(PtcBench *s, PtcText reply, bool *fenced);

/* A program that came as an argument: plain, and without its fence if one surrounds all of it.  Absent: out of
 * memory. */
PTC_MUST_USE PtcText ptc_find_unwrap(PtcBench *s, PtcText program);

#endif
