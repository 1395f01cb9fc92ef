/* SPDX-License-Identifier: MIT
 * summary.h - `ptc FILE`: what is in a file.  A program finds it out, so that it runs under the limits of programs. */
#ifndef PTC_CLI_CMD_SUMMARY_H
#define PTC_CLI_CMD_SUMMARY_H

#include "cli/out/data_out.h"

/* Writes the program that looks at data/NAME; NULL: at the rows of the files without names. */
PTC_MUST_USE bool ptc_summary_program(PtcBuf *out, const char *name);

/* Writes what the program gave: as two tables under a title, as the columns alone in formats of rows, or as it is.
 * Returns the exit status. */
int ptc_summary_write(const PtcDataOut *how, PtcOutcome *outcome, const char *title);

#endif
