/* SPDX-License-Identifier: MIT
 * data_file.h - a file of data as a value: JSON, JSON Lines, CSV, YAML or lines of text, packed (unpack.h) or not.
 *
 * The ending of the name says what it is: .json, .jsonl or .ndjson, .csv or .tsv (csv.h), .yaml or .yml, .txt or .log
 * (a vector of its lines); .gz, .zst or .xz behind it changes nothing.  Names with another ending or none, and standard
 * input ("-"), are told by their content (guess.h).  JSON is one value, or several behind each other, which become a
 * vector; so do several documents of YAML.
 */
#ifndef PTC_DATA_DATA_FILE_H
#define PTC_DATA_DATA_FILE_H

#include "base/why.h"
#include "data/guess.h"
#include "value/heap.h"

typedef struct PtcDataFile {
    PtcHeap *heap;     /* what its ledger allows is the bound for text and values together */
    PtcWhy *why;       /* what went wrong: file, line, what */
    PtcDataForm *form; /* what an option says it is; becomes how it was read.  NULL: none does */
} PtcDataFile;

/* What the name says; PTC_DATA_TOLD: nothing. */
PtcDataKind ptc_data_kind(const char *path);

/* The value of a file ("-": standard input); PTC_NONE with a text in why. */
PTC_MUST_USE PtcValue ptc_data_file_read(const PtcDataFile *file, const char *path);

#endif
