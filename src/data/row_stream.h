/* SPDX-License-Identifier: MIT
 * row_stream.h - the rows of a file that may be larger than memory, some at a time.
 *
 * JSON Lines, CSV and lines of text, UTF-8, packed or not; what they are is told as for whole files (data_file.h), but
 * JSON must be JSON Lines.  Since nobody has seen the end of a column, every field of CSV has
 * the type it looks like by itself: 10001 is an integer, 00501 a text. */
#ifndef PTC_DATA_ROW_STREAM_H
#define PTC_DATA_ROW_STREAM_H

#include "base/why.h"
#include "data/csv.h"
#include "data/data_file.h"
#include "data/data_source.h"

typedef struct PtcRowStream {
    PtcDataSource source;
    PtcDataForm form; /* how it is read */
    PtcCsvPart csv;
    PtcBuf text; /* what was read and not handed out; in CSV the line with the names comes first */
    size_t head; /* bytes of that line */
    size_t scanned; /* bytes of the text in which the ends of rows were looked for */
    size_t whole;   /* bytes of the text that are whole rows */
    bool quoted, after_quote, at_field; /* where the search stands, for CSV */
    bool ended;
    size_t line;     /* of the file, where the text behind the head begins, from 1 */
    PtcBadLines bad; /* of the rows that are read now, by lines of the text */
    size_t broken;   /* the line at which a row begins that cannot be read; 0: none is known */
    PtcWhy *why;     /* the caller's */
    char name[220];  /* of the file, for messages */
} PtcRowStream;

/* Opens a file, "-" for standard input; `given` is what options say of it.  False with a text in
 * why, which is kept for later messages; nothing has to be closed then. */
PTC_MUST_USE bool ptc_row_stream_open(PtcRowStream *stream, PtcMem *mem, const char *path,
                                      const PtcDataForm *given, PtcWhy *why);
void ptc_row_stream_close(PtcRowStream *stream);

/* The next rows as a vector in the heap; PTC_NIL at the end, PTC_NONE with a text in why: all rows before the one that
 * cannot be read have been handed out then.  *line (may be NULL) becomes
 * the line of the file at which they begin. */
PTC_MUST_USE PtcValue ptc_row_stream_next(PtcRowStream *stream, PtcHeap *heap, size_t *line);

#endif
