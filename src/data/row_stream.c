/* SPDX-License-Identifier: MIT
 * Rows of large files.  What always holds: no more than one batch of rows is in memory, and a row that is longer than
 * the longest line a command accepts is refused while it is read. */
#include "data/row_stream.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "data/charset.h"
#include "data/file_column.h"
#include "json/check.h"
#include "json/parse.h"
#include "value/coll/vec.h"
#include "value/str.h"

enum { BATCH = 512 * PTC_KB, LINE_MB = 64 };

static bool refuse_rows(PtcRowStream *s, size_t line, const char *format, ...) PTC_PRINTF(3, 4);

static bool refuse_rows(PtcRowStream *s, size_t line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ptc_why_vsay(s->why, PTC_WHY_INVALID, 0, format, args);
    va_end(args);
    return line ? ptc_why_prefix(s->why, "%s: line %zu: ", s->name, line)
                : ptc_why_prefix(s->why, "%s: ", s->name);
}

static void refuse_at(PtcRowStream *s, size_t line, size_t column, const char *message)
{
    refuse_rows(s, 0, "line %zu, column %zu: %s", line, column, message);
}

/* ----------------------------------------------------------------------------- ends of rows */

/* In CSV a quote counts only where a field begins, as for the parser. */
static void scan_csv(PtcRowStream *s)
{
    for (; s->scanned < s->text.len; s->scanned++) {
        char c = s->text.data[s->scanned];
        if (s->quoted) {
            s->quoted = c != '"';
            s->after_quote = c == '"';
        } else if (c == '"' && (s->at_field || s->after_quote)) {
            s->quoted = true;
            s->at_field = s->after_quote = false;
        } else {
            bool end = c == '\n' || c == '\r';
            s->at_field = end || c == s->csv.separator;
            s->after_quote = false;
            if (end)
                s->whole = s->scanned + 1;
        }
    }
}

static void scan_for_rows(PtcRowStream *s)
{
    if (s->form.kind == PTC_DATA_CSV) {
        scan_csv(s);
        return;
    }
    for (size_t i = s->text.len; i > s->scanned; i--)
        if (s->text.data[i - 1] == '\n') {
            s->whole = i;
            break;
        }
    s->scanned = s->text.len;
}

/* --------------------------------------------------------------------------------- reading */

/* Reads until there is enough, or the end. */
static bool read_row_text(PtcRowStream *s, size_t enough)
{
    while (!s->ended && s->text.len < enough) {
        if (!ptc_buf_reserve(&s->text, PTC_DATA_SOURCE_CHUNK))
            return s->text.full ? refuse_rows(s, s->line, "it is longer than %d MiB", LINE_MB)
                                : refuse_rows(s, 0, "out of memory");
        ptrdiff_t n =
            ptc_data_source_read(&s->source, s->text.data + s->text.len, PTC_DATA_SOURCE_CHUNK);
        if (n < 0)
            return refuse_rows(s, 0, "%s", s->source.why.text);
        s->text.len += (size_t)n;
        s->ended = n == 0;
    }
    return true;
}

/* Makes `whole` more than the head, or reaches the end. */
static bool fill_row_stream(PtcRowStream *s)
{
    for (size_t enough = s->head + BATCH;; enough = s->text.len + s->text.len / 2) {
        if (!read_row_text(s, enough))
            return false;
        scan_for_rows(s);
        if (s->ended)
            s->whole = s->text.len;
        if (s->whole > s->head || s->ended)
            return true;
    }
}

static size_t count_line_feeds(const char *text, size_t len)
{
    size_t n = 0;
    for (const char *p = text, *end = text + len; (p = memchr(p, '\n', (size_t)(end - p))); p++)
        n++;
    return n;
}

/* The separator decides where quotes open, so it must be known before rows are looked for: it is the one that occurs
 * most in the first line. */
static void find_stream_separator(PtcRowStream *s)
{
    static const char known[] = {',', ';', '\t'};
    size_t most = 0;
    s->csv = (PtcCsvPart){.separator = s->form.separator,
                          .apart = true,
                          .file = ptc_text_cstr(s->form.file),
                          .bad = s->form.bad ? &s->bad : NULL};
    for (size_t i = 0; i < sizeof known && !s->form.separator; i++) {
        size_t n = 0;
        bool quoted = false;
        for (size_t k = 0; k < s->text.len; k++) {
            char c = s->text.data[k];
            quoted ^= c == '"';
            if (!quoted && (c == '\n' || c == '\r'))
                break;
            n += !quoted && c == known[i];
        }
        if (i == 0 || n > most) {
            most = n;
            s->csv.separator = known[i];
        }
    }
}

/* Keeps the first record in front of every batch. */
static bool find_head(PtcRowStream *s)
{
    size_t begin = 0;
    find_stream_separator(s);
    while (begin < s->text.len && (s->text.data[begin] == '\n' || s->text.data[begin] == '\r'))
        begin++;
    s->at_field = true;
    bool quoted = false;
    for (size_t i = begin;; i++) {
        if (i == s->text.len && s->ended)
            return refuse_rows(s, 0, "there is no line that names the columns");
        if (i == s->text.len && !read_row_text(s, s->text.len + 1))
            return false;
        if (i == s->text.len)
            continue;
        quoted ^= s->text.data[i] == '"';
        if (quoted || s->text.data[i] != '\n')
            continue;
        s->head = s->scanned = s->whole = i + 1;
        s->line = 1 + count_line_feeds(s->text.data, s->head);
        return true;
    }
}

static size_t count_first_fields(const PtcRowStream *s)
{
    size_t n = 1, begin = 0;
    bool quoted = false;
    while (begin < s->text.len && (s->text.data[begin] == '\n' || s->text.data[begin] == '\r'))
        begin++;
    for (size_t i = begin; i < s->text.len; i++) {
        char c = s->text.data[i];
        quoted ^= c == '"';
        if (!quoted && (c == '\n' || c == '\r'))
            break;
        n += !quoted && c == s->csv.separator;
    }
    return n;
}

/* Where no line names the columns, one is put in front that does. */
static bool make_head(PtcRowStream *s)
{
    PtcBuf names;
    find_stream_separator(s);
    ptc_buf_init(&names, s->source.mem, PTC_UNBOUNDED);
    size_t n = count_first_fields(s);
    for (size_t i = 1; i <= n && i <= PTC_CSV_COLUMNS + 1; i++)
        ptc_buf_addf(&names, "column%zu%c", i, i < n ? s->csv.separator : '\n');
    bool ok = ptc_buf_ok(&names) && ptc_buf_reserve(&s->text, names.len);
    if (ok) {
        memmove(s->text.data + names.len, s->text.data, s->text.len);
        memcpy(s->text.data, names.data, names.len);
        s->text.len += names.len;
        s->head = s->scanned = s->whole = names.len;
        s->at_field = true;
    }
    ptc_buf_deinit(&names);
    return ok || refuse_rows(s, 0, "out of memory");
}

static void skip_mark(PtcRowStream *s)
{
    PtcText t = ptc_charset_unmarked(ptc_buf_view(&s->text));
    if (t.len < s->text.len)
        memmove(s->text.data, t.bytes, t.len);
    s->text.len = t.len;
}

/* JSON is JSON Lines if its first line has a whole value. */
static bool guess_kind(PtcRowStream *s)
{
    PtcText text = ptc_buf_view(&s->text);
    if (!ptc_data_guess(s->source.mem, text, s->ended, &s->form))
        return refuse_rows(s, 0, "out of memory");
    if (s->form.kind != PTC_DATA_JSON)
        return true;
    text = ptc_text_trim(text, " \t\r\n");
    const char *lf = memchr(text.bytes, '\n', text.len);
    if (!lf || ptc_json_value_len(text.bytes, (size_t)(lf - text.bytes)))
        s->form.kind = PTC_DATA_JSONL;
    return true;
}

static bool find_stream_kind(PtcRowStream *s, const char *path)
{
    PtcDataForm *form = &s->form;
    if (form->kind == PTC_DATA_TOLD)
        form->kind = ptc_data_kind(path);
    if (s->source.database)
        return refuse_rows(s, 0,
                           "--each does not read databases; without --each its tables are read "
                           "whole, and (map f rows) goes through them");
    if (!read_row_text(s, BATCH))
        return false;
    skip_mark(s);
    if (s->text.len == 0 && strcmp(path, "-") == 0)
        form->kind = PTC_DATA_LINES; /* no rows, whatever they would be */
    if (form->kind == PTC_DATA_TOLD && !guess_kind(s))
        return false;
    if (form->kind == PTC_DATA_JSON)
        return refuse_rows(
            s, 0,
            "--each reads JSON Lines, and --input jsonl says that it is; without --each "
            "JSON is read whole, and (map f rows) goes through it");
    if (form->kind == PTC_DATA_YAML)
        return refuse_rows(s, 0,
                           "--each does not read YAML; without --each it is read whole, and "
                           "(map f rows) goes through it");
    if (form->kind == PTC_DATA_TSV) {
        form->kind = PTC_DATA_CSV;
        form->separator = '\t';
    }
    return form->kind != PTC_DATA_CSV || (form->no_names ? make_head(s) : find_head(s));
}

bool ptc_row_stream_open(PtcRowStream *s, PtcMem *mem, const char *path, const PtcDataForm *given,
                         PtcWhy *why)
{
    *s = (PtcRowStream){.form = *given, .why = why, .line = 1};
    snprintf(s->name, sizeof s->name, "%.200s", strcmp(path, "-") == 0 ? "standard input" : path);
    if (!ptc_data_source_open(&s->source, mem, path))
        return refuse_rows(s, 0, "%s", s->source.why.text);
    ptc_buf_init(&s->text, mem, (size_t)LINE_MB << 20);
    if (find_stream_kind(s, path))
        return true;
    ptc_row_stream_close(s);
    return false;
}

void ptc_row_stream_close(PtcRowStream *s)
{
    ptc_data_source_close(&s->source);
    ptc_buf_deinit(&s->text);
}

/* -------------------------------------------------------------------------------- batches */

static PtcValue refuse_row_memory(PtcRowStream *s)
{
    refuse_rows(s, s->line, "the rows from here on do not fit in memory together");
    return PTC_NONE;
}

static PtcValue parse_csv_batch(PtcRowStream *s, PtcHeap *heap)
{
    PtcCsvError error;
    PtcValue v = ptc_csv_parse(heap, s->text.data, s->whole, &s->csv, &error);
    size_t first = 1 + count_line_feeds(s->text.data, s->head);
    if (v != PTC_NONE)
        return v;
    if (error.stopped)
        return refuse_row_memory(s);
    size_t line = error.line >= first ? s->line + error.line - first : error.line;
    s->broken = error.record >= first ? s->line + error.record - first : s->line;
    if (error.column)
        refuse_at(s, line, error.column, error.message);
    else
        refuse_rows(s, line, "%s", error.message);
    return PTC_NONE;
}

static PtcValue parse_jsonl_batch(PtcRowStream *s, PtcHeap *heap)
{
    PtcJsonError error;
    PtcText text = {s->text.data, s->whole};
    PtcValue v = ptc_json_parse_lines(heap, text, s->form.bad ? &s->bad : NULL, &error);
    if (v != PTC_NONE)
        return v;
    if (error.stopped)
        return refuse_row_memory(s);
    s->broken = s->line + error.line - 1;
    refuse_at(s, s->broken, error.column, error.message);
    return PTC_NONE;
}

static PtcValue parse_line_batch(PtcRowStream *s, PtcHeap *heap)
{
    PtcValue rows = ptc_build_new(heap);
    const char *p = s->text.data, *end = p + s->whole;
    for (size_t number = s->line; rows != PTC_NONE && p < end; number++) {
        const char *lf = memchr(p, '\n', (size_t)(end - p)), *stop = lf ? lf : end;
        size_t len = (size_t)(stop - p);
        len -= len > 0 && p[len - 1] == '\r';
        bool good = ptc_utf8_valid_prefix(p, len) == len;
        if (!good && !s->form.bad) {
            s->broken = number;
            refuse_rows(s, number, "it is not UTF-8");
            return PTC_NONE;
        }
        PtcValue v = good ? ptc_str_new(heap, p, len) : PTC_NIL;
        if (v == PTC_NONE || (good && !ptc_build_add(heap, rows, v)))
            return refuse_row_memory(s);
        if (!good)
            ptc_bad_lines_add(&s->bad, number - s->line + 1, 0, "it is not UTF-8");
        p = stop + (lf != NULL);
    }
    PtcValue done = rows == PTC_NONE ? rows : ptc_build_done(heap, rows, 0);
    return done == PTC_NONE ? refuse_row_memory(s) : done;
}

/* Drops the rows that were handed out. */
static void drop_taken_rows(PtcRowStream *s)
{
    s->line += count_line_feeds(s->text.data + s->head, s->whole - s->head);
    memmove(s->text.data + s->head, s->text.data + s->whole, s->text.len - s->whole);
    s->text.len -= s->whole - s->head;
    s->scanned -= s->whole - s->head;
    s->whole = s->head;
}

/* Adds the rows that were left out of these to those of the file. */
static void tell_bad_rows(PtcRowStream *s)
{
    size_t first = s->head ? 1 + count_line_feeds(s->text.data, s->head) : 1;
    PtcBadLines *all = s->form.bad;
    if (!all || !s->bad.count)
        return;
    size_t count = all->count + s->bad.count;
    ptc_bad_lines_add(all, s->line + s->bad.line - first, s->bad.column, s->bad.why);
    all->count = count;
}

static PtcValue parse_rows(PtcRowStream *s, PtcHeap *heap)
{
    bool csv = s->form.kind == PTC_DATA_CSV, lines = s->form.kind == PTC_DATA_LINES;
    s->bad = (PtcBadLines){0};
    PtcValue rows = csv     ? parse_csv_batch(s, heap)
                    : lines ? parse_line_batch(s, heap)
                            : parse_jsonl_batch(s, heap);
    if (rows != PTC_NONE && s->form.file && !csv &&
        (rows = ptc_file_column_add(heap, rows, s->form.file, lines ? "line" : "value")) ==
            PTC_NONE)
        rows = refuse_row_memory(s);
    return rows;
}

/* Leaves the row that cannot be read out of the whole ones.  False: there is none before it. */
static bool end_before_broken(PtcRowStream *s)
{
    size_t at = s->head;
    for (size_t line = s->line; line < s->broken; line++) {
        const char *lf = memchr(s->text.data + at, '\n', s->whole - at);
        if (!lf)
            return false; /* lines of CSV may end in CR alone */
        at = (size_t)(lf - s->text.data) + 1;
    }
    bool some = at > s->head;
    if (some)
        s->whole = at;
    return some;
}

PtcValue ptc_row_stream_next(PtcRowStream *s, PtcHeap *heap, size_t *line)
{
    s->form.bad_row = s->broken > 0;
    if (s->broken || !fill_row_stream(s))
        return PTC_NONE;
    if (s->whole == s->head)
        return PTC_NIL;
    if (line)
        *line = s->line;
    PtcValue rows = parse_rows(s, heap);
    if (rows == PTC_NONE && s->broken && end_before_broken(s))
        rows = parse_rows(s, heap);
    s->form.bad_row = s->broken > 0;
    if (rows != PTC_NONE) {
        tell_bad_rows(s);
        drop_taken_rows(s);
    }
    return rows;
}
