/* SPDX-License-Identifier: MIT
 * csv.h - comma-separated values (RFC 4180) as a vector of maps.
 *
 * The first line names the columns; every other line is a map from those names, as strings, to its fields.  Lines end in
 * LF, CRLF or CR; a field may stand in quotes, with "" for a quote in it, and then have commas and line ends; empty lines
 * are skipped.  A field that is written as a JSON number is a number; 007 and everything in quotes is text; an empty
 * field without quotes is nil.  A column without a name is called column3, a name that was there before gets _2.
 * Strings that repeat in a column are kept once. */
#ifndef PTC_DATA_CSV_H
#define PTC_DATA_CSV_H

#include "value/heap.h"

enum { PTC_CSV_COLUMNS = 4096 };

typedef struct PtcCsvError {
    size_t line;  /* from 1; 0: it has no place */
    bool stopped; /* the heap's budget says why */
    char message[200];
} PtcCsvError;

/* The rows, in a heap whose budget is ticked for each field; hashes of strings are computed.  PTC_NONE with *error filled. */
PTC_MUST_USE PtcValue ptc_csv_parse(PtcHeap *heap, const char *text, size_t len,
                                    PtcCsvError *error);

#endif
