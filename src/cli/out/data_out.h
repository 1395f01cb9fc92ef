/* SPDX-License-Identifier: MIT
 * data_out.h - the result of a program on standard output, in the format that was asked for. */
#ifndef PTC_CLI_OUT_DATA_OUT_H
#define PTC_CLI_OUT_DATA_OUT_H

#include "base/buf.h"
#include "cli/out/rows_out.h"
#include "engine/outcome.h"

/* In the order of PTC_FORMATS. */
typedef enum PtcFormat {
    PTC_FORMAT_TEXT,
    PTC_FORMAT_JSON,
    PTC_FORMAT_JSONL,
    PTC_FORMAT_CSV,
    PTC_FORMAT_TSV,
    PTC_FORMAT_TABLE,
    PTC_FORMAT_MARKDOWN,
    PTC_FORMAT_YAML,
    PTC_FORMAT_PRETTY,
    PTC_FORMAT_PAYLOAD, /* what lisp_eval answers */
} PtcFormat;
#define PTC_FORMATS "text|json|jsonl|csv|tsv|table|markdown|yaml|pretty|payload"

typedef struct PtcDataOut {
    PtcFormat format;
    bool raw;       /* a string without its quotes */
    char separator; /* of csv; 0: a comma */
    bool colour;    /* for table and pretty */
    bool brief;     /* of a long table only the beginning is shown */
} PtcDataOut;

/* What the short form prints: rows as a table and the rest indented on a terminal, JSON elsewhere.  A result without
 * JSON is text on a terminal. */
PtcFormat ptc_data_out_usual(PtcOutcome *outcome);

/* Writes the result of a run that succeeded; returns the exit status.  What cannot be written, or only in part, is said
 * on standard error. */
int ptc_data_out_write(const PtcDataOut *how, PtcOutcome *outcome);
/* The next rows of a result in csv or tsv, whose columns are those of the first; *table begins as NULL. */
int ptc_data_out_more(const PtcDataOut *how, PtcRowsOut **table, PtcOutcome *outcome);
/* A line on standard output. */
int ptc_data_out_line(const char *text, size_t len);

#endif
