/* SPDX-License-Identifier: MIT
 * trace_file.h - a directory with a file for each call; the oldest are removed when there are too many. */
#ifndef PTC_TRACE_TRACE_FILE_H
#define PTC_TRACE_TRACE_FILE_H

#include "base/buf.h"
#include "base/why.h"

typedef struct PtcTrace PtcTrace;

/* Creates the directory if it is missing, and counts the traces in it.  NULL with a text in why. */
PTC_MUST_USE PtcTrace *ptc_trace_new(PtcMem *mem, const char *dir, size_t max_files, PtcWhy *why);
void ptc_trace_free(PtcTrace *trace);
/* Writes a file for a call that began at at_ms; complains once on standard error if it cannot.  Any thread. */
void ptc_trace_write(PtcTrace *trace, int64_t at_ms, uint64_t number, const PtcBuf *lines);

#endif
