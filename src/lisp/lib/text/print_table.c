/* SPDX-License-Identifier: MIT
 * clojure.pprint/print-table: rows as a table of text, each column as wide as its widest cell. */
#include "base/utf8.h"
#include "lisp/lib/seq/seq_int.h"
#include "lisp/lib/text/format.h"

/* The cell of a row, or the heading (row PTC_NONE), as text. */
static bool cell_text(PtcVM *vm, PtcBuf *buf, PtcValue row, PtcValue key)
{
    PtcValue v = row == PTC_NONE ? key : ptc_map_get_flex(vm->heap, row, key);
    ptc_buf_clear(buf);
    return ptc_tick(&vm->budget, 1) &&
           (v == PTC_NONE || v == PTC_NIL || ptc_vm_write(vm, buf, v, false));
}

static bool measure_table_row(PtcVM *vm, PtcBuf *cell, PtcValue keys, PtcValue row, size_t *widths)
{
    for (size_t i = 0; i < ptc_seq_count(keys); i++) {
        if (!cell_text(vm, cell, row, ptc_seq_nth(keys, i)))
            return false;
        size_t n = ptc_utf8_count(ptc_buf_view(cell).bytes, cell->len);
        widths[i] = n > widths[i] ? n : widths[i];
    }
    return true;
}

static bool fill_table_cell(PtcVM *vm, PtcBuf *out, char c, size_t n)
{
    while (n-- > 0)
        if (!ptc_buf_add_char(out, c))
            return false;
    return ptc_tick(&vm->budget, 1);
}

static bool add_table_line(PtcVM *vm, PtcBuf *out, PtcBuf *cell, PtcValue keys, PtcValue row,
                           const size_t *widths)
{
    for (size_t i = 0; i < ptc_seq_count(keys); i++) {
        if (!cell_text(vm, cell, row, ptc_seq_nth(keys, i)))
            return false;
        PtcText text = ptc_buf_view(cell);
        if (!ptc_buf_add_cstr(out, i == 0 ? "| " : " | ") ||
            !fill_table_cell(vm, out, ' ', widths[i] - ptc_utf8_count(text.bytes, text.len)) ||
            !ptc_buf_add(out, text.bytes, text.len) || !ptc_tick_bytes(&vm->budget, text.len))
            return false;
    }
    return ptc_buf_add_cstr(out, " |\n");
}

static bool add_table_rule(PtcVM *vm, PtcBuf *out, size_t n, const size_t *widths)
{
    for (size_t i = 0; i < n; i++)
        if (!ptc_buf_add_char(out, i == 0 ? '|' : '+') ||
            !fill_table_cell(vm, out, '-', widths[i] + 2))
            return false;
    return ptc_buf_add_cstr(out, "|\n");
}

static bool add_printed_table(PtcVM *vm, PtcBuf *out, PtcBuf *cell, PtcValue keys, PtcValue rows,
                              size_t *widths)
{
    size_t n = ptc_seq_count(keys), count = ptc_seq_count(rows);
    memset(widths, 0, n * sizeof *widths);
    if (!measure_table_row(vm, cell, keys, PTC_NONE, widths))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!measure_table_row(vm, cell, keys, ptc_seq_nth(rows, i), widths))
            return false;
    if (!ptc_buf_add_char(out, '\n') || !add_table_line(vm, out, cell, keys, PTC_NONE, widths) ||
        !add_table_rule(vm, out, n, widths))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!add_table_line(vm, out, cell, keys, ptc_seq_nth(rows, i), widths))
            return false;
    return true;
}

static bool check_rows(PtcVM *vm, PtcValue rows)
{
    for (size_t i = 0; i < ptc_seq_count(rows); i++)
        if (!ptc_tick(&vm->budget, 1) || !ptc_is_map(ptc_seq_nth(rows, i)))
            return ptc_fail_value_type(vm, ptc_seq_nth(rows, i), "a row", "a map");
    return true;
}

/* The keys of the first row, in its order. */
static PtcValue first_keys(PtcVM *vm, PtcValue row)
{
    PtcValue build = ptc_build_new(vm->heap), key;
    for (size_t pos = 0; build != PTC_NONE && ptc_map_next(row, &pos, &key, NULL);)
        if (!ptc_tick(&vm->budget, 1) || !ptc_build_add(vm->heap, build, key))
            return PTC_NONE;
    return build == PTC_NONE ? build : ptc_build_done(vm->heap, build, 0);
}

static bool print_table(PtcVM *vm, PtcValue keys, PtcValue rows)
{
    PtcBuf out, cell;
    size_t bytes = (ptc_seq_count(keys) + 1) * sizeof(size_t);
    size_t *widths = ptc_scratch(vm, bytes);
    ptc_heap_buf_init(vm->heap, &out);
    ptc_heap_buf_init(vm->heap, &cell);
    bool ok = widths && add_printed_table(vm, &out, &cell, keys, rows, widths);
    ok = ptc_format_check(vm, &out, ptc_format_check(vm, &cell, ok)) &&
         ptc_vm_print(vm, out.data, out.len - 1, true);
    ptc_buf_deinit(&cell);
    ptc_buf_deinit(&out);
    ptc_heap_scratch_free(vm->heap, widths, bytes);
    return ok;
}

PTC_BUILTIN(
    pprint_print_table, "clojure.pprint", "print-table", 1, 2, PTC_B_EFFECT,
    "(print-table keys? rows)",
    "Prints maps as a table with a column for each of the keys, those of the first row when "
    "none are given; gives nil.",
    "(with-out-str (print-table [{:a 1 :b \"xy\"} {:a 22}])) => "
    "\"\\n| :a | :b |\\n|----+----|\\n|  1 | xy |\\n| 22 |    |\\n\"\n"
    "(with-out-str (print-table [:b] [{:a 1 :b 2}])) => \"\\n| :b |\\n|----|\\n|  2 |\\n\"\n"
    "(print-table []) => nil\n(print-table [1]) !! type_error")
{
    PtcValue rows = ptc_arg_finite(vm, argv, argc - 1), keys = PTC_NIL;
    *out = PTC_NIL;
    if (rows == PTC_NONE || (rows = ptc_seq_flat(vm, rows)) == PTC_NONE || !check_rows(vm, rows))
        return false;
    if (ptc_seq_count(rows) == 0)
        return true;
    keys = argc == 2 ? ptc_arg_finite(vm, argv, 0) : first_keys(vm, ptc_seq_nth(rows, 0));
    if (keys == PTC_NONE || (keys = ptc_seq_flat(vm, keys)) == PTC_NONE)
        return false;
    return print_table(vm, keys, rows);
}

const PtcBuiltin *const ptc_lib_print_table[] = {&pprint_print_table_def, NULL};
