/* SPDX-License-Identifier: MIT
 * Describes functions and forms from their rows, so that `ptc doc`, the REPL and docs/functions.md always agree. */
#include "cli/out/show.h"

#include <stdio.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "cli/out/shown.h"
#include "lisp/analyze/suggest.h"
#include "lisp/lib/builtin_doc.h"

enum { HINT_BYTES = 200 };

/* ------------------------------------------------------------------ one name */

static const char *paint_code(bool colour, const char *code)
{
    return colour ? code : "";
}

static void add_examples(PtcBuf *out, const char *examples, const char *indent)
{
    const char *p = examples ? examples : "";
    while (*p) {
        size_t n = strcspn(p, "\n");
        ptc_buf_add_cstr(out, indent);
        ptc_buf_add(out, p, n);
        ptc_buf_add_char(out, '\n');
        p += n + (p[n] == '\n');
    }
}

/* Text in lines of at most `width` bytes, broken at spaces. */
static void add_wrapped_text(PtcBuf *out, const char *text, size_t width, const char *indent)
{
    while (*text) {
        size_t n = strlen(text);
        if (n > width) {
            for (n = width; n > 0 && text[n] != ' '; n--)
                ;
            if (n == 0)
                n = strcspn(text, " ");
        }
        ptc_buf_add_cstr(out, indent);
        ptc_buf_add(out, text, n);
        ptc_buf_add_char(out, '\n');
        text += n + (text[n] == ' ');
    }
}

static void add_shown_row(PtcBuf *out, uint32_t index, bool colour)
{
    const PtcBuiltin *row = ptc_builtin_row(index);
    char ref[PTC_ROW_NAME];
    ptc_row_ref(index, ref);
    ptc_buf_addf(out, "%s%s%s  (%s, %s)\n", paint_code(colour, "\033[1m"), ref,
                 paint_code(colour, "\033[0m"), ptc_row_namespace(row),
                 row->flags & PTC_B_FORM ? "special form" : "function");
    ptc_buf_addf(out, "  %s\n\n", row->usage);
    add_wrapped_text(out, row->doc, 90, "  ");
    if (row->examples && *row->examples)
        ptc_buf_add_cstr(out, "\n  Examples:\n");
    add_examples(out, row->examples, "    ");
}

/* What a search finds for a name that does not exist. */
static void add_unknown(PtcBuf *out, const char *name, size_t len)
{
    PtcRows rows;
    char ref[PTC_ROW_NAME];
    char hint[HINT_BYTES];
    ptc_buf_add_cstr(out, "nothing is named ");
    ptc_shown_add(out, name, ptc_utf8_valid_prefix(name, len < 60 ? len : 60));
    ptc_buf_add_char(out, '\n');
    if (ptc_suggest_hint(hint, sizeof hint, name, len))
        ptc_buf_addf(out, "hint: %s\n", hint);
    ptc_rows_apropos(&rows, name, len, NULL);
    for (size_t i = 0; i < rows.count && i < 8; i++) {
        ptc_row_ref(rows.at[i], ref);
        ptc_buf_addf(out, "%s%s", i ? ", " : "see: ", ref);
    }
    if (rows.count)
        ptc_buf_add_char(out, '\n');
}

/* A namespace: its names, one line each. */
static void add_namespace(PtcBuf *out, const char *ns)
{
    PtcRows rows;
    ptc_rows_in(&rows, ns);
    ptc_buf_addf(out, "%s\n", ns);
    for (size_t i = 0; i < rows.count; i++) {
        const PtcBuiltin *row = ptc_builtin_row(rows.at[i]);
        ptc_buf_addf(out, "  %-24s %.90s%s\n", row->name, row->doc,
                     strlen(row->doc) > 90 ? "..." : "");
    }
}

bool ptc_show_name(PtcBuf *out, const char *name, size_t len, bool colour)
{
    PtcRows rows;
    ptc_rows_named(&rows, name, len);
    ptc_rows_namesakes(&rows, name, len);
    for (size_t i = 0; i < rows.count; i++) {
        if (i > 0)
            ptc_buf_add_char(out, '\n');
        add_shown_row(out, rows.at[i], colour);
    }
    if (rows.count > 0)
        return true;
    const char *ns = ptc_rows_namespace(name, len);
    if (ns)
        add_namespace(out, ns);
    else
        add_unknown(out, name, len);
    return ns != NULL;
}

/* ----------------------------------------------------------------- reference */

/* Escapes characters that Markdown would interpret in a table or heading. */
static void add_markdown_escaped(PtcBuf *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("*<>_", *text))
            ptc_buf_add_char(out, '\\');
        ptc_buf_add_char(out, *text);
    }
}

static void add_reference_entry(PtcBuf *out, uint32_t index)
{
    const PtcBuiltin *row = ptc_builtin_row(index);
    char ref[PTC_ROW_NAME];
    ptc_row_ref(index, ref);
    ptc_buf_addf(out, "\n### `%s`\n\n`%s`\n\n", ref, row->usage);
    add_markdown_escaped(out, row->doc);
    ptc_buf_add_cstr(out, "\n\n```clojure\n");
    add_examples(out, row->examples, "");
    ptc_buf_add_cstr(out, "```\n");
}

static bool is_form(uint32_t index)
{
    return (ptc_builtin_row(index)->flags & PTC_B_FORM) != 0;
}

/* The functions of a namespace, or its forms. */
static void add_reference_part(PtcBuf *out, const char *ns, const char *title, bool forms)
{
    PtcRows rows;
    ptc_rows_in(&rows, ns);
    bool any = false;
    for (size_t i = 0; i < rows.count; i++) {
        if (is_form(rows.at[i]) != forms)
            continue;
        if (!any)
            ptc_buf_addf(out, "\n## %s\n", title);
        any = true;
        add_reference_entry(out, rows.at[i]);
    }
}

/* A paragraph of the index: the title as a link, and the names. */
static void add_index_names(PtcBuf *out, const char *ns, const char *title, bool forms)
{
    enum { INDEX_COLUMNS = 120 };
    size_t column = 0;
    PtcRows rows;
    ptc_rows_in(&rows, ns);
    bool any = false;
    for (size_t i = 0; i < rows.count; i++) {
        if (is_form(rows.at[i]) != forms)
            continue;
        if (!any) {
            ptc_buf_addf(out, "\n[%s](#", title);
            for (const char *c = title; *c; c++) /* as anchors are made of headings */
                if (*c == ' ' || *c == '-' || ptc_ascii_is_alnum(*c))
                    ptc_buf_add_char(out, *c == ' ' ? '-' : ptc_ascii_lower(*c));
            ptc_buf_add_cstr(out, "):");
            column = 2 * strlen(title) + 6;
        }
        any = true;
        const char *name = ptc_builtin_row(rows.at[i])->name;
        column += strlen(name) + 3;
        ptc_buf_addf(out, "%c`%s`", column > INDEX_COLUMNS ? '\n' : ' ', name);
        if (column > INDEX_COLUMNS)
            column = strlen(name) + 2;
    }
    if (any)
        ptc_buf_add_char(out, '\n');
}

static bool is_class(const char *ns)
{
    return ptc_ascii_is_upper(ns[0]);
}

/* Everything, by `add`: the index or the entries. */
static void add_parts(PtcBuf *out, void (*add)(PtcBuf *, const char *, const char *, bool))
{
    uint32_t pos = 0;
    char title[80];
    add(out, "clojure.core", "Special forms", true);
    add(out, "ptc", "Ending a program", true);
    for (const char *ns; (ns = ptc_rows_next_namespace(&pos)) != NULL;) {
        snprintf(title, sizeof title, "%.60s: constants", ns);
        add(out, ns, ns, false);
        if (is_class(ns))
            add(out, ns, title, true);
    }
}

void ptc_show_reference(PtcBuf *out)
{
    ptc_buf_add_cstr(
        out,
        "# Functions and forms\n\n`ptc doc NAME` shows one of these. An example reads `program => "
        "value` or\n`program !! kind of error`; all of them run as tests.\n\n## Index\n");
    add_parts(out, add_index_names);
    add_parts(out, add_reference_part);
}
