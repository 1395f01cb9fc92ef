/* SPDX-License-Identifier: MIT
 * Reads CSV, and quotes texts for it.  The text is read twice: first to see what each column holds, so that all of its
 * fields can have one type; then line by line into an array of values, from which the row's map is made. */
#include "data/csv.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "data/charset.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/equal.h"
#include "value/number/bigint.h"
#include "value/number/number.h"
#include "value/str.h"

enum { CSV_SEEN = 64, CSV_SEEN_BYTES = 64, SMALL = 16, INT_DIGITS = 300 };

/* Those that are looked for. */
static const char separators[] = {',', ';', '\t'};

/* What a field can be; for a column, what its fields were. */
typedef enum { EMPTY = 1, CSV_INT = 2, CSV_FLOAT = 4, CSV_BOOL = 8, CSV_TEXT = 16 } FieldKind;

typedef struct {
    PtcValue seen[CSV_SEEN]; /* strings it had lately, by hash */
    unsigned kinds;          /* of all its fields */
    unsigned row_kind;       /* of its field in a row that may be left out */
    size_t namesakes; /* columns behind it that had the same name, as long as columns are named */
} Column;

typedef struct {
    const char *bytes;
    size_t len;
    bool quoted;
} Field;

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
    PtcText file;
    PtcValue file_value;
    size_t count; /* columns; 0 before the first line */
    size_t keyed; /* keys of a row, with that of the file */
    PtcValue *keys;
    PtcValue *fields; /* of one line; for wide tables key, value, key, value ... */
    Column *columns;
    size_t column_cap, key_cap, field_cap;
    PtcValue shape; /* of narrow rows */
    PtcValue index; /* of wide rows, which all have the same keys in the same places */
    PtcBuf unquoted;
} Csv;

/* --------------------------------------------------------------------------------- failing */

static bool fail_csv(Csv *c, size_t line, size_t column, const char *format, ...) PTC_PRINTF(4, 5);

static bool fail_csv(Csv *c, size_t line, size_t column, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->error->message, sizeof c->error->message, format, args);
    va_end(args);
    c->error->line = line;
    c->error->column = column;
    return false;
}

/* From 1, in characters. */
static size_t column_from(const char *line_start, const char *at)
{
    return ptc_utf8_count(line_start, (size_t)(at - line_start)) + 1;
}

static size_t csv_column_of(const Csv *c, const char *at)
{
    return column_from(c->line_start, at);
}

static bool fail_csv_quote(Csv *c, size_t line, size_t column, const char *message)
{
    c->bad_quote = true;
    return fail_csv(c, line, column, "%s", message);
}

static bool fail_csv_stopped(Csv *c)
{
    bool memory =
        c->heap->budget->stop == PTC_STOP_MEMORY || c->heap->budget->stop == PTC_STOP_NONE;
    c->error->stopped = true;
    return fail_csv(c, c->line, 0, memory ? "out of memory" : "stopped by a limit");
}

/* ---------------------------------------------------------------------------------- fields */

/* Is it a number as JSON writes them?  *whole: without point and exponent. */
static bool is_csv_number(const char *p, const char *end, bool *whole)
{
    const char *first = p += p < end && *p == '-';
    while (p < end && ptc_ascii_is_digit(*p))
        p++;
    if (p == first || (p - first > 1 && *first == '0'))
        return false;
    *whole = p == end;
    if (p < end && *p == '.') {
        const char *point = p++;
        while (p < end && ptc_ascii_is_digit(*p))
            p++;
        if (p == point + 1)
            return false;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < end && (*p == '-' || *p == '+');
        first = p;
        while (p < end && ptc_ascii_is_digit(*p))
            p++;
        if (p == first)
            return false;
    }
    return p == end;
}

static PtcValue small_int(const char *p, size_t len)
{
    int64_t n = 0;
    for (size_t i = *p == '-'; i < len; i++)
        n = n * 10 + (p[i] - '0');
    return ptc_int(*p == '-' ? -n : n);
}

/* A string of a column; the same object as before if it is among those seen lately, because columns repeat
 * themselves. */
static PtcValue text_value(Csv *c, size_t column, const char *bytes, size_t len)
{
    if (len > CSV_SEEN_BYTES) {
        PtcValue v = ptc_str_new(c->heap, bytes, len);
        if (v != PTC_NONE)
            (void)ptc_str_hash(v);
        return v;
    }
    PtcValue *seen = &c->columns[column].seen[ptc_str_hash_bytes(bytes, len) % CSV_SEEN];
    if (*seen && ptc_str_len(*seen) == len && memcmp(ptc_str_bytes(*seen), bytes, len) == 0)
        return *seen;
    PtcValue v = ptc_str_new(c->heap, bytes, len);
    if (v != PTC_NONE) {
        (void)ptc_str_hash(v);
        *seen = v;
    }
    return v;
}

/* true, True, TRUE: the spellings that spreadsheets write. */
static bool is_spelled_word(const Field *f, const char *lower, const char *upper)
{
    if (f->len != strlen(lower))
        return false;
    bool first = f->bytes[0] == lower[0] || f->bytes[0] == upper[0];
    return first && (memcmp(f->bytes + 1, lower + 1, f->len - 1) == 0 ||
                     memcmp(f->bytes, upper, f->len) == 0);
}

static bool is_true(const Field *f)
{
    return is_spelled_word(f, "true", "TRUE");
}

/* An empty field in quotes is an empty text among texts, and nil among numbers.  Numbers too large for a float stay
 * text. */
static FieldKind field_kind(const Field *f)
{
    bool whole;
    double d;
    if (f->len == 0)
        return EMPTY;
    if (f->quoted)
        return CSV_TEXT;
    if (is_true(f) || is_spelled_word(f, "false", "FALSE"))
        return CSV_BOOL;
    if (!is_csv_number(f->bytes, f->bytes + f->len, &whole))
        return CSV_TEXT;
    if (whole)
        return f->len <= INT_DIGITS ? CSV_INT : CSV_TEXT;
    return ptc_double_parse(f->bytes, f->len, &d) && isfinite(d) ? CSV_FLOAT : CSV_TEXT;
}

/* 18 digits always fit a word; longer ones may need a big integer. */
static PtcValue int_value(Csv *c, const Field *f)
{
    if (f->len <= 18)
        return small_int(f->bytes, f->len);
    return ptc_int_parse(c->heap, f->bytes, f->len);
}

/* A field as the one type that fits all fields of its column. */
static PtcValue csv_field_value(Csv *c, size_t column, const Field *f)
{
    unsigned kinds = c->apart && c->count ? field_kind(f) : c->columns[column].kinds;
    kinds &= ~(unsigned)EMPTY;
    bool floats = kinds == CSV_FLOAT || kinds == (CSV_INT | CSV_FLOAT);
    bool texts = !floats && kinds != CSV_INT && kinds != CSV_BOOL;
    double d;
    if (c->count == 0)
        return text_value(c, column, f->bytes, f->len);
    if (f->len == 0 && !(f->quoted && texts))
        return PTC_NIL;
    if (kinds == CSV_INT)
        return int_value(c, f);
    if (floats)
        return ptc_double_parse(f->bytes, f->len, &d) ? ptc_float_new(c->heap, d) : PTC_NONE;
    return kinds == CSV_BOOL ? ptc_bool(is_true(f)) : text_value(c, column, f->bytes, f->len);
}

/* Steps over a line end at `at`; false when there is none. */
static bool line_end(Csv *c)
{
    if (c->at == c->end)
        return true;
    if (*c->at != '\n' && *c->at != '\r')
        return false;
    c->at += *c->at == '\r' && c->at + 1 < c->end && c->at[1] == '\n' ? 2 : 1;
    c->line++;
    c->line_start = c->at;
    return true;
}

/* A quoted field may span lines, and errors must still name the right one. */
static void count_csv_lines(Csv *c, const char *from, const char *to)
{
    for (const char *p = from; p < to; p++) {
        if (*p != '\n' && (*p != '\r' || (p + 1 < to && p[1] == '\n')))
            continue;
        c->line++;
        c->line_start = p + 1;
    }
}

static bool ends_field(const Csv *c, const char *at)
{
    return at == c->end || *at == c->separator || *at == '\n' || *at == '\r';
}

/* Reads the quoted field that begins at `at` into `unquoted`.  Columns are counted for messages only: a line may be as
 * long as the file, and have thousands of such fields. */
static bool read_quoted(Csv *c)
{
    const char *begun = c->at, *begun_line = c->line_start;
    size_t line = c->line;
    ptc_buf_clear(&c->unquoted);
    for (c->at++;;) {
        const char *quote = memchr(c->at, '"', (size_t)(c->end - c->at));
        if (!quote)
            return fail_csv_quote(c, line, column_from(begun_line, begun),
                                  "the quote that opens here is never closed");
        count_csv_lines(c, c->at, quote);
        ptc_buf_add(&c->unquoted, c->at, (size_t)(quote - c->at));
        c->at = quote + 1;
        if (c->at == c->end || *c->at != '"')
            break;
        ptc_buf_add_char(&c->unquoted, '"');
        c->at++;
    }
    if (!ends_field(c, c->at))
        return fail_csv_quote(
            c, c->line, csv_column_of(c, c->at),
            "after a closing quote comes a separator or the end of the line; a quote inside "
            "quotes is written \"\"");
    return ptc_buf_ok(&c->unquoted) || fail_csv_stopped(c);
}

/* Where a field without quotes ends. */
static const char *plain_end(const Csv *c)
{
    const char *p = c->at;
    while (!ends_field(c, p))
        p++;
    return p;
}

/* Makes room for n columns. */
static bool make_room_for_columns(Csv *c, size_t n)
{
    size_t had = c->column_cap;
    if (n > PTC_CSV_COLUMNS)
        return fail_csv(c, c->line, csv_column_of(c, c->at), "there are more than %d columns",
                        PTC_CSV_COLUMNS);
    if (!PTC_GROW_SCRATCH(c->heap, &c->keys, &c->key_cap, n) ||
        !PTC_GROW_SCRATCH(c->heap, &c->fields, &c->field_cap, 2 * n) ||
        !PTC_GROW_SCRATCH(c->heap, &c->columns, &c->column_cap, n))
        return fail_csv_stopped(c);
    memset(c->columns + had, 0, (c->column_cap - had) * sizeof *c->columns);
    return true;
}

/* The next field; its bytes are valid until the one after it is read. */
static bool read_csv_field(Csv *c, size_t column, Field *out)
{
    if (!make_room_for_columns(c, column + 1) || !ptc_tick(c->heap->budget, 1))
        return c->error->message[0] ? false : fail_csv_stopped(c);
    if (c->at < c->end && *c->at == '"') {
        if (!read_quoted(c))
            return false;
        *out = (Field){c->unquoted.data ? c->unquoted.data : "", c->unquoted.len, true};
        return ptc_tick_scan(c->heap->budget, out->len) || fail_csv_stopped(c);
    }
    const char *end = plain_end(c);
    *out = (Field){c->at, (size_t)(end - c->at), false};
    c->at = end;
    return ptc_tick_scan(c->heap->budget, out->len) || fail_csv_stopped(c);
}

/* ----------------------------------------------------------------------------------- lines */

static void release_csv(Csv *c)
{
    ptc_heap_scratch_free(c->heap, c->columns, c->column_cap * sizeof *c->columns);
    ptc_heap_scratch_free(c->heap, c->keys, c->key_cap * sizeof *c->keys);
    ptc_heap_scratch_free(c->heap, c->fields, c->field_cap * sizeof *c->fields);
    ptc_buf_deinit(&c->unquoted);
}

static void skip_empty_lines(Csv *c)
{
    while (c->at < c->end && (*c->at == '\n' || *c->at == '\r'))
        (void)line_end(c);
}

typedef struct {
    const char *at, *line_start;
    size_t line;
} CsvPlace;

static CsvPlace place_of(const Csv *c)
{
    return (CsvPlace){c->at, c->line_start, c->line};
}

static void go_to_place(Csv *c, CsvPlace place)
{
    c->at = place.at;
    c->line_start = place.line_start;
    c->line = place.line;
}

/* What to do with field i of a line. */
typedef bool FieldFn(Csv *c, size_t i, const Field *f);

static bool keep_kind(Csv *c, size_t i, const Field *f)
{
    c->columns[i].kinds |= field_kind(f);
    return true;
}

/* Where a row may be left out, it must not have a say in the type of a column. */
static bool keep_row_kind(Csv *c, size_t i, const Field *f)
{
    c->columns[i].row_kind = field_kind(f);
    return true;
}

static bool keep_value(Csv *c, size_t i, const Field *f)
{
    bool wide = !c->lists && (c->keyed > SMALL || c->count == 0);
    PtcValue v = csv_field_value(c, i, f);
    c->fields[wide ? 2 * i + 1 : i] = v;
    return v != PTC_NONE || fail_csv_stopped(c);
}

/* Reads all fields of a line; *n becomes their number. */
static bool read_csv_line(Csv *c, FieldFn *take, size_t *n)
{
    Field field;
    for (*n = 0;; c->at++) {
        if (c->count && *n == c->count)
            return fail_csv(c, c->line, csv_column_of(c, c->at),
                            "this line has more than %zu fields, %s", c->count,
                            c->lists ? "as many as the first line has"
                                     : "the columns that the first line names");
        if (!read_csv_field(c, *n, &field) || !take(c, *n, &field))
            return false;
        ++*n;
        if (c->at == c->end || *c->at != c->separator)
            break;
    }
    if (c->count && *n != c->count)
        return fail_csv(c, c->line, csv_column_of(c, c->at), "this line has %zu of %zu fields", *n,
                        c->count);
    return line_end(c);
}

/* ------------------------------------------------------------------------------- separator */

/* How many fields a separator makes of the line at *at, which moves past the line. */
static size_t count_fields(const Csv *c, char separator, const char **at)
{
    size_t n = 1;
    bool quoted = false;
    const char *p = *at;
    for (; p < c->end && (quoted || (*p != '\n' && *p != '\r')); p++) {
        quoted ^= *p == '"';
        n += !quoted && *p == separator;
    }
    while (p < c->end && (*p == '\n' || *p == '\r'))
        p++;
    *at = p;
    return n;
}

/* The separator that divides the first two lines into equally many fields, and into most; a comma if none divides
 * them. */
static char find_csv_separator(const Csv *c)
{
    char best = ',';
    size_t most = 0;
    for (size_t i = 0; i < sizeof separators; i++) {
        const char *at = c->at;
        size_t first = count_fields(c, separators[i], &at);
        bool alike = at == c->end || count_fields(c, separators[i], &at) == first;
        size_t score = first < 2 ? 0 : first * 2 + (alike ? PTC_CSV_COLUMNS * 2 : 0);
        if (score > most) {
            most = score;
            best = separators[i];
        }
    }
    return best;
}

/* ------------------------------------------------------------------------------------ rows */

/* Which of the first n columns has the name; n: none. */
static size_t find_csv_column(const Csv *c, size_t n, const char *name, size_t len)
{
    size_t i = 0;
    while (i < n &&
           (ptc_str_len(c->keys[i]) != len || memcmp(ptc_str_bytes(c->keys[i]), name, len) != 0))
        i++;
    return i;
}

/* Adds a number to a name that column `same` has, so that it differs from all of the first i names.  The column that
 * has the name remembers which numbers are used up, so that thousands of equal names need few look-ups each. */
static bool number_name(Csv *c, size_t i, size_t same, PtcBuf *name)
{
    size_t len = name->len;
    do {
        name->len = len;
        ptc_buf_addf(name, "_%zu", ++c->columns[same].namesakes + 1);
        if (!ptc_buf_ok(name) || !ptc_tick(c->heap->budget, (int64_t)i + 1))
            return false;
    } while (find_csv_column(c, i, name->data, name->len) < i);
    return true;
}

/* Makes the text from the first line (nil: there is none) the name of column i, distinct from the names before it. */
static bool name_column(Csv *c, size_t i, PtcValue said)
{
    PtcBuf name;
    PtcText text = ptc_text_trim(ptc_str_text(said), " \t");
    ptc_buf_init(&name, c->heap->pool->mem, PTC_UNBOUNDED);
    if (text.len == 0)
        ptc_buf_addf(&name, "column%zu", i + 1);
    else
        ptc_buf_add(&name, text.bytes, text.len);
    size_t same = ptc_buf_ok(&name) ? find_csv_column(c, i, name.data, name.len) : i;
    bool ok = ptc_buf_ok(&name) && (same == i || number_name(c, i, same, &name));
    PtcValue key = ok ? ptc_str_new(c->heap, name.data, name.len) : PTC_NONE;
    ptc_buf_deinit(&name);
    if (key == PTC_NONE)
        return fail_csv_stopped(c);
    c->keys[i] = key;
    return true;
}

/* The column behind the others in which every row has the name of the file. */
static bool add_file_column(Csv *c)
{
    PtcValue name = ptc_str_new(c->heap, "file", 4);
    c->file_value = ptc_str_new(c->heap, c->file.bytes, c->file.len);
    if (name == PTC_NONE || c->file_value == PTC_NONE)
        return fail_csv_stopped(c);
    (void)ptc_str_hash(c->file_value);
    return make_room_for_columns(c, c->count + 1) && name_column(c, c->count, name);
}

/* The shape is made once: all narrow rows share it. */
static bool read_csv_header(Csv *c)
{
    uint32_t hashes[SMALL];
    size_t n;
    CsvPlace first = place_of(c);
    if (!read_csv_line(c, keep_value, &n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!name_column(c, i, c->no_names ? PTC_NIL : c->fields[2 * i + 1]))
            return false;
    if (c->no_names)
        go_to_place(c, first);
    c->count = n;
    if (c->file.bytes && !add_file_column(c))
        return false;
    n = c->keyed = n + (c->file.bytes != NULL);
    memset(c->columns, 0, c->column_cap * sizeof *c->columns);
    for (size_t i = 0; i < n && n <= SMALL; i++)
        hashes[i] = ptc_hash(c->heap, c->keys[i]);
    for (size_t i = 0; i < n; i++)
        (void)ptc_str_hash(c->keys[i]);
    if (n > SMALL)
        return true;
    c->shape = ptc_shape_new(c->heap, c->keys, hashes, n);
    return c->shape != PTC_NONE || fail_csv_stopped(c);
}

/* The first wide row is built like any map; the others share its index, which saves most of their memory. */
static PtcValue wide_row(Csv *c)
{
    PtcDictBuild build;
    for (size_t i = 0; i < c->keyed; i++)
        c->fields[2 * i] = c->keys[i];
    if (c->index) {
        PtcValue entries = ptc_vec_new(c->heap, c->fields, 2 * c->keyed, 0);
        PtcDict *d = entries == PTC_NONE
                         ? NULL
                         : ptc_heap_object(c->heap, PTC_T_BMAP, sizeof *d, (uint32_t)c->keyed);
        if (!d)
            return PTC_NONE;
        d->entries = entries;
        d->index = c->index;
        return ptc_from_obj(d);
    }
    if (!ptc_dict_build_init(&build, c->heap, false))
        return PTC_NONE;
    for (size_t i = 0; i < c->keyed; i++)
        if (!ptc_dict_build_put(&build, c->keys[i], c->fields[2 * i + 1])) {
            ptc_dict_build_cancel(&build);
            return PTC_NONE;
        }
    PtcValue row = ptc_dict_build_done(&build);
    if (row != PTC_NONE)
        c->index = ((const PtcDict *)(uintptr_t)row)->index;
    return row;
}

static bool read_csv_row(Csv *c, PtcValue rows)
{
    size_t n;
    bool wide = !c->lists && c->keyed > SMALL;
    if (!read_csv_line(c, keep_value, &n))
        return false;
    if (c->file.bytes)
        c->fields[wide ? 2 * n + 1 : n] = c->file_value;
    PtcValue row = c->lists ? ptc_vec_new(c->heap, c->fields, n, 0)
                   : wide   ? wide_row(c)
                            : ptc_smap_new(c->heap, c->shape, c->fields);
    return (row != PTC_NONE && ptc_build_add(c->heap, rows, row)) || fail_csv_stopped(c);
}

/* Reads on to the end of the row.  False: it has a quote that is wrong, too. */
static bool skip_fields(Csv *c)
{
    for (;; c->at++) {
        if (c->at < c->end && *c->at == '"' && !read_quoted(c))
            return false;
        c->at = plain_end(c);
        if (c->at == c->end || *c->at != c->separator)
            return line_end(c);
    }
}

/* Steps over a row that cannot be read, if that is wanted; `bad` counts them.  Behind a quote that is wrong nobody
 * knows where the row ends, so that its first line is stepped over. */
static bool skip_bad_row(Csv *c, CsvPlace began, PtcBadLines *bad)
{
    if (!c->bad || c->error->stopped)
        return false;
    if (bad)
        ptc_bad_lines_add(bad, c->error->line, c->error->column, c->error->message);
    if (c->bad_quote || !skip_fields(c)) {
        go_to_place(c, began);
        while (!line_end(c))
            c->at++;
    }
    *c->error = (PtcCsvError){0};
    c->bad_quote = false;
    return true;
}

/* Looks at all fields, then goes back to where it began.  Where no line names columns, the first has as many. */
static bool read_kinds(Csv *c)
{
    size_t n;
    CsvPlace first = place_of(c);
    for (skip_empty_lines(c); c->at < c->end; skip_empty_lines(c)) {
        CsvPlace began = place_of(c);
        bool ok = read_csv_line(c, c->bad ? keep_row_kind : keep_kind, &n);
        if (!ok && !skip_bad_row(c, began, NULL)) {
            c->error->record = began.line;
            return false;
        }
        for (size_t i = 0; ok && c->bad && i < n; i++)
            c->columns[i].kinds |= c->columns[i].row_kind;
        c->count = c->lists ? n : c->count;
    }
    go_to_place(c, first);
    return true;
}

static PtcValue read_rows(Csv *c)
{
    PtcValue rows = ptc_build_new(c->heap);
    skip_empty_lines(c);
    if (rows == PTC_NONE) {
        fail_csv_stopped(c);
        return PTC_NONE;
    }
    if (c->at == c->end && c->no_names)
        return ptc_build_done(c->heap, rows, 0);
    if (c->at == c->end) {
        fail_csv(c, 0, 0, "there is no line that names the columns");
        return PTC_NONE;
    }
    if (!c->separator)
        c->separator = find_csv_separator(c);
    if ((!c->lists && !read_csv_header(c)) || ((c->lists || !c->apart) && !read_kinds(c)))
        return PTC_NONE;
    for (skip_empty_lines(c); c->at < c->end; skip_empty_lines(c)) {
        CsvPlace began = place_of(c);
        if (!read_csv_row(c, rows) && !skip_bad_row(c, began, c->bad)) {
            c->error->record = began.line;
            return PTC_NONE;
        }
    }
    PtcValue done = ptc_build_done(c->heap, rows, 0);
    if (done == PTC_NONE)
        fail_csv_stopped(c);
    return done;
}

/* Reports an error at a byte of the text as it was given. */
static void fail_csv_at(Csv *c, const char *text, const PtcCharsetError *wrong)
{
    c->line_start = text;
    count_csv_lines(c, text, text + wrong->at);
    fail_csv(c, c->line, csv_column_of(c, text + wrong->at), "%s", wrong->what);
    c->error->stopped = wrong->stopped;
}

/* Errors of the encoding are reported at their place in the text as it was given. */
PtcValue ptc_csv_parse(PtcHeap *heap, const char *text, size_t len, PtcCsvPart *part,
                       PtcCsvError *error)
{
    PtcCharsetError wrong;
    PtcText all;
    PtcBuf converted;
    PtcValue rows = PTC_NONE;
    Csv c = {.heap = heap,
             .error = error,
             .line = 1,
             .separator = part->separator,
             .apart = part->apart,
             .lists = part->lists,
             .no_names = part->no_names,
             .file = part->file,
             .bad = part->bad};
    *error = (PtcCsvError){0};
    ptc_buf_init(&c.unquoted, heap->pool->mem, PTC_UNBOUNDED);
    ptc_buf_init(&converted, heap->pool->mem, PTC_UNBOUNDED);
    all = ptc_charset_unmarked((PtcText){text, len});
    if (part->utf8 || ptc_charset_decode(text, len, &converted, &all, &wrong)) {
        c.at = c.line_start = all.bytes;
        c.end = all.bytes + all.len;
        rows = read_rows(&c);
        part->separator = c.separator;
    } else {
        fail_csv_at(&c, text, &wrong);
    }
    release_csv(&c);
    ptc_buf_deinit(&converted);
    return rows;
}

/* --------------------------------------------------------------------------------- writing */

bool ptc_csv_is_text(PtcText text)
{
    return field_kind(&(Field){text.bytes, text.len, false}) == CSV_TEXT;
}

bool ptc_csv_needs_quotes(PtcText text, char separator, bool among_texts)
{
    static const char marks[] = {'"', '\r', '\n'};
    if (text.len == 0 || (!among_texts && !ptc_csv_is_text(text)))
        return true;
    for (size_t i = 0; i < text.len; i++)
        if (text.bytes[i] == separator || memchr(marks, text.bytes[i], sizeof marks))
            return true;
    return false;
}

bool ptc_csv_has_separator(PtcText text)
{
    bool has = false;
    for (size_t i = 0; i < sizeof separators && text.len && !has; i++)
        has = memchr(text.bytes, separators[i], text.len) != NULL;
    return has;
}

bool ptc_csv_add_quoted(PtcBuf *out, PtcText text)
{
    ptc_buf_add_char(out, '"');
    for (const char *quote; (quote = text.len ? memchr(text.bytes, '"', text.len) : NULL);) {
        size_t n = (size_t)(quote - text.bytes) + 1;
        ptc_buf_add(out, text.bytes, n);
        ptc_buf_add_char(out, '"');
        text.bytes += n;
        text.len -= n;
    }
    ptc_buf_add(out, text.bytes, text.len);
    return ptc_buf_add_char(out, '"');
}
