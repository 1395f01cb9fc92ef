/* SPDX-License-Identifier: MIT
 * Exceptions: throw, ex-info and kin, and what try compiles to.  Program and tool errors can be caught;
 * limits, (return v) and (fail v) never. */
#include "lisp/vm/record.h"
#include "lisp/vm/vm_int.h"

enum { F_MESSAGE, F_DATA, F_CAUSE, F_KIND, F_FIRST, F_LAST, F_SOURCE, F_CLASS, F_COUNT };

PtcThrown ptc_except_class(PtcValue v)
{
    return ptc_is_record(v, PTC_R_ERROR) ? (PtcThrown)ptc_to_int(ptc_record_field(v, F_CLASS))
                                         : PTC_C_NONE;
}

/* An exception that has not been thrown yet. */
static PtcValue new_error(PtcVM *vm, PtcErrorKind kind, PtcThrown thrown, PtcValue message,
                          PtcValue data, PtcValue cause)
{
    PtcValue f[F_COUNT] = {
        message, data,           cause, ptc_int(kind), ptc_int(PTC_NO_PLACE), ptc_int(PTC_NO_PLACE),
        PTC_NIL, ptc_int(thrown)};
    return message == PTC_NONE ? PTC_NONE : ptc_record_new(vm, PTC_R_ERROR, f, F_COUNT);
}

/* The error that ended a call, as a value that knows its place. */
static PtcValue new_error_value(PtcVM *vm)
{
    const PtcDiag *d = &vm->error;
    PtcValue e = vm->error_value;
    bool thrown = e != PTC_NIL;
    if (thrown && ptc_record_field(e, F_FIRST) != ptc_int(PTC_NO_PLACE))
        return e;
    e = new_error(vm, d->kind, d->thrown,
                  thrown ? ptc_record_field(e, F_MESSAGE)
                         : ptc_str_new(vm->heap, d->message, strlen(d->message)),
                  thrown ? ptc_record_field(e, F_DATA) : PTC_NIL,
                  thrown ? ptc_record_field(e, F_CAUSE) : PTC_NIL);
    if (e == PTC_NONE)
        return e;
    PtcRecord *o = (PtcRecord *)(uintptr_t)e; /* nobody has seen it yet */
    o->fields[F_FIRST] = ptc_int(d->first);
    o->fields[F_LAST] = ptc_int(d->last);
    o->fields[F_SOURCE] = vm->error_source;
    return e;
}

/* Ends the call with an error value; a place it has already is kept. */
static bool throw_error(PtcVM *vm, PtcValue error)
{
    PtcValue message = ptc_record_field(error, F_MESSAGE);
    unsigned kind = (unsigned)ptc_to_int(ptc_record_field(error, F_KIND));
    ptc_fail(
        vm, kind | (unsigned)ptc_except_class(error) << PTC_AS_SHIFT, "%.*s",
        PTC_ARG_OF(message == PTC_NIL ? "an exception without a message" : ptc_str_bytes(message),
                   2 * PTC_MESSAGE_MAX));
    if (!vm->failed)
        return false;
    vm->error.first = (uint32_t)ptc_to_int(ptc_record_field(error, F_FIRST));
    vm->error.last = (uint32_t)ptc_to_int(ptc_record_field(error, F_LAST));
    vm->error_source = ptc_record_field(error, F_SOURCE);
    vm->error_value = error;
    return false;
}

bool ptc_except_throw(PtcVM *vm, PtcErrorKind kind, PtcValue message, PtcValue data)
{
    PtcValue error = new_error(vm, kind, ptc_error_thrown(kind), message, data, PTC_NIL);
    return error != PTC_NONE && throw_error(vm, error);
}

/* ---------------------------------------------------------------------------------- as text */

static bool add_exception_part(const PtcPrinter *printer, PtcBuf *buf, const char *before,
                               PtcValue v)
{
    return v == PTC_NIL || (ptc_buf_add_cstr(buf, before) && ptc_print(printer, buf, v));
}

bool ptc_except_write(const PtcPrinter *printer, PtcBuf *buf, PtcValue error)
{
    PtcPrinter inner = *printer;
    inner.readable = true;
    return ptc_buf_add_cstr(buf, ptc_thrown_full(ptc_except_class(error))) &&
           add_exception_part(printer, buf, ": ", ptc_record_field(error, F_MESSAGE)) &&
           add_exception_part(&inner, buf, " ", ptc_record_field(error, F_DATA));
}

bool ptc_except_print(const PtcPrinter *printer, PtcBuf *buf, PtcValue error, bool whole)
{
    PtcPrinter inner = *printer;
    inner.readable = true;
    return ptc_buf_add_cstr(buf, "#error {:type ") &&
           ptc_buf_add_cstr(buf, ptc_thrown_full(ptc_except_class(error))) &&
           add_exception_part(&inner, buf, ", :message ", ptc_record_field(error, F_MESSAGE)) &&
           (!whole ||
            (add_exception_part(&inner, buf, ", :data ", ptc_record_field(error, F_DATA)) &&
             add_exception_part(&inner, buf, ", :cause ", ptc_record_field(error, F_CAUSE)))) &&
           ptc_buf_add_char(buf, '}');
}

/* ------------------------------------------------------------------------ made by programs */

PTC_BUILTIN(
    core_throw, "clojure.core", "throw", 1, 1, 0, "(throw (ex-info message data))",
    "Ends the program with an error, unless a try around it catches the error.",
    "(throw (ex-info \"no stock\" {:id 7})) !! thrown\n"
    "(try (throw (ex-info \"no stock\" {:id 7})) (catch Exception e (ex-data e))) => {:id 7}\n"
    "(throw 1) !! type_error")
{
    if (!ptc_is_record(argv[0], PTC_R_ERROR))
        return ptc_fail_type(vm, argv, 0, "an exception made by ex-info");
    return throw_error(vm, argv[0]);
}

PTC_BUILTIN(
    core_ex_info, "clojure.core", "ex-info", 2, 3,
    PTC_TAKES2(PTC_IS_NIL | PTC_IS_STRING, PTC_IS_MAPPED) | PTC_GIVES(PTC_IS_OTHER),
    "(ex-info message data cause?)", "An exception with a message and a map of data, for throw.",
    "(ex-message (ex-info \"late\" {:days 3})) => \"late\"\n(ex-info \"late\" 3) !! type_error")
{
    if (!ptc_is_string(argv[0]) && argv[0] != PTC_NIL)
        return ptc_fail_type(vm, argv, 0, "a string");
    if (!ptc_is_map(argv[1]) && argv[1] != PTC_NIL)
        return ptc_fail_type(vm, argv, 1, "a map");
    return ptc_give(out, new_error(vm, PTC_E_THROWN, PTC_C_EXCEPTION_INFO, argv[0], argv[1],
                                   argc == 3 ? argv[2] : PTC_NIL));
}

PTC_BUILTIN_ROW(core_info, run_core_ex_info, "clojure.core", "ExceptionInfo.", 2, 3, 0,
                "(ExceptionInfo. message data cause?)", "What ex-info makes.",
                "(ex-data (ExceptionInfo. \"late\" {:days 3})) => {:days 3}\n"
                "(ExceptionInfo. \"late\") !! arity_error");

static bool error_field(const PtcValue *argv, size_t field, PtcValue *out)
{
    *out = ptc_is_record(argv[0], PTC_R_ERROR) ? ptc_record_field(argv[0], field) : PTC_NIL;
    return true;
}

PTC_BUILTIN_EXPR(
    core_ex_message, "clojure.core", "ex-message", 1, 1, PTC_GIVES(PTC_IS_NIL | PTC_IS_STRING),
    "(ex-message error)", "The message of a caught or made exception, nil for anything else.",
    "(try (/ 1 0) (catch Exception e (string? (ex-message e)))) => true\n(ex-message 1) => nil",
    error_field(argv, F_MESSAGE, out))

PTC_BUILTIN_EXPR(core_ex_data, "clojure.core", "ex-data", 1, 1, PTC_GIVES(PTC_IS_MAPPED),
                 "(ex-data error)",
                 "The data of an exception made by ex-info, nil for anything else.",
                 "(ex-data (ex-info \"late\" {:days 3})) => {:days 3}\n(ex-data nil) => nil",
                 error_field(argv, F_DATA, out))

PTC_BUILTIN_EXPR(core_ex_cause, "clojure.core", "ex-cause", 1, 1, 0, "(ex-cause error)",
                 "The exception given to ex-info as cause, or nil.",
                 "(ex-cause (ex-info \"late\" {})) => nil", error_field(argv, F_CAUSE, out))

/* The same as methods, which only exceptions have. */
static bool method(PtcVM *vm, const PtcValue *argv, size_t field, PtcValue *out)
{
    return ptc_except_class(argv[0]) ? error_field(argv, field, out)
                                     : ptc_fail_type(vm, argv, 0, "an exception");
}

PTC_BUILTIN_EXPR(core_get_message, "clojure.core", ".getMessage", 1, 1, 0, "(.getMessage error)",
                 "The message of an exception, as ex-message gives it.",
                 "(.getMessage (ex-info \"late\" {})) => \"late\"\n(.getMessage 1) !! type_error",
                 method(vm, argv, F_MESSAGE, out))

PTC_BUILTIN_EXPR(core_get_cause, "clojure.core", ".getCause", 1, 1, 0, "(.getCause error)",
                 "The cause of an exception, as ex-cause gives it.",
                 "(.getCause (ex-info \"late\" {})) => nil\n(.getCause 1) !! type_error",
                 method(vm, argv, F_CAUSE, out))

PTC_BUILTIN_EXPR(core_get_data, "clojure.core", ".getData", 1, 1, 0, "(.getData error)",
                 "The data of an exception, as ex-data gives it.",
                 "(.getData (ex-info \"late\" {:days 3})) => {:days 3}\n(.getData 1) !! type_error",
                 method(vm, argv, F_DATA, out))

PTC_BUILTIN(core_assert, "clojure.core", "assert", 1, 2, 0, "(assert test message?)",
            "Nil when the test is true, else an error.",
            "(assert (= 1 1)) => nil\n(assert (= 1 2) \"one is not two\") !! value_error\n"
            "(try (assert (= 1 2)) (catch AssertionError e :no)) => :no")
{
    *out = PTC_NIL;
    if (ptc_truthy(argv[0]))
        return true;
    const char *text =
        argc == 2 && ptc_is_string(argv[1]) ? ptc_str_bytes(argv[1]) : "the condition is false";
    return ptc_fail(vm, PTC_E_VALUE | PTC_AS(ASSERTION), "assertion failed: %.*s",
                    PTC_ARG_OF(text, PTC_MESSAGE_MAX));
}

/* ------------------------------------------------------------------------------- try */

/* An error that a program may catch is pending. */
static bool catchable(const PtcVM *vm)
{
    return vm->failed && vm->budget.stop == PTC_STOP_NONE && vm->control == PTC_CONTROL_NONE &&
           !ptc_error_is_terminal(vm->error.kind);
}

/* Takes the pending error out of the VM, as a value in *slot. */
static bool take_pending_error(PtcVM *vm, PtcValue *slot)
{
    PtcValue e = PTC_RETRY(vm, new_error_value(vm));
    if (e == PTC_NONE)
        return false;
    *slot = e;
    vm->failed = false;
    vm->error_value = PTC_NIL;
    return true;
}

/* Calls the handler of the first catch that takes the error in slot; false with the error pending again when none
 * does. */
static bool call_catch_handler(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *slot,
                               PtcValue *out)
{
    for (int i = 2; i + 1 < argc; i += 2)
        if (ptc_thrown_is(ptc_except_class(*slot), (PtcThrown)ptc_to_int(argv[i])))
            return ptc_call1(vm, argv[i + 1], *slot, out);
    return throw_error(vm, *slot);
}

/* Runs finally; what was pending (an error, return or fail) is pending afterwards, unless finally itself failed. */
static bool run_finally(PtcVM *vm, PtcValue f, bool ok, PtcValue *slots)
{
    PtcControl control = vm->control;
    PtcValue ignored;
    bool error = catchable(vm);
    if (vm->budget.stop != PTC_STOP_NONE || (!ok && control == PTC_CONTROL_NONE && !error))
        return ok; /* a limit: nothing runs any more */
    if (error && !take_pending_error(vm, &slots[0]))
        return false;
    slots[1] = vm->result;
    vm->control = PTC_CONTROL_NONE;
    if (!ptc_call(vm, f, 0, NULL, &ignored))
        return false;
    vm->control = control;
    vm->result = slots[1];
    return error ? throw_error(vm, slots[0]) : ok;
}

PTC_BUILTIN(core_try, "ptc", "try", 2, -1, PTC_B_HIDDEN | PTC_B_CALLS,
            "(try body (catch Exception e ...) (finally ...))",
            "Runs the body; hands an error to the first catch that takes it.", "")
{
    PtcValue *slots = ptc_roots(vm, 4); /* error, result of the run, result, spare */
    size_t roots = vm->root_count;
    uint32_t depth = vm->native_depth;
    if (!slots)
        return false;
    PtcValue result = PTC_NIL;
    bool ok = ptc_call(vm, argv[0], 0, NULL, &result);
    vm->root_count = roots;
    vm->native_depth = depth;
    if (!ok && catchable(vm) && argc > 2)
        ok = take_pending_error(vm, &slots[3]) &&
             call_catch_handler(vm, argc, argv, &slots[3], &result);
    slots[2] = ok ? result : PTC_NIL;
    if (argv[1] != PTC_NIL)
        ok = run_finally(vm, argv[1], ok, slots);
    *out = slots[2];
    return ok;
}

/* What was printed since `lines`, with its line feeds, and no longer among the run's output. */
static PtcValue take_captured_prints(PtcVM *vm, size_t lines)
{
    const PtcPrints *prints = &vm->prints;
    size_t from = ptc_prints_start(prints, lines), ended = prints->count - prints->open;
    size_t len = prints->text.len - from - prints->open; /* an open line ends in no line feed */
    PtcValue str = ptc_str_begin(vm->heap, PTC_T_STRING, len);
    if (str == PTC_NONE)
        return str;
    char *to = ptc_str_room(str);
    memcpy(to, prints->text.data + from, len);
    for (size_t i = lines; i < ended; i++)
        to[prints->ends[i] - from - 1] = '\n';
    ptc_str_seal(str);
    ptc_prints_truncate(&vm->prints, lines);
    return str;
}

PTC_BUILTIN(core_with_out_str, "ptc", "with-out-str", 1, 1,
            PTC_B_HIDDEN | PTC_B_CALLS | PTC_GIVES(PTC_IS_STRING), "(with-out-str body...)",
            "What the body prints, as a string.", "")
{
    size_t lines = vm->prints.count;
    bool open = vm->prints.open; /* a line around this one, which goes on afterwards */
    PtcValue text, ignored;
    vm->prints.open = false;
    if (!ptc_call(vm, argv[0], 0, NULL, &ignored))
        return false;
    if (vm->prints.count == lines)
        text = ptc_str_new(vm->heap, "", 0);
    else if ((text = take_captured_prints(vm, lines)) == PTC_NONE && ptc_recover(vm))
        text = take_captured_prints(vm, lines);
    vm->prints.open = open;
    return ptc_give(out, text);
}

/* (Exception. "message" cause) and kin; (Exception. cause) has the text of the cause as its message. */
static bool make_error(PtcVM *vm, int argc, const PtcValue *argv, PtcErrorKind kind,
                       PtcThrown thrown, PtcValue *out)
{
    PtcValue message = argc > 0 ? argv[0] : PTC_NIL, cause = argc == 2 ? argv[1] : PTC_NIL;
    if (cause != PTC_NIL && !ptc_except_class(cause))
        return ptc_fail_type(vm, argv, 1, "an exception");
    if (ptc_except_class(message)) {
        cause = message;
        PtcBuf buf;
        ptc_heap_buf_init(vm->heap, &buf);
        if (!ptc_format_give(vm, &buf, ptc_vm_write(vm, &buf, cause, false), &message))
            return false;
    } else if (message != PTC_NIL && !ptc_is_string(message)) {
        return ptc_fail_type(vm, argv, 0, "a string");
    }
    return ptc_give(out, new_error(vm, kind, thrown, message, PTC_NIL, cause));
}

#define CONSTRUCTOR(name, package, simple, parent, kind)                                          \
    PTC_BUILTIN(core_new_##name, "clojure.core", simple ".", 0, 2, 0,                             \
                "(" simple ". message cause?)", "An exception of this class, for throw.",         \
                "(ex-message (" simple ". \"late\")) => \"late\"\n(" simple ". 1) !! type_error") \
    {                                                                                             \
        return make_error(vm, argc, argv, PTC_E_##kind, PTC_C_##name, out);                       \
    }
PTC_THROWN_MADE(CONSTRUCTOR)

#define EXCEPT_ROW(name, ...) core_new_##name,
PTC_BUILTIN_TABLE(ptc_lib_except, core_with_out_str, PTC_THROWN_MADE(EXCEPT_ROW) core_throw,
                  core_ex_info, core_info, core_ex_message, core_ex_data, core_ex_cause,
                  core_get_message, core_get_cause, core_get_data, core_assert, core_try);
#undef EXCEPT_ROW
