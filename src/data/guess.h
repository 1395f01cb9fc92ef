/* SPDX-License-Identifier: MIT
 * guess.h - what a text is, where neither its name nor an option says so.
 *
 * Only its beginning is looked at.  It is JSON if that is the beginning of JSON values, where numbers, strings and
 * words stand on lines of their own; CSV if it has at least two records, all of as many fields, of which the first
 * looks like names: short, distinct, beginning with a letter; YAML if a line `---` is the first of it and of each
 * document; else it is lines. */
#ifndef PTC_DATA_GUESS_H
#define PTC_DATA_GUESS_H

#include "base/mem.h"
#include "base/text.h"
#include "base/text/bad_lines.h"

enum { PTC_GUESS_BYTES = 64 * PTC_KB };

/* JSON to LINES are in the order of PTC_DATA_KINDS. */
typedef enum PtcDataKind {
    PTC_DATA_TOLD, /* by its name, or else by its content */
    PTC_DATA_JSON,
    PTC_DATA_JSONL,
    PTC_DATA_CSV,
    PTC_DATA_TSV,
    PTC_DATA_YAML,
    PTC_DATA_LINES,
    PTC_DATA_SQLITE, /* told by its content alone */
} PtcDataKind;
#define PTC_DATA_KINDS "json|jsonl|csv|tsv|yaml|lines"

/* How a text is read. */
typedef struct PtcDataForm {
    PtcDataKind kind;  /* what an option says, and afterwards what it is read as */
    PtcDataKind other; /* of a guess: what it may be as well; PTC_DATA_TOLD: nothing */
    bool guessed;      /* from the content */
    bool bad_row;      /* reading it ended at a row that could be left out */
    size_t columns;    /* of CSV that was guessed */
    char separator;    /* of CSV, that an option says or that was guessed; 0: to be found */
    bool no_names;     /* an option says that no line of CSV names the columns */
    const char *file;  /* every row has this text, as `file`; NULL: it has not */
    PtcBadLines *bad;  /* rows that cannot be read are counted here; NULL: they are an error */
} PtcDataForm;

/* Looks at no more than the first PTC_GUESS_BYTES; `whole`: nothing comes after the text.  What options say of the form
 * stays.  False: out of memory. */
PTC_MUST_USE bool ptc_data_guess(PtcMem *mem, PtcText text, bool whole, PtcDataForm *form);

#endif
