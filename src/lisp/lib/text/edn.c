/* SPDX-License-Identifier: MIT
 * Reading data from text, as Clojure writes it: read-string and clojure.edn/read-string.  Only data: nothing is
 * evaluated, no tag but #inst and #uuid is known, and functions of the program are never called. */
#include "lisp/lib/text/regex_find.h"
#include "lisp/read/form.h"

/* Forms take about forty times the room of their text while they are read. */
enum { EDN_TEXT_BYTES = 256 * PTC_KB };

static PtcValue regex_value(void *user, const PtcForm *form)
{
    PtcVM *vm = user;
    PtcValue pattern = ptc_str_new(vm->heap, form->text, form->len);
    return pattern == PTC_NONE ? PTC_NONE : ptc_regex_make(vm, pattern);
}

static bool fail_read_form(PtcVM *vm, const char *text, size_t len, const PtcFormMaker *maker)
{
    uint32_t line, column;
    ptc_diag_place(text, len, maker->bad->first, &line, &column);
    return ptc_fail(vm, PTC_E_VALUE | PTC_AS(RUNTIME),
                    "read-string: %s, at line %u, column %u of the text", maker->why, line, column);
}

static bool fail_read(PtcVM *vm, const char *text, size_t len, const PtcArena *arena,
                      const PtcDiags *diags)
{
    uint32_t line, column;
    if (vm->budget.stop != PTC_STOP_NONE || vm->failed)
        return false;
    if (arena->failed || diags->count == 0)
        return ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    ptc_diag_place(text, len, diags->items[0].first, &line, &column);
    ptc_fail(vm, PTC_E_VALUE | PTC_AS(RUNTIME),
             "read-string: %s, at line %u, column %u of the text", diags->items[0].message, line,
             column);
    return ptc_fail_hint(vm, "%s", diags->items[0].hint);
}

/* The first form of a text; *out is PTC_UNBOUND when there is none. */
static bool read_first_form(PtcVM *vm, PtcValue text, bool edn, PtcArena *arena, PtcValue *out)
{
    const char *bytes = ptc_str_bytes(text);
    size_t len = ptc_str_len(text);
    PtcDiags diags;
    PtcForm *form;
    ptc_diags_init(&diags, arena);
    PtcReader reader = {bytes, len, arena, vm->heap, &diags};
    if (!ptc_read_first(&reader, &form))
        return fail_read(vm, bytes, len, arena, &diags);
    PtcFormMaker maker = {
        .heap = vm->heap, .user = vm, .regex = edn ? NULL : regex_value, .strict = true};
    *out = form ? ptc_form_value(&maker, form) : PTC_UNBOUND;
    if (*out == PTC_NONE && maker.bad)
        return fail_read_form(vm, bytes, len, &maker);
    return *out != PTC_NONE;
}

static bool read_first(PtcVM *vm, PtcValue text, bool edn, PtcValue *out)
{
    if (ptc_str_len(text) > EDN_TEXT_BYTES) {
        ptc_fail(vm, PTC_E_VALUE | PTC_AS(RUNTIME),
                 "read-string: the text has %zu bytes, the limit is %d", ptc_str_len(text),
                 (int)EDN_TEXT_BYTES);
        return ptc_fail_hint(vm, "read it in parts: (map read-string (split-lines text))");
    }
    PtcArena arena;
    PtcValue v = PTC_NONE;
    ptc_arena_init(&arena, vm->mem);
    bool ok = read_first_form(vm, text, edn, &arena, &v);
    ptc_arena_deinit(&arena);
    *out = v;
    return ok;
}

PTC_BUILTIN(
    core_read_string, "clojure.core", "read-string", 1, 1, PTC_TAKES(PTC_IS_STRING),
    "(read-string s)",
    "The first value that a text spells in the notation of this language: data only, nothing "
    "is evaluated.",
    "(read-string \"42\") => 42\n(read-string \"{:a [1 2.5 nil] :b #{x}}\") => {:a [1 2.5 nil], :b "
    "#{x}}\n"
    "(read-string \"(+ 1 2)\") => [+ 1 2]\n(read-string \"[1 2\") !! value_error\n"
    "(read-string \"\") !! value_error\n(read-string 5) !! type_error")
{
    PtcValue v;
    if (!ptc_is_string(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a string");
    if (!read_first(vm, argv[0], false, &v))
        return false;
    if (v == PTC_UNBOUND) {
        ptc_fail(vm, PTC_E_VALUE | PTC_AS(RUNTIME), "read-string: the text contains no value");
        return ptc_fail_hint(vm, "(clojure.edn/read-string {:eof nil} s) gives nil instead");
    }
    return ptc_give(out, v);
}

/* The value of an option; PTC_NONE when it is not given. */
static PtcValue find_edn_option(PtcVM *vm, PtcValue options, const char *name)
{
    PtcValue key = ptc_keyword_new(vm->heap, name, strlen(name));
    return key == PTC_NONE || options == PTC_NIL ? PTC_NONE : ptc_map_get(vm->heap, options, key);
}

static bool check_edn_options(PtcVM *vm, const PtcValue *argv)
{
    if (argv[0] == PTC_NIL)
        return true;
    if (!ptc_is_map(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a map of options");
    PtcValue readers = find_edn_option(vm, argv[0], "readers"),
             other = find_edn_option(vm, argv[0], "default");
    bool empty = readers == PTC_NONE || readers == PTC_NIL ||
                 (ptc_is_map(readers) && ptc_map_count(readers) == 0);
    if (empty && (other == PTC_NONE || other == PTC_NIL))
        return vm->budget.stop == PTC_STOP_NONE;
    ptc_fail(vm, PTC_E_VALUE | PTC_AS(RUNTIME), "read-string: readers of tags cannot be added");
    return ptc_fail_hint(vm, "only #inst and #uuid are read; walk the data afterwards");
}

PTC_BUILTIN(
    edn_read_string, "clojure.edn", "read-string", 1, 2, 0,
    "(clojure.edn/read-string s), (clojure.edn/read-string {:eof value} s)",
    "The first value that a text in edn spells; for text without one, the option :eof, or nil.",
    "(clojure.edn/read-string \"{:a #inst \\\"2024-01-31\\\"}\") => {:a \"2024-01-31T00:00:00Z\"}\n"
    "(clojure.edn/read-string \"\") => nil\n(clojure.edn/read-string {:eof :end} \"; nothing\") => "
    ":end\n"
    "(clojure.edn/read-string \"#\\\"a\\\"\") !! value_error\n"
    "(clojure.edn/read-string {:default vector} \"1\") !! value_error\n"
    "(clojure.edn/read-string 5) !! type_error")
{
    PtcValue text = argv[argc - 1], v, end = PTC_NONE;
    if (argc == 2 && !check_edn_options(vm, argv))
        return false;
    if (argc == 2)
        end = find_edn_option(vm, argv[0], "eof");
    if (text == PTC_NIL)
        return ptc_give(out, PTC_NIL);
    if (!ptc_is_string(text))
        return ptc_fail_type(vm, argv, argc - 1, "a string");
    if (!read_first(vm, text, true, &v))
        return false;
    if (v == PTC_UNBOUND && argc == 2 && end == PTC_NONE)
        return ptc_fail(vm, PTC_E_VALUE | PTC_AS(RUNTIME),
                        "read-string: the text contains no value");
    return ptc_give(out, v != PTC_UNBOUND ? v : end == PTC_NONE ? PTC_NIL : end);
}

PTC_BUILTIN_TABLE(ptc_lib_edn, core_read_string, edn_read_string);
