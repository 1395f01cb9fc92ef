/* SPDX-License-Identifier: MIT
 * report.h - the findings of a program for a person: message, place, source line, hint. */
#ifndef PTC_CLI_OUT_REPORT_H
#define PTC_CLI_OUT_REPORT_H

#include "base/buf.h"
#include "ptc/ptc.h"

/* The program that findings are about. */
typedef struct PtcReported {
    const char *name; /* the file it came from, or NULL */
    PtcText program;
    uint32_t lines_before; /* lines at its beginning that the user did not write */
} PtcReported;

/* What is said about a run on standard error. */
enum { PTC_REMARK_PRINTS = 1, PTC_REMARK_WARNINGS = 2, PTC_REMARK_ERRORS = 4 };
/* Writes what the program printed, warnings and errors, in this order, as far as `which` says; in colour on a terminal.
 * False: it could not be written. */
bool ptc_report_remarks(PtcMem *mem, const PtcOutcome *outcome, const PtcReported *about,
                        unsigned which);

#endif
