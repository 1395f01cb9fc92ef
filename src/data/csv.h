/* SPDX-License-Identifier: MIT
 * csv.h - comma-separated values (RFC 4180) as a vector of maps.
 *
 * The first line names the columns; every other line is a map from those names, as strings, to its fields.  Fields are
 * separated by commas, semicolons or tabs, whichever divide the first two lines alike.  Lines end in LF, CRLF or CR; a field
 * may stand in quotes, with "" for a quote in it, and then have separators and line ends; empty lines are skipped.  The text is
 * UTF-8, UTF-16 or Windows-1252 (charset.h).
 *
 * A column has one type: when all of its fields are written as JSON numbers they are integers, or floats when one of them
 * is; when all are true or false (also TRUE, True) they are booleans; else they are texts as they stand, so that 00501
 * beside 10001 stays a code.  What is in quotes is text.  An empty field is nil, among texts in quotes "".
 * A column without a name is called column3, a name that was there before gets _2; blanks around names go.
 * Strings that repeat in a column are kept once. */
#ifndef PTC_DATA_CSV_H
#define PTC_DATA_CSV_H

#include "value/heap.h"

enum { PTC_CSV_COLUMNS = 4096 };

typedef struct PtcCsvError {
    size_t line, column; /* from 1, columns in characters; 0: it has no place */
    bool stopped;        /* the heap's budget says why */
    char message[200];
} PtcCsvError;

/* The rows, in a heap whose budget is ticked for each field; hashes of strings are computed.  PTC_NONE with *error filled. */
PTC_MUST_USE PtcValue ptc_csv_parse(PtcHeap *heap, const char *text, size_t len,
                                    PtcCsvError *error);

#endif
