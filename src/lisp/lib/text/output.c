/* SPDX-License-Identifier: MIT
 * Printing: print, println and kin, and the same as strings.  A run's output is a list of lines; what does not end a
 * line leaves it open for what is printed next. */
#include "lisp/lib/text/format.h"
#include "lisp/vm/record.h"
#include "value/regex/regex.h"

/* str gives the pattern of a regex and the text of an exception; printed they show what they are. */
static bool shows_itself(PtcValue v)
{
    return ptc_is_regex(v) || ptc_except_class(v) != PTC_C_NONE;
}

/* All arguments with spaces between. */
static bool add_printed_line(PtcVM *vm, PtcBuf *buf, int argc, const PtcValue *argv, bool readable)
{
    for (int i = 0; i < argc; i++)
        if ((i > 0 && !ptc_buf_add_char(buf, ' ')) ||
            !ptc_vm_write(vm, buf, argv[i], readable || shows_itself(argv[i])) ||
            !ptc_tick(&vm->budget, 1))
            return false;
    return true;
}

/* Prints text in the line that is open; a line feed at its end ends that. */
static bool print_open_line(PtcVM *vm, const char *text, size_t len)
{
    bool ends = len > 0 && text[len - 1] == '\n';
    return ptc_vm_print(vm, text, len - ends, ends);
}

static bool print_all(PtcVM *vm, int argc, const PtcValue *argv, bool readable, bool line,
                      PtcValue *out)
{
    PtcBuf buf;
    ptc_heap_buf_init(vm->heap, &buf);
    bool ok = ptc_format_check(vm, &buf, add_printed_line(vm, &buf, argc, argv, readable));
    PtcText text = {buf.len ? buf.data : "", buf.len};
    ok = ok && (line ? ptc_vm_print(vm, text.bytes, text.len, true)
                     : print_open_line(vm, text.bytes, text.len));
    ptc_buf_deinit(&buf);
    *out = PTC_NIL;
    return ok;
}

PTC_BUILTIN(core_pr_str, "clojure.core", "pr-str", 0, -1, PTC_GIVES(PTC_IS_STRING),
            "(pr-str & values)",
            "The arguments as text that reads back as the same data, with spaces between.",
            "(pr-str \"a\" nil [:b 1.5]) => \"\\\"a\\\" nil [:b 1.5]\"\n(pr-str) => \"\"")
{
    PtcBuf buf;
    ptc_heap_buf_init(vm->heap, &buf);
    return ptc_format_give(vm, &buf, add_printed_line(vm, &buf, argc, argv, true), out);
}

PTC_BUILTIN(core_print_str, "clojure.core", "print-str", 0, -1, PTC_GIVES(PTC_IS_STRING),
            "(print-str & values)", "The line that print would print, as a string.",
            "(print-str \"a\" 1) => \"a 1\"\n(print-str) => \"\"")
{
    PtcBuf buf;
    ptc_heap_buf_init(vm->heap, &buf);
    return ptc_format_give(vm, &buf, add_printed_line(vm, &buf, argc, argv, false), out);
}

static bool line_text(PtcVM *vm, int argc, const PtcValue *argv, bool readable, PtcValue *out)
{
    PtcBuf buf;
    ptc_heap_buf_init(vm->heap, &buf);
    bool ok = add_printed_line(vm, &buf, argc, argv, readable) && ptc_buf_add_char(&buf, '\n');
    return ptc_format_give(vm, &buf, ok, out);
}

PTC_BUILTIN_EXPR(core_println_str, "clojure.core", "println-str", 0, -1, PTC_GIVES(PTC_IS_STRING),
                 "(println-str & values)",
                 "The line that println would print, with its line feed, as a string.",
                 "(println-str \"a\" 1) => \"a 1\\n\"\n(println-str) => \"\\n\"",
                 line_text(vm, argc, argv, false, out))

PTC_BUILTIN_EXPR(core_prn_str, "clojure.core", "prn-str", 0, -1, PTC_GIVES(PTC_IS_STRING),
                 "(prn-str & values)",
                 "The line that prn would print, with its line feed, as a string.",
                 "(prn-str \"a\" 1) => \"\\\"a\\\" 1\\n\"\n(prn-str) => \"\\n\"",
                 line_text(vm, argc, argv, true, out))

PTC_BUILTIN_EXPR(pprint_pprint, "clojure.pprint", "pprint", 1, 1, PTC_B_EFFECT,
                 "(clojure.pprint/pprint x)",
                 "Prints a value as one line in the way of pr-str; gives nil.",
                 "(with-out-str (clojure.pprint/pprint {:a [1]})) => \"{:a "
                 "[1]}\\n\"\n(clojure.pprint/pprint) !! arity_error",
                 print_all(vm, argc, argv, true, true, out))

PTC_BUILTIN_EXPR(core_println, "clojure.core", "println", 0, -1,
                 PTC_B_EFFECT | PTC_GIVES(PTC_IS_NIL), "(println & values)",
                 "Prints the arguments as one line, with spaces between; gives nil.",
                 "(println \"total:\" 3) => nil\n(println) => nil",
                 print_all(vm, argc, argv, false, true, out))

PTC_BUILTIN_EXPR(
    core_print, "clojure.core", "print", 0, -1, PTC_B_EFFECT | PTC_GIVES(PTC_IS_NIL),
    "(print & values)",
    "Prints the arguments with spaces between; the line goes on with what is printed next.",
    "(print \"a\" 1) => nil\n(with-out-str (print \"a\") (print \"b\")) => \"ab\"",
    print_all(vm, argc, argv, false, false, out))

PTC_BUILTIN_EXPR(core_pr, "clojure.core", "pr", 0, -1, PTC_B_EFFECT | PTC_GIVES(PTC_IS_NIL),
                 "(pr & values)", "The same as print, in the way of pr-str.",
                 "(with-out-str (pr \"a\") (pr nil)) => \"\\\"a\\\"nil\"",
                 print_all(vm, argc, argv, true, false, out))

PTC_BUILTIN(core_newline, "clojure.core", "newline", 0, 0, PTC_B_EFFECT | PTC_GIVES(PTC_IS_NIL),
            "(newline)", "Ends the line that is being printed; gives nil.",
            "(with-out-str (print 1) (newline) (print 2)) => \"1\\n2\"")
{
    *out = PTC_NIL;
    return ptc_vm_print(vm, "", 0, true);
}

PTC_BUILTIN(core_flush, "clojure.core", "flush", 0, 0, PTC_B_EFFECT, "(flush)",
            "Does nothing, since printed text waits for nothing; gives nil.", "(flush) => nil")
{
    *out = PTC_NIL;
    return true;
}

PTC_BUILTIN_EXPR(core_prn, "clojure.core", "prn", 0, -1, PTC_B_EFFECT | PTC_GIVES(PTC_IS_NIL),
                 "(prn & values)",
                 "Prints the arguments as one line in the way of pr-str; gives nil.",
                 "(prn \"a\" [1 nil]) => nil", print_all(vm, argc, argv, true, true, out))

PTC_BUILTIN(
    core_printf, "clojure.core", "printf", 1, -1,
    PTC_B_EFFECT | PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_NIL), "(printf template & args)",
    "Prints what format gives; the line goes on with what is printed next, unless that ends in "
    "a newline.",
    "(printf \"%d items\" 3) => nil\n(with-out-str (printf \"%d,\" 3) (printf \"%d%n\" 4)) => "
    "\"3,4\\n\"\n"
    "(printf \"%d\" \"x\") !! type_error")
{
    PtcValue text;
    *out = PTC_NIL;
    return ptc_format_text(vm, argc, argv, &text) &&
           print_open_line(vm, ptc_str_bytes(text), ptc_str_len(text));
}

PTC_BUILTIN_TABLE(ptc_lib_output, core_pr_str, core_print_str, core_println, core_print, core_pr,
                  core_prn, core_newline, core_flush, core_printf, core_println_str, core_prn_str,
                  pprint_pprint);
