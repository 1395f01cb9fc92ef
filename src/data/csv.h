/* SPDX-License-Identifier: MIT
 * csv.h - comma-separated values (RFC 4180) as a vector of maps.
 *
 * The first line names the columns; every other line becomes a map from those names, as strings, to its fields.
 * Fields are separated by commas, semicolons or tabs, whichever divide the first two lines alike.  Lines end in LF,
 * CRLF or CR, and empty lines are skipped.  A field may be quoted, with "" for a quote inside it, and may then
 * contain separators and line ends.  The text is UTF-8, UTF-16 or Windows-1252 (charset.h).
 *
 * A column has one type.  When all of its fields are written as JSON numbers they are integers, or floats if any of
 * them is; when all are true or false (also TRUE, True) they are booleans; otherwise they are texts as they stand,
 * so that 00501 beside 10001 stays a code.  What is quoted is text.  An empty field is nil; a quoted empty field
 * among texts is "".  A column without a name is called column3, say; a name that occurred before gets _2; blanks
 * around names are dropped.  Strings that repeat in a column are stored once. */
#ifndef PTC_DATA_CSV_H
#define PTC_DATA_CSV_H

#include "base/buf.h"
#include "base/text/bad_lines.h"
#include "value/heap.h"

enum { PTC_CSV_COLUMNS = 4096 };

typedef struct PtcCsvError {
    size_t line, column; /* from 1, columns in characters; 0: no particular place */
    size_t record;       /* the line that the row with the mistake begins in; 0: it is in no row */
    bool stopped;        /* stopped by the heap's budget, which says why */
    char message[200];
} PtcCsvError;

/* How a text, or a part of a longer one, is read.  A part begins with the line that names the columns, again. */
typedef struct PtcCsvPart {
    char separator; /* 0: as above, and set to what was found */
    /* Each field has the type it looks like by itself, whatever its column has elsewhere. */
    bool apart;
    bool utf8;  /* the encoding is known, and no other is looked for */
    bool lists; /* the first line is a row like the others, and rows are vectors of its length */
    bool
        no_names; /* the first line is a row like the others, and columns are column1, column2 ... */
    PtcText file; /* each row has it in a column of its own, `file`; no bytes: there is none */
    PtcBadLines
        *bad; /* rows that cannot be read are left out and counted here; NULL: they are an error */
} PtcCsvPart;

/* The rows, in a heap whose budget is ticked for each field and its bytes; hashes of strings are computed.  PTC_NONE
 * with *error filled. */
PTC_MUST_USE PtcValue ptc_csv_parse(PtcHeap *heap, const char *text, size_t len, PtcCsvPart *part,
                                    PtcCsvError *error);

/* Is it read as text wherever it stands, and makes text of its column? */
bool ptc_csv_is_text(PtcText text);
/* Would this text be read as something else without quotes: as several fields, as nil, or, unless its column has texts
 * without quotes, as a number or boolean? */
bool ptc_csv_needs_quotes(PtcText text, char separator, bool among_texts);
/* Has it a sign that is taken for the separator where it stands in the first line, since that is looked for? */
bool ptc_csv_has_separator(PtcText text);
/* Adds a text in quotes. */
PTC_MUST_USE bool ptc_csv_add_quoted(PtcBuf *out, PtcText text);

#endif
