/* SPDX-License-Identifier: MIT
 * Rows and columns.  What always holds: every row has a field for every column, and nothing in a table can act on a
 * terminal or break its lines. */
#include "cli/out/rows_out.h"

#include "base/utf8.h"
#include "cli/io.h"
#include "cli/out/shown.h"
#include "data/csv.h"
#include "engine/engine.h"
#include "tool/convert.h"
#include "value/coll/iter.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

enum { NARROWEST = 6, GAP = 2 };

typedef enum { MAPS, LISTS, VALUES } Shape;

typedef struct {
    PtcText name; /* borrowed from a key of the result */
    size_t width;
    bool numbers; /* nothing else: to the right */
    bool texts;   /* it has some that are nothing else in CSV */
} OutColumn;

typedef struct PtcRowsOut {
    PtcOutcome *o;
    PtcMem *mem;
    PtcBuf *out;
    PtcWhy *why;
    Shape shape;
    PtcValue value;     /* what is written */
    PtcValue one;       /* the only row; PTC_NONE: the value is a list */
    char separator;     /* of CSV */
    size_t most, taken; /* rows that are taken, and that were; 0: all */
    OutColumn columns[PTC_CSV_COLUMNS];
    size_t count;
    PtcBuf cell, name; /* texts of a field, and of a key that is no text */
} Rows;

/* ---------------------------------------------------------------------------------- columns */

/* Is it a list or a set of such elements, with at least one? */
static bool are_all_elements(PtcValue list, bool (*is)(PtcValue v))
{
    PtcValue v;
    PtcIter it;
    size_t n = 0;
    if (!(ptc_is_sequential(list) || ptc_is_set(list)) || !ptc_iter_init(&it, NULL, list))
        return false;
    for (; ptc_iter_next(&it, &v); n++)
        if (!is(v))
            return false;
    return n > 0;
}

static bool is_map(PtcValue v)
{
    return ptc_is_map(v);
}

static bool is_list(PtcValue v)
{
    return ptc_is_sequential(v);
}

bool ptc_rows_out_fits(PtcValue v)
{
    return are_all_elements(v, is_map);
}

static Shape shape_of_rows(PtcValue v)
{
    if (ptc_is_map(v) || ptc_rows_out_fits(v))
        return MAPS;
    return are_all_elements(v, is_list) ? LISTS : VALUES;
}

static PtcText column_key_text(Rows *r, PtcValue key)
{
    if (ptc_is_named(key))
        return (PtcText){ptc_str_bytes(key), ptc_str_len(key)};
    ptc_buf_clear(&r->name);
    ptc_outcome_print_value(r->o, &r->name, key);
    return ptc_buf_view(&r->name);
}

static bool has_column_name(const OutColumn *c, PtcText name)
{
    return c->name.len == name.len && memcmp(c->name.bytes, name.bytes, name.len) == 0;
}

/* Where the column is; `guess`: where it was in the row before.  r->count: there is none. */
static size_t find_column(const Rows *r, PtcText name, size_t guess)
{
    if (guess < r->count && has_column_name(&r->columns[guess], name))
        return guess;
    size_t i = 0;
    while (i < r->count && !has_column_name(&r->columns[i], name))
        i++;
    return i;
}

static bool add_column(Rows *r, PtcText name)
{
    if (r->count == PTC_CSV_COLUMNS)
        return ptc_why_say(r->why, PTC_WHY_REFUSED, "the result has more than 4096 columns");
    char *copy = NULL;
    if (name.len && !(copy = ptc_mem_alloc(&r->o->ptc->mem, name.len)))
        return false;
    if (name.len)
        memcpy(copy, name.bytes, name.len);
    r->columns[r->count++] = (OutColumn){.name = {copy, name.len}, .numbers = true};
    return true;
}

static bool add_columns_of(Rows *r, PtcValue row)
{
    PtcValue key, value;
    size_t pos = 0;
    if (r->shape == LISTS) {
        while (r->count < ptc_seq_count(row))
            if (!add_column(r, (PtcText){"", 0}))
                return false;
        return true;
    }
    for (size_t i = 0; ptc_map_next(row, &pos, &key, &value); i++) {
        PtcText name = column_key_text(r, key);
        if (find_column(r, name, i) == r->count && !add_column(r, name))
            return false;
    }
    return true;
}

/* -------------------------------------------------------------------------------- every row */

typedef bool RowFn(Rows *r, PtcValue row);

static bool each_row(Rows *r, RowFn *take)
{
    PtcIter it;
    PtcValue row;
    if (r->one != PTC_NONE)
        return take(r, r->one);
    if (!ptc_iter_init(&it, &r->o->heap, r->value))
        return false;
    for (r->taken = 0; (!r->most || r->taken < r->most) && ptc_iter_next(&it, &row); r->taken++)
        if (!ptc_tick(r->o->heap.budget, 1) || !take(r, row))
            return false;
    return !it.failed;
}

/* What a row has for each column, in their order. */
static bool each_field(Rows *r, PtcValue row, bool (*take)(Rows *r, size_t column, PtcValue v))
{
    PtcValue fields[PTC_CSV_COLUMNS], key, value;
    size_t pos = 0;
    for (size_t i = 0; i < r->count; i++)
        fields[i] = PTC_NIL;
    if (r->shape == VALUES)
        fields[0] = row;
    for (size_t i = 0; r->shape == LISTS && i < ptc_seq_count(row) && i < r->count; i++)
        fields[i] = ptc_seq_nth(row, i);
    for (size_t i = 0; r->shape == MAPS && ptc_map_next(row, &pos, &key, &value); i++) {
        size_t column = find_column(r, column_key_text(r, key), i);
        if (column < r->count)
            fields[column] = value;
    }
    for (size_t i = 0; i < r->count; i++)
        if (!take(r, i, fields[i]))
            return false;
    return true;
}

static bool begin_row_columns(Rows *r)
{
    PtcValue v = r->value;
    r->shape = shape_of_rows(v);
    r->one = ptc_is_sequential(v) || ptc_is_set(v) ? PTC_NONE : v;
    ptc_buf_init(&r->cell, &r->o->ptc->mem, (size_t)r->o->limits.result_bytes);
    ptc_buf_init(&r->name, &r->o->ptc->mem, (size_t)r->o->limits.result_bytes);
    return r->shape == VALUES ? add_column(r, PTC_TEXT("value")) : each_row(r, add_columns_of);
}

static void end_row_columns(Rows *r)
{
    for (size_t i = 0; i < r->count; i++)
        ptc_mem_free(r->mem, (void *)(uintptr_t)r->columns[i].name.bytes, r->columns[i].name.len);
    ptc_buf_deinit(&r->cell);
    ptc_buf_deinit(&r->name);
}

/* ----------------------------------------------------------------------------------- fields */

/* A field as text; good until the next one. */
static PtcText field_text(Rows *r, PtcValue v)
{
    PtcJsonError error;
    if (v == PTC_NIL)
        return (PtcText){"", 0};
    if (ptc_is_named(v))
        return (PtcText){ptc_str_bytes(v), ptc_str_len(v)};
    ptc_buf_clear(&r->cell);
    if (!ptc_to_json_value(&r->o->heap, &r->cell, v, r->o->ptc->float_precision, &error)) {
        ptc_buf_clear(&r->cell);
        ptc_outcome_print_value(r->o, &r->cell, v);
    }
    PtcText text = ptc_buf_view(&r->cell);
    /* A date is a string in JSON. */
    bool quoted = text.len >= 2 && text.bytes[0] == '"';
    return quoted ? (PtcText){text.bytes + 1, text.len - 2} : text;
}

static bool is_numeric_cell(PtcValue v)
{
    return !ptc_is_named(v) && v != PTC_NIL && ptc_value_type(v) >= PTC_TYPE_INT &&
           ptc_value_type(v) <= PTC_TYPE_FLOAT;
}

/* -------------------------------------------------------------------------------------- CSV */

static bool add_csv_text(Rows *r, size_t column, PtcText t, bool quoted)
{
    if (column > 0)
        ptc_buf_add_char(r->out, r->separator);
    return quoted ? ptc_csv_add_quoted(r->out, t)
                  : ptc_buf_add(r->out, t.bytes, t.len) && ptc_buf_ok(r->out);
}

static bool csv_field(Rows *r, size_t column, PtcValue v)
{
    PtcText t = field_text(r, v);
    bool first = r->shape == LISTS && r->taken == 0;
    bool plain = v == PTC_NIL || is_numeric_cell(v) || ptc_value_type(v) == PTC_TYPE_BOOL;
    bool quoted = ptc_csv_needs_quotes(t, r->separator, r->columns[column].texts) ||
                  (first && ptc_csv_has_separator(t));
    return add_csv_text(r, column, t, !plain && quoted) && ptc_buf_ok(&r->cell);
}

static bool look_for_texts(Rows *r, size_t column, PtcValue v)
{
    OutColumn *c = &r->columns[column];
    PtcText t = ptc_is_named(v) ? field_text(r, v) : (PtcText){"", 0};
    c->texts = c->texts || (ptc_csv_is_text(t) && !ptc_csv_needs_quotes(t, r->separator, false));
    return true;
}

static bool look_at_csv_row(Rows *r, PtcValue row)
{
    return each_field(r, row, look_for_texts);
}

static bool csv_row(Rows *r, PtcValue row)
{
    return each_field(r, row, csv_field) && ptc_buf_add_char(r->out, '\n');
}

/* NULL: out of memory. */
static Rows *new_rows(PtcOutcome *o, PtcValue value, PtcBuf *out, PtcWhy *why)
{
    Rows *r = ptc_mem_alloc(&o->ptc->mem, sizeof *r);
    if (!r)
        return NULL;
    memset(r, 0, offsetof(Rows, columns));
    r->o = o;
    r->out = out;
    r->why = why;
    r->count = 0;
    r->value = value;
    r->mem = &o->ptc->mem;
    return r;
}

static bool csv_head(Rows *r)
{
    for (size_t i = 0; r->shape != LISTS && i < r->count; i++) {
        PtcText name = r->columns[i].name;
        bool quoted =
            ptc_csv_needs_quotes(name, r->separator, false) || ptc_csv_has_separator(name);
        if (!add_csv_text(r, i, name, quoted))
            return false;
    }
    return r->shape == LISTS || ptc_buf_add_char(r->out, '\n');
}

static bool write_csv(Rows *r)
{
    return csv_head(r) && each_row(r, csv_row);
}

void ptc_rows_out_free(PtcRowsOut *r)
{
    if (!r)
        return;
    end_row_columns(r);
    ptc_mem_free(r->mem, r, sizeof *r);
}

static bool free_rows(Rows *r, bool ok)
{
    ok = ok && ptc_buf_ok(r->out);
    ptc_rows_out_free(r);
    return ok;
}

/* The first key of a row that is no column; PTC_NONE: there is none. */
static PtcValue unknown_key(Rows *r, PtcValue row)
{
    PtcValue key;
    size_t pos = 0;
    for (size_t i = 0; ptc_map_next(row, &pos, &key, NULL); i++)
        if (find_column(r, column_key_text(r, key), i) == r->count)
            return key;
    return PTC_NONE;
}

/* Only the columns of the first rows are known when their names are written. */
static bool has_known_columns(Rows *r, PtcValue row)
{
    PtcValue key = r->shape == MAPS && ptc_is_map(row) ? unknown_key(r, row) : PTC_NONE;
    if (key != PTC_NONE)
        return ptc_why_say(r->why, PTC_WHY_REFUSED,
                           "a row has %.*s, which the first rows have not: give all of them the "
                           "same keys, or write --format jsonl",
                           PTC_ARG(ptc_text_cut(column_key_text(r, key), 80)));
    bool fits = r->shape == MAPS ? ptc_is_map(row)
                                 : r->shape == VALUES ||
                                       (ptc_is_sequential(row) && ptc_seq_count(row) <= r->count);
    return fits || ptc_why_say(r->why, PTC_WHY_REFUSED,
                               "a row is not like the first ones: give all of them the same form, "
                               "or write --format jsonl");
}

bool ptc_rows_out_more(PtcRowsOut **rows, PtcOutcome *o, char separator, PtcBuf *out, PtcWhy *why)
{
    bool first = !*rows;
    if (first && !(*rows = new_rows(o, o->value, out, why)))
        return false;
    Rows *r = *rows;
    r->o = o;
    r->out = out;
    r->why = why;
    r->value = o->value;
    r->separator = separator;
    if (first ? !(begin_row_columns(r) && csv_head(r)) : !each_row(r, has_known_columns))
        return false;
    return each_row(r, csv_row) && ptc_buf_ok(out);
}

bool ptc_rows_out_csv(PtcOutcome *o, char separator, PtcBuf *out, PtcWhy *why)
{
    Rows *r = new_rows(o, o->value, out, why);
    if (!r)
        return false;
    r->separator = separator;
    return free_rows(r, begin_row_columns(r) && each_row(r, look_at_csv_row) && write_csv(r));
}

/* ------------------------------------------------------------------------------------ table */

/* The text with escapes for what would act, line feeds and tabs too; into r->name, since r->cell may hold it. */
static PtcText safe_text(Rows *r, PtcText t)
{
    ptc_buf_clear(&r->name);
    for (size_t i = 0, n; i < t.len; i += n + (i + n < t.len)) {
        for (n = 0; i + n < t.len && t.bytes[i + n] != '\n' && t.bytes[i + n] != '\t';)
            n++;
        ptc_shown_add(&r->name, t.bytes + i, n);
        if (i + n < t.len)
            ptc_buf_add_cstr(&r->name, t.bytes[i + n] == '\n' ? "\\n" : "\\t");
    }
    return ptc_buf_view(&r->name);
}

static bool measure_column(Rows *r, size_t column, PtcValue v)
{
    OutColumn *c = &r->columns[column];
    PtcText t = safe_text(r, field_text(r, v));
    size_t width = ptc_shown_width(t.bytes, t.len);
    c->width = width > c->width ? width : c->width;
    c->numbers = c->numbers && (v == PTC_NIL || is_numeric_cell(v));
    return ptc_buf_ok(&r->name) && ptc_buf_ok(&r->cell);
}

static bool measure_row(Rows *r, PtcValue row)
{
    return each_field(r, row, measure_column);
}

static size_t total_width(const Rows *r, size_t most)
{
    size_t total = 0;
    for (size_t i = 0; i < r->count; i++)
        total += (r->columns[i].width < most ? r->columns[i].width : most) + (i ? GAP : 0);
    return total;
}

/* No column is wider than what lets a line fit, so that only the widest lose something. */
static void narrow_columns(Rows *r)
{
    size_t room = ptc_shown_columns(), least = NARROWEST, most = room;
    if (total_width(r, SIZE_MAX) <= room)
        return;
    while (least < most) {
        size_t middle = least + (most - least + 1) / 2;
        if (total_width(r, middle) <= room)
            least = middle;
        else
            most = middle - 1;
    }
    for (size_t i = 0; i < r->count; i++)
        if (r->columns[i].width > least)
            r->columns[i].width = least;
}

static void pad_cell(PtcBuf *out, size_t n)
{
    while (n-- > 0)
        ptc_buf_add_char(out, ' ');
}

/* As much of a text as fits; *used is how wide that is. */
static size_t cut_to_width(PtcText t, size_t width, size_t *used)
{
    size_t at = 0;
    *used = 0;
    while (at < t.len) {
        uint32_t code;
        size_t n = ptc_utf8_decode(t.bytes + at, t.len - at, &code);
        size_t wide = ptc_shown_width(t.bytes + at, n);
        if (*used + wide > width)
            break;
        *used += wide;
        at += n;
    }
    return at;
}

static bool put_cell(Rows *r, size_t column, PtcText t)
{
    const OutColumn *c = &r->columns[column];
    size_t width = ptc_shown_width(t.bytes, t.len);
    bool over = width > c->width;
    size_t len = over ? cut_to_width(t, c->width - 1, &width) : t.len;
    size_t blanks = c->width - width - over;
    if (column > 0)
        pad_cell(r->out, GAP);
    if (c->numbers)
        pad_cell(r->out, blanks);
    ptc_buf_add(r->out, t.bytes, len);
    if (over)
        ptc_buf_add_cstr(r->out, "\xe2\x80\xa6");
    if (!c->numbers && column + 1 < r->count)
        pad_cell(r->out, blanks);
    return ptc_buf_ok(r->out);
}

static bool table_field(Rows *r, size_t column, PtcValue v)
{
    return put_cell(r, column, safe_text(r, field_text(r, v)));
}

static bool table_row(Rows *r, PtcValue row)
{
    bool ok = each_field(r, row, table_field);
    while (ok && r->out->len > 0 && r->out->data[r->out->len - 1] == ' ')
        r->out->len--;
    return ok && ptc_buf_add_char(r->out, '\n');
}

static bool table_head(Rows *r, bool colour)
{
    bool ok = true;
    ptc_buf_add_cstr(r->out, colour ? "\033[1m" : "");
    for (size_t i = 0; ok && i < r->count; i++)
        ok = put_cell(r, i, safe_text(r, r->columns[i].name));
    ptc_buf_add_cstr(r->out, colour ? "\033[0m\n" : "\n");
    for (size_t i = 0; ok && i < r->count; i++) {
        pad_cell(r->out, i ? GAP : 0);
        for (size_t n = 0; n < r->columns[i].width; n++)
            ptc_buf_add_char(r->out, '-');
    }
    return ptc_buf_add_char(r->out, '\n') && ok;
}

static bool write_table(Rows *r, bool colour)
{
    if (!begin_row_columns(r))
        return false;
    for (size_t i = 0; i < r->count; i++) {
        PtcText t = safe_text(r, r->columns[i].name);
        r->columns[i].width = ptc_shown_width(t.bytes, t.len);
    }
    if (!each_row(r, measure_row))
        return false;
    if (ptc_shown_on(PTC_IO_STDOUT))
        narrow_columns(r);
    return (r->shape == LISTS || table_head(r, colour)) && each_row(r, table_row);
}

/* How many elements there are beyond those that were shown. */
static size_t rows_left(const Rows *r)
{
    size_t count = r->one != PTC_NONE            ? 1
                   : ptc_is_sequential(r->value) ? ptc_seq_count(r->value)
                                                 : ptc_map_count(r->value);
    return r->most && count > r->most ? count - r->most : 0;
}

bool ptc_rows_out_table(PtcOutcome *o, PtcValue value, size_t most, PtcBuf *out, bool colour,
                        PtcWhy *why)
{
    Rows *r = new_rows(o, value, out, why);
    if (!r)
        return false;
    r->most = most;
    bool ok = write_table(r, colour);
    size_t left = ok ? rows_left(r) : 0;
    if (left)
        ptc_buf_addf(out,
                     "\xe2\x80\xa6 %zu more row%s: --format table shows all, -o FILE keeps them\n",
                     left, left == 1 ? "" : "s");
    return free_rows(r, ok);
}

/* --------------------------------------------------------------------------------- Markdown */

static bool add_markdown_text(Rows *r, size_t column, PtcText t)
{
    ptc_buf_add_cstr(r->out, column ? " | " : "| ");
    for (size_t i = 0; i < t.len; i++) {
        char c = t.bytes[i];
        if (c == '\n')
            ptc_buf_add_cstr(r->out, "<br>");
        else if (c == '|' || c == '\\')
            ptc_buf_addf(r->out, "\\%c", c);
        else if (c != '\r')
            ptc_buf_add_char(r->out, c);
    }
    return ptc_buf_ok(r->out);
}

static bool markdown_field(Rows *r, size_t column, PtcValue v)
{
    return add_markdown_text(r, column, field_text(r, v)) && ptc_buf_ok(&r->cell);
}

static bool markdown_row(Rows *r, PtcValue row)
{
    return each_field(r, row, markdown_field) && ptc_buf_add_cstr(r->out, " |\n");
}

static bool look_for_numbers(Rows *r, size_t column, PtcValue v)
{
    r->columns[column].numbers &= v == PTC_NIL || is_numeric_cell(v);
    return true;
}

static bool look_at_markdown_row(Rows *r, PtcValue row)
{
    return each_field(r, row, look_for_numbers);
}

static bool write_markdown(Rows *r)
{
    if (!begin_row_columns(r) || !each_row(r, look_at_markdown_row))
        return false;
    for (size_t i = 0; i < r->count; i++)
        add_markdown_text(r, i, r->columns[i].name);
    ptc_buf_add_cstr(r->out, " |\n");
    for (size_t i = 0; i < r->count; i++)
        ptc_buf_addf(r->out, "%s---%s", i ? " | " : "| ", r->columns[i].numbers ? ":" : "");
    return ptc_buf_add_cstr(r->out, " |\n") && each_row(r, markdown_row);
}

bool ptc_rows_out_markdown(PtcOutcome *o, PtcBuf *out, PtcWhy *why)
{
    Rows *r = new_rows(o, o->value, out, why);
    return r && free_rows(r, write_markdown(r));
}
