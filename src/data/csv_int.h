/* SPDX-License-Identifier: MIT
 * csv_int.h - between the parts of the CSV reader: csv.c reads lines, csv_value.c makes values of fields. */
#ifndef PTC_DATA_CSV_INT_H
#define PTC_DATA_CSV_INT_H

#include "data/csv.h"

/* Rows with more columns are maps of another kind. */
enum { PTC_CSV_SMALL = 16 };

/* What a field can be; for a column, what its fields were. */
typedef enum {
    PTC_CSV_APART = 0, /* each field of the column has its own */
    PTC_CSV_EMPTY = 1,
    PTC_CSV_INT = 2,
    PTC_CSV_FLOAT = 4,
    PTC_CSV_BOOL = 8,
    PTC_CSV_TEXT = 16,
} PtcCsvKind;

typedef struct {
    unsigned kinds;    /* of all its fields */
    unsigned row_kind; /* of its field in a row that may be left out */
    PtcCsvKind type;   /* of its values, once that is known */
    size_t namesakes;  /* columns behind it that had the same name, as long as columns are named */
} PtcCsvColumn;

typedef struct {
    const char *bytes;
    size_t len;
    bool quoted;
} PtcCsvField;

/* A string that a column had lately.  The word is the bytes of a short one, or made of those of a longer one. */
typedef struct {
    uint64_t word;
    PtcValue text;
} PtcCsvSeen;

typedef struct {
    PtcHeap *heap;
    PtcCsvError *error;
    const char *at, *end;
    const char *line_start;
    size_t line;    /* of `at` */
    char separator; /* between fields; 0: not known yet */
    bool apart;     /* fields have types of their own */
    bool lists;     /* rows are vectors, and no line names columns */
    bool no_names;  /* no line names columns */
    PtcBadLines *bad;
    bool bad_quote; /* the row that cannot be read has a quote that is wrong */
    bool guessed;   /* columns have the types that their first fields have ... */
    bool surprised; /* ... and one of the later fields does not */
    PtcText file;
    PtcValue file_value;
    size_t count; /* columns; 0 before the first line */
    size_t keyed; /* keys of a row, with that of the file */
    PtcValue *keys;
    PtcValue *fields; /* of one line; for wide tables key, value, key, value ... */
    PtcCsvColumn *columns;
    size_t column_cap, key_cap, field_cap;
    PtcCsvSeen *seen; /* NULL: nothing is remembered */
    size_t seen_cap;
    unsigned seen_bits; /* of the number of a string of a column */
    PtcValue shape;     /* of narrow rows */
    PtcValue index;     /* of wide rows, which all have the same keys in the same places */
    PtcBuf unquoted;
} PtcCsv;

/* Are rows maps with so many columns that their fields stand between keys? */
static inline bool ptc_csv_is_wide(const PtcCsv *c)
{
    return !c->lists && c->keyed > PTC_CSV_SMALL;
}

static inline bool ptc_csv_ends_field(const PtcCsv *c, const char *at)
{
    return at == c->end || *at == c->separator || *at == '\n' || *at == '\r';
}

/* Those that are looked for. */
extern const char ptc_csv_separators[3];

/* Where a field without quotes that begins at p ends. */
const char *ptc_csv_plain_end(const PtcCsv *c, const char *p);

PtcCsvKind ptc_csv_kind(const PtcCsvField *f);
/* The one type that fits all fields of these kinds: EMPTY, while there was nothing else, or a single other one. */
PtcCsvKind ptc_csv_type(unsigned kinds);

/* Makes room to remember strings of the columns; to be given back with ptc_heap_scratch_free. */
PTC_MUST_USE bool ptc_csv_remember(PtcCsv *c, size_t text_len);
/* A field as a value of its column; PTC_NONE: out of memory. */
PTC_MUST_USE PtcValue ptc_csv_value(PtcCsv *c, size_t column, const PtcCsvField *f);
/* Makes values of the fields from `at` on, of which the first is that of column i, up to the first that asks for more
 * care.  How many; if any, `at` is then behind the last, at a separator or the end of the line. */
size_t ptc_csv_quick_fields(PtcCsv *c, size_t i);

#endif
