/* SPDX-License-Identifier: MIT
 * csv/parse and csv/generate; lisp/prelude/csv.clj has the definitions, which check the options.  Here is what works on
 * bytes: reading, as files of rows are read (data/csv.h), and the text of one cell. */
#include "data/csv.h"
#include "lisp/prelude/prelude.h"
#include "lisp/vm/registry.h"
#include "lisp/vm/vm_int.h"
#include "value/number/decimal.h"

PTC_PRELUDE(
    csv_parse, "csv", "parse", 1, 2,
    PTC_TAKES2(PTC_IS_STRING, PTC_IS_MAPPED) | PTC_GIVES(PTC_IS_LIST),
    "(csv/parse text {:header false :separator \";\"}?)",
    "The rows of CSV text: maps with the names of the first line as string keys, or vectors with "
    ":header false. Columns of numbers and booleans are read as such, empty fields as nil; the "
    "separator, if not given, is the comma, semicolon or tab that divides the first lines.",
    "(csv/parse \"id,n\\na,1\\nb,2\") => [{\"id\" \"a\", \"n\" 1} {\"id\" \"b\", \"n\" 2}]\n"
    "(csv/parse \"a|1.5\\n\\\"x|y\\\"|\" {:header false :separator \"|\"}) => [[\"a\" 1.5] "
    "[\"x|y\" nil]]\n"
    "(sum-by :n (csv/parse \"id,n\\na,1\\nb,2\")) => 3\n(csv/parse \"\") => []\n"
    "(csv/parse \"a,b\\n1\") !! value_error\n(csv/parse nil) !! type_error");

PTC_PRELUDE(
    csv_generate, "csv", "generate", 1, 2,
    PTC_TAKES2(PTC_IS_NIL | PTC_IS_LIST | PTC_IS_SET, PTC_IS_MAPPED) | PTC_GIVES(PTC_IS_STRING),
    "(csv/generate rows {:columns [:a :b] :header false :separator \";\"}?)",
    "Rows as CSV text that csv/parse reads back: maps with a first line of their keys (or of "
    ":columns), or vectors. Texts are quoted where they would be read as something else.",
    "(csv/generate [{:id \"a\" :n 1} {:id \"x,y\"}]) => \"id,n\\na,1\\n\\\"x,y\\\",\\n\"\n"
    "(csv/generate [[\"007\" \"7\" nil true]]) => \"007,\\\"7\\\",,true\\n\"\n"
    "(csv/generate [{:a 1 :b 2}] {:columns [:b] :header false}) => \"2\\n\"\n"
    "(csv/generate []) => \"\"\n(csv/generate [1]) !! type_error\n"
    "(csv/generate [[1]] {:sep \";\"}) !! value_error");

static bool fail_csv_text(PtcVM *vm, const PtcCsvError *error)
{
    vm->running = ptc_prelude_running(vm);
    if (error->stopped || vm->budget.stop != PTC_STOP_NONE)
        return ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    if (error->column)
        return ptc_fail_here(vm, PTC_E_VALUE, "line %zu, column %zu: %s", error->line,
                             error->column, error->message);
    return ptc_fail_here(vm, PTC_E_VALUE, "%s", error->message);
}

PTC_BUILTIN(hidden_csv_rows, "csv", "csv-rows", 3, 3, PTC_B_HIDDEN,
            "(csv-rows text header separator)", "The rows; separator nil: to be found.", "")
{
    PtcCsvError error;
    PtcCsvPart all = {.utf8 = true, .lists = !ptc_truthy(argv[1])};
    if (argv[2] != PTC_NIL)
        all.separator = ptc_str_bytes(argv[2])[0];
    else if (!ptc_tick_scan(&vm->budget, ptc_str_len(argv[0])))
        return false;
    *out = ptc_csv_parse(vm->heap, ptc_str_bytes(argv[0]), ptc_str_len(argv[0]), &all, &error);
    return *out != PTC_NONE || fail_csv_text(vm, &error);
}

/* Numbers and booleans are written as they are, unless the separator is in them. */
static bool add_csv_cell(PtcVM *vm, PtcBuf *cell, PtcValue v, PtcText text, char separator)
{
    bool plain = ptc_is_number(v) || ptc_is_decimal(v) || ptc_is_bool(v);
    bool quoted = plain
                      ? text.len > 0 && memchr(text.bytes, separator, text.len)
                      : ptc_csv_needs_quotes(text, separator, false) || ptc_csv_has_separator(text);
    if (!ptc_tick_scan(&vm->budget, text.len))
        return false;
    return quoted ? ptc_csv_add_quoted(cell, text) : ptc_buf_add(cell, text.bytes, text.len);
}

PTC_BUILTIN(hidden_csv_cell, "csv", "csv-cell", 2, 2, PTC_B_HIDDEN, "(csv-cell x separator)",
            "The text of one cell; nil is nothing at all.", "")
{
    PtcBuf printed, cell;
    PtcValue v = argv[0];
    if (v == PTC_NIL)
        return ptc_give(out, ptc_str_new(vm->heap, "", 0));
    ptc_heap_buf_init(vm->heap, &printed);
    ptc_heap_buf_init(vm->heap, &cell);
    bool ok = ptc_is_named(v) || ptc_vm_write(vm, &printed, v, false);
    PtcText text =
        ptc_is_named(v) ? (PtcText){ptc_str_bytes(v), ptc_str_len(v)} : ptc_buf_view(&printed);
    ok = ok && add_csv_cell(vm, &cell, v, text, ptc_str_bytes(argv[1])[0]);
    ok = ok && ptc_give(out, ptc_str_take(vm->heap, &cell));
    if (!ok && (!ptc_buf_ok(&printed) || !ptc_buf_ok(&cell)))
        ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    ptc_buf_deinit(&printed);
    ptc_buf_deinit(&cell);
    return ok;
}

PTC_BUILTIN_TABLE(ptc_lib_csv_rows, csv_parse, csv_generate, hidden_csv_rows, hidden_csv_cell);
