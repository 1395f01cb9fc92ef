/* SPDX-License-Identifier: MIT
 * A line is read field by field into an array of values, then made into a map. */
#include "data/csv.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "json/parse.h"
#include "value/equal.h"
#include "value/map.h"
#include "value/number.h"
#include "value/str.h"
#include "value/vec.h"

enum { SEEN = 64, SEEN_BYTES = 64, SMALL = 16 };

/* The strings that a column had lately, by hash. */
typedef struct {
    PtcValue seen[SEEN];
} Column;

typedef struct {
    PtcHeap *heap;
    PtcCsvError *error;
    const char *at, *end;
    size_t line;  /* of `at` */
    size_t count; /* columns; 0 before the first line */
    PtcValue *keys;
    PtcValue *fields; /* of one line; of wide tables key, value, key, value ... */
    Column *columns;
    size_t cap;     /* of keys, fields and columns */
    PtcValue shape; /* of narrow rows */
    PtcValue index; /* of wide rows, which all have the same keys in the same places */
    PtcBuf unquoted;
} Csv;

/* --------------------------------------------------------------------------------- failing */

static bool fail(Csv *c, size_t line, const char *format, ...) PTC_PRINTF(3, 4);

static bool fail(Csv *c, size_t line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->error->message, sizeof c->error->message, format, args);
    va_end(args);
    c->error->line = line;
    return false;
}

static bool stopped(Csv *c)
{
    bool memory =
        c->heap->budget->stop == PTC_STOP_MEMORY || c->heap->budget->stop == PTC_STOP_NONE;
    c->error->stopped = true;
    return fail(c, c->line, memory ? "there is no memory for more" : "stopped by a limit");
}

/* ---------------------------------------------------------------------------------- fields */

static bool is_digit(char ch)
{
    return ch >= '0' && ch <= '9';
}

/* Is it a number as JSON writes them?  *whole: without point and exponent. */
static bool is_number(const char *p, const char *end, bool *whole)
{
    const char *first = p += p < end && *p == '-';
    while (p < end && is_digit(*p))
        p++;
    if (p == first || (p - first > 1 && *first == '0'))
        return false;
    *whole = p == end;
    if (p < end && *p == '.') {
        const char *point = p++;
        while (p < end && is_digit(*p))
            p++;
        if (p == point + 1)
            return false;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < end && (*p == '-' || *p == '+');
        first = p;
        while (p < end && is_digit(*p))
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

/* A string of a column, the same one as before when it is among those seen lately. */
static PtcValue text_value(Csv *c, size_t column, const char *bytes, size_t len)
{
    if (len > SEEN_BYTES) {
        PtcValue v = ptc_str_new(c->heap, bytes, len);
        if (v != PTC_NONE)
            (void)ptc_str_hash(v);
        return v;
    }
    PtcValue *seen = &c->columns[column].seen[ptc_str_hash_bytes(bytes, len) % SEEN];
    if (*seen && ptc_str_len(*seen) == len && memcmp(ptc_str_bytes(*seen), bytes, len) == 0)
        return *seen;
    PtcValue v = ptc_str_new(c->heap, bytes, len);
    if (v != PTC_NONE) {
        (void)ptc_str_hash(v);
        *seen = v;
    }
    return v;
}

/* A number too large for a double stays text. */
static PtcValue plain_value(Csv *c, size_t column, const char *bytes, size_t len)
{
    bool whole;
    PtcJsonError error = {0};
    if (c->count == 0)
        return text_value(c, column, bytes, len);
    if (len == 0)
        return PTC_NIL;
    if (!is_number(bytes, bytes + len, &whole))
        return text_value(c, column, bytes, len);
    if (whole && len <= 18 && !(len == 2 && *bytes == '-' && bytes[1] == '0'))
        return small_int(bytes, len);
    PtcValue v = ptc_json_parse(c->heap, bytes, len, &error);
    return v != PTC_NONE || error.stopped ? v : text_value(c, column, bytes, len);
}

/* Ends a line at `at`; false: `at` is at no line end. */
static bool line_end(Csv *c)
{
    if (c->at == c->end)
        return true;
    if (*c->at != '\n' && *c->at != '\r')
        return false;
    c->at += *c->at == '\r' && c->at + 1 < c->end && c->at[1] == '\n' ? 2 : 1;
    c->line++;
    return true;
}

static void count_lines(Csv *c, const char *from, const char *to)
{
    for (const char *p = from; p < to; p++)
        c->line += *p == '\n' || (*p == '\r' && !(p + 1 < to && p[1] == '\n'));
}

/* The field in quotes that begins at `at`, into `unquoted`. */
static bool read_quoted(Csv *c)
{
    size_t begun = c->line;
    ptc_buf_clear(&c->unquoted);
    for (c->at++;;) {
        const char *quote = memchr(c->at, '"', (size_t)(c->end - c->at));
        if (!quote)
            return fail(c, begun, "the quote that opens here is never closed");
        count_lines(c, c->at, quote);
        ptc_buf_add(&c->unquoted, c->at, (size_t)(quote - c->at));
        c->at = quote + 1;
        if (c->at == c->end || *c->at != '"')
            break;
        ptc_buf_add_char(&c->unquoted, '"');
        c->at++;
    }
    if (c->at < c->end && *c->at != ',' && *c->at != '\n' && *c->at != '\r')
        return fail(c, c->line,
                    "after a closing quote comes a comma or the end of the line; a quote inside "
                    "quotes is written \"\"");
    return ptc_buf_ok(&c->unquoted) || stopped(c);
}

/* Where a field without quotes ends. */
static const char *plain_end(const Csv *c)
{
    const char *p = c->at;
    while (p < c->end && *p != ',' && *p != '\n' && *p != '\r')
        p++;
    return p;
}

static bool grow(Csv *c, void *array, size_t item, size_t cap)
{
    void **at = array, *more = ptc_heap_scratch(c->heap, *at, c->cap * item, cap * item);
    if (more)
        *at = more;
    return more != NULL;
}

/* Room for n columns. */
static bool room(Csv *c, size_t n)
{
    if (n <= c->cap)
        return true;
    if (n > PTC_CSV_COLUMNS)
        return fail(c, c->line, "there are more than %d columns", PTC_CSV_COLUMNS);
    size_t cap = c->cap ? c->cap * 2 : 16;
    PtcHeap *h = c->heap;
    Column *columns = ptc_heap_scratch(h, NULL, 0, cap * sizeof *columns);
    PtcValue *keys = columns ? ptc_heap_scratch(h, NULL, 0, cap * sizeof *keys) : NULL;
    if (!keys || !grow(c, &c->fields, 2 * sizeof *c->fields, cap)) {
        ptc_heap_scratch_free(h, columns, cap * sizeof *columns);
        ptc_heap_scratch_free(h, keys, cap * sizeof *keys);
        return stopped(c);
    }
    memset(columns, 0, cap * sizeof *columns);
    if (c->cap) {
        memcpy(columns, c->columns, c->cap * sizeof *columns);
        memcpy(keys, c->keys, c->cap * sizeof *keys);
        ptc_heap_scratch_free(h, c->columns, c->cap * sizeof *columns);
        ptc_heap_scratch_free(h, c->keys, c->cap * sizeof *keys);
    }
    c->columns = columns;
    c->keys = keys;
    c->cap = cap;
    return true;
}

static bool read_field(Csv *c, size_t column, PtcValue *out)
{
    if (!room(c, column + 1) || !ptc_tick(c->heap->budget, 1))
        return c->error->message[0] ? false : stopped(c);
    if (c->at < c->end && *c->at == '"') {
        if (!read_quoted(c))
            return false;
        *out = text_value(c, column, c->unquoted.data ? c->unquoted.data : "", c->unquoted.len);
    } else {
        const char *end = plain_end(c);
        *out = plain_value(c, column, c->at, (size_t)(end - c->at));
        c->at = end;
    }
    return *out != PTC_NONE || stopped(c);
}

/* ----------------------------------------------------------------------------------- lines */

static void release(Csv *c)
{
    ptc_heap_scratch_free(c->heap, c->columns, c->cap * sizeof *c->columns);
    ptc_heap_scratch_free(c->heap, c->keys, c->cap * sizeof *c->keys);
    ptc_heap_scratch_free(c->heap, c->fields, c->cap * 2 * sizeof *c->fields);
    ptc_buf_deinit(&c->unquoted);
}

static void skip_empty_lines(Csv *c)
{
    while (c->at < c->end && (*c->at == '\n' || *c->at == '\r'))
        (void)line_end(c);
}

/* The fields of a line, `stride` apart, the first at fields[offset]; *n of them. */
static bool read_line(Csv *c, size_t stride, size_t offset, size_t *n)
{
    PtcValue field = PTC_NIL;
    for (*n = 0;; c->at++) {
        if (c->count && *n == c->count)
            return fail(c, c->line,
                        "this line has more than %zu fields, the columns that the "
                        "first line names",
                        c->count);
        if (!read_field(c, *n, &field))
            return false;
        c->fields[(*n)++ * stride + offset] = field;
        if (c->at == c->end || *c->at != ',')
            break;
    }
    size_t line = c->line;
    if (c->count && *n != c->count)
        return fail(c, line, "this line has %zu of %zu fields", *n, c->count);
    return line_end(c);
}

/* ------------------------------------------------------------------------------------ rows */

static bool is_taken(Csv *c, size_t n, const char *name, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (ptc_str_len(c->keys[i]) == len && memcmp(ptc_str_bytes(c->keys[i]), name, len) == 0)
            return true;
    return false;
}

/* Makes what the first line says into the name of column i, different from those before. */
static bool name_column(Csv *c, size_t i, PtcValue said)
{
    PtcBuf name;
    ptc_buf_init(&name, c->heap->pool->mem, SIZE_MAX / 4);
    if (ptc_str_len(said) == 0)
        ptc_buf_addf(&name, "column%zu", i + 1);
    else
        ptc_buf_add(&name, ptc_str_bytes(said), ptc_str_len(said));
    size_t len = name.len;
    for (size_t n = 2; ptc_buf_ok(&name) && is_taken(c, i, name.data, name.len); n++) {
        name.len = len;
        ptc_buf_addf(&name, "_%zu", n);
        if (!ptc_tick(c->heap->budget, (int64_t)i + 1))
            break;
    }
    bool ok = ptc_buf_ok(&name) && c->heap->budget->stop == PTC_STOP_NONE;
    PtcValue key = ok ? ptc_str_new(c->heap, name.data, name.len) : PTC_NONE;
    ptc_buf_deinit(&name);
    if (key == PTC_NONE)
        return stopped(c);
    c->keys[i] = key;
    return true;
}

static bool read_names(Csv *c)
{
    uint32_t hashes[SMALL];
    size_t n;
    if (!read_line(c, 2, 0, &n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!name_column(c, i, c->fields[2 * i]))
            return false;
    c->count = n;
    memset(c->columns, 0, c->cap * sizeof *c->columns);
    for (size_t i = 0; i < n && n <= SMALL; i++)
        hashes[i] = ptc_hash(c->heap, c->keys[i]);
    for (size_t i = 0; i < n; i++)
        (void)ptc_str_hash(c->keys[i]);
    if (n > SMALL)
        return true;
    c->shape = ptc_shape_new(c->heap, c->keys, hashes, n);
    return c->shape != PTC_NONE || stopped(c);
}

/* The first wide row is built like any map; the others share its index. */
static PtcValue wide_row(Csv *c)
{
    PtcDictBuild build;
    for (size_t i = 0; i < c->count; i++)
        c->fields[2 * i] = c->keys[i];
    if (c->index) {
        PtcValue entries = ptc_vec_new(c->heap, c->fields, 2 * c->count, 0);
        PtcDict *d = entries == PTC_NONE
                         ? NULL
                         : ptc_heap_object(c->heap, PTC_T_BMAP, sizeof *d, (uint32_t)c->count);
        if (!d)
            return PTC_NONE;
        d->entries = entries;
        d->index = c->index;
        return ptc_from_obj(d);
    }
    if (!ptc_dict_build_init(&build, c->heap, false))
        return PTC_NONE;
    for (size_t i = 0; i < c->count; i++)
        if (!ptc_dict_build_put(&build, c->keys[i], c->fields[2 * i + 1])) {
            ptc_dict_build_cancel(&build);
            return PTC_NONE;
        }
    PtcValue row = ptc_dict_build_done(&build);
    if (row != PTC_NONE)
        c->index = ((const PtcDict *)(uintptr_t)row)->index;
    return row;
}

static bool read_row(Csv *c, PtcValue rows)
{
    size_t n;
    bool wide = c->count > SMALL;
    if (!read_line(c, wide ? 2 : 1, wide ? 1 : 0, &n))
        return false;
    PtcValue row = wide ? wide_row(c) : ptc_smap_new(c->heap, c->shape, c->fields);
    return (row != PTC_NONE && ptc_build_add(c->heap, rows, row)) || stopped(c);
}

static PtcValue read_rows(Csv *c)
{
    PtcValue rows = ptc_build_new(c->heap);
    skip_empty_lines(c);
    if (rows == PTC_NONE) {
        stopped(c);
        return PTC_NONE;
    }
    if (c->at == c->end) {
        fail(c, 0, "there is no line that names the columns");
        return PTC_NONE;
    }
    if (!read_names(c))
        return PTC_NONE;
    for (skip_empty_lines(c); c->at < c->end; skip_empty_lines(c))
        if (!read_row(c, rows))
            return PTC_NONE;
    PtcValue done = ptc_build_done(c->heap, rows, 0);
    if (done == PTC_NONE)
        stopped(c);
    return done;
}

PtcValue ptc_csv_parse(PtcHeap *heap, const char *text, size_t len, PtcCsvError *error)
{
    Csv c = {.heap = heap, .error = error, .at = text, .end = text + len, .line = 1};
    *error = (PtcCsvError){0};
    ptc_buf_init(&c.unquoted, heap->pool->mem, SIZE_MAX / 4);
    size_t valid = ptc_utf8_valid_prefix(text, len);
    if (valid < len) {
        count_lines(&c, text, text + valid);
        fail(&c, c.line, "a byte here is not UTF-8");
        return PTC_NONE;
    }
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        c.at += 3;
    PtcValue rows = read_rows(&c);
    release(&c);
    return rows;
}
