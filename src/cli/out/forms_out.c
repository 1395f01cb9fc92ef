/* SPDX-License-Identifier: MIT
 * Printed values over several lines.  Works on the text alone: brackets, strings and what divides elements.  A
 * collection that fits on the rest of the line stays there; otherwise each entry of a map and each collection has a
 * line of its own, and other elements fill lines.  What always holds: apart from white space and commas between
 * elements, nothing of the text is changed. */
#include "cli/out/forms_out.h"

enum { FORMS_DEPTH = 64, LEAST_COLUMNS = 20 };

typedef struct {
    bool flat, map;
    size_t indent, count; /* column of the elements; elements that have ended */
} FormLevel;

typedef struct {
    PtcBuf *out;
    const char *at, *end;
    size_t columns, column;
    size_t lines_left, bytes_left; /* that may be written */
    size_t depth;
    bool simple; /* the last element was no collection */
    FormLevel levels[FORMS_DEPTH];
} Forms;

static bool is_open_bracket(char c)
{
    return c == '[' || c == '{' || c == '(';
}

static bool is_close(char c)
{
    return c == ']' || c == '}' || c == ')';
}

static bool is_gap(char c)
{
    return c == ' ' || c == ',' || c == '\n';
}

/* The end of the string, or of the run of other characters, at `at`. */
static const char *form_scalar_end(const char *at, const char *end)
{
    const char *q = at;
    while (q < end && !is_gap(*q) && !is_open_bracket(*q) && !is_close(*q)) {
        if (*q++ != '"')
            continue;
        while (q < end && *q != '"')
            q += *q == '\\' && q + 1 < end ? 2 : 1;
        q += q < end;
    }
    return q;
}

/* Columns of the element at `at`, or more than `room` if it has more: it looks no further. */
static size_t width_of(const char *at, const char *end, size_t room)
{
    size_t depth = 0, width = 0;
    const char *q = at;
    while (q < end && width <= room) {
        const char *next =
            is_open_bracket(*q) || is_close(*q) || is_gap(*q) ? q + 1 : form_scalar_end(q, end);
        depth += is_open_bracket(*q);
        depth -= is_close(*q) && depth > 0;
        for (; q < next; q++)
            width += ((unsigned char)*q & 0xC0) != 0x80;
        if (depth == 0 && !(q < end && is_open_bracket(*q))) /* #fn[name] is one element */
            break;
    }
    return width;
}

static size_t columns_left(const Forms *f)
{
    return f->column < f->columns ? f->columns - f->column : 0;
}

/* Writes as much as may still be written; a character is never cut in two. */
static void put_form_text(Forms *f, const char *text, size_t len)
{
    if (len > f->bytes_left) {
        len = f->bytes_left;
        while (len > 0 && ((unsigned char)text[len] & 0xC0) == 0x80)
            len--;
        f->bytes_left = len;
    }
    ptc_buf_add(f->out, text, len);
    f->bytes_left -= len;
    for (size_t i = 0; i < len; i++)
        f->column += ((unsigned char)text[i] & 0xC0) != 0x80;
}

static void begin_form_line(Forms *f, size_t indent)
{
    if (f->lines_left <= 1) {
        f->lines_left = 0;
        return;
    }
    f->lines_left--;
    ptc_buf_addf(f->out, "\n%*s", (int)indent, "");
    f->column = indent;
}

static void open_level(Forms *f)
{
    bool inside = f->depth > 0 && f->levels[f->depth - 1].flat;
    bool flat = inside || f->depth == FORMS_DEPTH - 1 ||
                width_of(f->at, f->end, columns_left(f)) <= columns_left(f);
    put_form_text(f, f->at, 1);
    bool set = f->at[0] == '{' && f->out->len > 1 && f->out->data[f->out->len - 2] == '#';
    if (f->depth < FORMS_DEPTH)
        f->levels[f->depth] = (FormLevel){flat, f->at[0] == '{' && !set, f->column, 0};
    f->depth++;
    f->at++;
}

static void close_level(Forms *f)
{
    if (f->depth > 0)
        f->depth--;
    put_form_text(f, f->at++, 1);
    f->simple = false;
}

/* Between two elements: a blank, or a new line. */
static void divide_elements(Forms *f, bool comma)
{
    FormLevel *level = f->depth > 0 && f->depth <= FORMS_DEPTH ? &f->levels[f->depth - 1] : NULL;
    if (!level || level->flat) {
        put_form_text(f, comma ? ", " : " ", comma ? 2 : 1);
        return;
    }
    level->count++;
    bool value = level->map && level->count % 2 == 1; /* stays beside its key */
    bool fills = !level->map && f->simple && f->at < f->end && !is_open_bracket(*f->at) &&
                 width_of(f->at, f->end, columns_left(f)) < columns_left(f);
    if (value || fills) {
        put_form_text(f, " ", 1);
        return;
    }
    if (level->map)
        put_form_text(f, ",", 1);
    begin_form_line(f, level->indent);
}

static void print_next_form(Forms *f)
{
    bool comma = false;
    if (is_open_bracket(*f->at)) {
        open_level(f);
    } else if (is_close(*f->at)) {
        close_level(f);
    } else if (is_gap(*f->at)) {
        for (; f->at < f->end && is_gap(*f->at); f->at++)
            comma |= *f->at == ',';
        divide_elements(f, comma);
    } else {
        const char *next = form_scalar_end(f->at, f->end);
        size_t before = f->bytes_left;
        put_form_text(f, f->at, (size_t)(next - f->at));
        f->at += before - f->bytes_left;
        f->simple = true;
    }
}

size_t ptc_forms_out_add(PtcBuf *out, PtcText text, size_t columns, size_t lines)
{
    Forms f = {.out = out, .at = text.bytes, .end = text.bytes + text.len};
    f.columns = columns < LEAST_COLUMNS ? LEAST_COLUMNS : columns;
    f.lines_left = lines ? lines : SIZE_MAX;
    f.bytes_left = lines ? lines * f.columns : SIZE_MAX;
    while (f.at < f.end && f.lines_left > 0 && f.bytes_left > 0 && ptc_buf_ok(out))
        print_next_form(&f);
    return (size_t)(f.end - f.at);
}
