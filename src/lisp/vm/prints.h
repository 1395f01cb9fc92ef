/* SPDX-License-Identifier: MIT
 * prints.h - the lines that a run printed, bounded: what comes after the limit is left out and a flag says so.  A line
 * costs one byte more than its text, so that empty lines come to an end too.  The last line may be open: what is
 * printed next goes on in it.  Until then it is a line like any other, so nothing need be done at the end of a run. */
#ifndef PTC_LISP_VM_PRINTS_H
#define PTC_LISP_VM_PRINTS_H

#include "base/buf.h"
#include "base/text.h"

typedef struct PtcPrints {
    PtcBuf text;    /* the lines, a NUL behind each */
    uint32_t *ends; /* places behind those NULs, in the ledger of the text */
    size_t count, cap;
    bool cut;  /* something was left out */
    bool open; /* the last line goes on */
} PtcPrints;

void ptc_prints_init(PtcPrints *prints, PtcMem *mem, size_t max_bytes);
/* Fine for prints that are all zero. */
void ptc_prints_deinit(PtcPrints *prints);
/* Moves the lines out; `prints` is empty afterwards and must be initialised before it is used again. */
PtcPrints ptc_prints_take(PtcPrints *prints);
/* Adds text to the open line, or as much of it as fits; `ends` tells whether that line ends with it.  False: out of
 * memory. */
PTC_MUST_USE bool ptc_prints_add(PtcPrints *prints, const char *text, size_t len, bool ends);
/* Forgets all lines but the first `count`; none is open then. */
void ptc_prints_truncate(PtcPrints *prints, size_t count);

/* Where line i begins in the text; for i == count, where the next one would. */
static inline size_t ptc_prints_start(const PtcPrints *prints, size_t i)
{
    return i ? prints->ends[i - 1] : 0;
}

/* Line i, which ends in NUL. */
static inline PtcText ptc_prints_line(const PtcPrints *prints, size_t i)
{
    size_t from = ptc_prints_start(prints, i);
    return (PtcText){prints->text.data + from, prints->ends[i] - from - 1};
}

#endif
