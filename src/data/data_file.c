/* SPDX-License-Identifier: MIT
 * Files of data.  What always holds: a file takes no more than the ledger of its heap allows, however far it unpacks,
 * and what is wrong with it is said with its line. */
#include "data/data_file.h"

#include <stdarg.h>
#include <stdio.h>

#include "data/charset.h"
#include "data/csv.h"
#include "data/data_source.h"
#include "data/file_column.h"
#include "data/sqlite_tables.h"
#include "json/parse.h"
#include "value/coll/vec.h"
#include "value/str.h"
#include "yaml/yaml_read.h"

static bool is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* Names the file in the reason. */
static PtcValue name_file(const PtcDataFile *f, const char *path)
{
    ptc_why_prefix(f->why, "%.200s: ", is_stdin(path) ? "standard input" : path);
    return PTC_NONE;
}

static PtcValue fail_data_file(const PtcDataFile *f, const char *path, const char *format, ...)
    PTC_PRINTF(3, 4);

static PtcValue fail_data_file(const PtcDataFile *f, const char *path, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ptc_why_vsay(f->why, PTC_WHY_INVALID, 0, format, args);
    va_end(args);
    return name_file(f, path);
}

static PtcValue fail_file_memory(const PtcDataFile *f, const char *path)
{
    size_t limit = f->heap->pool->mem->limit;
    if (limit >= PTC_UNBOUNDED)
        ptc_why_no_memory(f->why);
    else
        ptc_why_say(f->why, PTC_WHY_REFUSED, "it does not fit into the %zu MiB that data may take",
                    limit >> 20);
    return name_file(f, path);
}

/* ------------------------------------------------------------------------------------ kinds */

static bool ends_in_suffix(PtcText name, const char *end)
{
    size_t n = strlen(end);
    return name.len > n && memcmp(name.bytes + name.len - n, end, n) == 0;
}

PtcDataKind ptc_data_kind(const char *path)
{
    static const struct {
        const char *end;
        PtcDataKind kind;
    } kinds[] = {{".json", PTC_DATA_JSON}, {".jsonl", PTC_DATA_JSONL}, {".ndjson", PTC_DATA_JSONL},
                 {".csv", PTC_DATA_CSV},   {".tsv", PTC_DATA_CSV},     {".txt", PTC_DATA_LINES},
                 {".log", PTC_DATA_LINES}, {".yaml", PTC_DATA_YAML},   {".yml", PTC_DATA_YAML}};
    if (is_stdin(path))
        return PTC_DATA_TOLD;
    const char *slash = strrchr(path, '/');
    PtcText name = ptc_text_cstr(slash ? slash + 1 : path);
    if (ends_in_suffix(name, ".gz") || ends_in_suffix(name, ".xz"))
        name.len -= 3;
    else if (ends_in_suffix(name, ".zst"))
        name.len -= 4;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ends_in_suffix(name, kinds[i].end))
            return kinds[i].kind;
    return PTC_DATA_TOLD;
}

/* ------------------------------------------------------------------------------------- JSON */

/* Values behind each other: one is itself, several are a vector. */
static PtcValue parse_values(PtcHeap *heap, PtcText t, PtcJsonError *error)
{
    PtcValue first = PTC_NONE, all = PTC_NONE;
    const char *begin = t.bytes;
    for (size_t used; t.len > 0; t.bytes += used, t.len -= used) {
        PtcValue v = ptc_json_parse_prefix(heap, t.bytes, t.len, &used, error);
        if (v == PTC_NONE) {
            ptc_json_place_error(error, begin, (size_t)(t.bytes - begin) + error->offset);
            return PTC_NONE;
        }
        if (first != PTC_NONE && all == PTC_NONE &&
            ((all = ptc_build_new(heap)) == PTC_NONE || !ptc_build_add(heap, all, first)))
            break;
        if (all != PTC_NONE && !ptc_build_add(heap, all, v))
            break;
        first = first == PTC_NONE ? v : first;
    }
    if (t.len == 0 && first != PTC_NONE)
        first = all == PTC_NONE ? first : ptc_build_done(heap, all, 0);
    else
        first = PTC_NONE;
    error->stopped = first == PTC_NONE;
    return first;
}

static PtcValue fail_json_file(const PtcDataFile *f, const char *path, const PtcJsonError *error)
{
    if (error->stopped)
        return fail_file_memory(f, path);
    return fail_data_file(f, path, "line %u, column %u: %s", (unsigned)error->line,
                          (unsigned)error->column, error->message);
}

static PtcValue parse_json(const PtcDataFile *f, const char *path, PtcText t)
{
    PtcJsonError error = {0};
    t = ptc_charset_unmarked(t);
    PtcValue v =
        t.len == 0 ? ptc_json_parse(f->heap, t.bytes, 0, &error) : parse_values(f->heap, t, &error);
    return v == PTC_NONE ? fail_json_file(f, path, &error) : v;
}

/* The next line of a text, which is shortened by it. */
static PtcText take_text_line(PtcText *t)
{
    const char *lf = memchr(t->bytes, '\n', t->len);
    PtcText line = {t->bytes, lf ? (size_t)(lf - t->bytes) : t->len};
    size_t used = line.len + (lf != NULL);
    t->bytes += used;
    t->len -= used;
    return line;
}

static PtcValue parse_jsonl_file(const PtcDataFile *f, const char *path, PtcText t,
                                 PtcDataForm *form)
{
    PtcJsonError error;
    PtcValue v = ptc_json_parse_lines(f->heap, ptc_charset_unmarked(t), form->bad, &error);
    form->bad_row = v == PTC_NONE && !error.stopped;
    return v == PTC_NONE ? fail_json_file(f, path, &error) : v;
}

/* ------------------------------------------------------------------------------------- YAML */

static PtcValue parse_yaml_file(const PtcDataFile *f, const char *path, PtcText t)
{
    PtcYamlError error;
    PtcValue v = ptc_yaml_read_data(f->heap, ptc_charset_unmarked(t), &error);
    if (v != PTC_NONE)
        return v;
    if (!error.message[0])
        return fail_file_memory(f, path);
    return error.line ? fail_data_file(f, path, "line %zu: %s", error.line, error.message)
                      : fail_data_file(f, path, "%s", error.message);
}

/* ------------------------------------------------------------------------------------- text */

static PtcValue parse_csv_file(const PtcDataFile *f, const char *path, PtcText t, PtcDataForm *form)
{
    PtcCsvError error;
    bool tabs = form->kind == PTC_DATA_TSV;
    PtcCsvPart all = {.separator = tabs ? '\t' : form->separator,
                      .no_names = form->no_names,
                      .file = ptc_text_cstr(form->file),
                      .bad = form->bad};
    PtcValue v = ptc_csv_parse(f->heap, t.bytes, t.len, &all, &error);
    form->separator = all.separator;
    if (v != PTC_NONE)
        return v;
    if (error.stopped)
        return fail_file_memory(f, path);
    form->bad_row = error.record > 0;
    if (error.column)
        return fail_data_file(f, path, "line %zu, column %zu: %s", error.line, error.column,
                              error.message);
    return error.line ? fail_data_file(f, path, "line %zu: %s", error.line, error.message)
                      : fail_data_file(f, path, "%s", error.message);
}

static PtcValue split_lines(PtcHeap *heap, PtcText t)
{
    PtcValue rows = ptc_build_new(heap);
    while (rows != PTC_NONE && t.len > 0) {
        PtcText line = take_text_line(&t);
        line.len -= line.len > 0 && line.bytes[line.len - 1] == '\r';
        PtcValue v = ptc_str_new(heap, line.bytes, line.len);
        if (v == PTC_NONE || !ptc_build_add(heap, rows, v))
            return PTC_NONE;
    }
    return rows == PTC_NONE ? rows : ptc_build_done(heap, rows, 0);
}

static PtcValue parse_lines_file(const PtcDataFile *f, const char *path, PtcText t)
{
    PtcBuf converted;
    PtcCharsetError wrong;
    PtcText text;
    PtcValue v = PTC_NONE;
    ptc_buf_init(&converted, f->heap->pool->mem, PTC_UNBOUNDED);
    bool ok = ptc_charset_decode(t.bytes, t.len, &converted, &text, &wrong);
    if (ok)
        v = split_lines(f->heap, text);
    ptc_buf_deinit(&converted);
    if (!ok && !wrong.stopped)
        return fail_data_file(f, path, "byte %zu: %s", wrong.at + 1, wrong.what);
    return v == PTC_NONE ? fail_file_memory(f, path) : v;
}

/* ------------------------------------------------------------------------------------- file */

static PtcValue read_database(const PtcDataFile *f, const char *path, PtcDataForm *form)
{
    PtcDataForm read = {.kind = PTC_DATA_SQLITE, .file = form->file};
    *form = read;
    if (is_stdin(path))
        return fail_data_file(f, path, "it is an SQLite database, which is read from a file");
    PtcValue v = ptc_sqlite_tables_read(f->heap, path, f->why);
    if (v == PTC_NONE && f->why->class == PTC_WHY_NO_MEMORY)
        return fail_file_memory(f, path);
    return v == PTC_NONE ? name_file(f, path) : v;
}

static PtcValue parse_file_text(const PtcDataFile *f, const char *path, PtcText t,
                                PtcDataForm *form)
{
    if (ptc_sqlite_tables_begin(t.bytes, t.len))
        return fail_data_file(f, path, "it is a packed SQLite database: unpack it first");
    if (form->kind == PTC_DATA_TOLD && !ptc_data_guess(f->heap->pool->mem, t, true, form))
        return fail_file_memory(f, path);
    if (t.len == 0 && is_stdin(path))
        return parse_lines_file(f, path, t); /* no rows, whatever they would be */
    switch (form->kind) {
    case PTC_DATA_JSON: return parse_json(f, path, t);
    case PTC_DATA_JSONL: return parse_jsonl_file(f, path, t, form);
    case PTC_DATA_CSV:
    case PTC_DATA_TSV: return parse_csv_file(f, path, t, form);
    case PTC_DATA_YAML: return parse_yaml_file(f, path, t);
    default: return parse_lines_file(f, path, t);
    }
}

PtcValue ptc_data_file_read(const PtcDataFile *f, const char *path)
{
    PtcDataSource source;
    PtcBuf text;
    PtcMem *mem = f->heap->pool->mem;
    PtcDataForm own = {0}, *form = f->form ? f->form : &own;
    if (form->kind == PTC_DATA_TOLD)
        form->kind = ptc_data_kind(path);
    if (!ptc_data_source_open(&source, mem, path)) {
        *form = (PtcDataForm){0}; /* what it is called is not what is wrong */
        return fail_data_file(f, path, "%s", source.why.text);
    }
    ptc_buf_init(&text, mem, mem->limit);
    bool ok = source.database || ptc_data_source_all(&source, &text);
    PtcValue v = !ok               ? PTC_NONE
                 : source.database ? read_database(f, path, form)
                                   : parse_file_text(f, path, ptc_buf_view(&text), form);
    bool csv = form->kind == PTC_DATA_CSV || form->kind == PTC_DATA_TSV;
    if (v != PTC_NONE && form->file && !csv &&
        (v = ptc_file_column_add(f->heap, v, form->file,
                                 form->kind == PTC_DATA_LINES ? "line" : "value")) == PTC_NONE)
        fail_file_memory(f, path);
    if (!ok && text.failed)
        fail_file_memory(f, path);
    else if (!ok)
        fail_data_file(f, path, "%s", source.why.text);
    ptc_buf_deinit(&text);
    ptc_data_source_close(&source);
    return v;
}
