/* SPDX-License-Identifier: MIT
 * report.h - the findings of a program for a person: message, place, source line, hint. */
#ifndef PTC_CLI_REPORT_H
#define PTC_CLI_REPORT_H

#include "base/buf.h"
#include "ptc/ptc.h"

/* Appends every finding.  `name` is the file the program came from, or NULL. */
void ptc_report(PtcBuf *out, const PtcOutcome *outcome, const char *name, const char *program,
                size_t len);
/* The same for warnings. */
void ptc_report_warnings(PtcBuf *out, const PtcOutcome *outcome, const char *name,
                         const char *program, size_t len);

#endif
