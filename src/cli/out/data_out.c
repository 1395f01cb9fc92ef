/* SPDX-License-Identifier: MIT
 * Results on standard output.  What always holds: what was cut, or could not be written, ends with a status other than
 * 0 and a line on standard error that says why and where. */
#include "cli/out/data_out.h"

#include <errno.h>

#include "cli/cmd/cmd.h"
#include "cli/io.h"
#include "cli/out/rows_out.h"
#include "cli/out/shown.h"
#include "engine/engine.h"
#include "lisp/vm/record.h"
#include "tool/convert.h"
#include "value/coll/iter.h"
#include "value/str.h"
#include "yaml/yaml_write.h"

enum { LINE_COLUMNS = 80, INDENT = 2 };

#define LESS "hint: give less of it, with take, select-keys or a sum; --result-mb N allows more\n"

int ptc_data_out_line(const char *text, size_t len)
{
    return ptc_shown_result("eval", text, len) ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}

/* The status after something was written. */
static int status_of_writing(bool ok)
{
    if (!ok && errno != EPIPE)
        ptc_io_printf(PTC_IO_STDERR, "ptc eval: standard output cannot be written: %s\n",
                      strerror(errno));
    return ok ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}

static int refuse_large_result(void)
{
    ptc_io_printf(PTC_IO_STDERR, "error: the result does not fit in memory\n");
    return PTC_EXIT_FAILED;
}

/* ------------------------------------------------------------------------------------- JSON */

static int no_json(PtcOutcome *o)
{
    bool too_long = false;
    const char *why = ptc_outcome_json_problem(o, NULL, &too_long);
    if (!why)
        return refuse_large_result();
    bool function = ptc_is_function(o->value);
    if (too_long)
        ptc_io_printf(PTC_IO_STDERR, "error: the result is too long: %s\n" LESS, why);
    else
        ptc_io_printf(PTC_IO_STDERR, "error: the result cannot be JSON: %s\nhint: %s\n", why,
                      function ? "is an argument missing? (take 2) is a function, "
                                 "(take 2 rows) its result"
                               : "--format text shows it");
    return PTC_EXIT_FAILED;
}

static int write_json_result(PtcOutcome *o)
{
    size_t len;
    const char *json = ptc_outcome_json(o, &len);
    return json ? ptc_data_out_line(json, len) : no_json(o);
}

static bool add_result_line(const PtcDataOut *how, PtcOutcome *o, PtcBuf *out, PtcValue v,
                            PtcJsonError *error)
{
    PtcText text = ptc_str_text(v);
    bool raw = how->raw && text.bytes;
    bool ok = raw ? ptc_buf_add(out, text.bytes, text.len)
                  : ptc_to_json_value(&o->heap, out, v, o->ptc->float_precision, error);
    return ok && ptc_buf_add_char(out, '\n');
}

static int refuse_result_line(const PtcBuf *out, size_t index, const PtcJsonError *error)
{
    bool root = strcmp(error->path, "<root>") == 0;
    if (out->full)
        ptc_io_printf(PTC_IO_STDERR, "error: the result is too long: more than %zu bytes\n" LESS,
                      out->max);
    else if (error->what[0])
        ptc_io_printf(
            PTC_IO_STDERR,
            "error: the result cannot be JSON: %s at [%zu]%s%s\nhint: --format text shows "
            "it\n",
            error->what, index, root || error->path[0] == '[' ? "" : ".", root ? "" : error->path);
    else
        return refuse_large_result();
    return PTC_EXIT_FAILED;
}

/* One line for each element; anything but a list is one line. */
static int write_jsonl(const PtcDataOut *how, PtcOutcome *o)
{
    PtcBuf out;
    PtcIter it;
    PtcJsonError error = {0};
    PtcValue v;
    size_t index = 0;
    if (!(ptc_is_sequential(o->value) || ptc_is_set(o->value)))
        return write_json_result(o);
    if (!ptc_iter_init(&it, &o->heap, o->value))
        return refuse_large_result();
    ptc_outcome_refresh(o);
    ptc_buf_init(&out, &o->ptc->mem, (size_t)o->limits.result_bytes);
    bool ok = true;
    while (ok && ptc_iter_next(&it, &v)) {
        ok = add_result_line(how, o, &out, v, &error);
        index += ok;
    }
    int status = ok && ptc_buf_ok(&out) ? PTC_EXIT_OK : refuse_result_line(&out, index, &error);
    if (status == PTC_EXIT_OK)
        status = status_of_writing(ptc_shown_write(PTC_IO_STDOUT, out.data, out.len));
    ptc_buf_deinit(&out);
    return status;
}

/* ----------------------------------------------------------------------------------- pretty */

/* JSON that is being written again, over several lines. */
typedef struct {
    PtcBuf *out;
    const char *at, *end;
    bool colour, shown;
    size_t depth, column;
    bool flat[PTC_JSON_MAX_DEPTH + 1]; /* by depth: is it on one line? */
} Pretty;

static void paint_pretty(Pretty *p, const char *code)
{
    if (p->colour)
        ptc_buf_add_cstr(p->out, code);
}

static void put_pretty_text(Pretty *p, const char *text, size_t len)
{
    if (p->shown)
        ptc_shown_add(p->out, text, len);
    else
        ptc_buf_add(p->out, text, len);
    p->column += len;
}

/* The end of the string, number or word at `at`. */
static const char *json_scalar_end(const Pretty *p)
{
    const char *q = p->at;
    if (*q == '"') {
        for (q++; q < p->end && *q != '"'; q++)
            q += *q == '\\' && q + 1 < p->end;
        return q < p->end ? q + 1 : q;
    }
    while (q < p->end && !memchr(",:]}", *q, 4))
        q++;
    return q;
}

static const char *colour_of(const char *text, const char *next, const char *end)
{
    bool key = text[0] == '"' && next < end && *next == ':';
    return key                                ? "\033[34m"
           : text[0] == '"'                   ? "\033[32m"
           : text[0] == 'n'                   ? "\033[90m"
           : text[0] == 't' || text[0] == 'f' ? "\033[33m"
                                              : "\033[36m";
}

/* Does the container at `at` end on this line?  Looks no further than a line is long. */
static bool fits_on_line(const Pretty *p)
{
    size_t depth = 0, room = p->column < LINE_COLUMNS ? LINE_COLUMNS - p->column : 0;
    bool quoted = false;
    for (const char *q = p->at; q < p->end && room > 0; q++, room--) {
        if (quoted && *q == '\\')
            q++;
        else if (*q == '"')
            quoted = !quoted;
        else if (!quoted && (*q == '[' || *q == '{'))
            depth++;
        else if (!quoted && (*q == ']' || *q == '}') && --depth == 0)
            return true;
        else if (!quoted && (*q == ',' || *q == ':'))
            room -= room > 1; /* the blank behind it */
    }
    return false;
}

static void begin_pretty_line(Pretty *p)
{
    ptc_buf_add_char(p->out, '\n');
    for (size_t i = 0; i < p->depth * INDENT; i++)
        ptc_buf_add_char(p->out, ' ');
    p->column = p->depth * INDENT;
}

static void open_pretty_container(Pretty *p)
{
    bool empty = p->at + 1 < p->end && (p->at[1] == ']' || p->at[1] == '}');
    bool flat = p->flat[p->depth] || empty || fits_on_line(p);
    put_pretty_text(p, p->at, 1);
    p->at++;
    if (p->depth < PTC_JSON_MAX_DEPTH)
        p->depth++;
    p->flat[p->depth] = flat;
    if (!flat)
        begin_pretty_line(p);
}

static void close_pretty_container(Pretty *p)
{
    bool flat = p->flat[p->depth];
    if (p->depth > 0)
        p->depth--;
    if (!flat)
        begin_pretty_line(p);
    put_pretty_text(p, p->at++, 1);
}

/* The next sign of the text. */
static void print_next_sign(Pretty *p)
{
    switch (*p->at) {
    case '[':
    case '{': open_pretty_container(p); break;
    case ']':
    case '}': close_pretty_container(p); break;
    case ':':
        put_pretty_text(p, ": ", 2);
        p->at++;
        break;
    case ',':
        put_pretty_text(p, ", ", p->flat[p->depth] ? 2 : 1);
        p->at++;
        if (!p->flat[p->depth])
            begin_pretty_line(p);
        break;
    default: {
        const char *next = json_scalar_end(p);
        paint_pretty(p, colour_of(p->at, next, p->end));
        put_pretty_text(p, p->at, (size_t)(next - p->at));
        paint_pretty(p, "\033[0m");
        p->at = next;
    }
    }
}

static int write_pretty(const PtcDataOut *how, PtcOutcome *o)
{
    size_t len;
    PtcBuf out;
    const char *json = ptc_outcome_json(o, &len);
    if (!json)
        return no_json(o);
    ptc_buf_init(&out, &o->ptc->mem, PTC_UNBOUNDED);
    Pretty p = {.out = &out,
                .at = json,
                .end = json + len,
                .colour = how->colour,
                .shown = ptc_shown_on(PTC_IO_STDOUT)};
    while (p.at < p.end)
        print_next_sign(&p);
    ptc_buf_add_char(&out, '\n');
    int status = ptc_buf_ok(&out)
                     ? status_of_writing(ptc_io_write(PTC_IO_STDOUT, out.data, out.len))
                     : refuse_large_result();
    ptc_buf_deinit(&out);
    return status;
}

/* ------------------------------------------------------------------------------------- YAML */

static int write_yaml(PtcOutcome *o)
{
    size_t len;
    PtcBuf out;
    const char *json = ptc_outcome_json(o, &len);
    if (!json)
        return no_json(o);
    ptc_buf_init(&out, &o->ptc->mem, PTC_UNBOUNDED);
    int status = ptc_yaml_write(&out, (PtcText){json, len}, PTC_JSON_MAX_DEPTH)
                     ? status_of_writing(ptc_shown_write(PTC_IO_STDOUT, out.data, out.len))
                     : refuse_large_result();
    ptc_buf_deinit(&out);
    return status;
}

/* ------------------------------------------------------------------------------------- text */

/* A result that was cut is shown as far as it goes, but does not count as the result. */
static int write_text_result(PtcOutcome *o)
{
    size_t len;
    bool cut = false;
    const char *text = ptc_outcome_text(o, &len, &cut);
    if (!text)
        return refuse_large_result();
    int status = ptc_data_out_line(text, len);
    if (!cut)
        return status;
    ptc_io_printf(PTC_IO_STDERR, "error: the result is cut after %zu bytes\n" LESS, len);
    return PTC_EXIT_FAILED;
}

static char separator_out(const PtcDataOut *how)
{
    return how->format == PTC_FORMAT_TSV ? '\t' : how->separator ? how->separator : ',';
}

/* As many as fit with their names and what stands below, but not too few to be of use. */
static size_t rows_on_screen(void)
{
    enum { LEAST_ROWS = 20, BESIDE_ROWS = 5 };
    size_t lines = ptc_shown_lines();
    return lines > LEAST_ROWS + BESIDE_ROWS ? lines - BESIDE_ROWS : LEAST_ROWS;
}

static int write_rows(const PtcDataOut *how, PtcOutcome *o)
{
    PtcBuf out;
    PtcWhy why;
    bool table = how->format == PTC_FORMAT_TABLE;
    char separator = separator_out(how);
    ptc_outcome_refresh(o);
    ptc_buf_init(&out, &o->ptc->mem, (size_t)o->limits.result_bytes);
    ptc_why_say(&why, PTC_WHY_NO_MEMORY, "the result does not fit in memory");
    bool ok = table ? ptc_rows_out_table(o, o->value, how->brief ? rows_on_screen() : 0, &out,
                                         how->colour, &why)
              : how->format == PTC_FORMAT_MARKDOWN ? ptc_rows_out_markdown(o, &out, &why)
                                                   : ptc_rows_out_csv(o, separator, &out, &why);
    int status = PTC_EXIT_FAILED;
    if (ok)
        status = status_of_writing(table ? ptc_io_write(PTC_IO_STDOUT, out.data, out.len)
                                         : ptc_shown_write(PTC_IO_STDOUT, out.data, out.len));
    else if (out.full)
        ptc_io_printf(PTC_IO_STDERR, "error: the result is too long: more than %zu bytes\n" LESS,
                      out.max);
    else
        ptc_io_printf(PTC_IO_STDERR, "error: %s\n", why.text);
    ptc_buf_deinit(&out);
    return status;
}

int ptc_data_out_more(const PtcDataOut *how, PtcRowsOut **table, PtcOutcome *o)
{
    PtcBuf out;
    PtcWhy why;
    ptc_outcome_refresh(o);
    ptc_buf_init(&out, &o->ptc->mem, PTC_UNBOUNDED);
    ptc_why_say(&why, PTC_WHY_NO_MEMORY, "the results do not fit in memory");
    int status = PTC_EXIT_FAILED;
    if (ptc_rows_out_more(table, o, separator_out(how), &out, &why))
        status = status_of_writing(ptc_shown_write(PTC_IO_STDOUT, out.data, out.len));
    else
        ptc_io_printf(PTC_IO_STDERR, "error: %s\n", why.text);
    ptc_buf_deinit(&out);
    return status;
}

PtcFormat ptc_data_out_usual(PtcOutcome *o)
{
    if (!ptc_shown_on(PTC_IO_STDOUT))
        return PTC_FORMAT_JSON;
    if (ptc_rows_out_fits(o->value))
        return PTC_FORMAT_TABLE;
    return ptc_outcome_show_json(o) ? PTC_FORMAT_PRETTY : PTC_FORMAT_TEXT;
}

int ptc_data_out_write(const PtcDataOut *how, PtcOutcome *o)
{
    PtcText text = how->raw ? ptc_str_text(o->value) : (PtcText){NULL, 0};
    if (text.bytes)
        return ptc_data_out_line(text.bytes, text.len);
    switch (how->format) {
    case PTC_FORMAT_JSON: return write_json_result(o);
    case PTC_FORMAT_JSONL: return write_jsonl(how, o);
    case PTC_FORMAT_YAML: return write_yaml(o);
    case PTC_FORMAT_PRETTY: return write_pretty(how, o);
    case PTC_FORMAT_CSV:
    case PTC_FORMAT_TSV:
    case PTC_FORMAT_MARKDOWN:
    case PTC_FORMAT_TABLE: return write_rows(how, o);
    default: return write_text_result(o);
    }
}
