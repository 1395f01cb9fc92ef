/* SPDX-License-Identifier: MIT
 * rows_out.h - a result as rows and columns: CSV, tables for people and for pages.
 *
 * A list or a set of maps has a row for each, and the keys of all of them as columns, in the order in which they first
 * occur; a map is one such row.  A list of lists has its elements in columns without names.  Anything else is in one
 * column named value.  In a field, a string is itself, nil is empty, and lists and maps are JSON (text if there is
 * none). */
#ifndef PTC_CLI_OUT_ROWS_OUT_H
#define PTC_CLI_OUT_ROWS_OUT_H

#include "engine/outcome.h"

typedef struct PtcRowsOut PtcRowsOut;

/* Appends the rows of one outcome after the other as CSV; *rows begins as NULL.  The first has the columns: false with
 * the reason in why also for a row that has others. */
PTC_MUST_USE bool ptc_rows_out_more(PtcRowsOut **rows, PtcOutcome *outcome, char separator,
                                    PtcBuf *out, PtcWhy *why);
void ptc_rows_out_free(PtcRowsOut *rows);

/* Is it a list or a set of maps, and of nothing else? */
bool ptc_rows_out_fits(PtcValue value);
/* Appends the result as CSV, with quotes around a text that would be read as something else without.  False: the buffer
 * is full, or why. */
PTC_MUST_USE bool ptc_rows_out_csv(PtcOutcome *outcome, char separator, PtcBuf *out, PtcWhy *why);
/* `value`: of the outcome, or a part of it.  On a terminal columns become narrower where a line would not fit.  `most`
 * rows are shown, and how many more there are; 0: all. */
PTC_MUST_USE bool ptc_rows_out_table(PtcOutcome *outcome, PtcValue value, size_t most, PtcBuf *out,
                                     bool colour, PtcWhy *why);
PTC_MUST_USE bool ptc_rows_out_markdown(PtcOutcome *outcome, PtcBuf *out, PtcWhy *why);

#endif
