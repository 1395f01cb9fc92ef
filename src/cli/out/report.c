/* SPDX-License-Identifier: MIT
 * Findings for a person.  What always holds: a report quotes at most one line of source, shortened around the place,
 * with control characters replaced. */
#include "cli/out/report.h"

#include "cli/io.h"
#include "cli/out/shown.h"

enum { REPORT_BEFORE = 100, AFTER = 60 }; /* characters shown on either side of the place */

/* Part of one source line, and the place in it. */
typedef struct {
    const char *from, *to; /* what is shown */
    const char *at;        /* the place, from <= at <= to */
    bool cut_before, cut_after;
} Excerpt;

static bool is_first_byte(char c)
{
    return ((unsigned char)c & 0xC0) != 0x80;
}

/* Moves p by n characters, not beyond end. */
static const char *forward(const char *p, const char *end, size_t n)
{
    while (p < end && n-- > 0) {
        p++;
        while (p < end && !is_first_byte(*p))
            p++;
    }
    return p;
}

static const char *backward(const char *p, const char *start, size_t n)
{
    while (p > start && n-- > 0) {
        p--;
        while (p > start && !is_first_byte(*p))
            p--;
    }
    return p;
}

/* Finds line and column (from 1); a place past the end counts as the end. */
static Excerpt find_excerpt(const char *program, size_t len, uint32_t line, uint32_t column)
{
    const char *start = program, *end = program + len;
    for (uint32_t n = 1; n < line; n++) {
        const char *lf = memchr(start, '\n', (size_t)(end - start));
        if (!lf)
            break;
        start = lf + 1;
    }
    const char *lf = start < end ? memchr(start, '\n', (size_t)(end - start)) : NULL;
    if (lf)
        end = lf;
    Excerpt e = {.at = forward(start, end, column > 0 ? column - 1 : 0)};
    e.from = backward(e.at, start, REPORT_BEFORE);
    e.to = forward(e.at, end, AFTER);
    e.cut_before = e.from > start;
    e.cut_after = e.to < end;
    return e;
}

/* The source line; control characters would upset a terminal. */
static void add_excerpt_source(PtcBuf *out, const Excerpt *e)
{
    ptc_buf_add_cstr(out, e->cut_before ? "  ..." : "  ");
    for (const char *p = e->from; p < e->to; p++)
        ptc_buf_add_char(out, ((unsigned char)*p < 0x20 && *p != '\t') || *p == 0x7F ? ' ' : *p);
    ptc_buf_add_cstr(out, e->cut_after ? "...\n" : "\n");
}

/* The line below it, with a caret under the place. */
static void add_caret(PtcBuf *out, const Excerpt *e)
{
    ptc_buf_add_cstr(out, e->cut_before ? "     " : "  ");
    for (const char *p = e->from; p < e->at; p++)
        if (is_first_byte(*p))
            ptc_buf_add_char(out, *p == '\t' ? '\t' : ' ');
    ptc_buf_add_cstr(out, "^\n");
}

static void add_error_form(PtcBuf *out, const PtcError *error)
{
    Excerpt e = {.from = error->form, .to = error->form + error->form_len};
    if (error->form_len > 0)
        add_excerpt_source(out, &e);
}

/* Whoever reads a report chose the limits on the command line, and can change them there. */
static const char *option_of(const char *kind)
{
    static const char *const options[][2] = {{"timeout", "--timeout-ms"},
                                             {"memory_exceeded", "--memory-mb"},
                                             {"loop_limit_exceeded", "--loop-limit"},
                                             {"tool_call_limit_exceeded", "--max-tool-calls"}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(kind, options[i][0]) == 0)
            return options[i][1];
    return NULL;
}

static void add_hint(PtcBuf *out, const PtcError *error)
{
    const char *option = option_of(error->kind);
    if (error->hint_len == 0)
        return;
    ptc_buf_add_cstr(out, "hint: ");
    ptc_buf_add(out, error->hint, error->hint_len);
    if (option)
        ptc_buf_addf(out, "; %s N sets another limit", option);
    ptc_buf_add_char(out, '\n');
}

static void add_report_finding(PtcBuf *out, const char *what, const PtcError *error,
                               const PtcReported *about)
{
    const char *name = about->name;
    bool written = error->line > about->lines_before; /* by the user */
    ptc_buf_addf(out, "%s: ", what);
    ptc_buf_add(out, error->message, error->message_len);
    ptc_buf_add_char(out, '\n');
    if (error->line > 0 && error->earlier) {
        /* its text is not available, except for the form */
        ptc_buf_addf(out, " --> an earlier program, line %u, column %u\n", (unsigned)error->line,
                     (unsigned)error->column);
        add_error_form(out, error);
    } else if (error->line > 0) {
        ptc_buf_addf(out, " --> %s%sline %u, column %u\n", name ? name : "", name ? ", " : "",
                     (unsigned)(written ? error->line - about->lines_before : error->line),
                     (unsigned)error->column);
        Excerpt e =
            find_excerpt(about->program.bytes, about->program.len, error->line, error->column);
        add_excerpt_source(out, &e);
        add_caret(out, &e);
    } else if (name) {
        ptc_buf_addf(out, " --> %s\n", name);
    }
    add_hint(out, error);
}

static void report_findings(PtcBuf *out, const PtcOutcome *outcome, const PtcReported *about)
{
    PtcError error = {.size = sizeof error};
    for (size_t i = 0; ptc_outcome_error(outcome, i, &error); i++) {
        if (i > 0)
            ptc_buf_add_char(out, '\n');
        add_report_finding(out, "error", &error, about);
    }
}

/* The same for warnings. */
static void report_warnings(PtcBuf *out, const PtcOutcome *outcome, const PtcReported *about)
{
    PtcWarning w = {.size = sizeof w};
    for (size_t i = 0; ptc_outcome_warning(outcome, i, &w); i++) {
        PtcError error = {.kind = w.kind,
                          .message = w.message,
                          .message_len = w.message_len,
                          .hint = w.hint,
                          .hint_len = w.hint_len,
                          .line = w.line,
                          .column = w.column,
                          .earlier = w.earlier};
        add_report_finding(out, "warning", &error, about);
    }
}

/* ------------------------------------------------------------------------------ standard error */

static void add_printed_lines(PtcBuf *out, const PtcOutcome *outcome)
{
    size_t len;
    for (size_t i = 0; i < ptc_outcome_print_count(outcome); i++) {
        const char *line = ptc_outcome_print(outcome, i, &len);
        ptc_buf_add(out, line, len);
        ptc_buf_add_char(out, '\n');
    }
    if (ptc_outcome_prints_cut(outcome))
        ptc_buf_add_cstr(out, "note: printed output was cut at its limit\n");
}

/* Moves a part of a report to the whole, made safe for a terminal and painted there. */
static void move_report_part(PtcBuf *out, PtcBuf *part, const char *colour)
{
    out->failed = out->failed || !ptc_buf_ok(part);
    if (part->len == 0)
        return;
    bool paint = colour && ptc_shown_colour(PTC_IO_STDERR);
    if (paint)
        ptc_buf_add_cstr(out, colour);
    if (ptc_shown_on(PTC_IO_STDERR))
        ptc_shown_add(out, part->data, part->len);
    else
        ptc_buf_add(out, part->data, part->len);
    if (paint)
        ptc_buf_add_cstr(out, "\033[0m");
    ptc_buf_clear(part);
}

bool ptc_report_remarks(PtcMem *mem, const PtcOutcome *outcome, const PtcReported *about,
                        unsigned which)
{
    PtcBuf out, part;
    ptc_buf_init(&out, mem, PTC_UNBOUNDED);
    ptc_buf_init(&part, mem, PTC_IO_MAX);
    if (which & PTC_REMARK_PRINTS)
        add_printed_lines(&part, outcome);
    move_report_part(&out, &part, NULL);
    if (which & PTC_REMARK_WARNINGS)
        report_warnings(&part, outcome, about);
    move_report_part(&out, &part, "\033[33m");
    if (which & PTC_REMARK_ERRORS)
        report_findings(&part, outcome, about);
    move_report_part(&out, &part, "\033[31m");
    bool ok = ptc_io_write(PTC_IO_STDERR, out.data, out.len) && ptc_buf_ok(&out);
    ptc_buf_deinit(&part);
    ptc_buf_deinit(&out);
    return ok;
}
