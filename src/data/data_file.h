/* SPDX-License-Identifier: MIT
 * data_file.h - a file of data as a value: JSON, JSON Lines, CSV or lines of text, packed with gzip or not.
 *
 * The ending of the name says what it is: .json, .jsonl or .ndjson, .csv or .tsv (csv.h), .txt or .log (a vector of its
 * lines); .gz behind it changes nothing.  A name without an ending, and standard input ("-"), are told by their
 * content: JSON, one value or several behind each other, which become a vector; else CSV if the first line has a comma,
 * a semicolon or a tab; else lines. */
#ifndef PTC_DATA_DATA_FILE_H
#define PTC_DATA_DATA_FILE_H

#include "base/text.h"
#include "value/heap.h"

typedef enum PtcDataKind {
    PTC_DATA_UNKNOWN, /* an ending that says something else */
    PTC_DATA_TOLD,    /* by its content */
    PTC_DATA_JSON,
    PTC_DATA_JSONL,
    PTC_DATA_CSV,
    PTC_DATA_LINES,
} PtcDataKind;

typedef struct PtcDataFile {
    PtcHeap *heap; /* what its ledger allows is the bound for text and values together */
    char *why;     /* what went wrong: file, line, what */
    size_t size;
} PtcDataFile;

/* What the name says. */
PtcDataKind ptc_data_kind(const char *path);
/* What the text is, where the name does not say. */
PtcDataKind ptc_data_kind_of(PtcText text);

/* The value of a file ("-": standard input); PTC_NONE with a text in why. */
PTC_MUST_USE PtcValue ptc_data_file_read(const PtcDataFile *file, const char *path);

#endif
