/* SPDX-License-Identifier: MIT
 * Reads CSV, and quotes texts for it.  The text is read twice: first to see what each column holds, so that all of its
 * fields can have one type; then line by line into an array of values, from which the row's map is made. */
#include "data/csv_int.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "data/charset.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/equal.h"
#include "value/str.h"

enum {
    GUESS_BYTES = 64 * PTC_KB,    /* of which the types of columns are guessed, ... */
    GUESS_FROM = 4 * GUESS_BYTES, /* ... in texts as long as this */
};

/* Those that are looked for. */
const char ptc_csv_separators[3] = {',', ';', '\t'};

/* --------------------------------------------------------------------------------- failing */

static bool fail_csv(PtcCsv *c, size_t line, size_t column, const char *format, ...)
    PTC_PRINTF(4, 5);

static bool fail_csv(PtcCsv *c, size_t line, size_t column, const char *format, ...)
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

static size_t csv_column_of(const PtcCsv *c, const char *at)
{
    return column_from(c->line_start, at);
}

static bool fail_csv_quote(PtcCsv *c, size_t line, size_t column, const char *message)
{
    c->bad_quote = true;
    return fail_csv(c, line, column, "%s", message);
}

static bool fail_csv_stopped(PtcCsv *c)
{
    bool memory =
        c->heap->budget->stop == PTC_STOP_MEMORY || c->heap->budget->stop == PTC_STOP_NONE;
    c->error->stopped = true;
    return fail_csv(c, c->line, 0, memory ? "out of memory" : "stopped by a limit");
}

/* ---------------------------------------------------------------------------------- fields */

/* Steps over a line end at `at`; false when there is none. */
static bool line_end(PtcCsv *c)
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
static void count_csv_lines(PtcCsv *c, const char *from, const char *to)
{
    for (const char *p = from; p < to; p++) {
        if (*p != '\n' && (*p != '\r' || (p + 1 < to && p[1] == '\n')))
            continue;
        c->line++;
        c->line_start = p + 1;
    }
}

/* Reads the quoted field that begins at `at` into `unquoted`.  Columns are counted for messages only: a line may be as
 * long as the file, and have thousands of such fields. */
static bool read_quoted(PtcCsv *c)
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
    if (!ptc_csv_ends_field(c, c->at))
        return fail_csv_quote(
            c, c->line, csv_column_of(c, c->at),
            "after a closing quote comes a separator or the end of the line; a quote inside "
            "quotes is written \"\"");
    return ptc_buf_ok(&c->unquoted) || fail_csv_stopped(c);
}

/* Makes room for n columns. */
static bool make_room_for_columns(PtcCsv *c, size_t n)
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
static bool read_csv_field(PtcCsv *c, size_t column, PtcCsvField *out)
{
    if (!make_room_for_columns(c, column + 1) || !ptc_tick(c->heap->budget, 1))
        return c->error->message[0] ? false : fail_csv_stopped(c);
    if (c->at < c->end && *c->at == '"') {
        if (!read_quoted(c))
            return false;
        *out = (PtcCsvField){c->unquoted.data ? c->unquoted.data : "", c->unquoted.len, true};
        return ptc_tick_scan(c->heap->budget, out->len) || fail_csv_stopped(c);
    }
    const char *end = ptc_csv_plain_end(c, c->at);
    *out = (PtcCsvField){c->at, (size_t)(end - c->at), false};
    c->at = end;
    return ptc_tick_scan(c->heap->budget, out->len) || fail_csv_stopped(c);
}

/* ----------------------------------------------------------------------------------- lines */

static void release_csv(PtcCsv *c)
{
    ptc_heap_scratch_free(c->heap, c->seen, c->seen_cap * sizeof *c->seen);
    ptc_heap_scratch_free(c->heap, c->columns, c->column_cap * sizeof *c->columns);
    ptc_heap_scratch_free(c->heap, c->keys, c->key_cap * sizeof *c->keys);
    ptc_heap_scratch_free(c->heap, c->fields, c->field_cap * sizeof *c->fields);
    ptc_buf_deinit(&c->unquoted);
}

static void skip_empty_lines(PtcCsv *c)
{
    while (c->at < c->end && (*c->at == '\n' || *c->at == '\r'))
        (void)line_end(c);
}

typedef struct {
    const char *at, *line_start;
    size_t line;
} CsvPlace;

static CsvPlace place_of(const PtcCsv *c)
{
    return (CsvPlace){c->at, c->line_start, c->line};
}

static void go_to_place(PtcCsv *c, CsvPlace place)
{
    c->at = place.at;
    c->line_start = place.line_start;
    c->line = place.line;
}

/* What to do with field i of a line. */
typedef bool FieldFn(PtcCsv *c, size_t i, const PtcCsvField *f);

static bool keep_kind(PtcCsv *c, size_t i, const PtcCsvField *f)
{
    c->columns[i].kinds |= ptc_csv_kind(f);
    return true;
}

/* Where a row may be left out, it must not have a say in the type of a column. */
static bool keep_row_kind(PtcCsv *c, size_t i, const PtcCsvField *f)
{
    c->columns[i].row_kind = ptc_csv_kind(f);
    return true;
}

static bool keep_value(PtcCsv *c, size_t i, const PtcCsvField *f)
{
    PtcCsvColumn *column = &c->columns[i];
    bool names = c->count == 0, wide = names || ptc_csv_is_wide(c);
    if (names)
        column->type = PTC_CSV_TEXT;
    if (c->guessed && column->type != PTC_CSV_TEXT &&
        ptc_csv_type(column->kinds | ptc_csv_kind(f)) != column->type) {
        c->surprised = true;
        return fail_csv(c, c->line, 0, "a column has another type than was guessed");
    }
    PtcValue v = ptc_csv_value(c, i, f);
    c->fields[wide ? 2 * i + 1 : i] = v;
    return v != PTC_NONE || fail_csv_stopped(c);
}

/* Reads on from field *n, as far as that is quickly done; *ended: to the end of the line. */
static bool read_quick_fields(PtcCsv *c, size_t *n, bool *ended)
{
    const char *from = c->at;
    size_t got = ptc_csv_quick_fields(c, *n);
    *ended = false;
    if (got == 0)
        return true;
    *n += got;
    *ended = c->at == c->end || *c->at != c->separator;
    size_t bytes = (size_t)(c->at - from);
    c->at += !*ended;
    return ptc_tick(c->heap->budget, (int64_t)(got + bytes / PTC_TICK_SCAN)) || fail_csv_stopped(c);
}

/* Reads all fields of a line; *n becomes their number. */
static bool read_csv_line(PtcCsv *c, FieldFn *take, size_t *n)
{
    PtcCsvField field;
    bool ended = false;
    for (*n = 0;; c->at++) {
        if (take == keep_value && c->count && !read_quick_fields(c, n, &ended))
            return false;
        if (ended)
            break;
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
static size_t count_fields(const PtcCsv *c, char separator, const char **at)
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
static char find_csv_separator(const PtcCsv *c)
{
    char best = ',';
    size_t most = 0;
    for (size_t i = 0; i < sizeof ptc_csv_separators; i++) {
        const char *at = c->at;
        size_t first = count_fields(c, ptc_csv_separators[i], &at);
        bool alike = at == c->end || count_fields(c, ptc_csv_separators[i], &at) == first;
        size_t score = first < 2 ? 0 : first * 2 + (alike ? PTC_CSV_COLUMNS * 2 : 0);
        if (score > most) {
            most = score;
            best = ptc_csv_separators[i];
        }
    }
    return best;
}

/* ------------------------------------------------------------------------------------ rows */

/* Which of the first n columns has the name; n: none. */
static size_t find_csv_column(const PtcCsv *c, size_t n, const char *name, size_t len)
{
    size_t i = 0;
    while (i < n &&
           (ptc_str_len(c->keys[i]) != len || memcmp(ptc_str_bytes(c->keys[i]), name, len) != 0))
        i++;
    return i;
}

/* Adds a number to a name that column `same` has, so that it differs from all of the first i names.  The column that
 * has the name remembers which numbers are used up, so that thousands of equal names need few look-ups each. */
static bool number_name(PtcCsv *c, size_t i, size_t same, PtcBuf *name)
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
static bool name_column(PtcCsv *c, size_t i, PtcValue said)
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
static bool add_file_column(PtcCsv *c)
{
    PtcValue name = ptc_str_new(c->heap, "file", 4);
    c->file_value = ptc_str_new(c->heap, c->file.bytes, c->file.len);
    if (name == PTC_NONE || c->file_value == PTC_NONE)
        return fail_csv_stopped(c);
    (void)ptc_str_hash(c->file_value);
    return make_room_for_columns(c, c->count + 1) && name_column(c, c->count, name);
}

/* The shape is made once: all narrow rows share it. */
static bool read_csv_header(PtcCsv *c)
{
    uint32_t hashes[PTC_CSV_SMALL];
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
    for (size_t i = 0; i < n && n <= PTC_CSV_SMALL; i++)
        hashes[i] = ptc_hash(c->heap, c->keys[i]);
    for (size_t i = 0; i < n; i++)
        (void)ptc_str_hash(c->keys[i]);
    if (n > PTC_CSV_SMALL)
        return true;
    c->shape = ptc_shape_new(c->heap, c->keys, hashes, n);
    return c->shape != PTC_NONE || fail_csv_stopped(c);
}

/* The first wide row is built like any map; the others share its index, which saves most of their memory. */
static PtcValue wide_row(PtcCsv *c)
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

static bool read_csv_row(PtcCsv *c, PtcValue rows)
{
    size_t n;
    bool wide = ptc_csv_is_wide(c);
    if (!read_csv_line(c, keep_value, &n))
        return false;
    if (c->file.bytes)
        c->fields[wide ? 2 * n + 1 : n] = c->file_value;
    PtcValue row = c->lists ? ptc_vec_new(c->heap, c->fields, n, 0)
                   : wide   ? wide_row(c)
                            : ptc_smap_new(c->heap, c->shape, c->fields);
    return (row != PTC_NONE && (ptc_build_quick(rows, row) || ptc_build_add(c->heap, rows, row))) ||
           fail_csv_stopped(c);
}

/* Reads on to the end of the row.  False: it has a quote that is wrong, too. */
static bool skip_fields(PtcCsv *c)
{
    for (;; c->at++) {
        if (c->at < c->end && *c->at == '"' && !read_quoted(c))
            return false;
        c->at = ptc_csv_plain_end(c, c->at);
        if (c->at == c->end || *c->at != c->separator)
            return line_end(c);
    }
}

/* Steps over a row that cannot be read, if that is wanted; `bad` counts them.  Behind a quote that is wrong nobody
 * knows where the row ends, so that its first line is stepped over. */
static bool skip_bad_row(PtcCsv *c, CsvPlace began, PtcBadLines *bad)
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

/* Looks at the fields of all lines that begin before `until`, then goes back to where it began.  Where no line names
 * columns, the first has as many. */
static bool read_kinds(PtcCsv *c, const char *until)
{
    size_t n;
    CsvPlace first = place_of(c);
    for (size_t i = 0; i < c->count; i++)
        c->columns[i].kinds = 0;
    for (skip_empty_lines(c); c->at < until; skip_empty_lines(c)) {
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

/* Reads the rows; columns have the types of the fields that were looked at. */
static PtcValue read_typed_rows(PtcCsv *c)
{
    PtcValue rows = ptc_build_new(c->heap);
    for (size_t i = 0; i < c->count; i++)
        c->columns[i].type = c->apart ? PTC_CSV_APART : ptc_csv_type(c->columns[i].kinds);
    if (rows == PTC_NONE) {
        fail_csv_stopped(c);
        return PTC_NONE;
    }
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

static bool remember_texts(PtcCsv *c)
{
    return ptc_csv_remember(c, (size_t)(c->end - c->at)) || fail_csv_stopped(c);
}

/* A long text is read once, with types that its beginning tells, instead of twice, which takes a third off the time. */
static bool may_guess(const PtcCsv *c)
{
    const PtcHeap *heap = c->heap;
    return c->end - c->at >= GUESS_FROM && !c->apart && !c->lists && !c->bad && !heap->account &&
           heap->limit >= PTC_UNBOUNDED;
}

/* Reads the rows into a heap of their own, which is given up when a field has another type after all, or when memory
 * does not last: what then is wrong first is for the other way to say.  *told: this way has the answer. */
static PtcValue read_guessed_rows(PtcCsv *c, bool *told)
{
    PtcHeap *heap = c->heap, own;
    CsvPlace first = place_of(c);
    PtcValue rows = PTC_NONE;
    *told = true;
    if (!read_kinds(c, c->at + GUESS_BYTES) || !remember_texts(c))
        return PTC_NONE;
    ptc_heap_init(&own, heap->pool, heap->budget, PTC_UNBOUNDED);
    c->heap = &own;
    c->guessed = true;
    rows = read_typed_rows(c);
    c->heap = heap;
    c->guessed = false;
    if (rows != PTC_NONE) {
        ptc_heap_adopt(heap, &own);
        return rows;
    }
    ptc_heap_deinit(&own);
    bool memory = c->error->stopped && heap->budget->stop == PTC_STOP_MEMORY;
    if (!c->surprised && !memory)
        return PTC_NONE;
    *told = false;
    if (memory)
        heap->budget->stop = PTC_STOP_NONE;
    *c->error = (PtcCsvError){0};
    c->index = 0;
    go_to_place(c, first);
    return PTC_NONE;
}

static PtcValue read_rows(PtcCsv *c)
{
    bool told = false;
    skip_empty_lines(c);
    if (c->at == c->end && !c->no_names) {
        fail_csv(c, 0, 0, "there is no line that names the columns");
        return PTC_NONE;
    }
    if (c->at == c->end)
        return read_typed_rows(c);
    if (!c->separator)
        c->separator = find_csv_separator(c);
    if (!c->lists && !read_csv_header(c))
        return PTC_NONE;
    PtcValue rows = may_guess(c) ? read_guessed_rows(c, &told) : PTC_NONE;
    if (told || ((c->lists || !c->apart) && !read_kinds(c, c->end)) || !remember_texts(c))
        return rows;
    return read_typed_rows(c);
}

/* Reports an error at a byte of the text as it was given. */
static void fail_csv_at(PtcCsv *c, const char *text, const PtcCharsetError *wrong)
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
    PtcCsv c = {.heap = heap,
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
