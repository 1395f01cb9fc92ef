/* SPDX-License-Identifier: MIT
 * repl_out.h - what the REPL shows of a run: printed lines, the result, warnings below it, errors. */
#ifndef PTC_CLI_OUT_REPL_OUT_H
#define PTC_CLI_OUT_REPL_OUT_H

#include "base/buf.h"
#include "cli/out/report.h"

typedef struct PtcReplOut {
    PtcMem *mem;
    bool pretty; /* for a person at a terminal: over several lines, shortened */
    bool colour;
    bool failed;  /* nothing can be written any more */
    PtcBuf text;  /* being put together */
    PtcBuf whole; /* the last result, if it was shortened */
} PtcReplOut;

void ptc_repl_out_init(PtcReplOut *out, PtcMem *mem, bool pretty, bool colour);
void ptc_repl_out_deinit(PtcReplOut *out);

/* Everything about a run that has ended. */
void ptc_repl_out_show(PtcReplOut *out, PtcOutcome *outcome, const PtcReported *about);
/* The last result as a whole, if it was shortened; else says that it was not. */
void ptc_repl_out_all(PtcReplOut *out);
/* Writes what is in out->text. */
void ptc_repl_out_flush(PtcReplOut *out, int fd);
const char *ptc_repl_out_paint(const PtcReplOut *out, const char *code);

#endif
